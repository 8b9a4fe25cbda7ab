"""Functions of dates, timestamps and zones: + INTERVAL, DATE_TRUNC, EXTRACT, DATE_DIFF, AT TIME ZONE.

Right because a date is counted in days and a timestamp in microseconds, and none is taken for the other: a unit of the
day needs a timestamp, and a longer unit the day of it. A zone's wall clock is a type of its own. All have values in the
years 1 to 9999 alone. Checked in tests/language/test_expressions.py, test_intervals.py and
tests/engines/test_vectors.py.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, Final

from dpcurator.errors import Mend, Refusal, closest
from dpcurator.language import days as calendar
from dpcurator.language import zones
from dpcurator.language.days import DAY, FIRST_DAY, FIRST_MOMENT, LAST_DAY, LAST_MOMENT, TIME_SIZES
from dpcurator.language.functions.function import Function, RowFunction, integers, one_of, one_text
from dpcurator.language.literals import interval
from dpcurator.language.names import show
from dpcurator.language.question import Literally
from dpcurator.language.rows import Compute, Constant, Operand
from dpcurator.language.span_dates import moved_moment, of_days, of_moments, zoned
from dpcurator.language.span_dates import part_of as parts_within
from dpcurator.language.spans import rising
from dpcurator.language.typed import TIMED, Parts, Typed, compute, count, of_type, own_type, plain_text, whole

DATE_UNITS: Final = ("day", "week", "month", "quarter", "year")
TIME_UNITS: Final = ("second", "minute", "hour")
DATE_PARTS: Final = ("year", "quarter", "month", "week", "day", "dow", "isodow", "doy")
TIME_PARTS: Final = ("hour", "minute", "second")
MONTHS: Final = range(-(10**6), 10**6 + 1)

# --- values ----------------------------------------------------------------------------------------------------------


def of_day(meaning: Callable[..., Any]) -> Callable[..., Any]:
    """Missing where the day is outside the years 1 to 9999."""
    return lambda day, *literals: meaning(day, *literals) if FIRST_DAY <= day <= LAST_DAY else None


def of_moment(meaning: Callable[..., Any]) -> Callable[..., Any]:
    """Missing where the moment is outside the years 1 to 9999."""
    return lambda us, *literals: meaning(us, *literals) if FIRST_MOMENT <= us <= LAST_MOMENT else None


def date_add(day: int, months: int, more: int) -> int | None:
    found = calendar.months_later(day, months) + more
    return found if FIRST_DAY <= found <= LAST_DAY else None


def time_add(us: int, months: int, more: int) -> int | None:
    day, since = divmod(us, DAY)
    return within(calendar.months_later(day, months) * DAY + since + more)


def time_part(us: int, part: str) -> int:
    found = us % DAY // TIME_SIZES[part]
    return found if part == "hour" else found % 60


def within(us: int) -> int | None:
    return us if FIRST_MOMENT <= us <= LAST_MOMENT else None


day_truncated = of_day(lambda day, unit: calendar.truncated(unit, day))
day_moved = of_day(date_add)
day_of_moment = of_moment(lambda us: us // DAY)
start_of_day = of_day(lambda day: day * DAY)
moment_truncated = of_moment(lambda us, unit: us - us % TIME_SIZES[unit])

# --- functions -------------------------------------------------------------------------------------------------------

_calendar = partial(Function, steps=6)  # what all of them cost in Python

FUNCTIONS: Final = (
    # days
    _calendar("date_part", "i", "i", "of days; week is ISO 8601's, dow counts from Sunday = 0, isodow from Monday = 1",
              of_day(lambda day, part: calendar.part(part, day)), parts_within, literals="part: one of DATE_PARTS",
              check=one_of(*DATE_PARTS)),
    _calendar("date_trunc", "i", "i", "of days: the first day of the unit; a week begins on Monday", day_truncated,
              of_days(rising(day_truncated, "integer")), literals="unit: one of DATE_UNITS", check=one_of(*DATE_UNITS)),
    _calendar("date_add", "i", "i", "of days: `months` later (a day past the month's end becomes its last), then "
              "`days`", day_moved, of_days(rising(day_moved, "integer")),
              literals="months, days: int, |.| <= 10**6", check=integers(MONTHS, MONTHS)),
    # days and microseconds
    _calendar("date_of_time", "i", "i", "the day that holds a moment: floor(us / 86,400,000,000)", day_of_moment,
              of_moments(rising(day_of_moment, "integer")), word="DATE"),
    _calendar("time_of_date", "i", "i", "the first moment of a day", start_of_day,
              of_days(rising(start_of_day, "integer")), word="TIMESTAMP"),
    # microseconds
    _calendar("time_part", "i", "i", "of microseconds: hour 0-23, minute, whole second", of_moment(time_part),
              parts_within, literals="part: one of TIME_PARTS", check=one_of(*TIME_PARTS), word="DATE_PART"),
    _calendar("time_trunc", "i", "i", "of microseconds: the start of the unit", moment_truncated,
              of_moments(rising(moment_truncated, "integer")), literals="unit: one of TIME_UNITS",
              check=one_of(*TIME_UNITS), word="DATE_TRUNC"),
    _calendar("time_add", "i", "i", "of microseconds: `months` later as date_add with the time of day kept, then `us`",
              of_moment(time_add), of_moments(moved_moment),
              literals="months: int, |.| <= 10**6; us: int, |.| <= 10**18",
              check=integers(MONTHS, range(-(10**18), 10**18 + 1))),
    _calendar("local_of_time", "i", "i", "microseconds UTC to the wall clock of a zone, as microseconds",
              of_moment(lambda us, zone: within(us + zones.offset_at(zones.offsets(zone), us))), of_moments(zoned),
              literals="zone: IANA name; `language/zones.py` lists its offsets", check=one_text, zone=True, weight=50,
              word="LOCAL"),
    _calendar("time_of_local", "i", "i", "the wall clock of a zone to UTC: the earlier moment where the clock shows it "
              "twice, and where it skips it the moment by the offset before",
              of_moment(lambda us, zone: within(us - zones.offset_at(zones.local_offsets(zone), us))),
              of_moments(zoned), literals="zone: IANA name", check=one_text, zone=True, weight=50, word="UTC"),
)

# --- how they are written and read -----------------------------------------------------------------------------------


def timed(op: str, left: Typed, right: Typed) -> Typed:
    if op == "-" and left.type == right.type and left.type in TIMED:
        if left.type != "date":
            raise Refusal(
                "the difference of two timestamps is no number.", cure="Write DATE_DIFF('second', earlier, later)."
            )
        return of_type([left], compute("sub_i", [left.as_type("date"), right.as_type("date")], "integer"), "integer")
    if op == "+" and right.type in TIMED and left.type not in TIMED:
        left, right = right, left
    if op in ("+", "-") and left.type in TIMED and right.type not in TIMED:
        return _later(left, right, 1 if op == "+" else -1)
    raise Refusal(
        f"{op} does not go with {left.type} and {right.type}.",
        cure="Write it as in day + INTERVAL '1 month', day - 7, or later - earlier.",
    )


def _later(moment: Typed, by: Typed, sign: int) -> Typed:
    operand = moment.as_type(moment.type)
    if by.type == "interval" and by.literal is not None:
        months, days, us = (sign * one for one in interval(str(by.literal.value)))
        if moment.type == "date" and us:
            put = f"CAST({moment.name} AS TIMESTAMP)"
            raise Refusal(
                "a date has no time of day.", cure=f"Write {put} + INTERVAL '1 hour', or use days.",
                mends=(Mend(put, moment.name),),
            )
        if moment.type == "date":
            return of_type([moment], compute("date_add", [operand], "integer", months, days), "date")
        return of_type([moment], compute("time_add", [operand], "integer", months, days * DAY + us), moment.type)
    if moment.type == "date" and own_type(by) == "integer":
        fixed = whole(by)
        if fixed is not None:
            days = sign * count(by, "a number of days", -(10**6), 10**6)
            return of_type([moment], compute("date_add", [operand], "integer", 0, days), "date")
        moved = compute("add_i" if sign == 1 else "sub_i", [operand, by.as_type("integer")], "integer")
        return of_type([moment], compute("date_trunc", [moved], "integer", "day"), "date")  # missing outside the years
    raise Refusal(
        f"{moment.said}, and {by.said}: they do not add up.", cure="Add an interval, as in at + INTERVAL '1 hour'."
    )


def day_of(part: Typed, what: str) -> Operand:
    """The date of a date or a timestamp. Raises Refusal."""
    if part.type == "date":
        return part.as_type("date")
    if part.type in TIMED:
        return compute("date_of_time", [part.as_type(part.type)], "integer")
    put = f"DATE '{part.name}'" if part.literal is not None else f"CAST({part.name} AS DATE)"
    if part.type != "text":
        raise Refusal(f"{what} needs a date or a timestamp, and {part.said}.", cure="Use it on a date or a timestamp.")
    raise Refusal(
        f"{what} needs a date or a timestamp, and {part.said}.", cure=f"Write {put}.",
        mends=(Mend(put, part.name if part.literal is None else f"'{part.name}'"),),
    )


def _unit(part: Typed, what: str, known: Sequence[str]) -> str:
    unit = plain_text(part, f"the unit of {what}").lower()
    unit = {"dayofweek": "dow", "dayofyear": "doy"}.get(unit, unit)
    if unit not in known:
        close = closest(unit, known)
        meant = f"Did you mean '{close[0]}'? " if close else ""
        raise Refusal(
            f"{what} has no unit {show(unit)}.", cure=f"{meant}Use {', '.join(known)}.",
            mends=(Mend(f"'{close[0]}'", f"'{unit}'"),) if close else (),
        )
    return unit


def _timed_unit(part: Typed, unit: str, what: str) -> Operand:
    if part.type == "date":
        raise Refusal(f"{what}: {part.said}, which has no {unit}.", cure="Use day or a longer unit.")
    day_of(part, what)  # refuses what is neither
    return part.as_type(part.type)


def date_trunc(parts: Parts) -> Typed:
    unit = _unit(parts[0], "DATE_TRUNC", (*TIME_UNITS, *DATE_UNITS))
    if unit in TIME_UNITS:
        made = compute("time_trunc", [_timed_unit(parts[1], unit, "DATE_TRUNC")], "integer", unit)
        return of_type(parts, made, parts[1].type)
    day = day_of(parts[1], "DATE_TRUNC")
    if unit == "day":
        return of_type(parts, day, "date")
    return of_type(parts, compute("date_trunc", [day], "integer", unit), "date")


def date_part(parts: Parts) -> Typed:
    unit = _unit(parts[0], "DATE_PART", (*DATE_PARTS, *TIME_PARTS))
    if unit in TIME_PARTS:
        made = compute("time_part", [_timed_unit(parts[1], unit, "DATE_PART")], "integer", unit)
    else:
        made = compute("date_part", [day_of(parts[1], "DATE_PART")], "integer", unit)
    return of_type(parts, made, "integer")


def part_of(unit: str) -> Callable[[Parts], Typed]:
    def read(parts: Parts) -> Typed:
        spell = parts[0].spell
        return date_part([Typed(Constant(unit, "text"), "text", spell, Literally(unit)), parts[0]])

    return read


def date_diff(parts: Parts) -> Typed:
    """How many times the unit's start is passed from the second part to the third."""
    unit = _unit(parts[0], "DATE_DIFF", (*TIME_UNITS, *DATE_UNITS))
    ends = parts[1:]
    if unit in TIME_UNITS:
        moments = [_timed_unit(one, unit, "DATE_DIFF") for one in ends]
        made: list[Operand] = [compute("floordiv_i", [one], "integer", TIME_SIZES[unit]) for one in moments]
    else:
        days = [day_of(one, "DATE_DIFF") for one in ends]
        if unit == "day":
            made = days
        elif unit == "week":
            weeks = [compute("date_trunc", [one], "integer", "week") for one in days]
            made = [compute("floordiv_i", [one], "integer", 7) for one in weeks]
        else:
            made = [_periods(one, unit) for one in days]
    start, end = made
    return of_type(parts, compute("sub_i", [end, start], "integer"), "integer")


