"""COUNT(*), COUNT(x) and COUNT(DISTINCT unit): one paid reading each (MEANING 2.7).

COUNT(*) adds up n'(r), the bounded rows; COUNT(x) n'(c), those where x is present; COUNT(DISTINCT unit) counts each
unit once a key. The noisy count is unbiased and may be negative for a small group; it is shown as it is.
Checked in tests/plans/count.sql and tests/pricing.
"""

from __future__ import annotations

from dpcurator.aggregates.aggregate import Aggregate
from dpcurator.numbers.interval import Interval
from dpcurator.plan.nodes import Ask, Measured


def _rows(column: Measured | None) -> tuple[Ask, ...]:
    return (Ask("rows"),)


def _present(column: Measured | None) -> tuple[Ask, ...]:
    return (Ask("present", column),)


def _units(column: Measured | None) -> tuple[Ask, ...]:
    return (Ask("units"),)


def _finish(readings: tuple[Interval, ...], column: Measured | None) -> Interval:
    return readings[0]


def _whole(column: Measured | None) -> str:
    return "whole"


COUNT_ROWS = Aggregate("COUNT", "star", _rows, _finish, _whole, "the number of rows")
COUNT_COLUMN = Aggregate("COUNT", "column", _present, _finish, _whole, "the number of rows where the column is present")
COUNT_UNITS = Aggregate("COUNT", "unit", _units, _finish, _whole, "the number of different units")
