"""Parts of the facts about grids: tails of atoms in doubles, and exponentials at equally spaced points by products.

Checked in tests/privacy/test_family_facts.py and tests/accounting/test_pld_cells.py.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

from dpcurator.numbers.arb import Ball, ball
from dpcurator.privacy.families.family import FloatTails, Tails


def atoms_in_doubles(losses: Any, first: Any, second: Any, infinite: float) -> FloatTails:
    """losses: falling; first, second: their masses under P and Q; infinite: the chance of an infinite loss."""
    import numpy as np

    rising = -losses
    sums = [np.concatenate([[start], start + np.cumsum(mass)]) for start, mass in ((infinite, first), (0.0, second))]

    def both(x: Any) -> tuple[Any, Any]:
        slack = 1e-13 * (1 + np.abs(x))  # an atom at a grid point is in the cell below it
        above = np.searchsorted(rising, -x - slack, side="left")
        return sums[0][above], sums[1][above]

    return both


def powers(x: Fraction, step: Fraction, count: int) -> list[Ball]:
    """e**(x/2), e**((x+step)/2), ... by products, of which n cost about log2(n) bits."""
    power, ratio, found = ball(x / 2).exp(), ball(step / 2).exp(), []
    for _ in range(count):
        found.append(power)
        power = power * ratio
    return found


def within(
    low: Fraction,
    high: Fraction,
    start: Fraction,
    step: Fraction,
    n: int,
    between: Callable[[Fraction, int], list[Tails]],
) -> list[Tails]:
    """All of the law is above a point below `low`, and none above one from `high` on."""
    first, last = (min(max(math.ceil((end - start) / step), 0), n) for end in (low, high))
    every, none = (ball(1), ball(1)), (ball(0), ball(0))
    return [every] * first + between(start + first * step, last - first) + [none] * (n - last)
