"""Discrete Laplace noise of scale b, moved by a whole shift s: P is Z, Q is Z + s; p = exp(-1/b).

Definition  L(k) = (|k-s| - |k|) / b: s/b for k <= 0, (s-2k)/b between, -s/b for k >= s.
Promise     All in closed form, for any shift; nothing is summed over it.
Proof       {L > x} is {k <= m} with m = ceil((s - b x)/2) - 1 for -s/b <= x < s/b, so 0 <= m < s, and
                P(Z <= m) = 1 - p**(m+1) / (1+p),        P(Z + s <= m) = p**(s-m) / (1+p).
            KL = (E|Z-s| - E|Z|)/b, where E|Z-s| = s + 2 E max(Z-s, 0) = s + 2 p**(s+1)/(1-p**2), and E|Z| is that at
            s = 0; hence KL = (s - 2p (1-p**s)/(1-p**2))/b.
            Renyi: sum P**a Q**(1-a) = (1-p)/(1+p) [ (p**((1-a)s) + p**(a s))/(1-p) + p**((1-a)s) (r - r**s)/(1-r) ],
            r = p**(2a-1): the outcomes k <= 0, those k >= s, and those between.
            **Vectors.** Independent noise on a vector whose coordinates move by s_i, sum |s_i| = s, is no easier to
            tell apart than one shift by s. 1 - delta(eps) is the mass of min(P, e**eps Q), which for a product is at
            least the product of the factors' at any eps_i that sum to eps. At eps = (s-2j)/b the formula above is
            1 - delta = p**j = exp((eps - s/b)/2); taking j = sum j_i with 0 <= j_i <= s_i makes the product p**j too.
            Between such eps both deltas are linear in e**eps, as every loss is one of them. So the l1 sensitivity is
            the shift. rho: eps**2/2 with eps = s/b, as of anything eps-DP (Bun, Steinke 2016, proposition 1.4).
            ln E e**(z L) is ln(e**(-a/2)/(1+p) [2 cosh(a w) + (1-p) sinh((s-1) q w)/sinh(q w)]) with w = z + 1/2,
            q = 1/b and a = s q.
Source      Ghosh, Roughgarden, Sundararajan, STOC 2009 (the law).
Checked     tests/privacy/test_families.py, tests/laws/test_every_mechanism.py.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

from dpcurator.numbers import Enclosure, decimal_text
from dpcurator.numbers.arb import Ball, ball
from dpcurator.numbers.rational import positive, whole
from dpcurator.privacy.distribution import ZERO, Atom, Distribution
from dpcurator.privacy.families import family
from dpcurator.privacy.narrow import enclosed


def epsilon(given: family.Given) -> Fraction:
    return given["shift"] / given["scale"]


def _place(given: family.Given, x: Fraction) -> int:
    """m, the last outcome whose loss is above x: from -1, none, to s, all."""
    shift = int(given["shift"])
    return min(max(math.ceil((shift - given["scale"] * x) / 2) - 1, -1), shift)


def _place_of_all(given: family.Given, x: Fraction) -> int:
    """`_place`, where x at or above the largest loss has no outcome, and x below the least has all."""
    if x >= epsilon(given):
        return -1
    return int(given["shift"]) if x < -epsilon(given) else _place(given, x)


def _survival(given: family.Given, m: int) -> tuple[Ball, Ball]:
    shift, scale = int(given["shift"]), given["scale"]
    if m < 0:
        return ball(0), ball(0)
    if m >= shift:
        return ball(1), ball(1)
    p = (-ball(1 / scale)).exp()
    return 1 - (-ball((m + 1) / scale)).exp() / (1 + p), (-ball((shift - m) / scale)).exp() / (1 + p)


def _delta(given: family.Given, eps: Fraction) -> Enclosure:
    m = _place_of_all(given, eps)
    if m < 0:
        return ZERO

    def gap(bits: int) -> Ball:
        first, second = _survival(given, m)
        return first - ball(eps).exp() * second

    return enclosed(gap, most=Fraction(1))


def _kl(given: family.Given) -> Enclosure:
    shift, scale = given["shift"], given["scale"]
    if shift == 0:
        return ZERO

    def mean(bits: int) -> Ball:
        less_p, less_power = -(-ball(1 / scale)).expm1(), -(-ball(shift / scale)).expm1()
        p = 1 - less_p
        return (ball(shift) - 2 * p * less_power / (less_p * (1 + p))) / ball(scale)

    return enclosed(mean)


def _renyi(given: family.Given, alpha: Fraction) -> Enclosure:
    shift, scale = given["shift"], given["scale"]
    if shift == 0:
        return ZERO

    def divergence(bits: int) -> Ball:
        p = (-ball(1 / scale)).exp()
        up, down = ((alpha - 1) * shift / scale, alpha * shift / scale)
        ratio, power = ((-ball(z * (2 * alpha - 1) / scale)).exp() for z in (Fraction(1), shift))
        ends = (ball(up).exp() + (-ball(down)).exp()) / (1 - p)
        total = (1 - p) / (1 + p) * (ends + ball(up).exp() * (ratio - power) / (1 - ratio))
        return total.log() / ball(alpha - 1)

    return enclosed(divergence)


def _law(given: family.Given, most: int) -> Distribution:
    shift, scale = int(given["shift"]), given["scale"]

    def survival(place: Any, bits: int) -> tuple[Ball, Ball]:
        return _survival(given, place)

    def mass(k: int) -> Enclosure:
        """P(L = (s-2k)/b): all k <= 0 together, each k between, all k >= s together."""

        def value(bits: int) -> Ball:
            p = (-ball(1 / scale)).exp()
            return (-ball(k / scale)).exp() / (1 + p) * (1 if k in (0, shift) else 1 - p)

        return enclosed(value, most=Fraction(1))

    listed = min(shift + 1, max(most, 1))
    atoms = tuple(Atom((shift - 2 * k) / scale, mass(k)) for k in range(listed))
    if shift == 0:
        atoms = (Atom(Fraction(0), Enclosure.exactly(1)),)
    rest = enclosed(lambda bits: 1 - _survival(given, listed - 1)[0]) if listed <= shift else ZERO
    place = lambda x: _place_of_all(given, x)  # noqa: E731
    return Distribution(place=place, survival=survival, average=_kl(given), atoms=atoms, below=rest)


def _pair(given: family.Given) -> family.Pair:
    return family.Pair("Z", f"Z + {given['shift']}", f"Z discrete Laplace of scale {decimal_text(given['scale'])}")


def _group(given: family.Given, k: int) -> family.Named:
    return "discrete_laplace", {**given, "shift": given["shift"] * k}


def _simplest(given: family.Given) -> family.Named | None:
    return ("discrete_laplace", given) if given["shift"] else None


def _float_tails(given: family.Given) -> family.FloatTails:
    import numpy as np

    shift, scale = float(given["shift"]), float(given["scale"])
    p = math.exp(-1 / scale)

    def both(x: Any) -> tuple[Any, Any]:
        m = np.clip(np.ceil((shift - scale * x) / 2 - 1e-9) - 1, -1, shift)
        first, second = 1 - np.exp(-(m + 1) / scale) / (1 + p), np.exp(-(shift - m) / scale) / (1 + p)
        slack = 1e-12 * (1 + shift / scale)
        none, every = (m < 0) | (x >= shift / scale - slack), x < -shift / scale - slack
        return np.where(none, 0, np.where(every, 1, first)), np.where(none, 0, np.where(every, 1, second))

    return both


def _moments(shift: Any, q: Any) -> family.Moments:
    import numpy as np

    a, less_p = shift * q, -np.expm1(-q)

    def log(z: Any) -> Any:
        w = z + 0.5
        step = np.exp(-2 * q * w)
        between = less_p * step * np.expm1(-2 * (shift - 1) * q * w) / np.expm1(-2 * q * w)
        return a * z + np.log((1 + np.exp(-2 * a * w) + between) / (2 - less_p))

    def falls(c: float, t: float, end: float) -> Any:
        r = c + 0.5
        up = [1 + sign * np.exp(-2 * (shift[:, 0] - 1) * q[:, 0] * r) for sign in (1, -1)]  # cosh, sinh
        ends, step = 1 + np.exp(-2 * a[:, 0] * r), less_p[:, 0] * np.exp(-q[:, 0] * r)
        small = np.exp(-q[:, 0] * r)
        low = (1 - small * small) / 2 / small  # sinh(q r)
        here = np.sqrt(low * low + np.sin(np.minimum(q[:, 0] * t, math.pi / 2)) ** 2)
        found = np.log((ends + step * up[0] / 2 / here) / (ends + step * up[1] / 2 / low))
        return np.where(q[:, 0] * end <= math.pi / 2 * (1 + 1e-9), found, 0.0)

    return family.Moments(log, falls, a)


FAMILY = family.Family(
    ranges={"scale": positive, "shift": whole},
    pair=_pair,
    group=_group,
    spellings={"discrete_laplace": {("scale", "sensitivity?"): family.noise("scale", 1, "scale")}},
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
    lattice=lambda given: family.Lattice(epsilon(given), 2 / given["scale"], 2 * epsilon(given)),
    float_tails=_float_tails,
    tails_on_grid=None,
    moments=family.MomentFunction(lambda given: (float(given["shift"]), float(1 / given["scale"])), _moments),
    points=None,
)
