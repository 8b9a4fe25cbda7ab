"""A mechanism on m of n rows, all sets of m equally likely; q = m/n. Towards replacing one row by another.

Definition  (P, Q) is the pair of the mechanism on m rows, one of them replaced, alike both ways; d is its delta. With h
            the delta of (1-q) Q + q P against Q (families/poisson.py), the pair here is the one whose delta is h(eps)
            at every eps >= 0, both ways. So L > 0 has the chances that it has there; what is below 0 mirrors that, the
            two laws exchanged; and the rest, L = 0, has all the mass that is left.
Promise     It dominates the mechanism on the m rows, alike both ways, so it may be composed as it is. delta at ln(1 +
            q (e**x - 1)) is q d(x) for x >= 0; the pure epsilon is ln(1 + q (e**e - 1)).
Limits      For some mechanisms it is not attained: no lower bound is read from it (accounting/pld/lattice.py).
Proof       The replaced row is x in one table and y in the other. Given that it is not taken, the output is K for both;
            given that it is, N or O. For an event A, E = e**eps >= 1 and E' = 1 + (E-1)/q:
                (1-q) K(A) + q N(A) - E ((1-q) K(A) + q O(A)) = q (N(A) - (E'-1) (1-q) K(A) - E O(A)),
            where (E'-1) (1-q) + E = E'; as a mean of N - E' K and N - E' O it is at most q times the greater of the
            suprema. A set with the row is one without it where another row takes its place, any other being equally
            likely: sets of m that differ in one row, like N's and O's. So both suprema are at most d(ln E') = h(eps)/q.
            The same with the tables exchanged, which is E <= 1.
            A pair with this delta exists: H(E) = h(ln E) for E >= 1, and 1 - E + E H(1/E) below, falls convexly from 1
            to 0 and is at least 1 - E. Convexity at 1: there H falls with slope Q(l > 0) on the right, and on the left
            with (1-q) P(l >= 0) + q Q(l >= 0), which is no less, as P(l >= 0) >= Q(l >= 0). So H is the delta of a pair
            with Q(L > x) = -H'(e**x) (Zhu, Dong, Wang, proposition on profiles), and dominating pairs compose.
Source      the bound: Balle, Barthe, Gaboardi 2018 (arXiv 1807.01647); as a pair: Zhu, Dong, Wang 2022 (2106.08567).
Checked     tests/privacy/test_sampled.py.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from dpcurator.numbers import Enclosure, decimal_text, exp_neg
from dpcurator.numbers.arb import Ball
from dpcurator.privacy.distribution import ZERO, Atom, Distribution
from dpcurator.privacy.families.family import Family, Given, Pair
from dpcurator.privacy.families.poisson import (
    RATE,
    amplified_of,
    delta_of,
    mixed,
    of_all_rows,
    sampled_group,
    sampled_ranges,
    without_rate,
)
from dpcurator.privacy.narrow import enclosed


def _law(base: Family, given: Given, most: int) -> Distribution:
    one_sided = mixed(base, given, most)

    def place(x: Fraction) -> tuple[bool, Any]:
        return x >= 0, one_sided.place(abs(x))

    def survival(place: Any, bits: int) -> tuple[Ball, Ball]:
        """Below 0 P(L > x) is 1 - Q(L >= -x), and no atom is at a rational -x > 0."""
        above, where = place
        first, second = one_sided.survival(where, bits)
        return (first, second) if above else (1 - second, 1 - first)

    centre = one_sided.place(Fraction(0))

    def middle(bits: int) -> Ball:
        first, second = one_sided.survival(centre, bits)
        return 1 - first - second

    heavy = [atom for atom in one_sided.atoms if _low(atom.loss) > 0]
    mirrored = [Atom(-atom.loss, _other(atom)) for atom in reversed(heavy)]
    atoms = [*heavy, Atom(Fraction(0), enclosed(middle, most=Fraction(1))), *mirrored]
    if one_sided.infinite == 0 and not heavy and not one_sided.continuous and not one_sided.above.hi:
        atoms = [Atom(Fraction(0), Enclosure.exactly(1))]
    ends = tuple(end for end in one_sided.ends if _low(end) > 0)
    return Distribution(
        place=place,
        survival=survival,
        average=None,
        atoms=tuple(atoms),
        above=one_sided.above,
        below=one_sided.above,
        infinite=one_sided.infinite,
        continuous=one_sided.continuous,
        ends=(*ends, ZERO, *(-end for end in reversed(ends))),
    )


def _low(loss: Fraction | Enclosure) -> Fraction:
    return loss.lo if isinstance(loss, Enclosure) else loss


def _other(atom: Atom) -> Enclosure:
    """The mass under Q of an atom of P whose loss L is above 0: e**-L times it."""
    high = atom.loss.hi if isinstance(atom.loss, Enclosure) else atom.loss
    return atom.mass * Enclosure(exp_neg(high).lo, exp_neg(_low(atom.loss)).hi)


def _pair(base: Family, given: Given) -> Pair:
    one, rate = base.pair(without_rate(given)), decimal_text(given[RATE])
    mixture = f"({one.first} with chance {rate}, else {one.second})"
    return Pair(mixture, one.second, f"{one.where}; or the same two exchanged, whichever is worse at each epsilon")


def fixed_size(name: str, base: Family) -> dict[str, Family]:
    """The family on a sample of fixed size. name: of the family on all rows."""

    whole, pure = f"fixed_size_{name}", amplified_of(base.pure_epsilon)
    family = Family(
        ranges=sampled_ranges(base),
        together=of_all_rows(base.together),
        pair=lambda given: _pair(base, given),
        group=sampled_group(base, whole),
        pure_epsilon=pure,
        rho=None if pure is None else lambda given: pure(given) ** 2 / 2,
        delta=lambda given, eps: delta_of(base, given, eps, backward=False),
        reach=amplified_of(base.reach),
        law=lambda given, most: _law(base, given, most),
    )
    return {whole: family}
