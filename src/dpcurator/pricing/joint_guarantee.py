"""One certified (epsilon, delta) for a non-adaptive batch: all its noise is fixed before any answer.

Definition  The least epsilon that is certified for all losses together at a delta, by their distribution
            (accounting/pld/certified.py) or by a formula (accounting/closed/bounds.py), rounded up to FIGURES figures.
            The sum of their epsilons one by one is not among them: that is what the point is compared with.
Promise     All answers together are (epsilon, delta)-DP. It is decided by the losses and the delta alone, the same
            every time: no clock stops it, and what doubles choose in it lies far below the figures that are kept.
Proof       The losses are fixed before the first release, so the product of their dominating pairs dominates all of it
            (Zhu, Dong, Wang 2022, theorem 10), whichever answer is drawn first. To a ledger it is one mechanism, whose
            parameters are fixed when it is charged; sums of such points hold when the analyst adapts (Rogers, Roth,
            Ullman, Vadhan 2016, theorem 3.6: a filter on sums of epsilon and of delta).
Cost        With more than MOST different losses, those of a pure epsilon are taken as that alone, which dominates them
            and makes equal ones of many; and if there are still more, formulas bound them without a distribution.
Checked     tests/pricing/test_joint_guarantee.py, tests/curator/test_batching_as_one.py,
            tests/attacks/test_batch_as_one.py.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING, Final

from dpcurator.errors import Refusal
from dpcurator.numbers.decimals import leading
from dpcurator.privacy.loss import Loss

if TYPE_CHECKING:
    from dpcurator.accounting.composition import Composition

FIGURES: Final = 4  # of the epsilon
MOST: Final = 50  # different losses of which a distribution is made
KINDS: Final = 250  # different losses that formulas bound: a hundred questions at one price have at most two each
ACCURACY: Final = Fraction(1, 1000)
_NO_CLOCK: Final = 1e9  # seconds
_FAR: Final = 100  # an epsilon beyond which nothing is promised, and no distribution made
_ONE_BY_ONE: Final = ("sum", "own curve")  # formulas that put nothing together, and search a curve of each loss
_BEYOND: Final = (ArithmeticError, ValueError, Refusal)  # numbers that a bound is not made for: it is left out
SLACK: Final = Fraction(101, 100)  # a receipt's point may be this much above what is certified now


@dataclass(frozen=True, slots=True)
class Point:
    """All of it is (epsilon, delta)-DP. method: which bound gave the epsilon, as a bracket names it."""

    epsilon: Fraction
    delta: Fraction
    method: str


def point_of(losses: Sequence[Loss], delta: Fraction) -> Point | None:
    """The point at this delta, in (0, 1); None for a single loss, for more than KINDS different ones, and where no
    epsilon has so small a delta."""
    from dpcurator.accounting.composition import compose

    return _point_of(compose(*losses), delta)


@lru_cache(maxsize=64)  # every receipt of a batch has the same
def _point_of(together: Composition, delta: Fraction) -> Point | None:
    from dpcurator.accounting.composition import compose

    if len(together.parts) > MOST:
        together = compose(*((as_pure(loss), count) for loss, count in together.parts))
    if len(together.parts) > KINDS:
        return None
    found = least_epsilon(together, delta, distribution=len(together.parts) <= MOST)
    return None if found is None else Point(rounded_up(found[0]), delta, found[1])


def least_epsilon(together: Composition, delta: Fraction, *, distribution: bool) -> tuple[Fraction, str] | None:
    """The least epsilon certified for two or more losses together, and the bound that gave it; None as above.

    distribution: whether to make that of their losses, which takes longest.
    """
    from dpcurator.accounting.bracket import has_law
    from dpcurator.accounting.closed.bounds import METHODS, split
    from dpcurator.accounting.pld.certified import certified
    from dpcurator.accounting.rounding import down

    try:
        infinite, parts = split(together.parts)
    except _BEYOND:
        return None
    rest = delta if infinite == 0 else (delta - infinite) / (1 - infinite)
    if together.size < 2 or rest <= 0:
        return None
    bounds: list[tuple[Fraction | None, str]] = []
    for name in METHODS:
        if name not in _ONE_BY_ONE:
            with suppress(*_BEYOND):
                bounds.append((METHODS[name].epsilon(parts, down(rest)), name))
    near = any(epsilon is not None and epsilon <= _FAR for epsilon, _ in bounds)
    if distribution and near and all(has_law(loss) for loss, _ in together.parts):
        with suppress(*_BEYOND):
            made = certified(together.parts, "epsilon", delta, accuracy=float(ACCURACY), seconds=_NO_CLOCK)
            bounds.append((made.upper, "pld"))
    return min(((epsilon, name) for epsilon, name in bounds if epsilon is not None), default=None)


def as_pure(loss: Loss) -> Loss:
    """Its pure epsilon alone, where it has one: that dominates it (Kairouz, Oh, Viswanath 2015)."""
    if loss.family not in ("discrete_laplace", "pure"):
        return loss
    return Loss("pure", (("epsilon", loss.pure_epsilon()),))


def rounded_up(epsilon: Fraction, figures: int = FIGURES) -> Fraction:
    """To so many figures. epsilon: at least 0."""
    if epsilon <= 0:
        return Fraction(0)
    unit = Fraction(10) ** (leading(epsilon) - figures + 1)
    return math.ceil(epsilon / unit) * unit
