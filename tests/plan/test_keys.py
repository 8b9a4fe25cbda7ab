"""GROUP BY: the public keys of columns and expressions, worked by hand, and who may be selected privately."""

from __future__ import annotations

from dataclasses import replace
from datetime import date
from fractions import Fraction as F

import pytest
from hypothesis import given
from hypothesis import strategies as st
from power import tried
from questions import catalog_with, planned

from dpcurator.catalog.model import EACH_ROW, Column, Table
from dpcurator.errors import Refusal
from dpcurator.language.evaluate import value
from dpcurator.language.rows import Compute, Field
from dpcurator.plan.canonical import as_json, plan_of
from dpcurator.plan.check_catalog import disagreement
from dpcurator.plan.nodes import Key
from dpcurator.plan.public_keys import image


def day(text: str) -> int:
    return date.fromisoformat(text).toordinal() - date(1970, 1, 1).toordinal()


DAYS = (F(day("2023-12-15")), F(day("2024-03-02")))
TABLE = Table(
    "t",
    (
        Column("u", "text"),
        Column("city", "text", keys=("Hull", "Leeds", "York")),
        Column("age", "integer", F(0), F(25)),
        Column("ward", "integer", keys=(None, 1, 2)),
        Column("cost", "float", F(0), F(25)),
        Column("day", "date", *DAYS),
        Column("at", "timestamp", *(end * 86_400_000_000 for end in DAYS)),
        Column("smoker", "boolean"),
        Column("note", "text"),
        Column("size", "float", keys=(0.5, 1.0)),
        Column("free", "integer"),
        Column("zip", "integer", F(0), F(99999), unknown_keys=True),
        Column("item", "text", unknown_keys=True),
        Column("filled", "integer", keys=(7, 8), missing=7),
        Column("weight", "float", F(0), F(9), unknown_keys=True),
    ),
    "u",
    max_rows=2,
    max_groups=2,
)
CATALOG = catalog_with(TABLE)
WITH_DELTA = replace(CATALOG, delta=F(1, 10**6))


def key_of(text: str, catalog=CATALOG):
    return planned(f"SELECT COUNT(*) FROM t GROUP BY {text}", catalog).source.source.columns[0]


def keys_of(text: str):
    return image(key_of(text).part, TABLE)


BY_HAND = [
    ("city", ("Hull", "Leeds", "York")),
    ("ward", (None, 1, 2)),
    ("smoker", (0, 1)),
    ("age", tuple(range(26))),
    ("LOWER(city)", ("hull", "leeds", "york")),
    ("LENGTH(city)", (4, 5)),
    ("LEFT(city, 1)", ("H", "L", "Y")),
    ("city || '!'", ("Hull!", "Leeds!", "York!")),
    ("COALESCE(city, 'none')", ("Hull", "Leeds", "York", "none")),
    ("ward + 1", (None, 2, 3)),
    ("COALESCE(ward, 0)", (0, 1, 2)),
    ("ward IS NULL", (0, 1)),
    ("-ward", (None, -2, -1)),
    ("FLOOR(age / 10) * 10", (0, 10, 20)),
    ("FLOOR(cost / 10) * 10", (0, 10, 20)),
    ("ROUND(cost / 10)", (0, 1, 2, 3)),
    ("CAST(cost / 10 AS INTEGER)", (0, 1, 2, 3)),
    ("age % 3", (0, 1, 2)),
    ("age > 18", (0, 1)),
    ("note = 'x'", (0, 1)),
    ("CASE WHEN age < 10 THEN 'low' WHEN age < 20 THEN 'mid' ELSE 'high' END", ("high", "low", "mid")),
    ("CASE WHEN free < 10 THEN 'low' ELSE 'high' END", ("high", "low")),
    ("CASE WHEN note LIKE 'a%' THEN 1 END", (1,)),
    ("CASE WHEN city = 'York' THEN ward END", (None, 1, 2)),
    ("DATE_TRUNC('month', day)", tuple(map(day, ("2023-12-01", "2024-01-01", "2024-02-01", "2024-03-01")))),
    ("DATE_TRUNC('quarter', at)", tuple(map(day, ("2023-10-01", "2024-01-01")))),
    ("YEAR(at)", (2023, 2024)),
    ("EXTRACT(month FROM day)", (1, 2, 3, 12)),
    ("HOUR(at)", tuple(range(24))),
    ("EXTRACT(dow FROM day)", tuple(range(7))),
    ("DATE_TRUNC('year', at AT TIME ZONE 'Asia/Tokyo')", (day("2023-01-01"), day("2024-01-01"))),
    ("size * 2", (1.0, 2.0)),
    ("size", (0.5, 1.0)),
    ("CASE WHEN size < 1 THEN ward ELSE 9 END", (None, 1, 2, 9)),
    ("filled", (7, 8)),
    ("filled + 1", (8, 9)),
    ("CLIP(free, 1, 3)", (1, 2, 3)),
    ("FLOOR(zip / 50000)", (0, 1)),
    ("SIGN(free)", (-1, 0, 1)),
    ("LEAST(age, 2)", tuple(range(26))[:3]),
    ("smoker AND age > 3", (0, 1)),
    ("city = 'Hull' OR ward = 1", (None, 0, 1)),
    (
        "CONCAT(city, '-', ward)",
        ("-", "-1", "-2", "Hull-", "Hull-1", "Hull-2", "Leeds-", "Leeds-1", "Leeds-2", "York-", "York-1", "York-2"),
    ),
    ("5 + 2", (7,)),
]


