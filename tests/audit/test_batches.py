"""Parts of draws in blocks: the same numbers as one by one, whatever the lot."""

from __future__ import annotations

import math

import numpy as np
import pytest

from dpcurator.auditing.draws.batches import binned, blocks, by_bin, codes, size
from dpcurator.auditing.draws.classifiers import learned
from dpcurator.auditing.draws.features import Ordered
from dpcurator.auditing.outcomes import ABSENT, Labels, encode


@pytest.mark.parametrize("edges", [[], [0.0], [-1.0, 0.0, 2.5], [*range(24)], [*range(150)]], ids=len)
def test_bins_are_those_of_bisection(edges):
    values, edges = np.array([-math.inf, -1, -0.0, 0.5, 2.5, 3, 1e300]), np.array(edges, dtype=float)
    assert list(binned(values, edges)) == list(np.searchsorted(edges, values, side="left"))
    table = np.arange(float(size(edges)))
    assert list(by_bin(values, None, edges, table)) == list(codes(values, None, edges))


def test_marks_come_before_bins_and_are_told_apart():
    values, edges = np.array([math.nan] * 6 + [0.0, 2.0]), np.array([1.0])
    marks = np.array([-1, -2, -3, -4, 1, 2, 0, 0], dtype=np.int32)
    found = list(codes(values, marks, edges))
    assert len(set(found)) == len(found)
    assert found[-2:] == [64, 65]
    assert list(by_bin(values, marks, edges, np.arange(float(size(edges))))) == found
    assert codes(values[:1], np.array([10**6], dtype=np.int32), edges)[0] == 63


def test_blocks_are_all_rows_in_turn_and_leave_the_draws_alone():
    outcomes = [[float(i), 2.0 * i, None if i % 3 else 1] for i in range(20_000)]
    drawn = encode(outcomes, Labels(), len(outcomes))
    before = drawn.values.copy(), drawn.marks.copy()
    seen = [(values, marks) for _, values, marks in blocks(drawn, 3, steps=True)]
    values, marks = (np.concatenate(part, axis=1) for part in zip(*seen, strict=True))
    assert list(values[1]) == list(range(20_000))
    assert list(values[0]) == list(range(20_000))
    assert values[2, 3] == 1 - 6
    assert marks[2, 1] > 0
    assert (marks[:2] == 0).all()
    np.testing.assert_array_equal(drawn.values, before[0])
    np.testing.assert_array_equal(drawn.marks, before[1])


def test_a_step_from_what_is_no_number_is_no_number():
    drawn = encode([[1.0, math.nan, 2.0]], Labels(), 1)
    ((_, values, marks),) = blocks(drawn, 3, steps=True)
    assert list(marks[:, 0]) == [0, -2, ABSENT]
    assert np.isnan(values[1:, 0]).all()


def test_outcomes_that_are_as_likely_have_one_score():
    """Sums of equal numbers in another order differ in their last bits; a threshold is not to cut between them."""
    rng = np.random.default_rng(6)
    one, other = (encode((rng.random((30_000, 8)) < p) * 1.0, Labels(), 30_000) for p in (0.3, 0.4))
    rows = encode(np.array([[0.0] * i + [1.0] * 3 + [0.0] * (5 - i) for i in range(6)]), Labels(), 6)
    lots = encode(np.tile(rows.values, (4000, 1)), Labels(), 24_000)
    assert any(isinstance(feature, Ordered) for feature in learned(one, other))
    for feature in learned(one, other):
        if isinstance(feature, Ordered):
            assert list(feature.of(rows)) == list(feature.of(lots)[-6:])
    three = encode(rng.laplace(0, 200, (30_000, 8)), Labels(), 30_000)
    four = encode(rng.laplace(1, 200, (30_000, 8)), Labels(), 30_000)
    clipped = next(f for f in learned(three, four) if f.name.startswith("the sum of its parts, each"))
    far = np.where(rows.values > 0, 1e3, -1e3)
    assert len(set(clipped.of(encode(far, Labels(), 6)).tolist())) == 1


def test_what_is_no_number_is_the_same_nan_in_an_array_and_in_a_list():
    values = np.array([[math.nan, -math.nan, math.inf, -math.inf, -0.0, 5e-324]] * 4000)
    labels = Labels()
    lot, alone = encode(values, labels, 4000), encode([values[0].tolist()], labels, 1)
    assert lot.marks[-1].tolist() == alone.marks[0].tolist() == [-2, -2, -3, -4, 0, 0]
    assert lot.values[-1].view(np.int64).tolist() == alone.values[0].view(np.int64).tolist()
    assert values[0, 2] == math.inf
