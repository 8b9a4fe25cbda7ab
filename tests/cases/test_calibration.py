"""Cases of calibration, accuracy and special values that the mechanisms on real values answer (README.md here)."""

from __future__ import annotations

import itertools
import math
import time
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import dpcurator as dp

F = Fraction


@pytest.mark.parametrize(
    ("eps", "delta", "least"),
    [(10, 1e-5, 0.49988862), (20, 1e-5, 0.29004142), (50, 1e-5, 0.14976061), (4, 1e-6, 1.1935186)],
)
def test_cal_01_no_textbook_scale_where_epsilon_exceeds_1(eps: int, delta: float, least: float) -> None:
    for sigma in (
        dp.gaussian_sigma(sensitivity=1, epsilon=eps, delta=delta),
        dp.Gaussian(sensitivity=1, epsilon=eps, delta=delta).sigma,
    ):
        assert least * (1 - 1e-6) <= float(sigma) <= least * 1.01
    with pytest.raises(dp.Refusal, match="below 1"):
        dp.textbook_sigma(sensitivity=1, epsilon=eps, delta=delta)
    textbook = math.sqrt(2 * math.log(1.25 / delta)) / eps
    true = {10: 2.265e-5, 20: 1.53e-3, 50: 0.586, 4: 1e-6}[eps]
    found = float(dp.gaussian_delta(sigma=textbook, sensitivity=1, epsilon=eps).hi)
    assert found == pytest.approx(true, rel=1e-2) if eps > 4 else found < true


def test_cal_03_epsilon_0_returns_and_at_once() -> None:
    for make in (
        lambda: dp.gaussian_sigma(sensitivity=1, epsilon=0, delta=1e-6),
        lambda: dp.Gaussian(sensitivity=1, epsilon=0, delta=1e-6).sigma,
    ):
        started = time.process_time()
        assert float(make()) == pytest.approx(398942.28, rel=1e-6)
        assert time.process_time() - started < 1


@pytest.mark.parametrize(
    ("eps", "sigma"), [("0.1", 36.3046904), ("1", 4.22467889), ("10", 0.541086832), ("50", 0.15659287)]
)
def test_cal_05_there_and_back_and_no_swap(eps: str, sigma: float) -> None:
    found = dp.gaussian_sigma(sensitivity=1, epsilon=eps, delta=1e-6)
    assert float(found) == pytest.approx(sigma, rel=1e-6)
    back = dp.gaussian_delta(sigma=found, sensitivity=1, epsilon=eps)
    assert float(back.lo) >= 1e-6 * (1 - 1e-6)
    assert back.hi <= F(1, 10**6)
    assert dp.gaussian_epsilon(sigma=found, sensitivity=1, delta=1e-6) == pytest.approx(F(eps), rel=1e-9)
    with pytest.raises(TypeError):
        dp.gaussian_delta(found, eps, 1)  # type: ignore[misc]
    with pytest.raises(dp.Refusal, match="by name"):
        dp.Gaussian(1, eps, 1e-6)  # type: ignore[misc]


def test_cal_05_the_swapped_call_is_what_it_is() -> None:
    swapped = dp.gaussian_delta(sigma=1, sensitivity=1, epsilon="4.22467889")
    assert float(swapped.lo) == pytest.approx(1.90128e-5, rel=1e-5)


def test_acc_01_the_discrete_gaussian_bar_is_the_least_one_too() -> None:
    """P(|Z| >= 2) = .1 at sigma .956607110574; the bar m is the accuracy less 1."""
    at = F("0.956607110574")
    for scale, accuracy in ((at * (1 - F(1, 10**9)), 2), (at * (1 + F(1, 10**9)), 3)):
        one = dp.Gaussian.with_sigma(sigma=scale, sensitivity=1, grid=1)
        assert one.error("0.1") + 1 == accuracy
        assert one.sigma == scale


def test_acc_01_and_laplace_on_whole_numbers() -> None:
    at = F("0.721347520444")
    for scale, accuracy in ((at * (1 - F(1, 10**9)), 2), (at * (1 + F(1, 10**9)), 3)):
        assert dp.Laplace.with_scale(scale=scale, sensitivity=1, grid=1).error("0.1") + 1 == accuracy


def test_acc_03_half_widths_follow_the_level() -> None:
    delta = F("3.16227766e-5")
    gaussian = dp.Gaussian(sensitivity=1, epsilon=1, delta=delta)
    laplace = dp.Laplace(sensitivity=1, epsilon=1)
    assert float(gaussian.sigma) == pytest.approx(3.46536066, rel=1e-6)
    for one, halves in (
        (gaussian, [2.3373502, 6.7919821, 8.9261775]),
        (laplace, [0.69314718, 2.9957323, 4.6051702]),
    ):
        found = [float(one.error(alpha)) for alpha in ("0.5", "0.05", "0.01")]
        assert found == pytest.approx(halves, rel=1e-5)
        assert found == sorted(set(found))


