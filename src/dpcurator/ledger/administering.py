"""Accounts, keys and the ledger's own life: what its steward changes, none of it a charge.

Checked in tests/ledger/: test_accounts, test_key_chain, test_ledger, test_moving.
"""

from __future__ import annotations

from dataclasses import replace

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
from dpcurator.ledger.appending import Appending
from dpcurator.ledger.decide import Standing, require_open, require_room
from dpcurator.ledger.events import Charged, Closed, Granted, Moved, Opened, Rekeyed, Reopened, read
from dpcurator.ledger.history import Entry, spent_by
from dpcurator.ledger.key_chain import MOST, Link, linked
from dpcurator.ledger.keys import SigningKey
from dpcurator.ledger.reading import Reader, account_key
from dpcurator.ledger.states import CURATOR
from dpcurator.numbers.rational import Spelled


class Administering(Appending):
    """The steward's side of a ledger. See `Ledger`, which is what its users see of it."""

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
            spent = spent_by(page, name) if account is None else (account.spent, account.spent_delta)
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
