"""Questions as SQL text: every tree of syntax is spelled so that it parses back to itself."""

from __future__ import annotations

from fractions import Fraction as F
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from power import tried
from questions import planned

from dpcurator.errors import Refusal
from dpcurator.fronts.sql import MAX_DEPTH, parse
from dpcurator.language.question import (
    Binary,
    Branch,
    Call,
    Case,
    Cast,
    Fits,
    Literally,
    Name,
    Syntax,
    Unary,
    Within,
    chain,
)
from dpcurator.language.render import depth, expression, leaves, render

X, Y, Z = Name("x", True), Name("y", True), Name("z", True)


def written(part: Syntax) -> Syntax:
    return parse(f"SELECT {expression(part)} FROM t").items[0].part


@pytest.mark.parametrize(
    ("part", "text"),
    [
        (Name('a"b', True, "t", False), 't."a""b"'), (Name("größe"), "größe"), (Name("x", False, "T", True), '"T".x'),
        (Literally("it's"), "'it''s'"), (Literally(None), "NULL"), (Literally(True), "TRUE"),
        (Literally(F(-5, 2)), "-2.5"), (Literally(F(1, 8)), "0.125"), (Literally(F(10) ** 30), "1" + "0" * 30),
        (Literally(F(3, 10**12)), "0.000000000003"), (Literally("2024-05-31", "date"), "DATE '2024-05-31'"),
        (Call("COUNT", star=True), "COUNT(*)"), (Call("COUNT", (X,), distinct=True), 'COUNT(DISTINCT "x")'),
        (Call("ROUND", (X, Literally(F(-2)))), 'ROUND("x", -2)'),
        (Binary("-", Binary("-", X, Y), Z), '"x" - "y" - "z"'),
        (Binary("-", X, Binary("-", Y, Z)), '"x" - ("y" - "z")'),
        (Binary("*", Binary("+", X, Y), Z), '("x" + "y") * "z"'),
        (Binary("+", X, Binary("*", Y, Z)), '"x" + "y" * "z"'),
        (Binary("/", X, Binary("*", Y, Z)), '"x" / ("y" * "z")'), (Unary("-", Unary("-", X)), '-(-"x")'),
        (Binary("-", X, Literally(F(-5))), '"x" - -5'), (Unary("-", Binary("*", X, Y)), '-("x" * "y")'),
        (Unary("NOT", X), 'NOT "x"'), (Unary("NOT", Unary("IS NULL", X)), 'NOT ("x" IS NULL)'),
        (Unary("IS NULL", Binary("+", X, Y)), '("x" + "y") IS NULL'),
        (Within(X, (Y, Literally(F(1)))), '"x" IN ("y", 1)'),
        (Binary("=", Binary("<", X, Y), Z), '("x" < "y") = "z"'),
        (Binary("<", Binary("+", X, Y), Z), '"x" + "y" < "z"'),
        (chain("AND", [X, Y, Z]), '"x" AND "y" AND "z"'),
        (Binary("AND", Binary("AND", X, Y), Z), '("x" AND "y") AND "z"'),
        (Binary("OR", Binary("AND", X, Y), Z), '("x" AND "y") OR "z"'),
        (Binary("AND", X, Binary("OR", Y, Z)), '"x" AND ("y" OR "z")'),
        (Binary("AND", Unary("NOT", X), Binary("=", Y, Z)), 'NOT "x" AND "y" = "z"'),
        (Binary("%", X, Binary("+", Y, Z)), '"x" % ("y" + "z")'),
        (Binary("||", X, Binary("+", Y, Z)), '"x" || "y" + "z"'),
        (Binary("+", Binary("||", X, Y), Z), '("x" || "y") + "z"'), (Fits(X, Literally("a%")), "\"x\" LIKE 'a%'"),
        (Fits(X, Literally("a"), Literally("!"), True), "\"x\" ILIKE 'a' ESCAPE '!'"),
        (Unary("NOT", Fits(X, Literally("a"))), "NOT (\"x\" LIKE 'a')"), (Unary("IS TRUE", X), '"x" IS TRUE'),
        (Unary("IS FALSE", Binary("<", X, Y)), '("x" < "y") IS FALSE'), (Cast(X, "INTEGER"), 'CAST("x" AS INTEGER)'),
        (Binary("IS DISTINCT FROM", X, Binary("+", Y, Z)), '"x" IS DISTINCT FROM ("y" + "z")'),
        (Case((Branch(X, Y), Branch(Z, X)), Z), 'CASE WHEN "x" THEN "y" WHEN "z" THEN "x" ELSE "z" END'),
        (Case((Branch(Binary("<", X, Y), Y),)), 'CASE WHEN "x" < "y" THEN "y" END'),
        (Binary("+", X, Literally("1 month", "interval")), "\"x\" + INTERVAL '1 month'"),
        (Literally("1 day 2 hours", "interval"), "INTERVAL '1 day 2 hours'"),
        (Literally("-7 days", "interval"), "INTERVAL '-7 days'"),
        (Call("DATE_PART", (Literally("year"), X)), "DATE_PART('year', \"x\")"),
    ],
)
def test_how_an_expression_is_spelled(part, text):
    assert expression(part) == text
    assert written(part) == part


