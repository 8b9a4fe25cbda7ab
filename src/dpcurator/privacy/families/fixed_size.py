"""A mechanism on m of n rows, all sets of m equally likely; q = m/n. Towards replacing one row by another.

Definition  (P, Q) is the pair of the mechanism on m rows, one of them replaced, and symmetric; d is its delta. With h
            the delta of (1-q) Q + q P against Q (families/poisson.py), the pair here is the one whose delta is h(eps)
            at every eps >= 0, both ways. So L > 0 has the chances that it has there; what is below 0 mirrors that, the
            two laws exchanged; and the rest, L = 0, has all the mass that is left.
Promise     It dominates the mechanism on the m rows and is symmetric, so it may be composed as it is. delta at ln(1 +
            q (e**x - 1)) is q d(x) for x >= 0; the pure epsilon is ln(1 + q (e**e - 1)).
Limits      For some mechanisms it is not attained: no lower bound is read from it. But a row that counts, where no
            other does, against one that does not, has the pair of a Poisson sample of the same rate, forward.
Proof       The replaced row is x in one table and y in the other. Given that it is not taken, the output is K for both;
            given that it is, N or O. For an event A, E = e**eps >= 1 and E' = 1 + (E-1)/q:
                (1-q) K(A) + q N(A) - E ((1-q) K(A) + q O(A)) = q (N(A) - (E'-1) (1-q) K(A) - E O(A)),
            where (E'-1) (1-q) + E = E'; as a mean of N - E' K and N - E' O it is at most q times the greater of the
            suprema. A set with the row is one without it where another row takes its place, any other being equally
            likely: sets of m that differ in one row, like N's and O's. So both suprema are at most d(ln E') = h(eps)/q.
            For a group of k rows the same holds with the chance that any of them is taken, at most k q, and sets that
            differ in k rows.
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
from dpcurator.privacy.families import divergence_integrals as integrals
from dpcurator.privacy.families.family import Family, FloatTails, Given, Lattice, Pair, Sample, Slow, Tails
from dpcurator.privacy.families.on_sample import (
    RATE,
    ROUNDED,
    amplified_of,
    of_all_rows,
    sampled_apart,
    sampled_attained,
    sampled_group,
    sampled_ranges,
    sampled_simplest,
    two_atoms,
    without_rate,
)
from dpcurator.privacy.families.poisson import poisson
from dpcurator.privacy.families.sampled_law import delta_of, forward_in_doubles, mixed, tails_of_gaussian
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
    mixture = f"({one.first} with probability {rate}, else {one.second})"
    return Pair(mixture, one.second, f"{one.where}; or the same two exchanged, whichever is worse at each epsilon")


def _lattice(base: Family, given: Given) -> Lattice:
    """There is an atom at 0; the largest loss is irrational, and the anchor a little above."""
    if base.reach is None:
        return Lattice(None, None, None)
    top = _law(base, given, 1).ends[0].hi
    if top <= ROUNDED:
        return Lattice(top, None, None)
    less = top - ROUNDED
    return Lattice(top, less if two_atoms(base, given) else None, less)


def _float_tails(base: Family, given: Given) -> FloatTails:
    assert base.float_tails is not None
    forward = forward_in_doubles(base.float_tails(without_rate(given)), float(given[RATE]))

    def both(x: Any) -> tuple[Any, Any]:
        import numpy as np

        up = x > -1e-13
        above, below = forward(np.where(up, x, 0.0)), forward(np.where(up, 1.0, -x), -1.0)
        return np.where(up, above[0], 1 - below[1]), np.where(up, above[1], 1 - below[0])

    return both


def _tails_on_grid(base: Family, given: Given, start: Fraction, step: Fraction, n: int) -> list[Tails] | None:
    """The forward tails of a Poisson sample from 0 on, and below 0 what is left of them at -x, exchanged."""
    assert base.mu_squared is not None
    if base.mu_squared(without_rate(given)) == 0:
        return None
    below = min(max(-int(start // step), 0), n)  # the first point that is not below 0
    last = -(start + (below - 1) * step)
    mirrored = tails_of_gaussian(base, given, last, step, below, backward=False) if below else []
    above = tails_of_gaussian(base, given, start + below * step, step, n - below, backward=False)
    return [(1 - second, 1 - first) for first, second in reversed(mirrored)] + above


def _renyi(base: Family, poisson: Family, given: Given, alpha: Fraction) -> Enclosure:
    """poisson: the family on a Poisson sample, of which it is at most about twice, where no integral is made."""
    assert base.law is not None
    inner = without_rate(given)
    law = base.law(inner, 1)
    if integrals.is_smooth(law, given[RATE], alpha):
        return integrals.of_smooth(law, given[RATE], alpha, fixed=True)
    if not law.continuous and base.reach is not None:
        few = integrals.is_atoms(base, law, inner)
        found = integrals.of_atoms(_law(base, given, integrals.ATOMS), alpha) if few else None
        return integrals.of_pure(base, amplified_of(base.pure_epsilon), given, alpha) if found is None else found
    assert poisson.renyi is not None and base.renyi is not None  # noqa: PT018
    most = min(integrals.twice(poisson.renyi(given, alpha).hi, alpha), base.renyi(inner, alpha).hi)
    if base.mu_squared is None:
        return Enclosure(Fraction(0), most)
    return integrals.fixed_size_of_gaussian(base.mu_squared(inner), given[RATE], alpha, most)


def fixed_size(name: str, base: Family) -> dict[str, Family]:
    """The family on a sample of fixed size. name: of the family on all rows."""

    whole, pure = f"fixed_size_{name}", amplified_of(base.pure_epsilon)
    forward = poisson(name, base)[f"poisson_{name}"]
    family = Family(
        ranges=sampled_ranges(base),
        pair=lambda given: _pair(base, given),
        group=sampled_group(base, "fixed_size_{}".format, lambda rate, k: k * rate),
        spellings={},
        pure_epsilon=pure,
        rho=None if pure is None else lambda given: pure(given) ** 2 / 2,
        renyi=Slow(lambda given, alpha: _renyi(base, forward, given, alpha)),
        delta=lambda given, eps: delta_of(base, given, eps, backward=False),
        backward=None,
        reach=amplified_of(base.reach),
        kl=None,
        law=lambda given, most: _law(base, given, most),
        together=of_all_rows(base.together),
        reverse=None,
        sample=Sample("fixed_size", name),
        neighbours="replace-one",
        simplest=sampled_simplest(base, "fixed_size_{}".format),
        attained=sampled_attained(base, name, "poisson_{}".format),
        apart=sampled_apart(base),
        mu_squared=None,
        interval=None,
        tradeoff=None,
        lattice=lambda given: _lattice(base, given),
        float_tails=lambda given: _float_tails(base, given),
        tails_on_grid=None
        if base.mu_squared is None
        else lambda given, start, step, n: _tails_on_grid(base, given, start, step, n),
        moments=None,
        points=None,
    )
    return {whole: family}
