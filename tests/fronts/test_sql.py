"""SQL to a Question: what is accepted and what it means, and the bounds checked before any parser."""

from __future__ import annotations

from fractions import Fraction as F

import pytest
from questions import planned

from dpcurator.errors import Refusal
from dpcurator.fronts.sql import parse
from dpcurator.fronts.text import MAX_LENGTH, MAX_NESTING, MAX_TOKENS, guard
from dpcurator.language.question import Binary, Call, Item, Literally, Name, Ordering, Question, Unary, Within

STAR = Call("COUNT", star=True)


def test_a_whole_question():
    text = """SELECT city, COUNT(*) AS "How many", avg(v."age") FROM Visits AS v
              WHERE age >= 18 AND NOT smoker GROUP BY city HAVING COUNT(*) > 10
              ORDER BY 2 DESC, city LIMIT 5 OFFSET 2;  -- done"""
    assert parse(text) == Question(
        items=(
            Item(Name("city"), None, "city"),
            Item(STAR, "How many", ""),
            Item(Call("AVG", (Name("age", True, "v"),)), None, 'AVG(v."age")'),
        ),
        table="Visits", table_quoted=False, table_alias="v",
        where=Binary("AND", Binary(">=", Name("age"), Literally(F(18))), Unary("NOT", Name("smoker"))),
        group_by=(Name("city"),),
        having=Binary(">", STAR, Literally(F(10))),
        order_by=(Ordering(Literally(F(2)), True, False), Ordering(Name("city"), False, True)),
        limit=5, offset=2,
    )


def item(text: str):
    return parse(f"SELECT {text} FROM t").items[0].part


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("COUNT(*)", STAR), ("count( * )", STAR), ("COUNT(DISTINCT u)", Call("COUNT", (Name("u"),), distinct=True)),
        ("COUNT(1)", Call("COUNT", (Literally(F(1)),))), ("COUNT(ALL x)", Call("COUNT", (Name("x"),))),
        ("1.50", Literally(F(3, 2))), ("-2", Literally(F(-2))), ("- - 2", Literally(F(2))),
        ("1e-2", Literally(F(1, 100))),
        ("'it''s'", Literally("it's")), ("NULL", Literally(None)), ("TRUE", Literally(True)), ("(((x)))", Name("x")),
        ("DATE '2024-01-01'", Literally("2024-01-01", "date")), ("CAST('a' AS DATE)", Literally("a", "date")),
        ("TIMESTAMP 'a'", Literally("a", "timestamp")), ("'a'::date", Literally("a", "date")),
        ("-x", Unary("-", Name("x"))), ("x IS NULL", Unary("IS NULL", Name("x"))), ("+x", Name("x")),
        ("x IS NOT NULL", Unary("NOT", Unary("IS NULL", Name("x")))),
        ("x <> 1", Binary("<>", Name("x"), Literally(F(1)))),
        ("x != 1", Binary("<>", Name("x"), Literally(F(1)))), ("x IN (1, 2)", Within(Name("x"),
        (Literally(F(1)), Literally(F(2))))),
        ("x NOT IN (1)", Unary("NOT", Within(Name("x"), (Literally(F(1)),)))),
        ("x BETWEEN 1 AND 2",
         Binary("AND", Binary(">=", Name("x"), Literally(F(1))), Binary("<=", Name("x"), Literally(F(2))))),
        ("1 + 2 * 3", Binary("+", Literally(F(1)), Binary("*", Literally(F(2)), Literally(F(3))))),
        ("1 - 2 - 3", Binary("-", Binary("-", Literally(F(1)), Literally(F(2))), Literally(F(3)))),
        ("ROUND(x, 2)", Call("ROUND", (Name("x"), Literally(F(2))))),
        ("COALESCE(x, 1)", Call("COALESCE", (Name("x"), Literally(F(1))))),
        ("NULLIF(x, 0)", Call("NULLIF", (Name("x"), Literally(F(0))))), ("ABS(x)", Call("ABS", (Name("x"),))),
        ("IFNULL(x, 1)", Call("COALESCE", (Name("x"), Literally(F(1))))),
        ('"net gain"', Name("net gain", True)), ('t."a""b"', Name('a"b', True, "t")),
        ('"T".x', Name("x", False, "T", True)),
        ('"two\nlines"', Name("two\nlines", True)), ("größe", Name("größe")), ("年齢", Name("年齢")),
        ("\U0001f600", Name("\U0001f600")),
        ("MEDIAN(x)", Call("QUANTILE", (Name("x"), Literally(F(1, 2))))),
        ("MODE(x)", Call("TOP_K", (Name("x"), Literally(F(1))))),
        ("my_udf(x)", Call("MY_UDF", (Name("x"),))),
    ],
)
def test_what_an_expression_means(text, part):
    assert item(text) == part


