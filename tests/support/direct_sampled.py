"""Compositions with losses on samples by the definition, in balls of 200 bits: as direct_sums, with each law mixed.

A Poisson sample's pair is (1-q) Q + q P against Q, and the same exchanged; each way is summed up by itself. Nothing of
src/dpcurator/accounting is used, nor anything of privacy/families.
"""

from __future__ import annotations

import itertools
from fractions import Fraction

import direct_sums

from dpcurator.numbers import Enclosure
from dpcurator.numbers.arb import Ball, ball, precision
from dpcurator.numbers.enclosure import bracket
from dpcurator.privacy.loss import Loss

Atoms = list[tuple[Ball, Ball]]


def named(loss: Loss) -> tuple[str | None, Fraction, Loss]:
    """How it is sampled, the rate, and the loss on all rows."""
    for way in ("poisson", "fixed_size"):
        if loss.family.startswith(way):
            rest = tuple((name, value) for name, value in loss.parameters if name != "rate")
            return way, loss["rate"], Loss(loss.family.removeprefix(f"{way}_"), rest)
    return None, Fraction(1), loss


def mixed(row: Atoms, q: Fraction) -> Atoms:
    return [(ball(1 - q) * other + ball(q) * one, other) for one, other in row]


def both(row: Atoms) -> Atoms:
    """The pair whose delta is the greater of that of a pair and of it exchanged, forward being the greater."""
    above = [(p, q) for p, q in row if p > q]
    p_left = 1 - sum((p for p, _ in above), ball(0)) - sum((q for _, q in above), ball(0))
    return [*above, (p_left, p_left), *((q, p) for p, q in above)]


def atoms(loss: Loss) -> Atoms:
    """Forward."""
    way, q, whole = named(loss)
    row = direct_sums.atoms(whole)
    if whole.given.get("delta"):
        row = [*row, (ball(0), ball(whole["delta"]))]  # what only Q gives
    if way is None:
        return row
    return mixed(row, q) if way == "poisson" else both(mixed(row, q))


def dense(loss: Loss) -> bool:
    return named(loss)[2].family in direct_sums.DENSE


def curve(loss: Loss | None, x: Ball, backward: bool) -> Ball:
    """E (1 - e**(x - L))+, at any real x, of one loss with a density."""
    if loss is None:
        return direct_sums.curve(None, x)
    way, rate, whole = named(loss)
    if way is None:
        return direct_sums.curve(whole, x)
    q, grown = ball(rate), x.exp()
    if way == "fixed_size" and x < 0:
        return 1 - grown + grown * curve(loss, -x, backward)
    if way == "fixed_size" or not backward:
        odds = grown - 1 + q
        return q * direct_sums.curve(whole, (odds / q).log()) if odds > 0 else 1 - grown
    left = 1 - (1 - q) * grown
    return left * direct_sums.curve(whole, (q * grown / left).log()) if left > 0 else ball(0)


def one_way(parts: list[tuple[Loss, int]], eps: Fraction, backward: bool) -> Enclosure:
    """The least delta of the product, in one direction."""
    with precision(200):
        smooth = [loss for loss, count in parts for _ in range(count) if dense(loss)]
        assert len(smooth) <= 1
        rows = []
        for loss, count in parts:
            if not dense(loss):
                row = atoms(loss)
                rows.append(direct_sums._power([(q, p) for p, q in row] if backward else row, count))
        total = ball(0)
        for combination in itertools.product(*rows):
            p, q = ball(1), ball(1)
            for times, one, other in combination:
                p, q = p * one * times, q * other * times
            if q == 0:
                total += p
            elif p != 0:
                total += p * curve(smooth[0] if smooth else None, ball(eps) - (p / q).log(), backward)
        found = bracket(total)
    return Enclosure(max(found.lo, Fraction(0)), found.hi + Fraction(len(parts) * 10, 1 << 210))


def delta(parts: list[tuple[Loss, int]], eps: Fraction) -> Enclosure:
    """The worse direction, once all is composed."""
    forward, back = (one_way(parts, eps, backward) for backward in (False, True))
    return Enclosure(max(forward.lo, back.lo), max(forward.hi, back.hi))
