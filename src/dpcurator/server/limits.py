"""What every request is held to, whatever the data is: its size, how long it takes to arrive, how many wait; and one
line of log for each, without a word of what was asked.

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
from dpcurator.ledger.events import utc_now
from dpcurator.server.replies import Denied, plain

LARGEST_BODY: Final = 1 << 20  # bytes
LARGEST_HEAD: Final = 16 * 1024  # bytes of a request's line and headers
SLOWEST_BODY: Final = 20.0  # seconds for a body to arrive
MOST_WAITING: Final = 64
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


@dataclass
class Guard:
    """The outermost layer. log: where a line for each request goes."""

    inner: Application
    log: Callable[[str], None] = lambda line: print(line, file=sys.stderr, flush=True)
    largest: int = LARGEST_BODY
    slowest: float = SLOWEST_BODY

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.inner(scope, receive, send)
            return
        began, status = time.monotonic(), 0

        async def sent(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                message["headers"] = [*message.get("headers", []), *_SAFE]
            await send(message)

        try:
            body = await self._body(scope, receive)
            if isinstance(body, bytes):
                await self.inner(scope, _once(body, receive), sent)
            elif body is not None:
                await body(scope, receive, sent)
        except Exception:  # its words, and those of what was raised on the way, may be the question's
            if status == 0:
                await plain(500, "something failed that should not have.")(scope, receive, sent)
        finally:
            route = getattr(scope.get("route"), "path", "-")
            self.log(json.dumps({
                "time": utc_now(), "method": _known(scope["method"]), "route": route, "status": status,
                "account": scope.get("state", {}).get("account", ""), "ms": round(1000 * (time.monotonic() - began)),
            }))

    async def _body(self, scope: Scope, receive: Receive) -> Any:
        """The whole body; the reply where it is refused; None where the client went away."""
        line = len(scope.get("raw_path", b"")) + len(scope.get("query_string", b""))
        if line + sum(len(a) + len(b) for a, b in scope["headers"]) > LARGEST_HEAD:
            return plain(431, "the headers of a request are too long.", headers={"Connection": "close"})
        names = dict(scope["headers"])
        if b"content-length" in names and b"transfer-encoding" in names:
            # A proxy in front may go by the other one: then what is one's body to it is the next one's request here.
            return plain(400, "a request says how long its body is in one way.", headers={"Connection": "close"})
        told = names.get(b"content-length", b"0")
        too_large = plain(413, f"a body has at most {self.largest:,} bytes.", headers={"Connection": "close"})
        if not told.isdigit() or len(told) > 18 or int(told) > self.largest:
            return too_large
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
                    if not message.get("more_body", False):
                        return bytes(found)
        except TimeoutError:
            return plain(408, "the request took too long to arrive.", headers={"Connection": "close"})


def _once(body: bytes, receive: Receive) -> Receive:
    left = [body]

    async def received() -> Message:
        if left:
            return {"type": "http.request", "body": left.pop(), "more_body": False}
        return await receive()

    return received


def _known(method: str) -> str:
    return method if method in ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS") else "other"
