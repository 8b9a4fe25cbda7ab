"""A choice with chances proportional to exp(rate * value): the winner of a race, the first `places` of it.

Definition  Candidate i arrives at E_i / (size_i exp(rate * value_i)), with E_i independent exponentials. The first to
            arrive is i with chance proportional to size_i exp(rate * value_i), the next likewise among the others.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from numpy.typing import NDArray

from dpcurator.entropy import Entropy


def race(
    values: NDArray[Any],
    rate: Fraction,
    entropy: Entropy | None = None,
    *,
    sizes: NDArray[Any] | None = None,
    places: int = 1,
) -> list[int]:
    """The indices of the first `places` candidates to arrive, in their order.

    values: finite, exact: int64, float64, or objects (int and Fraction); rate: Fraction >= 0; sizes: whole, >= 1 each,
    int64 or objects, all 1 when None; places: int, 1 <= places <= len(values).
    """
    raise NotImplementedError
