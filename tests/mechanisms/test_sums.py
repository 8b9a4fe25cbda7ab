"""The error bar of a sum of draws: against sums worked out in full, and each rule against the others."""

from __future__ import annotations

from fractions import Fraction as F

import numpy as np
import pytest

from dpcurator.mechanisms import DiscreteGaussian, DiscreteLaplace
from dpcurator.mechanisms.noise import sums
from dpcurator.mechanisms.noise.sums import error_of_sum

FAR = 2**14  # each way, around 2^14
NOISES = (DiscreteLaplace(F(1, 2)), DiscreteLaplace(F(7, 3)), DiscreteLaplace(F(40)), DiscreteGaussian(F(1, 4)),
          DiscreteGaussian(F(1)), DiscreteGaussian(F(9, 2)), DiscreteGaussian(F(900)))


def masses(noise: DiscreteLaplace | DiscreteGaussian, count: int) -> np.ndarray:
    """The distribution of the sum, by Fourier transforms in doubles: each within about 1e-14."""
    k = np.arange(-FAR, FAR)
    if isinstance(noise, DiscreteLaplace):
        one = np.exp(-np.abs(k) / float(noise.scale))
    else:
        one = np.exp(-(k.astype(float) ** 2) / (2 * float(noise.variance)))
    spectrum = np.fft.rfft(np.fft.ifftshift(one / one.sum()))
    return np.fft.fftshift(np.fft.irfft(spectrum**count, 2 * FAR))


def least(mass: np.ndarray, beta: F) -> int:
    """The least m with P(|S| > m) <= beta, but for what doubles round off."""
    inside = mass[FAR] + np.concatenate(([0], np.cumsum(mass[FAR + 1 :] + mass[1:FAR][::-1])))
    return int(np.argmax(1 - inside <= float(beta)))


def beyond(mass: np.ndarray, m: int) -> float:
    """P(|S| > m)."""
    return float(mass[: FAR - m].sum() + mass[FAR + m + 1 :].sum())


@pytest.mark.parametrize("noise", NOISES, ids=repr)
def test_the_error_of_a_sum_covers_and_is_hardly_more_than_the_least(noise):
    for count in (2, 12, 60):
        mass = masses(noise, count)
        for beta in (F(1, 5), F(1, 20), F(1, 1000)):
            found = error_of_sum(noise, count, beta)
            assert beyond(mass, found) <= beta + 1e-12
            best = least(mass, beta)
            loose = 0 if found <= sums.CONVOLVED or isinstance(noise, DiscreteGaussian) else 20 + best // 50
            assert best <= found <= best + loose, (noise, count, beta)


def test_each_rule_covers_alone():
    """Each without the others' help, where the others are the tighter ones."""
    for count in (2, 40, 300):
        for beta in (F(1, 20), F(1, 10**6)):
            for noise in (DiscreteLaplace(F(3)), DiscreteLaplace(F(40))):
                mass = masses(noise, count)
                assert beyond(mass, sums._laplace(noise, count, beta)) <= beta + 1e-12
            for noise in (DiscreteGaussian(F(1, 4)), DiscreteGaussian(F(5))):
                mass = masses(noise, count)
                assert beyond(mass, sums._by_moments(noise, count, beta)) <= beta + 1e-12


def test_a_sum_of_gaussian_draws_is_as_even_as_is_claimed():
    """P(S = k) beside that of one draw of n times the variance: within (1 + e) / (1 - e); and off it for small noise,
    which is no Gaussian when it is added up, and of which no such thing is claimed."""
    for variance, count in ((F(1), 3), (F(3, 2), 5), (F(2), 2)):
        e = float(sums._uneven(variance, count))
        assert e < 0.05
        mass, one = masses(DiscreteGaussian(variance), count), masses(DiscreteGaussian(variance * count), 1)
        ratio = mass[FAR - 5 : FAR + 6] / one[FAR - 5 : FAR + 6]
        assert (1 - e) / (1 + e) - 1e-9 <= ratio.min() <= ratio.max() <= (1 + e) / (1 - e) + 1e-9
    coarse = [masses(DiscreteGaussian(F(n, 20)), 3 // n)[FAR] for n in (1, 3)]
    assert abs(coarse[0] / coarse[1] - 1) > 0.05
    assert sums._uneven(F(1, 20), 3) > F(1, 1000)


def test_the_sum_of_continuous_laplace_numbers_has_the_tail_that_is_claimed():
    """Of one, exp(-t) / 2; of two, exp(-t) (2 + t) / 4; both rounded up by next to nothing."""
    for t in (F(0), F(1, 3), F(5)):
        assert 0 <= float(sums._tail(t, sums._left(1))) - np.exp(-float(t)) / 2 < 1e-15
        assert 0 <= float(sums._tail(t, sums._left(2))) - np.exp(-float(t)) * (2 + float(t)) / 4 < 1e-15
    for n in (1, 2, 9, 5_001, 70_000):
        assert 0 <= sums._left(n)[0] / 2**sums.BITS - 0.5 < 1e-4  # either side is used up first as often


def test_of_very_many_the_error_is_about_that_of_a_gaussian():
    for noise, variance in ((DiscreteLaplace(F(10**6)), 2e12), (DiscreteGaussian(F(10**9)), 1e9)):
        found = error_of_sum(noise, 10_000, F(1, 20))
        assert 0.995 < found / (1.959964 * (variance * 10_000) ** 0.5) < 1.01
    with pytest.raises(ValueError, match="1 to 1,048,576"):
        error_of_sum(DiscreteLaplace(F(1)), 0, F(1, 20))
