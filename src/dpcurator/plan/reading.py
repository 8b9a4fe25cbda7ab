"""A reading: the waist between aggregates and mechanisms (design 1.2).

An integer vector, one coordinate per key, together with how far one unit can move it. The four distances are integers
in the reading's own unit, so no root is rounded: `l2_squared` is the square. They are claims made by
`plan/stability.py` and tested by the heart law (tests/laws/test_heart.py).
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction


@dataclass(frozen=True, slots=True)
class Reading:
    """How far one unit moves an integer vector. `unit`: what 1 means, in the query's unit (Fraction > 0)."""

    coordinates: int
    linf: int
    l1: int
    l2_squared: int
    unit: Fraction

    def __post_init__(self) -> None:
        if min(self.coordinates, self.linf, self.l1, self.l2_squared) < 0 or self.unit <= 0:
            raise ValueError("a reading's distances are at least 0 and its unit is above 0")
