"""The Gaussian mechanism on real values: priced by the discrete law, by enumeration and against the exact curve."""

from __future__ import annotations

import itertools
import math
import pickle
import time
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from laws_of_draws import FALSE_ALARM, chi_square_chance

import dpcurator as dp
from dpcurator.entropy import SystemEntropy
from dpcurator.errors import Refusal
from dpcurator.mechanisms.noise.gaussian import EXAMPLES
from dpcurator.numbers import Enclosure
from dpcurator.privacy.zcdp import delta_of

F = Fraction


def hockey_stick(p: dict[Any, float], q: dict[Any, float], eps: float) -> float:
    return sum(max(p[k] - math.exp(eps) * q.get(k, 0.0), 0.0) for k in p)


def law(one: dp.Gaussian, value: Fraction, reach: int = 40) -> dict[int, float]:
    return {k: float(one.pmf(k * one.step, value).lo) for k in range(-reach, reach + 1)}


@pytest.mark.parametrize("sensitivity", ["1", "5/4", "2"])
@pytest.mark.parametrize(("eps", "delta"), [("0", "0.1"), ("1", "0.01"), ("5", "0.001")])
def test_delta_between_all_neighbours_by_enumeration(sensitivity: str, eps: str, delta: str) -> None:
    one = dp.Gaussian(sensitivity=sensitivity, epsilon=eps, delta=delta, grid=1)
    worst = 0.0
    for quarter in range(4):
        for apart in range(int(4 * F(sensitivity)) + 1):
            x, y = law(one, F(quarter, 4)), law(one, F(quarter + apart, 4))
            worst = max(worst, hockey_stick(x, y, float(F(eps))), hockey_stick(y, x, float(F(eps))))
    assert worst <= float(F(delta)) * (1 + 1e-9)
    assert worst > float(F(delta)) * 0.999  # the variance is the least
    assert one.delta_at(eps).surely_at_most(F(delta))
    assert math.isclose(float(one.delta_at(eps).lo), worst, rel_tol=1e-5)  # the sum stops at 40 steps


def test_a_sensitivity_that_is_not_rounded_up_would_break_the_promise() -> None:
    """The negative control: calibrated for one step, while 5/4 of a step can move the rounded value by two."""
    careless = dp.Gaussian(sensitivity=1, epsilon=1, delta="0.01", grid=1)
    assert hockey_stick(law(careless, F(1, 4)), law(careless, F(3, 2)), 1) > 0.05


