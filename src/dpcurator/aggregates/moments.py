"""VAR_POP, VAR_SAMP, STDDEV_POP, STDDEV_SAMP: from three paid readings, two of which AVG of the column pays as well.

With M the middle of the bounds and W = U - L:

    VAR_POP(x) = A((x - M)^2) - A(x - M)^2,  A the average as AVG has it (`average.py`), of squares in [0, (W/2)^2]

from the centred sum of x, the centred sum of the squares and one count of the rows where x is present. VAR_SAMP is that
times n / (n - 1), with the noisy n; STDDEV_* are the roots. VAR_POP is clamped to [0, (W/2)^2], VAR_SAMP to [0, W^2/2],
which is the most that two rows have. Where the noisy count is at most 0 (VAR_SAMP: 1) no value is told: the answer is
the middle of what is possible, and its interval all of it. Where L = U all are 0 and nothing is asked; with a public n
(see `average.py`) no count is paid for, and the sum is AVG's.

Interval. With probability 1 - beta all three readings are within their errors at once. Then both averages are in their
intervals, hence A1 in [p, q] within [-W/2, W/2] and A2 in [r, s]: the variance is in [r - max A1^2, s - min A1^2]. It
rises with A2 and falls with |A1|, so for the two averages nothing is given away. Ends of roots are rounded outward.

Bar. Of a group of at least N rows AVG's bar holds both averages: |dA1| <= b1, |dA2| <= b2. As |A1| and |A1'| are at
most W/2, |dA1^2| <= W b1: VAR_POP moves by at most b2 + W b1. For VAR_SAMP, n'/(n' - 1) is at most
(N - e)/(N - e - 1), e the error of the count, and differs from n/(n - 1) by at most e / ((N - 1)(N - e - 1)), which is
times a variance of at most (W/2)^2. A root moves by at most the root of that: what a group without any spread would
have, and much more than one with some; the answer's own bar is that of its value.
Checked in tests/aggregates/test_moments.py, and test_bars.py as every aggregate is.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Final

from dpcurator.aggregates.aggregate import Aggregate, clamped, public_count
from dpcurator.aggregates.average import from_middle, moves
from dpcurator.numbers.interval import Interval
from dpcurator.numbers.roots import root_above, ten_to_figures
from dpcurator.plan.nodes import Ask, Measured
from dpcurator.plan.stability import Reach

NULL: Final = Interval(None, None, None)
_ROOT_STEPS: Final = Fraction(4, 10**30)  # by how much roots of 30 figures are rounded, at most


def spread_asks(column: Measured, reach: Reach | None) -> tuple[Ask, ...]:
    """What the average and the variance of a column rest on, but for the count."""
    total = Ask("centred" if public_count(column, reach) is None else "values", column)
    return total, Ask("square", column)


def mean_from_middle(total: Interval, count: Interval, column: Measured, reach: Reach | None) -> Interval:
    """The average less the middle of the bounds."""
    if public_count(column, reach) is None:
        return from_middle(total, count, column.width)
    assert column.lower is not None
    middle = Interval.exactly(column.lower + column.width / 2)
    return (total / count - middle).clamped(-column.width / 2, column.width / 2)


def variance_of(mean: Interval, squares: Interval, count: Interval, column: Measured) -> Interval:
    """VAR_POP, from the average less the middle, the centred sum of squares and the count."""
    most = column.width**2 / 4
    spread = from_middle(squares, count, most) + Interval.exactly(most / 2)
    return (spread - abs(mean) * abs(mean)).clamped(Fraction(0), most)


def counted(readings: tuple[Interval, ...], column: Measured | None, reach: Reach | None) -> Interval:
    """The count of the rows that all is over: the last reading, or the public n."""
    public = public_count(column, reach)
    return readings[-1] if public is None else Interval.exactly(Fraction(public))


def of_sample(found: Interval, count: Interval, most: Fraction) -> Interval:
    """Times n / (n - 1), clamped to [-most, most]. `found` of 0 rows at least; 0, and all of it, of 1 row at most."""
    if count.value is None or count.value <= 1:
        return Interval(Fraction(0), -most, most)
    low, high = (None if end is None or end <= 1 else end / (end - 1) for end in (count.high, count.low))
    return (found * Interval(count.value / (count.value - 1), low, high)).clamped(-most, most)


def moves_sample(moved: Fraction, largest: Fraction, count: Fraction, rows: Fraction) -> Fraction:
    """How far n / (n - 1) times a value within [-largest, largest] moves, which moves by `moved` itself."""
    if rows - count <= 1:
        return 4 * largest
    left = rows - count
    return min(4 * largest, moved * left / (left - 1) + largest * count / ((rows - 1) * (left - 1)))


def _asks(column: Measured | None, reach: Reach | None = None, /) -> tuple[Ask, ...]:
    assert column is not None
    if not column.width:
        return ()
    count = () if public_count(column, reach) is not None else (Ask("present", column),)
    return *spread_asks(column, reach), *count


def _moment(function: str, meaning: str, *, sample: bool, root: bool) -> Aggregate:
    def finish(readings: tuple[Interval, ...], column: Measured | None, reach: Reach | None = None, /) -> Interval:
        assert column is not None
        if not column.width:
            return Interval.exactly(Fraction(0))
        count, most = counted(readings, column, reach), column.width**2 / 2
        found = variance_of(mean_from_middle(readings[0], count, column, reach), readings[1], count, column)
        if sample and public_count(column, reach) == 1:
            return NULL
        if sample:
            found = of_sample(found, count, most).clamped(Fraction(0), most)
            if count.value is None or count.value <= 1:
                found = Interval(most / 2, Fraction(0), most)
        return found.root() if root else found

    def bar(
        errors: tuple[Fraction, ...], widths: tuple[Fraction, ...], column: Measured | None, reach: Reach,
        rows: Fraction | None, /,
    ) -> Fraction | None:
        assert column is not None
        public = public_count(column, reach)
        rows = rows if public is None else Fraction(max(1, public))
        if rows is None:
            return None
        moved = variance_moves(errors, widths, column, public, rows)
        if sample:
            count = Fraction(0) if public is not None else errors[2]
            moved = min(column.width**2 / 2, moves_sample(moved, column.width**2 / 4, count, rows))
        if not root:
            return moved
        return root_above(moved, max(10**30, ten_to_figures(moved, 30))) + _ROOT_STEPS

    return Aggregate(function, "number", _asks, finish, bar, clamped, lambda column: "number",
                     "dp.stddev" if root else "dp.variance", meaning)


def variance_moves(
    errors: tuple[Fraction, ...], widths: tuple[Fraction, ...], column: Measured, public: int | None, rows: Fraction
) -> Fraction:
    """How far noise moves VAR_POP in a group of so many rows."""
    width, most = max(column.width, widths[0]), max(column.width**2 / 4, widths[1])
    if public is not None:
        mean, squares = min(width, errors[0] / rows), min(most, errors[1] / (2 * rows))
    else:
        mean, squares = (moves(errors[at], errors[2], size, rows) for at, size in ((0, width), (1, most)))
    return min(column.width**2 / 4, squares + column.width * mean)


VAR_POP = _moment("VAR_POP", "the mean squared distance from the average", sample=False, root=False)
VAR_SAMP = _moment("VAR_SAMP", "VAR_POP times n / (n - 1)", sample=True, root=False)
STDDEV_POP = _moment("STDDEV_POP", "the root of VAR_POP", sample=False, root=True)
STDDEV_SAMP = _moment("STDDEV_SAMP", "the root of VAR_SAMP", sample=True, root=True)
MOMENTS: Final = (VAR_POP, VAR_SAMP, STDDEV_POP, STDDEV_SAMP)
