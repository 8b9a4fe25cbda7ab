"""The calendar in integers is Python's, on every day of the years 1 to 9999, and goes on beyond."""

from __future__ import annotations

from datetime import date

import pytest

from dpcurator.language import days
from dpcurator.language.functions import dates

EPOCH = date(1970, 1, 1).toordinal()


def every(step: int) -> list[int]:
    ends = list(range(days.FIRST_DAY, days.FIRST_DAY + 800)) + list(range(days.LAST_DAY - 800, days.LAST_DAY + 1))
    return ends + list(range(days.FIRST_DAY, days.LAST_DAY, step))


def check(day: int) -> None:
    found = date.fromordinal(day + EPOCH)
    assert days.civil(day) == (found.year, found.month, found.day)
    assert days.days(found.year, found.month, found.day) == day
    iso = found.isocalendar()
    expected = {"year": found.year, "quarter": (found.month - 1) // 3 + 1, "month": found.month, "week": iso.week,
                "day": found.day, "dow": iso.weekday % 7, "isodow": iso.weekday,
                "doy": found.timetuple().tm_yday}
    assert {name: days.part(name, day) for name in dates.DATE_PARTS} == expected
    first = found.replace(day=1)
    quarter = first.replace(month=(found.month - 1) // 3 * 3 + 1)
    starts = (found, found, first, quarter, first.replace(month=1))
    begun = [start.toordinal() - EPOCH for start in starts]
    begun[1] -= iso.weekday - 1
    assert [days.truncated(unit, day) for unit in dates.DATE_UNITS] == begun
    assert days.to_text(day) == found.isoformat()
    assert days.from_text(found.isoformat()) == day


def test_some_days_are_those_of_datetime() -> None:
    for day in every(997):
        check(day)


@pytest.mark.slow
def test_every_day_is_that_of_datetime() -> None:
    for day in every(1):
        check(day)


def test_beyond_datetime_the_calendar_repeats_every_400_years() -> None:
    for day in every(9973):
        year, month, of_month = days.civil(day)
        assert days.civil(day + 1000 * 146_097) == (year + 400_000, month, of_month)
        assert days.civil(day - 1000 * 146_097) == (year - 400_000, month, of_month)


@pytest.mark.parametrize(("start", "months", "end"), [
    ("2024-01-31", 1, "2024-02-29"), ("2023-01-31", 1, "2023-02-28"), ("2024-02-29", 12, "2025-02-28"),
    ("2024-02-29", -12, "2023-02-28"), ("2024-03-31", -1, "2024-02-29"), ("2023-11-30", 3, "2024-02-29"),
    ("1900-01-31", 1, "1900-02-28"), ("2000-01-31", 1, "2000-02-29"), ("2020-12-31", 0, "2020-12-31"),
])
def test_months_later(start: str, months: int, end: str) -> None:
    day = days.from_text(start)
    assert day is not None
    assert days.to_text(days.months_later(day, months)) == end


@pytest.mark.parametrize("text", ["2023-02-29", "0000-01-01", "2023-13-01", "2023-00-10", "2023-1-1", "", "2023-01-01 ",
                                  "٢٠٢٣-01-01", "2023-01-01\n", "+023-01-01", "2023-04-31"])
def test_what_is_no_date(text: str) -> None:
    assert days.from_text(text) is None
