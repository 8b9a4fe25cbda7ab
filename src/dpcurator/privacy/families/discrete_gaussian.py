"""Discrete Gaussian noise of variance parameter v, moved by a whole shift s: P is Z, Q is Z + s. And vectors of it.

Definition  L(k) = (s**2 - 2 k s) / (2 v), one atom for each outcome; all are rational.
Promise     delta is that of the law itself (privacy/discrete_gaussian.py). KL = s**2/(2v) = rho, exactly. Renyi:
            alpha rho + ln(theta(alpha s) / theta(0)) / (alpha-1), theta(c) the sum of exp(-(k-c)**2/(2v)); the second
            part is 0 where alpha s is whole, and never above 0.
Proof       The mean of Z is 0, so that of L is s**2/(2v). Completing the square in p**alpha q**(1-alpha) gives Renyi.
            By Poisson's sum theta(c)/theta(0) = theta_3(c, 2 pi i v) / theta_3(0, 2 pi i v), which is at most 1.
            {L > x} is {k <= m}, m = ceil(s/2 - x v/s) - 1.
            A vector of independent noise has the rho and the KL of its l2 length, as both add over coordinates; which
            integer shift of that length is the worst at one epsilon is not known here, so it has no delta.
Source      Canonne, Kamath, Steinke 2020 (arXiv 2004.00010).
Checked     tests/privacy/test_families.py, tests/mechanisms/test_discrete_gaussian.py.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

from dpcurator.numbers import Enclosure, decimal_text
from dpcurator.numbers.arb import Ball, ball, precision
from dpcurator.privacy import discrete_gaussian as sums
from dpcurator.privacy.distribution import ONE, Atom, Distribution
from dpcurator.privacy.families.family import Family, Given, Named, Pair, above_0, at_least_0, whole_number
from dpcurator.privacy.narrow import enclosed


def _rho(given: Given) -> Fraction:
    return given["shift"] ** 2 / (2 * given["variance"])


def _renyi(given: Given, alpha: Fraction) -> Enclosure:
    whole, centre = alpha * _rho(given), (alpha * given["shift"]) % 1
    if centre == 0:
        return Enclosure.exactly(whole)

    def less(bits: int) -> Ball:
        from flint import acb, arb

        tau = acb(0, 2 * arb.pi() * ball(given["variance"]))
        here, there = (acb.modular_theta(acb(ball(c)), tau)[2].real for c in (centre, Fraction(0)))
        return -(here / there).log() / ball(alpha - 1)

    return whole - enclosed(less)


def _law(given: Given, most: int) -> Distribution:
    shift, variance = int(given["shift"]), given["variance"]
    average = Enclosure.exactly(_rho(given))
    if shift == 0:
        return Distribution(
            place=lambda x: x < 0,
            survival=lambda place, bits: (ball(int(bool(place))), ball(int(bool(place)))),
            average=average,
            atoms=(Atom(Fraction(0), ONE),),
        )

    def place(x: Fraction) -> int:
        return math.ceil(Fraction(shift, 2) - x * variance / shift) - 1

    def survival(m: Any, bits: int) -> tuple[Ball, Ball]:
        """P(Z <= m), by symmetry P(Z >= -m); and P(Z + s <= m)."""
        total = sums.whole(variance, bits)
        return sums.upper(variance, -m, bits) / total, sums.upper(variance, shift - m, bits) / total

    def mass(k: int) -> Enclosure:
        def value(bits: int) -> Ball:
            with precision(bits + int(k * k / variance).bit_length()):
                return (-ball(k * k / (2 * variance))).exp() / sums.whole(variance, bits)

        return enclosed(value, most=Fraction(1))

    far = min(max(most - 1, 0) // 2, 1 + math.isqrt(math.ceil(180 * variance)))  # beyond: below e**-90
    half = {k: mass(k) for k in range(far + 1)}
    atoms = tuple(
        Atom(Fraction(shift * shift - 2 * k * shift) / (2 * variance), half[abs(k)]) for k in range(-far, far + 1)
    )
    rest = enclosed(lambda bits: sums.upper(variance, far + 1, bits) / sums.whole(variance, bits))
    return Distribution(place=place, survival=survival, average=average, atoms=atoms, above=rest, below=rest)


def _delta(given: Given, eps: Fraction) -> Enclosure:
    return sums.delta(given["variance"], int(given["shift"]), eps)


def _pair(given: Given) -> Pair:
    return Pair("Z", f"Z + {given['shift']}", f"Z discrete Gaussian of variance {decimal_text(given['variance'])}")


def _vector_pair(given: Given) -> Pair:
    where = f"Z independent discrete Gaussians of variance {decimal_text(given['variance'])}"
    return Pair("Z", "Z + s", f"{where}, s any integers whose squares sum to {decimal_text(given['l2_squared'])}")


FAMILY = Family(
    ranges={"variance": above_0, "shift": whole_number},
    pair=_pair,
    group=lambda given, k: ("discrete_gaussian", {**given, "shift": given["shift"] * k}),
    rho=_rho,
    renyi=_renyi,
    delta=_delta,
    kl=lambda given: Enclosure.exactly(_rho(given)),
    law=_law,
)


def _vector_rho(given: Given) -> Fraction:
    return given["l2_squared"] / (2 * given["variance"])


def _vector_group(given: Given, k: int) -> Named:
    return "discrete_gaussian_vector", {**given, "l2_squared": given["l2_squared"] * k * k}


VECTOR = Family(
    ranges={"variance": above_0, "l2_squared": at_least_0},
    pair=_vector_pair,
    group=_vector_group,
    rho=_vector_rho,
    kl=lambda given: Enclosure.exactly(_vector_rho(given)),
)
