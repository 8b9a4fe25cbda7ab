"""delta at epsilon from below and above, by integer arithmetic on tilted masses of one grid.

Definition  Loss j stands k_j times on anchor_j + i step (accounting/pld/discretise.py), or on each m_j-th of these
            points. Its masses w_i are multiplied by e**(theta i) and divided by c_j, to whole numbers of 2**-bits; the
            rows' product has y_I at the sum x_I = O + I step. theta > 0, c_j, m_j and where rows are trimmed are chosen
            in doubles; what follows holds for any.
Promise     `delta_above(eps)` >= delta(eps) >= `delta_below(eps)`, and the same of epsilon at a delta.
Proof       Below: finite losses give at least the sum over x_I > eps of w_I (1 - e**(eps - x_I)), where w_I = y_I
            e**(-theta I) prod c_j**k_j, as every row is rounded down; and an infinite loss of some part gives all its
            chance. Points are taken SLACK lower, for each loss.
            A loss without a row below is left out, as if it had not been released.
            Above: tilted masses are rounded up, then products floored and trimmed, so they sum to T less than the
            product of the rows' totals; those T are somewhere, and worth at most the largest of e**(-theta I) (1 -
            e**(eps - x_I)) each: with s = theta/step at most e**(-theta (eps-O)/step) times the lesser of s**s /
            (1+s)**(1+s), reached at x - eps = ln(1 + 1/s), and 1 - e**(eps - top), top the largest sum. Losses above a
            window count as infinite: 1 - prod (1 - above_j)**k_j.
            Everything from whole numbers to the answer is in balls.
Source      tilting: Gopi, Lee, Wutschitz 2021; here in integers, so that no round-off is left to argue about.
Checked     tests/accounting/test_pld.py, against direct sums, exact atoms and closed forms.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

from dpcurator.accounting.pld.clock import Clock, no_clock
from dpcurator.accounting.pld.discretise import SLACK, Cells, ceiled, cells, floored
from dpcurator.accounting.pld.grid_choice import Window
from dpcurator.accounting.pld.kronecker import Row, power, product
from dpcurator.numbers.arb import Ball, ball, precision
from dpcurator.numbers.enclosure import bracket
from dpcurator.privacy.loss import Loss

_BITS = 160  # of the balls in which a result is read
_WEIGHT = 96  # 2**-_WEIGHT is the unit of tilts
ZERO = Fraction(0)
_TRIM = 2.0**-36  # of the tilted mass, in all


@dataclass(frozen=True, slots=True)
class Side:
    """One composed row: x_I = origin + I step, w_I = y_I e**(-theta I) e**log_scale.

    lost: the tilted mass that is missing; top: the largest sum; infinite: the chance of an infinite loss.
    """

    row: Row
    masses: list[int]
    origin: Fraction
    step: Fraction
    theta: Fraction
    log_scale: Ball
    lost: Ball
    top: Fraction
    infinite: Ball

    def delta(self, eps: Fraction) -> Ball:
        """At the working precision."""
        from flint import fmpz_poly

        first = math.floor((eps - self.origin) / self.step) + 1
        from_row = max(first - self.row.start, 0)
        start = self.row.start + from_row
        total = ball(0)
        if from_row < len(self.masses):
            tail = fmpz_poly(self.masses[from_row:])
            gain = tail((-ball(self.theta)).exp())
            loss = tail((-ball(self.theta + self.step)).exp()) * ball(eps - self.origin - start * self.step).exp()
            total = (gain - loss) * (-ball(self.theta * start)).exp() / (1 << self.row.bits)
        s = self.theta / self.step
        worth = (ball(s) * ball(s).log() - ball(1 + s) * ball(1 + s).log()).exp()
        worth = worth.min(-(-ball(max(self.top - eps, Fraction(0)))).expm1())
        missing = self.lost * worth * (-ball(s) * ball(eps - self.origin)).exp()
        return (total + missing) * self.log_scale.exp() + self.infinite

    def guess(self, delta: float) -> float:
        """About the epsilon at which this side has this delta, in doubles."""
        return _guess(self, delta)


@dataclass(frozen=True, slots=True)
class Certificate:
    upper: Side
    lower: Side

    def delta_above(self, eps: Fraction) -> Fraction:
        with precision(_BITS):
            return min(bracket(self.upper.delta(eps)).hi, Fraction(1))

    def delta_below(self, eps: Fraction) -> Fraction:
        with precision(_BITS):
            return max(bracket(self.lower.delta(eps)).lo, Fraction(0))


def certify(
    parts: list[tuple[Loss, int]],
    windows: list[Window],
    step: Fraction,
    tilt: float,
    *,
    spare: Fraction = ZERO,
    check: Clock = no_clock,
) -> Certificate:
    """windows: one for each part. tilt: s > 0. spare: the chance of one more infinite loss, in the upper side only.

    check: called between laws and between products; it may raise OutOfTime.
    """
    theta = Fraction(max(tilt, 1e-9) * float(step))
    count = sum(count for _, count in parts)
    longest = max(window.size for window in windows)
    bits = bits_for(count * longest)
    found = []
    for (loss, count), at in zip(parts, windows, strict=True):
        check()
        law = cells(loss, anchor=at.anchor, step=at.stride * step, first=at.first, last=at.last, runs=at.runs)
        found.append((law, at, count))
    return Certificate(
        _side(found, step, theta, bits, check, up=True, spare=spare),
        _side(found, step, theta, bits, check, up=False),
    )


def bits_for(roundings: int) -> int:
    """So many that all roundings together are worth 2**-44 of the tilted mass; a bracket with fewer is wider."""
    return 8 * math.ceil((44 + math.log2(roundings)) / 8)


def _side(
    found: list[tuple[Cells, Window, int]],
    step: Fraction,
    theta: Fraction,
    bits: int,
    check: Clock,
    *,
    up: bool,
    spare: Fraction = ZERO,
) -> Side:
    """found: each loss's masses, where they lie, and its count."""
    rows, shares, made = [], [], dict[int, tuple[list[Ball], list[int]]]()
    every = sum(count for _, _, count in found)
    origin, last = -every * SLACK if not up else ZERO, 0
    with precision(_BITS):
        log_scale, total, log_finite = ball(0), ball(1), (-ball(spare)).log1p()
        for apart in {at.stride for _, at, _ in found}:
            longest = max(_span(cell) for cell, at, _ in found if at.stride == apart)
            weights = _weights(apart * theta, longest)
            made[apart] = weights, [] if up else [floored(weight, _WEIGHT) for weight in weights]
        for cell, at, count in found:
            if not up and not any(cell.lower):
                continue  # no release of it: what is left is no easier to tell apart
            weights, below = made[at.stride]
            row, scale = _tilted_up(cell, weights, bits) if up else _tilted_down(cell, below, bits)
            rows.append(power(row.trimmed(_TRIM / every), count, _TRIM / every, check).apart(at.stride))
            shares.append(_TRIM * count / every)
            log_scale += count * (scale.log() + ball(theta * at.stride * cell.places[0]))
            total *= (ball(Fraction(row.total(), 1 << bits))) ** count
            log_finite += count * (-(cell.above if up else ball(cell.infinite))).log1p()
            origin += count * at.anchor
            last += count * at.stride * cell.places[-1]
    row = product(rows, shares, check) if rows else Row.of(0, [1 << bits], bits)
    with precision(_BITS):
        lost = total - ball(Fraction(row.total(), 1 << bits)) if up else ball(0)
        return Side(row, row.ints(), origin, step, theta, log_scale, lost, origin + last * step, -log_finite.expm1())


