"""What every request is held to, whatever the data is: its size, how long it takes to arrive, how many wait; and one
line of log for each, without a word of what was asked.

The token of a request is looked at before its body is read, and again after. What has arrived of the bodies of one
account, or of all who sign in to none, is at most `MOST_HELD` bytes at a time: more are told to come back.

Paid and made-up answers take turns at `working` places; when `MOST_WAITING` wait for one, or half of them of one
account, which has at most half the places, the next is told to come
back. With a tick, the reply to a paid question leaves at a whole number of ticks after its work began, before the
charge, and its answer is stored at a whole number of ticks after the charge (`curator/paying.py`): so the time of a
reply, and of all else that shows that there is an answer, tells how many ticks the data took, which is one, whatever it
holds, while no tick is missed (semantics 10.3). Checked in tests/server/test_limits.py.
"""

from __future__ import annotations

import asyncio
import json
import sys
import time
from collections.abc import AsyncIterator, Awaitable, Callable, MutableMapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from typing import Any, Final, TypeVar

from starlette.concurrency import run_in_threadpool

from dpcurator.curator.paying import to_tick
from dpcurator.errors import DpcuratorError
from dpcurator.ledger.events import utc_now
from dpcurator.ledger.keys import SigningKey
from dpcurator.receipts.reply import IS_ONCE, ONCE, SIGNED, Exchange
from dpcurator.server.replies import Denied, plain, problem

LARGEST_BODY: Final = 1 << 20  # bytes
LARGEST_HEAD: Final = 16 * 1024  # bytes of a request's line and headers
SLOWEST_BODY: Final = 20.0  # seconds for a body to arrive
MOST_WAITING: Final = 64
MOST_HELD: Final = 32 << 20  # bytes of bodies at a time
_ONCE: Final = (b"authorization", b"idempotency-key", ONCE.lower().encode(), b"content-type", b"content-encoding")
_LATER: Final = {"Retry-After": "5", "Connection": "close"}
_SAFE: Final = (
    (b"cache-control", b"no-store"), (b"x-content-type-options", b"nosniff"), (b"x-frame-options", b"DENY"),
    (b"referrer-policy", b"no-referrer"), (b"content-security-policy", b"default-src 'none'; frame-ancestors 'none'"),
)

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
Application = Callable[[Scope, Receive, Send], Awaitable[None]]
Result = TypeVar("Result")


@dataclass
class _Own:
    """What one account has of the turns."""

    places: asyncio.Semaphore
    waiting: int = 0


