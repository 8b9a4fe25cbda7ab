"""Propose-test-release: both output laws of every pair of neighbours of {0..4}^3, enclosed, and the threshold."""

from __future__ import annotations

from fractions import Fraction as F
from itertools import combinations_with_replacement
from typing import Any

import numpy as np
import pytest
from laws_of_draws import FALSE_ALARM, chi_square_chance

from dpcurator.entropy import SystemEntropy
from dpcurator.errors import Refusal
from dpcurator.mechanisms import ProposeTestRelease
from dpcurator.mechanisms.smooth.propose_test_release import EXAMPLES, _above
from dpcurator.numbers import Enclosure, exp_neg
from dpcurator.privacy.loss import Loss
from dpcurator.sensitivity.function import Function
from dpcurator.sensitivity.windows import bounded_mean, order_statistic, trimmed_mean

BOUNDS: dict[str, Any] = {"lower": 0, "upper": 4, "grid": 1}
MEDIAN = order_statistic("1/2", **BOUNDS)
FUNCTIONS: list[Function] = [
    MEDIAN, order_statistic(1, **BOUNDS), trimmed_mean("1/3", **BOUNDS), bounded_mean(**BOUNDS),
    order_statistic(0, **BOUNDS, neighbours="add-remove"),
]


def of(function: Function = MEDIAN, **more: Any) -> ProposeTestRelease:
    return ProposeTestRelease(**{"function": function, "bound": 1, "epsilon": 1, "delta": "1/10", **more})


def pairs(function: Function) -> list[tuple[tuple[int, ...], tuple[int, ...]]]:
    every = list(combinations_with_replacement(range(5), 3))
    if function.neighbours == "replace-one":
        return [(x, tuple(sorted((*x[:i], v, *x[i + 1 :])))) for x in every for i in range(3) for v in range(5)]
    return [pair for x in every for i in range(3) for y in [x[:i] + x[i + 1 :]] for pair in ((x, y), (y, x))]


def worst_delta(mechanism: ProposeTestRelease, epsilon: F) -> Enclosure:
    """The greatest hockey stick between neighbours: sum over outcomes of (P - e**epsilon Q)+."""
    laws: dict[Any, Any] = {
        x: mechanism.probabilities(x) for x in {x for pair in pairs(mechanism.function) for x in pair}
    }
    growth, worst = 1 / exp_neg(epsilon, 200), [Enclosure.exactly(0)]
    for x, y in set(pairs(mechanism.function)):
        gaps = [mass - growth * laws[y][outcome] for outcome, mass in laws[x].items()]
        worst.append(Enclosure(sum((max(g.lo, F(0)) for g in gaps), F(0)), sum((max(g.hi, F(0)) for g in gaps), F(0))))
    return Enclosure(max(one.lo for one in worst), max(one.hi for one in worst))


@pytest.mark.parametrize("function", FUNCTIONS)
@pytest.mark.parametrize("how", [
    {}, {"bound": 2}, {"epsilon": 4, "delta": "1/100"}, {"test_share": "3/4"}, {"delta": "9/10", "epsilon": "1/2"},
    {"bound": 4},
])
def test_every_pair_of_neighbours_is_within_the_loss(function: Function, how: dict[str, Any]) -> None:
    mechanism = of(function, **how)
    assert mechanism.loss == Loss("approximate", (("epsilon", mechanism.epsilon), ("delta", mechanism.delta)))
    assert worst_delta(mechanism, mechanism.epsilon).surely_at_most(mechanism.delta)


def test_a_threshold_too_low_or_noise_too_small_fails() -> None:
    """The negative controls; and with the right threshold a good part of delta is used."""
    right = of(order_statistic(1, **BOUNDS), epsilon=6, delta="1/5")
    assert worst_delta(right, right.epsilon).surely_above(right.delta / 20)
    low = of(order_statistic(1, **BOUNDS), epsilon=6, delta="1/5")
    object.__setattr__(low, "threshold", -3)
    assert worst_delta(low, low.epsilon).surely_above(low.delta)
    small = of(bounded_mean(**BOUNDS), bound="4/3", epsilon=1, delta="1e-9")
    assert worst_delta(small, F(1)).surely_at_most(small.delta)
    assert worst_delta(small, F(1, 4)).surely_above(small.delta)


