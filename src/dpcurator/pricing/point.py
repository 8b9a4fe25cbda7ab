"""One certified (epsilon, delta) point for questions whose noise is all fixed before any of them is answered.

Definition  The least epsilon that is certified for all losses together at a delta (accounting/bracket.py), rounded up
            to FIGURES figures.
Promise     All answers together are (epsilon, delta)-DP. It is decided by the losses and the delta alone, the same
            every time: no clock stops it, and what doubles choose in it lies far below the figures that are kept.
Proof       The losses are fixed before the first release, so the product of their dominating pairs dominates all of it
            (Zhu, Dong, Wang 2022, theorem 10), whichever answer is drawn first. To a ledger it is one mechanism, whose
            parameters are fixed when it is charged; sums of such points hold when the analyst adapts (Rogers, Roth,
            Ullman, Vadhan 2016, theorem 3.6: a filter on sums of epsilon and of delta).
Cost        With more than MOST different losses, those of a pure epsilon are taken as that alone, which dominates them
            and makes equal ones of many; and if there are still more, formulas bound them without a distribution.
Checked     tests/pricing/test_point.py, tests/test_batching_as_one.py, tests/attacks/test_batch_as_one.py.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Final

from dpcurator.numbers.rational import leading
from dpcurator.privacy.loss import Loss

FIGURES: Final = 4  # of the epsilon
MOST: Final = 50  # different losses of which a distribution is made
ACCURACY: Final = Fraction(1, 1000)
_NO_CLOCK: Final = 10**9  # seconds
SLACK: Final = Fraction(101, 100)  # a receipt's point may be this much above what is certified now


@dataclass(frozen=True, slots=True)
class Point:
    """All of it is (epsilon, delta)-DP. method: which bound gave the epsilon, as a bracket names it."""

    epsilon: Fraction
    delta: Fraction
    method: str


def point_of(losses: Sequence[Loss], delta: Fraction) -> Point | None:
    """The point at this delta, in (0, 1); None where no epsilon has so small a delta."""
    from dpcurator.accounting.bracket import bracket
    from dpcurator.accounting.closed import upper_bounds
    from dpcurator.accounting.composition import compose
    from dpcurator.errors import Refusal

    together = compose(*losses)
    if len(together.parts) > MOST:
        together = compose(*((as_pure(loss), count) for loss, count in together.parts))
    if len(together.parts) > MOST:
        found = min(((epsilon, name) for name, epsilon in upper_bounds(together, delta)), default=None)
        return None if found is None else Point(rounded_up(found[0]), delta, found[1])
    try:
        made = bracket(together, delta=delta, accuracy=ACCURACY, seconds=_NO_CLOCK)
    except Refusal:
        return None
    return Point(rounded_up(made.upper), delta, made.method)


def as_pure(loss: Loss) -> Loss:
    """Its pure epsilon alone, where it has one: that dominates it (Kairouz, Oh, Viswanath 2015)."""
    if loss.family not in ("discrete_laplace", "pure"):
        return loss
    return Loss("pure", (("epsilon", loss.pure_epsilon()),))


def rounded_up(epsilon: Fraction) -> Fraction:
    """To FIGURES figures. epsilon: at least 0."""
    if epsilon <= 0:
        return Fraction(0)
    unit = Fraction(10) ** (leading(epsilon) - FIGURES + 1)
    return math.ceil(epsilon / unit) * unit
