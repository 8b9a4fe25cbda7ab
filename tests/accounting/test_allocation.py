"""Random allocation: two steps by integration, many by draws; masses or spreads turned over would be found."""

from __future__ import annotations

import math
from fractions import Fraction as F

import numpy as np
import pytest

import dpcurator as dp
from dpcurator.accounting import allocation


def weights(mu: float, z: np.ndarray) -> np.ndarray:
    return np.exp(mu * z - mu * mu / 2)


@pytest.fixture(autouse=True)
def short(monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> None:
    """Rougher grids, which must hold as well; the slow tests take the real ones."""
    allocation.allocated.cache_clear()
    if "slow" not in request.keywords:
        monkeypatch.setattr(allocation, "_MOST", 1 << 10)
        monkeypatch.setattr(allocation, "_KEPT", 300)
        monkeypatch.setattr(allocation, "_LOST", F(1, 50))
        monkeypatch.setattr(allocation, "_FARS", (6.4,))


def integrals(eps: float) -> tuple[float, float]:
    """Of two steps at noise 1: E (W - e**eps)+ and E (1 - e**eps W)+."""
    z = np.linspace(-9, 10, 1201)
    chance = np.exp(-z * z / 2) * (z[1] - z[0]) / math.sqrt(2 * math.pi)
    w = weights(1.0, z)
    both = (w[:, None] + w[None, :]) / 2
    grown = math.exp(eps)
    first = float(chance @ np.maximum(both - grown, 0) @ chance)
    return first, float(chance @ np.maximum(1 - grown * both, 0) @ chance)


def check_two(slack: float) -> None:
    loss = allocation.allocated(F(1), 2)
    for eps in (F(0), F(1, 2), F(3, 2)):
        removing, adding = integrals(float(eps))
        for way, right in (("forward", removing), ("backward", adding)):
            found = float(loss.delta_of(way, eps).hi)
            assert right * (1 - 1e-5) - 1e-7 <= found <= right * (1 + slack) + slack / 10


def test_two_steps_are_never_below_the_integral_and_near_it() -> None:
    check_two(0.2)


@pytest.mark.slow
def test_on_its_own_grid_two_steps_are_nearer() -> None:
    check_two(0.01)
    assert allocation.allocated(F(1, 2), 2).family == "gaussian"  # W = 0 has a chance on so rough a grid


@pytest.mark.slow
@pytest.mark.parametrize(("noise", "steps"), [("1", 50), ("2", 200), ("0.7", 100)])
def test_many_steps_are_never_below_draws(noise: str, steps: int) -> None:
    """Means of 400,000 draws less 6.5 of their standard errors: a false alarm has a chance of 1e-10 each."""
    loss, rng, mu = allocation.allocated(F(noise), steps), np.random.default_rng(5), 1 / float(noise)
    w = np.concatenate([weights(mu, rng.standard_normal((20_000, steps))).mean(axis=1) for _ in range(20)])
    assert loss.family == "allocated_pass"
    for eps in (0.0, 0.1, 0.4):
        for way, worth in (("forward", np.maximum(w - math.exp(eps), 0)),
                           ("backward", np.maximum(1 - math.exp(eps) * w, 0))):  # fmt: skip
            error = float(worth.std()) / math.sqrt(len(w))
            found = float(loss.delta_of(way, F(eps)).hi)
            assert worth.mean() - 6.5 * error <= found
            assert found <= worth.mean() * 1.05 + 6.5 * error + 1e-6


def test_a_step_keeps_its_masses_and_a_spread_turned_over_is_found() -> None:
    step, masses = allocation._one_step(F(1), adding=False)
    unit = 2**allocation._BITS
    total, mean = F(sum(masses), unit), sum(i * mass for i, mass in enumerate(masses)) * step / unit
    assert 1 - F(1, 10**9) < total <= 1
    assert 1 - F(1, 10**9) < mean <= 1
    row = allocation.power(allocation.Row.of(0, masses, allocation._BITS), 2, 1e-20)
    fewer = allocation._fewer(row)
    before = sum((row.start + i) * mass for i, mass in enumerate(row.ints()))
    assert before - sum(place * mass for place, mass in fewer.items()) < F(unit, 10**9)
    assert sum(fewer.values()) <= row.total()
    lumped = dict.fromkeys(fewer, 0)  # to the point below, as no one-sided bound may
    places = sorted(fewer)
    for i, mass in enumerate(row.ints(), start=row.start):
        lumped[places[max(np.searchsorted(places, i, side="right") - 1, 0)]] += mass
    wrong = allocation._losses(lumped, step / 2, adding=False)
    right = allocation._losses(fewer, step / 2, adding=False)
    assert 1 - sum(wrong.values()) > 1000 * (1 - sum(right.values())) > 0
    worth = [sum(m * F(max(1 - math.exp(0.5 - x), 0)) for x, m in found.items()) for found in (wrong, right)]
    assert worth[0] < worth[1]


def test_losses_are_rounded_up_either_way() -> None:
    for adding in (False, True):
        found = allocation._losses({3: 2**100, 7: 2**101}, F(1, 5), adding=adding)
        exact = sorted(math.log(x / 5) * (-1 if adding else 1) for x in (3, 7))
        for loss, right in zip(sorted(found), exact, strict=True):
            assert 0 <= float(loss) - right < 1e-15 or float(loss) == pytest.approx(right, abs=1e-15)
        assert all(loss.denominator <= allocation._UNIT for loss in found)


def test_a_pass_of_one_step_or_of_little_noise_is_one_release() -> None:
    plain = dp.Loss("gaussian", sigma=1)
    assert allocation.allocated(F(1), 1) == plain
    assert allocation.allocated(F(1, 5), 3) == dp.Loss("gaussian", {"variance": F(1, 25), "shift": 1})


def test_a_run_of_allocated_rows_is_its_passes() -> None:
    run = dp.dpsgd(noise_multiplier=1, batch=30, rows=100, epochs=3, sampling="allocated")
    assert run.parts == ((allocation.allocated(F(1), 4), 3),)  # four steps a pass, of 25 rows in the mean
    found = run.bracket(delta="1e-3", accuracy="5e-2")
    sums = dp.Loss("gaussian", {"variance": F(4, 3), "shift": 1})  # three passes of four steps, each added up
    assert found.lower == pytest.approx(float(sums.epsilon("1e-3")), rel=1e-6)
    shuffled = dp.dpsgd(noise_multiplier=1, batch=30, rows=100, epochs=3, sampling="shuffled")
    assert found.upper < shuffled.epsilon(delta="1e-3")


def test_what_is_attained_of_a_pass_is_below_its_integral_and_not_far() -> None:
    """One pass of two steps at noise 1: its sum is a Gaussian release of noise sqrt 2."""
    loss = allocation.allocated(F(1), 2)
    for eps in (F(0), F(1, 2)):
        right, found = max(integrals(float(eps))), dp.compose(loss).bracket(epsilon=eps)
        assert 0.6 * right < found.lower < right
        assert found.lower == pytest.approx(float(dp.Loss("gaussian", variance=2, shift=1).delta(eps).lo), rel=1e-9)
    again = dp.Composition.from_json(dp.compose((loss, 2)).as_json())
    assert again.parts == ((loss, 2),)
    assert loss.reversed.reversed == loss
