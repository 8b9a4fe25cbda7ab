"""Bounds of the functions of dates and times: one rule each, from the spans of the parts to a span of the result.

Law: where every part is within its span, the result is within the rule's, or missing. Right because these functions
have values only in the years 1 to 9999, to which parts are cut; truncation and counting days never fall; months and
zones, which may let moments change places, go to whole days or 26 hours outwards. Rules may be wide.
Checked in tests/language/test_intervals.py.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Any, Final

from dpcurator.language.days import DAY, FIRST_DAY, FIRST_MOMENT, LAST_DAY, LAST_MOMENT, months_later, part
from dpcurator.language.span_numbers import added
from dpcurator.language.spans import Rule, Span, within


def of_days(rule: Rule) -> Rule:
    """A function of days, which are within the years 1 to 9999."""
    return _of(rule, FIRST_DAY, LAST_DAY)


def of_moments(rule: Rule) -> Rule:
    return _of(rule, FIRST_MOMENT, LAST_MOMENT)


def _of(rule: Rule, low: int, high: int) -> Rule:
    """The rule, its part cut to where the function has a value."""
    return lambda parts, literals, given: rule([within(parts[0], low, high)], literals, given)


def moved_moment(parts: Sequence[Span], literals: tuple[Any, ...], *_: Any) -> Span:
    """Months are added to the day, so two moments of one month's end may change places: to whole days, outwards."""
    months, us = literals
    low, high = parts[0].low, parts[0].high

    def moved(end: Fraction | None, up: bool) -> Fraction | None:
        if end is None:
            return None
        day = math.floor(end / DAY)
        later = months_later(day, months) if FIRST_DAY <= day <= LAST_DAY else None
        if later is None or not FIRST_DAY <= later <= LAST_DAY:
            later = LAST_DAY if up else FIRST_DAY
        return Fraction((later + up) * DAY + us)

    return Span(moved(low, False), moved(high, True)) if months else added([parts[0], Span(Fraction(us), Fraction(us))])


def zoned(parts: Sequence[Span], *_: Any) -> Span:
    """Zones are at most 26 hours from UTC."""
    most = Fraction(26 * DAY, 24)
    return added([parts[0], Span(-most, most)])


_PARTS: Final = {"quarter": (1, 4), "month": (1, 12), "week": (1, 53), "day": (1, 31), "dow": (0, 6), "isodow": (1, 7),
                 "doy": (1, 366), "hour": (0, 23), "minute": (0, 59), "second": (0, 59)}


def part_of(parts: Sequence[Span], literals: tuple[Any, ...], *_: Any) -> Span:
    """A part of a date or a time."""
    if literals[0] != "year":
        low, high = _PARTS[literals[0]]
        return Span(Fraction(low), Fraction(high))
    cut = within(parts[0], FIRST_DAY, LAST_DAY)
    ends = (FIRST_DAY if cut.low is None else cut.low, LAST_DAY if cut.high is None else cut.high)
    years = (part("year", math.floor(ends[0])), part("year", math.ceil(ends[1])))
    return Span(Fraction(years[0]), Fraction(years[1]))
