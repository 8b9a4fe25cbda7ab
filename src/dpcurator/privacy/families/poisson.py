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

from collections.abc import Callable, Mapping
from fractions import Fraction
from functools import cache
from typing import Any

from dpcurator.numbers import Enclosure, decimal_text
from dpcurator.numbers.arb import Ball, ball, precision
from dpcurator.numbers.enclosure import bracket
from dpcurator.numbers.rational import between_0_and_1
from dpcurator.privacy.distribution import ZERO, Atom, Distribution
from dpcurator.privacy.families.family import (
    Check,
    Family,
    FloatTails,
    Given,
    Lattice,
    Named,
    Pair,
    Sample,
    Tails,
)
from dpcurator.privacy.families.gaussian_mixture import group_on_poisson
from dpcurator.privacy.families.sampled_moments import renyi_of_gaussian, renyi_of_symmetric
from dpcurator.privacy.narrow import enclosed

RATE = "rate"
ROUNDED = Fraction(1, 2**116)  # no less than what an irrational loss is rounded by
_DIGITS = 20_000  # bits of an exact rate
_NOTHING = Fraction(1, 2**200)  # a chance that is 0, or as good as
_LARGE = 600.0  # of a loss whose exponential is taken in doubles


def without_rate(given: Given) -> dict[str, Fraction]:
    """The parameters of the mechanism on all rows."""
    return {name: value for name, value in given.items() if name != RATE}


def on_all(base: Family, given: Given, backward: bool) -> Given:
    """The pair of the mechanism on all rows; backward, with P and Q exchanged."""
    inner = without_rate(given)
    return inner if base.reverse is None or not backward else base.reverse(inner)[1]


def grown(loss: Fraction | Enclosure, rate: Fraction) -> Enclosure:
    """ln(1 - q + q e**l), which has the sign of l."""
    low, high = (loss.lo, loss.hi) if isinstance(loss, Enclosure) else (loss, loss)
    return Enclosure(_grown(low, rate).lo, _grown(high, rate).hi)


def _grown(loss: Fraction, rate: Fraction) -> Enclosure:
    if loss > 0:  # its whole part is no less exact for being long
        found = enclosed(lambda bits: (ball(rate) * ball(loss).expm1()).log1p(), bits=128 + int(loss).bit_length())
        return Enclosure(min(found.lo, loss), min(found.hi, loss))
    return -enclosed(lambda bits: -(ball(rate) * ball(loss).expm1()).log1p()) if loss < 0 else ZERO


def threshold(x: Fraction, rate: Fraction, bits: int) -> Ball | None:
    """t = ln((e**x - 1 + q)/q), with ln(1 - q + q e**t) = x, at `bits` or more; None where there is none, so far down.

    e**x - 1 + q is 0 for no rational x, so its sign is found.
    """
    while True:
        with precision(bits):
            odds = ball(x).expm1() + ball(rate)
            if odds > 0:
                return (odds / ball(rate)).log()
            if odds < 0:
                return None
        bits *= 2


def _place(law: Distribution, x: Fraction, rate: Fraction, *, backward: bool) -> Any:
    """Where l passes its threshold: "all", "none", ("at", x) inside a density, or ("of", the law's own place)."""
    if x == 0:
        return ("at", x) if law.smooth is not None else ("of", law.place(x))
    sign, bits = (-1 if backward else 1), 64
    while True:
        found = threshold(sign * x, rate, bits)
        if found is None:
            return "none" if backward else "all"
        with precision(bits):
            place = _inner_place(law, x, sign * found)
        if place is not None:
            return place
        bits *= 2


def _inner_place(law: Distribution, x: Fraction, at: Ball) -> Any:
    """None while the ball leaves a doubt."""
    if law.smooth is None:
        ends = bracket(at)
        first, last = law.place(ends.lo), law.place(ends.hi)
        return ("of", first) if first == last else None
    for end, side in ((law.reach, 1), (None if law.reach is None else -law.reach, -1)):
        if end is None:
            continue
        if side * (at - ball(end)) > 0:
            return ("of", law.place(end + side))
        if not side * (at - ball(end)) < 0:
            return None
    return ("at", x)


