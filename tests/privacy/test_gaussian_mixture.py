"""Gaussian noise around random shifts: deltas by integration, no direction of gradients does better, what dp-accounting
publishes, and a chance moved to a smaller shift that is found."""

from __future__ import annotations

import math
from fractions import Fraction as F
from typing import Any

import numpy as np
import pytest
from losses import meet

import dpcurator as dp
from dpcurator.privacy.families import FAMILIES
from dpcurator.privacy.families import gaussian_mixture as mixtures

ONE = dp.Loss("gaussian", sigma=1).sampled(poisson="1/10")
THREE = ONE.for_group(3)
REPLACED = dp.Loss("gaussian", sigma=1).sampled(poisson="1/10", neighbours="replace-one")
X = np.linspace(-14, 20, 100_001)


def density(parts: list[tuple[float, float]], variance: float) -> Any:
    found = sum(chance * np.exp(-((X - shift) ** 2) / (2 * variance)) for shift, chance in parts)
    return found * (X[1] - X[0]) / math.sqrt(2 * math.pi * variance)


def hockey(first: Any, second: Any, eps: float) -> float:
    return float(np.maximum(first - math.exp(eps) * second, 0).sum())


@pytest.mark.parametrize("eps", [0.0, 1.0])
def test_deltas_are_the_integrals_both_ways(eps: float) -> None:
    mixed = density([(j, math.comb(3, j) * 0.1**j * 0.9 ** (3 - j)) for j in range(4)], 1.0)
    none = density([(0, 1.0)], 1.0)
    up, down = density([(0, 0.9), (1, 0.1)], 1.0), density([(0, 0.9), (-1, 0.1)], 1.0)
    for found, right in (
        (THREE.delta_of("forward", F(eps)), hockey(mixed, none, eps)),
        (THREE.delta_of("backward", F(eps)), hockey(none, mixed, eps)),
        (REPLACED.delta(F(eps)), hockey(up, down, eps)),
    ):
        assert float(found.hi) == pytest.approx(right, abs=1e-9)
        assert found.width <= found.hi / 2**60


def test_a_group_of_one_is_the_sample_and_each_is_its_simplest() -> None:
    made = mixtures.group_on_poisson({"variance": F(4), "shift": F(2), "rate": F(1, 10)}, 1, backward=False)
    assert made is not None
    one = dp.Loss(*made)
    assert FAMILIES[one.family].simplest(one.given) == ("poisson_gaussian", ONE.given)  # type: ignore[misc]
    for way in ("forward", "backward"):
        assert all(meet(one.delta_of(way, eps), ONE.delta_of(way, eps)) for eps in (F(0), F(1, 100), F(1)))
    assert meet(THREE.reversed.delta_of("forward", F(1)), THREE.delta_of("backward", F(1)))
    assert ONE.reversed.for_group(3) == THREE.reversed


def test_no_gradients_of_two_rows_do_better_than_those_that_agree() -> None:
    """Two rows of a person in the plane, on a rough grid: whatever the angle, no half-plane and no set does better."""
    rate, pair = 0.3, dp.Loss("gaussian", sigma=1).sampled(poisson="0.3").for_group(2)
    axis = np.linspace(-7, 9, 401)
    a, b = np.meshgrid(axis, axis)

    def at(x: float, y: float) -> Any:
        return np.exp(-((a - x) ** 2 + (b - y) ** 2) / 2) * (axis[1] - axis[0]) ** 2 / (2 * math.pi)

    for angle in (0.0, 1.0, 2.0, math.pi):
        x, y = math.cos(angle), math.sin(angle)
        mixed = (1 - rate) ** 2 * at(0, 0) + rate * (1 - rate) * (at(1, 0) + at(x, y)) + rate**2 * at(1 + x, y)
        for eps in (0.0, 0.5, 1.5):
            for way, first, second in (("forward", mixed, at(0, 0)), ("backward", at(0, 0), mixed)):
                assert hockey(first, second, eps) <= float(pair.delta_of(way, F(eps)).hi) + 1e-4


