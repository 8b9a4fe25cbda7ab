"""The law of the privacy loss, L = ln P/Q under P, for the dominating pair (P, Q) of a loss.

Definition  P(L > x) and Q(L > x) are functions of x in closed form; everything else follows from them. A discrete law
            also has its atoms: loss and mass, highest loss first. Where there are more than are listed, the masses
            left out are told: `above` and `below` the listed ones. `infinite` is P(L = infinity): in P and never in Q.
            A law with a continuous part lists only its atoms (Laplace: 1/2 at eps, e**-eps / 2 at -eps).
Promise     Every mass is an enclosure, of relative width under 2**-60 also where it is tiny (down to 2**-60000), so
            cells of any grid can be read from the tails without cancellation. A loss that is rational is exact.
            delta(eps) = P(L > eps) - e**eps Q(L > eps), which is the mean of max(1 - e**(eps - L), 0).
Proof       The event {L > eps} is the best one, as P - e**eps Q is positive there and nowhere else (Neyman, Pearson);
            and Q has density e**-L to P where L is finite.
Source      privacy loss: Dwork, Rothblum 2016; privacy profiles: Balle, Barthe, Gaboardi 2018; Sommer, Meiser,
            Mohammadi 2019 (the privacy loss distribution, its infinite atom).
Checked     tests/privacy/test_distribution.py.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass
from fractions import Fraction

from dpcurator.errors import Refusal
from dpcurator.numbers import Enclosure, exp_neg, rational
from dpcurator.numbers.arb import Ball
from dpcurator.numbers.readable import readable
from dpcurator.privacy.narrow import enclosed

ZERO, ONE = Enclosure.exactly(0), Enclosure.exactly(1)


@dataclass(frozen=True, slots=True)
class Atom:
    """loss: exact where it is rational, else an enclosure; mass: under P."""

    loss: Fraction | Enclosure
    mass: Enclosure

    __repr__ = readable


@dataclass(frozen=True, slots=True, kw_only=True)
class Distribution:
    """place(x): the same for two x with no mass between. survival(place, bits): P(L > x) and Q(L > x) as balls.

    average: the mean of L, or None where it is infinite, or not known here. atoms: highest loss first.
    smooth: P(L > t) and Q(L > t) for any real t inside a law with a density, that is in (-reach, reach) or, where reach
    is None, anywhere. ends: losses of heavy atoms that are not rational, or not at the two ends.
    """

    place: Callable[[Fraction], Hashable]
    survival: Callable[[Hashable, int], tuple[Ball, Ball]]
    average: Enclosure | None
    atoms: tuple[Atom, ...] = ()
    above: Enclosure = ZERO
    below: Enclosure = ZERO
    infinite: Fraction = Fraction(0)
    continuous: bool = False
    smooth: Callable[[Ball], tuple[Ball, Ball]] | None = None
    reach: Fraction | None = None
    ends: tuple[Enclosure, ...] = ()

    __repr__ = readable

    def mean(self) -> Enclosure:
        """The mean of L under P, which is the divergence of Kullback and Leibler. Raises Refusal where infinite."""
        if self.average is None:
            raise Refusal(
                "The mean of this loss is infinite, or not known here.",
                cure="Read its tail, or its delta at an epsilon.",
            )
        return self.average

    def tail(self, x: object) -> Enclosure:
        """P(L > x), infinite losses included. x: any rational."""
        place = self.place(rational(x, name="x"))
        return enclosed(lambda bits: self.survival(place, bits)[0], most=Fraction(1))

    def cdf(self, x: object) -> Enclosure:
        """P(L <= x)."""
        place = self.place(rational(x, name="x"))
        return enclosed(lambda bits: 1 - self.survival(place, bits)[0], most=Fraction(1))

    def cell(self, low: object, high: object) -> tuple[Enclosure, Enclosure]:
        """The masses under P and under Q of losses in (low, high]: what an accountant puts on its grid."""
        first, last = self.place(rational(low, name="low")), self.place(rational(high, name="high"))
        if first == last:
            return ZERO, ZERO

        def between(side: int) -> Callable[[int], Ball]:
            return lambda bits: self.survival(first, bits)[side] - self.survival(last, bits)[side]

        return enclosed(between(0), most=Fraction(1)), enclosed(between(1), most=Fraction(1))

    def delta(self, epsilon: object) -> Enclosure:
        """The mean of max(1 - e**(epsilon - L), 0): atom by atom for a discrete law, from the two tails for another."""
        at = rational(epsilon, name="epsilon")
        if self.continuous:
            return self._delta_from_tails(at)
        total = Enclosure.exactly(self.infinite) + Enclosure(Fraction(0), self.above.hi)
        for atom in self.atoms:
            total += atom.mass * _worth(atom.loss, at)
        lowest = _high(self.atoms[-1].loss) if self.atoms else None
        if lowest is None or lowest > at:
            total += Enclosure(Fraction(0), self.below.hi)
        return Enclosure(max(total.lo, Fraction(0)), min(total.hi, Fraction(1)))

    def _delta_from_tails(self, eps: Fraction) -> Enclosure:
        place = self.place(eps)

        def gap(bits: int) -> Ball:
            from dpcurator.numbers.arb import ball

            first, second = self.survival(place, bits)
            return first - ball(eps).exp() * second

        return enclosed(gap, most=Fraction(1))


def _high(loss: Fraction | Enclosure) -> Fraction:
    return loss.hi if isinstance(loss, Enclosure) else loss


def _worth(loss: Fraction | Enclosure, eps: Fraction) -> Enclosure:
    """max(1 - e**(eps - loss), 0)."""
    low, high = (loss.lo, loss.hi) if isinstance(loss, Enclosure) else (loss, loss)
    least = (1 - exp_neg(low - eps)).lo if low > eps else Fraction(0)
    most = (1 - exp_neg(high - eps)).hi if high > eps else Fraction(0)
    return Enclosure(max(least, Fraction(0)), max(most, Fraction(0)))