def _tails(law: Distribution, place: Any, rate: Fraction, bits: int, *, backward: bool) -> tuple[Ball, Ball]:
    """P(l > t) and Q(l > t)."""
    kind, where = place
    if kind == "of":
        return law.survival(where, bits)
    assert law.smooth is not None
    sign = -1 if backward else 1
    at = threshold(sign * where, rate, bits) if where else ball(0)
    assert at is not None
    return law.smooth(sign * at)


def _mix(one: Ball, other: Ball, rate: Fraction) -> Ball:
    return ball(1 - rate) * one + ball(rate) * other


def _survival(inner: Distribution, rate: Fraction, *, backward: bool) -> Callable[[Any, int], tuple[Ball, Ball]]:
    def survival(place: Any, bits: int) -> tuple[Ball, Ball]:
        if place == "all":
            return ball(1), ball(1)
        if place == "none":
            return ball(0), ball(0)
        first, second = _tails(inner, place, rate, bits, backward=backward)
        return (first, _mix(first, second, rate)) if backward else (_mix(second, first, rate), second)

    return survival


def mixed(base: Family, given: Given, most: int, *, backward: bool = False) -> Distribution:
    """The law of L, forward or backward."""
    assert base.law is not None
    rate, inner = given[RATE], base.law(on_all(base, given, backward), most)

    atoms = [Atom(loss_of(atom.loss, rate, backward), _mass(atom, rate, backward)) for atom in inner.atoms]
    alike = backward or base.reverse is None
    lost = Enclosure.exactly(inner.infinite) if alike else _of_q_alone(base, given, inner)
    told = lost.hi > (0 if alike else _NOTHING)  # not so small that it may be the round-off of what is 0
    if told:  # what only P gives, or what only Q gives
        if backward:
            atoms.insert(0, Atom(-_lowest(rate), lost))
        else:
            atoms.append(Atom(_lowest(rate), lost * (1 - rate)))
    infinite = Fraction(0) if backward else rate * inner.infinite
    rest = 1 - sum((atom.mass for atom in atoms), Enclosure.exactly(infinite))
    cut = inner.above.hi or inner.below.hi or (lost.hi > 0 and not told)
    left = Enclosure(Fraction(0), max(rest.hi, Fraction(0))) if cut else ZERO
    reach = base.reach(without_rate(given)) if base.reach else None
    ends = () if reach is None else (loss_of(reach, rate, backward), loss_of(-reach, rate, backward))
    if told:
        ends = (-_lowest(rate), *ends) if backward else (*ends, _lowest(rate))
    return Distribution(
        place=lambda x: _place(inner, x, rate, backward=backward),
        survival=_survival(inner, rate, backward=backward),
        average=None,
        atoms=tuple(atoms),
        above=left if inner.above.hi else ZERO,
        below=left if inner.below.hi or (lost.hi > 0 and not told) else ZERO,
        infinite=infinite,
        continuous=inner.continuous,
        ends=ends,
    )


def _of_q_alone(base: Family, given: Given, inner: Distribution) -> Enclosure:
    """The chance under Q of what P never gives, to 2**-250."""
    assert base.reach is not None
    lowest = inner.place(-base.reach(without_rate(given)) - 1)
    with precision(256):
        found = bracket(1 - inner.survival(lowest, 256)[1])
    return Enclosure(max(found.lo, Fraction(0)), max(found.hi, Fraction(0)))


def loss_of(loss: Fraction | Enclosure, rate: Fraction, backward: bool) -> Enclosure:
    return -grown(-loss, rate) if backward else grown(loss, rate)


def _mass(atom: Atom, rate: Fraction, backward: bool) -> Enclosure:
    """Of the atom under (1-q) Q + q P, or under P; Q has e**-l times its mass under P."""
    if backward:
        return atom.mass
    low, high = (atom.loss.lo, atom.loss.hi) if isinstance(atom.loss, Enclosure) else (atom.loss, atom.loss)

    def share(loss: Fraction) -> Enclosure:
        return enclosed(lambda bits: ball(rate) + ball(1 - rate) * (-ball(loss)).exp())

    return atom.mass * Enclosure(share(high).lo, share(low).hi)


