"""How a ledger is written: one transaction at a time, behind the last event that this object saw.

Every decision is made inside one write transaction, from rows whose hashes are recomputed. No budget is kept in this
object; it remembers only the last head it saw, to notice a ledger that went back in time.
Checked in tests/ledger/: test_ledger (tables), test_fire (concurrency), test_tampered.
"""

from __future__ import annotations

import os
from collections.abc import Callable

from dpcurator.ledger.decide import Standing
from dpcurator.ledger.events import GENESIS, Event, Row, seal, utc_now
from dpcurator.ledger.opening import Opening
from dpcurator.ledger.reading import Head, Reader
from dpcurator.ledger.store import Page, Store


def new_id() -> str:
    """A name for a ledger, or for a request that is to be paid anew: 128 random bits in hexadecimal."""
    return os.urandom(16).hex()


class Appending:
    """A store, and what its first event must say. See `Ledger`, which is what its users see of it."""

    def __repr__(self) -> str:
        return f"<Ledger of {self._opening.protects}>"

    def __init__(
        self,
        store: Store,
        opening: Opening,
        *,
        clock: Callable[[], str] = utc_now,
        random_id: Callable[[], str] = new_id,
    ) -> None:
        self._store, self._opening, self._clock, self._random_id = store, opening, clock, random_id
        self._seen: Head = (0, GENESIS)

    def _read(self, page: Page) -> tuple[Reader, Standing]:
        """What is read here, before this transaction writes, is durable; so it may be remembered as seen."""
        reader = Reader(page, self._store.place)
        standing = reader.standing(self._opening, self._seen)
        if standing.head is not None:
            self._saw(standing.head)
        return reader, standing

    def _begun(self, page: Page, standing: Standing) -> Row | None:
        """The last row, after writing the first event if there is none yet."""
        if standing.life != "new":
            return standing.head
        return self._append(page, None, self._opening.event(self._random_id()), self._clock())

    def _append(self, page: Page, head: Row | None, event: Event, time: str) -> Row:
        position, previous = (head.position, head.hash) if head else (0, GENESIS)
        row = seal(event, position=position + 1, time=time, previous=previous)
        page.append(row)
        return row

    def _saw(self, row: Row) -> None:
        if row.position > self._seen[0]:
            self._seen = (row.position, row.hash)
