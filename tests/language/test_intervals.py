"""Bounds of expressions: by hand, and as a law: of rows within bounds, a value is within its expression's bounds."""

from __future__ import annotations

import math
from fractions import Fraction as F

import pytest
from hypothesis import given
from hypothesis import strategies as st
from power import tried
from questions import catalog_with, planned

from dpcurator.catalog.model import EACH_ROW, Column, Table
from dpcurator.errors import Refusal
from dpcurator.language.evaluate import value
from dpcurator.language.expressions import Reader
from dpcurator.language.intervals import bounds, span
from dpcurator.language.question import Named
from dpcurator.language.rows import Compute, walk
from dpcurator.plan.bind_relations import scene_of

TABLE = Table(
    "t",
    (
        Column("x", "integer", F(-4), F(2)),
        Column("y", "integer", F(2), F(5)),
        Column("f", "float", F(-3, 2), F(5, 2)),
        Column("g", "float", F(1, 10), F(7, 10)),
        Column("b", "boolean"),
        Column("w", "integer", F(0), F(10)),
        Column("d", "date", F(19000), F(20000)),
        Column("at", "timestamp", F(10**15), F(2 * 10**15)),
        Column("s", "text"),
        Column("free", "integer"),
        Column("big", "integer", F(-(2**63)), F(2**63 - 1)),
    ),
    EACH_ROW,
)
CATALOG = catalog_with(TABLE)
NAMES = [column.name for column in TABLE.columns]


def part_of(text: str):
    from dpcurator.fronts.sql import parse

    question = parse(f"SELECT COUNT({text}) FROM t")
    made = Reader(TABLE, scene_of(Named("t"), CATALOG, ()).column).value(question.items[0].part.arguments[0])
    return made.as_type(made.type if made.type != "number" else "integer")


@pytest.mark.parametrize(
    ("text", "low", "high"),
    [
        ("x * x", 0, 16),
        ("y * y", 4, 25),
        ("x * y", -20, 10),
        ("x + y", -2, 7),
        ("x - y", -9, 0),
        ("-x", -2, 4),
        ("ABS(x)", 0, 4),
        ("ABS(y)", 2, 5),
        ("x % 3", -2, 2),
        ("y % 3", 0, 2),
        ("x > y", 0, 1),
        ("SIGN(y)", 1, 1),
        ("x / y", -2, 1),
        ("x / w", -4, 2),
        ("FLOOR(x / 3)", -2, 0),
        ("FLOOR(w / 10) * 10", 0, 10),
        ("ROUND(x, -1)", 0, 0),
        ("ROUND(f)", -2, 3),
        ("CEIL(f)", -1, 3),
        ("FLOOR(f)", -2, 2),
        ("CASE WHEN b THEN x ELSE 7 END", -4, 7),
        ("CASE WHEN b THEN 1 END", 1, 1),
        ("CASE WHEN b THEN 1 ELSE 0 END", 0, 1),
        ("COALESCE(x, 5)", -4, 5),
        ("LEAST(w, 3, x)", -4, 3),
        ("CLIP(free, 0, 100)", 0, 100),
        ("CLIP(x, -1, 100)", -1, 2),
        ("b", 0, 1),
        ("GREATEST(LEAST(free, 9), -1)", -1, 9),
        ("YEAR(d)", 2022, 2024),
        ("MONTH(d)", 1, 12),
        ("HOUR(at)", 0, 23),
        ("LENGTH(s)", 0, 8192),
        ("SQRT(y * 2 - 1)", F(17, 10), F(13, 4)),
        ("5", 5, 5),
        ("POWER(x, 2)", 0, 16),
        ("POWER(x, 3)", -64, 8),
        ("d - DATE '2024-01-01'", -723, 277),
        ("NULLIF(y, 3)", 2, 5),
        ("big + 1", -(2**63) + 1, 2**63 - 1),
    ],
)
def test_bounds_by_hand(text, low, high):
    found = bounds(part_of(text), TABLE)
    assert found is not None
    if text.startswith("SQRT"):
        assert low <= found[0] <= F(1733, 1000) < 3 <= found[1] <= high
        return
    assert found == (low, high)


