"""Columns: declarations and the frozen values, or the words, they give."""

import datetime as dt
import math
from fractions import Fraction

import pytest

from dpcurator.catalog.load import load
from dpcurator.errors import Misconfigured


def column(**fields):
    raw = {"curator": {"protects": "p", "salt": "0" * 32}, "ledger": {"epsilon": 1, "delta": "1e-8"}}
    raw["tables"] = {"t": {"unit": "u", "columns": {"u": "integer", "x": fields}}}
    return load(raw).tables[0].columns[1]


KEYS = [
    ("text", ["b", "a", "é", "B"], ("B", "a", "b", "é")),
    ("text", ["a", "a"], ("a",)),
    ("text", [], ()),
    ("integer", [3, -1], (-1, 3)),
    ("float", [1, 0.5, -0.0], (0.0, 0.5, 1.0)),
    ("float", [math.inf, -math.inf], (-math.inf, math.inf)),
    ("boolean", [True], (1,)),
    ("boolean", None, (0, 1)),
    ("date", ["1970-01-02", dt.date(1970, 1, 1)], (0, 1)),
    ("timestamp", ["1970-01-01T00:00Z", dt.datetime(1970, 1, 1, 1, tzinfo=dt.UTC)], (0, 3_600_000_000)),
    ("uuid", ["123E4567-E89B-12D3-A456-426614174000"], ("123e4567-e89b-12d3-a456-426614174000",)),
    ("text", None, None),
]


@pytest.mark.parametrize(("type", "keys", "expected"), KEYS)
def test_keys_become_physical_values_in_order(type, keys, expected):
    found = column(type=type) if keys is None else column(type=type, keys=keys)
    assert found.keys == expected
    if expected:
        assert [math.copysign(1, key) for key in found.keys if key == 0.0] in ([], [1.0])


def test_the_missing_key_comes_first():
    assert column(type="integer", keys=[1, -5], keys_include_missing=True).keys == (None, -5, 1)
    assert column(type="boolean", keys_include_missing=True).keys == (None, 0, 1)


REFUSED = [
    ({"type": "integer", "keys": ["1"]}, 'key "1" is not of type integer'),
    ({"type": "integer", "keys": [True]}, "key true is not an integer"),
    ({"type": "integer", "keys": [1.5]}, "key 1.5 is not an integer"),
    ({"type": "integer", "keys": [2**63]}, "is outside 64 bits"),
    ({"type": "integer", "keys": [1, 1.0]}, "keys 1 and 1 are the same value"),
    ({"type": "float", "keys": [0.0, -0.0]}, "keys 0 and -0 are the same value"),
    ({"type": "float", "keys": [math.nan]}, "key nan means missing. Write keys_include_missing"),
    ({"type": "float", "keys": [2**53 + 1]}, "is no double"),
    ({"type": "text", "keys": [1]}, "a number, not text"),
    ({"type": "text", "keys": ["a\0"]}, "U+0000"),
    ({"type": "boolean", "keys": [True, 1]}, "keys true and 1 are the same value"),
    ({"type": "boolean", "keys": ["yes"]}, "is not of type boolean"),
    ({"type": "date", "keys": ["2023-02-29"]}, 'key "2023-02-29" is no such day'),
    ({"type": "date", "keys": [dt.time(1)]}, "key 01:00:00 is not of type date"),
    ({"type": "timestamp", "keys": ["2023-02-28T00:00"]}, "without an offset"),
    ({"type": "timestamp", "keys": ["1970-01-01T00:00Z", "1970-01-01T01:00+01:00"]}, "are the same value"),
    ({"type": "uuid", "keys": ["A23E4567-E89B-12D3-A456-426614174000", "a23e4567-e89b-12d3-a456-426614174000"]},
     "are the same value"),
    ({"type": "text", "keys": "a"}, "keys must be a list"),
    ({"type": "text", "keys_include_missing": True}, "there are no keys"),
    ({"type": "text", "keys_include_missing": "yes"}, "keys_include_missing must be true or false"),
    ({"type": "text", "zone": "UTC"}, "zone is for timestamp columns"),
    ({"type": "timestamp", "zone": "Mars/Base"}, "no known time zone"),
    ({"type": "timestamp", "zone": "/etc/passwd"}, "no known time zone"),
    ({"type": "date", "format": "DD/MM"}, "YYYY, MM and DD once each"),
    ({"type": "text", "format": "DD/MM/YYYY"}, "for date, timestamp and integer columns (times of day), not text"),
    ({"type": "integer", "missing": "0"}, 'missing = "0" is not of type integer'),
    ({"type": "integer", "missing": {"values": 0}}, 'missing must be "drop"'),
    ({"type": "text", "unreadable": "drop"}, 'unreadable must be "missing" or "set-aside"'),
    ({"type": "float", "bounds": [0, 10**400]}, "outside the doubles"),
    ({"type": "integer", "bounds": [0, 2**63]}, "inside 64 bits"),
    ({"type": "date", "bounds": [1, 2]}, 'bounds [1, 2] must be two dates: 1 is not a date. Write two dates, as in'),
    ({"type": "date", "bounds": ["2023-02-29", "2024-01-01"]}, 'two dates: "2023-02-29" is no such day'),
    ({"type": "date", "bounds": ["2024-01-01", "2023-01-01"]}, "are the wrong way round"),
    ({"type": "date", "bounds": ["2024-01-01"]}, 'bounds must be two dates, not ["2024-01-01"]. Write bounds = ["2020'),
    ({"type": "date", "bounds": [None, "2024-01-01"]}, "is missing"),
    ({"type": "timestamp", "bounds": ["2024-01-01T00:00", "2025-01-01T00:00Z"]}, "without an offset"),
    ({"type": "boolean", "bounds": [False, True]}, "bounds are for numbers, dates and timestamps, not boolean"),
    ({"type": "uuid", "bounds": [0, 1]}, "bounds are for numbers, dates and timestamps, not uuid"),
    ({"type": "float", "keys": "unknown"}, "Unknown keys are for values that repeat exactly"),
    ({"type": "text", "keys": "unknown", "keys_include_missing": True}, "also missing. Leave"),
    ({"bounds": [0, 1]}, 'column "x" has no type'),
]


