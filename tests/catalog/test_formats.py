"""Formats of dates, timestamps and times of day: what each reads, what is refused, and pairs that mean two things."""

import datetime as dt
import itertools
import re
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpcurator.catalog.formats import alike, moment, pattern_of
from dpcurator.catalog.load import load
from dpcurator.catalog.spelling import Spelling, Unreadable, read_text, read_value
from dpcurator.errors import Misconfigured

DAY = 86_400_000_000
MOMENT = dt.datetime(2024, 3, 5, 16, 7, 8, 500_000, tzinfo=dt.UTC)
MICROS = int(MOMENT.timestamp() * 1_000_000)
DATE = (MOMENT.date() - dt.date(1970, 1, 1)).days

READ = [
    ("date", "DD.MM.YYYY", "05.03.2024", DATE), ("date", "D.M.YYYY", "5.3.2024", DATE),
    ("date", "D.M.YYYY", "05.03.2024", DATE), ("date", "DD-MON-YYYY", "05-mar-2024", DATE),
    ("date", "MON D, YYYY", "MAR 5, 2024", DATE), ("date", "YYYYMMDD", "20240305", DATE),
    ("date", "ISO", "2024-03-05", DATE), ("date", "DD.MM.YYYY", "5.3.2024", None),
    ("date", "DD.MM.YYYY", "31.02.2024", None), ("date", "DD-MON-YYYY", "05-mrz-2024", None),
    ("date", "days since 1970-01-01", str(DATE), DATE), ("date", "days since 1899-12-30", "45356", DATE),
    ("date", "days since 1899-12-30", "45356.0", DATE), ("date", "days since 1899-12-30", "45356.5", None),
    ("date", "days since 1970-01-01", "9" * 30, None), ("date", "days since 1970-01-01", "1e3", None),
    ("timestamp", "DD.MM.YYYY HH:mm", "05.03.2024 16:07", MICROS - 8_500_000),
    ("timestamp", "MM/DD/YYYY hh:mm:ss AM", "03/05/2024 04:07:08.5 PM", MICROS),
    ("timestamp", "M/D/YYYY h:mm AM", "3/5/2024 4:07 pm", MICROS - 8_500_000),
    ("timestamp", "M/D/YYYY h:mm AM", "3/5/2024 12:07 am", MICROS - 8_500_000 - 16 * 3_600_000_000),
    ("timestamp", "M/D/YYYY h:mm AM", "3/5/2024 13:07 pm", None),
    ("timestamp", "YYYY-MM-DD HH:mm:ss UTC", "2024-03-05 16:07:08 UTC", MICROS - 500_000),
    ("timestamp", "YYYY-MM-DDTHH:mm:ssZ", "2024-03-05T17:07:08,5+0100", MICROS),
    ("timestamp", "YYYY-MM-DDTHH:mm:ssZ", "2024-03-05T17:07:08,5+2500", None),
    ("timestamp", "seconds since 1970-01-01", "1709654828.5", MICROS),
    ("timestamp", "milliseconds since 1970-01-01", "1709654828500", MICROS),
    ("timestamp", "seconds since 1970-01-01", "-0.0000001", -1),
    ("integer", "HH:mm", "05:40", 20_400), ("integer", "H:mm", "5:40", 20_400),
    ("integer", "HH:mm:ss", "23:59:59", 86_399),
    ("integer", "h:mm AM", "12:30 PM", 45_000), ("integer", "HH:mm", "24:00", None), ("integer", "HH:mm", "540", None),
]


@pytest.mark.parametrize(("type", "format", "text", "value"), READ)
def test_a_format_reads(type, format, text, value):
    found = read_text(f" {text} ", type, Spelling(zone="UTC", formats=(format,)))
    assert isinstance(found, Unreadable) if value is None else found == value


def test_the_first_format_that_reads_a_text_decides():
    spelling = Spelling(formats=("ISO", "DD.MM.YYYY", "MON D YYYY", "days since 1899-12-30"))
    texts = ["2024-03-05", "05.03.2024", "Mar 5 2024", "45356"]
    assert [read_text(text, "date", spelling) for text in texts] == [DATE] * 4
    assert read_text("30.02.2024", "date", spelling).reason.startswith("no such day")
    assert read_text("March", "date", spelling).reason == "not a date"


TYPED = [
    ("timestamp", "seconds since 1970-01-01", 1709654828.5, MICROS),
    ("timestamp", "seconds since 1970-01-01", Decimal("1709654828.5"), MICROS),
    ("timestamp", "milliseconds since 1970-01-01", 1709654828500, MICROS), ("timestamp", "ISO", MOMENT, MICROS),
    ("timestamp", "seconds since 1970-01-01", float("inf"), None),
    ("timestamp", "seconds since 1970-01-01", True, None),
    ("timestamp", "seconds since 1970-01-01", Decimal("1e999999"), None),
    ("timestamp", "seconds since 1970-01-01", Decimal("-1e-999999"), -1),
    ("timestamp", "seconds since 1970-01-01", 10**600, None), ("date", "days since 1970-01-01", 3, 3),
    ("date", "days since 1970-01-01", 3.5, None), ("date", "days since 1970-01-01", dt.date(1970, 1, 4), 3),
    ("integer", "HH:mm", dt.time(5, 40, 1, 5), 20_401), ("integer", "HH:mm", 5, None), ("date", "DD.MM.YYYY", 5, None),
]


