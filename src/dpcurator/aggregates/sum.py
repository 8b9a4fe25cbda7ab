"""SUM(x): the sum of values clamped to their declared bounds, one paid reading (MEANING 2.6).

The reading is S' + L n', which one unit moves by at most max_rows * max(|L|, |U|) a key. With bounds [0, 0] the sum is
0 whatever the data, so nothing is asked and nothing is charged. Checked in tests/plans/sum.sql.
"""

from __future__ import annotations

from fractions import Fraction

from dpcurator.aggregates.aggregate import Aggregate
from dpcurator.numbers.interval import Interval
from dpcurator.plan.nodes import Ask, Measured


def _asks(column: Measured | None) -> tuple[Ask, ...]:
    if column is not None and column.lower == column.upper == 0:
        return ()
    return (Ask("values", column),)


def _finish(readings: tuple[Interval, ...], column: Measured | None) -> Interval:
    return readings[0] if readings else Interval.exactly(Fraction(0))


def _shown(column: Measured | None) -> str:
    return "whole" if column is not None and column.kind == "integer" else "number"


SUM = Aggregate("SUM", "number", _asks, _finish, _shown, "the sum of the values, each clamped to its bounds")
