"""Renyi divergences on Poisson samples, enclosed at every order: of Gaussian noise, and of other symmetric pairs.

Definition  With P = N(mu, 1), Q = N(0, 1) and l = ln P/Q = mu x - mu**2/2, the divergence of order a > 1 of
            (1-q) Q + q P from Q is ln A(a) / (a-1), A(a) = E_Q[(1 - q + q e**l)**a]. That of Q from the mixture is no
            greater, so this is the divergence both ways.
            Other symmetric pairs of known divergences D_k: A(n) is the sum of C(n, k) (1-q)**(n-k) q**k e**((k-1) D_k),
            and the divergence both ways is the same.
Promise     An enclosure, of Gaussian noise up to order 2048 to under 2**-64 of ln A, for mu**2 or its inverse up to
            2**24 and rates above 2**-72. Else so at whole orders, and between them from the lower one to a chord above.
            Beyond that order, or 512 for others: from 0 to the bound by that of all rows.
Proof       Whole orders n: A(n) is the binomial sum of (1-q)**(n-k) q**k e**(k (k-1) mu**2/2).
            Others: with t = q e**l/(1-q) where that is at most 1, b = 1 - q + q e**l is (1-q) (1+t), and elsewhere
            q e**l (1 + 1/t). So A is the integral of (1+t)**a over a measure on [0, 1], which is the sum over k >= 0 of
            binom(a, k) M_k, M_k its moments:
                M_k = (1-q)**(a-k) q**k E[e**(k l); t <= 1] + q**(a-k) (1-q)**k E[e**((a-k) l); t > 1],
            each a Gaussian tail. From N = ceil(a) on the signs alternate, and |binom(a, k)| = |sin(pi a)|/pi times the
            integral of s**(k-a-1) (1-s)**a over [0, 1]; so |binom(a, N+j)| M_(N+j) are, over j, the moments of a
            measure on [0, 1]. Of such an alternating series, of first term S, n terms give the sum but for
            S/T_n(3) by algorithm 1 of Cohen, Rodriguez Villegas, Zagier, T_n the polynomial of Chebyshev.
            Chords: ln A is convex in a, being the logarithm of a moment, so between whole orders it is below the
            chord; and it rises.
            Other pairs: E_Q e**(k l) = e**((k-1) D_k). Between whole orders from the divergence of the lower one, as it
            rises with the order, to the chord. Both ways: for a pair that some map of outcomes onto itself exchanges
            (Mironov, Talwar, Zhang, theorem 5), here l to -l.
            All rows: b**a is convex in q, so A(a) <= 1 - q + q E_Q[e**(a l)] = 1 - q + q e**(a (a-1) mu**2/2).
Source      Mironov, Talwar, Zhang 2019 (arXiv 1908.10530), theorems 4 and 5; Cohen, Rodriguez
            Villegas, Zagier 2000 (convergence acceleration of alternating series), proposition 1.
Checked     tests/privacy/test_sampled_moments.py.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from functools import lru_cache

from dpcurator.numbers import Enclosure
from dpcurator.numbers.arb import Ball, ball
from dpcurator.privacy.distribution import ZERO
from dpcurator.privacy.narrow import enclosed

_ORDERS = 512  # up to which moments are added up
_GAUSSIAN_ORDERS = 2048  # up to which those of Gaussian noise are
_RANGE = Fraction(2) ** 24  # of mu**2 and its inverse, for which a series is; and of the cube root of the rate's


def renyi_of_gaussian(square: Fraction, rate: Fraction, alpha: Fraction) -> Enclosure:
    """The divergence of order alpha > 1, in nats. square: mu**2 of the mechanism on all rows; rate: q in (0, 1]."""
    n = int(alpha)
    if square == 0:
        return ZERO
    whole = _of_all_rows(square, rate, alpha)
    if alpha > _GAUSSIAN_ORDERS:
        return Enclosure(Fraction(0), whole / (alpha - 1))
    low = _moment(square, rate, n)
    if alpha == n:
        found = low
    elif 1 / _RANGE < square < _RANGE and rate > 1 / _RANGE**3:
        found = _moment_between(square, rate, alpha)
    else:
        high = _moment(square, rate, n + 1)
        found = Enclosure(low.lo, low.hi + (alpha - n) * (high.hi - low.hi))
    most = min(found.hi, whole)
    return Enclosure(min(found.lo, most) / (alpha - 1), most / (alpha - 1))


def renyi_of_symmetric(divergence: Callable[[Fraction], Enclosure], rate: Fraction, alpha: Fraction) -> Enclosure:
    """The same of a symmetric pair, by its divergence at each order."""
    n = int(alpha)
    if alpha > _ORDERS:
        most = (alpha - 1) * divergence(alpha).hi
        whole = enclosed(lambda bits: ball(most) + (ball(rate) + ball(1 - rate) * (-ball(most)).exp()).log())
        return Enclosure(Fraction(0), min(whole.hi, most) / (alpha - 1))
    low = _sum_of_moments(divergence, rate, n)
    if alpha == n:
        return low * (1 / (alpha - 1))
    high = _sum_of_moments(divergence, rate, n + 1)
    most = low.hi + (alpha - n) * (high.hi - low.hi)
    least = low.lo / (n - 1) if n > 1 else Fraction(0)
    return Enclosure(min(least, most / (alpha - 1)), most / (alpha - 1))


def _sum_of_moments(divergence: Callable[[Fraction], Enclosure], rate: Fraction, n: int) -> Enclosure:
    """ln A(n), n whole."""
    if n < 2:
        return ZERO
    logs = [ZERO, ZERO, *(divergence(Fraction(k)) * Fraction(k - 1) for k in range(2, n + 1))]

    def end(side: int) -> Enclosure:
        def value(bits: int) -> Ball:
            less, total, term = ball(1 - rate), ball(0), ball(1 - rate) ** n
            odds = ball(rate) / less
            for k in range(n + 1):
                total += term * ball(logs[k].hi if side else logs[k].lo).exp()
                term = term * odds * (n - k) / (k + 1)
            return total.log()

        return enclosed(value) if any(log.hi for log in logs) else ZERO

    return Enclosure(end(0).lo, end(1).hi)


def _of_all_rows(square: Fraction, rate: Fraction, alpha: Fraction) -> Fraction:
    """At least ln A(alpha): ln(1 - q + q e**y) = y + ln(q + (1-q) e**-y), y = a (a-1) mu**2/2."""
    y = alpha * (alpha - 1) * square / 2
    found = enclosed(lambda bits: ball(y) + (ball(rate) + ball(1 - rate) * (-ball(y)).exp()).log())
    return min(found.hi, y)


@lru_cache(maxsize=4096)
def _moment(square: Fraction, rate: Fraction, n: int) -> Enclosure:
    """ln A(n), n whole."""
    if n < 2:
        return ZERO

    def value(bits: int) -> Ball:
        less, total, term = ball(1 - rate), ball(0), ball(1 - rate) ** n
        odds = ball(rate) / less
        for k in range(n + 1):
            total += term * (ball(square) * (k * (k - 1) // 2)).exp()
            term = term * odds * (n - k) / (k + 1)
        return total.log()

    return enclosed(value)


@lru_cache(maxsize=4096)
def _moment_between(square: Fraction, rate: Fraction, alpha: Fraction) -> Enclosure:
    """ln A(alpha), alpha no whole number."""
    return enclosed(lambda bits: _series(alpha, _truncated(square, rate, alpha), bits).log())


def _truncated(square: Fraction, rate: Fraction, alpha: Fraction) -> Callable[[int], Ball]:
    """M_k, at the working precision."""
    mu, a, q, less = ball(square).sqrt(), ball(alpha), ball(rate), ball(1 - rate)
    half, odds = ball(square / 2), (q / less).log()
    edge = mu / 2 - odds / mu  # t <= 1 up to here

    def moment(k: int) -> Ball:
        low = (a * less.log() + k * odds + k * (k - 1) * half).exp() * _normal_tail(k * mu - edge)
        rest = a - k
        return low + (a * q.log() - k * odds + rest * (rest - 1) * half).exp() * _normal_tail(edge - rest * mu)

    return moment


def _series(a: Fraction, moment: Callable[[int], Ball], bits: int) -> Ball:
    """The sum over k >= 0 of binom(a, k) moment(k), a no whole number."""
    total, binomial, k, order = ball(0), ball(1), 0, ball(a)
    while k < a:
        total += binomial * moment(k)
        binomial, k = binomial * (order - k) / (k + 1), k + 1
    n = bits * 2 // 5 + 4
    before, largest = 1, 3  # T_0(3), T_1(3)
    for _ in range(n - 1):
        before, largest = largest, 6 * largest - before
    weight, left, found, most = -1, -largest, ball(0), abs(binomial) * moment(k) / largest
    for j in range(n):
        left = weight - left
        found += left * abs(binomial) * moment(k)
        weight = weight * (j + n) * (j - n) * 2 // ((2 * j + 1) * (j + 1))
        binomial, k = binomial * (order - k) / (k + 1), k + 1
    return total + found / largest + most.union(-most)


def _normal_tail(x: Ball) -> Ball:
    """P(Z > x) of a standard normal Z."""
    return (x / ball(2).sqrt()).erfc() / 2
