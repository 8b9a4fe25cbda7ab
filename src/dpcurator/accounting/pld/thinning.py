"""Points of a long-tailed loss that lie further apart in its tails, in doubles: for speed and width, never for truth.

A cell of width w and mass m widens a bracket by about m w**2 times what its losses are worth to delta: that is at most
1, and near the saddle point s about e**(s L) of what the whole law is. So gaps may grow as the root of that falls. Far
above epsilon, where the delta that a loss gives is linear in e**-L, a cell adds nothing at all. Gaps double, after some
points of each. Checked in tests/accounting/test_sampled_pld.py.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction

from dpcurator.accounting.pld.discretise import Run
from dpcurator.accounting.pld.grid_choice import Sight, Window

_FAR_OUT = 0.01  # of what all points of a law are worth: those in its tails, from which on their gaps grow
_EVEN = 16  # points of the same gap, at least
_WIDEST = 1 << 14  # steps between two points
_BEYOND = 10.0  # deviations of the sum above epsilon, from which on the delta that a loss gives is linear in e**-L
_SHARP, _NEAR = 2.0, 3.0  # ln of what such a worth may be more than it is taken for


def thinned(at: Window, index: int, step: Fraction, seen: Sight) -> Window:
    """The same with points further apart in the tails. index: of the loss."""
    import numpy as np

    known = seen.cumulants
    here = slice(known.starts[index], known.starts[index] + known.lengths[index])
    x, mass = known.x[here], known.log[here]
    worth = mass - seen.log_delta + _SHARP
    if seen.tilt == seen.saddle:
        worth = np.minimum(worth, mass + seen.saddle * x - float(seen.logs[index]) + _NEAR)
    worth = np.exp(np.minimum(worth, 700.0))
    above, below = (np.maximum(sums, 1e-300) for sums in (np.cumsum(worth[::-1])[::-1], np.cumsum(worth)))
    h, lowest = float(step), float(at.anchor)
    linear = seen.eps + _BEYOND * seen.spread

    def gap(place: int, up: bool) -> float:
        point = lowest + place * h
        if up:
            at_most = above[max(int(np.searchsorted(x, point, side="right")) - 1, 0)]
            return max(math.sqrt(_FAR_OUT / at_most), (point - linear) / (3 * _EVEN * h))
        at_most = below[min(int(np.searchsorted(x, point)), len(x) - 1)]
        return math.sqrt(_FAR_OUT / at_most)

    beyond = [float(x[i]) for i in range(len(x)) if above[i] * 4 <= _FAR_OUT]
    high = min([math.ceil((min([*beyond, linear + 6 * _EVEN * h]) - lowest) / h), at.last])
    before = [float(x[i]) for i in range(len(x)) if below[i] * 4 <= _FAR_OUT]
    low = max([math.floor((before[-1] - lowest) / h) if before else at.first, at.first])
    near = min(max(0, at.first), at.last)  # 0, where the window has it
    low, high = min(low, near, high), max(high, near, low)
    runs = [*reversed(_tail(low, at.first, lambda place: gap(place, False))), Run(low, 1, high - low + 1)]
    return replace(at, runs=(*runs, *_tail(high, at.last, lambda place: gap(place, True))))


def _tail(start: int, end: int, gap_at: Callable[[int], float]) -> list[Run]:
    """Runs from `start`, which is not in them, to the end, up or down."""
    runs, gap, place, side = list[Run](), 1, start, 1 if end > start else -1
    while place != end:
        left = abs(end - place)
        while 2 * gap <= gap_at(place) and gap < _WIDEST:
            gap *= 2
        if gap > left:
            gap = left
        size = min(_EVEN, left // gap)
        last = place + side * gap * size
        runs.append(Run(place + gap, gap, size) if side > 0 else Run(last, gap, size))
        place = last
    return runs
