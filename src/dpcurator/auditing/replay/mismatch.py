"""What a replay finds: one certain fact. Checked in tests/audit/test_replay.py."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from dpcurator.auditing.replay.arguments import Move
from dpcurator.numbers.readable import readable


@dataclass(frozen=True, slots=True)
class Mismatch:
    """One certain fact. kind: calls, parameter, argument, shape, input, error, printed, returned or shown.

    where: which call or which part of what is shown. words: what differs. move: how far, for an input.
    """

    kind: str
    where: str
    words: str
    move: Move | None = None

    __repr__ = readable

    def __str__(self) -> str:
        return f"{self.where}: {self.words}"

    def as_json(self) -> dict[str, Any]:
        far = {} if self.move is None else {
            "moved": str(self.move.distance), "declared": str(self.move.declared), "norm": self.move.norm
        }
        return {"kind": self.kind, "where": self.where, "what": self.words} | far
