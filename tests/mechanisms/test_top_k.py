"""Top-k: the law of the order, one-shot and peeled, its losses over every move of the scores, and its draws."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from choices import comes_within, holds
from laws_of_draws import FALSE_ALARM, chi_square_chance

from dpcurator.errors import Refusal
from dpcurator.mechanisms.choice.exponential import Exponential
from dpcurator.mechanisms.choice.top_k import EXAMPLES, TopK
from dpcurator.numbers import Enclosure, exp_neg
from dpcurator.privacy.loss import Loss

ZERO = Enclosure.exactly(0)


def two(**named: Any) -> TopK:
    return TopK(**{"sensitivity": 1, "epsilon": 2, "k": 2} | named)


BASES = [*itertools.product((0, 2), repeat=3), (30, 0, 0), (0, 9, 9), (9, 9, 0, 0)]


@pytest.mark.parametrize("monotone", [False, True])
def test_loss_bounds_every_log_ratio(monotone: bool) -> None:
    rule = two(monotone=monotone)
    assert holds(rule.probabilities, rule.loss.pure_epsilon(), BASES, monotone=monotone)


@pytest.mark.parametrize("monotone", [False, True])
def test_no_smaller_epsilon_holds(monotone: bool) -> None:
    """One ahead falls (or stays), the two behind rise: (1, 2) becomes likelier by e**epsilon, nearly."""
    rule = two(monotone=monotone)
    here = rule.probabilities([99, 1, 1])
    there = rule.probabilities([100, 1, 1] if monotone else [100, 0, 0])
    assert comes_within(here[1, 2], there[1, 2], Fraction(2))


def test_the_whole_is_not_of_bounded_range() -> None:
    """Each choice is of bounded range 1, the two together not of 2: the first decides who leads for the second, so the
    second's interval lies elsewhere. Hence the loss of the whole is pure, and rho is added up choice by choice."""
    here, there = two().probabilities([60, 60, 0, 0]), two().probabilities([61, 59, 1, -1])
    ratios = [math.log(here[order].lo / there[order].lo) for order in here]
    assert 2.9 < max(ratios) - min(ratios) <= 3
    assert two().losses == (Loss("bounded_range", (("epsilon", Fraction(1)),)),) * 2
    assert two().loss == Loss("pure", (("epsilon", Fraction(2)),))
    assert two().rho == Fraction(1, 4)
    assert two().rho < two().loss.rho()
    assert two(k=1).loss == Loss("bounded_range", (("epsilon", Fraction(2)),))


def test_each_choice_is_of_its_bounded_range() -> None:
    """Given the first, the log-ratios of the second span at most epsilon/k."""
    for base, moved in (((60, 60, 0, 0), (61, 59, 1, -1)), ((0, 1, 2, 3), (1, 0, 3, 2)), ((5, 5, 0, 0), (4, 6, -1, 1))):
        here, there = two().probabilities(base), two().probabilities(moved)
        for first in range(4):
            ratios = [math.log(here[order].lo / there[order].lo) for order in here if order[0] == first]
            assert max(ratios) - min(ratios) <= 1 + 1e-12


def test_rho_of_the_whole_bounds_the_renyi_divergences() -> None:
    """Orders 2 and 5, over every move: at most rho times the order."""
    for base in BASES[-3:]:
        here = two().probabilities(base)
        for move in itertools.product((-1, 0, 1), repeat=len(base)):
            there = two().probabilities([b + m for b, m in zip(base, move, strict=True)])
            for alpha in (2, 5):
                moment = sum(float(p.hi) ** alpha / float(there[o].lo) ** (alpha - 1) for o, p in here.items())
                assert math.log(moment) / (alpha - 1) <= alpha * float(two().rho) + 1e-9


def test_monotone_noise_fails_for_scores_that_are_not() -> None:
    assert not holds(two(monotone=True).probabilities, Fraction(3), [(30, 0, 0)], monotone=False)