@pytest.mark.parametrize(("text", "keys"), BY_HAND, ids=[text for text, _ in BY_HAND])
def test_keys_by_hand(text, keys):
    found = keys_of(text)
    if text == "LEAST(age, 2)":
        assert set(keys) <= set(found)
        return
    assert found == keys
    assert key_of(text).count == len(keys)


@pytest.mark.parametrize(
    ("text", "keys"),
    [
        ("LEAST(FLOOR((x - 40) / 12), 9)", range(-4, 10)),
        ("GREATEST(LEAST(FLOOR((x - 40) / 12), 9), 0)", range(10)),
        ("FLOOR(LEAST(x, 100) / 50)", range(3)),
        ("LEAST(y, 2)", range(3)),
    ],
)
def test_d9_keys_that_no_value_within_the_bounds_can_have_are_not_asked(text, keys):
    table = Table("t", (Column("x", "float", F(0), F(300)), Column("y", "integer", F(0), F(9))), EACH_ROW)
    catalog = catalog_with(table)
    plan = planned(f"SELECT {text}, COUNT(*) FROM t GROUP BY {text}", catalog)
    (column,) = plan.source.source.columns
    assert column.count == len(keys)
    assert image(column.part, table) == tuple(keys)
    assert disagreement(plan, catalog) is None


@pytest.mark.parametrize(("text", "_"), BY_HAND, ids=[text for text, _ in BY_HAND])
def test_a_plan_with_keys_agrees_with_its_catalog_and_makes_the_trip(text, _):
    plan = planned(f"SELECT {text}, COUNT(*) FROM t GROUP BY {text}", CATALOG)
    assert plan.outputs[0].part == Key(0)
    assert disagreement(plan, CATALOG) is None
    assert plan_of(as_json(plan)) == plan


def _row(column: Column) -> st.SearchStrategy:
    """Values whose keys are listed: those of the list, or within bounds."""
    if column.name == "u":
        return st.just("a")
    if column.keys is not None:
        return st.sampled_from(column.keys)
    if column.kind == "text":
        return st.sampled_from((None, "", "abc"))
    if column.type == "boolean":
        return st.sampled_from((None, 0, 1))
    if column.kind == "float":
        return st.floats(-3, 99)
    return st.none() | st.integers(-(2**63), 2**63 - 1)


@given(st.tuples(*map(_row, TABLE.columns)), st.sampled_from([text for text, _ in BY_HAND]))
@tried
def test_a_row_of_listed_values_has_a_listed_key_or_none(row, text):
    """Bounded columns are clamped first, so whatever they hold is in a group."""
    found = value(key_of(text).part, row)
    assert found is None or found in keys_of(text)


def test_a_bounded_column_is_clamped_before_it_is_a_key():
    key = key_of("age")
    assert key.part == Compute("clip", (Field(2, "integer"),), "integer", (0, 25))
    assert (key.name, key_of("FLOOR(age / 10)").name) == ("age", "FLOOR(age / 10.0)")
    assert planned("SELECT age, age + 1, COUNT(*) FROM t GROUP BY age ORDER BY age", CATALOG).outputs[0].part == Key(0)


