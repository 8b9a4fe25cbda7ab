"""Poisson subsampling: each row is included independently with probability q. For add-or-remove-one neighbours.

Definition  (P, Q) is the pair of the mechanism on all rows; l = ln P/Q. "forward", a row is removed: (1-q) Q + q P
            against Q. "backward", a row is added: Q against (1-q) Q + q P, which is written with (Q, P) in the place of
            (P, Q); most pairs are the same exchanged. The family "..._reversed" has the two exchanged.
Promise     These dominate the mechanism on the sample. L = ln(1-q + q e**l) forward, with l under (1-q) Q + q P; and
            L = -ln(1-q + q e**-l) backward, with l under P. With E = e**eps, delta(eps) is q d(ln(1 + (E-1)/q))
            forward and (1 - (1-q) E) d(ln(q E/(1 - (1-q) E))) backward, there 0 once (1-q) E >= 1; d is the delta of
            (P, Q). The pure epsilon is ln(1 + q (e**e - 1)), e that of the mechanism. It is not symmetric: what
            is composed, is composed each way by itself.
Proof       Fix the sample T of all other rows, which has one law on both tables. With M(T) the mechanism on it and N(T)
            that on T and the row more, the output is M(T) on the smaller table and (1-q) M(T) + q N(T) on the larger.
            For an event A and E > 1-q: (1-q) M(A) + q N(A) - E M(A) = q (N(A) - E' M(A)), E' = 1 + (E-1)/q > 0, so the
            supremum is q times that of N against M at E', at most that of P against Q; for E <= 1-q it is 1 - E for
            both. Likewise M(A) - E ((1-q) M(A) + q N(A)) = (1 - (1-q) E) (M(A) - E" N(A)), E" = q E/(1 - (1-q) E).
            So it holds at every E >= 0, given T; and on average over T, as the divergence is jointly convex. Such pairs
            may be composed (Zhu, Dong, Wang, theorem 10). The thresholds above are where L passes eps.
            Pure: eps = ln(1 + q (e**e - 1)) is the greatest L forward; backward it is -ln(1 - q + q e**-e), no more, as
            (1-q + q e**e) (1-q + q e**-e) >= 1. A group of a pure loss is pure, of k times its epsilon. Of another,
            given that some of the k rows are taken (chance q' = 1 - (1-q)**k), N is a mean of mechanisms that are no
            further from M than that of k rows, so all of the above holds with q' and the pair of k rows. A greater rate
            dominates a smaller one: put a draw of Q in place of the output now and then. Of Gaussian noise the group is
            a mixture over how many of its rows are taken (gaussian_mixture.py), which is far less.
            An irrational threshold is in a ball; it meets an atom only at 0, as 1, e**x and e**l are linearly
            independent over the rationals for rational l and x that differ and are not 0 (Lindemann, Weierstrass), and
            so are 1 and e**x where e**l is rational.
Source      Balle, Barthe, Gaboardi 2018
            (arXiv 1807.01647); Zhu, Dong, Wang 2022 (arXiv 2106.08567), subsampling.
Checked     tests/privacy/test_sampled.py.
"""

from __future__ import annotations

from fractions import Fraction
from functools import cache
from typing import Any

from dpcurator.numbers import Enclosure, decimal_text
from dpcurator.privacy.families import divergence_integrals as integrals
from dpcurator.privacy.families.family import Family, FloatTails, Given, Lattice, Named, Pair, Sample, Slow, Tails
from dpcurator.privacy.families.gaussian_mixture import group_on_poisson
from dpcurator.privacy.families.on_sample import (
    RATE,
    ROUNDED,
    amplified_of,
    any_taken,
    of_all_rows,
    on_all,
    sampled_apart,
    sampled_attained,
    sampled_group,
    sampled_ranges,
    sampled_simplest,
    two_atoms,
    without_rate,
)
from dpcurator.privacy.families.sampled_law import (
    delta_of,
    forward_in_doubles,
    mixed,
    tails_of_gaussian,
    threshold_in_doubles,
)
from dpcurator.privacy.families.sampled_moments import renyi_of_gaussian, renyi_of_symmetric

_FEW = 16  # atoms of which a divergence between whole orders is made, though there is a bound without


def _pair(base: Family, given: Given, *, backward: bool) -> Pair:
    one, rate = base.pair(without_rate(given)), decimal_text(given[RATE])
    mixture = f"({one.first} with probability {rate}, else {one.second})"
    first, second = (one.second, mixture) if backward else (mixture, one.second)
    return Pair(first, second, one.where)


def _lattice(base: Family, given: Given, backward: bool) -> Lattice:
    """The two ends are irrational: the anchor is a little above, and so is the point that is to hold the lower one."""
    if base.reach is None:
        return Lattice(None, None, None)
    ends = mixed(base, given, 1, backward=backward).ends
    top = ends[0].hi
    wide = top - ends[-1].hi - ROUNDED
    if wide <= ROUNDED:
        return Lattice(top, None, None)
    return Lattice(top, wide if two_atoms(base, given) else None, wide, ends[-1].lo)