def _lowest(rate: Fraction) -> Enclosure:
    """ln(1 - q)."""
    return -enclosed(lambda bits: -(-ball(rate)).log1p())


def delta_of(base: Family, given: Given, eps: Fraction, *, backward: bool) -> Enclosure:
    assert base.law is not None
    rate, inner = given[RATE], base.law(on_all(base, given, backward), 1)
    place, survival = _place(inner, eps, rate, backward=backward), _survival(inner, rate, backward=backward)
    if place == "none":
        return ZERO

    def gap(bits: int) -> Ball:
        first, second = survival(place, bits)
        return first - ball(eps).exp() * second

    return enclosed(gap, most=Fraction(1))


def amplified(epsilon: Fraction, rate: Fraction) -> Fraction:
    """ln(1 + q (e**e - 1)), rounded up by under 2**-120."""
    return grown(epsilon, rate).hi


def amplified_of(known: Callable[[Given], Fraction] | None) -> Callable[[Given], Fraction] | None:
    """`amplified` of what is known of the mechanism on all rows, if it is."""
    return None if known is None else lambda given: amplified(known(without_rate(given)), given[RATE])


def of_all_rows(formula: Callable[[Given], object] | None) -> Callable[[Given], object] | None:
    """A formula of the mechanism on all rows, given a sample of it; None if there is none."""
    return None if formula is None else lambda given: formula(without_rate(given))


def sampled_ranges(base: Family) -> Mapping[str, Check]:
    return {**base.ranges, RATE: between_0_and_1}


def sampled_group(
    base: Family, name: Callable[[str], str], any_of: Callable[[Fraction, int], Fraction]
) -> Callable[[Given, int], Named]:
    """any_of: at least the chance that any of k rows is taken."""

    def group(given: Given, k: int) -> Named:
        inner, rate = without_rate(given), given[RATE]
        if base.pure_epsilon is not None and not may_be_infinite(base, given):
            return "pure", {"epsilon": k * amplified(base.pure_epsilon(inner), rate)}
        (family, moved), some = base.group(inner, k), any_of(rate, k)
        return (name(family), {**moved, RATE: some}) if some < 1 else (family, moved)

    return group


def any_taken(rate: Fraction, k: int) -> Fraction:
    """1 - (1-q)**k, or k q where that has very many digits."""
    return 1 - (1 - rate) ** k if k * rate.denominator.bit_length() <= _DIGITS else k * rate


def _pair(base: Family, given: Given, *, backward: bool) -> Pair:
    one, rate = base.pair(without_rate(given)), decimal_text(given[RATE])
    mixture = f"({one.first} with probability {rate}, else {one.second})"
    first, second = (one.second, mixture) if backward else (mixture, one.second)
    return Pair(first, second, one.where)


def sampled_simplest(base: Family, name: Callable[[str], str]) -> Callable[[Given], Named | None]:
    """name: from a family on all rows to that on the sample."""

    def simplest(given: Given) -> Named | None:
        assert base.simplest is not None
        found = base.simplest(without_rate(given))
        return None if found is None else (name(found[0]), {**found[1], RATE: given[RATE]})

    return simplest


def sampled_attained(base: Family, own: str, name: Callable[[str], str]) -> Callable[[Given], Named]:
    """own: the family on all rows."""

    def attained(given: Given) -> Named:
        family, inner = (own, without_rate(given)) if base.attained is None else base.attained(without_rate(given))
        return name(family), {**inner, RATE: given[RATE]}

    return attained


def sampled_apart(base: Family) -> Callable[[Given], tuple[Fraction, Named]] | None:
    """A sample of an (e, d)-DP mechanism is (ln(1 + q (e**e - 1)), q d)-DP, either way.

    Balle, Barthe, Gaboardi 2018, theorems 8 and 9; of the formulas above: at that epsilon the threshold is e forward;
    backward it is at least e, by the product there, and 1 - (1-q) E is at most q.
    """
    if base.apart is None:
        return None

    def apart(given: Given) -> tuple[Fraction, Named]:
        assert base.apart is not None
        infinite, (_, rest) = base.apart(without_rate(given))
        epsilon, rate = rest["epsilon"], given[RATE]
        return rate * infinite, ("pure", {"epsilon": amplified(epsilon, rate) if epsilon else Fraction(0)})

    return apart