@pytest.mark.parametrize(("type", "format", "value", "expected"), TYPED)
def test_typed_values_too(type, format, value, expected):
    found = read_value(value, type, Spelling(formats=(format,)))
    assert isinstance(found, Unreadable) if expected is None else found == expected


def declared(type, **fields):
    raw = {"curator": {"protects": "p"}, "ledger": {"epsilon": 1}}
    return load(raw | {"tables": {"t": {"unit": "each row", "columns": {"x": {"type": type} | fields}}}})


REFUSED = [
    ("date", "DD/MM", "YYYY, MM and DD once each"), ("date", "DD.MM.YYYY HH:mm", "YYYY, MM and DD once each"),
    ("date", "D of MM YYYY", "YYYY, MM and DD once each"), ("date", "DM.YYYY", "needs a mark after it"),
    ("date", "DD.MM.YY", "YYYY, MM and DD once each"), ("date", "seconds since 1970-01-01", "counted in days"),
    ("date", ["DD/MM/YYYY", "MM/DD/YYYY"], "as two different times"),
    ("date", ["YYYYMMDD", "DDMMYYYY"], "two different"),
    ("date", ["DD.MM.YYYY", "days since 1970-01-01", "days since 1899-12-30"], "two different times"),
    ("date", ["YYYYMMDD", "days since 1970-01-01"], "two different times"), ("date", [], "a list of texts"),
    ("date", [1], "a list of texts"), ("date", "days since 1970-02-30", "YYYY, MM and DD once each"),
    ("timestamp", "DD.MM.YYYY", "YYYY, MM, DD, HH and mm once each"),
    ("timestamp", "DD.MM.YYYY hh:mm", "hh goes with AM"), ("timestamp", "DD.MM.YYYY HH:mm AM", "hh goes with AM"),
    ("timestamp", "DD.MM.YYYY HH:mm", "has no offset, and no zone is declared"), ("integer", "ISO", "HH and mm once"),
    ("integer", "mm:ss", "HH and mm once each"), ("integer", "seconds since 1970-01-01", "HH and mm once each"),
    ("boolean", "DD.MM.YYYY", "not boolean"),
]


@pytest.mark.parametrize(("type", "format", "told"), REFUSED)
def test_refused_and_the_cure_works(type, format, told):
    with pytest.raises(Misconfigured) as caught:
        declared(type, format=format)
    assert told in str(caught.value)
    if type == "boolean":
        return
    cured = re.search(r'(format|zone) = (\[.*?\]|".*?")', caught.value.cure)
    fields = {"format": format, "zone": "UTC"} if type == "timestamp" else {"format": format}
    assert declared(type, **fields | {cured[1]: eval(cured[2])})


FORMATS = ["DD.MM.YYYY", "MM.DD.YYYY", "D.M.YYYY", "M.D.YYYY", "YYYY-MM-DD", "YYYYMMDD", "DDMMYYYY", "MMDDYYYY",
           "DD.MON.YYYY", "YYYY.MM.DD", "YYYYDDMM"]


@pytest.mark.parametrize(("first", "second"), list(itertools.combinations(FORMATS, 2)))
def test_formats_that_are_taken_together_read_no_day_differently(first, second):
    """Every day of four years, written by one and read by the other: never another day, or the pair was refused."""
    if alike(first, second, "date"):
        return
    assert (first, second) not in [("DD.MM.YYYY", "MM.DD.YYYY"), ("YYYYMMDD", "DDMMYYYY"), ("DDMMYYYY", "MMDDYYYY")]
    day = dt.date(1203, 1, 1)
    while day.year < 1205 or 2011 <= day.year < 2013:
        for one, other in ((first, second), (second, first)):
            text = one.replace("YYYY", f"{day.year:04d}").replace("MON", day.strftime("%b")).replace("DD", f"{day:%d}")
            text = text.replace("MM", f"{day:%m}").replace("D", f"{day.day}").replace("M.", f"{day.month}.")
            assert moment(text, other, "date") in (None, False) or (
                moment(text, other, "date") == moment(text, one, "date")
            )
        day += dt.timedelta(days=1)
        if day.year == 1205:
            day = dt.date(2011, 1, 1)


TOKENS = ["YYYY", "MM", "DD", "M", "D", "MON", "HH", "hh", "mm", "ss", "AM", "UTC", "Z", " ", ":", ".", "T", "x"]


@given(st.sampled_from(["date", "timestamp", "integer"]), st.lists(st.sampled_from(TOKENS), max_size=12).map("".join),
       st.text(alphabet="0123456789:. TZAPM+-", max_size=20))
def test_a_format_is_refused_or_reads_any_text_without_failing(type, format, text):
    try:
        pattern_of(format, type)
    except ValueError:
        return
    found = read_text(text, type, Spelling(zone="Europe/Paris", formats=(format,)))
    assert found is None or isinstance(found, int | Unreadable)
