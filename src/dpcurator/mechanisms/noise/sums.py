"""How far a sum of independent draws of one noise goes: the error bar of a total of noisy numbers.

Promise   error_of_sum(noise, n, beta) is a whole number m with P(|Z_1 + ... + Z_n| > m) <= beta, whatever n.
Gaussian  Of variance v. A vector of whole numbers with sum k is (k/n, ..., k/n) plus a vector of sum 0, so the sum has
          the probability exp(-k^2 / (2 n v)) times the Gaussian mass of a coset of the lattice A_(n-1), over a
          constant. By Poisson summation each such mass is 1 - e to 1 + e times one number, where e is the sum of
          exp(-c |w|^2), c = 2 pi^2 v, over the dual lattice without 0. Its vectors are x less their mean, x whole:
          |w|^2 >= 1 - 1/n >= 1/2, and as 2 n |w|^2 is the sum of (x_i - x_j)^2 over all i and j, exp(-c |w|^2 / 2) is a
          geometric mean over j, below the arithmetic one; with x_j = 0 in its j-th term the sum of that over all w is
          at most (1 + 3 exp(-c / 4))^(n-1). So e <= exp(-c / 4) (1 + 3 exp(-c / 4))^(n-1), and the sum's tail is
          within (1 + e) / (1 - e) of that of one draw of variance n v. Where e is large, the moment generating function
          is below that of a continuous Gaussian (Canonne, Kamath, Steinke 2020): P(|S| > m) <= 2 exp(-m^2 / (2 n v)).
Laplace   Of scale b. A draw is the difference of two geometric numbers, each an exponential one of mean b rounded down;
          what is rounded off is independent of what is left, and lies in [0, 1). So b L = S + D, where L is the
          difference of two gamma(n) numbers and D, independent of S, of n draws from [0, 1) on either side. Hence
          P(S > m) P(D > -d) <= P(b L > m + 1 - d), and P(D <= -d) <= exp(-d^2 / n) (Hoeffding), or 0 for d >= n. Of
          the 2 n exponentials, r are left of one side when the other is used up with probability
          v_r = C(2n - 1 - r, n - 1) / 2^(2n - r), so
          P(L > t) = exp(-t) sum over i < n of t^i / i! (v_(i+1) + ... + v_n), summed in integers rounded up.
Few       Small noise is convolved: lower bounds of the probabilities, in integers, of which all but beta must be within
          m. The less of the two bounds is taken.
Checked   tests/mechanisms/test_sums.py: against enumeration, and each rule against the others.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from functools import lru_cache
from typing import Final

from dpcurator.mechanisms.noise.discrete_gaussian import DiscreteGaussian
from dpcurator.mechanisms.noise.discrete_laplace import DiscreteLaplace
from dpcurator.numbers.enclosure import exp_neg

MOST: Final = 2**20  # numbers in a total
CONVOLVED: Final = 400  # the largest bound that a convolution tries to better
EXACT: Final = 5_000  # numbers up to which a binomial coefficient is computed as it is
BITS: Final = 128
STEPS: Final = 4096  # of the search for t, to one
_TWO_PI_SQUARED: Final = Fraction(19739, 1000)  # rounded down


@lru_cache(maxsize=1024)
def error_of_sum(noise: DiscreteLaplace | DiscreteGaussian, count: int, beta: Fraction) -> int:
    """A whole number that the sum of `count` independent draws passes, up or down, with probability at most beta.

    beta: Fraction in (0, 1). Raises ValueError where there are none, or more than 2^20."""
    if not 1 <= count <= MOST:
        raise ValueError(f"a total is of 1 to {MOST:,} numbers")
    if count == 1:
        return noise.error(beta)
    if isinstance(noise, DiscreteLaplace):
        bound = _laplace(noise, count, beta)
    else:
        e = _uneven(noise.variance, count)
        if e <= Fraction(1, 1000):
            return DiscreteGaussian(noise.variance * count).error(beta * (1 - 2 * e))  # (1 - e) / (1 + e) is more
        bound = _by_moments(noise, count, beta)
    found = _convolved(noise, count, beta, bound) if bound <= CONVOLVED else None
    return bound if found is None else min(found, bound)


def _uneven(variance: Fraction, count: int) -> Fraction:
    """At least e of the Gaussian rule; 1 where that is no small number."""
    one = exp_neg(_TWO_PI_SQUARED * variance / 4).hi
    more = 3 * one * (count - 1)  # (1 + a)^(n-1) <= exp(a (n-1)) <= 1 + 2 a (n-1) where a (n-1) <= 1
    found = one * (1 + 2 * more) if more <= 1 else Fraction(1)
    return Fraction(math.ceil(found * 10**30), 10**30)


def _by_moments(noise: DiscreteGaussian, count: int, beta: Fraction) -> int:
    exponent = least(lambda n: exp_neg(Fraction(n, 64)).hi <= beta / 2)
    return math.isqrt(math.ceil(2 * count * noise.variance * Fraction(exponent, 64))) + 1


def _laplace(noise: DiscreteLaplace, count: int, beta: Fraction) -> int:
    off = min(count, math.isqrt(6 * count) + 1)  # d
    inside = 1 - (exp_neg(Fraction(off * off, count)).hi if off < count else Fraction(0))
    left = _left(count)
    steps = least(lambda n: 2 * _tail(Fraction(n, STEPS), left) <= beta * inside)
    return math.ceil(noise.scale * Fraction(steps, STEPS)) + off - 1


@lru_cache(maxsize=64)
def _left(n: int) -> tuple[int, ...]:
    """v_(i+1) + ... + v_n for i = 0, 1, ..., in units of 2^-BITS, each at least what it is; the last is at least all
    that is left out, and 0 where nothing is."""
    one, m = 2**BITS, n - 1
    if n <= EXACT:
        first = -(-math.comb(2 * m, m) * one // 2 ** (2 * m + 1))
    else:  # C(2m, m) / 4^m < 1 / sqrt(pi (m + 1/4)) (Kazarinoff 1956)
        first = -(-one * 2**20 // math.isqrt(314159265 * (4 * m + 1) * 2**40 // 10**8)) + 1
    most = min(n, 12 * math.isqrt(2 * n) + 60)
    each = [first]
    for r in range(1, most):
        each.append(-(-each[-1] * 2 * (n - r) // (2 * n - 1 - r)))
    rest = 0
    if most < n:  # from there on each is at most the one before times the next ratio, which is below 1
        rest = -(-each[-1] * 2 * (n - most) // (most - 1))
    found = [rest]
    for value in reversed(each):
        found.append(found[-1] + value)
    return tuple(reversed(found))


def _tail(t: Fraction, left: tuple[int, ...]) -> Fraction:
    """At least P(L > t)."""
    term, total = 2**BITS, 0
    for i, weight in enumerate(left[:-1]):
        if i:
            term = -(-term * t.numerator // (i * t.denominator))
        total += term * weight
    found = Fraction(total, 2 ** (2 * BITS)) * exp_neg(t).hi
    return found + Fraction(left[-1], 2**BITS)  # what is left out has a Poisson probability of at most 1


def least(holds: Callable[[int], bool]) -> int:
    """The least whole number from 0 on at which a condition holds that goes on holding."""
    high = 1
    while not holds(high):
        high *= 2
    low = 0
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if holds(middle) else (middle + 1, high)
    return low


def _convolved(noise: DiscreteLaplace | DiscreteGaussian, count: int, beta: Fraction, most: int) -> int | None:
    """From lower bounds of the sum's probabilities; None where what is cut off is too much."""
    from flint import fmpz_poly

    width = 2 * most + 1
    half = [math.floor(noise.pmf(0).lo * 2**BITS)]
    ratio = math.floor(exp_neg(1 / noise.scale).lo * 2**BITS) if isinstance(noise, DiscreteLaplace) else None
    while half[-1] and len(half) <= width:
        half.append(math.floor(noise.pmf(len(half)).lo * 2**BITS) if ratio is None else half[-1] * ratio >> BITS)
    half += [0] * (width + 1 - len(half))
    power, left = fmpz_poly([*reversed(half[1:]), *half]), count
    found = None

    def times(one: fmpz_poly, other: fmpz_poly) -> fmpz_poly:
        product = (one * other).coeffs()  # from -2 width up
        return fmpz_poly([value >> BITS for value in product[width : 3 * width + 1]])

    while left:
        if left % 2:
            found = power if found is None else times(found, power)
        left //= 2
        if left:
            power = times(power, power)
    assert found is not None
    need, inside = (1 - beta) * 2**BITS, int(found[width])
    for m in range(width):
        if inside >= need:
            return m
        inside += int(found[width + m + 1]) + int(found[width - m - 1])
    return None
