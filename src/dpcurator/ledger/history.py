"""The history as a store holds it, whatever the catalog beside it says: each event with its place in the chain.

For the steward: it shows every analyst's questions. Checked in tests/ledger/test_ledger.py,
tests/ledger/test_key_chain.py and tests/curator/test_opening.py.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from fractions import Fraction

from dpcurator.ledger.events import Charged, Event, Opened, Rekeyed, Row, read
from dpcurator.ledger.reading import Reader
from dpcurator.ledger.store import Page, Store
from dpcurator.numbers import decimal_text
from dpcurator.numbers.rational import added
from dpcurator.values import Json

PAGE = 1000  # rows fetched at a time


@dataclass(frozen=True, slots=True)
class Entry:
    """One event of the history, with its place in the chain."""

    position: int
    time: str
    event: Event
    hash: str

    def as_json(self) -> Json:
        """For machines. Amounts are exact, as text."""
        body = {name: value if isinstance(value, str | int | None) else str(value)
                for name, value in asdict(self.event).items()}
        return {"position": self.position, "time": self.time, "event": self.event.NAME, "hash": self.hash} | body

    def __repr__(self) -> str:
        told = [f"{self.position}, {self.time[:19]}, {self.event.NAME}"]
        told += [f"{name} {getattr(self.event, name)[:8]}" for name in ("request",) if hasattr(self.event, name)]
        for name in ("epsilon", "rho", "delta"):
            amount = getattr(self.event, name, None)
            told += [f"{name} {decimal_text(amount)}"] if amount else []
        return f"Entry({', '.join(told)})"


def events_of(store: Store) -> Iterator[Entry]:
    """What a store holds, whatever the catalog beside it says."""
    after = 0
    while True:
        with store.reading() as page:
            reader, rows = Reader(page, store.place), page.rows(after, PAGE)
        yield from (entry_of(reader, row) for row in rows)
        if len(rows) < PAGE:
            return
        after = rows[-1].position


def entry_of(reader: Reader, row: Row) -> Entry:
    """A row, as what it says."""
    event, time = reader.parsed(row)
    return Entry(row.position, time, event, row.hash)


def spent_by(page: Page, analyst: str) -> tuple[Fraction, Fraction]:
    """(in the currency, of delta) of all charges of this analyst: one walk, when an account is made."""
    spent, delta, after = Fraction(0), Fraction(0), 0
    while rows := page.rows(after, PAGE):
        for row in rows:
            event = read(row.body)[0] if row.name == Charged.NAME else None
            if isinstance(event, Charged) and event.analyst == analyst:
                spent, delta = added(spent, event.epsilon or event.rho), added(delta, event.delta)
        after = rows[-1].position
    return spent, delta


def key_in_force(store: Store, *, settled: bool = False) -> str | None:
    """The public key that a store's ledger says is in force; None where there is no event yet. settled: after whatever
    is being written now, which a connection that was lost may have left open."""
    with store.writing() if settled else store.reading() as page:
        reader, row = Reader(page, store.place), page.last(Rekeyed.NAME)
        if row is not None:
            return reader.event(row.position, row, Rekeyed).new
        first = page.row(1)
        return None if first is None else reader.event(1, first, Opened).public_key


def last_version(store: Store) -> int:
    """The greatest data version that a charge names; 0 when there is none."""
    return max((entry.event.data_version for entry in events_of(store) if isinstance(entry.event, Charged)), default=0)
