"""Keys kept by the greatest probability that (eps, delta) allows for each number of units: optimal partition selection.

Definition  With e = eps/groups and d = delta/groups for each key, the probability of keeping a key of n units is pi(0)
                = 0, pi(n+1) = min(e**e pi(n) + d,  1 - e**-e (1 - pi(n) - d),  1).
            The first is the less while pi(n) <= (1-d) / (e**e + 1), which is n < n1; so with x = e**e, c = d / (x-1),
                pi(n) = d (x**n - 1) / (x - 1)                  up to n1 = 1 + floor(ln(1 + (1/d - 1) tanh(e/2)) / e),
                1 - pi(n) = max(0, x**-m (1 - pi(n1) + c) - c)  for n = n1 + m beyond.
Promise     A key is kept exactly with probability pi(n): it is an enclosure, refined as far as the draw needs. For n
            against n + 1 the probabilities of keeping and of dropping are each within (e, d), both ways, and no rule
            keeps a key of any n more often. So a unit's keys together are (eps, delta)-DP, by composition over at most
            `groups` of them; hence delta-approximately eps**2/2-zCDP. Nothing else is shown: a released count needs its
            own noise.
Proof       n1 is decided by refining, which ends: an n with x**n = 1 + (1/d - 1) (x-1)/(x+1) would make x algebraic,
            and a rational power of e is not (Lindemann); as polynomials the sides differ when d < 1. Beyond n1 the
            complement without its max(0, .) falls, so that once it is 0 it stays so. 1 - pi(n) may be 0 to every
            precision (d = 1/2, n = 2): its sign is never asked for, only whether a uniform real is below pi(n).
Source      Desfontaines, Voss, Gipson, Mandayam, PoPETs 2022(1) (arXiv 2006.03684), theorems 1 and 2.
Checked     tests/mechanisms/test_key_selection.py.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING, ClassVar

from dpcurator.entropy import Entropy
from dpcurator.mechanisms.key_selection.rule import PureRule, as_chance, beyond
from dpcurator.numbers import Enclosure, whole
from dpcurator.numbers.arb import Ball, ball, common_floor, precision
from dpcurator.numbers.enclosure import bracket

if TYPE_CHECKING:  # a quote draws nothing, and starts faster without numpy
    from dpcurator.samplers.bernoulli import Coin


@dataclass(frozen=True, slots=True, repr=False)
class TruncatedGeometric(PureRule):
    """eps: Fraction > 0; delta: Fraction in (0, 1); groups: int >= 1. Raises Refusal for any other."""

    NAME: ClassVar[str] = "truncated_geometric"

    @property
    def _law(self) -> Law:
        return law(self.eps / self.groups, self.delta / self.groups)

    def keep_chance(self, n: int) -> Enclosure:
        """pi(n) = P(kept | n distinct units), n >= 0; exactly 0 at 0, delta/groups at 1; relative width < 2**-63."""
        return self._law.enclosed(beyond(whole(n, name="n"), self.min_units))

    def keep(self, counts: Sequence[int], entropy: Entropy | None = None) -> list[bool]:
        """Whether each key is kept, by its number of distinct units: one word a key, and a coin for each distinct n.

        The coins are cached, so that time depends a little on the counts; no more is drawn for one than for another.
        """
        import numpy as np

        from dpcurator.samplers.lazy_uniform import source

        drawn, last = source(entropy), self._law.certain
        words = drawn.words(len(counts))
        kept = np.zeros(len(counts), dtype=np.bool_)
        places: dict[int, list[int]] = {}
        for place, n in enumerate(counts):
            places.setdefault(min(beyond(int(n), self.min_units), last), []).append(place)
        for n, where in places.items():
            kept[where] = coin(self._law, n).many(words[where], drawn)
        return [bool(one) for one in kept]

    def half_size(self) -> int:
        """The least n whose keep_chance is surely at least 1/2, by doubling and bisection."""
        low, high = 0, 1
        while not self._law.enclosed(high).surely_at_least(Fraction(1, 2)):
            low, high = high, 2 * high
        while high - low > 1:
            middle = (low + high) // 2
            half = self._law.enclosed(middle).surely_at_least(Fraction(1, 2))
            low, high = (low, middle) if half else (middle, high)
        return high + (self.min_units or 1) - 1


@dataclass(frozen=True, slots=True)
class Law:
    """pi for one key. eps, delta: of each key; first: n1; certain: an n from which on pi is 1."""

    eps: Fraction
    delta: Fraction
    first: int
    certain: int

    def enclosed(self, n: int) -> Enclosure:
        if n <= 1:
            return Enclosure.exactly(self.delta * n)
        return as_chance(lambda bits: self.chance(n, bits))

    def chance(self, n: int, bits: int) -> Ball:
        """A ball around pi(n), of relative radius about 2**-bits; it may pass 1 where pi is 1 or near."""
        if n >= self.certain:
            return ball(1)
        with precision(bits + 64 + math.ceil(self.eps * n).bit_length() + _log(self.delta / self.eps)):
            if n <= 1:
                return ball(self.delta * n)
            if n <= self.first:
                return rising(self.eps, self.delta, n)
            (rest, c), steps = _parts(self.eps, self.delta, self.first), ball(-self.eps * (n - self.first))
            left = rest * steps.exp() + c * steps.expm1()
            return 1 - left if left > 0 else ball(1) if left <= 0 else (1 - left).union(ball(1))


def rising(eps: Fraction, delta: Fraction, n: int) -> Ball:
    """delta (x**n - 1) / (x - 1), n >= 1."""
    return ball(delta) if n == 1 else ball(delta) * ball(n * eps).expm1() / ball(eps).expm1()


def _parts(eps: Fraction, delta: Fraction, first: int) -> tuple[Ball, Ball]:
    """1 - pi(n1), and c."""
    return 1 - rising(eps, delta, first), ball(delta) * (-ball(eps)).exp() / -(-ball(eps)).expm1()


@lru_cache(maxsize=256)
def law(eps: Fraction, delta: Fraction) -> Law:
    """The distribution for a key that is (eps, delta)-DP."""
    bits = 128 + _log(1 / eps) + _log(delta / eps)
    while True:
        with precision(bits):
            steps = (ball(1 / delta - 1) * (ball(eps) / 2).tanh()).log1p() / ball(eps)
            below = common_floor(steps, steps)
        if below is not None:
            break
        bits *= 2
    first = 1 + below
    with precision(bits + 64):  # the complement is 0 from m = ln((rest + c) / c) / eps on
        rest, c = _parts(eps, delta, first)
        gap = -(-ball(eps)).expm1()  # c = delta e**-eps / gap
        reach = 1 + ((rest + c) * gap / ball(delta)).log() / ball(eps)
    return Law(eps, delta, first, first + max(math.ceil(bracket(reach).hi), 1))


@lru_cache(maxsize=1 << 16)
def coin(law: Law, n: int) -> Coin:
    """The toss that keeps a key of n units."""
    from flint import ctx

    from dpcurator.samplers.bernoulli import Coin

    return Coin(lambda: law.chance(n, ctx.prec))


def _log(value: Fraction) -> int:
    return max(0, value.numerator.bit_length() - value.denominator.bit_length() + 1)


EXAMPLES = tuple(
    TruncatedGeometric(Fraction(eps), Fraction(delta), groups)
    for eps, delta, groups in (("1", "1e-5", 1), ("1/2", "1/50", 3), ("3", "1e-9", 20), ("1", "1/2", 1))
)  # the laws run on these
