"""Where events are kept. A store knows rows, not budgets: it makes a transaction all-or-nothing, durable, and alone.

Checked in tests/ledger/test_stores.py.
"""

from __future__ import annotations

from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Protocol

from dpcurator.ledger.events import Row


@dataclass(frozen=True, slots=True)
class Kept:
    """A stored answer, under the position of its event."""

    request: str
    question: str  # decide.question of its charge: finds the same question under another id
    position: int
    hash: str  # sha256 of the text, hexadecimal
    text: str


class Page(Protocol):
    """The ledger inside one transaction: one consistent state, and this transaction's own writes."""

    def head(self) -> Row | None:
        """The last row."""

    def row(self, position: int) -> Row | None: ...

    def last(self, *names: str) -> Row | None:
        """The last row of those event names, found without a walk."""

    def rows(self, after: int, limit: int) -> list[Row]:
        """At most `limit` rows behind position `after`, in order."""

    def charged(self, request: str) -> int | None:
        """The position of the charge under this id."""

    def answer(self, request: str) -> Kept | None: ...

    def answered(self, question: str) -> Kept | None:
        """The earliest stored answer of this question."""

    def matching(self, prefix: str) -> list[str]:
        """Request ids that begin so, or whose answer's hash does, in order."""

    def counts(self) -> tuple[int, int]:
        """(requests, answers), counted."""

    def append(self, row: Row) -> None:
        """Add a row at the end."""

    def enter(self, request: str, position: int) -> None:
        """Note that `request` was charged at `position`."""

    def keep(self, kept: Kept) -> None: ...

    def index(self, reading: str, request: str) -> None:
        """Note that the stored answer of `request` holds this reading, and holds it better than any before it."""

    def holding(self, reading: str, limit: int) -> list[str]:
        """The last `limit` requests noted for this reading, the latest first."""

    def noted(self) -> list[tuple[str, str]]:
        """Every (reading, request) noted, in the order of noting."""


class Store(Protocol):
    """Raises Misconfigured, and nothing else, when it cannot do its work; what was not committed then never was."""

    @property
    def place(self) -> str:
        """For messages: the file, or what it is."""

    def server(self) -> str:
        """What tells the database that `place` means today from any other one it may mean later; "" for a file."""

    def exists(self) -> bool:
        """Whether it was made, with or without events."""

    def reading(self) -> AbstractContextManager[Page]:
        """A consistent view. A ledger that does not exist yet reads as empty and is not created."""

    def writing(self) -> AbstractContextManager[Page]:
        """Alone among all threads and processes; durable when the block ends, undone when it raises."""

    def close(self) -> None:
        """Let go of files; the next use opens them again."""
