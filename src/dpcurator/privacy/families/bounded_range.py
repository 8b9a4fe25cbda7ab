"""Bounded range: all log-ratios of two neighbours lie within one interval of length epsilon (exponential mechanism).

Definition  For t in [0, eps] the pair of two outcomes whose log-ratios are t and t - eps: P = (p, 1-p) and
            Q = (e**-t p, 1 - e**-t p), with p = (e**eps - e**t)/(e**eps - 1).
Promise     delta(x) = (e**(eps/2) - e**(x/2))**2 / (e**eps - 1) for x <= eps, then 0: the supremum over t, at
            t = (eps+x)/2. It is never above that of pure eps: at 0 about half of it. kl is the supremum of KL over t,
            ln((e**eps-1)/eps) - 1 + eps/(e**eps-1), at e**t = (e**eps-1)/eps. rho = eps**2/8.
            Renyi is the supremum over t too: with E = e**eps and r = E**(1-alpha), ln(u**(alpha-1) (E-r)/(alpha (E-1)))
            / (alpha-1), at u = e**t = (alpha-1) (E-r)/(alpha (1-r)).
            ln E e**(z L) of the law is ln(sinh(eps w)/(2 w sinh(eps/2))) with w = z + 1/2.
            The law is that of the one pair whose delta is this curve at every x: density
            e**((eps+x)/2) / (2 (e**eps-1)) on [-eps, eps]. It dominates every mechanism of the range, and so its mean,
            eps coth(eps/2) - 2, is above kl: no single one is the worst at all x.
Proof       For a set of chances p, q the range gives p <= e**t q and 1-p >= e**(t-eps) (1-q). p - e**x q is linear
            and that region convex, so the largest is at its corner, the pair above, where it is
            (e**eps - e**t)(1 - e**(x-t))/(e**eps-1); deriving by e**t gives t. KL: L = -ln y with y in
            [e**-t, e**(eps-t)] of mean 1 under P; -ln is convex, so y is at the ends. Renyi: y**(1-alpha) is convex
            too, so the pair's p u**(alpha-1) + (1-p) (u/E)**(alpha-1) = [u**(alpha-1) (E-r) - u**alpha (1-r)]/(E-1) is
            the most, greatest at that u, which is in [1, E] by Bernoulli's inequality. The law: H(w) = delta(ln w) is
            convex, falling, 1-w up to e**-eps and 0 from e**eps, so it is the profile of a pair with Q(L > x) =
            -H'(e**x) (Zhu, Dong, Wang 2022). A group of k is of range k eps: the intervals add up.
Source      Dong, Durfee, Rogers, ICML 2020 (arXiv 1909.13830); rho: Cesar, Rogers 2021 (arXiv 2004.07223).
Checked     tests/privacy/test_families.py.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

from dpcurator.numbers import Enclosure, decimal_text
from dpcurator.numbers.arb import Ball, ball
from dpcurator.numbers.rational import at_least_0
from dpcurator.privacy.distribution import ONE, ZERO, Atom, Distribution
from dpcurator.privacy.families import family
from dpcurator.privacy.families.grids import powers, within
from dpcurator.privacy.narrow import enclosed


def _epsilon(given: family.Given) -> Fraction:
    return given["epsilon"]


def _delta(given: family.Given, eps: Fraction) -> Enclosure:
    epsilon = given["epsilon"]
    if eps >= epsilon:
        return ZERO

    def worst(bits: int) -> Ball:
        return (ball(eps - epsilon) / 2).expm1() ** 2 / -(-ball(epsilon)).expm1()

    return enclosed(worst, most=Fraction(1))


def _kl(given: family.Given) -> Enclosure:
    epsilon = given["epsilon"]
    if epsilon == 0:
        return ZERO

    def most(bits: int) -> Ball:
        """(e**eps-1)/eps is e**eps (1-e**-eps)/eps, so that a large epsilon writes no large number."""
        shrunk = -(-ball(epsilon)).expm1()
        return ball(epsilon) + (shrunk / ball(epsilon)).log() - 1 + ball(epsilon) * (-ball(epsilon)).exp() / shrunk

    return enclosed(most)


def _law(given: family.Given, most: int) -> Distribution:
    epsilon = given["epsilon"]

    def place(x: Fraction) -> Fraction:
        return min(max(x, -epsilon), epsilon) if epsilon else Fraction(-1 if x < 0 else 0)

    def survival(place: Any, bits: int) -> tuple[Ball, Ball]:
        if epsilon == 0 or place == epsilon or place == -epsilon:
            every = ball(int(place < 0))
            return every, every
        return smooth(ball(place))

    def smooth(x: Ball) -> tuple[Ball, Ball]:
        first = -((x - ball(epsilon)) / 2).expm1() / -(-ball(epsilon)).expm1()
        return first, (-(ball(epsilon) + x) / 2).exp() * first

    if epsilon == 0:
        return Distribution(place=place, survival=survival, average=ZERO, atoms=(Atom(Fraction(0), ONE),))
    average = enclosed(lambda bits: ball(epsilon) * (ball(epsilon) / 2).coth() - 2)
    return Distribution(place=place, survival=survival, average=average, continuous=True, smooth=smooth, reach=epsilon)


def _pair(given: family.Given) -> family.Pair:
    epsilon = decimal_text(given["epsilon"])
    return family.Pair(
        "a coin", "another coin", f"log-ratios t and t - {epsilon} of its sides; at x the worst t is ({epsilon} + x)/2"
    )


def _group(given: family.Given, k: int) -> family.Named:
    return "bounded_range", {"epsilon": k * given["epsilon"]}


def _renyi(given: family.Given, alpha: Fraction) -> Enclosure:
    epsilon = given["epsilon"]
    if epsilon == 0:
        return ZERO

    def divergence(bits: int) -> Ball:
        """E is taken out of E - r and E - 1, so that a large epsilon writes no large number."""
        shrunk, less_r = -(-ball(epsilon)).expm1(), -(-ball((alpha - 1) * epsilon)).expm1()
        most = -(-ball(alpha * epsilon)).expm1()
        log_u = ball(epsilon) + (ball((alpha - 1) / alpha) * most / less_r).log()
        return log_u + (most / (ball(alpha) * shrunk)).log() / ball(alpha - 1)

    return enclosed(divergence)


def _attained(given: family.Given) -> family.Named:
    """The coin of t = eps/2. The law above dominates all mechanisms of the range and is none of them, and many of them
    together are cheaper than many of it."""
    return "pure", {"epsilon": given["epsilon"] / 2}


def _simplest(given: family.Given) -> family.Named | None:
    return ("bounded_range", given) if given["epsilon"] else None


def _float_tails(given: family.Given) -> family.FloatTails:
    import numpy as np

    e = float(given["epsilon"])

    def both(x: Any) -> tuple[Any, Any]:
        inside = np.clip(x, -e, e)
        first = np.expm1((inside - e) / 2) / math.expm1(-e)
        return first, np.exp(-(e + inside) / 2) * first

    return both


def _tails_on_grid(given: family.Given, start: Fraction, step: Fraction, n: int) -> list[family.Tails] | None:
    e = given["epsilon"]

    def between(x: Fraction, count: int) -> list[family.Tails]:
        whole = -(-ball(e)).expm1()
        first = [(1 - power) / whole for power in powers(x - e, step, count)]
        return [(one, one * power) for one, power in zip(first, powers(-x - e, -step, count), strict=True)]

    return within(-e, e, start, step, n, between) if e else None


def _moments(e: Any) -> family.Moments:
    import numpy as np

    def log(z: Any) -> Any:
        w = z + 0.5
        return e * z + np.log(np.expm1(-2 * e * w) / (2 * w * np.expm1(-e)))

    return family.Moments(log, lambda c, t, end: np.log((c + 0.5) / (t * np.tanh(e[:, 0] * (c + 0.5)))), e)


FAMILY = family.Family(
    ranges={"epsilon": at_least_0},
    pair=_pair,
    group=_group,
    spellings={"exponential": family.as_given("epsilon"), "bounded_range": family.as_given("epsilon")},
    pure_epsilon=_epsilon,
    rho=lambda given: given["epsilon"] ** 2 / 8,
    renyi=_renyi,
    delta=_delta,
    backward=None,
    reach=_epsilon,
    kl=_kl,
    law=_law,
    together=None,
    reverse=None,
    sample=None,
    neighbours=None,
    simplest=_simplest,
    attained=_attained,
    apart=None,
    mu_squared=None,
    interval=_epsilon,
    tradeoff=None,
    lattice=lambda given: family.Lattice(given["epsilon"], None, given["epsilon"] or None),
    float_tails=_float_tails,
    tails_on_grid=_tails_on_grid,
    moments=family.MomentFunction(lambda given: (float(given["epsilon"]),), _moments),
    points=None,
)
