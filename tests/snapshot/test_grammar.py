"""The grammar: its own examples, its limits, and batches that agree with reading each cell by itself."""

import datetime as dt
import math
from decimal import Decimal
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st
from power import tried

from dpcurator.catalog.spelling import GRAMMAR, NO_ZONE, Spelling, Unreadable, read_text, read_value
from dpcurator.snapshot.grammar import read_cells, read_typed

READABLE = [(type, text, value) for type, rule in GRAMMAR.items() for text, value in rule.readable]
UNREADABLE = [(type, text) for type, rule in GRAMMAR.items() for text in rule.unreadable]


def same(found, expected):
    return found == expected and type(found) is type(expected) and str(found) == str(expected)


@pytest.mark.parametrize(("type", "text", "value"), READABLE)
def test_readable(type, text, value):
    assert same(read_text(text, type), value)


@pytest.mark.parametrize(("type", "text"), UNREADABLE)
def test_unreadable_for_a_reason_that_quotes_nothing(type, text):
    found = read_text(text, type)
    assert isinstance(found, Unreadable)
    assert len(text.strip()) < 3 or text not in found.reason


@pytest.mark.parametrize("space", ["\t", "\xa0", "\u3000", "\n", "\r"])
@pytest.mark.parametrize("type", [type for type in GRAMMAR if type != "text"])
def test_only_ascii_spaces_are_cut(type, space):
    text = GRAMMAR[type].readable[0][0]
    assert isinstance(read_text(text + space, type), Unreadable)
    assert not isinstance(read_text(f"  {text}  ", type), Unreadable)


def test_the_decimal_mark_is_the_declared_one():
    comma = Spelling(decimal=",")
    assert read_text("-1,5e1", "float", comma) == -15.0
    assert isinstance(read_text("1.5", "float", comma), Unreadable)
    assert isinstance(read_text("1,000.5", "float", comma), Unreadable)


def test_date_formats():
    spelling = Spelling(formats=("DD/MM/YYYY",))
    assert read_text("02/01/1970", "date", spelling) == 1
    assert isinstance(read_text("1970-01-02", "date", spelling), Unreadable)
    assert isinstance(read_text("31/02/1970", "date", spelling), Unreadable)


ZONES = [
    ("UTC", "1970-01-01T00:00", 0),
    ("America/New_York", "2021-11-07T01:30", 1636263000000000),  # twice: the earlier instant, in summer time
    ("Asia/Tokyo", "1970-01-01 09:00:00.000001", 1),
]


@pytest.mark.parametrize(("zone", "text", "micros"), ZONES)
def test_zones(zone, text, micros):
    assert read_text(text, "timestamp", Spelling(zone=zone)) == micros


def test_a_zone_never_reaches_outside_the_years():
    for zone in ("Asia/Tokyo", "America/Los_Angeles"):
        for text in ("0001-01-01T00:00", "9999-12-31T23:59:59"):
            found = read_text(text, "timestamp", Spelling(zone=zone))
            assert isinstance(found, int | Unreadable)
    assert read_text("2020-01-01T00:00", "timestamp") is NO_ZONE


