"""Anything that is (epsilon, delta)-DP, and with delta 0 anything that is pure: by the pair that dominates them all.

Definition  With e = epsilon and d = delta, on four outcomes
                P = (d, (1-d) e**e/(1+e**e), (1-d)/(1+e**e), 0),    Q = the same, backwards.
            So L is infinite with chance d, and else e or -e as in randomised response.
Promise     delta(x) = d + (1-d) (e**e - e**x)/(1+e**e) for x <= e, and d beyond. With d = 0, KL = e tanh(e/2), which no
            eps-DP pair exceeds; with d > 0 it is infinite. Renyi (d = 0): that of the two-point pair. rho = e**2/2.
            ln E e**(z L) without what is infinite is ln(cosh(e w)/cosh(e/2)) with w = z + 1/2. The trade-off is
            max(0, 1 - d - e**e alpha, e**-e (1 - d - alpha)).
            A group of k is (k e, d (e**(k e) - 1)/(e**e - 1)), the second rounded up; refused where that reaches 1.
Proof       Kairouz, Oh, Viswanath 2015, theorem 1: whatever is (e, d)-DP is a post-processing of this pair, and no
            divergence grows by post-processing. Groups: privacy/group.py. rho: Bun, Steinke 2016, proposition 1.4.
Checked     tests/privacy/test_families.py.
"""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction
from typing import Any

from dpcurator.errors import Refusal
from dpcurator.numbers import Enclosure, decimal_text, exp_neg
from dpcurator.numbers.arb import Ball, ball, precision
from dpcurator.numbers.enclosure import bracket
from dpcurator.numbers.rational import at_least_0, from_0_below_1
from dpcurator.privacy.distribution import ZERO, Atom, Distribution
from dpcurator.privacy.families import family
from dpcurator.privacy.families.grids import atoms_in_doubles
from dpcurator.privacy.group import growth
from dpcurator.privacy.narrow import enclosed


def _parts(given: family.Given) -> tuple[Fraction, Fraction]:
    return given["epsilon"], given.get("delta", Fraction(0))


def _epsilon(given: family.Given) -> Fraction:
    return given["epsilon"]


def _likelier(epsilon: Fraction) -> Ball:
    """e**eps/(1+e**eps)."""
    return 1 / (1 + (-ball(epsilon)).exp())


def _delta(given: family.Given, eps: Fraction) -> Enclosure:
    epsilon, delta = _parts(given)
    if eps >= epsilon:
        return Enclosure.exactly(delta)

    def gap(bits: int) -> Ball:
        return ball(delta) + ball(delta - 1) * ball(eps - epsilon).expm1() * _likelier(epsilon)

    return enclosed(gap, most=Fraction(1))


def _kl(given: family.Given) -> Enclosure:
    epsilon, delta = _parts(given)
    if delta:
        raise Refusal("approximate has no finite mean known here.", cure="Read its delta at an epsilon.")
    return ZERO if epsilon == 0 else enclosed(lambda bits: ball(epsilon) * (ball(epsilon) / 2).tanh())


def _renyi(given: family.Given, alpha: Fraction) -> Enclosure:
    epsilon, _ = _parts(given)
    if epsilon == 0:
        return ZERO

    def divergence(bits: int) -> Ball:
        up, down = ball((alpha - 1) * epsilon).exp(), (-ball(alpha * epsilon)).exp()
        return (_likelier(epsilon) * (up + down)).log() / ball(alpha - 1)

    return enclosed(divergence)


def _law(given: family.Given, most: int) -> Distribution:
    epsilon, delta = _parts(given)

    def place(x: Fraction) -> int:
        """Which finite losses are above x: 0 none, 1 the greater, 2 both."""
        return 0 if x >= epsilon else 1 if x >= -epsilon else 2

    def survival(place: Any, bits: int) -> tuple[Ball, Ball]:
        d, rest = ball(delta), ball(1 - delta)
        if place == 0:
            return d, ball(0)
        return (d + rest * _likelier(epsilon), rest * _likelier(-epsilon)) if place == 1 else (ball(1), rest)

    def mass(sign: int) -> Enclosure:
        return enclosed(lambda bits: ball(1 - delta) * _likelier(sign * epsilon), most=Fraction(1))

    atoms: tuple[Atom, ...] = (Atom(epsilon, mass(1)), Atom(-epsilon, mass(-1)))
    if epsilon == 0:
        atoms = (Atom(Fraction(0), Enclosure.exactly(1 - delta)),)
    average = None if delta else _kl(given)
    return Distribution(place=place, survival=survival, average=average, atoms=atoms, infinite=delta)


def _pair(given: family.Given) -> family.Pair:
    epsilon, delta = _parts(given)
    words = f"chances in the ratio e**{decimal_text(epsilon)}"
    if delta:
        words += f", except with probability {decimal_text(delta)}, when the truth is given away"
    return family.Pair("a coin", "the other coin", words)


