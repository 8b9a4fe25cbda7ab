"""What every request is held to: its size, the time it may take to arrive, its turn, and the tick of paid replies."""

from __future__ import annotations

import asyncio
import socket
import threading
import time
from typing import Any

import httpx
import pytest

from dpcurator.server.limits import Guard, Work
from dpcurator.server.replies import Denied

from .conftest import COUNT, Served


def raw(url: str, *parts: bytes, pause: float = 0.0, wait: float = 5.0) -> bytes:
    """What the server sends to these bytes, until it closes or `wait` seconds have passed."""
    host, port = url.removeprefix("http://").split(":")
    with socket.create_connection((host, int(port)), timeout=wait) as line:
        for part in parts:
            line.sendall(part)
            time.sleep(pause)
        found = b""
        try:
            while piece := line.recv(65536):
                found += piece
        except (TimeoutError, ConnectionError):
            found += b"<open>" if not found else b""
        return found


def head(length: object = "", extra: bytes = b"") -> bytes:
    told = f"Content-Length: {length}\r\n".encode() if length != "" else b""
    return b"POST /v1/menu HTTP/1.1\r\nHost: x\r\nConnection: close\r\n" + told + extra + b"\r\n"


def token(served: Served, name: str = "ana") -> bytes:
    return f"Authorization: Bearer {served.token[name]}\r\n".encode()


def test_a_body_past_the_limit_is_refused_before_it_is_read(served: Served) -> None:
    assert b" 413 " in raw(served.url, head(10**7)).split(b"\r\n")[0]
    assert b" 413 " in raw(served.url, head(10**30)).split(b"\r\n")[0] or b" 400 " in raw(served.url, head(10**30))
    chunk = b"10000\r\n" + b"x" * 65536 + b"\r\n"
    last = b"1\r\nx\r\n"  # one byte too many, and nothing left to send when the reply comes
    chunked = b"Transfer-Encoding: chunked\r\n" + token(served)
    assert b" 413 " in raw(served.url, head(extra=chunked), *[chunk] * 16, last)
    with served.client("ana") as client:
        assert client.post("/v1/menu", content=b" " * (1 << 20) + b"x").status_code == 413
        assert client.post("/v1/menu", json={"sql": COUNT}).status_code == 200


