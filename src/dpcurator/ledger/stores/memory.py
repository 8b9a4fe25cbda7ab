"""A ledger in this process's memory: for tests and rehearsals, gone when the process ends.

Threads take turns under one lock; an undo list makes a transaction all-or-nothing. A fork would copy the budget, so a
child process may not use it.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from dpcurator import process
from dpcurator.errors import Misconfigured
from dpcurator.ledger.events import Row
from dpcurator.ledger.store import Kept


class MemoryPage:
    """The whole ledger as Python values; `undo` says how to take this transaction back, last first."""

    def __init__(self) -> None:
        self.all: list[Row] = []
        self.by_name: dict[str, list[int]] = {}
        self.charges: dict[str, int] = {}
        self.answers: dict[str, Kept] = {}
        self.questions: dict[str, list[Kept]] = {}
        self.readings: dict[str, list[str]] = {}
        self.order: list[tuple[str, str]] = []  # of the readings, as they were noted
        self.undo: list[Callable[[], object]] = []

    def head(self) -> Row | None:
        return self.all[-1] if self.all else None

    def row(self, position: int) -> Row | None:
        return self.all[position - 1] if 1 <= position <= len(self.all) else None

    def last(self, *names: str) -> Row | None:
        positions = [self.by_name[name][-1] for name in names if self.by_name.get(name)]
        return self.all[max(positions) - 1] if positions else None

    def rows(self, after: int, limit: int) -> list[Row]:
        return self.all[after : after + limit]

    def charged(self, request: str) -> int | None:
        return self.charges.get(request)

    def answer(self, request: str) -> Kept | None:
        return self.answers.get(request)

    def answered(self, question: str) -> Kept | None:
        kept = self.questions.get(question)
        return kept[0] if kept else None

    def matching(self, prefix: str) -> list[str]:
        by_hash = (kept.request for kept in self.answers.values() if kept.hash.startswith(prefix))
        return sorted({*(request for request in self.charges if request.startswith(prefix)), *by_hash})

    def counts(self) -> tuple[int, int]:
        return len(self.charges), len(self.answers)

    def append(self, row: Row) -> None:
        positions = self.by_name.setdefault(row.name, [])
        self.all.append(row)
        positions.append(row.position)
        self.undo += [self.all.pop, positions.pop]

    def enter(self, request: str, position: int) -> None:
        self.charges[request] = position
        self.undo.append(lambda: self.charges.pop(request))

    def keep(self, kept: Kept) -> None:
        same = self.questions.setdefault(kept.question, [])
        self.answers[kept.request] = kept
        same.append(kept)
        self.undo += [lambda: self.answers.pop(kept.request), same.pop]

    def index(self, reading: str, request: str) -> None:
        requests = self.readings.setdefault(reading, [])
        if request not in requests:
            requests.append(request)
            self.order.append((reading, request))
            self.undo += [requests.pop, self.order.pop]

    def holding(self, reading: str, limit: int) -> list[str]:
        return self.readings.get(reading, [])[::-1][:limit]

    def noted(self) -> list[tuple[str, str]]:
        return list(self.order)


class MemoryStore:
    """See the module."""

    def __init__(self) -> None:
        self._page = MemoryPage()
        self._lock = threading.RLock()
        self._process = process.this()

    @property
    def place(self) -> str:
        return "ledger in memory"

    def server(self) -> str:
        return ""

    def exists(self) -> bool:
        return True

    @contextmanager
    def reading(self) -> Iterator[MemoryPage]:
        self._same_process()
        with self._lock:
            yield self._page

    @contextmanager
    def writing(self) -> Iterator[MemoryPage]:
        self._same_process()
        with self._lock:
            self._page.undo.clear()
            try:
                yield self._page
            except BaseException:
                for take_back in reversed(self._page.undo):
                    take_back()
                raise

    def close(self) -> None:
        """Nothing is held open."""

    def _same_process(self) -> None:
        if self._process != process.this():
            raise Misconfigured(
                "A ledger in memory cannot be used from a forked process, which would have a budget of its own.",
                where=self.place,
                cure="Keep the ledger in a file.",
            )