@pytest.mark.parametrize("rule", EXAMPLES)
def test_the_law_is_that_of_exponential_mechanisms_peeled(rule: TopK) -> None:
    scores = [0, 1, Fraction(5, 2), 1]
    each = Exponential(
        sensitivity=rule.sensitivity,
        epsilon=rule.epsilon / rule.k,
        monotone=rule.monotone,
        grid=rule.grid,
        nan=rule.nan,
    )
    found = rule.probabilities(scores)
    for order, p in found.items():
        left, peeled = list(range(4)), Enclosure.exactly(1)
        for i in order:
            peeled *= each.probabilities([scores[j] for j in left])[left.index(i)]
            left.remove(i)
        assert p.lo <= peeled.hi
        assert peeled.lo <= p.hi
    total = sum(found.values(), ZERO)
    assert len(found) == math.perm(4, rule.k)
    assert total.holds(1)
    assert total.width < Fraction(1, 2**60)


def test_the_law_is_that_of_gumbel_noise_added_once() -> None:
    """One-shot, by hand for three: the order of arrivals of rates w is the integral over t1 < t2 < t3, which is
    w1/(w1 + w2 + w3) * w2/(w2 + w3): exponential arrivals are Gumbel noise in logarithms."""
    found = two().probabilities([0, 1, 3])
    w = [exp_neg(two().rate * (3 - u)) for u in (0, 1, 3)]
    for one, other in itertools.permutations(range(3), 2):
        third = 3 - one - other
        by_hand = w[one] / (w[0] + w[1] + w[2]) * w[other] / (w[other] + w[third])
        assert found[one, other].lo <= by_hand.hi
        assert by_hand.lo <= found[one, other].hi


def test_draws_are_one_shot_and_follow_the_law_of_peeling() -> None:
    """Chi-square, false alarm 1e-9: select makes one race; an epsilon for each, not for all, is found."""
    scores = np.array([0, 1, 2])
    rule, counts = two(epsilon=4), dict.fromkeys(itertools.permutations(range(3), 2), 0)
    for _ in range(4_000):
        counts[tuple(rule.select(scores))] += 1
    seen = np.array(list(counts.values()))
    right, wrong = ([float(p.lo) for p in one.probabilities(scores).values()] for one in (rule, two(epsilon=6)))
    assert chi_square_chance(seen, right) > FALSE_ALARM
    assert chi_square_chance(seen, wrong) < FALSE_ALARM


def test_error_covers_all_choices() -> None:
    rule = two()
    m = rule.error("0.1", candidates=4)
    far = -m - 1
    found = rule.probabilities([0, 0, far, far])
    late = sum((p for order, p in found.items() if max(order) > 1), ZERO)
    assert late.surely_at_most(Fraction(1, 10))


def test_selections_are_different_and_ordered() -> None:
    rule = two(epsilon=1000, k=3)
    assert rule.select([5, 1, 9, 7]) == [2, 3, 0]
    assert sorted(two(k=4).select([1, 1, 1, 1])) == [0, 1, 2, 3]
    assert rule.select([10**300, 0, 10**300 + 9, 3]) == [2, 0, 3]
    assert two(epsilon=1000, nan=-50).select([float("nan"), 0, 9]) == [2, 1]


@pytest.mark.parametrize(
    ("named", "match"),
    [
        *[
            ({name: bad}, name)
            for name in ("sensitivity", "epsilon", "grid")
            for bad in (0, -1, float("nan"), True, "x")
        ],
        *[({"k": bad}, "k") for bad in (0, -1, 1.5, True, None, "two")],
        *[({"monotone": bad}, "monotone") for bad in (None, 1, "no")],
        ({"nan": float("inf")}, "nan"),
        ({"noise": "laplace"}, "no parameter noise"),
    ],
)
def test_bad_parameters_are_refused(named: dict[str, Any], match: str) -> None:
    with pytest.raises(Refusal, match=match):
        two(**named)


def test_bad_calls_are_refused() -> None:
    for bad in ([1], [], [1, float("nan")], ["1", "2"], None):
        with pytest.raises(Refusal):
            two().select(bad)
    for beta, n in ((0, 2), (1, 2), ("x", 2), ("0.1", 1)):
        with pytest.raises(Refusal):
            two().error(beta, candidates=n)
    with pytest.raises(Refusal, match="orders"):
        two(k=5).probabilities(range(20))