def test_no_row_in_place_of_another_does_better_than_its_opposite() -> None:
    rate, pair = 0.3, dp.Loss("gaussian", sigma=1).sampled(poisson="0.3", neighbours="replace-one")
    axis = np.linspace(-8, 8, 401)
    a, b = np.meshgrid(axis, axis)

    def at(x: float, y: float) -> Any:
        return np.exp(-((a - x) ** 2 + (b - y) ** 2) / 2) * (axis[1] - axis[0]) ** 2 / (2 * math.pi)

    first = (1 - rate) * at(0, 0) + rate * at(1, 0)
    for x, y in ((0, 0), (0.5, 0), (0, 1), (-0.6, 0.8), (-1, 0)):
        second = (1 - rate) * at(0, 0) + rate * at(x, y)
        for eps in (0.0, 0.3, 1.0):
            assert hockey(first, second, eps) <= float(pair.delta(F(eps)).hi) + 1e-4
            assert hockey(second, first, eps) <= float(pair.delta(F(eps)).hi) + 1e-4


@pytest.mark.slow
def test_they_compose_and_are_near_what_others_publish() -> None:
    """A row replaced, q .01, sigma 1, 1,000 steps at 1e-5: 2.844 by dp-accounting."""
    one = dp.Loss("gaussian", sigma=1).sampled(poisson="0.01", neighbours="replace-one")
    found = dp.compose((one, 1000)).bracket(delta="1e-5", accuracy="1e-2")
    assert found.lower <= F("2.844") <= found.upper
    assert found.upper - found.lower < F("0.03")
    three = dp.dpsgd(noise_multiplier=1, rate="0.01", steps=100).for_group(3).bracket(delta="1e-5", accuracy="3e-2")
    assert 1 < three.lower <= three.upper < 4


def test_chances_are_only_moved_to_greater_shifts(monkeypatch: pytest.MonkeyPatch) -> None:
    rate, k = F(355, 1130001), 40
    made = mixtures.binomial(F(1), rate, k)
    exact = [math.comb(k, j) * rate**j * (1 - rate) ** (k - j) for j in range(k + 1)]
    assert sum(chance for _, chance in made) == 1
    assert made[0][1] != exact[0]
    for j in range(k + 1):
        assert sum((chance for _, chance in made[j:]), F(0)) >= sum(exact[j:], F(0))
    monkeypatch.setattr(mixtures.math, "floor", math.ceil)
    wrong = mixtures.binomial(F(1), rate, k)
    assert any(sum((chance for _, chance in wrong[j:]), F(0)) < sum(exact[j:], F(0)) for j in range(k + 1))


def test_thresholds_are_held_by_their_balls() -> None:
    from dpcurator.numbers.arb import ball, precision

    noise = mixtures.Noise(F(1), [(F(0), F(9, 10)), (F(1), F(1, 10))], [(F(0), F(1))])
    for x in (F(-1, 10), F(0), F(1, 1000), F(3)):
        with precision(256):
            exact = ((ball(x).exp() - ball(F(9, 10))) * 10).log() + ball(F(1, 2))
            assert noise.threshold(x, 128).overlaps(exact)
    assert noise.beyond(F(-1, 5)) == -1  # ln .9 is the least loss
    assert noise.beyond(F(-1, 10)) == 0
    assert mixtures.Noise(F(1), [(F(0), F(1))], noise.first).beyond(F(1, 5)) == 1


@pytest.mark.parametrize("given", [
    {"variance": 1, "shift0": 0, "chance0": 1, "other_shift0": 0},
    {"variance": 1, "shift0": 0, "chance0": "1/2", "other_shift0": 0, "other_chance0": 1},
    {"variance": 1, "shift0": 1, "shift1": 0, "chance0": "1/2", "chance1": "1/2", "other_shift0": 0,
     "other_chance0": 1},
])  # fmt: skip
def test_what_is_no_mixture_is_refused(given: dict[str, Any]) -> None:
    with pytest.raises(dp.Refusal):
        dp.Loss("gaussian_mixture", given)


def test_what_is_not_known_is_refused_with_a_cure() -> None:
    with pytest.raises(dp.Refusal, match="together they say nothing"):
        dp.compose(REPLACED, ONE)
    with pytest.raises(dp.Refusal, match="nothing is known"):
        REPLACED.for_group(2)
    with pytest.raises(dp.Refusal, match="Gaussian"):
        dp.Loss("laplace", scale=1, shift=1).sampled(poisson="0.1", neighbours="replace-one")


def test_losses_too_flat_for_doubles_are_refused_and_no_accident() -> None:
    one = dp.Loss("gaussian", sigma=1)
    for loss in (one.sampled(poisson="1e-20", neighbours="replace-one"), one.sampled(poisson="1e-20").for_group(2)):
        with pytest.raises(dp.Refusal, match="larger rate"):
            dp.compose((loss, 2)).bracket(epsilon=1)
