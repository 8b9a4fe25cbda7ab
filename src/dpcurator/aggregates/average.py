"""AVG(x): from two paid readings, the centred sum C = 2 S' - W n' and the count n' (MEANING 2.6).

answer = (L + U)/2 + C/(2 n), clamped to [L, U]. Centring makes the noise of the count weigh |mean - middle| instead
of |mean - L|: a smaller error for the same price. With a noisy count at or below 0 the answer is the middle, and its
interval the whole range. No exact count is used. When L = U the average is that constant and nothing is asked.

Interval. With the true C and n in their boxes and n > 0, C/(2n) lies between the extremes of the box; the true average
is clamped data, so it lies in [L, U] too. Checked in tests/plans/average.sql.
"""

from __future__ import annotations

from fractions import Fraction

from dpcurator.aggregates.aggregate import Aggregate
from dpcurator.numbers.interval import Interval
from dpcurator.plan.nodes import Ask, Measured


def _bounds(column: Measured | None) -> tuple[Fraction, Fraction]:
    if column is None or column.lower is None or column.upper is None:
        raise TypeError("AVG needs a column with bounds")
    return column.lower, column.upper


def _asks(column: Measured | None) -> tuple[Ask, ...]:
    lower, upper = _bounds(column)
    return () if lower == upper else (Ask("centred", column), Ask("present", column))


def _finish(readings: tuple[Interval, ...], column: Measured | None) -> Interval:
    lower, upper = _bounds(column)
    if not readings:
        return Interval.exactly(lower)
    centred, count = readings
    middle = (lower + upper) / 2
    if count.value is None or centred.value is None or count.value <= 0:
        return Interval(middle, lower, upper)
    share = centred / (count + count)
    if count.low is None or count.low <= 0:
        share = Interval(centred.value / (2 * count.value), None, None)
    return (share + Interval.exactly(middle)).clamped(lower, upper)


def _shown(column: Measured | None) -> str:
    return "number"


AVERAGE = Aggregate("AVG", "number", _asks, _finish, _shown, "the average of the values, each clamped to its bounds")
