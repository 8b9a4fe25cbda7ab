"""What rho-zCDP says in epsilon and delta, and back: exact rationals in and out, each rounded to the safe side.

Definition  For every a > 0 (Renyi order 1 + a), rho-zCDP implies (eps, delta)-DP with
                ln delta = a ((1+a) rho - eps) - ln a + (1+a) ln(a / (1+a)),
            which is convex in a: its slope, (2a+1) rho - eps - ln(1 + 1/a), rises from -inf to +inf. At its zero
            ln delta = -(a**2 rho + ln(1+a)), which gives every search below an equation of one rising side.
            Besides, the divergence of Kullback and Leibler is at most rho, so the total variation is at most
            sqrt(rho/2) (Pinsker), and that is a delta at eps = 0, hence at every eps >= 0.
Promise     `delta_of` is never below the least of these two, nor above 1. The order is searched in floats and then
            taken as the rational that it is; the bound there is evaluated in balls and its upper end returned. Another
            order would give a valid, larger bound; so what floats do can cost tightness alone. `epsilon_of` and
            `greatest_rho` return decimals for which `delta_of` was seen to be at most delta. The bounds are tight to
            about 1e-15 while rho and eps are within 1e-100 .. 1e100, and valid beyond.
Source      Canonne, Kamath, Steinke, NeurIPS 2020 (arXiv 2004.00010), proposition 12 and corollary 13; Bun, Steinke,
            TCC 2016 (arXiv 1605.02065), propositions 1.3 and 1.4; Dwork, Roth 2014, theorem 2.2 (groups).
Checked     tests/privacy/test_zcdp.py.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from functools import lru_cache

from dpcurator.errors import Refusal
from dpcurator.numbers.arb import Ball, ball, precision
from dpcurator.numbers.decimal_search import decimal_at, least_place, place_of
from dpcurator.numbers.enclosure import bracket
from dpcurator.numbers.rational import at_least_0, between_0_and_1

_BITS = 64  # significant bits of a delta returned
_EPS_FIGURES, _RHO_FIGURES = 12, 10  # decimal figures of what is returned
_GREATEST = 10**4  # epsilon of a selection under replacement
_LEAST_EPS = Fraction(1, 10**30)  # the least epsilon returned that is not 0


def delta_of(rho: Fraction, eps: Fraction) -> Fraction:
    """A delta at which rho-zCDP implies (eps, delta)-DP. rho, eps: Fraction >= 0; others are a Refusal."""
    return _delta(at_least_0(rho, name="rho"), at_least_0(eps, name="eps"))


def _delta(rho: Fraction, eps: Fraction) -> Fraction:
    if rho == 0:
        return Fraction(0)
    known = min(Fraction(1), _pinsker(rho))
    a = _order(rho, eps)
    exponent = a * ((1 + a) * rho - eps)
    if exponent > 0 and exponent > _BITS * 2000:  # no use, and too large to write out
        return known
    with precision(96 + int(abs(exponent)).bit_length()):
        rest = -ball(a).log() - (1 + ball(a)) * ball(1 / a).log1p()
        return min(known, _up((ball(exponent) + rest).exp()))


def epsilon_of(rho: Fraction, delta: Fraction) -> Fraction:
    """The least eps of 12 decimal figures (rounded up) with delta_of(rho, eps) <= delta; 0 if that does.

    rho: Fraction >= 0; delta: Fraction in (0, 1). Raises Refusal for others.
    """
    rho, delta = at_least_0(rho, name="rho"), between_0_and_1(delta)
    if _delta(rho, Fraction(0)) <= delta:
        return Fraction(0)
    slope, wanted = _float(rho), _minus_ln(delta)
    a = _root(lambda a: a * a * slope + math.log1p(a) - wanted)
    guess = (2 * a + 1) * slope - math.log1p(1 / a)
    least = place_of(_LEAST_EPS, _EPS_FIGURES)

    def enough(place: int) -> bool:
        return place >= least and _delta(rho, decimal_at(place, _EPS_FIGURES)) <= delta

    return decimal_at(least_place(enough, place_of(max(Fraction(guess), _LEAST_EPS), _EPS_FIGURES)), _EPS_FIGURES)


def greatest_rho(eps: Fraction, delta: Fraction) -> Fraction:
    """The greatest rho of 10 decimal figures (rounded down) with delta_of(rho, eps) <= delta.

    eps: Fraction >= 0; delta: Fraction in (0, 1). Raises Refusal for others.
    """
    return _greatest_rho(at_least_0(eps, name="eps"), between_0_and_1(delta))


@lru_cache(maxsize=256)  # a search, and the questions of a batch and the lines of a menu have the same shares
def _greatest_rho(eps: Fraction, delta: Fraction) -> Fraction:
    target, wanted = _float(eps), _minus_ln(delta)

    def slope(a: float) -> float:
        return (target + math.log1p(1 / a)) / (2 * a + 1)

    a = _root(lambda a: a * a * slope(a) + math.log1p(a) - wanted)
    guess = max(Fraction(slope(a)), 2 * delta * delta)  # 2 delta**2 is Pinsker's

    def too_much(place: int) -> bool:
        return _delta(decimal_at(place, _RHO_FIGURES), eps) > delta

    return decimal_at(least_place(too_much, place_of(guess, _RHO_FIGURES) + 1) - 1, _RHO_FIGURES)


def pure_to_rho(eps: Fraction) -> Fraction:
    """eps**2 / 2: the rho of whatever is (eps, 0)-DP, and with an equal delta of whatever is (eps, delta)-DP.

    It is the loss of the whole release, a vector included. A vector with independent noise whose eps is its l1
    sensitivity over the scale has this rho once, and not once for each coordinate. eps: Fraction >= 0.
    """
    return at_least_0(eps, name="eps") ** 2 / 2


def selection_under_replacement(eps: Fraction, delta: Fraction) -> tuple[Fraction, Fraction]:
    """(2 eps, delta (1 + e**eps)), the second rounded up; it may pass 1. Two steps of what is (eps, delta)-DP.

    Replacing a unit is taking one out and putting one in. eps: Fraction in [0, 10,000]; delta: Fraction >= 0.
    """
    eps, delta = at_least_0(eps, name="eps"), at_least_0(delta, name="delta")
    if eps > _GREATEST:
        raise Refusal("eps is beyond 10,000, which promises nothing.", cure="Write eps as in 0.5.")
    if delta == 0:
        return 2 * eps, delta
    with precision(128):
        return 2 * eps, _up(ball(delta) * (1 + ball(eps).exp()))


def _pinsker(rho: Fraction) -> Fraction:
    with precision(128):
        return _up(ball(rho / 2).sqrt())


def _order(rho: Fraction, eps: Fraction) -> Fraction:
    """About the best a. Any number above 0 is right."""
    slope, target = _float(rho), _float(eps)
    return Fraction(_root(lambda a: (2 * a + 1) * slope - target - math.log1p(1 / a)))


def _root(rising: Callable[[float], float]) -> float:
    """About where a rising function of a > 0 passes 0, by bisection of ln a; within 1e-250 .. 1e250."""
    low, high = -575.0, 575.0
    for _ in range(62):
        middle = (low + high) / 2
        low, high = (low, middle) if rising(math.exp(middle)) > 0 else (middle, high)
    return math.exp(low)


def _float(value: Fraction) -> float:
    """Near `value` where that is within 1e-100 .. 1e100 or 0, else the nearer end: a search may be off."""
    return float(min(max(value, Fraction(1, 10**100)), Fraction(10**100))) if value else 0.0


def _minus_ln(delta: Fraction) -> float:
    return math.log(delta.denominator) - math.log(delta.numerator)


def _up(value: Ball) -> Fraction:
    """The upper end of a positive ball, rounded up to 64 significant bits."""
    high = bracket(value).hi
    shift = _BITS - high.numerator.bit_length() + high.denominator.bit_length()
    unit = Fraction(1, 1 << shift) if shift >= 0 else Fraction(1 << -shift)
    return math.ceil(high / unit) * unit
