"""COUNT(*), COUNT(x) and COUNT(DISTINCT unit): one paid reading each (semantics 2.7).

COUNT(*) adds up n'(r), the bounded rows; COUNT(x) n'(c), those where x is present; COUNT(DISTINCT unit) counts each
unit once a key. The noisy count is unbiased and may be negative for a small group; it is shown as it is.

With replace-one, each row a unit, no WHERE and no GROUP BY, all of these are the public n (COUNT(x) if x declares a
value for missing ones): nothing is asked, and n is the answer even if the catalog has it wrong.
Checked in tests/plans/count.sql and tests/pricing.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Literal

from dpcurator.aggregates.aggregate import Aggregate, Asks, bar_of_one_reading, nothing_beside, public_count
from dpcurator.numbers.interval import Interval
from dpcurator.plan.nodes import Ask, Measured
from dpcurator.plan.stability import Reach


def _unless_public(what: Literal["rows", "present", "units"]) -> Asks:
    def asks(column: Measured | None, reach: Reach | None = None, /) -> tuple[Ask, ...]:
        return (Ask(what, column),) if public_count(column, reach) is None else ()

    return asks


def _finish(readings: tuple[Interval, ...], column: Measured | None, reach: Reach | None = None, /) -> Interval:
    count = public_count(column, reach)
    return readings[0] if count is None else Interval.exactly(Fraction(count))


def _whole(column: Measured | None) -> str:
    return "whole"


def _count(
    argument: Literal["star", "column", "unit"], what: Literal["rows", "present", "units"], python: str, meaning: str
) -> Aggregate:
    asks = _unless_public(what)
    return Aggregate("COUNT", argument, asks, _finish, bar_of_one_reading, nothing_beside, _whole, python, meaning)


COUNT_ROWS = _count("star", "rows", "dp.count", "the number of rows")
COUNT_COLUMN = _count("column", "present", "dp.count", "the number of rows where the column is present")
COUNT_UNITS = _count("unit", "units", "dp.count_units", "the number of different units")
