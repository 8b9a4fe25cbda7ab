"""Recomputing a whole ledger from its events alone.

Checked, in order, for every event: its place, its spelling, its hash after the previous one, what may follow what, the
totals after each charge and that they stay within the budget and within each account's own limit, the signatures by
which one key follows another, and that the index
and the stored answers say the same as the events. The first thing that is wrong is named by position and kind. The
chain proves that the history is the one its head fixes; heads held outside (in receipts) prove that it is the whole
one.
Checked in tests/ledger/test_tampered.py.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from fractions import Fraction

from dpcurator.ledger.accounts import spelled
from dpcurator.ledger.canonical import digest, text_bytes
from dpcurator.ledger.decide import question
from dpcurator.ledger.events import GENESIS, Answered, Charged, Event, Granted, Opened, Owned, Rekeyed, Row, read, seal
from dpcurator.ledger.opening import CURRENCIES
from dpcurator.ledger.reading import Head, account_key, link_of
from dpcurator.ledger.states import CURATOR, REQUEST, Impossible, step
from dpcurator.ledger.store import Page
from dpcurator.numbers.rational import added

_ROWS = 1000  # fetched at a time


@dataclass(frozen=True, slots=True)
class Verdict:
    """problem: the first thing that is wrong, in words without data; None when all is well."""

    position: int  # events in the ledger
    head: str
    problem: str | None

    @property
    def sound(self) -> bool:
        return self.problem is None


class _Wrong(Exception):
    """Carries the words from where the fault is found to the verdict."""


@dataclass
class _History:
    """What the events so far add up to."""

    page: Page
    life: str = "new"
    opened: Opened | None = None
    owners: tuple[tuple[str, str], ...] = ()
    spent: tuple[Fraction, Fraction, Fraction] = (Fraction(0), Fraction(0), Fraction(0))  # epsilon, delta, rho
    each: dict[str, tuple[Fraction, Fraction]] = field(default_factory=dict)  # spent by analyst, and of delta
    accounts: dict[str, tuple[int, Granted]] = field(default_factory=dict)
    noted: dict[str, int] = field(default_factory=dict)  # the last event of each account
    granted: int = 0
    keys: list[str] = field(default_factory=list)  # those that were in force, the last one being it
    rekeyed: int = 0
    states: dict[str, str] = field(default_factory=dict)
    questions: dict[str, str] = field(default_factory=dict)

    def take(self, event: Event, position: int, head: str) -> None:
        """Raises _Wrong or Impossible when `event` cannot come next. head: the hash before it."""
        self.life = step(CURATOR, self.life, event.NAME)
        if isinstance(event, Opened):
            whole = {CURRENCIES["epsilon"]: event.epsilon, CURRENCIES["rho"]: event.rho}
            if whole.pop(event.currency, 0) <= 0 or any(whole.values()):
                raise _Wrong("its total is not in its currency, or not in that alone")
            self.opened, self.keys = event, [event.public_key]
        elif isinstance(event, Charged):
            self._charged(event, position)
        elif isinstance(event, Owned):
            assert self.opened is not None
            if dict(self.owners or self.opened.owners).items() - dict(event.owners).items():
                raise _Wrong("it takes back whose rows a table holds")
            self.owners = event.owners
        elif isinstance(event, Answered):
            self._answered(event, position)
        elif isinstance(event, Granted):
            self._granted(event, position)
        elif isinstance(event, Rekeyed):
            self._rekeyed(event, position, head)

    def _rekeyed(self, event: Rekeyed, position: int, head: str) -> None:
        assert self.opened is not None
        if event.before != self.rekeyed:
            raise _Wrong("it does not point to the last event of a key before it")
        if event.old != self.keys[-1] or event.new in self.keys:
            raise _Wrong("it does not follow the key in force, or its key was in force before")
        if not link_of(event, self.opened.ledger, position, head).holds():
            raise _Wrong("it is not signed by both its keys")
        self.keys.append(event.new)
        self.rekeyed = position

    def _granted(self, event: Granted, position: int) -> None:
        if event.before != self.granted:
            raise _Wrong("it does not point to the last event of an account before it")
        if (event.own_spent, event.own_delta) != self.each.get(event.analyst, (Fraction(0), Fraction(0))):
            raise _Wrong("its totals are not the sum of the analyst's charges so far")
        if not spelled(event):
            raise _Wrong("its limit is negative, or there is no such role, name or token")
        self.granted = self.noted[event.analyst] = position
        self.accounts[event.analyst] = (position, event)

    def _own(self, event: Charged, position: int) -> None:
        """The part of a charge that is its analyst's account."""
        spent, delta = self.each.get(event.analyst, (Fraction(0), Fraction(0)))
        own = added(spent, event.epsilon or event.rho), added(delta, event.delta)
        self.each[event.analyst] = own
        since, account = self.accounts.get(event.analyst, (0, None))
        if event.granted != since:
            raise _Wrong("it is not of its analyst's account")
        if (event.own_spent, event.own_delta) != (own if account else (0, 0)):
            raise _Wrong("its totals are not the sum of its analyst's charges so far")
        if account is not None:
            if own[0] > account.limit or own[1] > account.delta:
                raise _Wrong("its totals pass its analyst's own limit")
            self.noted[event.analyst] = position

    def _charged(self, event: Charged, position: int) -> None:
        self.states[event.request] = step(REQUEST, self.states.get(event.request, "asked"), event.NAME)
        self.questions[event.request] = question(event)
        prices = (event.epsilon, event.delta, event.rho)
        if min(prices) < 0:
            raise _Wrong("its price is negative")
        epsilon, delta, rho = map(added, self.spent, prices)
        self.spent = (epsilon, delta, rho)
        if self.spent != (event.spent_epsilon, event.spent_delta, event.spent_rho):
            raise _Wrong("its totals are not the sum of the charges so far")
        assert self.opened is not None  # the curator's table lets nothing come before it
        if epsilon > self.opened.epsilon or delta > self.opened.delta or rho > self.opened.rho:
            raise _Wrong("its totals pass the budget")  # in the other currency the budget is 0
        if self.page.charged(event.request) != position:
            raise _Wrong("the index of requests does not point to it")
        self._own(event, position)

    def _answered(self, event: Answered, position: int) -> None:
        self.states[event.request] = step(REQUEST, self.states.get(event.request, "asked"), event.NAME)
        kept = self.page.answer(event.request)
        if kept is None or kept.position != position:
            raise _Wrong("its stored answer is missing")
        if not digest(text_bytes(kept.text)) == kept.hash == event.answer:
            raise _Wrong("its stored answer does not match its hash")
        if kept.question != self.questions[event.request]:
            raise _Wrong("its stored answer is filed under another question")