def _float_tails(base: Family, given: Given, backward: bool) -> FloatTails:
    assert base.float_tails is not None
    inner, q = base.float_tails(on_all(base, given, backward)), float(given[RATE])

    def both(x: Any) -> tuple[Any, Any]:
        import numpy as np

        t, here = threshold_in_doubles(-x, q, -1.0)
        p, other = inner(-t)
        return np.where(here, p, 0.0), np.where(here, (1 - q) * p + q * other, 0.0)

    return both if backward else forward_in_doubles(inner, q)


def _between(base: Family, given: Given, alpha: Fraction, *, one_pair: bool) -> Enclosure:
    """The divergence of order alpha by integrals or sums over atoms, the greater of both ways; else between the whole
    orders beside it. one_pair: is it that of one symmetric pair, so that forward is the greater?"""
    inner = without_rate(given)
    law = None if base.law is None else base.law(inner, 1)
    if one_pair and law is not None and integrals.is_smooth(law, given[RATE], alpha):
        return integrals.of_smooth(law, given[RATE], alpha, fixed=False)
    if law is not None and integrals.is_atoms(base, law, inner):
        most = _FEW if one_pair else integrals.ATOMS
        found = [integrals.of_atoms(mixed(base, given, most, backward=way), alpha)
                 for way in ((False,) if one_pair else (False, True))]  # fmt: skip
        known = [one for one in found if one is not None]
        if len(known) == len(found):
            return Enclosure(max(one.lo for one in known), max(one.hi for one in known))
    if not one_pair or base.renyi is None:
        return integrals.of_pure(base, amplified_of(base.pure_epsilon), given, alpha)
    divergence = base.renyi
    return renyi_of_symmetric(cache(lambda order: divergence(inner, order)), given[RATE], alpha)


def _way(base: Family, own: str, *, backward: bool) -> Family:
    pure = amplified_of(base.pure_epsilon)
    one_pair = base.renyi is not None and base.reverse is None and base.interval is None  # which has this divergence

    def name(family: str) -> str:
        return f"poisson_{family}" + "_reversed" * backward

    def tails_on_grid(given: Given, start: Fraction, step: Fraction, n: int) -> list[Tails] | None:
        assert base.mu_squared is not None
        no_noise = base.mu_squared(without_rate(given)) == 0
        return None if no_noise else tails_of_gaussian(base, given, start, step, n, backward=backward)

    def group(given: Given, k: int) -> Named:
        found = None if base.mu_squared is None else group_on_poisson(given, k, backward=backward)
        return sampled_group(base, name, any_taken)(given, k) if found is None else found

    def renyi(given: Given, alpha: Fraction) -> Enclosure:
        inner = without_rate(given)
        if base.mu_squared is not None:
            return renyi_of_gaussian(base.mu_squared(inner), given[RATE], alpha)
        if one_pair and (alpha.denominator == 1 or alpha > integrals.ORDERS):
            known = base.renyi
            assert known is not None
            return renyi_of_symmetric(cache(lambda order: known(inner, order)), given[RATE], alpha)
        return _between(base, given, alpha, one_pair=one_pair)

    return Family(
        ranges=sampled_ranges(base),
        pair=lambda given: _pair(base, given, backward=backward),
        group=group,
        spellings={},
        pure_epsilon=pure,
        rho=None if pure is None else lambda given: pure(given) ** 2 / 2,
        renyi=renyi if base.reverse is None else Slow(renyi),
        delta=lambda given, eps: delta_of(base, given, eps, backward=backward),
        backward=lambda given, eps: delta_of(base, given, eps, backward=not backward),
        reach=amplified_of(base.reach),
        kl=None,
        law=lambda given, most: mixed(base, given, most, backward=backward),
        together=of_all_rows(base.together),
        reverse=lambda given: (f"poisson_{own}" + "_reversed" * (not backward), given),
        sample=Sample("poisson", own, backward),
        neighbours="add-remove",
        simplest=sampled_simplest(base, name),
        attained=sampled_attained(base, own, name),
        apart=sampled_apart(base),
        mu_squared=None,
        interval=None,
        tradeoff=None,
        lattice=lambda given: _lattice(base, given, backward),
        float_tails=lambda given: _float_tails(base, given, backward),
        tails_on_grid=None if base.mu_squared is None else tails_on_grid,
        moments=None,
        points=None,
    )


def poisson(name: str, base: Family) -> dict[str, Family]:
    """The family on a Poisson sample, and the same with its directions exchanged. name: of the family on all rows."""
    ways = {"": False, "_reversed": True}
    return {f"poisson_{name}{end}": _way(base, name, backward=backward) for end, backward in ways.items()}