def test_the_distance_is_how_many_rows_must_change() -> None:
    """The median of nine equal values: 3 rows moved leave it stable, after 4 one more moves it by anything."""
    mechanism = of(order_statistic("1/2", lower=0, upper=100, grid=1), bound=5)
    for data, distance in (
        ([50] * 9, 4),
        ([50] * 7 + [0, 100], 3),
        ([0, 0, 0, 50, 100, 100, 100], 0),
        ([48, 50, 52], 1),
    ):
        rows = mechanism.function.rows(data)
        assert mechanism._distance(rows, F(1)) == distance, data
    assert of(bound=4)._distance(MEDIAN.rows([0, 2, 4]), F(1)) is None  # no dataset has a local sensitivity above 4
    near = {x: of()._distance(MEDIAN.rows(x), F(1)) for x in combinations_with_replacement(range(5), 3)}
    assert all(abs(near[x] - near[y]) <= 1 for x, y in pairs(MEDIAN))  # type: ignore[operator]


@pytest.mark.parametrize("epsilon", ["1/100", "1", "20"])
@pytest.mark.parametrize("delta", ["0.9", "1/10", "1e-6", "1e-40"])
def test_the_threshold_is_the_least_that_delta_allows(epsilon: str, delta: str) -> None:
    mechanism = of(epsilon=epsilon, delta=delta)
    scale, t = mechanism.test.scale, mechanism.threshold
    assert scale == 2 / F(epsilon)
    assert _above(scale, t).surely_at_most(F(delta))
    assert t == 0 or _above(scale, t - 1).surely_above(F(delta))
    exact = sum((mechanism.test.pmf(k) for k in range(-3, 1)), Enclosure.exactly(0))
    assert (_above(scale, -4) - _above(scale, 0) - exact).holds(0)


def test_stable_data_are_answered_and_unstable_data_are_not() -> None:
    mechanism = of(order_statistic("1/2", lower=0, upper=1000, grid=1), bound=2, epsilon=1, delta="1e-9")
    answer = mechanism.release([500] * 999)
    assert answer is not None
    assert mechanism.probabilities([500] * 999)[None].surely_below(F(1, 10**9))
    assert mechanism.probabilities([0, 500, 1000])[None].surely_above(1 - F(1, 10**9))
    assert mechanism.release([0, 500, 1000]) is None  # wrong with chance 1e-9
    assert mechanism.error("0.05") == mechanism.noise(F(1)).error(F(1, 20)) == 12


def test_releases_follow_the_law() -> None:
    """FALSE_ALARM is the chance that a right sampler fails; the law of other data must fail."""
    mechanism = of(bound=1, epsilon=2, delta="1/10")
    data, entropy = [1, 2, 2, 2, 2], SystemEntropy()
    draws = [mechanism.release(data, entropy) for _ in range(2000)]
    law = mechanism.probabilities(data)
    assert sum(law.values(), Enclosure.exactly(0)).holds(1)
    counts = np.array([draws.count(outcome) for outcome in law])
    assert chi_square_chance(counts, [float(mass.lo) for mass in law.values()]) > FALSE_ALARM
    wrong = [float(mass.lo) for mass in mechanism.probabilities([3, 4, 4, 4, 4]).values()]
    assert chi_square_chance(counts, wrong) < FALSE_ALARM


@pytest.mark.parametrize("bad", [
    {"epsilon": 0}, {"delta": 0}, {"delta": 1}, {"bound": 0}, {"bound": float("inf")}, {"test_share": 1},
    {"function": 3}, {"epsilon": True}, {"other": 1},
])
def test_bad_parameters_are_refused(bad: dict[str, Any]) -> None:
    with pytest.raises(Refusal):
        of(**bad)


def test_a_bound_below_one_step_is_refused() -> None:
    with pytest.raises(Refusal, match="one step"):
        of(bound="1/2").release([1, 2, 3])
    assert EXAMPLES[0].loss.family == "approximate"