def test_a_body_with_two_lengths_is_refused_and_what_follows_is_no_request(served: Served) -> None:
    """A proxy that goes by the other length would send here, in another's name, what one has hidden in a body."""
    two = b"POST /v1/menu HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"
    found = raw(served.url, two + b"GET /health HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
    assert found.count(b"HTTP/1.1 ") == found.count(b"HTTP/1.1 400") == 1


def test_a_header_that_is_there_twice_is_refused(served: Served) -> None:
    """One of the two would be obeyed, and the reply signed for the other."""
    for twice in (b"Idempotency-Key: a\r\nIdempotency-Key: b\r\n", token(served), b"Dpcurator-Nonce: a\r\n" * 2):
        extra = token(served) + twice
        assert b" 400 " in raw(served.url, head(2, extra), b"{}").split(b"\r\n")[0]
    assert b"there twice" in raw(served.url, head(0, token(served) * 2))


def test_a_head_past_the_limit_is_refused(served: Served) -> None:
    bomb = b"".join(b"x-%d: %s\r\n" % (number, b"y" * 1000) for number in range(40))
    assert b" 431 " in raw(served.url, head(0, bomb)).split(b"\r\n")[0]  # in one piece
    assert b" 400 " in raw(served.url, head(0, bomb)[:20_000], head(0, bomb)[20_000:], pause=0.1).split(b"\r\n")[0]
    assert b" 400 " in raw(served.url, b"\x16\x03\x01 nonsense\r\n\r\n")
    assert served.client().get("/health").status_code == 200


def test_a_body_that_does_not_arrive_is_not_waited_for(serve: Any) -> None:
    served = serve(slowest=0.3)
    assert b" 408 " in raw(served.url, head(100, token(served)), b"{").split(b"\r\n")[0]


@pytest.mark.parametrize("sent", [b"", b"Authorization: Bearer ana." + b"x" * 43 + b"\r\n"])
@pytest.mark.parametrize("length", [b"Content-Length: 1000000\r\n", b"Transfer-Encoding: chunked\r\n"])
def test_who_does_not_sign_in_is_told_so_before_a_body_is_read(sent: bytes, length: bytes, served: Served) -> None:
    """A thousand connections could else bring a megabyte each."""
    found = raw(served.url, head(extra=length + sent))  # the head alone: the reply waits for no more
    assert b" 401 " in found.split(b"\r\n")[0]
    assert b"connection: close" in found.lower()


def test_bodies_hold_so_much_at_a_time_of_each_account_and_of_all_others() -> None:
    """Who sends more is told to come back; what was sent is let go when its request ends, however it ends."""
    gate = asyncio.Event()

    async def inner(scope: Any, receive: Any, send: Any) -> None:
        await gate.wait()
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": b""})

    async def look(scope: Any) -> str:
        return str(scope["whose"])

    guard = Guard(inner, lambda line: None, look=look, most_held=1000)

    async def status(whose: str, *sizes: int, ends: bool = True) -> int:
        left, found = [*sizes], list[int]()

        async def receive() -> Any:
            if left:
                return {"type": "http.request", "body": b"x" * left.pop(0), "more_body": bool(left) or not ends}
            return {"type": "http.disconnect"}

        async def send(message: Any) -> None:
            found.append(message.get("status", 0))

        headers = [(b"content-length", b"900")]
        await guard({"type": "http", "method": "POST", "path": "/", "headers": headers, "whose": whose}, receive, send)
        return found[0] if found else 0

    async def several() -> list[int]:
        first = asyncio.ensure_future(status("bob", 450, 450))
        await asyncio.sleep(0.01)
        found = [await status("bob", 200), await status("bob", 50, 60), await status("bob", 90, ends=False)]
        other = asyncio.ensure_future(status("", 900))
        await asyncio.sleep(0.01)
        found.append(await status("", 200))
        gate.set()
        return [*found, await first, await other, await status("bob", 1000), await status("", 1000)]

    assert asyncio.run(several()) == [503, 503, 0, 503, 200, 200, 200, 200]
    assert guard._held == {}


def test_a_connection_that_agrees_on_no_tls_is_closed(monkeypatch: Any, tmp_path: Any) -> None:
    """By itself the loop waits a minute for each: such connections are counted nowhere."""
    import ssl

    import dpcurator.server.running as running

    monkeypatch.setattr(running, "SLOWEST_HEAD", 0.2)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)

    async def half_open() -> bytes:
        loop = asyncio.get_running_loop()
        running.impatient(loop)
        listening = await loop.create_server(asyncio.Protocol, "127.0.0.1", 0, ssl=context)
        reader, writer = await asyncio.open_connection(*listening.sockets[0].getsockname())
        writer.write(b"\x16\x03\x01")
        try:
            async with asyncio.timeout(30):  # against a hang of this test alone
                return await reader.read()
        finally:
            writer.close()
            listening.close()

    assert asyncio.run(half_open()) == b""


def test_a_connection_that_says_nothing_is_closed_and_others_are_served(serve: Any, monkeypatch: Any) -> None:
    import dpcurator.server.running as running

    monkeypatch.setattr(running, "SLOWEST_HEAD", 0.3)
    served = serve()
    for sent in (b"", b"GET /health HTT", b"GET /health HTTP/1.1\r\nHost: x\r\n"):
        assert raw(served.url, sent) == b""  # closed, and no reply
    again = raw(served.url, b"GET /health HTTP/1.1\r\nHost: x\r\n\r\n", b"GET /health HTTP/1.1\r\n", pause=0.1)
    assert again.count(b"200 OK") == 1
    assert served.client().get("/health").status_code == 200


def test_a_connection_that_reads_nothing_is_closed(serve: Any, monkeypatch: Any) -> None:
    """Requests one after the other, whose replies nobody takes: they would hold the connection for ever."""
    import dpcurator.server.running as running

    monkeypatch.setattr(running, "SLOWEST_READER", 0.2)
    ended = threading.Event()
    lost = running.Patient.connection_lost
    monkeypatch.setattr(running.Patient, "connection_lost", lambda self, exc: (lost(self, exc), ended.set())[0])
    served = serve()
    host, port = served.url.removeprefix("http://").split(":")
    with socket.socket() as line:
        line.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        line.settimeout(0.5)
        line.connect((host, int(port)))
        asks = b"GET /v1/openapi.json HTTP/1.1\r\nHost: x\r\n\r\n" * 100
        for _ in range(100):
            try:
                line.sendall(asks)
            except OSError:  # its buffers are full, or it was closed
                break
        assert ended.wait(60)
    assert served.client().get("/health").status_code == 200


def test_who_waits_too_many_is_told_to_come_back_and_nothing_is_charged(serve: Any) -> None:
    served = serve(work=Work(most_waiting=0))
    reply = served.ask("ana")
    assert (reply.status_code, reply.headers["retry-after"]) == (503, "5")
    assert served.curator().budget().spent == 0


