"""A signed-in client: its statements, one after another, in the simple and the extended protocol.

The account is looked at again at each statement: one that was revoked, or has a new token, ends. An error tells what
the shell does: a state, the words, the cure as its hint, the place. Questions take turns with those over HTTP, under
the same ticks. Checked in tests/server/test_wire.py. Source: PostgreSQL's documentation, Frontend/Backend Protocol.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Final

from starlette.concurrency import run_in_threadpool

from dpcurator.errors import DpcuratorError, Refusal
from dpcurator.ledger.accounts import Account
from dpcurator.server.access import ANALYST, STEWARD
from dpcurator.server.limits import Work
from dpcurator.server.replies import guarded, shown_to
from dpcurator.server.standing import Standing
from dpcurator.server.wire import messages as wire
from dpcurator.server.wire.errors import Broken, place_of, state_of
from dpcurator.server.wire.link import Link
from dpcurator.server.wire.messages import Bind, Malformed, Parse
from dpcurator.server.wire.statements import Done, Notice, Session, Statement
from dpcurator.server.wire.texts import places, split
from dpcurator.server.wire.values import Unsendable, sent

LARGEST: Final = 1 << 20  # bytes of a message
MOST_PREPARED: Final = 200  # statements of a connection
MOST_PORTALS: Final = 20  # each holds its answer, until the transaction ends
MOST_KEPT: Final = 2 << 20  # letters of the prepared statements
MOST_HELD: Final = 4 << 20  # letters of what the portals hold of the system's tables
LONGEST_NAME: Final = 200  # letters of what a client calls a statement or a portal
_NOTHING: Final = Statement("", None, lambda: Done(""))


@dataclass
class _Portal:
    statement: Statement
    formats: list[int]
    done: Done | None = None
    given: int = 0


@dataclass
class Connection:
    """logged: takes what was done, a state and when it began; busy: called with 1 and -1 around each message."""

    standing: Standing
    work: Work
    logged: Callable[[str, str, str, float], None]
    busy: Callable[[int], None]
    link: Link
    session: Session
    account: Account
    state: bytes = b"I"
    _statements: dict[str, tuple[str, list[int]]] = field(default_factory=dict)
    _portals: dict[str, _Portal] = field(default_factory=dict)
    _skipping: bool = False  # until Sync, after an error
    _sql: str = ""  # what was described last

    async def run(self) -> None:
        while True:
            kind, content = await self.link.message(LARGEST)
            if kind == b"X":
                return
            if self._skipping and kind != b"S":
                continue
            self._skipping = False
            self.busy(1)
            try:
                await self._taken(kind, content)
            finally:
                self.busy(-1)

    async def _taken(self, kind: bytes, content: bytes) -> None:
        try:
            match kind:
                case b"Q":
                    await self._simple(wire.query(content))
                case b"P":
                    self._parse(Parse.read(content))
                case b"B":
                    await self._bind(Bind.read(content))
                case b"D":
                    await self._describe(*wire.target(content))
                case b"E":
                    await self._execute(*wire.execute(content))
                case b"C":
                    of, name = wire.target(content)
                    kept: dict[str, Any] = self._statements if of == b"S" else self._portals
                    kept.pop(name, None)
                    self.link.put(wire.CLOSE_COMPLETE)
                case b"S":
                    if self.state == b"I":
                        self._portals.clear()
                    self.link.put(wire.ready(self.state))
                case b"H":
                    pass
                case b"d" | b"c" | b"f":  # of COPY, which no statement begins
                    pass
                case _:
                    await self.link.fatal("08P01", "this message is none of the protocol.", "")
        except Malformed:
            await self.link.fatal("08P01", "this message is none of the protocol.", "")
        except DpcuratorError as error:
            self._refused(error, self._sql)
        if kind in (b"Q", b"S", b"H"):
            if kind == b"Q":
                self.link.put(wire.ready(self.state))
            await self.link.flush()
        elif self.link.waiting > LARGEST:
            await self.link.flush()

    def _refused(self, error: DpcuratorError, sql: str, *, simple: bool = False) -> None:
        shown = shown_to(error, self.account.role)
        self.link.put(wire.told(b"E", "ERROR", state_of(error), shown.what, hint=shown.cure, at=place_of(shown, sql)))
        self.state = b"E" if self.state != b"I" else b"I"
        self._skipping = not simple

    async def _simple(self, text: str) -> None:
        try:
            every = split(text)
        except Refusal as refused:
            self._refused(refused, text, simple=True)
            return
        if not every:
            self.link.put(wire.EMPTY)
        for sql in every:
            began = time.monotonic()
            try:
                statement = await self._made(sql, ())
                done = await self._run(statement)
                if statement.columns is not None:
                    self.link.put(wire.row_description(statement.columns))
                for row in done.rows:
                    self._row(row, statement, [])
                    if self.link.waiting > LARGEST:
                        await self.link.flush()
                self._done(done)
                self.logged(done.tag.split()[0], "00000", self.account.analyst, began)
            except DpcuratorError as error:
                self.logged("refused", state_of(error), self.account.analyst, began)
                self._refused(error, sql, simple=True)
                return

    async def _made(self, sql: str, values: tuple[tuple[bytes | None, int, int], ...]) -> Statement:
        """A statement, described. Raises DpcuratorError."""
        self._sql = sql
        await self._still()
        statement: Statement = await self.work.free(guarded(lambda: self.session.statement(sql, values)), self._whose())
        if self.state == b"E" and not statement.ends:
            raise Broken("25P02", "the transaction has failed.", "ROLLBACK")
        return statement

    async def _still(self) -> None:
        """Raises Ended where the account signs in no more by the token that was shown."""
        found = await run_in_threadpool(guarded(lambda: self.standing.ledger().account(self.account.analyst)))
        if found is None or found.scram != self.account.scram or not found.active:
            await self.link.fatal("28000", "this account signs in no more by that token.", "Sign in anew.")
        self.account = found
        self.session.asks = found.role in (ANALYST, STEWARD)

    def _whose(self) -> str:
        return self.account.analyst

    async def _run(self, statement: Statement) -> Done:
        self.session.in_transaction = self.state == b"T"
        work = self.work
        done: Done = await (
            work.paid(guarded(statement.run, paid=True), self._whose())
            if statement.paid
            else run_in_threadpool(guarded(statement.run))
        )
        if done.transaction is not None:
            self.state = done.transaction
        return done

    def _row(self, row: tuple[Any, ...], statement: Statement, formats: list[int]) -> None:
        columns = statement.columns or ()
        try:
            self.link.put(
                wire.data_row(
                    [
                        sent(value, kind, wire.at_format(formats, place))
                        for place, (value, (_, kind)) in enumerate(zip(row, columns, strict=True))
                    ]
                )
            )
        except Unsendable:
            raise Broken(
                "22003",
                "a value is beyond what its column's type can hold.",
                "It was paid for: ask the same over HTTP, which is free." if statement.paid else "Cast it to text.",
            ) from None

    def _done(self, done: Done) -> None:
        for one in done.notices:
            self._noticed(one)
        self.link.put(wire.command_complete(done.tag))

    def _noticed(self, one: Notice) -> None:
        severity, code = ("WARNING", "01000") if one.warns else ("NOTICE", "00000")
        self.link.put(wire.told(b"N", severity, code, one.text, detail=one.detail))

    def _parse(self, parsed: Parse) -> None:
        _named(parsed.name)
        kept = self._statements
        if len(kept) >= MOST_PREPARED or sum(len(sql) for sql, _ in kept.values()) + len(parsed.sql) > MOST_KEPT:
            raise Broken("53400", "too many statements are prepared.", "Deallocate some.")
        every = split(parsed.sql)
        if len(every) > 1:
            raise Broken("42601", "one statement at a time can be prepared.", "Send them one by one.")
        types = parsed.types + [0] * max(0, places(parsed.sql) - len(parsed.types))
        if len(types) > 1000:
            raise Broken("54023", "too many values.", "Send at most 1,000.")
        kept[parsed.name] = (every[0] if every else "", types)
        self.link.put(wire.PARSE_COMPLETE)

    async def _bind(self, bound: Bind) -> None:
        _named(bound.portal)
        if bound.name not in self._statements:
            raise Broken("26000", "there is no such prepared statement.")
        sql, types = self._statements[bound.name]
        if len(bound.values) != len(types):
            raise Broken("08P01", f"the statement takes {len(types)} values.")
        if len(self._portals) >= MOST_PORTALS and bound.portal not in self._portals:
            raise Broken("53400", "too many portals are open.", "Close some.")
        values = tuple(
            (value, types[place], wire.at_format(bound.formats, place)) for place, value in enumerate(bound.values)
        )
        statement = _NOTHING if not sql else await self._made(sql, values)
        if len(bound.wanted) not in (0, 1, len(statement.columns or ())):
            raise Malformed
        held = sum(one.statement.held for name, one in self._portals.items() if name != bound.portal)
        if held + statement.held > MOST_HELD:
            raise Broken("53400", "the open portals hold too much.", "Close some.")
        self._portals[bound.portal] = _Portal(statement, bound.wanted)
        self.link.put(wire.BIND_COMPLETE)

    async def _describe(self, of: bytes, name: str) -> None:
        if of == b"P":
            if name not in self._portals:
                raise Broken("34000", "there is no such portal.")
            portal = self._portals[name]
            self._columns(portal.statement, portal.formats)
            return
        if name not in self._statements:
            raise Broken("26000", "there is no such prepared statement.")
        sql, types = self._statements[name]
        if places(sql):
            raise Broken(
                "0A000",
                "a statement with values beside it is described once they are there.",
                "Write the values into the statement.",
            )
        self.link.put(wire.parameter_description(types))
        self._columns(_NOTHING if not sql else await self._made(sql, ()), [])

    def _columns(self, statement: Statement, formats: list[int]) -> None:
        columns = statement.columns
        self.link.put(wire.NO_DATA if columns is None else wire.row_description(columns, formats))

    async def _execute(self, name: str, most: int) -> None:
        if name not in self._portals:
            raise Broken("34000", "there is no such portal.")
        portal, began = self._portals[name], time.monotonic()
        if portal.statement is _NOTHING:
            self.link.put(wire.EMPTY)
            return
        if self.state == b"E" and not portal.statement.ends:
            raise Broken("25P02", "the transaction has failed.", "ROLLBACK")
        if portal.done is None:
            await self._still()
            try:
                portal.done = await self._run(portal.statement)
            except DpcuratorError as error:
                self.logged("refused", state_of(error), self.account.analyst, began)
                raise
            self.logged(portal.done.tag.split()[0], "00000", self.account.analyst, began)
        rows = portal.done.rows[portal.given : portal.given + most if most else None]
        for row in rows:
            self._row(row, portal.statement, portal.formats)
            if self.link.waiting > LARGEST:
                await self.link.flush()
        portal.given += len(rows)
        if portal.given < len(portal.done.rows):
            self.link.put(wire.SUSPENDED)
        else:
            self._done(portal.done)


def _named(name: str) -> None:
    """Raises Broken where a statement or a portal has no such name."""
    if len(name) > LONGEST_NAME:
        raise Broken("42602", f"a name has at most {LONGEST_NAME} characters.", "Choose a shorter one.")