@dataclass
class Work:
    """Turns for what takes long. working: how many at once. tick: seconds; 0 sends a reply when it is done."""

    working: int = 4
    tick: float = 0.0
    most_waiting: int = MOST_WAITING
    _places: asyncio.Semaphore | None = field(default=None, init=False)
    _waiting: int = field(default=0, init=False)
    _own: dict[str, _Own] = field(default_factory=dict, init=False)

    async def paid(self, work: Callable[[], Result], whose: str = "") -> Result:
        """`work` in its turn, for an account; its reply, or its error, at a tick."""
        async with self._turn(whose):
            began = time.monotonic()
            try:
                return await _finished(work)
            finally:
                await self._ticked(began)

    async def free(self, work: Callable[[], Result], whose: str = "") -> Result:
        """`work`, which touches no data, in its turn."""
        async with self._turn(whose):
            return await run_in_threadpool(work)

    @asynccontextmanager
    async def _turn(self, whose: str) -> AsyncIterator[None]:
        """One account has at most half the places and half of those who wait, so no one keeps all others out."""
        if self._places is None:
            self._places = asyncio.Semaphore(self.working)
        own = self._own.setdefault(whose, _Own(asyncio.Semaphore(max(1, self.working // 2))))
        if self._waiting >= self.most_waiting or own.waiting >= -(-self.most_waiting // 2):
            raise Denied(503, "too many questions are waiting.", "Nothing was charged. Try again in some seconds.",
                         {"Retry-After": "5"})
        async with AsyncExitStack() as held:
            self._waiting, own.waiting = self._waiting + 1, own.waiting + 1
            try:
                for places in (own.places, self._places):
                    await held.enter_async_context(places)
            finally:
                self._waiting, own.waiting = self._waiting - 1, own.waiting - 1
            yield

    async def _ticked(self, began: float) -> None:
        if self.tick > 0:
            await asyncio.sleep(to_tick(began, self.tick))


async def _finished(work: Callable[[], Result]) -> Result:
    """The work goes on to its end where the client has gone: a charge is not left without its answer."""
    return await asyncio.shield(asyncio.ensure_future(run_in_threadpool(work)))


async def _nobody(scope: Scope) -> str:
    return ""


@dataclass
class Guard:
    """The outermost layer. log: where a line for each request goes. look: whose a request is, by its head; "" where its
    address asks for no account; raises Denied. key: what signs the replies that a client wants signed; None signs none.
    """

    inner: Application
    log: Callable[[str], None] = lambda line: print(line, file=sys.stderr, flush=True)
    largest: int = LARGEST_BODY
    slowest: float = SLOWEST_BODY
    look: Callable[[Scope], Awaitable[str]] = _nobody
    key: Callable[[], SigningKey] | None = None
    most_held: int = MOST_HELD
    _held: dict[str, int] = field(default_factory=dict, init=False)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.inner(scope, receive, send)
            return
        began, reply = time.monotonic(), _Sent(send)
        held = _Held(self._held, self.most_held)
        try:
            body = await self._body(scope, receive, held)
            if isinstance(body, bytes):
                reply.signing = self._signing(scope, body)
                await self.inner(scope, _once(body, receive), reply)
            elif body is not None:
                await body(scope, receive, reply)
        except Exception:  # its words, and those of what was raised on the way, may be the question's
            if reply.status == 0:
                await plain(500, "something failed that should not have.")(scope, receive, reply)
        finally:
            held.let_go()
            route = getattr(scope.get("route"), "path", "-")
            self.log(json.dumps({
                "time": utc_now(), "method": _known(scope["method"]), "route": route, "status": reply.status,
                "account": scope.get("state", {}).get("account", ""), "ms": round(1000 * (time.monotonic() - began)),
            }))

    async def _body(self, scope: Scope, receive: Receive, held: _Held) -> Any:
        """The whole body; the reply where it is refused; None where the client went away."""
        line = len(scope.get("raw_path", b"")) + len(scope.get("query_string", b""))
        if line + sum(len(a) + len(b) for a, b in scope["headers"]) > LARGEST_HEAD:
            return plain(431, "the headers of a request are too long.", headers={"Connection": "close"})
        names = dict(scope["headers"])
        if b"content-length" in names and b"transfer-encoding" in names:
            # A proxy in front may go by the other one: then what is one's body to it is the next one's request here.
            return plain(400, "a request says how long its body is in one way.", headers={"Connection": "close"})
        if any(sum(name == once for name, _ in scope["headers"]) > 1 for once in _ONCE):
            # Of two, one would be obeyed and the other signed for.
            return plain(400, "a header of a request is there twice.", headers={"Connection": "close"})
        told = names.get(b"content-length", b"0")
        too_large = plain(413, f"a body has at most {self.largest:,} bytes.", headers={"Connection": "close"})
        if not told.isdigit() or len(told) > 18 or int(told) > self.largest:
            return too_large
        if int(told) or b"transfer-encoding" in names:
            try:
                held.whose = await self.look(scope)
            except DpcuratorError as error:
                reply = problem(error)
                reply.headers["Connection"] = "close"  # the body is not read
                return reply
        found = bytearray()
        try:
            async with asyncio.timeout(self.slowest):
                while True:
                    message = await receive()
                    if message["type"] == "http.disconnect":
                        return None
                    found += message.get("body", b"")
                    if len(found) > self.largest:
                        return too_large
                    if not held.fits(len(message.get("body", b""))):
                        return plain(503, "too much is arriving.", "Nothing was charged. Try again in some seconds.",
                                     _LATER)
                    if not message.get("more_body", False):
                        return bytes(found)
        except TimeoutError:
            return plain(408, "the request took too long to arrive.", headers={"Connection": "close"})

    def _signing(self, scope: Scope, body: bytes) -> Callable[[int, bytes], Awaitable[str]] | None:
        """What makes the signature of a reply with this status and body; None where the client wants none."""
        names = {name.decode("latin-1"): value.decode("latin-1") for name, value in scope["headers"]}
        once, own = names.get(ONCE.lower(), ""), self.key
        if own is None or not IS_ONCE.fullmatch(once):
            return None
        query = scope.get("query_string", b"").decode("latin-1")
        path = scope["path"] + (f"?{query}" if query else "")
        request_id = names.get("idempotency-key", "")

        async def signed(status: int, reply: bytes) -> str:
            account = scope.get("state", {}).get("account", "")
            exchange = Exchange(once, account, scope["method"], path, body, request_id, status, reply)
            return await run_in_threadpool(lambda: exchange.signed_by(own()))

        return signed


@dataclass
class _Held:
    """What one request holds of the bytes that those of an account may hold at a time."""

    every: dict[str, int]
    most: int
    whose: str = ""
    _mine: int = 0

    def fits(self, more: int) -> bool:
        """Whether so many more do; then they are counted."""
        if self.every.get(self.whose, 0) + more > self.most:
            return False
        self.every[self.whose] = self.every.get(self.whose, 0) + more
        self._mine += more
        return True

    def let_go(self) -> None:
        left = self.every.pop(self.whose, 0) - self._mine
        if left:
            self.every[self.whose] = left
        self._mine = 0


@dataclass
class _Sent:
    """Sends a reply, with the headers that each has, and its signature where that is wanted and the reply is one
    piece. status: that was sent; 0 before."""

    send: Send
    status: int = 0
    signing: Callable[[int, bytes], Awaitable[str]] | None = None
    _head: Message | None = None

    async def __call__(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self.status = message["status"]
            said = list(message.get("headers", []))
            named = {name.lower() for name, _ in said}  # a page says itself what it may load
            message["headers"] = [*said, *(one for one in _SAFE if one[0] not in named)]
            if self.signing is not None:
                self._head = message
                return
        elif self._head is not None:
            head, self._head = self._head, None
            if self.signing is not None and not message.get("more_body", False):
                try:
                    signed = await self.signing(self.status, message.get("body", b""))
                    head["headers"].append((SIGNED.lower().encode(), signed.encode()))
                except DpcuratorError:  # there is no key now: then it is not signed, and whoever wants that is told
                    pass
            await self.send(head)
        await self.send(message)


def _once(body: bytes, receive: Receive) -> Receive:
    left = [body]

    async def received() -> Message:
        if left:
            return {"type": "http.request", "body": left.pop(), "more_body": False}
        return await receive()

    return received


def _known(method: str) -> str:
    return method if method in ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS") else "other"
