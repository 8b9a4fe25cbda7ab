"""What listens for database clients, and who they are: from a connection's first byte to its first statement.

Where there is a certificate, only TLS is taken. Before a client has signed in it has `SLOWEST_START` seconds and sends
short messages; an account has at most `MOST_OF_ONE` connections and all together `MOST`. A stop waits for what is being
answered. Checked in tests/server/test_wire.py. Source: PostgreSQL's documentation, Frontend/Backend Protocol.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import os
import socket
import ssl
import sys
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Final

from starlette.concurrency import run_in_threadpool

from dpcurator.errors import DpcuratorError, Misconfigured, Refusal
from dpcurator.ledger.accounts import Account, Scram
from dpcurator.ledger.events import utc_now
from dpcurator.server.access import ANALYST, STEWARD, Access
from dpcurator.server.limits import Work
from dpcurator.server.replies import Denied
from dpcurator.server.standing import Standing
from dpcurator.server.wire import messages as wire
from dpcurator.server.wire.connection import Connection
from dpcurator.server.wire.errors import state_of
from dpcurator.server.wire.introspection import Introspection
from dpcurator.server.wire.link import LARGEST_START, SLOWEST_START, Ended, Link, exactly
from dpcurator.server.wire.messages import Malformed
from dpcurator.server.wire.scram import MECHANISM, Exchange, salt_of
from dpcurator.server.wire.settings import FIXED
from dpcurator.server.wire.statements import Session

MOST: Final = 200
MOST_OF_ONE: Final = 20


@dataclass
class Wire:
    """What listens for database clients, over the same curator, accounts, turns and ticks as the HTTP server.

    certificate: a context of TLS; None takes connections in the clear, as where it listens on this machine alone.
    """

    standing: Standing
    access: Access
    work: Work
    certificate: ssl.SSLContext | None = None
    log: Callable[[str], None] = lambda line: print(line, file=sys.stderr, flush=True)
    _tasks: set[asyncio.Task[None]] = field(default_factory=set, init=False)
    _of: Counter[str] = field(default_factory=Counter, init=False)
    _busy: int = field(default=0, init=False)
    _made: tuple[Any, Introspection] | None = field(default=None, init=False)
    _listening: asyncio.Task[None] | None = field(default=None, init=False)
    _stopping: bool = field(default=False, init=False)

    def listen(self, host: str, port: int, *, shared: bool = False) -> int:
        """Begins to take connections, in the running loop; returns the port. shared: other processes listen there too.
        Raises Misconfigured."""
        try:
            family = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
            listener = socket.socket(family[0], socket.SOCK_STREAM)
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            if shared:  # each worker has a listener of its own
                listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
            listener.setblocking(False)
            listener.bind(family[4])
            listener.listen(128)
        except OSError:
            raise Misconfigured(
                "the server could not begin.",
                where=f"{host}:{port}",
                cure="See that no other program listens there, or name another --postgres-port.",
            ) from None
        self._listening = asyncio.ensure_future(self._accept(listener))
        return int(listener.getsockname()[1])

    async def close(self, patience: float = 60.0) -> None:
        """Takes no more; waits for what is being answered, and ends all connections."""
        self._stopping = True
        if self._listening is not None:
            self._listening.cancel()
            await asyncio.gather(self._listening, return_exceptions=True)
        late = time.monotonic() + patience
        while self._busy and time.monotonic() < late:
            await asyncio.sleep(0.05)
        for task in list(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _accept(self, listener: socket.socket) -> None:
        loop = asyncio.get_running_loop()
        with listener:
            while True:
                try:
                    accepted, _ = await loop.sock_accept(listener)
                except OSError:  # of one connection, or too many files open
                    await asyncio.sleep(0.1)
                    continue
                if len(self._tasks) >= MOST:
                    accepted.close()
                    continue
                task = asyncio.ensure_future(self._whole(accepted))
                self._tasks.add(task)
                task.add_done_callback(self._tasks.discard)

    async def _whole(self, accepted: socket.socket) -> None:
        link: Link | None = None
        counted: list[str] = []  # the account of which this is a connection, once it is
        try:
            accepted.setblocking(False)
            async with asyncio.timeout(SLOWEST_START):
                secured, head = await self._secured(accepted)
                link = await Link.open(accepted, self.certificate if secured else None)
                session, account = await self._begun(link, secured, head, counted)
            await Connection(self.standing, self.work, self._logged, self._count, link, session, account).run()
        except (Ended, Malformed, TimeoutError, OSError, asyncio.IncompleteReadError, asyncio.CancelledError):
            pass
        except Exception:  # its words could be the question's
            self._logged("unforeseen", "XX000", "", time.monotonic())
        finally:
            self._of.subtract(counted)
            self._of += Counter()  # those that have none go
            if link is not None:
                link.abort()
            accepted.close()

    async def _secured(self, accepted: socket.socket) -> tuple[bool, bytes]:
        """Whether TLS comes next; if not, the first bytes of what does."""
        loop, head = asyncio.get_running_loop(), b""
        for _ in range(3):
            head = await exactly(loop, accepted, 8)
            size, code = int.from_bytes(head[:4], "big"), int.from_bytes(head[4:], "big")
            if code == wire.SSL_REQUEST and size == 8 and self.certificate is not None:
                await loop.sock_sendall(accepted, b"S")
                # What was sent before TLS was agreed on is part of its handshake from here on, so it is none.
                return True, b""
            if code in (wire.SSL_REQUEST, wire.GSS_REQUEST) and size == 8:
                await loop.sock_sendall(accepted, b"N")
                continue
            break
        return False, head

    async def _begun(
        self, link: Link, secured: bool, head: bytes, counted: list[str]
    ) -> tuple[Session, Account]:
        """Who it is. head: the first bytes, where they were read. counted: gets the account, once it is counted."""
        head = head or await link.exactly(8)
        size, code = int.from_bytes(head[:4], "big"), int.from_bytes(head[4:], "big")
        if code >> 16 != wire.PROTOCOL or not 8 <= size <= LARGEST_START:  # CancelRequest too: a charge is not undone
            raise Ended
        parameters = wire.startup(await link.exactly(size - 8))
        if self.certificate is not None and not secured:
            await link.fatal("28000", "this server takes connections with TLS alone.", "Connect with sslmode=require.")
        unknown = [name for name in parameters if name.startswith("_pq_.")]
        if code & 0xFFFF or unknown:
            link.put(wire.negotiate(unknown))
        account = await self._signed_in(link, parameters.get("user", ""))
        if self._of[account.analyst] >= MOST_OF_ONE or self._stopping:
            await link.fatal("53300", "too many connections.", "Close others, or try again in some seconds.")
        self._of[account.analyst] += 1
        counted.append(account.analyst)
        session = Session(
            account.analyst, account.role in (ANALYST, STEWARD), self.standing.curator, self._introspection
        )
        try:
            session.settings.begin(parameters)
        except Refusal as refused:
            await link.fatal("22023", refused.what, refused.cure)
        for name, value in (
            FIXED
            | {
                "application_name": parameters.get("application_name", "")[:64],
                "session_authorization": account.analyst,
            }
        ).items():
            link.put(wire.parameter_status(name, value))
        link.put(wire.message(b"K", os.urandom(8)), wire.ready(b"I"))
        await link.flush()
        return session, account

    async def _signed_in(self, link: Link, name: str) -> Account:
        """SCRAM. Raises Ended where it fails, which is told a second after it began."""
        link.put(wire.authentication(10, wire.zero_ended(MECHANISM) + b"\0"))
        await link.flush()
        began = time.monotonic()
        account, keys = await run_in_threadpool(self._keys, name)
        exchange = Exchange(keys)
        mechanism, first = wire.sasl_initial(await link.password())
        if mechanism != MECHANISM:
            raise Ended
        link.put(wire.authentication(11, exchange.first(first)))
        await link.flush()
        last = exchange.final(await link.password())
        if last is None or account is None:
            try:
                await self.access.slowed(began)
            except Denied as denied:
                await link.fatal(state_of(denied), denied.what, denied.cure)
            self._logged("sign in", "28P01", "", began)
            await link.fatal(
                "28P01",
                "this token signs in to no account.",
                "The user is the account's name and the password its token; one that was made by an older "
                "dpcurator needs a new one: dpcurator user rotate NAME",
            )
            raise Ended
        link.put(wire.authentication(12, last), wire.authentication(0))
        self._logged("sign in", "00000", account.analyst, began)
        return account

    def _keys(self, name: str) -> tuple[Account | None, Scram]:
        """The account of this name and its keys; for a name that has none such as look like them."""
        try:
            # First, and always: that a name has an account must not be told by how long this takes.
            signed = self.standing.key().sign(b"dpcurator: salts of names without an account")
            secret = hashlib.sha256(signed.encode()).digest()
            account = self.standing.ledger().account(name)
            keys = None if account is None else Scram.read(account.scram)
            if account is not None and keys is not None and account.active:
                return account, keys
            return None, Scram(salt_of(name, secret), os.urandom(32), os.urandom(32))
        except DpcuratorError:
            return None, Scram(os.urandom(16), os.urandom(32), os.urandom(32))

    def _introspection(self) -> Introspection:
        curator = self.standing.curator()
        if self._made is None or self._made[0] is not curator:
            self._made = curator, Introspection(curator.tables)
        return self._made[1]

    def _logged(self, what: str, code: str, account: str, began: float) -> None:
        self.log(
            json.dumps(
                {
                    "time": utc_now(),
                    "method": "SQL",
                    "route": what,
                    "status": code,
                    "account": account,
                    "ms": round(1000 * (time.monotonic() - began)),
                }
            )
        )

    def _count(self, more: int) -> None:
        self._busy += more
