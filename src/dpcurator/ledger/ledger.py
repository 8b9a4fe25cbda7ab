"""The budget of one catalog, for its whole life: charge first, answer once, show only what is stored.

Promise   All charges together cost at most the budget, whatever threads, processes, forks, crashes and restarts do; a
          charge is durable before it is returned; an answer is durable before it is returned, the first one wins,
          and the same question of the same analyst gets that one again for free.
Why       Every decision is made inside one write transaction, from rows whose hashes are recomputed, by `decide`, which
          is pure. No budget is kept in this object; it remembers only the last head it saw, to notice a ledger that
          went back in time.
Checked   tests/ledger/: test_decide (laws), test_ledger (tables), test_fire (concurrency), test_kill (crashes),
          test_tampered, test_broken_stores.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict, dataclass, replace
from fractions import Fraction
from typing import Self

from dpcurator.errors import Misconfigured, Refusal
from dpcurator.ledger.accounts import (
    LOCAL,
    Account,
    checked_limit,
    checked_name,
    checked_role,
    hash_of,
    is_name,
    scram_of,
)
from dpcurator.ledger.canonical import digest, text_bytes
from dpcurator.ledger.decide import Standing, checked, decide, question, require_open, require_room
from dpcurator.ledger.events import (
    GENESIS,
    Answered,
    Charged,
    Closed,
    Event,
    Granted,
    Kind,
    Moved,
    Opened,
    Owned,
    Rekeyed,
    Reopened,
    Row,
    kind_of,
    read,
    seal,
    utc_now,
)
from dpcurator.ledger.key_chain import MOST, Link, linked
from dpcurator.ledger.keys import SigningKey
from dpcurator.ledger.opening import Opening
from dpcurator.ledger.reading import Head, Reader, account_key
from dpcurator.ledger.states import CURATOR, step
from dpcurator.ledger.store import Kept, Page, Store
from dpcurator.ledger.verify import Verdict, verified
from dpcurator.numbers import decimal_text
from dpcurator.numbers.rational import Spelled, added
from dpcurator.values import Budget, Charge, Json, Request

_PAGE = 1000  # rows fetched at a time
_SHORTEST_PREFIX = 4
_MOST_FOUND = 50
_MOST_HOLDING = 100


@dataclass(frozen=True, slots=True)
class Stored:
    """An answer already paid for and stored: showing it again is free."""

    answer: str
    charge: Charge


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


class Ledger:
    """Open with `Ledger.open`. Safe to share among threads and to carry across forks."""

    def __repr__(self) -> str:
        return f"<Ledger of {self._opening.protects}>"

    def __init__(
        self,
        store: Store,
        opening: Opening,
        *,
        clock: Callable[[], str] = utc_now,
        random_id: Callable[[], str] = lambda: os.urandom(16).hex(),
    ) -> None:
        self._store, self._opening, self._clock, self._random_id = store, opening, clock, random_id
        self._seen: Head = (0, GENESIS)

    @classmethod
    def open(
        cls,
        store: Store,
        opening: Opening,
        *,
        known_heads: Iterable[Head] = (),
        clock: Callable[[], str] = utc_now,
        random_id: Callable[[], str] = lambda: os.urandom(16).hex(),
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
        return tuple(_entry(reader, row) for row in rows)

    def tally(self) -> dict[Kind, int]:
        """How often each kind of charge was made: for whoever adds up the history by another measure."""
        counts: dict[Kind, int] = {}
        after = 0
        while True:
            with self._store.reading() as page:
                rows = page.rows(after, _PAGE)
            for row in rows:
                if row.name == Charged.NAME:
                    kind = kind_of(row.body)
                    counts[kind] = counts.get(kind, 0) + 1
            if len(rows) < _PAGE:
                return counts
            after = rows[-1].position

    def verify(self, known_heads: Iterable[Head] = ()) -> Verdict:
        """Recomputes everything: the chain, the totals, each request's states, each stored answer's hash."""
        with self._store.reading() as page:
            return verified(page, (*known_heads, self._seen))

    # Accounts

    def grant(
        self, analyst: str, *, role: str | None = None, limit: Spelled | None = None, delta: Spelled | None = None,
        token: str | None = None,
    ) -> Account:
        """The steward's: makes an account, or changes what is given of it; returns it as it is then.

        role: "steward", "analyst" or "auditor"; a new one is an analyst's. limit: the most that this analyst's charges
        may come to, in the ledger's currency, and delta, of delta; a new one has the whole of both. token: the one that
        signs in from here on (`accounts.new_token`), "" for none. What the analyst spent before counts.
        Raises Refusal, or Misconfigured where the ledger was moved; then nothing was written.
        """
        name = checked_name(analyst)
        if token and name == LOCAL:
            raise Refusal(
                f"{LOCAL} is whoever asks beside the data, so no token may sign in to its answers.",
                cure="Choose another name; or for a limit alone: dpcurator user add local --no-token",
            )
        role = None if role is None else checked_role(role)
        currency = self._opening.counts_in
        most = None if limit is None else checked_limit(limit, currency)
        most_delta = None if delta is None else checked_limit(delta, "delta")
        scram = scram_of(token or "")
        with self._store.writing() as page:
            reader, standing = self._read(page)
            if standing.life == "moved":
                require_open(standing.life)
            require_room(standing)
            head = self._begun(page, standing)
            account = reader.account(name, currency)
            spent = _spent_by(page, name) if account is None else (account.spent, account.spent_delta)
            last = page.last(Granted.NAME)
            row = self._append(page, head, Granted(
                analyst=name,
                role=role or (account.role if account else "analyst"),
                token=hash_of(token) if token else "" if token is not None or account is None else account.token,
                limit=most if most is not None else account.limit if account else self._opening.total,
                delta=most_delta if most_delta is not None else account.delta if account else self._opening.delta,
                own_spent=spent[0], own_delta=spent[1], before=0 if last is None else last.position,
                scram=scram if token is not None or account is None else account.scram,
            ), self._clock())
            page.index(account_key(name), str(row.position))
            granted = reader.account(name, currency)
        self._saw(row)
        assert granted is not None
        return granted

    def account(self, analyst: str) -> Account | None:
        """An analyst's account as it is now, with what was spent of its limit; None where there is none."""
        with self._store.reading() as page:
            reader, standing = self._read(page)
            return reader.account(analyst, standing.currency)

    def charges(self, analyst: str, most: int = 200) -> tuple[Entry, ...]:
        """The last charges of an analyst since the account was made, the latest first."""
        found: list[Entry] = []
        with self._store.reading() as page:
            reader, _ = self._read(page)
            for position in map(int, page.holding(account_key(analyst), most) if is_name(analyst) else ()):
                row = page.row(position)
                if row is None or row.name != Charged.NAME:
                    continue
                event, time = reader.parsed(reader.sound(row))
                if isinstance(event, Charged) and event.analyst == analyst:
                    found.append(Entry(row.position, time, event, row.hash))
        return tuple(found)

    def accounts(self) -> tuple[Account, ...]:
        """All accounts as they are now, by name."""
        with self._store.reading() as page:
            reader, standing = self._read(page)
            names, last = set(), page.last(Granted.NAME)
            position = 0 if last is None else last.position
            while position:
                granted = reader.event(position, page.row(position), Granted)
                names.add(granted.analyst)
                position = granted.before
            found = [reader.account(name, standing.currency) for name in sorted(names)]
        return tuple(one for one in found if one is not None)

    # The keys

    def rotate(self, old: SigningKey, new: SigningKey) -> Link:
        """Gives up a signing key for another: receipts are signed by `new` from here on, also those of charges that
        have no answer yet. This object goes on with the new one; whoever has the old one is refused.

        Raises Misconfigured where `old` is not the key in force or the ledger was moved; then nothing was written.
        """
        if old.public != self._opening.public_key:
            raise Misconfigured("This is not the key of the ledger.", where=self._store.place,
                                cure="Open the curator again, and rotate its key.")
        with self._store.writing() as page:
            reader, standing = self._read(page)
            if standing.life == "moved":
                require_open(standing.life)
            chain = reader.key_chain()
            if len(chain) >= MOST or new.public in {old.public, *(one.old for one in chain)}:
                raise Misconfigured("This key was in force before, or there were a thousand.", where=self._store.place,
                                    cure="Draw a new one: dpcurator key rotate")
            head = self._begun(page, standing)
            assert head is not None
            opened = read(head.body)[0] if standing.life == "new" else reader.event(1, page.row(1), Opened)
            assert isinstance(opened, Opened)
            link = linked(opened.ledger, head.position + 1, head.hash, old, new)
            row = self._append(page, head, Rekeyed(
                link.old, link.new, link.signature, link.accepted, before=chain[-1].position if chain else 0,
            ), self._clock())
        self._saw(row)
        self._opening = replace(self._opening, public_key=new.public)
        return link

    def key_chain(self) -> tuple[Link, ...]:
        """How the signing key in force came to be it: each link signed by both its keys; empty where it is the first.
        """
        with self._store.reading() as page:
            reader, _ = self._read(page)
            return reader.key_chain()

    # The curator's own life

    def close_after_fault(self) -> None:
        """No question is charged from now on, in any process, until `reopen`. Closing twice is closing once."""
        self._live(Closed())

    def reopen(self) -> bool:
        """The steward's: questions are taken again. False when the curator was not closed."""
        return self._live(Reopened())

    def seal(self, place: str) -> None:
        """The ledger goes on at `place`, and takes no charge here from now on. Again, for the same place, is once.
        Raises Misconfigured where it went to another."""
        with self._store.writing() as page:
            reader, standing = self._read(page)
            if self._went(reader, standing, place):
                return
            row = self._append(page, self._begun(page, standing), Moved(place), self._clock())
        self._saw(row)

    def may_go_to(self, place: str) -> None:
        """Raises Misconfigured where `seal` would. Writes nothing."""
        with self._store.reading() as page:
            self._went(*self._read(page), place)

    def _went(self, reader: Reader, standing: Standing, place: str) -> bool:
        """Whether it was sealed, for this place. Raises Misconfigured where for another."""
        head = standing.head
        if head is None or standing.life != "moved":
            return False
        before = reader.event(head.position, head, Moved).to
        if before != place:
            raise Misconfigured(f"This ledger was moved before, to {before}.", where=self._store.place,
                                cure="Name that place, or move the ledger from there.")
        return True

    def close(self) -> None:
        """Lets go of the store's files; the next use opens them again."""
        self._store.close()

    def _live(self, event: Closed | Reopened) -> bool:
        with self._store.writing() as page:
            standing = self._read(page)[1]
            head, life = standing.head, standing.life
            if life == "new" and isinstance(event, Closed):
                head, life = self._begun(page, standing), "open"
            if (life, event.NAME) not in CURATOR:
                return False
            row = self._append(page, head, event, self._clock())
        self._saw(row)
        return True

    def _read(self, page: Page) -> tuple[Reader, Standing]:
        """What is read here, before this transaction writes, is durable; so it may be remembered as seen."""
        reader = Reader(page, self._store.place)
        standing = reader.standing(self._opening, self._seen)
        if standing.head is not None:
            self._saw(standing.head)
        return reader, standing

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

    def _begun(self, page: Page, standing: Standing) -> Row | None:
        """The last row, after writing the first event if there is none yet."""
        if standing.life != "new":
            return standing.head
        return self._append(page, None, self._opening.event(self._random_id()), self._clock())

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

    def _append(self, page: Page, head: Row | None, event: Event, time: str) -> Row:
        position, previous = (head.position, head.hash) if head else (0, GENESIS)
        row = seal(event, position=position + 1, time=time, previous=previous)
        page.append(row)
        return row

    def _saw(self, row: Row) -> None:
        if row.position > self._seen[0]:
            self._seen = (row.position, row.hash)


def _spent_by(page: Page, analyst: str) -> tuple[Fraction, Fraction]:
    """(in the currency, of delta) of all charges of this analyst: one walk, when an account is made."""
    spent, delta, after = Fraction(0), Fraction(0), 0
    while rows := page.rows(after, _PAGE):
        for row in rows:
            event = read(row.body)[0] if row.name == Charged.NAME else None
            if isinstance(event, Charged) and event.analyst == analyst:
                spent, delta = added(spent, event.epsilon or event.rho), added(delta, event.delta)
        after = rows[-1].position
    return spent, delta


def events_of(store: Store) -> Iterator[Entry]:
    """What a store holds, whatever the catalog beside it says."""
    after = 0
    while True:
        with store.reading() as page:
            reader, rows = Reader(page, store.place), page.rows(after, _PAGE)
        yield from (_entry(reader, row) for row in rows)
        if len(rows) < _PAGE:
            return
        after = rows[-1].position


def _entry(reader: Reader, row: Row) -> Entry:
    event, time = reader.parsed(row)
    return Entry(row.position, time, event, row.hash)


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
