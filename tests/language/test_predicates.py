"""WHERE: what each comparison means of a row, held against exact arithmetic on rows at the edges."""

from __future__ import annotations

import math
from fractions import Fraction as F

import pytest
from questions import CATALOG, planned

from dpcurator.engines.reference import truth
from dpcurator.errors import Refusal
from dpcurator.language.rows import AllOf, Among, AnyOf, Compare, Constant, Field, IsMissing, Not, Truth, fields

COLUMNS = [column.name for column in CATALOG.tables[0].columns]
AGE, COST, DAY, AT, SMOKER, WARD = map(COLUMNS.index, ("age", "cost", "day", "at", "smoker", "ward"))
MOST, LEAST = 2**63 - 1, -(2**63)


def where(condition: str):
    return planned(f"SELECT COUNT(*) FROM visits WHERE {condition}").source.source.source.predicate


def of(condition: str, **row) -> bool | None:
    """The condition's truth of a row with these values, the others missing."""
    return truth(where(condition), tuple(row.get(name) for name in COLUMNS))


@pytest.mark.parametrize("op", ["=", "<>", "<", "<=", ">", ">="])
@pytest.mark.parametrize("number", ["3", "3.0", "2.5", "-2.5", "1e18", "9223372036854775807", "9223372036854775807.5",
                                    "9223372036854775808", "-9223372036854775808", "-9223372036854775808.5", "1e40",
                                    "-1e40", "0.1", "-0", "3e0"])
def test_an_integer_column_meets_a_number_exactly(op, number):
    python = {"=": "==", "<>": "!="}.get(op, op)
    for value in (-3, -2, 0, 1, 2, 3, 4, MOST, MOST - 1, LEAST, LEAST + 1, 10**18, 2**53 + 1):
        expected = eval(f"F({value}) {python} F('{number}')", {"F": F})
        assert of(f"age {op} {number}", age=value) is expected
        swapped = {"<": ">", ">": "<", "<=": ">=", ">=": "<="}.get(op, op)
        assert of(f"{number} {swapped} age", age=value) is expected
    assert of(f"age {op} {number}") is None  # a missing value compares as unknown


@pytest.mark.parametrize(
    ("condition", "row", "expected"),
    [
        ("cost = 0.1", {"cost": 0.1}, True), ("cost < 0.1", {"cost": math.nextafter(0.1, 0)}, True),
        ("cost >= age", {"cost": 3.0, "age": 3}, True), ("cost = 0", {"cost": 0.0}, True),
        ("cost = -0", {"cost": 0.0}, True),
        ("age = ward", {"age": 3, "ward": 3}, True), ("age = ward", {"age": 3}, None),
        ("smoker", {"smoker": 1}, True), ("NOT smoker", {"smoker": 1}, False), ("NOT smoker", {}, None),
        ("smoker = FALSE", {"smoker": 0}, True), ("smoker IN (TRUE, NULL)", {"smoker": 0}, None),
        ("day = '1970-01-02'", {"day": 1}, True), ("day < DATE '0001-01-02'", {"day": -719162}, True),
        ("day BETWEEN '1970-01-01' AND '1970-01-31'", {"day": 31}, False),
        ("at = '1970-01-01T00:00:00Z'", {"at": 0}, True), ("at = '1970-01-01 01:00:00.5+01:00'", {"at": 500_000}, True),
        ("at > TIMESTAMP '1969-12-31T23:59:59.999999Z'", {"at": 0}, True),
        ("code = '{12345678-1234-5678-1234-567812345678}'", {"code": "12345678-1234-5678-1234-567812345678"}, True),
        ("note = 'it''s'", {"note": "it's"}, True), ("note > 'a'", {"note": "ä"}, True),
        ("note = ''", {"note": ""}, True),
        ("note = ' a'", {"note": "a"}, False), ("note = 'A'", {"note": "a"}, False),
        ("note IS NULL", {}, True), ("note IS NOT NULL", {"note": ""}, True), ("age = NULL", {"age": 1}, None),
        ("age IN (1, 2.5, 1e40)", {"age": 1}, True), ("age IN (2.5)", {"age": 2}, False), ("age IN (2.5)", {}, None),
        ("age NOT IN (1, NULL)", {"age": 1}, False), ("age NOT IN (1, NULL)", {"age": 2}, None),
        ("age IN (1) OR TRUE", {}, True), ("NULL", {"age": 1}, None), ("TRUE AND NULL", {}, None),
        ("FALSE AND NULL", {}, False),
        ("NOT (age > 3 AND cost > 3)", {"age": 1}, True), ("age > 3 OR cost > 3", {"age": 1}, None),
        ("age = -5", {"age": -5}, True), ("age BETWEEN 5 AND 3", {"age": 4}, False),
    ],
)
def test_what_a_condition_means_of_a_row(condition, row, expected):
    assert of(condition, **row) is expected


