"""COUNT(*), COUNT(x), COUNT(DISTINCT unit) and COUNT(DISTINCT x): one paid reading each (semantics 2.7, 2.11).

COUNT(*) adds up n'(r), the bounded rows; COUNT(x) n'(c), those where x is present; COUNT(DISTINCT unit) counts each
unit once a key; COUNT(DISTINCT x) the values of x, of which each unit keeps as many as the caps allow
(`plan/core.py`). The noisy count is unbiased and may be negative for a small group; it is shown as it is.

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


def _asks_values(column: Measured | None, reach: Reach | None = None, /) -> tuple[Ask, ...]:
    return (Ask("distinct", column),)


def _finish_values(readings: tuple[Interval, ...], column: Measured | None, reach: Reach | None = None, /) -> Interval:
    return readings[0]


def _cut(column: Measured | None) -> tuple[str, ...]:
    return () if column is None else (f"values of {column.name} that the caps leave out are not counted",)


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
COUNT_VALUES = Aggregate(
    "COUNT", "values", _asks_values, _finish_values, bar_of_one_reading, _cut, _whole, "dp.count_distinct",
    "the number of different values of the column",
)
