"""What a probe says."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Probed:
    """probe: its name. fell: was something found? found: what, or what was tried, in words; it may quote data."""

    probe: str
    fell: bool
    found: str

    def __str__(self) -> str:
        return f"{self.probe}: {'FELL' if self.fell else 'held'}. {self.found}"
