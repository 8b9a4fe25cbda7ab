"""What a verification is: one step for each thing checked, and whether every one of them holds.

A check is a function that returns the words of what it found, or raises `Wrong` by `require`: none can fail and be
passed over. Checked in tests/receipts/test_verify.py.
"""

from __future__ import annotations

from dataclasses import dataclass

from dpcurator.values import Json


@dataclass(frozen=True, slots=True)
class Step:
    """One thing checked: what it is, whether it holds, and what was found."""

    name: str
    holds: bool
    words: str

    def __str__(self) -> str:
        return f"{'ok ' if self.holds else 'NO '} {self.name}: {self.words}"


@dataclass(frozen=True, slots=True)
class Verification:
    """All steps in order. `holds` only when every one of them does."""

    steps: tuple[Step, ...]

    @property
    def holds(self) -> bool:
        return all(step.holds for step in self.steps)

    def as_json(self) -> Json:
        steps = [{"name": s.name, "holds": s.holds, "words": s.words} for s in self.steps]
        return {"holds": self.holds, "steps": steps}

    def __str__(self) -> str:
        verdict = "the receipt holds" if self.holds else "the receipt does NOT hold"
        return "\n".join([*map(str, self.steps), verdict])


class Wrong(Exception):
    """Carries the words of a check that fails."""


def require(holds: bool, words: str) -> None:
    if not holds:
        raise Wrong(words)
