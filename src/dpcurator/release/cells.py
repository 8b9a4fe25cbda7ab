"""A cell of an answer: its value as a plain Python value, and its error bar.

A 'whole' value (a count, a sum of integers) is rounded to the nearest integer of at most 1,000 figures, other numbers
to the nearest double, and the error bar is then measured from the value shown. Ends of intervals and error bars round
outward, so what was within them stays within; an end beyond the largest double is no end (None). Keys are turned back
from physical values: dates and timestamps to ISO text, booleans to True and False. Checked in
tests/release/test_finish.py and tests/attacks/test_adversary_surface.py.
"""

from __future__ import annotations

import math
import sys
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from fractions import Fraction
from typing import Any

from dpcurator.catalog.model import KINDS
from dpcurator.numbers.display import nearest_double, round_half_up
from dpcurator.numbers.interval import Interval, replace_value
from dpcurator.plan.nodes import Output
from dpcurator.values import Cell

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_LARGEST = sys.float_info.max
_LONGEST = 10**1000 - 1


def shown_cell(output: Output, value: Any, rank: Fraction | None = None) -> Cell:
    """The cell of a computed value, shown as `output.shown` says. rank: of a quantile, its bar in rows."""
    if rank is not None:
        return replace(shown_cell(output, value), rank=_above(rank))
    if output.shown in KINDS:
        return Cell(key_value(value.value if isinstance(value, Interval) else value, output.shown))
    if not isinstance(value, Interval):
        return Cell(value)
    if value.value is None:
        return Cell(None)
    number = nearest_whole(value.value) if output.shown == "whole" else nearest_double(value.value)
    value = replace_value(value, Fraction(number))
    return Cell(number, _above(value.error()), _below(value.low), _above(value.high))


def key_value(value: Any, key_type: str) -> int | float | str | bool | None:
    """A grouping column's physical value as people write it."""
    if value is None or key_type in ("text", "uuid"):
        return value  # type: ignore[no-any-return]
    if key_type == "float":
        return float(value)
    number = int(value)
    if key_type == "boolean":
        return bool(number)
    try:
        if key_type == "date":
            return (date(1970, 1, 1) + timedelta(days=number)).isoformat()
        if key_type == "timestamp":
            return (_EPOCH + timedelta(microseconds=number)).isoformat().replace("+00:00", "Z")
    except OverflowError:  # outside the years 1 to 9999, which no catalog spells
        pass
    return number


def nearest_whole(value: Fraction) -> int:
    """The nearest integer, of at most 1,000 figures: Python spells no number of more than 4,300."""
    return round_half_up(min(max(value, Fraction(-_LONGEST)), Fraction(_LONGEST)))


def _above(end: Fraction | None) -> float | None:
    """The least double that is not below `end`; None when there is none."""
    if end is None or end > Fraction(_LARGEST):
        return None
    found = nearest_double(end)
    return found if Fraction(found) >= end else math.nextafter(found, math.inf)


def _below(end: Fraction | None) -> float | None:
    found = _above(None if end is None else -end)
    return None if found is None else -found + 0.0