@pytest.mark.parametrize(
    "text",
    [
        "free",
        "free + x",
        "x * free",
        "1 / f",
        "x / x",
        "LN(f)",
        "CAST(s AS INTEGER)",
        "LEAST(free, x)",
        "CASE WHEN b THEN free END",
        "POWER(f, f)",
        "x / (y - 3)",
    ],
)
def test_what_has_no_bounds(text):
    with pytest.raises(Refusal, match="has no bounds"):
        planned(f"SELECT SUM({text}) FROM t", CATALOG)
    planned(f"SELECT SUM(CLIP({text}, 0, 9)), COUNT({text}) FROM t", CATALOG)


INTEGERS = st.sampled_from(
    (
        "x",
        "y",
        "w",
        "big",
        "0",
        "3",
        "-7",
        "YEAR(d)",
        "MONTH(at)",
        "LENGTH(s)",
        "CLIP(free, -5, 8)",
        "DATE_DIFF('hour', at, at + INTERVAL '1 month')",
        "d - (d - 7)",
        "HOUR(at AT TIME ZONE 'Asia/Tokyo')",
        "DATE_TRUNC('month', d) - DATE '2020-02-29'",
        "(d + INTERVAL '5 months') - d",
        "DATE_DIFF('day', at, at AT TIME ZONE 'America/New_York' AT TIME ZONE 'Asia/Kolkata')",
    )
)
DOUBLES = st.sampled_from(("f", "g", "0.1", "-2.5", "x / 3"))
FORMS = (
    "({0} + {1})",
    "({0} - {1})",
    "({0} * {1})",
    "({0} % {1})",
    "({0} / {1})",
    "(-{0})",
    "ABS({0})",
    "SIGN({0})",
    "FLOOR({0})",
    "CEIL({0})",
    "ROUND({0})",
    "ROUND({0}, 2)",
    "SQRT({0})",
    "EXP({0})",
    "LN({0})",
    "POWER({0}, 2)",
    "POWER({0}, 3)",
    "POWER({0}, {1})",
    "LEAST({0}, {1})",
    "GREATEST({0}, {1}, 1)",
    "COALESCE({0}, {1})",
    "NULLIF({0}, {1})",
    "CASE WHEN {0} > {1} THEN {0} ELSE {1} END",
    "CASE WHEN b THEN {0} END",
    "CLIP({0}, -3, 2)",
    "({0} * {0})",
    "CAST({0} > {1} AS INTEGER)",
    "FLOOR({0} / 10) * 10",
)
EXPRESSIONS = st.recursive(
    INTEGERS | DOUBLES,
    lambda inner: st.builds(lambda form, a, b: form.format(a, b), st.sampled_from(FORMS), inner, inner),
    max_leaves=5,
)


def _inside(end: F, towards: float) -> float:
    """The double next to a bound that is within it: 0.1 is above one tenth, 0.7 below seven, and 0.3 below three."""
    near = float(end)
    return near if (near >= end if towards > 0 else near <= end) else math.nextafter(near, towards)


def _within(column: Column) -> st.SearchStrategy:
    if column.type == "text":
        return st.none() | st.sampled_from(("", "7", "ab c"))
    if column.type == "boolean":
        return st.none() | st.integers(0, 1)
    if column.lower is None or column.upper is None:
        return st.none() | st.integers(-(2**63), 2**63 - 1)
    if column.kind == "float":
        low, high = _inside(column.lower, math.inf), _inside(column.upper, -math.inf)
        return st.none() | st.sampled_from((low, high, float(column.lower + column.upper) / 2)) | st.floats(low, high)
    low, high = int(column.lower), int(column.upper)
    return st.none() | st.sampled_from((low, high, max(low, min(0, high)))) | st.integers(low, high)


ROWS = st.tuples(*map(_within, TABLE.columns)).map(
    lambda row: tuple(0.0 if one == 0.0 and isinstance(one, float) else one for one in row)
)


@given(EXPRESSIONS, st.lists(ROWS, min_size=1, max_size=12))
@tried
def test_a_value_is_within_its_bounds(text, rows):
    try:
        part = part_of(text)
    except Refusal:
        return
    for one in walk(part):
        if not isinstance(one, Compute):
            continue
        ends = span(one, TABLE)
        for row in rows:
            found = value(one, row)
            if found is None or isinstance(found, str):
                continue
            assert not ends.never or one.function in ("coalesce", "least", "greatest")
            assert ends.low is None or ends.low <= F(found)
            assert ends.high is None or F(found) <= ends.high
