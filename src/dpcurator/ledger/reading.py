"""Reading the ledger inside a transaction, believing nothing unchecked.

Every row that a decision or an answer rests on has its hash recomputed when it is read, and must be the event it was
looked up as; a stored answer must have the hash its event says. That is a few hashes a question, whatever the length
of the history; `verify` recomputes all of it.
Checked in tests/ledger/test_tampered.py.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TypeVar

from dpcurator.errors import Misconfigured
from dpcurator.ledger import trouble
from dpcurator.ledger.accounts import Account, account_of, is_name
from dpcurator.ledger.canonical import digest, text_bytes
from dpcurator.ledger.decide import Standing, question
from dpcurator.ledger.events import Answered, Charged, Event, Granted, Moved, Opened, Owned, Rekeyed, Row, read
from dpcurator.ledger.key_chain import Link, whole
from dpcurator.ledger.opening import Opening
from dpcurator.ledger.states import CURATOR, LIFE_EVENTS, settled_by
from dpcurator.ledger.store import Kept, Page
from dpcurator.values import Currency

Head = tuple[int, str]  # (position, hash): fixes the history up to there
Paid = tuple[Charged, Row]
_E = TypeVar("_E", Opened, Charged, Owned, Answered, Moved, Granted, Rekeyed)


def link_of(event: Rekeyed, ledger: str, position: int, previous: str) -> Link:
    """What both keys signed, and their signatures."""
    return Link(ledger, position, previous, event.old, event.new, event.signature, event.accepted)


def account_key(analyst: str) -> str:
    """The name under which the index has the events of an account, each by its position: its grant, and the charges
    since. Readings have names of 64 hexadecimal digits."""
    return f"account of {analyst}"


@dataclass(frozen=True, slots=True)
class Reader:
    """A page with its guards up. place: for messages."""

    page: Page
    place: str

    def standing(self, opening: Opening, seen: Head) -> Standing:
        """Where the ledger is. Raises Misconfigured when it contradicts the catalog, itself, or a head seen before."""
        head = self.page.head()
        if head is None or (head.position, head.hash) != seen:
            self.holds(seen)
        if head is None:
            return Standing("new", None, opening.total, opening.delta, Fraction(0), Fraction(0), opening.counts_in)
        self.sound(head)
        opened = self.event(1, self.page.row(1), Opened)
        known = self.page.last(Owned.NAME)
        owners = opened.owners if known is None else self.event(known.position, known, Owned).owners
        rekeyed = self.page.last(Rekeyed.NAME)
        key = None if rekeyed is None else self.event(rekeyed.position, rekeyed, Rekeyed).new
        opening.agrees(opened, self.place, owners, key)
        life = self.page.last(*LIFE_EVENTS)
        paid = self.page.last(Charged.NAME)
        last = None if paid is None else self.event(paid.position, paid, Charged)
        return Standing(
            life="open" if life is None else settled_by(CURATOR, self.sound(life).name),
            head=head,
            total=opening.total,
            delta=opening.delta,
            spent=last.spent if last else Fraction(0),
            spent_delta=last.spent_delta if last else Fraction(0),
            currency=opening.counts_in,
            owners=owners,
        )

    def holds(self, head: Head) -> None:
        """Raises Misconfigured unless the history contains `head`."""
        position, hash_ = head
        if position == 0:
            return
        row = self.page.row(position)
        if row is None or row.hash != hash_:
            raise Misconfigured(
                f"The ledger does not contain event {position} as seen before: this is an older copy, or another "
                "ledger.",
                where=self.place,
                cure=trouble.RESTORE,
            )

    def charged(self, request: str) -> Paid | None:
        """The charge under this id."""
        position = self.page.charged(request)
        if position is None:
            return None
        row = self.page.row(position)
        charged = self.event(position, row, Charged)
        if row is None or charged.request != request:
            raise trouble.damaged(self.place, f"event {position} is not the charge that the index says it is")
        return charged, row

    def twin(self, asked: str) -> Paid | None:
        """The charge behind the earliest stored answer to the question `asked`."""
        kept = self.page.answered(asked)
        if kept is None:
            return None
        paid = self.charged(kept.request)
        if paid is None or question(paid[0]) != asked:
            raise trouble.damaged(self.place, f"the answer of event {kept.position} is filed under another question")
        return paid

    def kept(self, request: str) -> Kept | None:
        """The stored answer of this request, as its event vouches for it."""
        kept = self.page.answer(request)
        if kept is None:
            return None
        said = self.event(kept.position, self.page.row(kept.position), Answered)
        if said.request != request or said.answer != digest(text_bytes(kept.text)):
            raise trouble.damaged(self.place, f"the answer of event {kept.position} does not match its hash")
        return kept

    def account(self, analyst: str, currency: Currency) -> Account | None:
        """The account of this analyst as it stands: its limit, and what its last charge says was spent of it. A name
        that no account may have is not looked for: a store may have no such text."""
        noted = self.page.holding(account_key(analyst), 1) if is_name(analyst) else []
        if not noted:
            return None
        position = int(noted[0])
        row = self.page.row(position)
        charged = None
        if row is not None and row.name == Charged.NAME:
            charged = self.event(position, row, Charged)
            position = charged.granted
            row = self.page.row(position)
        granted = self.event(position, row, Granted)
        if {granted.analyst, charged.analyst if charged else analyst} != {analyst}:
            raise trouble.damaged(self.place, f"event {position} is not of the account that the index says it is of")
        return account_of(granted, position, charged, currency)

    def key_chain(self) -> tuple[Link, ...]:
        """How the key in force came to be it; empty where it is the first. Raises Misconfigured."""
        first = self.page.row(1)
        if first is None:
            return ()
        ledger, found, row = self.event(1, first, Opened).ledger, list[Link](), self.page.last(Rekeyed.NAME)
        while row is not None:
            event, position = self.event(row.position, row, Rekeyed), row.position
            found.append(link_of(event, ledger, position, row.previous))
            row = self.page.row(event.before) if 0 < event.before < position else None
        try:
            return whole(found[::-1])
        except ValueError:
            raise trouble.damaged(self.place, "its keys do not follow one another") from None

    def event(self, position: int, row: Row | None, kind: type[_E]) -> _E:
        """What the row at `position` says, which must be of that kind."""
        if row is None:
            raise trouble.damaged(self.place, f"event {position} is missing")
        event = self.parsed(self.sound(row))[0]
        if not isinstance(event, kind):
            raise trouble.damaged(self.place, f"event {position} is not of the kind that the index says it is")
        return event

    def sound(self, row: Row) -> Row:
        if not row.sound():
            raise trouble.damaged(self.place, f"event {row.position}: its hash does not match its content")
        return row

    def parsed(self, row: Row) -> tuple[Event, str]:
        """(event, time)."""
        try:
            event, position, time = read(row.body)
        except ValueError:
            raise trouble.damaged(self.place, f"event {row.position} cannot be read") from None
        if (position, event.NAME) != (row.position, row.name):
            raise trouble.damaged(self.place, f"event {row.position} is filed under another position or name")
        return event, time