NUMBERS = st.fractions(F(-1000), F(1000), max_denominator=1).map(lambda x: x / 16) | st.sampled_from(
    (F(10) ** 40, F(1, 10**40), F(0), F(-1, 5))
)
TEXTS = st.text(st.characters(exclude_categories=("Cs",), exclude_characters="\0"), max_size=6)
ATOMS: st.SearchStrategy[Syntax] = (
    st.builds(Literally, st.none() | st.booleans() | NUMBERS | TEXTS)
    | st.builds(Name, TEXTS.filter(bool), st.just(True))
    | st.builds(Literally, st.just("2024-01-01"), st.sampled_from(("date", "timestamp")))
    | st.just(Call("COUNT", star=True))
)


def _negated(part: Syntax) -> Syntax:
    """As `parse` has it: a minus before a number is part of the number."""
    if isinstance(part, Literally) and isinstance(part.value, F):
        return Literally(-part.value)
    return Unary("-", part)


def _branch(inner: st.SearchStrategy[Syntax]) -> st.SearchStrategy[Branch]:
    return st.builds(Branch, inner, inner)


def _grown(inner: st.SearchStrategy[Syntax]) -> st.SearchStrategy[Syntax]:
    operators: Any = st.sampled_from(
        ("+", "-", "*", "/", "%", "||", "=", "<>", "<", "<=", ">", ">=", "IS DISTINCT FROM", "AND", "OR")
    )
    return (
        st.builds(Binary, operators, inner, inner)
        | st.builds(Unary, st.sampled_from(("NOT", "IS NULL", "IS TRUE", "IS FALSE")), inner)
        | st.builds(Fits, inner, inner, st.none() | st.just(Literally("!")), st.booleans())
        | st.builds(Cast, inner, st.sampled_from(("INTEGER", "DOUBLE", "TEXT", "BOOLEAN")))
        | st.builds(Case, st.lists(_branch(inner), min_size=1, max_size=3).map(tuple), st.none() | inner)
        | st.builds(_negated, inner)
        | st.builds(Within, inner, st.lists(inner, min_size=1, max_size=3).map(tuple))
        | st.builds(Call, st.just("COALESCE"), st.lists(inner, min_size=2, max_size=3).map(tuple))
        | st.builds(Call, st.sampled_from(("SUM", "ABS", "ROUND", "FLOOR", "LOWER", "YEAR")), st.tuples(inner))
        | st.builds(Call, st.sampled_from(("DATE_TRUNC", "POWER", "MOD", "TIMEZONE")), st.tuples(inner, inner))
        | st.builds(chain, st.sampled_from(("AND", "OR")), st.lists(inner, min_size=2, max_size=7))
    )


