"""How far a weighted sum of independent draws of unlike noises goes: the error bar of a mean of releases at different
prices.

Promise   WeightedSum(parts).error(beta) is a whole number m with P(|k_1 Z_1 + ... + k_n Z_n| > m) <= beta.
Laplace   Of scale b, Z = b L - D with L of the continuous law of scale 1 and |D| < 1 (sums.py). So |S| is below
          |a_1 L_1 + ... + a_n L_n| + k_1 + ... + k_n with a = k b, of which P(> t) is an integral of
          prod (1 - a_j^2 s^2)^-1 exp(-s t) / s: the sum of its residues at s = 1/a, in balls. Of more than `EXACT`
          draws it is at most exp(-s t) prod (1 - a_j^2 s^2)^-1 for any s below all 1/a_j (Chernoff).
Gaussian  Of variance v. With W continuous of variance 1, Z + W has the density of a continuous one of variance v + 1
          times a Gaussian sum over whole numbers, which by Poisson summation is at most 1 + e, e = 2 q / (1 - q),
          q = exp(-2 pi^2 v / (v + 1)). So P(S > m) P(k W > -d) is at most prod (1 + e) times the tail beyond m - d of
          a continuous one of variance V = sum of k^2 (v + 1); P(k W <= -d) <= exp(-9) at d^2 = 18 sum of k^2. Where V
          is small, exp(-m^2 / (2 sum of k^2 v)) is less (Canonne, Kamath, Steinke 2020).
Both      Each kind within its half of beta.
Checked   tests/mechanisms/test_weighted.py: against enumeration, and against the sum of draws of one noise.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Final

from dpcurator.mechanisms.noise.discrete_gaussian import DiscreteGaussian
from dpcurator.mechanisms.noise.discrete_laplace import DiscreteLaplace
from dpcurator.mechanisms.noise.sums import error_of_sum, least
from dpcurator.numbers.arb import Ball, ball, precision
from dpcurator.numbers.enclosure import exp_neg

EXACT: Final = 24  # draws of Laplace noise whose sum is worked out by residues
STEPS: Final = 1024  # of the search for t, to a deviation
_SEEN: Final = 1 - exp_neg(Fraction(9)).hi


@dataclass(frozen=True, slots=True)
class WeightedSum:
    """parts: of each noise, by how much its draws count (int >= 1), and how many there are (int >= 1)."""

    parts: tuple[tuple[DiscreteLaplace | DiscreteGaussian, int, int], ...]

    def times(self, count: int) -> WeightedSum:
        """The same of so many sums added up."""
        return WeightedSum(tuple((noise, weight, each * count) for noise, weight, each in self.parts))

    def error(self, beta: Fraction) -> int:
        """A whole number that it passes, up or down, with probability at most beta. beta: Fraction in (0, 1)."""
        return _error(self, beta)


@lru_cache(maxsize=1024)
def _error(of: WeightedSum, beta: Fraction) -> int:
    first, weight, _ = of.parts[0]
    if all((noise, own) == (first, weight) for noise, own, _ in of.parts):
        return weight * error_of_sum(first, sum(count for *_, count in of.parts), beta)
    laplace = [(noise.scale * own, own, count) for noise, own, count in of.parts if isinstance(noise, DiscreteLaplace)]
    gauss = [(noise.variance, own, count) for noise, own, count in of.parts if isinstance(noise, DiscreteGaussian)]
    share = beta / (bool(laplace) + bool(gauss))
    return (_laplace(laplace, share) if laplace else 0) + (_gaussian(gauss, share) if gauss else 0)


def _gaussian(parts: Sequence[tuple[Fraction, int, int]], beta: Fraction) -> int:
    """parts: variance, weight, number of draws."""
    plain = sum((count * own * own * v for v, own, count in parts), Fraction(0))
    exponent = Fraction(least(lambda n: 2 * exp_neg(Fraction(n, 64)).hi <= beta), 64)
    found = _root(2 * plain * exponent)
    factor, squares = Fraction(1), sum(count * own * own for _, own, count in parts)
    for v, _, count in parts:
        q = exp_neg(Fraction(19739, 1000) * v / (v + 1)).hi  # 2 pi^2, rounded down
        e = count * 2 * q / (1 - q)
        if e > Fraction(1, 2):
            return found
        factor *= 1 + 2 * e  # (1 + x)^n <= exp(n x) <= 1 + 2 n x where n x <= 1/2
    x = Fraction(least(lambda n: _beyond(Fraction(n, STEPS)) * factor <= beta * _SEEN), STEPS)
    return min(found, _root(18 * Fraction(squares)) + _root(2 * x * x * (plain + squares)))


def _beyond(x: Fraction) -> Fraction:
    """At least erfc(x): how much of a continuous Gaussian lies further out than x roots of twice its variance."""
    with precision(128):
        return _above(ball(x).erfc())


def _above(value: Ball) -> Fraction:
    """A rational at or above all of a ball; of one that holds no bounded set, more than any probability."""
    if not value.is_finite():
        return Fraction(2)
    mantissa, exponent = value.upper().man_exp()
    return Fraction(int(mantissa)) * Fraction(2) ** int(exponent)


def _root(value: Fraction) -> int:
    """A whole number at or above the root."""
    return math.isqrt(math.ceil(value)) + 1


def _laplace(parts: Sequence[tuple[Fraction, int, int]], beta: Fraction) -> int:
    """parts: scale times weight, weight, number of draws."""
    scales: dict[Fraction, int] = {}
    for a, _, count in parts:
        scales[a] = scales.get(a, 0) + count
    draws, unit = sum(scales.values()), max(scales)
    ratios = {a / unit: count for a, count in scales.items()}
    deviation = Fraction(_root(2 * STEPS**2 * sum((a * a * count for a, count in ratios.items()), Fraction(0))), STEPS)

    def holds(steps: int) -> bool:
        t = deviation * steps / STEPS
        plain = _chernoff(ratios, t)
        return 2 * (min(plain, _tail(ratios, t)) if draws <= EXACT and 2 * plain > beta else plain) <= beta

    return math.ceil(unit * deviation * least(holds) / STEPS) + sum(own * count for _, own, count in parts)


def _chernoff(ratios: dict[Fraction, int], t: Fraction) -> Fraction:
    """At least P(S > t), at the s that is best for a normal distribution of that variance, or nearly so."""
    variance = 2 * sum((a * a * count for a, count in ratios.items()), Fraction(0))
    s = min(Fraction(math.floor(t / variance * 4096), 4096), Fraction(3, 4))
    if s <= 0:
        return Fraction(1)
    with precision(128):
        product = ball(1)
        for a, count in ratios.items():
            product *= ball(1 / (1 - a * a * s * s)) ** count
        return min(Fraction(1), _above((-ball(s * t)).exp() * product))


def _tail(ratios: dict[Fraction, int], t: Fraction) -> Fraction:
    """At least P(S > t), of scales `ratios`, each with its number of draws: less the residues of
    prod (1 - a_j^2 s^2)^-n_j exp(-s t) / s at s = (1 + x) / a, coefficients of x^(n - 1) there."""
    bits = 128
    while True:
        with precision(bits):
            total = ball(0)
            for a, n in ratios.items():
                series = _power([ball(2), ball(1)], n, n)  # (2 + x)^n, (1 + x), and (1 - (a_j / a)^2 (1 + x)^2)^n_j
                series = _times(series, [ball(1), ball(1)], n)
                for other, count in ratios.items():
                    if other != a:
                        r = (other / a) ** 2
                        factor = [ball(1 - r), ball(-2 * r), ball(-r)]
                        series = _times(series, _power(factor, count, n), n)
                decay = [ball(1)]
                for k in range(1, n):
                    decay.append(decay[-1] * ball(-t / a) / k)
                found = _times(_inverse(series, n), decay, n)[n - 1]
                total += found * (-ball(t / a)).exp() * (1 if n % 2 else -1)
            high, low = _above(total), -_above(-total)
        if high - low <= Fraction(1, 2**40) or bits > 2**13:
            return high
        bits *= 2


def _times(one: list[Ball], other: list[Ball], n: int) -> list[Ball]:
    """The product of two power series, to n terms."""
    found = [ball(0) for _ in range(n)]
    for i, a in enumerate(one[:n]):
        for j, b in enumerate(other[: n - i]):
            found[i + j] += a * b
    return found


def _power(one: list[Ball], count: int, n: int) -> list[Ball]:
    found: list[Ball] = [ball(1)]
    for _ in range(count):
        found = _times(found, one, n)
    return found


def _inverse(one: list[Ball], n: int) -> list[Ball]:
    """One over a power series, to n terms."""
    whole = [*one, *[ball(0)] * n][:n]
    found = [1 / whole[0]]
    for k in range(1, n):
        found.append(-sum((whole[i] * found[k - i] for i in range(1, k + 1)), ball(0)) * found[0])
    return found
