"""How long a grid takes, about, and a step that can be afforded; and the end of the time. They decide no bound.

Seconds are those of a slow core: 30 microseconds for a cell, both ways, and half a one for a point of a product, of
which powers by squaring take about four times their last length. Checked in tests/accounting/test_clock.py.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from fractions import Fraction

from dpcurator.accounting.pld.grid_choice import Sight, Window, aligned
from dpcurator.privacy.loss import Loss

_CELL, _POINT = 3e-5, 5e-7
_LONG = 14  # deviations that a row keeps


class OutOfTime(Exception):
    """Raised between two products or two laws, and caught where the best bounds so far are known."""


Clock = Callable[[], None]


def no_clock() -> None:
    """Time does not end."""


def clock(until: float) -> Clock:
    """A call that raises OutOfTime once this process has used more CPU time than `until`: others may be busy."""

    def check() -> None:
        if time.process_time() > until:
            raise OutOfTime

    return check


def seconds_for(counts: list[int], windows: list[Window], step: Fraction, seen: Sight) -> float:
    """Of one grid with these windows, about."""
    variances = seen.cumulants.each(seen.tilt)[2] * counts
    points = 0.0
    for count, at, variance in zip(counts, windows, variances, strict=True):
        length = at.last - at.first + 1
        whole = _LONG * math.sqrt(variance) / float(step) + 2 * length * at.stride
        points += (4 if count > 1 else 1) * min(whole, float(count * length * at.stride))
    points += 3 * _LONG * seen.spread / float(step)
    return _CELL * sum(at.size for at in windows) + 2 * _POINT * points


def afforded(parts: list[tuple[Loss, int]], step: Fraction, seen: Sight, takes: float, seconds: float) -> Fraction:
    """A coarser step where this one takes longer than `seconds`."""
    if takes <= seconds:
        return step
    widest = max(seen.spread, 1 / (1 + seen.saddle)) / 4
    wanted = min(float(step) * takes / seconds, max(widest, float(step)))
    return max(aligned(parts, Fraction(wanted).limit_denominator(10**12)), step)
