"""Gaussian noise on the real line, moved by s: P is Z, Q is Z + s; mu = s / sigma.

Definition  L is Gaussian of mean mu**2/2 and variance mu**2, under P; of mean -mu**2/2 under Q.
Promise     delta is the exact curve (privacy/gaussian.py). KL = rho = mu**2/2 and the Renyi divergence of order alpha
            is alpha mu**2/2, all rational. A vector of l2 length s has the same pair: turn the axes along the shift.
Source      Balle, Wang 2018, lemma 3; Bun, Steinke 2016, proposition 1.6; Mironov 2017, proposition 7.
Checked     tests/privacy/test_families.py.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from dpcurator.numbers import Enclosure, decimal_text
from dpcurator.numbers.arb import Ball, ball
from dpcurator.privacy import gaussian
from dpcurator.privacy.distribution import ONE, Atom, Distribution
from dpcurator.privacy.families.family import Family, Given, Named, Pair, above_0, at_least_0


def _mu_squared(given: Given) -> Fraction:
    return given["shift"] ** 2 / given["variance"]


def _law(given: Given, most: int) -> Distribution:
    square = _mu_squared(given)
    average = Enclosure.exactly(square / 2)

    def survival(place: Any, bits: int) -> tuple[Ball, Ball]:
        if square == 0:
            every = ball(int(place < 0))
            return every, every
        return smooth(ball(place))

    def smooth(x: Ball) -> tuple[Ball, Ball]:
        spread = ball(2 * square).sqrt()
        return ((x - ball(square / 2)) / spread).erfc() / 2, ((x + ball(square / 2)) / spread).erfc() / 2

    def place(x: Fraction) -> Fraction:
        return x if square else Fraction(-1 if x < 0 else 1)

    atoms = () if square else (Atom(Fraction(0), ONE),)
    return Distribution(
        place=place,
        survival=survival,
        average=average,
        atoms=atoms,
        continuous=square > 0,
        smooth=smooth if square else None,
    )


def _pair(given: Given) -> Pair:
    return Pair("Z", f"Z + {decimal_text(given['shift'])}", f"Z Gaussian of variance {decimal_text(given['variance'])}")


def _group(given: Given, k: int) -> Named:
    return "gaussian", {**given, "shift": given["shift"] * k}


FAMILY = Family(
    ranges={"variance": above_0, "shift": at_least_0},
    pair=_pair,
    group=_group,
    rho=lambda given: _mu_squared(given) / 2,
    renyi=lambda given, alpha: Enclosure.exactly(alpha * _mu_squared(given) / 2),
    delta=lambda given, eps: gaussian.curve(_mu_squared(given), eps),
    kl=lambda given: Enclosure.exactly(_mu_squared(given) / 2),
    law=_law,
)