@given(st.recursive(ATOMS, _grown, max_leaves=14))
@tried
def test_every_tree_parses_back_to_itself(part):
    assert written(part) == part
    assert depth(part, MAX_DEPTH) <= MAX_DEPTH


@pytest.mark.parametrize(
    "text",
    [
        "SELECT CITY AS Town, count(*) n, AVG(v.AGE), avg(cost)/2 FROM Visits AS v WHERE v.Age NOT BETWEEN 1 AND 2.50 "
        "AND NOT SMOKER GROUP BY 1 HAVING n > 3 AND (TOWN <> 'x' OR AVG(age) > 2) ORDER BY 3 DESC NULLS FIRST, town",
        'SELECT "city" AS "Region ""Name""", COUNT(DISTINCT patient) FROM "visits" GROUP BY "Region ""Name"""',
        "SELECT COUNT(*) FROM visits WHERE day = DATE '2022-01-08' OR at < TIMESTAMP '2024-01-01T00:00:00Z' "
        "LIMIT 9 OFFSET 2",
        "SELECT (COUNT(*) > 1) = TRUE, COUNT(*) BETWEEN 1 AND 2 AND TRUE AND NULL, -(-COUNT(*)) FROM visits OFFSET 3",
        "SELECT COUNT(*) > 1 AND (TRUE AND FALSE), (COUNT(*) > 1 AND TRUE) AND FALSE, NULL FROM visits",
        "SELECT COUNT(*) FROM visits WHERE " + " OR ".join(f"age = {i}" for i in range(500)),
    ],
)
def test_what_people_write_has_the_same_plan_when_rendered(text):
    asked = parse(text)
    again = render(asked)
    assert planned(again) == planned(text)
    assert render(parse(again)) == again


def test_a_question_reads_like_sql():
    text = (
        "SELECT \"city\", COUNT(*) AS \"n\" FROM \"visits\" WHERE \"age\" > 65 AND NOT \"smoker\" GROUP BY \"city\" "
        "HAVING \"n\" > 10 ORDER BY \"n\" DESC, \"city\" NULLS LAST LIMIT 5 OFFSET 2"
    )
    assert render(parse(text)) == text


def _left(levels: int) -> Syntax:
    part: Syntax = X
    for _ in range(levels):
        part = Binary("+", part, Y)
    return part


def _right(levels: int) -> Syntax:
    part: Syntax = Literally(F(-1))
    for _ in range(levels):
        part = Binary("-", Y, part)
    return part


def _inside(levels: int) -> Syntax:
    part: Syntax = X
    for _ in range(levels):
        part = Call("ABS", (part,))
    return part


@pytest.mark.parametrize(("make", "most"), [(_left, MAX_DEPTH), (_right, 32), (_inside, 40)])
def test_depth_is_what_the_parser_finds(make, most):
    """Up to the parser's bound, or to the bound on brackets that comes before it."""
    assert written(make(most)) == make(most)
    assert depth(make(most), MAX_DEPTH) <= MAX_DEPTH
    if make is not _inside:
        assert depth(make(most + 1), MAX_DEPTH) > MAX_DEPTH
    with pytest.raises(Refusal, match="deep"):
        written(make(most + 1))


def test_any_depth_is_measured():
    assert depth(_left(100_000), MAX_DEPTH) == MAX_DEPTH + 1
    assert depth(chain("AND", [X] * 3_000), MAX_DEPTH) == 1
    assert leaves(Binary("AND", X, Binary("AND", Y, Binary("OR", X, Z))), "AND") == [X, Y, Binary("OR", X, Z)]


def test_a_number_without_a_decimal_form_is_refused():
    with pytest.raises(Refusal, match="no decimal form"):
        expression(Literally(F(1, 3)))
