"""Pairs on finitely many outcomes: what two_pmfs.py, loss_distribution.py and profile.py have in common.

Definition  Outcomes of finite loss, highest loss first, with their chances p under P and q under Q; what is left of P
            has an infinite loss, and what is left of Q never is under P.
Promise     Every formula is the finite sum that it says, in balls: delta(eps) = P(L > eps) - e**eps Q(L > eps); the
            Renyi divergence of order a is ln(sum of p**a q**(1-a))/(a-1), the mean the sum of p ln(p/q), each the
            greater of both ways. With e the largest |loss| and d the greater chance of an infinite one the pair is
            (e, d)-DP, which is what is set apart, and what a group is taken of.
Limits      At most 50,000 outcomes; divergences of at most 5,000.
Checked     tests/privacy/test_own.py, tests/privacy/test_families.py.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from dpcurator.errors import Refusal
from dpcurator.numbers import Enclosure
from dpcurator.numbers.arb import Ball, ball
from dpcurator.privacy.distribution import ZERO, Atom, Distribution
from dpcurator.privacy.families import approximate
from dpcurator.privacy.families.family import Check, Family, FloatTails, Given, Lattice, Named, Pair, Tails
from dpcurator.privacy.families.grids import atoms_in_doubles
from dpcurator.privacy.narrow import enclosed

MOST = 50_000  # outcomes
_MOST_RENYI = 5_000  # of which divergences are made
_LISTED = 256  # heavy atoms whose places a lower bound is told
_KEPT = 16  # pairs that are kept ready
_NEAR = 1e-9  # losses so near to a number are compared exactly


@dataclass(frozen=True, slots=True)
class Finite:
    """losses: falling, each exact or enclosed; above(i, x): is loss i above x? rows(): p and q of each, at the working
    precision; infinite: the chance of an infinite loss under P."""

    losses: Sequence[Fraction | Enclosure]
    above: Callable[[int, Fraction], bool]
    rows: Callable[[], list[Tails]]
    infinite: Fraction
    doubles: list[float] = field(init=False)  # the losses' negatives, rising
    made: dict[int, list[Tails]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        object.__setattr__(self, "doubles", [-float(loss) for loss in self.losses])

    def place(self, x: Fraction) -> int:
        """How many losses are above x."""
        near = _NEAR * (1 + abs(float(x)))
        first, last = (bisect_right(self.doubles, -float(x) + side * near) for side in (-1, 1))
        while first < last and self.above(first, x):
            first += 1
        return first

    def tails(self, place: int, bits: int) -> Tails:
        """P and Q of the `place` highest losses and of infinite ones."""
        if bits not in self.made:
            if len(self.made) > 4:
                self.made.clear()
            first, second = ball(self.infinite), ball(0)
            sums = [(first, second)]
            for p, q in self.rows():
                first, second = first + p, second + q
                sums.append((first, second))
            self.made[bits] = sums
        return self.made[bits][place]

    def _survival(self, place: Any, bits: int) -> Tails:
        return self.tails(place, bits)

    def delta(self, eps: Fraction) -> Enclosure:
        place = self.place(eps)
        if not place:
            return Enclosure.exactly(self.infinite)

        def gap(bits: int) -> Ball:
            first, second = self.tails(place, bits)
            return first - ball(eps).exp() * second

        return enclosed(gap, most=Fraction(1))

    def reach(self) -> Fraction:
        """The largest |loss|, rounded up where it is no rational."""
        return max(abs(_ends(self.losses[0])[1]), abs(_ends(self.losses[-1])[0])) if self.losses else Fraction(0)

    def mass(self, i: int) -> Enclosure:
        return enclosed(lambda bits: self.tails(i + 1, bits)[0] - self.tails(i, bits)[0], most=Fraction(1))

    def mean(self) -> Enclosure:
        return enclosed(lambda bits: sum((p * (p / q).log() for p, q in self.rows()), ball(0)))

    def renyi(self, order: Fraction) -> Enclosure:
        def value(bits: int) -> Ball:
            above = ball(order - 1)
            return sum((p * ((p / q).log() * above).exp() for p, q in self.rows()), ball(0)).log() / above

        return enclosed(value)

    def law(self, most: int) -> Distribution:
        count = min(len(self.losses), most)
        atoms = tuple(Atom(self.losses[i], self.mass(i)) for i in range(count))
        left = ZERO
        if count < len(self.losses):
            left = Enclosure(Fraction(0), enclosed(lambda bits: 1 - self.tails(count, bits)[0], most=Fraction(1)).hi)
        ends = [Enclosure(*_ends(loss)) for loss in self.losses] if len(self.losses) <= _LISTED else []
        known = self.infinite == 0 and len(self.losses) <= _LISTED
        return Distribution(
            place=self.place,
            survival=self._survival,
            average=(self.mean() if self.reach() else ZERO) if known else None,
            atoms=atoms,
            below=left,
            infinite=self.infinite,
            ends=tuple(ends),
        )

    def float_tails(self) -> FloatTails:
        import numpy as np

        rows = [(float(p.mid()), float(q.mid())) for p, q in self.rows()]
        first, second = (np.array(side) for side in zip(*rows, strict=True)) if rows else (np.zeros(0), np.zeros(0))
        return atoms_in_doubles(-np.array(self.doubles), first, second, float(self.infinite))


def _ends(loss: Fraction | Enclosure) -> tuple[Fraction, Fraction]:
    return (loss.lo, loss.hi) if isinstance(loss, Enclosure) else (loss, loss)


class Kept:
    """The pairs last made, by their numbers: the numbers are kept with them, so that none else has their addresses."""

    def __init__(self, make: Callable[[Given], Finite]) -> None:
        self._make, self._found = make, dict[tuple[tuple[str, int], ...], tuple[Given, Finite]]()

    def __call__(self, given: Given) -> Finite:
        key = tuple((name, id(value)) for name, value in given.items())
        found = self._found.get(key)
        if found is None:
            found = dict(given), self._make(given)
            if len(self._found) >= _KEPT:
                self._found.clear()
            self._found[key] = found
        return found[1]


def series(given: Given, stem: str) -> list[Fraction]:
    """The values of stem0, stem1, ..."""
    found: list[Fraction] = []
    while (value := given.get(f"{stem}{len(found)}")) is not None:
        found.append(value)
    return found


def numbered(stem: str, values: Sequence[Fraction]) -> dict[str, Fraction]:
    return {f"{stem}{i}": value for i, value in enumerate(values)}


def few_enough(count: int) -> None:
    """Raises Refusal."""
    if count > MOST:
        raise Refusal(f"A loss of one's own has at most {MOST:,} points, not {count:,}.", cure="Take a wider grid.")


def family(
    *,
    ranges: Mapping[str, Check],
    together: Callable[[Given], object],
    make: Callable[[Given], Finite],
    pair: Callable[[Given], Pair],
    reverse: Callable[[Given], Named] | None,
    simplest: Callable[[Given], Named | None],
    attained: Callable[[Given], Named] | None,
    lattice: Callable[[Finite], Lattice | None],
) -> Family:
    """lattice: of the outcomes, where they lie on one; else None. The other facts are those of the outcomes."""
    kept = Kept(make)

    def ways(given: Given) -> list[Finite]:
        return [kept(given)] + ([] if reverse is None else [kept(reverse(given)[1])])

    def reach(given: Given) -> Fraction:
        return max(way.reach() for way in ways(given))

    def infinite(given: Given) -> Fraction:
        return max(way.infinite for way in ways(given))

    def pure(given: Given) -> Fraction:
        if infinite(given):
            raise Refusal("This loss has no pure epsilon: it may be infinite.", cure="Account for it with a delta.")
        return reach(given)

    def greatest(given: Given, value: Callable[[Finite], Enclosure]) -> Enclosure:
        pure(given)
        found = [value(way) if way.reach() else ZERO for way in ways(given)]
        return Enclosure(max(one.lo for one in found), max(one.hi for one in found))

    def renyi(given: Given, order: Fraction) -> Enclosure:
        if any(len(way.losses) > _MOST_RENYI for way in ways(given)):
            raise Refusal("This loss has too many points for a divergence.", cure="Account for it with a delta.")
        return greatest(given, lambda way: way.renyi(order))

    def apart(given: Given) -> tuple[Fraction, Named]:
        return infinite(given), ("pure", {"epsilon": reach(given)})

    def group(given: Given, k: int) -> Named:
            return approximate.APPROXIMATE.group({"epsilon": reach(given), "delta": infinite(given)}, k)

    def where(given: Given) -> Lattice:
        known, most = lattice(kept(given)), reach(given)
        return Lattice(most, None, None, -most) if known is None else known

    def backward(given: Given, eps: Fraction) -> Enclosure:
        assert reverse is not None
        return kept(reverse(given)[1]).delta(eps)

    return Family(
        ranges=ranges,
        pair=pair,
        group=group,
        spellings={},
        pure_epsilon=pure,
        rho=lambda given: pure(given) ** 2 / 2,
        renyi=renyi,
        delta=lambda given, eps: kept(given).delta(eps),
        backward=None if reverse is None else backward,
        reach=reach,
        kl=lambda given: greatest(given, Finite.mean),
        law=lambda given, most: kept(given).law(most),
        together=together,
        reverse=reverse,
        sample=None,
        neighbours=None,
        simplest=simplest,
        attained=attained,
        apart=apart,
        mu_squared=None,
        interval=None,
        tradeoff=None,
        lattice=where,
        float_tails=lambda given: kept(given).float_tails(),
        tails_on_grid=None,
        moments=None,
        points=None,
    )


def gap_of(losses: Sequence[Fraction]) -> Fraction | None:
    """The greatest number of which all distances of these rational losses are multiples; None for fewer than two."""
    if len(losses) < 2:
        return None
    bottom = math.lcm(*(loss.denominator for loss in losses))
    if bottom.bit_length() > 4096:
        return None
    whole = [int(loss * bottom) for loss in losses]
    return Fraction(math.gcd(*(whole[0] - one for one in whole[1:])), bottom)


def on_lattice(found: Finite) -> Lattice | None:
    """Of rational losses, falling, the highest of which is above 0."""
    losses: list[Any] = list(found.losses)
    gap = gap_of(losses)
    if gap is None or losses[0] <= 0:
        return None
    return Lattice(losses[0], gap, losses[0] - losses[-1], losses[-1])
