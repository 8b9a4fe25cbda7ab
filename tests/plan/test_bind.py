"""Binding: names to columns, calls to declared facts, outputs to post-processing; the same call twice is one."""

from __future__ import annotations

from fractions import Fraction as F

import pytest
from questions import CATALOG, ROWS, VISITS, catalog_with, planned, with_column

from dpcurator.aggregates import AGGREGATES, rule_of
from dpcurator.catalog.model import Column, Table
from dpcurator.errors import Refusal
from dpcurator.language.rows import Field
from dpcurator.plan.nodes import AggregateCall, Apply, Bounded, Given, Grouped, Key, Measured, Result, Rows, Where

AGE = Measured("age", Field(2, "integer"), "integer", "integer", F(0), F(110))


def test_a_whole_plan():
    plan = planned(
        "SELECT city, COUNT(*) AS n, AVG(age) FROM visits WHERE age >= 18 GROUP BY city HAVING COUNT(*) > 10 ORDER BY n"
    )
    bounded = plan.source
    assert isinstance(bounded, Bounded)
    assert (bounded.max_rows, bounded.max_groups) == (4, 2)
    assert isinstance(bounded.source, Grouped)
    assert [(key.name, key.part, key.count) for key in bounded.source.columns] == [("city", Field(1, "text"), 3)]
    where = bounded.source.source
    assert isinstance(where, Where)
    assert where.columns == ("age",)
    assert where.source == Rows("visits", "patient", 0)
    assert plan.calls == (AggregateCall("COUNT", None), AggregateCall("AVG", AGE))
    assert [(o.title, o.part, o.shown) for o in plan.outputs] == [
        ("city", Key(0), "text"), ("n", Result(0), "whole"), ("AVG(age)", Result(1), "number"),
    ]
    assert plan.having == Apply(">", (Result(0), Given(F(10))))
    assert plan.order[0].part == Result(0)


def test_each_row_a_unit_is_bounded_by_one():
    plan = planned("SELECT g, SUM(x) FROM rows GROUP BY g")
    assert (plan.source.max_rows, plan.source.max_groups) == (1, 1)
    assert plan.source.source.source == Rows("rows", None, None)


@pytest.mark.parametrize(
    ("call", "bound"),
    [
        ("SUM(age)", ("SUM", AGE)), ("sum(visits.AGE)", ("SUM", AGE)), ("COUNT(1)", ("COUNT", None)),
        ("COUNT('x')", ("COUNT", None)), ("COUNT(TRUE)", ("COUNT", None)),
        ("COUNT(DISTINCT Patient)", ("COUNT DISTINCT", None)),
        ("AVG(smoker)", ("AVG", Measured("smoker", Field(7, "integer"), "boolean", "integer", F(0), F(1)))),
        ("COUNT(ward)", ("COUNT", Measured("ward", Field(8, "integer"), "integer", "integer", None, None))),
        ("COUNT(day)", ("COUNT", Measured("day", Field(5, "integer"), "date", "integer", None, None))),
        ("COUNT(note)", ("COUNT", Measured("note", Field(11, "text"), "text", "text", None, None))),
    ],
)
def test_a_call_carries_its_columns_declared_facts_and_no_others(call, bound):
    made = planned(f"SELECT {call} FROM visits").calls[0]
    assert (made.function, made.column) == bound
    assert rule_of(made) in AGGREGATES


def test_facts_follow_the_column_named_and_no_other():
    """COUNT(a), COUNT(b), COUNT(*) stay apart in any order (one tool gave the first one's number to all)."""
    for order in ("COUNT(*), COUNT(age), COUNT(note), SUM(age)", "SUM(age), COUNT(note), COUNT(age), COUNT(*)"):
        plan = planned(f"SELECT {order}, COUNT(age) + COUNT(*) FROM visits")
        assert len(plan.calls) == 4
        named = {output.title: plan.calls[output.part.index] for output in plan.outputs[:4]}
        assert named["COUNT(*)"].column is None
        assert named["COUNT(age)"].column == named["SUM(age)"].column == AGE
        assert named["COUNT(note)"].column.name == "note"


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("SELECT city AS c, COUNT(*) FROM visits GROUP BY c", 1), ("SELECT city, COUNT(*) FROM visits GROUP BY 1", 1),
        ('SELECT city AS "C d", COUNT(*) FROM visits GROUP BY "C d"', 1),
        ("SELECT COUNT(*) FROM visits GROUP BY city, day", 2),
        ("SELECT ward AS city, COUNT(*) FROM visits GROUP BY city, ward", 2),  # the column comes before the alias
    ],
)
def test_group_by_takes_columns_aliases_and_positions(text, parts):
    assert len(planned(text).source.source.columns) == parts


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("SELECT city, COUNT(*) AS n FROM visits GROUP BY city ORDER BY n", Result(0)),
        ("SELECT city, COUNT(*) AS n FROM visits GROUP BY city ORDER BY N", Result(0)),
        ('SELECT COUNT(*) AS "COUNT(*)" FROM visits ORDER BY "COUNT(*)" DESC', Result(0)),
        ("SELECT COUNT(*) AS \"Count\" FROM visits ORDER BY 1", Result(0)),
        ("SELECT city, COUNT(*) FROM visits GROUP BY city ORDER BY city", Key(0)),
        ("SELECT ward, COUNT(*) AS city FROM visits GROUP BY ward, city ORDER BY city", Result(0)),  # the alias first
        ("SELECT COUNT(*) FROM visits ORDER BY AVG(age)", Result(1)),
        ("SELECT COUNT(*) AS n, COUNT(*) AS n FROM visits ORDER BY n", Result(0)),
        ("SELECT COUNT(*) AS n FROM visits ORDER BY -n", Apply("NEG", (Result(0),))),
    ],
)
def test_order_by_takes_aliases_columns_positions_and_aggregates(text, part):
    assert planned(text).order[0].part == part


