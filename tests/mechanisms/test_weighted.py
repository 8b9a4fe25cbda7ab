"""Weighted sums of unlike noises: the bar covers what enumeration finds, and is not much wider than need be."""

from __future__ import annotations

import math
from fractions import Fraction as F
from functools import lru_cache
from typing import Any

import numpy as np
import pytest

from dpcurator.mechanisms.noise.discrete_gaussian import DiscreteGaussian
from dpcurator.mechanisms.noise.discrete_laplace import DiscreteLaplace
from dpcurator.mechanisms.noise.sums import error_of_sum
from dpcurator.mechanisms.noise.weighted import WeightedSum, _chernoff, _gaussian, _laplace, _tail

LAPLACE, SLOW = DiscreteLaplace(F(9, 2)), DiscreteLaplace(F(3))
GAUSS, WIDE = DiscreteGaussian(F(7)), DiscreteGaussian(F(31, 2))


@lru_cache
def half_of(noise: Any) -> list[float]:
    return [float(noise.pmf(k).lo) for k in range(121)]


def beyond(parts: Any, m: int) -> float:
    """P(|S| > m), by convolution of the distributions, to within 1e-9."""
    found = np.ones(1)
    for noise, weight, count in parts:
        masses = np.zeros(2 * 120 * weight + 1)
        half = half_of(noise)
        masses[::weight] = [*reversed(half[1:]), *half]
        for _ in range(count):
            found = np.convolve(found, masses)
    middle = len(found) // 2
    return float(1 - found[middle - m : middle + m + 1].sum())


@pytest.mark.parametrize("parts", [
    ((LAPLACE, 2, 1), (SLOW, 5, 1)), ((LAPLACE, 1, 2), (SLOW, 3, 1)), ((GAUSS, 3, 1), (WIDE, 1, 1)),
    ((GAUSS, 1, 1), (LAPLACE, 1, 1)),
])
@pytest.mark.parametrize("beta", [F(1, 20), pytest.param(F(1, 500), marks=pytest.mark.slow)])
def test_the_bar_covers_what_enumeration_finds(parts: Any, beta: F) -> None:
    bar = WeightedSum(parts).error(beta)
    assert beyond(parts, bar) <= beta + F(1, 10**9)
    assert beyond(parts, bar // 3) > beta  # so the test can fail


def test_large_scales_have_the_bar_of_the_continuous_law() -> None:
    """Of two Laplace noises of scales 1 and 2 P(|S| > t) is (4 exp(-t / 2) - exp(-t)) / 3; of two Gaussian ones the
    variances add up: to within a thousandth."""
    parts = ((DiscreteLaplace(F(2**20)), 1, 1), (DiscreteLaplace(F(2**20)), 2, 1))
    t = WeightedSum(parts).error(F(1, 20)) / 2**20
    assert 1 / 20 - 1e-4 < (4 * math.exp(-t / 2) - math.exp(-t)) / 3 <= 1 / 20 + 1e-7
    noise = DiscreteGaussian(F(2**40))
    bar = WeightedSum(((noise, 3, 1), (noise, 4, 1))).error(F(1, 20))
    assert bar / (5 * noise.error(F(1, 20))) == pytest.approx(1, abs=1e-3)
    assert bar >= 5 * 2**20 * 1.9599


def test_draws_of_one_noise_are_the_sum_of_so_many() -> None:
    for noise in (LAPLACE, GAUSS):
        assert WeightedSum(((noise, 3, 2), (noise, 3, 1))).error(F(1, 20)) == 3 * error_of_sum(noise, 3, F(1, 20))
        assert WeightedSum(((noise, 3, 1),)).times(5).error(F(1, 20)) == 3 * error_of_sum(noise, 5, F(1, 20))
    near = _laplace([(F(1000), 1, 2), (F(1001), 1, 1)], F(1, 20))
    assert near / error_of_sum(DiscreteLaplace(F(1000)), 3, F(1, 20)) == pytest.approx(1, abs=0.01)


def test_many_draws_have_a_bound_by_moments_that_is_no_less() -> None:
    ratios = {F(1): 9, F(1, 2): 9}
    for t in (F(5), F(12), F(30)):
        assert _tail(ratios, t) <= _chernoff(ratios, t)
    least = WeightedSum(((DiscreteLaplace(F(2**16)), 1, 12), (DiscreteLaplace(F(2**15)), 1, 12))).error(F(1, 20))
    more = WeightedSum(((DiscreteLaplace(F(2**16)), 1, 12), (DiscreteLaplace(F(2**15)), 1, 13))).error(F(1, 20))
    assert least < more < F(8, 5) * least
    huge = WeightedSum(((DiscreteLaplace(F(2**16)), 1, 10**5), (DiscreteLaplace(F(2**15)), 3, 10**5))).error(F(1, 20))
    deviation = math.sqrt(2 * 10**5 * (2**32 + 9 * 2**30))
    assert 1.95 * deviation < huge < 2.9 * deviation


@pytest.mark.parametrize("apart", [F(1, 10**9), F(1, 10**40),
                                   pytest.param(F(1, 10**3000), marks=pytest.mark.slow)])
def test_scales_next_to_one_another_have_nearly_the_bar_of_equal_ones(apart: F) -> None:
    """Residues cancel there: more bits are taken, and if these do not do, the bound by moments."""
    near = _laplace([(F(2**16), 1, 3), (F(2**16) * (1 + apart), 1, 3)], F(1, 20))
    same = error_of_sum(DiscreteLaplace(F(2**16)), 6, F(1, 20))
    assert 0.99 * same < near < (1.01 if apart > F(1, 10**100) else 1.8) * same


def test_the_rules_for_gaussian_noise_agree() -> None:
    """The one by moments is a third wider; where the variance is small it is the less."""
    assert _gaussian([(F(2**40), 1, 1)], F(1, 20)) < 2.1 * 2**20
    assert _gaussian([(F(1, 4), 1, 1), (F(1, 9), 2, 1)], F(1, 20)) <= math.ceil(2.72 * math.sqrt(1 / 4 + 4 / 9)) + 1