def _periods(day: Operand, unit: str) -> Compute:
    """The number of a day's year, quarter or month, counted on through the years."""
    year = compute("date_part", [day], "integer", "year")
    if unit == "year":
        return year
    size = Constant({"quarter": 4, "month": 12}[unit], "integer")
    return compute(
        "add_i", [compute("mul_i", [year, size], "integer"), compute("date_part", [day], "integer", unit)], "integer"
    )


def at_zone(parts: Parts) -> Typed:
    """TIMEZONE(zone, x), which is x AT TIME ZONE zone."""
    zone = plain_text(parts[0], "the zone of AT TIME ZONE")
    zones.offsets(zone)  # refuses a zone that is not known
    part = parts[1]
    if part.type == "timestamp":
        return of_type(parts, compute("local_of_time", [part.as_type("timestamp")], "integer", zone), "local")
    if part.type == "local":
        return of_type(parts, compute("time_of_local", [part.as_type("local")], "integer", zone), "timestamp")
    put = f"CAST({part.name} AS TIMESTAMP)"
    dated = part.type == "date" and part.literal is None
    raise Refusal(
        f"AT TIME ZONE needs a timestamp, and {part.said}.",
        cure=f"CAST a date to TIMESTAMP first{f': {put}' if dated else ''}.",
        mends=(Mend(put, part.name),) if dated else (),
    )