@pytest.mark.parametrize(
    "text",
    [
        "SELECT FLOOR(age/10)*10 AS bin, COUNT(*) FROM t GROUP BY FLOOR(age/10)*10 ORDER BY FLOOR(age / 10) * 10",
        "SELECT FLOOR(age/10)*10 AS bin, COUNT(*) FROM t GROUP BY bin ORDER BY bin",
        "SELECT FLOOR(age/10)*10 AS bin, COUNT(*) FROM t GROUP BY 1 ORDER BY 1",
        "SELECT FLOOR(t.AGE / 10) * 10 AS bin, COUNT(*) FROM t GROUP BY FLOOR(age/10)*10 ORDER BY BIN",
    ],
)
def test_a_key_is_named_by_alias_position_or_itself(text):
    plan = planned(text, CATALOG)
    assert plan.outputs[0].part == plan.order[0].part == Key(0)
    assert plan.source.source.columns[0].count == 3


def test_an_expression_over_keys_is_free():
    plan = planned(
        "SELECT ROUND(FLOOR(age / 10) * 10 + 5) AS middle, COUNT(*) FROM t GROUP BY FLOOR(age / 10) * 10 "
        "HAVING FLOOR(age / 10) * 10 > 0",
        CATALOG,
    )
    assert len(plan.calls) == 1
    for text in (
        "SELECT age, COUNT(*) FROM t GROUP BY FLOOR(age / 10)",
        "SELECT FLOOR(age / 5) FROM t GROUP BY FLOOR(age / 10)",
    ):
        with pytest.raises(Refusal):
            planned(text, CATALOG)


@pytest.mark.parametrize(
    "text",
    ["item", "zip", "LOWER(item)", "item || city", "LENGTH(item)", "zip * 100000", "LEFT(item, 1)",
     "SUBSTRING(item, 2)", "REPLACE(item, 'a', 'bc')", "REPLACE(item || city, 'a', '')",
     "LEFT(COALESCE(item, city), 2)"],
)
def test_unknown_keys_are_taken_where_they_are_declared_and_delta_is_there(text):
    listed = "FLOOR(zip / 50000)"
    assert key_of(listed).listed
    if text == "LENGTH(item)":  # a text has at most 8,192 letters
        assert key_of(text).count == 8_193
        return
    if text == "zip * 100000":
        assert key_of(text).count == 100_000
        return
    key = key_of(text, WITH_DELTA)
    assert (key.count, key.digest) == (None, "")
    plan = planned(f"SELECT {text}, COUNT(*) FROM t GROUP BY {text}", WITH_DELTA)
    assert disagreement(plan, WITH_DELTA) is None
    assert disagreement(plan, CATALOG) is not None
    with pytest.raises(Refusal, match="needs a public list") as refused:
        key_of(text)
    assert 'keys = "unknown"' in refused.value.cure


@pytest.mark.parametrize(
    "text", ["note", "item || note", "free", "weight", "cost", "cost * 2", "size + cost", "at", "free * 2"]
)
def test_keys_that_are_neither_listed_nor_declared_unknown_are_refused(text):
    with pytest.raises(Refusal, match=r"public list|no list") as refused:
        key_of(text, WITH_DELTA)
    assert any(way in refused.value.cure for way in ("keys = [", "CASE WHEN"))


def test_many_values_of_one_column_need_bins():
    table = Table("t", (Column("u", "text"), Column("x", "integer", F(0), F(10_000))), "u", max_rows=1, max_groups=1)
    with pytest.raises(Refusal, match="10,001 keys") as refused:
        planned("SELECT COUNT(*) FROM t GROUP BY x", catalog_with(table))
    assert "FLOOR(x / 10) * 10" in refused.value.cure
    planned("SELECT COUNT(*) FROM t GROUP BY FLOOR(x / 10) * 10", catalog_with(table))


def test_counting_units_through_a_one_to_one_expression():
    for text in ("u", "u || 'abc'", "CONCAT('a', u)", "'x' || u || 'y'"):
        assert planned(f"SELECT COUNT(DISTINCT {text}) FROM t", CATALOG).calls[0].function == "COUNT DISTINCT"
        assert planned(f"SELECT COUNT(DISTINCT {text}) FROM t", CATALOG).calls[0].column is None
    for text in ("LOWER(u)", "u || note", "u || u", "LEFT(u, 3)"):
        with pytest.raises(Refusal, match="DISTINCT counts the protected units whole"):
            planned(f"SELECT COUNT(DISTINCT {text}) FROM t", CATALOG)
    for text in ("city", "'x'"):
        assert planned(f"SELECT COUNT(DISTINCT {text}) FROM t", CATALOG).calls[0].column is not None