@pytest.mark.parametrize(("fields", "told"), REFUSED)
def test_refused(fields, told):
    with pytest.raises(Misconfigured) as caught:
        column(**fields)
    assert told in str(caught.value)


def test_bounds_are_exact():
    assert column(type="float", bounds=[0.1, 1e3]).lower == Fraction(1, 10)
    assert column(type="integer", bounds=[-(2**63), 2**63 - 1]).upper == 2**63 - 1
    assert column(type="integer", bounds=[3, 3.0]).upper == 3


def test_bounds_of_days_and_moments_are_physical_values():
    assert column(type="date", bounds=["1970-01-02", dt.date(1970, 2, 1)]).lower == 1
    assert column(type="date", format="DD/MM/YYYY", bounds=["1970-01-02", "1970-02-01"]).upper == 31
    hour = 3_600_000_000
    assert column(type="timestamp", bounds=["1970-01-01T01:00Z", "1970-01-01T01:00-01:00"]).lower == hour
    local = column(type="timestamp", zone="Europe/Paris", bounds=["1970-01-01T01:00", "1970-01-01T02:00"])
    assert (local.lower, local.upper) == (0, hour)


@pytest.mark.parametrize("type", ["integer", "text", "boolean", "date", "timestamp", "uuid"])
def test_unknown_keys(type):
    found = column(type=type, keys="unknown")
    assert (found.unknown_keys, found.keys) == (True, None)
    assert not column(type=type).unknown_keys


def test_fills():
    assert column(type="integer", missing=0).missing == 0
    assert column(type="integer", missing="drop").missing is None
    assert column(type="text", missing={"value": "drop"}).missing == "drop"
    assert column(type="date", missing="1970-01-03").missing == 2
    assert column(type="boolean", missing=False).missing == 0


@pytest.mark.parametrize(
    ("field", "given", "cured"),
    [
        ("bounds", ["01.02.1970", "02.02.1970"], ["1970-02-01", "1970-02-02"]),
        ("keys", ["01.02.1970"], ["1970-02-01"]),
        ("missing", "01.02.1970", "1970-02-01"),
    ],
)
def test_c2_the_catalog_writes_dates_in_iso_whatever_the_file_does(field, given, cured):
    with pytest.raises(Misconfigured) as caught:
        column(type="date", format="DD.MM.YYYY", **{field: given})
    assert "20" in caught.value.cure
    assert "-12-31" in caught.value.cure
    assert "DD.MM" not in caught.value.cure
    iso, plain = (column(type="date", **extra, **{field: cured}) for extra in ({"format": "DD.MM.YYYY"}, {}))
    assert (iso.lower, iso.keys, iso.missing) == (plain.lower, plain.keys, plain.missing) != (None, None, None)
