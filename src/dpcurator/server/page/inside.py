"""A request of the page to an address of the server, in this process, by the account that is signed in.

It takes the way of a request from outside, but for the token: form, role, turn, tick and errors are those of the
address. Which account it is stands in the scope under `INSIDE`, where nothing that is sent can be. Checked in
tests/server/test_page.py.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import urlencode

from starlette.requests import Request

from dpcurator.ledger.accounts import Account
from dpcurator.server.access import INSIDE
from dpcurator.values import Json, read_json

_FAILED: Final[Json] = {"what": "something failed that should not have.", "where": "", "cure": "", "title": "fault"}


@dataclass(frozen=True, slots=True)
class Reply:
    """What an address replied: its JSON, of lines of JSON the last; or its problem."""

    status: int
    content: Any

    @property
    def fine(self) -> bool:
        return self.status == 200


async def send(
    request: Request, account: Account | None, method: str, path: str, body: Json | str | None = None, **query: str
) -> Reply:
    """The reply of an address to this account; None: to nobody in particular. body: a text is sent as it is."""
    reply = Reply(500, _FAILED)
    async for line in lines(request, account, method, path, body, **query):
        reply = line
    return reply


async def lines(
    request: Request, account: Account | None, method: str, path: str, body: Json | str | None = None, **query: str
) -> AsyncIterator[Reply]:
    """The same, of an address that replies in lines of JSON: each of them, as it comes."""
    scope: dict[str, Any] = {
        "type": "http", "asgi": {"version": "3.0"}, "http_version": "1.1", "method": method, "scheme": "http",
        "path": path, "raw_path": path.encode(), "query_string": urlencode(query).encode(), "root_path": "",
        "headers": [(b"content-type", b"application/json")], "client": None, "server": None, "state": {},
        INSIDE: account,
    }
    text = "" if body is None else body if isinstance(body, str) else json.dumps(body)
    parts: asyncio.Queue[bytes | None] = asyncio.Queue()
    status, sent = 500, False

    async def receive() -> Json:
        nonlocal sent
        if sent:
            await asyncio.Event().wait()  # it does not hang up
        sent = True
        return {"type": "http.request", "body": text.encode(), "more_body": False}

    async def take(message: Any) -> None:
        nonlocal status
        if message["type"] == "http.response.start":
            status = message["status"]
        await parts.put(message.get("body", b""))

    async def asked() -> None:
        try:
            await request.app(scope, receive, take)
        except Exception:  # told already, in constant words; its own may hold what was asked
            pass
        finally:
            await parts.put(None)

    task, held = asyncio.ensure_future(asked()), b""
    while (part := await parts.get()) is not None:
        *whole, held = (held + part).split(b"\n")
        for line in filter(None, whole):
            yield Reply(status, read_json(line.decode()))
    await task
    if held:
        yield Reply(status, read_json(held.decode()))
