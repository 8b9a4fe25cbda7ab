"""Smaller witnesses: what is tried, and that the violation stands on what is returned."""

from __future__ import annotations

import math
import time
from fractions import Fraction as F

import pytest

import dpcurator as dp
from dpcurator.auditing.pairs import Pair, propose
from dpcurator.auditing.report import Finding
from dpcurator.auditing.shrink import cost, shrink, simpler


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
])
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


@pytest.mark.parametrize("units", [False, True])
@pytest.mark.parametrize("neighbours", ["add-remove", "replace-one", "vector"])
def test_a_smaller_pair_is_of_the_same_relation_row_by_row(neighbours, units):
    """As lists, not only as multisets: a function of each row by itself may see no second row move."""
    pairs = list(propose(neighbours=neighbours, domain=[0, 1, 5], units=units))
    if not units and neighbours != "vector":
        rows = [0, 1, 0]
        pairs.append(Pair([5, *rows], [0, *rows], "", False, neighbours) if neighbours == "replace-one"
                     else Pair(rows, [5, *rows], "", False, neighbours))
    seen = 0
    for pair in pairs:
        if max(len(pair.first), len(pair.second)) > 20:
            continue
        for less in simpler(pair):
            seen += 1
            moved = _moved(less.first, less.second)
            if neighbours == "vector":
                assert len(less.first) == len(less.second)
                assert all(abs(a - b) <= 1 for a, b in zip(less.first, less.second, strict=True))
            elif not units:
                assert sum(moved) == (1 if neighbours == "add-remove" else 2) or less.first == less.second, less
            elif units:
                mine = [[row for row in side if row[0] != "me"] for side in (less.first, less.second)]
                assert mine[0] == mine[1]
    assert seen


def _moved(first, second):
    """Rows of either that are left when the longest common start and end are taken off."""
    while first and second and first[0] == second[0]:
        first, second = first[1:], second[1:]
    while first and second and first[-1] == second[-1]:
        first, second = first[:-1], second[:-1]
    return len(first), len(second)