@given(st.datetimes(timezones=st.timezones()), st.sampled_from("T t"), st.booleans())
def test_instants_agree_with_the_standard_library(moment, between, short):
    offset = moment.utcoffset()
    fixed = moment.replace(tzinfo=dt.timezone(dt.timedelta(minutes=offset // dt.timedelta(minutes=1))))
    text = fixed.isoformat(sep=between)
    text = text[:-3] + text[-2:] if short else text
    micros = (fixed - dt.datetime(1970, 1, 1, tzinfo=dt.UTC)) // dt.timedelta(microseconds=1)
    inside = -62135596800000000 <= micros <= 253402300799999999
    assert read_text(text, "timestamp") == micros if inside else isinstance(read_text(text, "timestamp"), Unreadable)


@given(st.datetimes(), st.sampled_from(["America/New_York", "Asia/Tokyo", "UTC"]))
def test_local_times_agree_with_the_standard_library(local, zone):
    found = read_text(local.isoformat(), "timestamp", Spelling(zone=zone))
    assert found == read_value(local.replace(tzinfo=ZoneInfo(zone)), "timestamp")


TYPED = [
    (3.0, "integer", 3), (3.5, "integer", "no"), (True, "integer", "no"), (Decimal("7.00"), "integer", 7),
    (2**63, "integer", "no"), (1e19, "integer", "no"), (math.inf, "integer", "no"), (math.nan, "integer", None),
    (Decimal("nan"), "integer", None), (Decimal("1e999999"), "integer", "no"), (" 5 ", "integer", 5),
    (dt.date(1970, 1, 1), "integer", "no"), (b"5", "integer", 5), (b"\xff", "integer", "no"), ([5], "integer", "no"),
    (None, "integer", None),
    (2**53 + 1, "float", float(2**53)), (10**400, "float", "no"), (Decimal("0.1"), "float", 0.1), (-0.0, "float", 0.0),
    (Decimal("1e999"), "float", "no"), (math.inf, "float", math.inf), (True, "float", "no"), ("1e3", "float", 1000.0),
    (1, "boolean", 1), (0.0, "boolean", 0), (2, "boolean", "no"), ("Yes", "boolean", 1), (False, "boolean", 0),
    (dt.datetime(1970, 1, 2), "date", 1), (dt.datetime(1970, 1, 2, 1), "date", "no"), (5, "date", "no"),
    (dt.datetime(1970, 1, 2, tzinfo=dt.UTC), "date", "no"), (dt.date(1970, 1, 2), "date", 1),
    (dt.datetime(1970, 1, 1), "timestamp", "no"), (dt.datetime(1970, 1, 1, tzinfo=dt.UTC), "timestamp", 0),
    (dt.datetime(1, 1, 1, tzinfo=dt.timezone(dt.timedelta(hours=1))), "timestamp", "no"), (0, "timestamp", "no"),
    (5, "text", "5"), (5.0, "text", "no"), (True, "text", "no"), ("\ud800", "text", "no"), (b"a", "text", "a"),
    (b"\xff", "text", "no"),
    (5, "uuid", "no"),
]


@pytest.mark.parametrize(("value", "type", "expected"), TYPED)
def test_typed_values_are_kept_or_unreadable(value, type, expected):
    found = read_value(value, type)
    if expected == "no":
        assert isinstance(found, Unreadable)
    else:
        assert same(found, expected)


CELLS = st.one_of(
    st.sampled_from(
        [text for _, text, _ in READABLE] + [text for _, text in UNREADABLE] + ["", "NA", "-", "-0", "0-1"]
    ),
    st.text(alphabet="0123456789-+.eE ,", max_size=6),
    st.integers(-(10**20), 10**20).map(str),
    st.floats().map(repr),
    st.text(max_size=5),
)


@given(st.sampled_from(list(GRAMMAR)), st.sampled_from([".", ","]), st.lists(CELLS, max_size=8))
@tried
def test_a_batch_agrees_with_each_cell_by_itself(type, decimal, cells):
    spelling, missing = Spelling(decimal=decimal), ("", "NA")
    values, bad = read_cells(cells, type, spelling, missing)
    alone = [None if cell in missing else read_text(cell, type, spelling) for cell in cells]
    assert bad == [(i, value.reason) for i, value in enumerate(alone) if isinstance(value, Unreadable)]
    assert all(same(v, None if isinstance(a, Unreadable) else a) for v, a in zip(values, alone, strict=True))


PLAIN = st.one_of(st.integers(-(10**19), 10**19), st.integers(-9, 9)).map(str)


@given(
    st.sampled_from(["integer", "float"]), st.lists(st.one_of(PLAIN, st.floats(-9, 9).map(str)), min_size=1, max_size=4)
)
def test_plain_numbers_agree_too(type, cells):
    values, bad = read_cells(cells, type, Spelling(), ())
    alone = [read_text(cell, type) for cell in cells]
    assert [i for i, _ in bad] == [i for i, value in enumerate(alone) if isinstance(value, Unreadable)]
    assert all(same(v, None if isinstance(a, Unreadable) else a) for v, a in zip(values, alone, strict=True))


VALUES = st.one_of(
    st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=4), st.decimals(), st.datetimes(),
    st.datetimes(timezones=st.timezones()), st.dates(), st.uuids(), st.binary(max_size=2), st.times(),
)


@given(st.sampled_from(list(GRAMMAR)), st.data())
@tried
def test_typed_batches_agree_with_each_value_and_never_raise(type, data):
    one_kind = data.draw(st.sampled_from([VALUES, st.integers(), st.floats(), st.text(max_size=4)]))
    cells = data.draw(st.lists(st.one_of(st.none(), one_kind), max_size=6))
    values, bad = read_typed(cells, type, Spelling(zone="Europe/Paris"))
    alone = [read_value(value, type, Spelling(zone="Europe/Paris")) for value in cells]
    assert bad == [(i, value.reason) for i, value in enumerate(alone) if isinstance(value, Unreadable)]
    assert all(same(v, None if isinstance(a, Unreadable) else a) for v, a in zip(values, alone, strict=True))


@pytest.mark.parametrize(
    ("local", "utc"),
    [
        ("2021-03-28T01:59:59", "2021-03-28T00:59:59Z"), ("2021-03-28T02:00", None), ("2021-03-28T02:59:59.999", None),
        ("2021-03-28T03:00", "2021-03-28T01:00Z"), ("2021-10-31T02:30", "2021-10-31T00:30Z"),
    ],
)
def test_c8_a_local_time_that_clocks_skip_is_unreadable_and_the_earlier_of_two_is_meant(local, utc):
    zoned = Spelling(zone="Europe/Paris")
    for value in (local, dt.datetime.fromisoformat(local), dt.datetime.fromisoformat(local).replace(fold=1)):
        found = read_value(value, "timestamp", zoned)
        assert isinstance(found, Unreadable) if utc is None else found == read_text(utc, "timestamp")
