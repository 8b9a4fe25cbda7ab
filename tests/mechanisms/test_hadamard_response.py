"""Hadamard response: rows of Sylvester's matrix, every report of small domains in rationals, a million values."""

from __future__ import annotations

import math
import time
from collections import Counter
from dataclasses import FrozenInstanceError
from fractions import Fraction
from typing import Any

import local_laws as laws
import numpy as np
import pytest

from dpcurator.errors import Refusal
from dpcurator.mechanisms import HadamardResponse
from dpcurator.mechanisms.local.hadamard_response import EXAMPLES, walsh_hadamard


def reports(mechanism: HadamardResponse) -> range:
    return range(mechanism.size)


@pytest.mark.parametrize("mechanism", EXAMPLES)
def test_laws_over_every_report(mechanism: HadamardResponse) -> None:
    laws.masses_sum_to_one(mechanism, reports(mechanism))
    laws.loss_bounds_every_ratio_and_is_attained(mechanism, reports(mechanism))
    laws.estimates_are_unbiased(mechanism, reports(mechanism))


def test_the_interval_covers_every_truth() -> None:
    laws.interval_covers(EXAMPLES[0], reports(EXAMPLES[0]), 4, Fraction(1, 5))


@pytest.mark.parametrize(("k", "size"), [(2, 4), (3, 4), (4, 8), (7, 8), (8, 16), (2**20 - 1, 2**20), (2**20, 2**21)])
def test_sizes(k: int, size: int) -> None:
    assert HadamardResponse(epsilon=1, values=k).size == size


def test_the_matrix_of_four_by_hand() -> None:
    """Rows 1, 2, 3 are + - + -, + + - -, + - - +: values 0, 1, 2 are supported by {0, 2}, {0, 1}, {0, 3}."""
    mechanism = HadamardResponse(epsilon=1, values=3)
    found = [mechanism.estimate([report]).supports.tolist() for report in range(4)]
    assert found == [[1, 1, 1], [0, 1, 0], [1, 0, 0], [0, 0, 1]]
    assert mechanism.pmf(2, 0) == mechanism.truth / 2
    assert mechanism.pmf(1, 0) == (1 - mechanism.truth) / 2
    assert float(mechanism.truth) == pytest.approx(math.e / (1 + math.e))


def test_the_transform_against_its_definition() -> None:
    numbers = np.array([3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5, 8, 9, 7, 9, 3], dtype=np.int64)
    plain = [sum((-1) ** (x & y).bit_count() * int(numbers[y]) for y in range(16)) for x in range(16)]
    assert walsh_hadamard(numbers).tolist() == plain
    assert walsh_hadamard(walsh_hadamard(numbers)).tolist() == (16 * numbers).tolist()
    assert numbers[0] == 3  # its argument stays


@pytest.mark.parametrize("k", [3, 9])
def test_the_draw_word_by_word(k: int) -> None:
    """A word for the coin, one for the report: each report of the half wanted stands for two of the K words."""
    mechanism = HadamardResponse(epsilon=1, values=k)
    for own in range(k):
        for coin in (laws.TRUE, laws.FALSE):
            drawn = Counter(mechanism.respond(own, laws.tape(coin, word)) for word in range(mechanism.size))
            half = {y for y in reports(mechanism) if ((y & (own + 1)).bit_count() % 2 == 0) == (coin == laws.TRUE)}
            assert drawn == dict.fromkeys(half, 2)


@pytest.mark.parametrize("epsilon", [Fraction(s) for s in ("1e-9", "1/10", "1", "20", "300")])
@pytest.mark.parametrize("k", [2, 2**20])
def test_an_epsilon_is_spent_and_never_passed(epsilon: Fraction, k: int) -> None:
    laws.spends_at_most(HadamardResponse(epsilon=epsilon, values=k), epsilon)


@pytest.mark.parametrize("mechanism", EXAMPLES)
def test_a_million_reports(mechanism: HadamardResponse) -> None:
    wrong = HadamardResponse(epsilon=mechanism.epsilon + Fraction(1, 10), values=mechanism.values)
    laws.drawn_reports_follow(mechanism, reports(mechanism), wrong, int)


def test_a_million_values_at_once() -> None:
    """Two values that 300,000 hold each stand out of 2**20; the interval of all together misses with chance 1e-9."""
    mechanism = HadamardResponse(epsilon=2, values=2**20)
    held = np.arange(10**6)
    held[held < 300_000] = 12_345
    held[held >= 700_000] = 2**20 - 1
    start = time.process_time()
    found = mechanism.estimate(mechanism.respond_many(held))
    assert time.process_time() - start < 20
    truth = np.bincount(held, minlength=2**20)
    low, high = found.intervals("1e-9", simultaneous=True).T
    assert ((low <= truth) & (truth <= high)).all()
    assert low[12_345] > 280_000
    assert np.argsort(found.counts)[-2:].tolist() in ([12_345, 2**20 - 1], [2**20 - 1, 12_345])


def test_bad_input_is_told() -> None:
    mechanism = HadamardResponse(epsilon=1, values=5)
    laws.bad_input_is_told(mechanism, 987, [[0, 1]])
    for report in (8, -1, 2**62):
        with pytest.raises(Refusal, match="Report 1 "):
            mechanism.estimate([0, report])
    for shape in ([0.5], [float("nan")], ["0"], [[0]], [None], [2**70]):
        with pytest.raises(Refusal, match="shape"):
            mechanism.estimate(shape)


@pytest.mark.parametrize("bad", [0, -1, float("nan"), float("inf"), True, None, "x", []])
def test_bad_parameters_are_refused(bad: Any) -> None:
    with pytest.raises(Refusal, match="epsilon"):
        HadamardResponse(epsilon=bad, values=3)
    with pytest.raises(Refusal):
        HadamardResponse(epsilon=1, values=bad)


def test_it_is_frozen_data_read_as_people_write_it() -> None:
    mechanism = HadamardResponse(epsilon=0.1, values=3)  # type: ignore[arg-type]
    assert mechanism == HadamardResponse(epsilon=Fraction(1, 10), values=range(3))
    with pytest.raises(FrozenInstanceError):
        mechanism.epsilon = Fraction(1)  # type: ignore[misc]
    assert mechanism.error("0.05", reports=50) == mechanism.estimate([0] * 50).error("0.05")
