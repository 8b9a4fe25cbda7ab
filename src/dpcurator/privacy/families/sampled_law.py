"""The distribution of the loss on a Poisson sample, from that of the mechanism on all rows: in balls and in doubles.

The definition, and why it holds, is in poisson.py; a sample of fixed size has the same where the loss is positive.
Checked in tests/privacy/test_sampled.py.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

from dpcurator.numbers import Enclosure
from dpcurator.numbers.arb import Ball, ball, precision
from dpcurator.numbers.enclosure import bracket
from dpcurator.privacy.distribution import ZERO, Atom, Distribution
from dpcurator.privacy.families.family import Family, FloatTails, Given, Tails
from dpcurator.privacy.families.on_sample import RATE, grown, on_all, without_rate
from dpcurator.privacy.narrow import enclosed

_NOTHING = Fraction(1, 2**200)  # a chance that is 0, or as good as
_LARGE = 600.0  # of a loss whose exponential is taken in doubles


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


def forward_in_doubles(inner: FloatTails, q: float) -> Callable[..., tuple[Any, Any]]:
    """A hair higher for side 1, lower for -1, where atoms lie."""

    def forward(x: Any, side: float = 1.0) -> tuple[Any, Any]:
        import numpy as np

        t, here = threshold_in_doubles(x, q, side)
        p, other = inner(t)
        return np.where(here, (1 - q) * other + q * p, 1.0), np.where(here, other, 1.0)

    return forward


def threshold_in_doubles(x: Any, q: float, side: float) -> tuple[Any, Any]:
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