@pytest.mark.parametrize("coordinates", [2, 3])
def test_vectors_by_enumeration(coordinates: int) -> None:
    """All moves of length at most 1 over quarters, of each coordinate between 0 and 1: rho and its delta hold."""
    one = dp.Gaussian(sensitivity=1, rho="0.2", grid=1, coordinates=coordinates)
    squares = set()
    for moves in itertools.product(range(5), repeat=coordinates):
        if sum(m * m for m in moves) <= 16:
            squares.add(sum(max((o + m) // 4 for o in range(4)) ** 2 for m in moves))
    assert max(squares) <= one.loss["l2_squared"]
    assert max(squares) / (2 * one.noise.variance) <= one.loss.rho() == F("0.2")
    if coordinates == 2:
        p, q = law(one, F(0), 25), law(one, F(1), 25)
        joint = {(a, b): p[a] * p[b] for a in p for b in p}
        moved = {(a, b): q[a] * q[b] for a in p for b in p}
        for eps in (0.0, 0.5, 1.0):
            assert hockey_stick(joint, moved, eps) <= float(one.delta_at(F(eps)).hi)


@pytest.mark.parametrize(
    ("eps", "delta"),
    [(0, "1e-6"), ("0.1", "1e-6"), (1, "1e-6"), (10, "1e-5"), (50, "1e-6"), (1, "1e-300"), (100, "0.5"), (10000, 1e-9)],
)
def test_on_a_fine_grid_it_is_as_good_as_the_exact_curve(eps: Any, delta: Any) -> None:
    started = time.process_time()
    one = dp.Gaussian(sensitivity="0.3", epsilon=eps, delta=delta)
    assert one.delta_at(eps).surely_at_most(F(str(delta)))
    curve = dp.gaussian_sigma(sensitivity="0.3", epsilon=eps, delta=delta)
    assert abs(one.sigma / curve - 1) < F(1, 10**8)
    assert time.process_time() - started < 3


def test_the_curve_is_not_trusted_where_it_proposes(monkeypatch: pytest.MonkeyPatch) -> None:
    """Given a curve that is 1 % too low, what it proposes fails the discrete law's proof, and the search is made."""
    monkeypatch.setattr(
        "dpcurator.mechanisms.noise.gaussian.gaussian_sigma", lambda **of: dp.gaussian_sigma(**of) * F(99, 100)
    )
    one = dp.Gaussian(sensitivity=1, epsilon=1, delta="1e-6")
    assert one.delta_at(1).surely_at_most(F(1, 10**6))
    assert abs(one.sigma / dp.gaussian_sigma(sensitivity=1, epsilon=1, delta="1e-6") - 1) < F(1, 10**8)


def test_on_a_coarse_grid_the_curve_would_be_wrong() -> None:
    """semantics 5.3, at eps 10: the curve's sigma, in whole steps, has another delta than the curve says."""
    least = dp.Gaussian(sensitivity=1, epsilon=10, delta="1e-5", grid=1)
    assert least.delta_at(10).surely_at_most(F(1, 10**5))
    sigmas = [F(i, 100) for i in range(45, 60)]
    found = [dp.Gaussian.with_sigma(sigma=sigma, sensitivity=1, grid=1).delta_at(10) for sigma in sigmas]
    curve = [dp.gaussian_delta(sigma=sigma, sensitivity=1, epsilon=10) for sigma in sigmas]
    assert any(one.surely_above(2 * other.hi) for one, other in zip(found, curve, strict=True))
    assert any(one.surely_below(other.lo / 2) for one, other in zip(found, curve, strict=True))


def test_with_sigma_is_that_sigma_and_says_its_rho() -> None:
    one = dp.Gaussian.with_sigma(sigma="0.7", sensitivity=1)
    assert one.sigma == F("0.7")
    assert one.rho == one.loss.rho() == 1 / (2 * F("0.49"))
    assert dp.Gaussian(sensitivity=1, rho=one.rho, grid=one.grid) == one
    assert math.isclose(
        float(one.delta_at(1).lo), float(dp.gaussian_delta(sigma="0.7", sensitivity=1, epsilon=1).lo), rel_tol=1e-9
    )
    several = dp.Gaussian.with_sigma(sigma=3, sensitivity=2, coordinates=10)
    assert several.sigma == 3
    assert 0 < several.loss.rho() / (F(4) / 18) - 1 < F(1, 10**6)
    assert several.delta_at(1).hi == delta_of(several.loss.rho(), F(1))


@pytest.mark.parametrize("one", EXAMPLES)
def test_sigma_is_the_root_of_the_variance(one: dp.Gaussian) -> None:
    exact = one.noise.variance * one.step**2
    assert exact <= one.sigma**2 <= exact * (1 + F(1, 2**60))


@pytest.mark.parametrize("delta", ["1e-3", "1e-9"])
@pytest.mark.parametrize("coordinates", [1, 4])
def test_epsilon_at_holds_and_is_the_least(coordinates: int, delta: str) -> None:
    one = dp.Gaussian.with_sigma(sigma=2, sensitivity=1, coordinates=coordinates)
    eps = one.epsilon_at(delta)
    assert one.delta_at(eps).surely_at_most(F(delta))
    less = eps * (1 - F(1, 10**10))
    assert not one.delta_at(less).surely_at_most(F(delta))
    assert eps >= dp.gaussian_epsilon(sigma=2, sensitivity=1, delta=delta) * (1 - F(1, 10**6))
    assert dp.Gaussian.with_sigma(sigma=10**6, sensitivity=1).epsilon_at("0.5") == 0


def test_error_bars_come_from_the_exact_law() -> None:
    one = dp.Gaussian(sensitivity=1, epsilon=1, delta="1e-6")
    for beta, z in (("0.5", 0.67448975), ("0.05", 1.95996398), ("0.01", 2.5758293)):
        assert math.isclose(float(one.error(beta)), z * float(one.sigma), rel_tol=1e-6)
        assert one.tail(one.error(beta)).surely_at_most(F(beta))
        assert one.tail(one.error(beta) - one.step).surely_above(F(beta))


def test_mass_sums_to_one() -> None:
    one = dp.Gaussian(sensitivity="0.3", rho=1, grid="0.1")
    total = sum((one.pmf(F(k, 10), F(1, 4)) for k in range(-200, 200)), Enclosure.exactly(0))
    assert abs(1 - total.lo) < F(1, 2**60)
    assert one.pmf("0.05") == Enclosure.exactly(0)
    assert one.pmf(0.3) == one.noise.pmf(3)
    with pytest.raises(Refusal, match="vector"):
        one.pmf(0, [1.0, 2.0])


def test_releases_follow_the_pmf() -> None:
    """Chi-square, false alarm 1e-9; a sigma a twentieth off must fail."""
    one, off = (dp.Gaussian.with_sigma(sigma=sigma, sensitivity=1, grid="0.5", coordinates=1) for sigma in (3, "3.15"))
    reach = 15
    draws = one.release(np.full(400_000, 7.3), SystemEntropy())
    steps = np.rint(draws * 2).astype(int) - 15
    for model, good in ((one, True), (off, False)):
        cells = [float(model.pmf(F(k, 2)).lo) for k in range(-reach, reach + 1)]
        beyond = (1 - sum(cells)) / 2
        counts = np.bincount(np.clip(steps, -reach - 1, reach + 1) + reach + 1, minlength=2 * reach + 3)
        assert (chi_square_chance(counts, [beyond, *cells, beyond]) > FALSE_ALARM) is good


def test_values_and_vectors() -> None:
    one = EXAMPLES[0]
    assert isinstance(one.release(2.5), float)
    assert isinstance(one.release_exact(10**400), Fraction)
    several = dp.Gaussian(sensitivity=1, epsilon=1, delta="1e-6", coordinates=1)
    assert several.release([1.5, 10**30, F(1, 3)]).shape == (3,)
    assert one.sample(5).dtype == np.float64
    assert abs(one.release(10**300) / 1e300 - 1) < 1e-15
    bounded = EXAMPLES[3]
    assert bounded.release([float("nan"), float("inf"), -float("inf"), 3.0]).shape == (4,)


def test_it_is_data() -> None:
    one = dp.Gaussian(sensitivity=1, epsilon=1, delta=1e-6)
    assert one == pickle.loads(pickle.dumps(one)) == dp.Gaussian(sensitivity="1", epsilon=F(1), delta="1e-6")
    assert one.rho is None
    assert one.loss.family == "discrete_gaussian"
    assert EXAMPLES[2].loss.family == "discrete_gaussian_vector"


@pytest.mark.parametrize(
    "price",
    [{}, {"epsilon": 1}, {"delta": 1e-6}, {"rho": 1, "epsilon": 1, "delta": 1e-6}, {"rho": 1, "delta": 1e-6}],
)
def test_one_price_and_a_whole_one(price: dict[str, Any]) -> None:
    with pytest.raises(Refusal, match="either epsilon and delta, or rho"):
        dp.Gaussian(sensitivity=1, **price)


@pytest.mark.parametrize("bad", [-1, float("nan"), True, "x", None])
def test_bad_arguments_are_refused(bad: Any) -> None:
    one = EXAMPLES[0]
    for call in (one.tail, one.error, one.delta_at, one.epsilon_at):
        with pytest.raises(Refusal):
            call(bad)
    with pytest.raises(Refusal):
        dp.Gaussian(sensitivity=1, epsilon=20_000, delta=1e-6)


@pytest.mark.parametrize("coordinates", [2, 3, 50])
def test_where_several_coordinates_move_the_noise_is_that_of_the_greatest_rho(coordinates):
    """The law of one coordinate says nothing of several at the same length: its delta is another."""
    from dpcurator.mechanisms.grid import l2_squared_steps
    from dpcurator.privacy import zcdp

    made = dp.Gaussian(sensitivity=1, epsilon=1, delta="1e-6", coordinates=coordinates, grid="1/4")
    rho = zcdp.greatest_rho(Fraction(1), Fraction(1, 10**6))
    squared = l2_squared_steps(Fraction(1), Fraction(1, 4), coordinates)
    assert squared >= 16
    assert made.noise == dp.DiscreteGaussian.spending_rho(rho, l2_squared=squared)
