"""Smaller witnesses: what is tried, and that the violation stands on what is returned."""

from __future__ import annotations

import math
import time
from fractions import Fraction as F

import pytest

import dpcurator as dp
from dpcurator.audit.pairs import Pair
from dpcurator.audit.report import Finding
from dpcurator.audit.shrink import cost, shrink, simpler


def finding(pair):
    return Finding(pair, "event", ("first", "second"), F(1), F(0), math.inf)


def test_rows_that_both_inputs_share_are_dropped_and_the_one_that_differs_stays():
    start = Pair([3, 1, 4, 1, 5], [100, 3, 1, 4, 1, 5], "x", neighbours="add-remove")
    found, _ = shrink(
        start, lambda pair, number: finding(pair) if 100 in pair.second else None, until=time.monotonic() + 9
    )
    assert found is not None
    assert (found.pair.first, found.pair.second) == ([], [100])


def test_what_the_violation_needs_is_kept():
    start = Pair([7] * 9, [100] + [7] * 9, "x", neighbours="add-remove")
    found, _ = shrink(
        start, lambda pair, number: finding(pair) if len(pair.first) >= 3 else None, until=time.monotonic() + 9
    )
    assert found is not None
    assert found.pair.first == [7] * 3


@pytest.mark.parametrize("pair", [
    Pair([1, 2, 3], [9, 1, 2, 3], neighbours="add-remove"), Pair([8, 2, 3], [9, 2, 3], neighbours="replace-one"),
])  # fmt: skip
def test_smaller_pairs_are_neighbours_still(pair):
    for one in simpler(pair):
        extra, missing = list(one.second), []
        for row in one.first:
            extra.remove(row) if row in extra else missing.append(row)
        assert len(extra) == 1
        assert len(missing) == (0 if pair.neighbours == "add-remove" else 1)


def test_vectors_move_by_no_more():
    for one in simpler(Pair([2, 2, 0], [1, 1, 1], neighbours="vector")):
        assert all(abs(a - b) <= 1 for a, b in zip(one.first, one.second, strict=True))
        assert cost(one) <= cost(Pair([2, 2, 0], [1, 1, 1]))


def test_the_time_is_kept_and_an_unknown_relation_is_left_alone():
    start = Pair([1, 2], [9, 1, 2], neighbours="add-remove")
    assert shrink(start, lambda pair, number: finding(pair), until=time.monotonic() - 1) == (None, 0)
    report = dp.audit(lambda rows: len(rows), pair=([1, 2, 3], [1, 2, 3, 4]), claim=dp.Pure(1), samples=2000)
    assert report.violated
    assert report.found_on is None