def test_one_account_keeps_no_other_out() -> None:
    """Seventy requests of one account that take for ever, and those of another are served."""
    gate = threading.Event()

    async def both() -> tuple[int, list[int]]:
        work = Work()
        greedy = [asyncio.ensure_future(work.free(gate.wait, "eve")) for _ in range(70)]
        await asyncio.sleep(0)
        fair = [await work.free(lambda: 1, "ana"), await work.paid(lambda: 2, "ana"), await work.free(lambda: 3)]
        gate.set()
        found = await asyncio.gather(*greedy, return_exceptions=True)
        return sum(isinstance(one, Denied) and one.status == 503 for one in found), fair

    assert asyncio.run(both()) == (70 - 34, [1, 2, 3])


def test_refused_tokens_are_slowed_and_only_so_many_wait() -> None:
    from dpcurator.ledger import Ledger, MemoryStore, Opening
    from dpcurator.server.access import Access

    one = Opening("people", "add-remove", None, 1, 0, "ab" * 32)  # type: ignore[arg-type]
    ledger = Ledger.open(MemoryStore(), one)

    async def many() -> list[int]:
        access = Access(0.2)
        began = time.monotonic()
        header = "Bearer ana." + "x" * 43
        tried = await asyncio.gather(*(access.account(ledger, header) for _ in range(70)), return_exceptions=True)
        assert time.monotonic() - began >= 0.2
        return [error.status for error in tried if isinstance(error, Denied)]

    found = asyncio.run(many())
    assert (found.count(401), found.count(429)) == (64, 6)


def test_a_tick_sends_every_paid_reply_at_a_multiple_of_it() -> None:
    """Whatever the work takes, and whether it ends well: replies leave at 1, 1, 2 ticks, never between."""

    async def left(seconds: float, *, fails: bool) -> float:
        def work() -> None:
            time.sleep(seconds)
            if fails:
                raise Denied(400, "no", "")

        began = time.monotonic()
        try:
            await Work(tick=0.4).paid(work)
        except Denied:
            assert fails
        return time.monotonic() - began

    for seconds, fails, ticks in ((0.0, False, 1), (0.2, True, 1), (0.5, False, 2)):
        took = asyncio.run(left(seconds, fails=fails))
        assert took >= ticks * 0.4 - 0.001  # never before its tick, however loaded the machine is


def test_before_its_tick_no_answer_and_no_fault_is_in_the_ledger(serve: Any, monkeypatch: Any) -> None:
    """`/v1/answers`, the positions of later receipts and a closed curator would tell when the data was done."""
    import dpcurator.curator.paying as paying
    from dpcurator.engines import stored_engine

    served = serve(work=Work(tick=0.01))
    seen: list[tuple[str, list[str], int]] = []

    def waits(began: float, tick: float) -> float:
        if tick:
            ledger = served.curator().ledger
            seen.append((ledger.life(), [one.event.NAME for one in ledger.events()][-2:], len(ledger.charges("ana"))))
        return 0.0

    monkeypatch.setattr(paying, "to_tick", waits)
    assert served.ask("ana").status_code == 200
    assert seen == [("open", ["granted", "charged"], 1)]
    assert served.ask("ana").json()["repeated"]
    assert len(seen) == 1  # what is stored needs no data
    monkeypatch.setattr(stored_engine(), "evaluate", lambda *_: 1 / 0)
    assert served.ask("ana", epsilon="0.02").status_code == 500
    assert seen[1:] == [("open", ["answered", "charged"], 2)]
    assert served.curator().ledger.life() == "closed"


