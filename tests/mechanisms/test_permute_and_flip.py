"""Permute-and-flip: its law three ways, its loss over every move of the scores, its coins and its draws."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from choices import comes_within, holds
from laws_of_draws import FALSE_ALARM, chi_square_chance

from dpcurator.entropy import TapeEntropy
from dpcurator.errors import Refusal
from dpcurator.mechanisms.choice.exponential import Exponential
from dpcurator.mechanisms.choice.permute_and_flip import EXAMPLES, PermuteAndFlip
from dpcurator.numbers import Enclosure, exp_neg
from dpcurator.privacy.loss import Loss
from dpcurator.samplers import exp_coins
from dpcurator.samplers.exp_coins import flips

ZERO = Enclosure.exactly(0)


def unit(**named: Any) -> PermuteAndFlip:
    return PermuteAndFlip(**{"sensitivity": 1, "epsilon": 1} | named)


BASES = [*itertools.product((-3, 0, 1), repeat=3), (0, 0, 9), (9, 0, 0), (12, 0, -12), (0, 1, 1, 7)]


@pytest.mark.parametrize("monotone", [False, True])
def test_loss_bounds_every_log_ratio(monotone: bool) -> None:
    rule = unit(monotone=monotone)
    assert holds(rule.probabilities, rule.loss.pure_epsilon(), BASES, monotone=monotone)


@pytest.mark.parametrize("monotone", [False, True])
def test_the_loss_is_attained_by_two(monotone: bool) -> None:
    """The worse of two has exp(-rate d) / 2, by hand."""
    rule = unit(monotone=monotone)
    for d in (0, 3):
        here, there = rule.probabilities([0, d])[0], rule.probabilities([0, d + 1] if monotone else [-1, d + 1])[0]
        by_hand = exp_neg(rule.rate * d) / 2
        assert here.lo <= by_hand.hi
        assert by_hand.lo <= here.hi
        assert comes_within(here, there, Fraction(1))


def test_the_loss_is_pure_and_not_of_bounded_range() -> None:
    """rho is eps**2 / 2. Charged as an exponential mechanism it would be a quarter of that: the log-ratios of one pair
    of neighbours must then lie within epsilon of each other, and here they do not."""
    rule = unit()
    assert rule.loss == Loss("pure", (("epsilon", Fraction(1)),))
    assert rule.loss.rho() == Fraction(1, 2)
    here, there = rule.probabilities([0, 0, 0]), rule.probabilities([1, -1, -1])
    ratios = [math.log(one.lo / other.lo) for one, other in zip(here, there, strict=True)]
    assert max(ratios) - min(ratios) > 1.2


def test_monotone_noise_fails_for_scores_that_are_not() -> None:
    assert not holds(unit(monotone=True).probabilities, Fraction(19, 10), [(0, 5, 5)], monotone=False)


# The law


def by_order(weights: list[Enclosure], j: int) -> Enclosure:
    """By its name: over every order of the candidates, j's coin heads and those before it tails."""
    orders = list(itertools.permutations(range(len(weights))))
    found = ZERO
    for order in orders:
        term = weights[j]
        for i in order[: order.index(j)]:
            term *= 1 - weights[i]
        found += term
    return found / len(orders)


def by_heads(weights: list[Enclosure], j: int) -> Enclosure:
    """Each of those with heads equally likely, over every set of them."""
    found = ZERO
    for heads in itertools.product((False, True), repeat=len(weights)):
        if heads[j]:
            term = Enclosure.exactly(Fraction(1, sum(heads)))
            for head, w in zip(heads, weights, strict=True):
                term *= w if head else 1 - w
            found += term
    return found


@pytest.mark.parametrize("rule", EXAMPLES)
def test_the_law_three_ways(rule: PermuteAndFlip) -> None:
    for scores in ([0], [1, 1], [0, 2, 2, -1], [Fraction(1, 2), 3, 0, 1, 3]):
        exact = rule.read(scores).exact()
        weights = [exp_neg(rule.rate * (max(exact) - u), 192) for u in exact]
        found = rule.probabilities(scores)
        for j, p in enumerate(found):
            for other in (by_order(weights, j), by_heads(weights, j)):
                assert p.lo <= other.hi
                assert other.lo <= p.hi
        total = sum(found, ZERO)
        assert total.holds(1)
        assert total.width < Fraction(1, 2**60)


def test_two_hundred_candidates_sum_to_one() -> None:
    found = unit().probabilities([i % 7 for i in range(200)])
    assert sum(found, ZERO).holds(1)
    assert found[6].surely_above(found[5])


def test_it_is_never_further_below_than_the_exponential_mechanism() -> None:
    for scores in ([0, 1, 2, 5], [0, 0, 0, 3], [4, 4, 1, 0]):
        flip = unit().probabilities(scores)
        other = Exponential(sensitivity=1, epsilon=1).probabilities(scores)
        for t in range(5):
            far = [i for i, u in enumerate(scores) if max(scores) - u > t]
            below = sum((flip[i] for i in far), ZERO)
            assert below.lo <= sum((other[i] for i in far), ZERO).hi


