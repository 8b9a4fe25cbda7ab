"""The inverse sensitivity mechanism: lengths by search, the law by enumeration, the loss between neighbours."""

from __future__ import annotations

import math
from fractions import Fraction as F
from itertools import combinations_with_replacement
from typing import Any

import numpy as np
import pytest
from laws_of_draws import FALSE_ALARM, chi_square_chance

from dpcurator.entropy import SystemEntropy
from dpcurator.errors import Refusal
from dpcurator.mechanisms import InverseSensitivity, ProposeTestRelease, Smooth
from dpcurator.mechanisms.choice.inverse_sensitivity import EXAMPLES
from dpcurator.numbers import Enclosure, exp_neg, ln
from dpcurator.privacy.loss import Loss
from dpcurator.sensitivity.windows import bounded_mean, order_statistic

BOUNDS: dict[str, Any] = {"lower": 0, "upper": 4, "grid": 1}
RANKS = [0, "1/4", "1/2", "2/3", 1]


def of(at: Any, epsilon: Any = 1) -> InverseSensitivity:
    return InverseSensitivity(function=order_statistic(at, **BOUNDS), epsilon=epsilon)


def near(x: tuple[int, ...]) -> set[tuple[int, ...]]:
    return {tuple(sorted((*x[:i], v, *x[i + 1 :]))) for i in range(len(x)) for v in range(5)}


def lengths(x: tuple[int, ...], rank: int) -> list[int]:
    """For each t: how many rows must be replaced until the rank-th value is t, by breadth-first search."""
    found: dict[int, int] = {}
    ring, seen, steps = {x}, {x}, 0
    while len(found) < 5:
        for y in ring:
            found.setdefault(y[rank - 1], steps)
        ring = {z for y in ring for z in near(y)} - seen
        seen |= ring
        steps += 1
    return [found[t] for t in range(5)]


@pytest.mark.parametrize("at", RANKS)
@pytest.mark.parametrize("n", [1, 2, 3, 4])
def test_lengths_and_law_by_enumeration(at: Any, n: int) -> None:
    mechanism = of(at, "3/2")
    rank = max(1, math.ceil(F(at) * n))
    for x in combinations_with_replacement(range(5), n):
        found = [length for _, size, length in mechanism._runs(list(reversed(x))) for _ in range(size)]
        assert found == lengths(x, rank), x
        weights = [exp_neg(F(3, 4) * length, 200) for length in found]
        total = sum(weights, Enclosure.exactly(0))
        for (value, mass), weight in zip(mechanism.probabilities(x).items(), weights, strict=True):
            assert (mass - weight / total).holds(0), value


@pytest.mark.parametrize("at", RANKS)
def test_log_ratios_of_neighbours_span_at_most_epsilon(at: Any) -> None:
    """Bounded range epsilon, nearly attained; half of that would be false."""
    epsilon, spans = F(2), []
    mechanism = of(at, epsilon)
    assert mechanism.loss == Loss("bounded_range", (("epsilon", epsilon),))
    laws = {x: mechanism.probabilities(x) for x in combinations_with_replacement(range(5), 4)}
    for x, one in laws.items():
        for y in near(x) - {x}:
            ratios = [one[t] / laws[y][t] for t in one]
            logs = [Enclosure(ln(ratio.lo).lo, ln(ratio.hi).hi) for ratio in ratios]
            spans.append(max(log.lo for log in logs) - min(log.hi for log in logs))
            assert max(log.lo for log in logs) <= epsilon
    assert max(spans) <= epsilon
    assert max(spans) > epsilon * (F(99, 100) if at not in (0, 1) else F(49, 100))


@pytest.mark.parametrize("at", [0, "1/2"])
def test_releases_follow_the_law(at: Any) -> None:
    """FALSE_ALARM is the chance that a right sampler fails; the law of other data must fail."""
    mechanism, data, entropy = of(at), [1, 1, 3, 4], SystemEntropy()
    draws = np.bincount([int(mechanism.release(data, entropy)) for _ in range(3000)], minlength=5)
    assert chi_square_chance(draws, [float(mass.lo) for mass in mechanism.probabilities(data).values()]) > FALSE_ALARM
    wrong = [float(mass.lo) for mass in mechanism.probabilities([4, 4, 4, 4]).values()]
    assert chi_square_chance(draws, wrong) < FALSE_ALARM


def test_a_fine_grid_and_many_rows() -> None:
    """The rank of the answer is within `error` of the median's, but for a chance 1e-9; the grid has 10**12 steps."""
    function = order_statistic("1/2", lower=0, upper=10**6, grid="1e-6")
    mechanism = InverseSensitivity(function=function, epsilon=1)
    data = np.arange(100_000)
    answer, miss = mechanism.release(data), mechanism.error("1e-9")
    assert miss == math.ceil(2 * math.log((10**12 + 1) * 10**9)) == 97
    assert abs(answer - 49_999) <= miss + 1
    assert (answer * 10**6).denominator == 1


@pytest.mark.parametrize("bad", [
    {"function": bounded_mean(**BOUNDS)}, {"function": order_statistic(0, **BOUNDS, neighbours="add-remove")},
    {"function": order_statistic(0, lower=0, upper=10**900, grid=F(1, 10**900))},
    {"function": min}, {"epsilon": 0}, {"epsilon": float("nan")}, {"epsilon": True}, {"delta": 1},
])
def test_bad_parameters_are_refused(bad: dict[str, Any]) -> None:
    with pytest.raises(Refusal):
        InverseSensitivity(**{"function": EXAMPLES[0].function, "epsilon": 1, **bad})
    with pytest.raises(Refusal, match="beta"):
        EXAMPLES[0].error(1)


def test_a_law_too_long_to_list_is_refused() -> None:
    long = order_statistic("1/2", lower=0, upper=10**9, grid=1)
    for mechanism in (
        InverseSensitivity(function=long, epsilon=1), Smooth(function=long, epsilon=1),
        ProposeTestRelease(function=long, epsilon=1, delta="1e-6", bound=1),
    ):
        with pytest.raises(Refusal, match="1,000,000 steps"):
            mechanism.probabilities([1, 2, 3])