def may_be_infinite(base: Family, given: Given) -> bool:
    return base.apart is not None and base.apart(without_rate(given))[0] > 0


def two_atoms(base: Family, given: Given) -> bool:
    """Has the loss on all rows two atoms and nothing else?"""
    assert base.lattice is not None
    whole = base.lattice(without_rate(given))
    return whole.gap is not None and whole.gap == whole.wide and not may_be_infinite(base, given)


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


def forward_in_doubles(inner: FloatTails, q: float) -> Callable[..., tuple[Any, Any]]:
    """A hair higher for side 1, lower for -1, where atoms lie."""

    def forward(x: Any, side: float = 1.0) -> tuple[Any, Any]:
        import numpy as np

        t, here = _threshold_in_doubles(x, q, side)
        p, other = inner(t)
        return np.where(here, (1 - q) * other + q * p, 1.0), np.where(here, other, 1.0)

    return forward


def _threshold_in_doubles(x: Any, q: float, side: float) -> tuple[Any, Any]:
    """Where L passes x forward, and whether it does."""
    import numpy as np

    with np.errstate(all="ignore"):
        small = np.minimum(x, _LARGE)
        ratio = np.expm1(small) / q
        here = ratio > -1 - side * 1e-13 * (1 + np.abs(x)) / q
        steep = np.where(here & (ratio > -1), np.exp(small) / (q * (1 + ratio)), 0.0)
        t = np.where(here, np.log1p(np.maximum(ratio, -1)) + (x - small), 0.0)
        t = np.clip(t + side * 1e-13 * (1 + np.abs(x)) * np.minimum(steep, 1e9), -1e300, 1e300)
        return t, here


def _float_tails(base: Family, given: Given, backward: bool) -> FloatTails:
    assert base.float_tails is not None
    inner, q = base.float_tails(on_all(base, given, backward)), float(given[RATE])

    def both(x: Any) -> tuple[Any, Any]:
        import numpy as np

        t, here = _threshold_in_doubles(-x, q, -1.0)
        p, other = inner(-t)
        return np.where(here, p, 0.0), np.where(here, (1 - q) * p + q * other, 0.0)

    return both if backward else forward_in_doubles(inner, q)


def tails_of_gaussian(
    base: Family, given: Given, start: Fraction, step: Fraction, n: int, *, backward: bool
) -> list[Tails]:
    """At x_i = start + i step: with v_i = e**x_i, by products, the threshold is t_i = ln((v_i - 1 + q)/q) forward and
    -ln((1/v_i - 1 + q)/q) backward. Where a ball cannot tell on which side of 0 v - 1 + q lies, the law is asked."""
    from flint import ctx

    assert base.mu_squared is not None
    square, sign = base.mu_squared(without_rate(given)), -1 if backward else 1
    spread, middle = ball(2 * square).sqrt(), ball(square / 2)
    q, less = ball(given[RATE]), ball(1 - given[RATE])
    worth, ratio, outside = ball(sign * start).exp(), ball(sign * step).exp(), ball(0 if backward else 1)
    found, law = list[Tails](), None
    for i in range(n):
        odds = worth - less
        worth = worth * ratio
        if odds > 0:
            t = sign * (odds / q).log()
            first, second = ((t - middle) / spread).erfc() / 2, ((t + middle) / spread).erfc() / 2
            mixed_one = less * first + q * second if backward else less * second + q * first
            found.append((first, mixed_one) if backward else (mixed_one, second))
        elif odds < 0:
            found.append((outside, outside))
        else:
            law = law or mixed(base, given, 1, backward=backward)
            found.append(law.survival(law.place(start + i * step), ctx.prec))
    return found


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
        known = base.renyi
        assert known is not None
        found = cache(lambda order: known(inner, order))
        return renyi_of_symmetric(found, given[RATE], alpha)

    return Family(
        ranges=sampled_ranges(base),
        pair=lambda given: _pair(base, given, backward=backward),
        group=group,
        spellings={},
        pure_epsilon=pure,
        rho=None if pure is None else lambda given: pure(given) ** 2 / 2,
        renyi=renyi if base.mu_squared is not None or one_pair else None,
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
