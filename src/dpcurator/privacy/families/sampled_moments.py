"""Renyi divergences on Poisson samples, enclosed at every order: of Gaussian noise, and of other symmetric pairs.

Definition  With P = N(mu, 1), Q = N(0, 1) and l = ln P/Q = mu x - mu**2/2, the divergence of order a > 1 of
            (1-q) Q + q P from Q is ln A(a) / (a-1), A(a) = E_Q[(1 - q + q e**l)**a]. That of Q from the mixture is no
            greater, so this is the divergence both ways.
            Other symmetric pairs of known divergences D_k: A(n) is the sum of C(n, k) (1-q)**(n-k) q**k e**((k-1) D_k),
            and the divergence both ways is the same.
Promise     An enclosure. Whole orders: to under 2**-64 of ln A. Others up to 64 likewise, for noise of a standard
            deviation of an eighth of the shift or more; elsewhere between lines below and chords above of the whole
            orders next to it. Beyond order 512: from 0 to the bound by that of all rows.
Proof       Whole orders n: A(n) is the binomial sum of (1-q)**(n-k) q**k e**(k (k-1) mu**2/2).
            Others: with b = 1 - q + q e**l, of mean 1 under Q, A - 1 = E_Q[b**a - 1 - a (b - 1)], and what is averaged
            is at least 0 (Bernoulli), so the integral over [-Y, X], which is made in balls (Petras' bisection with
            Gauss-Legendre rules, in FLINT; b**a is analytic where the real part of b is above 0, and a piece where it
            is not is bisected), is a lower bound. What is left out, b**a - 1 - a (b-1) <= b**a + a: below -Y, where
            b <= 1, at most (1 + a) Phi(-Y); above X >= mu/2, where b <= e**l, at most
            e**(a (a-1) mu**2/2) Phi(a mu - X) + a Phi(-X).
            Chords: ln A is convex in a, being the logarithm of a moment, so between whole orders it is below the
            chord and above the lines through their neighbours.
            Other pairs: E_Q e**(k l) = e**((k-1) D_k). Between whole orders from the divergence of the lower one, as it
            rises with the order, to the chord. Both ways: for a pair that some map of outcomes onto itself exchanges
            (Mironov, Talwar, Zhang, theorem 5), here l to -l.
            All rows: b**a is convex in q, so A(a) <= 1 - q + q E_Q[e**(a l)] = 1 - q + q e**(a (a-1) mu**2/2).
Source      Mironov, Talwar, Zhang 2019 (arXiv 1908.10530), theorems 4 and 5; Johansson 2018 (arXiv 1802.07942: the
            integral in balls).
Checked     tests/privacy/test_sampled_moments.py.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from functools import lru_cache
from typing import Any

from dpcurator.numbers import Enclosure
from dpcurator.numbers.arb import Ball, ball, precision
from dpcurator.numbers.enclosure import bracket
from dpcurator.privacy.distribution import ZERO
from dpcurator.privacy.narrow import enclosed

_ORDERS = 512  # whole orders whose moments are added up
_INTEGRALS = 64  # orders up to which the integral is made
_NARROWEST = 64  # greatest mu**2 for which it is: pieces of it are narrower than pi / mu
_BITS = (96, 192, 384)  # at which it is made, until it is narrow


def renyi_of_gaussian(square: Fraction, rate: Fraction, alpha: Fraction) -> Enclosure:
    """The divergence of order alpha > 1, in nats. square: mu**2 of the mechanism on all rows; rate: q in (0, 1]."""
    n = int(alpha)
    if square == 0:
        return ZERO
    whole = _of_all_rows(square, rate, alpha)
    if alpha > _ORDERS:
        return Enclosure(Fraction(0), whole / (alpha - 1))
    low, high = _moment(square, rate, n), _moment(square, rate, n + 1)
    if alpha == n:
        return low * (1 / (alpha - 1))
    share = alpha - n
    before, after = _moment(square, rate, n - 1), _moment(square, rate, n + 2)
    least = max(low.lo + share * (low.lo - before.hi), high.lo - (1 - share) * (after.hi - high.lo), Fraction(0))
    most = min(low.hi + share * (high.hi - low.hi), whole)
    if alpha <= _INTEGRALS and square <= _NARROWEST:
        found = _moment_between(square, rate, alpha)
        least, most = max(least, found.lo), min(most, found.hi)
    return Enclosure(min(least, most) / (alpha - 1), most / (alpha - 1))


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
    found = Enclosure(Fraction(0), alpha * (alpha - 1) * square / 2)
    for bits in _BITS:
        with precision(bits):
            made = _ln_moment(square, rate, alpha, bits)
            if made.is_finite():
                ends = bracket(made)
                found = Enclosure(max(found.lo, ends.lo), min(found.hi, ends.hi))
        if found.width * 2**64 <= found.lo:
            break
    return found


def _ln_moment(square: Fraction, rate: Fraction, alpha: Fraction, bits: int) -> Ball:
    from flint import acb, arb

    mu, a, q, less = ball(square).sqrt(), ball(alpha), ball(rate), ball(1 - rate)
    tail = bits * math.log(2)  # nats: what is left out is about e**-tail of the moment, which is at least q**a e**(...)
    lower = _up(math.sqrt(2 * tail))
    middle = float(alpha) * math.sqrt(float(square))
    upper = _up(middle + math.sqrt(2 * (tail + float(alpha) * -math.log(float(rate)))))
    shift, half = acb(mu), acb(ball(square / 2))

    def integrand(x: Any, analytic: bool) -> Any:
        odds = acb(less) + acb(q) * (shift * x - half).exp()
        if analytic and not odds.real > 0:
            return acb(float("nan"))
        return (odds.pow(acb(a)) - 1 - acb(a) * (odds - 1)) * (-x * x / 2).exp()

    inside = acb.integral(integrand, acb(ball(-lower)), acb(ball(upper)), rel_tol=arb(2) ** (8 - bits),
                          abs_tol=arb(2) ** (-4 * bits)).real  # fmt: skip
    inside = inside / (2 * arb.pi()).sqrt()
    below, above = _normal_tail(ball(lower)), _normal_tail(ball(upper))
    grown = (a * (a - 1) * ball(square / 2)).exp() * _normal_tail(ball(upper) - a * mu)
    outside = (1 + a) * below + grown + a * above
    return (inside + _from_0_to(outside)).log1p()


def _up(x: float) -> Fraction:
    """A little more, in sixteenths: where the integral ends, which is no claim."""
    return Fraction(math.ceil(16 * x) + 16, 16)


def _normal_tail(x: Ball) -> Ball:
    """P(Z > x) of a standard normal Z."""
    return (x / ball(2).sqrt()).erfc() / 2


def _from_0_to(most: Ball) -> Ball:
    """A ball that holds all of [0, most]."""
    return (most / 2).union(ball(0)).union(most)