def test_error_is_the_least_over_all_scores() -> None:
    """The worst: one best, the others just as far below. A thousandth less is not enough."""
    for n, beta in itertools.product((2, 5, 40), (Fraction(1, 20), Fraction(1, 3))):
        m = unit().error(beta, candidates=n)

        def miss(far: Fraction, n: int = n) -> Enclosure:
            return 1 - unit().probabilities([0, *[-far] * (n - 1)])[0]

        assert miss(m).surely_at_most(beta)
        if m:
            assert miss(m * Fraction(999, 1000)).surely_above(beta)
            other = [0, -m / 2, *[-m] * (n - 2)]
            assert sum(unit().probabilities(other)[2:], ZERO).surely_at_most(beta)
    assert unit().error("0.1", candidates=1) == 0
    assert unit().error("0.6", candidates=2) == 0
    assert (
        0
        < unit().error("0.05", candidates=10**9)
        < Exponential(sensitivity=1, epsilon=1).error("0.05", candidates=10**9)
    )


# Coins and draws


def boundary(x: Fraction) -> int:
    return math.floor(exp_neg(x, 256).lo * 2**64)


@pytest.mark.parametrize("kind", ["int", "float", "object"])
def test_words_at_the_boundary_of_each_chance(kind: str) -> None:
    """The word below the boundary is heads, the one above tails, and the word itself is settled by further bits."""
    for rate, gap in ((Fraction(1, 3), 1), (Fraction(7, 5), 9), (Fraction(1, 10**9), 3), (Fraction(1), 44)):
        at = boundary(rate * gap)
        values: Any = {
            "int": np.array([gap, 0, 0, 0, 0, 0]),
            "float": np.array([gap, 0, 0, 0, 0, 0], dtype=float),
            "object": np.array([Fraction(gap), 0, 0, 0, 0, Fraction(0)], dtype=object),
        }[kind]
        near = [2**64 - 1, at - 1, at + 1, at, 0, max(0, at - 2**40)]
        for further, settled in ((0, True), (2**64 - 1, False)):
            found = flips(values, rate, TapeEntropy.of_words([*near, *[further] * 4]))
            assert found.tolist() == [True, True, False, settled, True, True]


def test_candidates_far_behind_are_decided_too() -> None:
    values = np.array([0, -(2**62), 2**62, -800])
    words = TapeEntropy.of_words([0, 0, 2**64 - 1, 2**30, *[1] * 4000])
    assert flips(values, Fraction(1, 2**62), words).tolist() == [True, True, True, True]
    assert flips(values[[2, 3]], Fraction(1, 10), TapeEntropy.of_words([5, 5])).tolist() == [True, False]
    tiny = np.array([0.0, -1e308, 1e308])
    assert flips(tiny, Fraction(10**300), TapeEntropy.of_words([9] * 3)).tolist() == [False, False, True]


def test_scores_of_any_size_are_exact() -> None:
    rule = unit(epsilon=200)
    assert rule.select([2**62, 2**62 + 50, 0]) == 1
    assert rule.select([10**300, 10**300 + 50, -(10**300)]) == 1
    assert rule.select(np.array([-(2**63), 2**63 - 1])) == 1
    assert rule.select([1e300, -1e308]) == 0
    assert {unit().select([3, 3]) for _ in range(60)} == {0, 1}


def test_draws_follow_the_law() -> None:
    """Chi-square, false alarm 1e-9; the law of the exponential mechanism is found to be another."""
    scores = np.array([2, 1, 0, 1])
    seen = np.bincount([unit(epsilon=2).select(scores) for _ in range(10_000)], minlength=4)
    right, wrong = unit(epsilon=2), Exponential(sensitivity=1, epsilon=2)
    assert chi_square_chance(seen, [float(p.lo) for p in right.probabilities(scores)]) > FALSE_ALARM
    assert chi_square_chance(seen, [float(p.lo) for p in wrong.probabilities(scores)]) < FALSE_ALARM


def test_what_is_no_number_has_its_constant_or_is_refused() -> None:
    assert unit(epsilon=1000, nan=-50).select([float("nan"), 0, float("inf"), None]) == 1
    for bad in ([float("nan")], [], ["1"], [True], 3, [[1, 2]], None):
        with pytest.raises(Refusal):
            unit().select(bad)


@pytest.mark.parametrize(
    ("named", "match"),
    [
        *[
            ({name: bad}, name)
            for name in ("sensitivity", "epsilon", "grid")
            for bad in (0, -1, float("nan"), True, "x")
        ],
        *[({"monotone": bad}, "monotone") for bad in (None, 1, "no")],
        ({"nan": float("inf")}, "nan"),
        ({"noise": "laplace"}, "no parameter noise"),
    ],
)
def test_bad_parameters_are_refused(named: dict[str, Any], match: str) -> None:
    with pytest.raises(Refusal, match=match):
        unit(**named)


def test_bad_calls_are_refused() -> None:
    for beta, n in ((0, 2), (1, 2), ("x", 2), ("0.1", 0), ("0.1", True)):
        with pytest.raises(Refusal):
            unit().error(beta, candidates=n)
    with pytest.raises(Refusal, match="at most 200"):
        unit().probabilities(range(201))


@pytest.mark.parametrize("values", [[0, -(2**70), -3 * 2**80 - 1, 5], [2**1100, 0, 2**1100 - 1]])
def test_whole_numbers_of_any_size_have_distances_within_the_margin(values):
    """The second are further apart than doubles hold, and go one by one."""
    boxed, rate = np.array(values, dtype=object), Fraction(1, 3 * 2**80)
    for found, value in zip(exp_coins._distances(boxed, max(values), rate), values, strict=True):
        exact = rate * (max(values) - value)
        assert found == math.inf if exact > 2**1023 else abs(Fraction(float(found)) - exact) <= exact / 2**50
