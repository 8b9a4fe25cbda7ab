"""Randomised response: the chance `truth` of one's own value, `lie` of one other value, the rest shared alike.

Definition  P has masses (t, l) and Q has (l, t) on two values; on everything else, of mass 1 - t - l, they agree.
            `unary_encoding` (p, q) is that too: of the two bits that differ, (1, 0) has t = p (1-q), (0, 1) has
            l = q (1-p), and equal bits have the same chance under both.
Promise     L is ln(t/l) with mass t, minus that with mass l, and else 0. Then delta(eps) = max(t - e**eps l, 0),
            KL = (t-l) ln(t/l), and Renyi ln(t**a l**(1-a) + l**a t**(1-a) + 1-t-l) / (a-1). Where lying is
            likelier than the truth, the two change places. rho: eps**2/2 (Bun, Steinke 2016, proposition 1.4).
            ln E e**(z L) is ln(t e**(z x) + l e**(-z x) + 1-t-l), x = ln(t/l).
            A group of k records is pure, of epsilon k ln(t/l): k separate answers, each of that loss at most.
Proof       Read off the masses; t - e**eps l is not 0 unless t = l, as e**eps is not rational (Lindemann).
Source      Warner 1965; Kairouz, Bonawitz, Ramage 2016; Wang et al. 2017 (unary encoding).
Checked     tests/privacy/test_families.py.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

from dpcurator.errors import Refusal
from dpcurator.numbers import Enclosure, decimal_text, ln
from dpcurator.numbers.arb import Ball, ball, precision
from dpcurator.numbers.rational import between_0_and_1
from dpcurator.privacy.distribution import ONE, ZERO, Atom, Distribution
from dpcurator.privacy.families import family
from dpcurator.privacy.families.grids import atoms_in_doubles
from dpcurator.privacy.narrow import enclosed

_ROUNDED = Fraction(1, 2**116)  # no less than what an irrational loss is rounded by


def two_chances(given: family.Given) -> tuple[Fraction, Fraction]:
    """(t, l), the greater first."""
    if "p" in given:
        p, q = given["p"], given["q"]
        one, other = p * (1 - q), q * (1 - p)
    else:
        one, other = given["truth"], given["lie"]
        if one + other > 1:
            raise Refusal("truth and lie are probabilities of two different outcomes, and sum to at most 1.")
    return max(one, other), min(one, other)


def epsilon(given: family.Given) -> Fraction:
    """ln(t/l), rounded up; 0 where t = l."""
    truth, lie = two_chances(given)
    return ln(truth / lie).hi if truth > lie else Fraction(0)


def below_loss(x: Fraction, ratio: Fraction) -> bool:
    """Is x < ln(ratio)? For a ratio above 1, where they are never equal but at x = 0."""
    bits = 64
    while x > 0:
        with precision(bits + int(x).bit_length()):
            gap = ball(ratio).log() - ball(x)
            if gap > 0 or gap < 0:
                return bool(gap > 0)
        bits *= 2
    return ratio > 1 or x < 0


def _delta(given: family.Given, eps: Fraction) -> Enclosure:
    truth, lie = two_chances(given)
    if truth == lie or not below_loss(eps, truth / lie):
        return ZERO
    return enclosed(lambda bits: ball(truth) - ball(eps).exp() * ball(lie), most=Fraction(1))


def _kl(given: family.Given) -> Enclosure:
    truth, lie = two_chances(given)
    return ZERO if truth == lie else enclosed(lambda bits: ball(truth - lie) * ball(truth / lie).log())


def _renyi(given: family.Given, alpha: Fraction) -> Enclosure:
    truth, lie = two_chances(given)
    if truth == lie:
        return ZERO

    def divergence(bits: int) -> Ball:
        loss = ball(truth / lie).log()
        up, down = (ball(alpha - 1) * loss).exp(), (-ball(alpha) * loss).exp()
        return (ball(truth) * (up + down) + ball(1 - truth - lie)).log() / ball(alpha - 1)

    return enclosed(divergence)


def two_sided(truth: Fraction, lie: Fraction, average: Enclosure) -> Distribution:
    """The law of the losses ln(t/l), 0 and -ln(t/l)."""
    if truth == lie:
        return Distribution(
            place=lambda x: x < 0,
            survival=lambda place, bits: (ball(int(bool(place))), ball(int(bool(place)))),
            average=ZERO,
            atoms=(Atom(Fraction(0), ONE),),
        )
    loss, middle = ln(truth / lie), 1 - truth - lie

    def place(x: Fraction) -> int:
        """How many of the three, from the top, are above x."""
        if x >= 0:
            return int(below_loss(x, truth / lie))
        return 3 if below_loss(-x, truth / lie) is False else 2

    def survival(place: Any, bits: int) -> tuple[Ball, Ball]:
        first, second = (
            (Fraction(0), truth, truth + middle, Fraction(1)),
            (Fraction(0), lie, lie + middle, Fraction(1)),
        )
        return ball(first[place]), ball(second[place])

    told = ((loss, truth), (Fraction(0), middle), (-loss, lie))
    atoms = tuple(Atom(value, Enclosure.exactly(mass)) for value, mass in told if mass)
    return Distribution(place=place, survival=survival, average=average, atoms=atoms)


def _pair(given: family.Given) -> family.Pair:
    truth, lie = (decimal_text(part) for part in two_chances(given))
    return family.Pair("the answer of one value", "that of another", f"chances {truth} and {lie} changing places")


def _group(given: family.Given, k: int) -> family.Named:
    return "pure", {"epsilon": k * epsilon(given)}


def _simplest(given: family.Given) -> family.Named | None:
    truth, lie = two_chances(given)
    return ("randomised_response", {"lie": lie, "truth": truth}) if truth > lie else None


def _lattice(given: family.Given) -> family.Lattice:
    most = epsilon(given)
    if most == 0:
        return family.Lattice(most, None, None)
    less = most - _ROUNDED  # so that the points below are not below the atoms, which would share a cell
    return family.Lattice(most, 2 * less if sum(two_chances(given)) == 1 else less, 2 * less)


def _float_tails(given: family.Given) -> family.FloatTails:
    import numpy as np

    truth, lie = (float(part) for part in two_chances(given))
    e, middle = math.log(truth / lie), max(1 - truth - lie, 0.0)
    return atoms_in_doubles(np.array([e, 0.0, -e]), np.array([truth, middle, lie]), np.array([lie, middle, truth]), 0.0)


def _numbers(given: family.Given) -> tuple[float, ...]:
    truth, lie = two_chances(given)
    return float(truth), float(lie), float(1 - truth - lie)


def _moments(truth: Any, lie: Any, middle: Any) -> family.Moments:
    import numpy as np

    loss = np.log(truth / lie)

    def log(z: Any) -> Any:
        less = np.exp(-loss * z)
        return loss * z + np.log(truth + middle * less + lie * less * less)

    def falls(c: float, t: float, end: float) -> Any:
        """|K|**2 is a convex function of cos(u x), largest at an end."""
        less = np.exp(-loss[:, 0] * c)
        a, b, d = truth[:, 0], middle[:, 0] * less, lie[:, 0] * less * less

        def part(u: Any) -> Any:
            square = (a - d) ** 2 + b * b + 2 * b * (a + d) * u + 4 * a * d * u * u
            return np.log(np.maximum(square, 1e-300)) / 2 - np.log(a + b + d)

        if not math.isfinite(end):
            return 0 * a
        once = loss[:, 0] * end <= np.where(middle[:, 0] > 0, math.pi, math.pi / 2) * (1 + 1e-9)
        worst = np.maximum(part(np.cos(loss[:, 0] * t)), part(np.cos(loss[:, 0] * end)))
        return np.where(once, worst, 0.0)

    return family.Moments(log, falls, loss)


def _of_truth(given: family.Given) -> family.Given:
    return {"truth": given["truth"], "lie": given.get("lie", 1 - given["truth"])}


_MOMENTS = family.MomentFunction(_numbers, _moments)


def _family(*names: str, spellings: family.Spellings) -> family.Family:
    return family.Family(
        ranges=dict.fromkeys(names, between_0_and_1),
        pair=_pair,
        group=_group,
        spellings=spellings,
        pure_epsilon=epsilon,
        rho=lambda given: epsilon(given) ** 2 / 2,
        renyi=_renyi,
        delta=_delta,
        backward=None,
        reach=epsilon,
        kl=_kl,
        law=lambda given, most: two_sided(*two_chances(given), _kl(given)),
        together=two_chances,
        reverse=None,
        sample=None,
        neighbours="replace-one",
        simplest=_simplest,
        attained=None,
        apart=None,
        mu_squared=None,
        interval=None,
        tradeoff=None,
        lattice=_lattice,
        float_tails=_float_tails,
        tails_on_grid=None,
        moments=_MOMENTS,
        points=None,
    )


FAMILY = _family("truth", "lie", spellings={"randomised_response": {("truth", "lie?"): _of_truth}})
UNARY = _family("p", "q", spellings={"unary_encoding": family.as_given("p", "q")})
