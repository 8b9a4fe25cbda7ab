"""One loss on a grid, twice: masses that dominate the law, and masses that the law dominates.

Definition  Points x_i = anchor + k_i step, k_i rising whole numbers: all from a first to a last, or runs of them. f is
            any function of the loss L that falls convexly as u = e**-L grows and is at least 0, as are all (1 - e**(eps
            - r - L))+ : delta at eps, given that the other losses sum to r.
Promise     `upper`: E_P f(L), over finite L, is at most the sum of upper_i f(x_i). `above`: P(L > the last point),
            infinite losses among them. `lower`: that mean is at least the sum of lower_i f(x_i - SLACK).
Proof       Upper (connect the dots). A cell (x_i, x_i+1] of masses p, q under P and Q has mean q/p of u. Moving the
            mass to the ends of the cell so that p and q stay as they are spreads u at the same mean, so the mean of f
            does not fall (Jensen): b = (p - e**x_i q)/(1 - e**(x_i - x_i+1)) goes to x_i+1, p - b to x_i. What is below
            the first point is moved up to it. Each mass is then rounded up, and f is at least 0.
            Lower. Lumping outcomes, or shares of outcomes, is post-processing: u becomes the lump's mean, so the mean
            of f does not grow (Jensen). Cells are lumped from below until p/q of the lump is e**(x_j - SLACK), which
            is counted there; a cell that is split is split in one proportion of p and q. A lump that reaches no next
            point is moved down to the point below it. Each p is rounded down, each q up, which moves f down.
            Factors are replaced one at a time, the others' sum r being given; so both hold for the composition.
Source      Doroshenko, Ghazi, Kamath, Kumar, Manurangsi 2022 (arXiv 2207.04380), of which `lower` is a simpler twin.
Checked     tests/accounting/test_pld_cells.py.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import NamedTuple

from dpcurator.accounting.pld.lattice import with_law
from dpcurator.numbers.arb import Ball, ball, precision
from dpcurator.numbers.enclosure import bracket
from dpcurator.privacy.distribution import Distribution
from dpcurator.privacy.families.family import Family, Tails
from dpcurator.privacy.loss import Loss

SLACK = Fraction(1, 2**110)
FAR, _FARTHER = 3000, 200_000  # beyond such losses no lower row is made: e**-FAR would need numbers too long;
_WORK = 10**7  # but for few points the farther one, if all these numbers have so many figures in all
_DEEP = 2000  # bits below which a chance may be lost
_NEAR = 2**40  # a lump nearer to a point than this part of a step is counted there
Piece = tuple[int, int, int]  # p, q, and the cell's index i


class Run(NamedTuple):
    """So many indices of points, `gap` apart, from `start` on."""

    start: int
    gap: int
    size: int


@dataclass(frozen=True, slots=True)
class Cells:
    """Masses at anchor + place step. upper: balls; lower: whole numbers of unit 2**-unit; above: a ball."""

    places: list[int]
    upper: list[Ball]
    lower: list[int]
    unit: int
    above: Ball
    infinite: Fraction


def cells(
    loss: Loss, *, anchor: Fraction, step: Fraction, first: int, last: int, bits: int = 192, runs: Sequence[Run] = ()
) -> Cells:
    """The points are those from index `first` to `last`, or of these the runs that are given, which follow each other.
    Raises Refusal for a family whose law is not known."""
    known = with_law(loss)
    law = loss.distribution(atoms=2)
    runs = runs or [Run(first, 1, last - first + 1)]
    places = [run.start + i * run.gap for run in runs for i in range(run.size)]
    lowest, count = anchor + places[0] * step, places[-1] - places[0] + 1
    highest = max(abs(lowest), abs(anchor + places[-1] * step))
    reach = None if known.reach is None else known.reach(loss.given)
    far = Fraction(max(FAR, min(_FARTHER, _WORK // len(places))))
    if not law.continuous or reach is not None:  # an atom is a difference of two tails, and must come out as narrow
        bits += 2 * math.ceil(min(highest if reach is None else reach, far))
    bits += 2 * count.bit_length()
    with precision(bits):
        tails = _on_runs(known, loss, anchor, step, runs)
        if tails is None:
            tails = list(_tails(law, _points(anchor, step, places), bits))
        worths = _growing(ball(lowest).exp(), step, places)
        unit = _unit(bits, min(highest, far), tails)
        lower = [0] * len(places)
        if highest <= far:
            ends, less = _ends(law, _heavy(law, reach), anchor, step, places, bits), ball(-SLACK).exp()
            lower = _lower(_pieces(tails, ends, unit), [ceiled(worth * less, unit) for worth in worths], unit, step)
        return Cells(places, _upper(tails, worths, step, places), lower, unit, tails[-1][0], law.infinite)


def _on_runs(known: Family, loss: Loss, anchor: Fraction, step: Fraction, runs: Sequence[Run]) -> list[Tails] | None:
    """P and Q above each point, where the family knows a way for equally spaced ones."""
    found = list[Tails]()
    for run in runs:
        if known.tails_on_grid is None:
            return None
        more = known.tails_on_grid(loss.given, anchor + run.start * step, run.gap * step, run.size)
        if more is None:
            return None
        found += more
    return found


def _unit(bits: int, highest: Fraction, tails: list[Tails]) -> int:
    """So fine that the least chance here, and the least of its parts under Q, keep their bits; any holds."""
    deepest = next((p for p, _ in reversed(tails) if p > 0), ball(1))
    zeros = max(0, -math.floor(bracket((deepest.log() / ball(2).log()).mid()).lo))
    return bits + 64 + 2 * math.ceil(highest) + min(zeros, _DEEP)


def _points(anchor: Fraction, step: Fraction, places: list[int]) -> list[Fraction]:
    below = math.lcm(anchor.denominator, step.denominator)
    start, stride = int(anchor * below), int(step * below)
    return [Fraction(start + place * stride, below) for place in places]


def _growing(first: Ball, step: Fraction, places: list[int]) -> list[Ball]:
    """e**x at each point, by products."""
    found, ratios = [first], dict[int, Ball]()
    for low, high in pairwise(places):
        gap = high - low
        if gap not in ratios:
            ratios[gap] = ball(gap * step).exp()
        found.append(found[-1] * ratios[gap])
    return found


def _tails(law: Distribution, points: list[Fraction], bits: int) -> Iterator[Tails]:
    """P and Q above each point; asked once where no mass lies between two."""
    before: object = None
    found: Tails | None = None
    for point in points:
        place = law.place(point)
        if found is None or place != before:
            before, found = place, law.survival(place, bits)
        yield found


def _upper(tails: list[Tails], worths: list[Ball], step: Fraction, places: list[int]) -> list[Ball]:
    shrinks = {gap: -(-ball(gap * step)).expm1() for gap in {high - low for low, high in pairwise(places)}}
    masses = [ball(0)] * len(tails)
    masses[0] = 1 - tails[0][0]
    for i, worth in enumerate(worths[:-1]):
        (p_low, q_low), (p_high, q_high) = tails[i], tails[i + 1]
        if p_low is p_high:
            continue
        p = p_low - p_high
        b = (p - worth * (q_low - q_high)) / shrinks[places[i + 1] - places[i]]
        masses[i] += p - b
        masses[i + 1] += b
    return masses


def _heavy(law: Distribution, reach: Fraction | None) -> list[tuple[Fraction, Fraction]]:
    """Losses of heavy atoms, each between two numbers, from the lowest on."""
    if law.ends:
        return [(end.lo, end.hi) for end in reversed(law.ends)]
    return [] if reach is None else [(-reach, -reach), (reach, reach)]


def _ends(
    law: Distribution,
    heavy: list[tuple[Fraction, Fraction]],
    anchor: Fraction,
    step: Fraction,
    places: list[int],
    bits: int,
) -> dict[int, list[Tails]]:
    """What cuts off the heavy atoms, by the cell in which each lies."""
    found: dict[int, list[Tails]] = {}
    for under, end in heavy:
        i = bisect_left(places, math.ceil((end - anchor) / step)) - 1
        if 0 <= i < len(places) - 1 and under - SLACK / 2 > anchor + places[i] * step:
            cuts = [under - SLACK / 2, end] if end < anchor + places[i + 1] * step else [under - SLACK / 2]
            found.setdefault(i, []).extend(law.survival(law.place(cut), bits) for cut in cuts)
    return found


def _pieces(tails: list[Tails], ends: dict[int, list[Tails]], unit: int) -> Iterator[Piece]:
    """The cells' masses, p rounded down and q up; an atom's apart from the rest of its cell."""
    for i, (low, high) in enumerate(pairwise(tails)):
        if low is high:
            continue
        for above, below in pairwise([low, *ends.get(i, ()), high]):
            p, q = floored(above[0] - below[0], unit), ceiled(above[1] - below[1], unit)
            if p > 0:
                yield p, q, i


def _lower(pieces: Iterable[Piece], worths: list[int], unit: int, step: Fraction) -> list[int]:
    """worths: e**(x_j - SLACK), rounded up; of unit 2**-unit, as all numbers here."""
    masses = [0] * len(worths)
    one = 1 << unit

    def point_below(p: int, q: int, highest: int) -> int:
        """The highest point, from this one down, that is surely not above the piece's loss; -1 for none."""
        while highest >= 0 and p * one < q * worths[highest]:
            highest -= 1
        return highest

    def put(p: int, q: int, highest: int) -> None:
        """Count a lump at a point that its loss surely reaches: this one, but for roundings."""
        j = point_below(p, q, highest)
        if j >= 0:
            masses[j] += p

    held: Piece | None = None  # a lump that is to reach the point after its index
    for p, q, i in pieces:
        while p > 0:
            below = point_below(p, q, i + 1)
            if below < 0:
                break
            surplus = p * one - q * worths[below]
            at_a_point = below == i + 1 or surplus * _NEAR * step.denominator <= p * one * step.numerator
            if held is None:
                if at_a_point:
                    put(p, q, below)
                else:
                    held = (p, q, below)
                break
            p_held, q_held, under = held
            target = under + 1
            over = p * one - q * worths[target]
            lack = max(q_held * worths[target] - p_held * one, 0) + one + worths[target]
            if lack < over:  # a share lack/over of the piece lifts the lump to its target
                put(p_held + lack * p // over, q_held - (-lack * q // over), target)
                p, q, held = (over - lack) * p // over, -(-(over - lack) * q // over), None
            elif at_a_point and below <= target:  # a piece in its place: not to be pulled down
                put(p_held, q_held, under)
                held = None
            else:
                held = (p_held + p, q_held + q, under)
                if held[0] * one >= held[1] * worths[target]:
                    put(held[0], held[1], target)
                    held = None
                break
    if held is not None:
        put(*held)
    return masses


def floored(value: Ball, unit: int) -> int:
    """The whole number of 2**-unit below the ball; at least 0."""
    mantissa, exponent = value.lower().man_exp()
    return max(_moved(int(mantissa), int(exponent) + unit), 0)


def ceiled(value: Ball, unit: int) -> int:
    """The whole number of 2**-unit above the ball; at least 0."""
    mantissa, exponent = value.upper().man_exp()
    return max(-_moved(-int(mantissa), int(exponent) + unit), 0)


def _moved(mantissa: int, exponent: int) -> int:
    return mantissa << exponent if exponent >= 0 else mantissa >> -exponent
