"""AVG(x): from two paid readings, the centred sum C = 2 S' - W n' and the count n' (semantics 2.6).

answer = (L + U)/2 + C/(2 n), clamped to [L, U]. Centring makes the noise of the count weigh |mean - middle| instead
of |mean - L|: a smaller error for the same price. With a noisy count at or below 0 the answer is the middle, and its
interval the whole range. No exact count is used. When L = U the average is that constant and nothing is asked.

Public n. With replace-one, each row a unit, no WHERE, no GROUP BY and a value declared for missing ones, the average is
one paid reading, the sum, divided by n and clamped: it moves by (U - L)/n, and no count is paid for. Used even where n
is wrong: then it is the sum of what is there, divided by n.

Bar. |C'/(2n') - C/(2n)| <= (e_C + W e_n) / (2(N - e_n)) when the noise of C and n stays within e_C and e_n, the group
has at least N rows and |C| <= W n; never more than W. W is U - L, or its width on the grid where that is more, since
rounding to the grid may widen the bounds by a step. Half the interval is within the same where the noisy count n' is at
least N, since (C' + e_C)/(2(n' - e_n)) - C'/(2n') = (e_C + e_n C'/n')/(2(n' - e_n)), and likewise below.

Interval. With the true C and n in their boxes and n > 0, C/(2n) lies between the extremes of the box; the true average
is clamped data, so it lies in [L, U] too. Checked in tests/plans/average.sql and tests/aggregates.
"""

from __future__ import annotations

from fractions import Fraction

from dpcurator.aggregates.aggregate import Aggregate, clamped, public_count
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
    return from_middle(centred, count, upper - lower) + Interval.exactly((lower + upper) / 2)


def from_middle(centred: Interval, count: Interval, width: Fraction) -> Interval:
    """C / (2 n), clamped to [-W/2, W/2]: how far an average is from the middle. 0, and all of it, of no rows."""
    if count.value is None or centred.value is None or count.value <= 0:
        return Interval(Fraction(0), -width / 2, width / 2)
    share = centred / (count + count)
    if count.low is None or count.low <= 0:
        share = Interval(centred.value / (2 * count.value), None, None)
    return share.clamped(-width / 2, width / 2)


def _bar(
    errors: tuple[Fraction, ...], widths: tuple[Fraction, ...], column: Measured | None, reach: Reach,
    rows: Fraction | None, /,
) -> Fraction | None:
    lower, upper = _bounds(column)
    width = max(upper - lower, widths[0])
    public = public_count(column, reach)
    if public is not None:
        return min(width, errors[0] / max(1, public))
    if rows is None:
        return None
    centred, count = errors
    return moves(centred, count, width, rows)


def moves(centred: Fraction, count: Fraction, width: Fraction, rows: Fraction) -> Fraction:
    """How far noise within these errors moves the average of a group of at least so many rows."""
    return width if rows <= count else min(width, (centred + width * count) / (2 * (rows - count)))


def _shown(column: Measured | None) -> str:
    return "number"


AVERAGE = Aggregate(
    "AVG", "number", _asks, _finish, _bar, clamped, _shown, "dp.mean",
    "the average of the values, each clamped to its bounds",
)