def test_dates_in_having_are_the_days_they_mean():
    having = "day < DATE '1970-01-03' AND day > '1970-01-01'"
    plan = planned(f"SELECT day, COUNT(*) FROM visits GROUP BY day HAVING {having}")
    assert plan.having == Apply("AND", (Apply("<", (Key(0), Given(F(2)))), Apply(">", (Key(0), Given(F(0))))))
    swapped = planned("SELECT COUNT(*) FROM visits GROUP BY day HAVING '1970-01-02' = day")
    assert swapped.having == Apply("=", (Given(F(1)), Key(0)))


@pytest.mark.parametrize(
    ("expression", "shown"),
    [("COUNT(*)", "whole"), ("SUM(age)", "whole"), ("SUM(cost)", "number"), ("AVG(age)", "number"), ("COUNT(*) + 1",
    "number"),
     ("COUNT(*) > 1", "truth"), ("NULL", "null"), ("'x'", "text"), ("DATE '2024-01-01'", "date"), ("TRUE", "truth"),
     ("SUM(smoker)", "whole"), ("COUNT(*) IS NULL", "truth"), ("COUNT(*) IN (1, 2)", "truth")],
)
def test_how_a_column_is_shown(expression, shown):
    assert planned(f"SELECT {expression}, COUNT(*) FROM visits").outputs[0].shown == shown


def test_the_same_question_in_other_words_is_the_same_plan():
    one = planned("SELECT city, COUNT(*) AS n FROM visits WHERE age > 3 GROUP BY city")
    for text in (
        "select CITY, count( * ) AS n from Visits where AGE > 3.0 group by 1",
        'SELECT v."city", COUNT(1) n FROM visits AS v WHERE 3 < v.age GROUP BY v.city; -- the same',
        "SELECT city,\n\tCOUNT(*) AS n\nFROM visits WHERE (age) > 3.5 GROUP BY city",
    ):
        made = planned(text)
        assert (made.source, made.calls) == (one.source, one.calls)
        assert made.outputs[1] == one.outputs[1]


def test_column_names_of_any_spelling_bind():
    names = (
        "select",
        "net gain",
        'a"b',
        "two\nlines",
        "größe",
        "年齢",
        "rate %",
        "rate $",
        "1st",
        "a.b",
        "--",
        "'",
        " ",
        "e\u0301",
    )
    table = Table("group", (Column("u", "text"), *(Column(n, "integer", F(0), F(9)) for n in names)), "u", max_rows=1)
    for number, name in enumerate(names):
        quoted = '"' + name.replace('"', '""') + '"'
        plan = planned(f'SELECT AVG({quoted}), COUNT("group".{quoted}) FROM "group"', catalog_with(table))
        assert {call.column.column for call in plan.calls} == {number + 1}


def test_every_table_of_a_catalog_is_told_apart():
    other = Table("other", VISITS.columns, "patient", max_rows=9, max_groups=9)
    plan = planned("SELECT SUM(age) FROM other", catalog_with(VISITS, other))
    assert plan.source.max_rows == 9
    with pytest.raises(Refusal, match="is a public table"):
        planned("SELECT COUNT(*) FROM cities")


def test_bounds_of_a_column_are_needed_for_sums_and_never_invented():
    bare = with_column(VISITS, "age", lower=None, upper=None)
    for call in ("SUM(age)", "AVG(age)"):
        with pytest.raises(Refusal, match="has no bounds") as refused:
            planned(f"SELECT {call} FROM visits", catalog_with(bare))
        assert "never from the data" in refused.value.cure
    planned("SELECT COUNT(age) FROM visits", catalog_with(bare))
    assert ROWS in CATALOG.tables