CALLS: Final = {
    "DATE_TRUNC": RowFunction("DATE_TRUNC('month', day)", 2, 2, date_trunc,
                              "DATE_TRUNC('month', DATE '2024-02-29') = DATE '2024-02-01'", also=("DATETRUNC",),
                              method=False),
    "DATE_PART": RowFunction("EXTRACT(year FROM day)", 2, 2, date_part, "DATE_PART('doy', DATE '2024-02-29') = 60",
                             also=("DATEPART",), method=False),
    "DATE_DIFF": RowFunction("DATE_DIFF('day', earlier, later)", 3, 3, date_diff,
                             "DATE_DIFF('month', DATE '2023-12-31', DATE '2024-02-29') = 2", also=("DATEDIFF",),
                             method=False),
    "TIMEZONE": RowFunction("at AT TIME ZONE 'Europe/Paris'", 2, 2, at_zone,
                            "HOUR(TIMEZONE('Asia/Tokyo', TIMESTAMP '2024-02-29T00:00:00Z')) = 9",
                            method=False),
    **{
        unit.upper(): RowFunction(f"{unit.upper()}(day)", 1, 1, part_of(unit), f"{unit.upper()}({moment}) = {value}")
        for unit, moment, value in (
            ("year", "DATE '2024-02-29'", 2024), ("quarter", "DATE '2024-02-29'", 1), ("month", "DATE '2024-02-29'", 2),
            ("week", "DATE '2024-02-29'", 9), ("day", "DATE '2024-02-29'", 29),
            ("hour", "TIMESTAMP '2024-02-29 23:30:05'", 23), ("minute", "TIMESTAMP '2024-02-29 23:30:05'", 30),
            ("second", "TIMESTAMP '2024-02-29 23:30:05'", 5),
        )
    },
}
