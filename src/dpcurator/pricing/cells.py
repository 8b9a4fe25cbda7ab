"""A cell of an answer: its value as a plain Python value, and its error bar.

A 'whole' value (a count, a sum of integers) is rounded to the nearest integer, and the error bar is then measured from
the rounded value. Other numbers become the nearest double. Keys are turned back from physical values: dates and
timestamps to ISO text, booleans to True and False.
"""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from fractions import Fraction
from typing import Any

from dpcurator.numbers.interval import Interval, replace_value
from dpcurator.numbers.shown import round_half_up
from dpcurator.plan.nodes import Output
from dpcurator.values import Cell

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_LARGEST = Fraction(2) ** 1023


def shown_cell(output: Output, value: Any, key_type: str | None) -> Cell:
    """The cell of a computed value. `key_type` is the grouping column's type when the cell is a key."""
    if key_type is not None:
        return Cell(key_value(value.value if isinstance(value, Interval) else value, key_type))
    if not isinstance(value, Interval):
        return Cell(value)
    if value.value is None:
        return Cell(None)
    exact: Fraction = value.value
    if output.shown == "whole":
        exact = Fraction(round_half_up(exact))
        value = replace_value(value, exact)
    number = int(exact) if output.shown == "whole" else nearest_double(exact)
    return Cell(number, _up(value.error()), _up(value.low), _up(value.high))


def key_value(value: Any, key_type: str) -> int | float | str | bool | None:
    """A grouping column's physical value as people write it."""
    if value is None or key_type in ("text", "uuid"):
        return value  # type: ignore[no-any-return]
    if key_type == "float":
        return float(value)
    number = int(value)
    if key_type == "boolean":
        return bool(number)
    if key_type == "date":
        return (date(1970, 1, 1) + timedelta(days=number)).isoformat()
    if key_type == "timestamp":
        return (_EPOCH + timedelta(microseconds=number)).isoformat().replace("+00:00", "Z")
    return number


def nearest_double(value: Fraction) -> float:
    """The nearest double; beyond the largest one, the largest one, so that no infinity is ever shown."""
    return float(min(max(value, -_LARGEST), _LARGEST))


def _up(value: Fraction | None) -> float | None:
    return None if value is None else nearest_double(value)