def _group(given: family.Given, k: int) -> family.Named:
    epsilon, delta = _parts(given)
    if not delta:
        return "pure", {"epsilon": k * epsilon}
    grown = growth(epsilon, delta, k).hi
    if grown >= 1:  # no delta below 1 would be true: k steps can lead to a data set that shares no outcome
        raise Refusal("Of so large a group nothing is promised: its delta is 1.", cure="Ask of a smaller group.")
    return "approximate", {"epsilon": k * epsilon, "delta": grown}


def _simplest(given: family.Given) -> family.Named | None:
    epsilon, delta = _parts(given)
    if delta:
        return "approximate", given
    return ("pure", {"epsilon": epsilon}) if epsilon else None


def _apart(given: family.Given) -> tuple[Fraction, family.Named]:
    return given["delta"], ("pure", {"epsilon": given["epsilon"]})


def _tradeoff(given: family.Given, alpha: Fraction) -> Enclosure:
    epsilon, delta = _parts(given)
    room = 1 - delta - alpha
    if room <= 0:
        return Enclosure.exactly(0)
    if alpha == 0:
        return Enclosure.exactly(1 - delta)
    less = exp_neg(epsilon)
    flat = less * room
    if less.hi * (1 - delta) <= alpha:
        return flat  # e**epsilon alpha is at least 1 - delta
    with precision(192 + int(epsilon).bit_length()):
        steep = bracket(ball(1 - delta) - ball(epsilon).exp() * ball(alpha))
    return Enclosure(max(flat.lo, steep.lo), min(max(flat.hi, steep.hi), Fraction(1)))


def _lattice(given: family.Given) -> family.Lattice:
    epsilon = given["epsilon"]
    return family.Lattice(epsilon, 2 * epsilon or None, 2 * epsilon or None)


def _float_tails(given: family.Given) -> family.FloatTails:
    import numpy as np

    e, rest = float(given["epsilon"]), 1 - float(given.get("delta", 0))
    likelier, lie = rest / (1 + math.exp(-e)), rest / (1 + math.exp(e)) if e < 700 else 0.0
    return atoms_in_doubles(np.array([e, -e]), np.array([likelier, lie]), np.array([lie, likelier]), 1 - rest)


def _moments(e: Any) -> family.Moments:
    import numpy as np

    def log(z: Any) -> Any:
        return e * z + np.log((1 + np.exp(-2 * e * (z + 0.5))) / (1 + np.exp(-e)))

    def falls(c: float, t: float, end: float) -> Any:
        flat = 2 * np.exp(-e[:, 0] * (c + 0.5)) / (1 + np.exp(-2 * e[:, 0] * (c + 0.5)))  # 1 / cosh
        once = e[:, 0] * end <= math.pi / 2 * (1 + 1e-9)
        return np.where(once, np.log1p(-np.minimum((flat * np.sin(e[:, 0] * t)) ** 2, 0.999)) / 2, 0.0)

    return family.Moments(log, falls, e)


_MOMENTS = family.MomentFunction(lambda given: (float(given["epsilon"]),) if given["epsilon"] else None, _moments)
PURE = family.Family(
    ranges={"epsilon": at_least_0},
    pair=_pair,
    group=_group,
    spellings={"pure": family.as_given("epsilon"), "randomised_response": family.as_given("epsilon")},
    pure_epsilon=_epsilon,
    rho=lambda given: given["epsilon"] ** 2 / 2,
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
    attained=None,
    apart=None,
    mu_squared=None,
    interval=None,
    tradeoff=_tradeoff,
    lattice=_lattice,
    float_tails=_float_tails,
    tails_on_grid=None,
    moments=_MOMENTS,
    points=None,
)


def _group_of_cut(given: family.Given, k: int) -> family.Named:
    """A group of k fills a batch sooner than k rows do one at a time, and how full batches are is not in the loss."""
    raise Refusal(
        "Of a group nothing is known where batches are cut to a largest one.",
        cure="Leave largest_batch out, or account for one row.",
    )


APPROXIMATE = family.Family(
    ranges={"epsilon": at_least_0, "delta": from_0_below_1},
    pair=_pair,
    group=_group,
    spellings={"approximate": family.as_given("epsilon", "delta")},
    pure_epsilon=None,
    rho=None,
    renyi=None,
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
    attained=None,
    apart=_apart,
    mu_squared=None,
    interval=None,
    tradeoff=_tradeoff,
    lattice=_lattice,
    float_tails=_float_tails,
    tails_on_grid=None,
    moments=_MOMENTS,
    points=None,
)
# That a batch is cut: (0, delta) towards one row, and nothing towards a group (accounting/training.py).
CUT = replace(
    APPROXIMATE, group=_group_of_cut, spellings={"cut_batch": family.as_given("epsilon", "delta")},
    simplest=lambda given: ("cut_batch", given) if given["delta"] else None,
)
