"""Laplace noise on the real line, of scale b, moved by s: P is Z, Q is Z + s; a = s/b.

Definition  L = (|z-s| - |z|)/b: a for z <= 0, a - 2z/b between, -a for z >= s.
Promise     Mass 1/2 at +a and e**-a / 2 at -a; between, P(L > x) = 1 - e**((x-a)/2) / 2, Q(L > x) = e**(-(a+x)/2) / 2.
            delta(eps) = 1 - e**((eps-a)/2) for eps <= a, then 0. KL = a + e**-a - 1. Renyi: (Mironov)
                ln( alpha/(2 alpha - 1) e**((alpha-1) a) + (alpha-1)/(2 alpha - 1) e**(-alpha a) ) / (alpha-1).
            ln E e**(z L) is ln(e**(-a/2) [cosh(a w) + sinh(a w)/(2 w)]) with w = z + 1/2.
Proof       {L > x} is {z < (a-x) b/2}. delta is the first less e**eps times the second. The mean of |z-s| is s + b
            e**-a, that of |z| is b. The integral of p**alpha q**(1-alpha) has the same three parts as L.
            **Vectors** of l1 length s are no easier to tell apart: 1 - delta(eps) = exp((eps-a)/2) for |eps| <= a, so
            parts with a = sum a_i and eps = sum eps_i multiply to it, and the mass of min(P, e**eps Q) of a product is
            at least the product of the parts'. rho: eps**2/2 (Bun, Steinke 2016, proposition 1.4).
Source      Dwork, McSherry, Nissim, Smith 2006; Mironov 2017, table II.
Checked     tests/privacy/test_families.py.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

from dpcurator.numbers import Enclosure, decimal_text
from dpcurator.numbers.arb import Ball, ball
from dpcurator.numbers.rational import at_least_0, positive
from dpcurator.privacy.distribution import ONE, ZERO, Atom, Distribution
from dpcurator.privacy.families import family
from dpcurator.privacy.families.grids import powers, within
from dpcurator.privacy.narrow import enclosed


def epsilon(given: family.Given) -> Fraction:
    return given["shift"] / given["scale"]


def _delta(given: family.Given, eps: Fraction) -> Enclosure:
    room = epsilon(given) - eps
    return ZERO if room <= 0 else enclosed(lambda bits: -(-ball(room / 2)).expm1(), most=Fraction(1))


def _kl(given: family.Given) -> Enclosure:
    a = epsilon(given)
    return ZERO if a == 0 else enclosed(lambda bits: ball(a) + (-ball(a)).expm1())


def _renyi(given: family.Given, alpha: Fraction) -> Enclosure:
    a = epsilon(given)
    if a == 0:
        return ZERO

    def divergence(bits: int) -> Ball:
        up, down = (ball((alpha - 1) * a)).exp(), (-ball(alpha * a)).exp()
        return (ball(alpha / (2 * alpha - 1)) * up + ball((alpha - 1) / (2 * alpha - 1)) * down).log() / ball(alpha - 1)

    return enclosed(divergence)


def _law(given: family.Given, most: int) -> Distribution:
    a = epsilon(given)

    def place(x: Fraction) -> Fraction | str:
        return x if -a <= x < a else ("none" if x >= a else "all")

    def survival(place: Any, bits: int) -> tuple[Ball, Ball]:
        if isinstance(place, str):
            return (ball(0), ball(0)) if place == "none" else (ball(1), ball(1))
        return smooth(ball(place))

    def smooth(x: Ball) -> tuple[Ball, Ball]:
        return 1 - ((x - ball(a)) / 2).exp() / 2, (-(x + ball(a)) / 2).exp() / 2

    ends = (
        Atom(a, Enclosure.exactly(Fraction(1, 2))),
        Atom(-a, enclosed(lambda bits: (-ball(a)).exp() / 2)),
    )
    atoms = ends if a else (Atom(a, ONE),)
    return Distribution(
        place=place,
        survival=survival,
        average=_kl(given),
        atoms=atoms,
        continuous=a > 0,
        smooth=smooth if a else None,
        reach=a,
    )


def _pair(given: family.Given) -> family.Pair:
    return family.Pair("Z", f"Z + {decimal_text(given['shift'])}", f"Z Laplace of scale {decimal_text(given['scale'])}")


def _group(given: family.Given, k: int) -> family.Named:
    return "laplace", {**given, "shift": given["shift"] * k}


def _simplest(given: family.Given) -> family.Named | None:
    a = epsilon(given)
    return ("laplace", {"scale": 1 / a, "shift": Fraction(1)}) if a else None


def _float_tails(given: family.Given) -> family.FloatTails:
    import numpy as np

    a = float(epsilon(given))

    def both(x: Any) -> tuple[Any, Any]:
        inside = np.clip(x, -a, a)
        first, second = 1 - np.exp((inside - a) / 2) / 2, np.exp(-(inside + a) / 2) / 2
        slack = 1e-13 * (1 + a)
        none, every = x >= a - slack, x < -a - slack
        return np.where(none, 0, np.where(every, 1, first)), np.where(none, 0, np.where(every, 1, second))

    return both


def _tails_on_grid(given: family.Given, start: Fraction, step: Fraction, n: int) -> list[family.Tails] | None:
    a = epsilon(given)

    def between(x: Fraction, count: int) -> list[family.Tails]:
        up, down = powers(x - a, step, count), powers(-x - a, -step, count)
        return [(1 - one / 2, other / 2) for one, other in zip(up, down, strict=True)]

    return within(-a, a, start, step, n, between) if a else None


def _moments(a: Any) -> family.Moments:
    import numpy as np

    def log(z: Any) -> Any:
        w = z + 0.5
        less = np.exp(-2 * a * w)
        return a * z + np.log((1 + less) / 2 + (1 - less) / (4 * w))

    def falls(c: float, t: float, end: float) -> Any:
        """|sinh| and |cosh| of c + it are at most cosh c."""
        return math.log1p(1 / (2 * t)) - np.log1p(np.tanh(a[:, 0] * (c + 0.5)) / (2 * c + 1))

    return family.Moments(log, falls, a)


FAMILY = family.Family(
    ranges={"scale": positive, "shift": at_least_0},
    pair=_pair,
    group=_group,
    spellings={
        "laplace": {
            ("epsilon",): lambda given: {"scale": Fraction(1), "shift": given["epsilon"]},
            ("scale", "sensitivity?"): family.noise("scale", 1, "scale"),
        }
    },
    pure_epsilon=epsilon,
    rho=lambda given: epsilon(given) ** 2 / 2,
    renyi=_renyi,
    delta=_delta,
    backward=None,
    reach=epsilon,
    kl=_kl,
    law=_law,
    together=None,
    reverse=None,
    sample=None,
    neighbours=None,
    simplest=_simplest,
    attained=None,
    apart=None,
    mu_squared=None,
    interval=None,
    tradeoff=None,
    lattice=lambda given: family.Lattice(epsilon(given), None, 2 * epsilon(given)),
    float_tails=_float_tails,
    tails_on_grid=_tails_on_grid,
    moments=family.MomentFunction(lambda given: (float(epsilon(given)),), _moments),
    points=None,
)
