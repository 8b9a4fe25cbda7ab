"""Groups: what is promised to somebody who is k units, or to k people together.

Definition  Data sets that differ in k units are k steps of neighbours apart.
Promise     (eps, delta)-DP for one is, for k, (k eps, delta') with
                delta' = delta (e**(k eps) - 1)/(e**eps - 1)      the sum of delta e**(i eps), i = 0 .. k-1,
            which is at most the textbook's k e**((k-1) eps) delta; both are given, and cut at 1, where a delta says
            nothing. rho-zCDP for one is k**2 rho for k. A loss with a shift moves by k shifts, which is exact.
Proof       P_0(S) <= e**eps P_1(S) + delta <= e**eps (e**eps P_2(S) + delta) + delta <= ..., a geometric sum; every
            term is at most the last. rho: Bun, Steinke 2016, proposition 1.9. A shift: triangle inequality, and its
            losses grow with it.
Source      Dwork, Roth 2014, theorem 2.2; Vadhan 2017, lemma 2.2 (k e**((k-1) eps) delta).
Checked     tests/privacy/test_group.py.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

from dpcurator.numbers import Enclosure, decimal_text, ln, whole
from dpcurator.numbers.arb import Ball, ball
from dpcurator.numbers.display import error_text
from dpcurator.numbers.rational import at_least_0, from_0_to_1
from dpcurator.numbers.readable import readable
from dpcurator.privacy.narrow import enclosed

if TYPE_CHECKING:
    from dpcurator.numbers.rational import Spelled


@dataclass(frozen=True, slots=True)
class GroupPrivacy:
    """What a group of `size` has: epsilon, exact, and its delta, enclosed: the tighter one and the textbook's."""

    size: int
    epsilon: Fraction
    tighter: Enclosure
    textbook: Enclosure

    __repr__ = readable

    @property
    def delta(self) -> Fraction:
        """The tighter delta, rounded up: what may be claimed."""
        return self.tighter.hi

    def __str__(self) -> str:
        words = f"A group of {self.size:,} has epsilon {decimal_text(self.epsilon)}"
        if self.tighter.hi == 0:
            return f"{words}."
        words += f" and delta {error_text(self.tighter.hi)} (the textbook's bound: {error_text(self.textbook.hi)})."
        return f"{words} A delta of 1 promises nothing." if self.tighter.lo == 1 else words


def group_privacy(*, epsilon: Spelled, delta: Spelled = 0, size: int) -> GroupPrivacy:
    """Group privacy: what (epsilon, delta)-DP for one unit promises a group of `size` units.

    A group of k units has (k epsilon, delta')-DP with delta' = delta (exp(k epsilon) - 1) / (exp(epsilon) - 1), which
    is at most the textbook's k exp((k-1) epsilon) delta; both are cut at 1.

    Parameters:
        epsilon: number >= 0, for one unit.
        delta: number in [0, 1], for one unit.
        size: int >= 1, units in the group: rows of one person, or people of one household.

    Returns `epsilon` and `delta` of the group, Fractions, delta rounded up; `tighter` and `textbook` enclose both
    bounds. Raises Refusal if a parameter is out of its range.

    >>> import dpcurator as dp
    >>> print(dp.group_privacy(epsilon="0.5", delta="1e-6", size=4))
    A group of 4 has epsilon 2 and delta 0.0000099 (the textbook's bound: 0.000018).

    Source: Dwork, Roth 2014, theorem 2.2; Vadhan 2017, lemma 2.2.
    """
    eps, one = at_least_0(epsilon, name="epsilon"), from_0_to_1(delta, name="delta")
    k = whole(size, name="size", least=1)
    return GroupPrivacy(k, k * eps, growth(eps, one, k), textbook(eps, one, k))


def group_rho(*, rho: Spelled, size: int) -> Fraction:
    """What rho-zCDP for one unit is for a group of `size`: size**2 rho. rho: >= 0; size: int >= 1."""
    exact = at_least_0(rho, name="rho")
    return exact * whole(size, name="size", least=1) ** 2


def growth(eps: Fraction, delta: Fraction, k: int) -> Enclosure:
    """delta (e**(k eps) - 1)/(e**eps - 1), or 1 if that is less."""
    if _beyond(eps, delta, k):
        return Enclosure.exactly(1)
    if delta == 0 or k == 1 or eps == 0:
        return Enclosure.exactly(min(k * delta, Fraction(1)))

    def grown(bits: int) -> Ball:
        return ball(delta) * ball(k * eps).expm1() / ball(eps).expm1()

    return enclosed(grown, most=Fraction(1))


def textbook(eps: Fraction, delta: Fraction, k: int) -> Enclosure:
    """k e**((k-1) eps) delta, or 1 if that is less."""
    if _beyond(eps, delta, k):
        return Enclosure.exactly(1)
    if delta == 0 or k == 1 or eps == 0:
        return Enclosure.exactly(min(k * delta, Fraction(1)))
    return enclosed(lambda bits: ball(k * delta) * ball((k - 1) * eps).exp(), most=Fraction(1))


def _beyond(eps: Fraction, delta: Fraction, k: int) -> bool:
    """Is e**((k-1) eps) delta, which is below both, at least 1? (So that no huge exponential is written out.)"""
    return delta > 0 and (k - 1) * eps >= ln(1 / delta).hi
