"""Renyi divergences of Gaussian noise on Poisson samples: against sums in doubles, and against the whole orders."""

from __future__ import annotations

import math
from fractions import Fraction as F

import numpy as np
import pytest

import dpcurator as dp

SETS = [("1.1", "256/60000"), ("0.6", "0.01"), ("4", "0.01"), ("0.3", "0.9"), ("20", "0.0001"), ("1", "0.5")]
ORDERS = ["1.0001", "1.25", "1.5", "2.5", "3.75", "10.1", "31.5"]


def sampled(sigma: str, rate: str) -> dp.Loss:
    return dp.Loss("gaussian", sigma=sigma).sampled(poisson=F(rate))


def summed(sigma: str, rate: str, order: str) -> float:
    """The same integral by a fine sum in doubles, with the largest term taken out."""
    mu, q, a = 1 / float(F(sigma)), float(F(rate)), float(F(order))
    x = np.linspace(-12, a * mu + 40, 400_001)
    log_base = np.logaddexp(math.log1p(-q), math.log(q) + mu * x - mu * mu / 2)
    terms = a * log_base - x * x / 2
    if a * mu > 3:
        top = terms.max()
        return (top + math.log(np.exp(terms - top).sum() * (x[1] - x[0]) / math.sqrt(2 * math.pi))) / (a - 1)
    base = np.expm1(log_base)
    grown = np.expm1(a * log_base) - a * base
    return math.log1p((grown * np.exp(-x * x / 2)).sum() * (x[1] - x[0]) / math.sqrt(2 * math.pi)) / (a - 1)


@pytest.mark.parametrize(("sigma", "rate"), SETS)
@pytest.mark.parametrize("order", ORDERS)
def test_every_order_is_the_integral(sigma: str, rate: str, order: str) -> None:
    found = sampled(sigma, rate).renyi(order)
    assert found.lo <= found.hi
    assert found.width <= found.hi / 10**12
    assert float(found.hi) == pytest.approx(summed(sigma, rate, order), rel=1e-6)


@pytest.mark.parametrize(("sigma", "rate"), SETS)
def test_beside_a_whole_order_it_is_what_it_is_there(sigma: str, rate: str) -> None:
    """Two formulas, the binomial sum and the integral, meet."""
    one, near = sampled(sigma, rate), F(1, 10**9)
    for n in (2, 3, 7, 20):
        there = one.renyi(n)
        assert one.renyi(n - near).lo < there.hi
        assert there.lo < one.renyi(n + near).hi
        assert float(one.renyi(n + near).hi / there.hi) == pytest.approx(1, abs=1e-6)


@pytest.mark.parametrize(
    ("sigma", "rate", "order"),
    [("0.02", "0.001", "5.5"), ("1", "0.01", "100.5"), ("1", "0.1", 600), ("9", "0.3", 10**15)],
)
def test_elsewhere_it_is_between_bounds_that_hold(sigma: str, rate: str, order: object) -> None:
    one, a = sampled(sigma, rate), F(str(order))
    found = one.renyi(a)
    assert found.lo <= found.hi <= dp.Loss("gaussian", sigma=sigma).renyi(a).hi
    assert found.hi >= one.renyi(min(int(a), 512)).lo
    assert found.lo <= one.renyi(min(int(a) + 1, 512)).hi or a > 512


def test_no_noise_to_speak_of_and_none_that_matters() -> None:
    assert dp.Loss("gaussian", {"variance": 1, "shift": 0}).sampled(poisson="0.1").renyi("2.5").hi == 0
    assert 0 < sampled("100000", "0.00001").renyi("1.5").hi < F("1e-19")


@pytest.mark.parametrize("order", ["3/2", "2", "7/2", "8", "20"])
def test_laplace_on_a_sample_is_the_integral_both_ways(order: str) -> None:
    """By doubles on a fine grid of outcomes, for noise of scale 1 on a shift of 1."""
    one, a, q = dp.Loss("laplace", scale=1, shift=1).sampled(poisson="1/20"), float(F(order)), 0.05
    x = np.linspace(-40, 41, 81_001)
    h = x[1] - x[0]
    base, moved = np.exp(-np.abs(x)) / 2 * h, np.exp(-np.abs(x - 1)) / 2 * h
    mixed = (1 - q) * base + q * moved
    removing = math.log(float((base * (mixed / base) ** a).sum())) / (a - 1)
    adding = math.log(float((mixed * (base / mixed) ** a).sum())) / (a - 1)
    found = one.renyi(order)
    assert adding <= removing * (1 + 1e-9)
    assert float(found.lo) * (1 - 2e-4) <= removing <= float(found.hi) * (1 + 2e-4)
    assert found.hi <= dp.Loss("laplace", scale=1, shift=1).renyi(order).hi
    if F(order).denominator == 1:
        assert float(found.hi) == pytest.approx(removing, rel=2e-4)
        assert found.width <= found.hi / 2**50


def test_divergences_of_sampled_noise_hold_beyond_all_sums() -> None:
    one = dp.Loss("discrete_laplace", scale=2, shift=1).sampled(poisson="1/20")
    whole = dp.Loss("discrete_laplace", scale=2, shift=1)
    assert one.renyi(512).lo <= one.renyi(513).hi <= whole.renyi(513).hi
    assert dp.compose((one, 100)).renyi(4).hi == 100 * one.renyi(4).hi
    assert one.reversed.renyi(4) == one.renyi(4)