class Clock:
    """A time that passes when somebody waits, or is said to work."""

    def __init__(self) -> None:
        self.now = 0.0

    def monotonic(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.now += seconds


def replies(place: Any, tick: float, monkeypatch: Any) -> list[float]:
    """When each of some replies leaves, by a clock of the test's: all but the data takes times drawn from a fixed seed,
    and the data 0.1 ms a row."""
    import random

    import dpcurator.curator.paying as paying
    import dpcurator.server.limits as limits
    from dpcurator.curator.opening import open_curator
    from dpcurator.engines import stored_engine

    clock, luck, rows = Clock(), random.Random(5), len((place.parent / "visits.csv").read_text().splitlines()) - 1
    curator = open_curator(place)
    curator.tick = tick
    evaluate, charge, answer = stored_engine().evaluate, curator.ledger.charge, curator.ledger.answer

    def after(work: Any, seconds: Any) -> Any:
        def run(*given: Any, **named: Any) -> Any:
            found = work(*given, **named)
            clock.now += seconds()
            return found

        return run

    async def waits(seconds: float) -> None:
        clock.now += seconds

    with monkeypatch.context() as patch:
        patch.setattr(paying, "time", clock)
        patch.setattr(limits, "time", clock)
        patch.setattr(limits.Work, "_ticked", lambda self, began: waits(limits.to_tick(began, self.tick)))
        patch.setattr(stored_engine(), "evaluate", after(evaluate, lambda: rows * 1e-4))
        patch.setattr(curator.ledger, "charge", after(charge, lambda: luck.random() * tick / 4))
        patch.setattr(curator.ledger, "answer", after(answer, lambda: luck.random() * tick / 4))
        found = []
        for price in range(1, 6):
            began, epsilon = clock.now, f"{price}/{tick * 1e4:.0f}"
            asyncio.run(Work(tick=tick).paid(lambda epsilon=epsilon: curator.ask(COUNT, epsilon=epsilon)))
            found.append(clock.now - began)
    curator.ledger.close()
    return found


def test_with_a_tick_replies_over_neighbours_of_very_different_size_leave_at_the_same_times(
    tmp_path: Any, monkeypatch: Any
) -> None:
    """One person more, with 5,000 rows beside 120: not one reply leaves at another time, while no tick is missed. Where
    one is, it is seen: the last two lists differ."""
    from dpcurator.catalog.load import load
    from dpcurator.curator.opening import refresh_all

    from .conftest import clinic

    times: list[list[float]] = []
    for one_more in (0, 5000):
        folder = tmp_path / f"{one_more}"
        folder.mkdir()
        place, _ = clinic(folder)
        with (folder / "visits.csv").open("a") as file:
            file.write("one,Leeds,40\n" * one_more)
        refresh_all(load(place))
        times += [replies(place, tick, monkeypatch) for tick in (0.8, 0.3)]
    small, _, large, missed = times
    assert small == large
    assert all(round(seconds / 0.8, 6) == 2 for seconds in small)
    assert missed != times[1]


def test_work_goes_on_where_the_client_has_gone() -> None:
    done: list[int] = []

    async def leave() -> None:
        task = asyncio.ensure_future(Work().paid(lambda: (time.sleep(0.2), done.append(1))))
        await asyncio.sleep(0.05)
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        await asyncio.sleep(0.4)

    asyncio.run(leave())
    assert done == [1]


def test_every_request_has_its_line_also_one_that_was_cut_off(serve: Any) -> None:
    served = serve()
    raw(served.url, head(100, token(served)), b"{", wait=0.2)
    for _ in range(500):
        if served.lines:
            break
        time.sleep(0.01)
    assert '"status": 0' in served.lines[0]


def test_what_fails_unforeseen_is_told_without_its_words() -> None:
    """A server prints what an application raises, and that may quote the question."""
    sent: list[Any] = []
    lines: list[str] = []

    async def inner(*_: Any) -> None:
        raise KeyError("SELECT secret")

    async def receive() -> Any:
        return {"type": "http.request", "body": b""}

    async def send(message: Any) -> None:
        sent.append(message)

    scope = {"type": "http", "method": "GET", "headers": []}
    asyncio.run(Guard(inner, lines.append)(scope, receive, send))
    assert sent[0]["status"] == 500
    assert "secret" not in repr(sent) + "".join(lines)
    assert '"status": 500' in lines[0]


def test_a_guard_passes_on_what_is_no_request() -> None:
    seen: list[str] = []

    async def inner(scope: Any, receive: Any, send: Any) -> None:
        seen.append(scope["type"])

    asyncio.run(Guard(inner)({"type": "lifespan"}, None, None))  # type: ignore[arg-type]
    assert seen == ["lifespan"]


@pytest.mark.slow
def test_fifty_clients_at_once_spend_what_there_is_and_no_more(serve: Any) -> None:
    """Bounded: 50 clients, 20 questions each; every reply is an answer or over budget, and the ledger verifies."""
    from concurrent.futures import ThreadPoolExecutor

    served = serve(epsilon=3, work=Work(most_waiting=1000))

    def one(number: int) -> list[int]:
        with httpx.Client(base_url=served.url, trust_env=False, timeout=120,
                          headers={"Authorization": f"Bearer {served.token['ana']}"}) as client:
            return [client.post("/v1/ask", json={"sql": COUNT, "epsilon": "0.01", "fresh": True}).status_code
                    for _ in range(20)]

    with ThreadPoolExecutor(50) as pool:
        found = [status for statuses in pool.map(one, range(50)) for status in statuses]
    assert (found.count(200), found.count(402)) == (300, 700)
    assert served.curator().budget().remaining == 0
    assert served.curator().ledger.verify().sound
