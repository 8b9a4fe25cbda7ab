"""Clopper-Pearson confidence limits for a probability, rounded outward.

Definition  X is the number of hits in n independent draws of chance p. `lower(k, n, a)` is a rational L such that the
            chance that X >= k is at most a for every p <= L; `upper(k, n, a)` the same for X <= k and every p >= U.
Promise     The chance that `lower(X, n, a)` is above p is at most a, and likewise that `upper(X, n, a)` is below it.
            L is at most Clopper and Pearson's limit and U at least theirs, by about a fiftieth of the distance to k/n
            at a = 0.05, and less for a smaller a. `limits` are the same in floats, for choosing: they promise nothing.
Proof       P(X >= k) rises with p, so it is enough to bound it at L. For j >= k the ratio of successive terms,
            (n - j) p / ((j + 1)(1 - p)), falls, so the tail is at most its first term over 1 - r, with r the ratio at
            j = k, if r < 1. The first term is C(n, k) p**k (1 - p)**(n - k), in balls. Floats propose L; it is returned
            only after the ball of that bound was seen to be at most a, else it is moved outward. U is one less the L of
            n - k misses. If p is below L(X) then X is at least the least k with L(k) > p, whose tail is at most a.
Source      Clopper, Pearson, Biometrika 1934; the geometric bound of a binomial tail: Feller I, VI.3.
Checked     tests/audit/test_bound.py.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

from dpcurator.numbers.arb import ball, precision

_BITS = 128
_STEPS = 60


def lower(k: int, n: int, a: Fraction) -> Fraction:
    """At most the chance, unless something of chance at most `a` happened. 0 <= k <= n, a in (0, 1)."""
    if k == 0:
        return Fraction(0)
    guess, slack = _proposed(k, n, _log(a)), 1e-9
    while True:
        found = Fraction(guess * (1 - slack))
        if found <= 0:
            return Fraction(0)
        if _tail_at_most(found, k, n, a):
            return found
        slack *= 4
        if slack >= 1:
            return Fraction(0)


def upper(k: int, n: int, a: Fraction) -> Fraction:
    """At least the chance, unless something of chance at most `a` happened."""
    if k == 0 and n:  # (1 - U)**n <= a: the small U is proposed by itself, since 1 - U would lose its figures
        guess, slack = -math.expm1(_log(a) / n), 1e-9
        while (found := Fraction(min(guess * (1 + slack), 1.0))) < 1:
            with precision(_BITS):
                if ((1 - ball(found)).log() * n).exp() <= ball(a):
                    return found
            slack *= 4
        return Fraction(1)
    return _upper(k, n, a)


def _upper(k: int, n: int, a: Fraction) -> Fraction:
    if k == n:
        return Fraction(1)
    guess, slack = _proposed_above(k, n, _log(a)), 1e-9
    while (found := Fraction(min(guess * (1 + slack), 1.0))) < 1:
        if _tail_at_most(1 - found, n - k, n, a):
            return found
        slack *= 4
    return Fraction(1)


def _tail_at_most(p: Fraction, k: int, n: int, a: Fraction) -> bool:
    """Is P(X >= k) surely at most a, for X of n draws of chance p?"""
    ratio = (n - k) * p / ((k + 1) * (1 - p))
    if ratio >= 1:
        return False
    with precision(_BITS):
        first = ball(n + 1).lgamma() - ball(k + 1).lgamma() - ball(n - k + 1).lgamma()
        first = first + k * ball(p).log() + (n - k) * ball(1 - p).log()
        return bool(first - ball(1 - ratio).log() <= ball(a).log())


def _log_tail(p: float, k: int, n: int) -> float:
    """The same bound in floats; large where it says nothing."""
    if not 0 < p < 1:
        return -math.inf if p <= 0 else math.inf
    ratio = (n - k) * p / ((k + 1) * (1 - p))
    if ratio >= 1:
        return math.inf
    first = math.lgamma(n + 1) - math.lgamma(k + 1) - math.lgamma(n - k + 1)
    return first + k * math.log(p) + (n - k) * math.log1p(-p) - math.log1p(-ratio)


def _log(a: Fraction) -> float:
    """Also of what is no double."""
    return math.log(a.numerator) - math.log(a.denominator)


def _proposed(k: int, n: int, wanted: float) -> float:
    """Bisection in the logarithm of p, below k/n."""
    high = math.log(k / n)
    low = high - 60 - 2 * abs(wanted) / k
    for _ in range(_STEPS):
        middle = (low + high) / 2
        low, high = (middle, high) if _log_tail(math.exp(middle), k, n) <= wanted else (low, middle)
    return math.exp(low)


def _proposed_above(k: int, n: int, wanted: float) -> float:
    """Bisection between k/n and 1."""
    low, high = k / n, 1.0
    for _ in range(_STEPS + 20):
        middle = (low + high) / 2
        low, high = (low, middle) if _log_miss(middle, k, n) <= wanted else (middle, high)
    return high


def _log_miss(q: float, k: int, n: int) -> float:
    """The bound of P(X <= k) in floats."""
    if q >= 1:
        return -math.inf
    ratio = k * (1 - q) / ((n - k + 1) * q)
    if ratio >= 1:
        return math.inf
    first = math.lgamma(n + 1) - math.lgamma(k + 1) - math.lgamma(n - k + 1)
    return first + k * math.log(q) + (n - k) * math.log1p(-q) - math.log1p(-ratio)


def limits(first: Any, second: Any, n: int, planned: int, z: float) -> tuple[Any, Any]:
    """Arrays of counts of n draws: what `lower` of the first and `upper` of the second would be of `planned` draws.

    Wilson and Hilferty's approximation of a Poisson limit, its spread made that of a binomial; z standard deviations.
    """
    import numpy as np

    one, two = first * (planned / n), second * (planned / n)
    with np.errstate(divide="ignore", invalid="ignore"):
        spread = z * np.sqrt(np.maximum(1 - one / planned, 0.0))
        low = one * np.maximum(1 - 1 / (9 * one) - spread / (3 * np.sqrt(one)), 0.0) ** 3
        more = two + 1
        spread = z * np.sqrt(np.maximum(1 - two / planned, 0.0))
        high = more * (1 - 1 / (9 * more) + spread / (3 * np.sqrt(more))) ** 3
    low = np.where(one > 0, np.nan_to_num(low), 0.0)
    return low / planned, np.minimum(high / planned, 1.0)


def deviations(a: float) -> float:
    """z with P(N > z) about a, for a standard normal N; for choosing."""
    from statistics import NormalDist

    return -NormalDist().inv_cdf(min(max(a, 1e-300), 0.5))