@pytest.mark.parametrize(
    ("clause", "limit", "offset"),
    [("LIMIT 5", 5, 0), ("LIMIT 5 OFFSET 3", 5, 3), ("OFFSET 3", None, 3), ("LIMIT 0", 0, 0), ("LIMIT 3, 5", 5, 3),
     ("LIMIT " + "0" * 30 + "7", 7, 0), ("LIMIT " + "9" * 50, 10**19 - 1, 0)],
)
def test_limit_and_offset(clause, limit, offset):
    question = parse(f"SELECT COUNT(*) FROM t {clause}")
    assert (question.limit, question.offset) == (limit, offset)


@pytest.mark.parametrize(
    ("clause", "descending", "nulls_first"),
    [("x", False, True), ("x ASC", False, True), ("x DESC", True, False), ("x NULLS LAST", False, False),
     ("x DESC NULLS FIRST", True, True)],
)
def test_a_missing_value_sorts_as_the_smallest_unless_said(clause, descending, nulls_first):
    assert parse(f"SELECT x FROM t ORDER BY {clause}").order_by == (Ordering(Name("x"), descending, nulls_first),)


@pytest.mark.parametrize(
    ("text", "title"),
    [('COUNT(*) AS "COUNT(*)"', "COUNT(*)"), ("COUNT(*) AS n", "n"), ("COUNT(*) n", "n"),
    ('COUNT(*) AS "Region Name"', "Region Name"),
     ("count(*)", "COUNT(*)"), ("sum(AGE)", "SUM(AGE)"), ("AVG(age)/2", "AVG(age) / 2"), ("COUNT(/* hi */ *)",
     "COUNT(*)"),
     ("COUNT(*) AS 年", "年")],
)
def test_titles_are_as_written(text, title):
    assert planned(f"SELECT {text} FROM visits").outputs[0].title == title


def test_the_bounds_are_reached_and_not_passed():
    guard("SELECT " + "(" * MAX_NESTING + "1" + ")" * MAX_NESTING)
    guard("SELECT 1" + " " * (MAX_LENGTH - 8))
    guard("SELECT " + "1,1," * (MAX_TOKENS // 4 - 1))
    beyond = ("(" * (MAX_NESTING + 1), " " * (MAX_LENGTH - 6), "1," * (MAX_TOKENS // 2))
    for text in beyond:
        with pytest.raises(Refusal):
            guard(f"SELECT {text}")
    planned("SELECT COUNT(*) FROM visits WHERE " + " AND ".join(f"age <> {i}" for i in range(900)))
    planned("SELECT " + ", ".join(["AVG(age)"] * 700) + " FROM visits")


@pytest.mark.parametrize(("before", "after"), [
    ("date(", ")"), ("int(", ")"), ("int(f(", "))"), ("ARRAY[", "]"), ("int(CASE WHEN ", " THEN 1 END)"),
])
def test_what_a_parser_reads_again_is_bounded(before, after):
    """It would take 2 to the power of the depth otherwise, and 300 letters would hold a server up for years."""
    depth = MAX_NESTING // (before.count("(") + before.count("[") + before.count("CASE")) - 1
    with pytest.raises(Refusal, match="too many ways"):
        parse(f"SELECT SUM({before * depth}age{after * depth}) AS s FROM visits")
    parse(f"SELECT SUM({before * 4}age{after * 4}) AS s FROM visits")


def test_a_statement_that_the_parser_does_not_know_is_not_in_the_log(caplog):
    with pytest.raises(Refusal):
        parse("WITH x AS (CREATE FOO 'hush') SELECT COUNT(*) AS n FROM x")
    assert not caplog.records


@pytest.mark.parametrize("text", ["SELECT 1;", "SELECT 1 ; ;", "select 1", "/* a */ SELECT 1", "SELECT 1 -- ; x\n"])
def test_what_passes_the_first_look(text):
    guard(text)


def test_a_quoted_name_is_no_word_of_the_language():
    """Columns named "CASE" or "(" nest nothing."""
    for name in ("CASE", "(", "NOT"):
        condition = " AND ".join([f'"{name}" > 1'] * 60)
        question = parse(f"SELECT COUNT(*) FROM t WHERE {condition}")
        assert question.where is not None

