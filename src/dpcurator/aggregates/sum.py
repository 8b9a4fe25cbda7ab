"""SUM(x): the sum of values clamped to their declared bounds, one paid reading (semantics 2.6).

The reading is S' + L n', which one unit moves by at most max_rows * max(|L|, |U|) a key. With bounds [0, 0] the sum is
0 whatever the data, and with L = U it is n L where n is public and x never missing: then nothing is asked and nothing
is charged. Checked in tests/plans/sum.sql and tests/aggregates.
"""

from __future__ import annotations

from fractions import Fraction

from dpcurator.aggregates.aggregate import Aggregate, bar_of_one_reading, clamped, public_count
from dpcurator.numbers.interval import Interval
from dpcurator.plan.nodes import Ask, Measured
from dpcurator.plan.stability import Reach


def _constant(column: Measured | None, reach: Reach | None) -> Fraction | None:
    """The sum, where public facts give it."""
    if column is None or column.lower is None or column.lower != column.upper:
        return None
    count = public_count(column, reach)
    if column.lower == 0:
        return Fraction(0)
    return None if count is None else count * column.lower


def _asks(column: Measured | None, reach: Reach | None = None, /) -> tuple[Ask, ...]:
    return (Ask("values", column),) if _constant(column, reach) is None else ()


def _finish(readings: tuple[Interval, ...], column: Measured | None, reach: Reach | None = None, /) -> Interval:
    constant = _constant(column, reach)
    return readings[0] if constant is None else Interval.exactly(constant)


def _shown(column: Measured | None) -> str:
    return "whole" if column is not None and column.kind == "integer" else "number"


SUM = Aggregate(
    "SUM", "number", _asks, _finish, bar_of_one_reading, clamped, _shown, "dp.sum",
    "the sum of the values, each clamped to its bounds",
)