def verified(page: Page, known_heads: Iterable[Head] = ()) -> Verdict:
    """Walks the ledger once. known_heads: (position, hash) seen earlier; each must be in this history."""
    known = {position: hash_ for position, hash_ in known_heads if position > 0}
    history, position, head = _History(page), 0, GENESIS
    while rows := page.rows(position, _ROWS):
        for row in rows:
            wrong = _first_wrong(row, position, head, history, known.get(row.position))
            if wrong is not None:
                return Verdict(position, head, wrong)
            position, head = row.position, row.hash
    longest = max(known, default=0)
    if longest > position:
        return Verdict(
            position, head, f"the ledger has {position} events, but event {longest} was seen before: it was cut short"
        )
    asked, answered = page.counts()
    if (asked, answered) != (len(history.states), sum(state == "answered" for state in history.states.values())):
        return Verdict(position, head, "the index of requests or the stored answers hold more than the events do")
    for analyst, last in history.noted.items():
        if page.holding(account_key(analyst), 1) != [str(last)]:
            return Verdict(position, head, f"the index of accounts does not point to event {last}")
    return Verdict(position, head, None)


def _first_wrong(row: Row, before: int, head: str, history: _History, known: str | None) -> str | None:
    where = f"event {before + 1} ({row.name})"
    if row.position != before + 1:
        return f"event {before + 1} is missing"
    if not Row(row.position, row.name, row.body, row.hash, head).sound():
        return f"{where}: its hash does not match its content"
    try:
        event, position, time = read(row.body)
        if seal(event, position=position, time=time, previous=head).body != row.body:
            return f"{where}: it is not spelled as the ledger writes events"
        if (position, event.NAME) != (row.position, row.name):
            return f"{where}: it is filed under another position or name"
        history.take(event, row.position, head)
    except Impossible as error:
        return f"{where}: {error}"
    except _Wrong as error:
        return f"{where}: {error}"
    except (TypeError, ValueError, AttributeError):
        return f"{where}: it cannot be read"
    if known not in (None, row.hash):
        return f"{where}: another event was seen in this place before"
    return None
