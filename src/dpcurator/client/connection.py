"""The line to a server: sends a request, again where no reply came, and takes none that is not signed for it.

Retries   A request that got no reply is sent again, at most `TRIES` times, as the same request: nothing is paid twice.
Checks    With a key, a reply is taken only if that key, or one that follows it, signed it as the reply to this very
          request (receipts/reply.py). A new key is followed where the one before it signed for it
          (ledger/key_chain.py), and never back.
Replies   What is no reply of a curator's is an error of dpcurator's own, and no text of it brings control characters to
          a terminal.
Checked   tests/server/test_client.py, against a server.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Iterator
from fractions import Fraction
from typing import Any, Final

from dpcurator.errors import DpcuratorError, Fault, Mend, Misconfigured, OverBudget, Refusal
from dpcurator.ledger.key_chain import Link, chain_of, given_up
from dpcurator.numbers.rational import rational
from dpcurator.numbers.text_table import printable
from dpcurator.receipts.reply import ONCE, SIGNED, Exchange
from dpcurator.values import Json, read_json

TRIES: Final = 4
_BEYOND: Final = Fraction(1, (10**9 + 7) * 10**20)  # a prime that the six figures of such a text are no multiple of
_AGAIN: Final = (429, 502, 503, 504)


class Connection:
    """client: httpx's. place: the server's address, for messages. key: the public key that was given; None: nothing is
    checked. chain: how that key and others followed one another, as far as was asked."""

    def __init__(self, client: Any, place: str, key: str | None, pause: Callable[[float], None] = time.sleep) -> None:
        self.client, self.place, self.key, self._pause = client, place, key, pause
        self._now = key  # the key in force, of those that follow the one that was given
        self.chain: tuple[Link, ...] = ()

    @property
    def mine(self) -> str:
        """The account, by its token: name.secret."""
        return str(self.client.headers.get("authorization", "")).removeprefix("Bearer ").rpartition(".")[0]

    def sent(self, method: str, path: str, body: Json | None = None, key: str | None = None) -> Any:
        """The content of the reply. key: the Idempotency-Key. Raises the error that the server told, or its own."""
        import httpx

        headers = {} if key is None else {"Idempotency-Key": key}
        content = None if body is None else _written(body)
        headers |= {} if body is None else {"Content-Type": "application/json"}
        for wait in _waits():
            if self.key is not None:
                headers[ONCE] = os.urandom(16).hex()
            try:
                reply = self.client.request(method, path, content=content, headers=headers)
            except httpx.RequestError:
                if wait is None:
                    raise Misconfigured("the server gives no reply.", where=self.place,
                                        cure="Ask the same again: what was paid is not paid twice.") from None
            else:
                if reply.status_code not in _AGAIN or wait is None or not _busy(reply):
                    found = self._content(reply)
                    if self.key is not None:
                        self._signed(reply, Exchange(headers[ONCE], self.mine, method, path, content or b"", key or "",
                                                     reply.status_code, reply.content))
                    return found
            self._pause(wait or 0)
        raise AssertionError("the last try returns or raises")

    def lines(self, path: str, body: Json) -> Iterator[Json]:
        """What a long work tells, line by line; with a key, all of it at once, signed."""
        import httpx

        if self.key is not None:
            whole = self.sent("POST", path, body)
            if not isinstance(whole, dict):
                raise self.nonsense()
            yield whole
            return
        try:
            with self.client.stream("POST", path, json=body) as reply:
                if reply.status_code != 200:
                    reply.read()
                    self._content(reply)
                for line in reply.iter_lines():
                    found = read_json(line)
                    if not isinstance(found, dict):
                        raise self.nonsense()
                    yield found
        except httpx.RequestError:
            raise Misconfigured("the server gives no reply any more.", where=self.place,
                                cure="The work may go on there: look with tables.") from None
        except ValueError:
            raise self.nonsense() from None

    def _signed(self, reply: Any, exchange: Exchange) -> None:
        """Raises Misconfigured where the key has not signed it as the reply to this request."""
        signer = exchange.signer(reply.headers.get(SIGNED, ""))
        if signer is not None and signer != self._now:
            self.follow()
        if signer is None or signer != self._now:
            raise Misconfigured(
                "the reply is not signed, as the one to this request, by the key that was given.", where=self.place,
                cure="Do not use it: ask the steward which key is right, and who stands between.",
            )

    def follow(self) -> None:
        """Asks how the server's keys followed one another, and goes on with the last one, if each step from the key
        that was given to it is signed by the one before. It never goes back."""
        import httpx

        try:
            links = chain_of(read_json(self.client.get("/v1/key").content.decode("utf-8")))
        except (httpx.RequestError, ValueError):
            return
        order = list(given_up(links))
        if self.key in order and self._now in order and links[: len(self.chain)] == self.chain:
            self.chain, self._now = links, order[-1]

    def _content(self, reply: Any) -> Any:
        try:
            content = read_json(reply.content.decode("utf-8"))
        except ValueError:
            raise self.nonsense() from None
        if reply.status_code == 200:
            return content
        raise error_of(content, self.place)

    def nonsense(self) -> Misconfigured:
        """The error for what is no reply of a curator's."""
        return Misconfigured("the reply is not a curator's.", where=self.place, cure="Check the address.")


def _waits() -> Iterator[float | None]:
    """Seconds to wait before the next try; None at the last."""
    yield from (0.25 * 2**number for number in range(TRIES - 1))
    yield None


def amount(text: str) -> Fraction:
    """As it was printed: of a decimal without an end, the first digits, and a little more, so that it is printed as one
    again. The receipt has exact amounts."""
    found = rational(text.removesuffix("..."), name="an amount")
    return found * (1 + _BEYOND) if text.endswith("...") else found


def _busy(reply: Any) -> bool:
    """Whether the server says to come back: what it refuses for good is not sent again."""
    return "retry-after" in reply.headers or reply.status_code in (502, 504)


def error_of(content: Any, place: str) -> DpcuratorError:
    """The error that the server told, as the curator raised it."""
    told = content if isinstance(content, dict) else {}
    what, where, cure = (shown(told.get(name, "")) for name in ("what", "where", "cure"))
    if told.get("error") == "over budget":
        try:
            return OverBudget(requested=amount(told["requested"]), remaining=amount(told["remaining"]),
                              currency=str(told["currency"]), of="own" if told.get("of") == "own" else "all")
        except (KeyError, AttributeError, Refusal):
            pass
    if told.get("error") == "refused":
        return Refusal(what, where=where, cure=cure, mends=_mends(told.get("mends", [])))
    if told.get("error") == "fault":
        return Fault()
    return Misconfigured(what or "the reply is not a curator's.", where=where or place, cure=cure)


def shown(text: object) -> str:
    """A text as a terminal may show it: its lines, with control characters escaped."""
    return "\n".join(map(printable, str(text).split("\n")))


def _mends(told: Any) -> tuple[Mend, ...]:
    try:
        return tuple(Mend(**one) for one in told)
    except TypeError:
        return ()


def _written(body: Json) -> bytes:
    """Raises Refusal for what cannot be sent: numbers without an end, texts that are none."""
    try:
        return json.dumps(body, ensure_ascii=False, allow_nan=False).encode("utf-8")
    except ValueError:
        raise Refusal("a number of the question is not finite, or a text has half a character.",
                      cure="Write numbers as in 0.1.") from None
