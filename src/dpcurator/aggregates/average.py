"""AVG(x): from two paid readings, the centred sum C = 2 S' - W n' and the count n' (semantics 2.6).

answer = (L + U)/2 + C/(2 n), clamped to [L, U]. Centring makes the noise of the count weigh |mean - middle| instead
of |mean - L|: a smaller error for the same price. With a noisy count at or below 0 the answer is the middle, and its
interval the whole range. No exact count is used. When L = U the average is that constant and nothing is asked.

Public n. With replace-one, each row a unit, no WHERE, no GROUP BY and a value declared for missing ones, the average is
one paid reading, the sum, divided by n and clamped: it moves by (U - L)/n, and no count is paid for. Used even where n
is wrong: then it is the sum of what is there, divided by n.

Interval. With the true C and n in their boxes and n > 0, C/(2n) lies between the extremes of the box; the true average
is clamped data, so it lies in [L, U] too. Checked in tests/plans/average.sql and tests/aggregates.
"""

from __future__ import annotations

from fractions import Fraction

from dpcurator.aggregates.aggregate import Aggregate, public_count
from dpcurator.numbers.interval import Interval
from dpcurator.plan.nodes import Ask, Measured
from dpcurator.plan.stability import Reach


def _bounds(column: Measured | None) -> tuple[Fraction, Fraction]:
    if column is None or column.lower is None or column.upper is None:
        raise TypeError("AVG needs a column with bounds")
    return column.lower, column.upper


def _asks(column: Measured | None, reach: Reach | None = None, /) -> tuple[Ask, ...]:
    lower, upper = _bounds(column)
    if lower == upper:
        return ()
    if public_count(column, reach) is not None:
        return (Ask("values", column),)
    return Ask("centred", column), Ask("present", column)


def _finish(readings: tuple[Interval, ...], column: Measured | None, reach: Reach | None = None, /) -> Interval:
    lower, upper = _bounds(column)
    if lower == upper:
        return Interval.exactly(lower)
    public = public_count(column, reach)
    if public is not None:
        (total,) = readings
        return (total / Interval.exactly(Fraction(public))).clamped(lower, upper)
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