def test_chains_are_flat_and_long_ones_are_taken():
    one = where("age > 1 AND (age > 2 AND cost > 3) AND note IS NULL")
    assert isinstance(one, AllOf)
    assert len(one.parts) == 4
    many = where(" OR ".join(f"age = {i}" for i in range(900)))
    assert isinstance(many, AnyOf)
    assert len(many.parts) == 900


def test_which_columns_a_predicate_looks_at():
    assert fields(where("NOT (age > 3 OR cost = age) AND note IS NULL AND smoker IN (TRUE)")) == {AGE, COST, SMOKER, 11}
    assert fields(where("TRUE")) == set()
    assert fields(where("age = 0.5")) == {AGE}


def test_the_shape_of_predicates():
    age = Field(AGE, "integer")
    assert where("age > 65") == Compare(">", age, Constant(65, "integer"))
    assert where("65.5 > age") == Compare("<", age, Constant(66, "integer"))
    assert where("age IN (1, 1, 2)") == Among(age, (Constant(1, "integer"), Constant(2, "integer")))
    assert where("NOT age IS NULL") == Not(IsMissing(age))
    assert where("age = NULL") == Truth(None)
    assert where("cost = -0.0") == Compare("=", Field(COST, "float"), Constant(0.0, "float"))
    assert math.copysign(1, where("cost = -0.0").right.value) == 1


@pytest.mark.parametrize(
    ("condition", "said"),
    [
        ("age", "a condition is needed"), ("city > 3", "is text; compare it with a text"),
        ("age > 'x'", "compare it with a number"), ("age > TRUE", "a number"), ("smoker = 1", "TRUE or FALSE"),
        ("day = '2024-13-01'", "a date"), ("day = '2024-1-1'", "a date"), ("day = '0000-01-01'", "a date"),
        ("day = 3", "a date"), ("day = TIMESTAMP '2024-01-01T00:00:00Z'", "a date"), ("at = '2024-01-01'", "its zone"),
        ("at = '2024-01-01T00:00:00'", "its zone"), ("at = '2024-01-01T25:00:00Z'", "its zone"),
        ("at = '0001-01-01T00:00:00+23:59'", None), ("at = '2024-01-01T00:00:00+99:00'", "its zone"),
        ("code = 'nope'", "a UUID"), ("cost = 1e309", "beyond the largest double"), ("note = DATE '2024-01-01'",
        "a text"),
        ("age = DATE '2024-01-01'", "a number"), ("age = city", "they cannot be compared"), ("day = age", "cannot be"),
        ("smoker = age", "cannot be compared"), ("age IN (city)", "cannot be compared"),
        ("COUNT(*) > 1", "COUNT is not available in WHERE"), ("AVG(age) > 1", "AVG is not available in WHERE"),
        ("5", "a condition is needed"), ("'x'", "a condition is needed"), ("1 = 'x'", "cannot be compared"),
    ],
)
def test_what_is_refused(condition, said):
    if said is None:
        assert of(condition, at=0) is False
        return
    with pytest.raises(Refusal, match=said) as refused:
        where(condition)
    assert refused.value.cure
    assert refused.value.__cause__ is None
