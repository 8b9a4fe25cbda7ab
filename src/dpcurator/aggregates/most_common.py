"""TOP_K(x, k) and MODE(x): which groups are greatest, named without their counts (semantics 2.12).

A question that names is planned as a grouping by x (`plan/most_common.py`), whose reading is a choice by the counts of
its groups (mechanisms/choice/top_counts.py): of each group its place, 1 to k, or 0. So there is no noise to be within:
what the bar says is by how many rows a group that is left out may be ahead of one that is named.
Checked in tests/aggregates and tests/curator/test_most_common.py.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Literal

from dpcurator.aggregates.aggregate import Aggregate, Asks, nothing_beside
from dpcurator.numbers.interval import Interval
from dpcurator.plan.nodes import Ask, Measured
from dpcurator.plan.stability import Reach


def _asks(what: Literal["rows", "present", "units"]) -> Asks:
    """Of how many keys it names how many, the call says (`pricing/resolve.py`)."""

    def asks(column: Measured | None, reach: Reach | None = None, /) -> tuple[Ask, ...]:
        return (Ask(what, column),)

    return asks


def _finish(readings: tuple[Interval, ...], column: Measured | None, reach: Reach | None = None, /) -> Interval:
    return readings[0]


def _bar(
    errors: tuple[Fraction, ...], widths: tuple[Fraction, ...], column: Measured | None, reach: Reach,
    rows: Fraction | None, /,
) -> Fraction | None:
    return None


def _whole(column: Measured | None) -> str:
    return "whole"


def _top(argument: Literal["star", "column", "unit"], what: Literal["rows", "present", "units"]) -> Aggregate:
    return Aggregate(
        "TOP_K", argument, _asks(what), _finish, _bar, nothing_beside, _whole, "dp.top_k",
        "which values are the most frequent", names=True,
    )


TOP_K = (_top("star", "rows"), _top("column", "present"), _top("unit", "units"))