def _span(cell: Cells) -> int:
    return cell.places[-1] - cell.places[0] + 1


def _at_places(cell: Cells, masses: list[int], bits: int) -> Row:
    """The row of these masses at the cell's places, and 0 between."""
    row = [0] * _span(cell)
    for place, mass in zip(cell.places, masses, strict=True):
        row[place - cell.places[0]] = mass
    return Row.of(cell.places[0], row, bits)


def _weights(theta: Fraction, count: int) -> list[Ball]:
    """e**(theta i) from i = 0 on: places are counted from a row's own first, and its scale makes up for that."""
    weights, growth = [ball(1)], ball(theta).exp()
    for _ in range(count - 1):
        weights.append(weights[-1] * growth)
    return weights


def _tilted_up(cell: Cells, weights: list[Ball], bits: int) -> tuple[Row, Ball]:
    """The row of w_i e**(theta (k_i - k_0)) / c at the places k_i, all rounded up, and c."""
    from flint import arb

    tilted = [mass * weights[place - cell.places[0]] for place, mass in zip(cell.places, cell.upper, strict=True)]
    whole = sum(tilted, arb(0)).upper()
    if not whole > 0:
        return Row.of(cell.places[0], [0] * len(tilted), bits), ball(1)
    scale = arb((whole * ball(1 + Fraction(4 * len(tilted), 1 << bits))).upper())
    rounded = [ceiled(mass / scale, bits) for mass in tilted]
    if sum(rounded) > 1 << bits:  # where balls are wider than what they hold
        scale = arb((scale * ball(1 + Fraction(sum(rounded), 1 << bits))).upper())
        rounded = [ceiled(mass / scale, bits) for mass in tilted]
    return _at_places(cell, rounded, bits), scale


def _tilted_down(cell: Cells, weights: list[int], bits: int) -> tuple[Row, Ball]:
    """The same, all rounded down, in whole numbers throughout. weights: of unit 2**-_WEIGHT, rounded down."""
    tilted = [mass * weights[place - cell.places[0]] for place, mass in zip(cell.places, cell.lower, strict=True)]
    whole = sum(tilted)
    if not whole:
        return Row.of(cell.places[0], tilted, bits), ball(1)
    return _at_places(cell, shares_of(tilted, whole, bits), bits), ball(whole) / ball(1 << (cell.unit + _WEIGHT))


def shares_of(masses: list[int], whole: int, bits: int) -> list[int]:
    """Each of the masses as a part of the whole, in 2**-bits, rounded down."""
    return [(mass << bits) // whole for mass in masses]


def _guess(side: Side, delta: float) -> float:
    """About the epsilon at which this side has this delta, in doubles."""
    import numpy as np

    y, s = side.row.floats(), float(side.theta / side.step)
    here = y > 0
    if not here.any():
        return 0.0
    x = float(side.origin) + float(side.step) * (side.row.start + np.arange(len(y)))[here]
    scale, infinite = float(side.log_scale.mid()), float(side.infinite.mid())
    logs = np.log(y[here]) - s * (x - float(side.origin)) + scale
    target = math.log(max(delta - infinite, delta * 1e-12))
    missing = max(float(side.lost.mid()), 1e-300)
    missing_log = math.log(missing) + scale
    most, top = s * math.log(s) - (1 + s) * math.log1p(s), float(side.top)

    def log_delta(eps: float) -> float:
        above = x > eps
        parts = logs[above] + np.log(-np.expm1(eps - x[above]))
        worth = min(most, math.log(-math.expm1(min(eps - top, -1e-15))))
        return float(np.logaddexp(np.logaddexp.reduce(parts), missing_log + worth - s * (eps - float(side.origin))))

    low, high = float(x[0]) - 1, float(x[-1])
    for _ in range(60):
        eps = (low + high) / 2
        low, high = (eps, high) if log_delta(eps) > target else (low, eps)
    return high
