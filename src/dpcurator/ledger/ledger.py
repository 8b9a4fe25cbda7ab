"""The budget of one catalog, for its whole life: charge first, answer once, show only what is stored.

Promise   All charges together cost at most the budget, whatever threads, processes, forks, crashes and restarts do; a
          charge is durable before it is returned; an answer is durable before it is returned, the first one wins,
          and the same question of the same analyst gets that one again for free.
Why       Every decision is made inside one write transaction (`appending`), from rows whose hashes are recomputed, by
          `decide`, which is pure.
Checked   tests/ledger/: test_decide (laws), test_ledger (tables), test_fire (concurrency), test_kill (crashes),
          test_tampered, test_broken_stores.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Self

from dpcurator.errors import Misconfigured, Refusal
from dpcurator.ledger.administering import Administering
from dpcurator.ledger.appending import new_id
from dpcurator.ledger.canonical import digest, text_bytes
from dpcurator.ledger.decide import Standing, checked, decide, question, require_open
from dpcurator.ledger.events import GENESIS, Answered, Charged, Kind, Owned, Row, kind_of, utc_now
from dpcurator.ledger.history import PAGE, Entry, entry_of, events_of
from dpcurator.ledger.opening import Opening
from dpcurator.ledger.reading import Head, Reader, account_key
from dpcurator.ledger.states import CURATOR, step
from dpcurator.ledger.store import Kept, Page, Store
from dpcurator.ledger.verify import Verdict, verified
from dpcurator.values import Budget, Charge, Request

_SHORTEST_PREFIX = 4
_MOST_FOUND = 50
_MOST_HOLDING = 100


@dataclass(frozen=True, slots=True)
class Stored:
    """An answer already paid for and stored: showing it again is free."""

    answer: str
    charge: Charge


class Ledger(Administering):
    """Open with `Ledger.open`. Safe to share among threads and to carry across forks."""

    @classmethod
    def open(
        cls,
        store: Store,
        opening: Opening,
        *,
        known_heads: Iterable[Head] = (),
        clock: Callable[[], str] = utc_now,
        random_id: Callable[[], str] = new_id,
    ) -> Self:
        """Compares the catalog's `opening` with the first event, if there is one; writes nothing.

        known_heads: (position, hash) from receipts; a ledger that lacks one is older than the receipt.
        Raises Misconfigured, naming both values, when catalog and ledger disagree.
        """
        ledger = cls(store, opening, clock=clock, random_id=random_id)
        with store.reading() as page:
            reader, _ = ledger._read(page)
            for head in known_heads:
                reader.holds(head)
        return ledger

    # Paying and answering

    def charge(self, request: Request, fresh: bool = False) -> Charge | Stored:
        """A durable charge, or what this request already has: its charge without an answer, or its stored answer.

        fresh: pay again, for independent noise. An explicit request id makes a retry the same request, fresh or not.
        Raises Refusal, OverBudget or Misconfigured; then nothing was written.
        """
        request = checked(request)
        derived = question(request)
        request_id = request.request_id or (self._random_id() if fresh else derived)
        if self._seen[0] == 0:  # perhaps there is no ledger yet: a question that is refused must not create one
            with self._store.reading() as page:
                self._decided(page, request, request_id, derived, fresh)
        with self._store.writing() as page:
            standing, decision, known = self._decided(page, request, request_id, derived, fresh)
            if known is not None:
                return known
            time = self._clock()
            head = self._owned(page, self._begun(page, standing), standing, request, time)
            row = self._append(page, head, decision, time)
            page.enter(request_id, row.position)
            if decision.granted:
                page.index(account_key(decision.analyst), str(row.position))
        self._saw(row)
        return self._charge(decision, row)

    def answer(self, charge: Charge, text: str, readings: Iterable[str] = ()) -> str:
        """Stores `text` as the answer of `charge`, durably, unless one is stored; returns the one stored.

        readings: names of readings that the text holds, to be found by `holding`.
        Only what this returns may be shown. Raises Misconfigured when it cannot be stored; the charge stands.
        """
        row = None
        try:
            with self._store.writing() as page:
                reader, standing = self._read(page)
                mine = reader.charged(charge.request_id)
                if mine is not None and mine[1].hash == charge.head:
                    kept = reader.kept(charge.request_id)
                    if kept is not None:
                        return kept.text
                    row = self._answered(page, standing, mine[0], text, charge.time)
                    for reading in readings:
                        page.index(reading, charge.request_id)
        except Misconfigured as error:
            raise Misconfigured(
                f"The answer could not be stored, so it is not shown. {error.what}",
                where=error.where,
                cure=f"{error.cure} The charge stands: asking again resumes it at no cost.".strip(),
            ) from None
        if row is None:
            raise Misconfigured(
                "This charge is not in the ledger, so its answer is not shown.",
                where=self._store.place,
                cure="Answer a charge with the ledger that made it.",
            )
        self._saw(row)
        return text

    def stored(self, request: Request) -> Stored | None:
        """The stored answer that `charge` would give for free, if there is one; charges nothing."""
        request = checked(request)
        derived = question(request)
        with self._store.reading() as page:
            reader, _ = self._read(page)
            mine = reader.charged(request.request_id or derived)
            if mine is not None and question(mine[0]) != derived:
                return None
            known = mine or reader.twin(derived)
            kept = known and reader.kept(known[0].request)
            return Stored(kept.text, self._charge(*known)) if known and kept else None

    def holding(self, readings: Iterable[str]) -> dict[str, tuple[Stored, ...]]:
        """The stored answers that hold each of these readings, the latest noted first, at most 100 of each. What the
        index names and is not there is passed over: such a reading is paid again."""
        found: dict[str, tuple[Stored, ...]] = {}
        with self._store.reading() as page:
            reader, _ = self._read(page)
            for reading in readings:
                pairs = ((reader.charged(one), reader.kept(one)) for one in page.holding(reading, _MOST_HOLDING))
                found[reading] = tuple(Stored(kept.text, self._charge(*paid)) for paid, kept in pairs if paid and kept)
        return found

    def knows(self, request: Request) -> bool:
        """Whether `charge` would charge nothing new for this request: its id is taken, or its question is answered."""
        request = checked(request)
        derived = question(request)
        with self._store.reading() as page:
            reader, _ = self._read(page)
            return reader.charged(request.request_id or derived) is not None or reader.twin(derived) is not None

    def require_open(self) -> None:
        """Raises Misconfigured where a fault closed the curator: then even what is free is not shown."""
        require_open(self.life())

    def stored_under(self, request_id: str) -> Stored | None:
        """The stored answer of the request of this id, with its charge."""
        with self._store.reading() as page:
            reader, _ = self._read(page)
            paid, kept = reader.charged(request_id), reader.kept(request_id)
            return Stored(kept.text, self._charge(*paid)) if paid and kept else None

    def find(self, prefix: str, analyst: str | None = None) -> tuple[Stored | Charge, ...]:
        """Requests whose id or whose answer's sha256 begins with `prefix` (4 characters or more), at most 50, in order
        of id; of that analyst alone, or of all."""
        if len(prefix) < _SHORTEST_PREFIX:
            raise Refusal(f"Give at least {_SHORTEST_PREFIX} characters of a request id or of an answer's hash.")
        found: list[Stored | Charge] = []
        with self._store.reading() as page:
            reader, _ = self._read(page)
            for request_id in page.matching(prefix):
                mine = reader.charged(request_id)
                if mine is None or analyst not in (None, mine[0].analyst):
                    continue
                kept = reader.kept(request_id)
                charge = self._charge(*mine)
                found.append(Stored(kept.text, charge) if kept else charge)
                if len(found) == _MOST_FOUND:
                    break
        return tuple(found)

    # Looking

    def budget(self) -> Budget:
        """Where the ledger stands, exactly. Writes nothing."""
        with self._store.reading() as page:
            _, now = self._read(page)
        return Budget(now.total, now.delta, now.spent, now.spent_delta, now.currency)

    def life(self) -> str:
        """ "new", "open", "closed" or "moved"."""
        with self._store.reading() as page:
            return self._read(page)[1].life

    def head(self) -> Head:
        """(position, hash) of the last event; (0, 64 zeros) before the first."""
        with self._store.reading() as page:
            row = self._read(page)[1].head
        return (row.position, row.hash) if row else (0, GENESIS)

    def events(self) -> Iterator[Entry]:
        """The history from the first event on. For the steward: it shows every analyst's questions."""
        return events_of(self._store)

    def page(self, after: int, most: int) -> tuple[Entry, ...]:
        """At most so many events behind event `after`, in order. For the steward."""
        with self._store.reading() as page:
            reader, rows = Reader(page, self._store.place), page.rows(after, most)
        return tuple(entry_of(reader, row) for row in rows)

    def tally(self) -> dict[Kind, int]:
        """How often each kind of charge was made: for whoever adds up the history by another measure."""
        counts: dict[Kind, int] = {}
        after = 0
        while True:
            with self._store.reading() as page:
                rows = page.rows(after, PAGE)
            for row in rows:
                if row.name == Charged.NAME:
                    kind = kind_of(row.body)
                    counts[kind] = counts.get(kind, 0) + 1
            if len(rows) < PAGE:
                return counts
            after = rows[-1].position

    def verify(self, known_heads: Iterable[Head] = ()) -> Verdict:
        """Recomputes everything: the chain, the totals, each request's states, each stored answer's hash."""
        with self._store.reading() as page:
            return verified(page, (*known_heads, self._seen))

    def _decided(
        self, page: Page, request: Request, request_id: str, derived: str, fresh: bool
    ) -> tuple[Standing, Charged, Charge | Stored | None]:
        """(where the ledger is, the charge to write, or what the request already has)."""
        reader, standing = self._read(page)
        mine = reader.charged(request_id)
        known = mine or (None if fresh else reader.twin(derived))
        account = reader.account(request.analyst, standing.currency)
        decision = decide(
            standing, request, request_id, mine=mine and mine[0], known=known and known[0], account=account
        )
        if known is None:
            return standing, decision, None
        charge, kept = self._charge(*known), reader.kept(decision.request)
        return standing, decision, charge if kept is None else Stored(kept.text, charge)

    def _owned(self, page: Page, head: Row | None, standing: Standing, request: Request, time: str) -> Row | None:
        """The last row, after recording whose rows the tables hold that this question is the first to read."""
        known = standing.owners if standing.life != "new" else self._opening.owners
        new = tuple(pair for pair in request.owners if pair[0] not in dict(known))
        if not new or not self._opening.owners:  # an opening that names no tables says nothing of any
            return head
        return self._append(page, head, Owned((*known, *new)), time)

    def _charge(self, charged: Charged, row: Row) -> Charge:
        return Charge(
            request_id=charged.request,
            position=row.position,
            head=row.hash,
            time=row.time(),
            epsilon=charged.epsilon,
            delta=charged.delta,
            spent=charged.spent,
            remaining=self._opening.total - charged.spent,
            rho=charged.rho,
            shared=charged.shared,
        )

    def _answered(self, page: Page, standing: Standing, charged: Charged, text: str, time: str) -> Row:
        if standing.life == "moved":
            require_open(standing.life)
        step(CURATOR, standing.life, Answered.NAME)
        hash_ = digest(text_bytes(text))
        row = self._append(page, standing.head, Answered(charged.request, hash_), time)
        page.keep(Kept(charged.request, question(charged), row.position, hash_, text))
        return row
