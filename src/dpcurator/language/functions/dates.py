"""The SQL functions of row expressions on dates, timestamps and zones: + INTERVAL, DATE_TRUNC, EXTRACT, DATE_DIFF.

Each reading takes typed parts to one operand of `language/functions/function.py`, or refuses. Right because a date is
counted in days and a timestamp in microseconds, and none is taken for the other: a unit of the day needs a timestamp,
and a longer unit the day of it. A zone's wall clock is a type of its own. Checked in
tests/language/test_expressions.py.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from dpcurator.errors import Refusal
from dpcurator.language.days import DAY, TIME_SIZES
from dpcurator.language.functions.function import DATE_PARTS, DATE_UNITS, TIME_PARTS, TIME_UNITS
from dpcurator.language.literals import interval
from dpcurator.language.names import show
from dpcurator.language.question import Literally
from dpcurator.language.rows import Compute, Constant, Operand
from dpcurator.language.typed import TIMED, Parts, Typed, compute, count, of_type, own_type, plain_text, whole
from dpcurator.language.zones import offsets


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
            raise Refusal(
                "a date has no time of day.", cure="Write CAST(day AS TIMESTAMP) + INTERVAL '1 hour', or use days."
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
    raise Refusal(f"{what} needs a date or a timestamp, and {part.said}.", cure="CAST it to DATE first.")


def _unit(part: Typed, what: str, known: Sequence[str]) -> str:
    unit = plain_text(part, f"the unit of {what}").lower()
    unit = {"dayofweek": "dow", "dayofyear": "doy"}.get(unit, unit)
    if unit not in known:
        raise Refusal(f"{what} has no unit {show(unit)}.", cure=f"Use {', '.join(known)}.")
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
        table = parts[0].table
        return date_part([Typed(Constant(unit, "text"), "text", table, Literally(unit)), parts[0]])

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


def timezone(parts: Parts) -> Typed:
    """TIMEZONE(zone, x), which is x AT TIME ZONE zone."""
    zone = plain_text(parts[0], "the zone of AT TIME ZONE")
    offsets(zone)  # refuses a zone that is not known
    part = parts[1]
    if part.type == "timestamp":
        return of_type(parts, compute("local_of_time", [part.as_type("timestamp")], "integer", zone), "local")
    if part.type == "local":
        return of_type(parts, compute("time_of_local", [part.as_type("local")], "integer", zone), "timestamp")
    raise Refusal(f"AT TIME ZONE needs a timestamp, and {part.said}.", cure="CAST a date to TIMESTAMP first.")