def test_com_14_less_noise_costs_more() -> None:
    spent = {
        sigma: dp.Gaussian.with_sigma(sigma=sigma, sensitivity="0.004").epsilon_at(1e-6) for sigma in ("0.01", "1")
    }
    assert float(spent["0.01"]) == pytest.approx(1.76564817, rel=1e-6)
    assert float(spent["1"]) == pytest.approx(0.0124804063, rel=1e-4)
    assert float(dp.gaussian_epsilon(sigma="0.01", sensitivity="0.004", delta=1e-6)) == pytest.approx(1.76564817)
    grid = [F(10**i * j, 1000) for i in range(4) for j in (1, 2, 4, 7)]
    prices = [dp.gaussian_epsilon(sigma=sigma, sensitivity="0.004", delta=1e-6) for sigma in grid]
    assert all(later < earlier for earlier, later in itertools.pairwise(prices))


@pytest.mark.parametrize("mechanism", [dp.Laplace(sensitivity=1, epsilon=1), dp.Gaussian(sensitivity=1, rho=1)])
@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
def test_spv_03_nan_and_infinities_are_refused_unless_declared(mechanism: Any, value: float) -> None:
    missing = "nan=" if math.isnan(value) else "bounds="
    for given in (value, [0.0, value], np.array([value]), np.float32(value)):
        with pytest.raises(dp.Refusal, match=missing):
            mechanism.release(given)
    declared = type(mechanism)(
        sensitivity=100, **({"epsilon": 1000} if isinstance(mechanism, dp.Laplace) else {"rho": 10**8}),
        bounds=(0, 100), nan=50, coordinates=1,
    )
    where = 50 if math.isnan(value) else 100 if value > 0 else 0
    assert abs(declared.release(value) - where) < 10
    assert np.abs(declared.release([value, 7.0]) - [where, 7]).max() < 10


def test_sen_11_a_private_variance_stays_within_what_a_variance_can_be() -> None:
    """Popoviciu: at most (U - L)**2 / 4 = 25, whatever the noise. Replacing one of n = 10 moves it by at most 9.

    That no answer of 2,000 at scale 90 is below 0, or above 25, has a chance under 1e-300.
    """
    low, high = F(0), F(10)
    truth = F(np.var(np.arange(1, 11)))
    assert truth == F("8.25")
    answers = dp.Laplace(sensitivity=9, epsilon="0.1", coordinates=1).release([truth] * 2000)
    assert answers.min() < 0
    assert answers.max() > 25
    clamped = dp.clamp(answers, 0, (high - low) ** 2 / 4)
    assert clamped.min() == 0
    assert clamped.max() == 25
    assert np.abs(clamped - 8.25).mean() < np.abs(answers - 8.25).mean()


@pytest.mark.parametrize(
    "make",
    [
        lambda: dp.Gaussian.with_sigma(sigma=0, sensitivity=1),
        lambda: dp.Laplace.with_scale(scale=0, sensitivity=1),
        lambda: dp.DiscreteLaplace(0),
        lambda: dp.DiscreteGaussian(0),
        lambda: dp.Gaussian(sensitivity=1, rho=0),
        lambda: dp.Laplace(sensitivity=1, epsilon=0),
    ],
)
def test_hunt_43_no_noise_at_all_is_refused_by_the_name_of_its_parameter(make: Any) -> None:
    with pytest.raises(dp.Refusal, match=r"^(sigma|scale|variance|rho|epsilon) must be above 0, not 0"):
        make()


def test_hunt_43_a_budget_of_nothing_is_a_budget() -> None:
    empty = dp.ZcdpFilter(rho=0, delta="1e-6")
    with pytest.raises(dp.OverBudget):
        empty.spend(dp.Loss("gaussian", {"variance": 1, "shift": 1}))


def test_hunt_53_a_count_a_share_and_a_histogram() -> None:
    """47 of 12,000: scale 10 at .1 and 1 at 1; 1/12,000 of it for the share, as large beside it; one bucket or two."""
    assert dp.DiscreteLaplace.spending("0.1", sensitivity=1).scale == 10
    assert dp.DiscreteLaplace.spending(1, sensitivity=1).scale == 1
    share = dp.Laplace(sensitivity=F(1, 12_000), epsilon="0.1")
    assert float(share.scale) == pytest.approx(0.000833333, abs=1e-6)
    cells = dp.Bounded.histogram(["a", "b", "c", "d", "e"])
    assert [dp.sensitivity_of(cells, neighbours=how).l1 for how in ("add-remove", "replace-one")] == [1, 2]
