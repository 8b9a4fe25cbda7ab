"""Quantiles: MEDIAN(x), QUANTILE(x, q) and the standard's PERCENTILE forms, one paid choice each (semantics 2.10).

The answer is one of public candidates (`plan/candidates.py`), chosen by how many rows it misses the q-quantile by:
below it at most q of the rows, above it at most 1 - q. SQL's interpolated forms (PERCENTILE_CONT, QUANTILE_CONT,
MEDIAN) mean a value between two neighbouring rows' values; every candidate between those two is as near to the quantile
as they are, so every form has the same answer, and nothing is interpolated.

Bar. In rank: how many rows the candidate may miss by, which the number of candidates and the price alone decide. How
far that is in the column's unit depends on the data, so there is no bar of that.
Public. With L = U the quantile is L: nothing is asked. Checked in tests/aggregates and tests/curator/test_quantiles.py.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from fractions import Fraction

from dpcurator.aggregates.aggregate import Aggregate, clamped
from dpcurator.numbers.interval import Interval
from dpcurator.plan.nodes import Ask, Measured
from dpcurator.plan.stability import Reach


def _constant(column: Measured | None) -> Fraction | None:
    if column is None or column.lower is None:
        raise TypeError("a quantile needs a column with bounds")
    return column.lower if column.lower == column.upper else None


def _asks(column: Measured | None, reach: Reach | None = None, /) -> tuple[Ask, ...]:
    """Of the median: which other quantile it is, the call says (`pricing/resolve.py`)."""
    return (Ask("quantile", column, q=Fraction(1, 2)),) if _constant(column) is None else ()


def _finish(readings: tuple[Interval, ...], column: Measured | None, reach: Reach | None = None, /) -> Interval:
    constant = _constant(column)
    if constant is not None:
        return Interval.exactly(constant)
    assert column is not None
    assert column.lower is not None
    assert column.upper is not None
    lower, upper, found = column.lower, column.upper, readings[0]  # a float's last candidates may be half a step beyond
    ends = [None if end is None else min(max(end, lower), upper) for end in (found.value, found.low, found.high)]
    return Interval(ends[0], ends[1], ends[2])


def _bar(
    errors: tuple[Fraction, ...], widths: tuple[Fraction, ...], column: Measured | None, reach: Reach,
    rows: Fraction | None, /,
) -> Fraction | None:
    return None


def _clamped(column: Measured | None) -> tuple[str, ...]:
    """As of any column; days and moments as people write them."""
    if column is None or column.lower is None or column.upper is None or column.type not in ("date", "timestamp"):
        return clamped(column)
    step = timedelta(days=1) if column.type == "date" else timedelta(microseconds=1)
    try:
        low, high = ((datetime(1970, 1, 1) + int(end) * step).isoformat() for end in (column.lower, column.upper))
    except OverflowError:  # outside the years 1 to 9999
        return clamped(column)
    if column.type == "date":
        low, high = low[:10], high[:10]
    return (f"{column.name} is clamped to [{low}, {high}]",)


def _shown(column: Measured | None) -> str:
    if column is None or column.type == "float":
        return "number"
    return "whole" if column.type == "integer" else column.type


QUANTILE = Aggregate(
    "QUANTILE", "ordered", _asks, _finish, _bar, _clamped, _shown, "dp.quantile",
    "the value that so large a part of the values is at or below, each clamped to its bounds", ranked=True,
)
