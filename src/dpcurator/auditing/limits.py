"""What one audit may use, and whom it tells. Checked in tests/audit/test_run.py."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

Progress = Callable[[str, int, int], None]  # what is being done, done, of how many


@dataclass(frozen=True, slots=True)
class Limits:
    """samples, until (a moment of the monotonic clock), alpha and whom to tell."""

    samples: int
    until: float
    alpha: Fraction
    tell: Progress
    bits: bool

    @property
    def left(self) -> float:
        return max(0.0, self.until - time.monotonic())
