"""The process: what it refuses to serve, how it stops, and that a kill loses nothing and pays nothing twice."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from shell import run as shell

from dpcurator.curator.opening import open_curator
from dpcurator.errors import Misconfigured
from dpcurator.server.running import Settings

from .conftest import COUNT, clinic


@pytest.mark.parametrize(("settings", "words"), [
    ({"host": "0.0.0.0"}, "in the clear"), ({"host": "::"}, "in the clear"), ({"host": "dp.example"}, "in the clear"),
    ({"certificate": "c.pem"}, "its key"), ({"certificate": "none", "certificate_key": "none"}, "cannot be read"),
    ({"port": 8642, "postgres_port": 8642}, "a port each"),
])
def test_what_must_not_be_served_is_refused(settings: dict[str, Any], words: str) -> None:
    with pytest.raises(Misconfigured, match=words):
        Settings("curator.toml", **settings).check()


@pytest.mark.parametrize("settings", [{}, {"host": "::1"}, {"host": "localhost"}, {"host": "127.0.0.2"},
                                      {"host": "0.0.0.0", "without_tls": True}])
def test_this_machine_alone_and_what_was_said_in_so_many_words_is_served(settings: dict[str, Any]) -> None:
    Settings("curator.toml", **settings).check()


def test_the_command_says_what_to_give(tmp_path: Path, monkeypatch: Any, capsys: Any) -> None:
    monkeypatch.chdir(tmp_path)
    refused = shell(capsys, "serve", "--host", "0.0.0.0")
    assert (refused.code, "--without-tls" in refused.err) == (4, True)
    assert shell(capsys, "serve", "--tick", "soon").code == 2
    assert shell(capsys, "serve").code == 4  # no catalog


def test_the_demo_is_served_with_two_accounts_that_sign_in(tmp_path: Path, monkeypatch: Any, capsys: Any) -> None:
    """In a directory that goes with it. What serves is replaced by one request of each account."""
    import dpcurator.server.running as running
    from dpcurator.cli import demo
    from dpcurator.server.application import application

    from .conftest import run as listen

    monkeypatch.setattr(demo, "PEOPLE", 50)
    monkeypatch.setattr(demo, "VISITS", 200)
    seen: dict[str, Any] = {}

    def served(settings: Settings, begun: Callable[[], None]) -> None:
        begun()
        said = json.loads(capsys.readouterr().out)
        url, stop = listen(application(Path(settings.catalog), log=lambda line: None))
        for name, token in said["tokens"].items():
            reply = httpx.get(f"{url}/v1/budget", headers={"Authorization": f"Bearer {token}"}, trust_env=False)
            seen[name] = (reply.json()["mine"]["role"], reply.json()["mine"]["limit"])
        seen["there"] = (Path(settings.catalog).exists(), said["url"], settings.port)
        stop()
        seen["catalog"] = Path(settings.catalog)

    monkeypatch.setattr(running, "serve", served)
    monkeypatch.chdir(tmp_path)
    before = signal.getsignal(signal.SIGTERM)
    try:
        shell(capsys, "demo", "--serve", "--port", "18777", "--json")
    finally:
        signal.signal(signal.SIGTERM, before)
    assert (seen["ana"], seen["sam"]) == (("analyst", "1"), ("steward", "4"))
    assert seen["there"] == (True, "http://127.0.0.1:18777", 18777)
    assert not seen["catalog"].parent.exists()


@pytest.mark.parametrize("workers", [pytest.param("1"), pytest.param("2", marks=pytest.mark.slow)])
def test_it_says_that_it_listens_only_where_it_does(tmp_path: Path, capsys: Any, workers: str) -> None:
    """The port is taken: nothing listens, and no such thing is said."""
    place, _ = clinic(tmp_path)
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        told = shell(capsys, "serve", "--port", str(port), "--workers", workers, "-c", str(place))
    assert (told.code, "could not begin" in told.err, told.out) == (4, True, ""), told.err


class Process:
    """`dpcurator serve`, as a steward runs it."""

    def __init__(self, place: Path, workers: int = 1) -> None:
        with socket.create_server(("127.0.0.1", 0)) as free:
            self.port = free.getsockname()[1]
        self.url, self.place, self.workers = f"http://127.0.0.1:{self.port}", place, workers
        self.log = (place.parent / "log").open("ab")
        self.start()

    def start(self) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-m", "dpcurator", "serve", "--port", str(self.port), "--workers", str(self.workers),
             "-c", str(self.place)], stdout=self.log, stderr=self.log, start_new_session=True,
        )
        for _ in range(600):
            try:
                if httpx.get(f"{self.url}/health", trust_env=False).status_code == 200:
                    return
            except httpx.TransportError:
                time.sleep(0.1)
        raise AssertionError((self.place.parent / "log").read_text())

    def kill(self, number: int = signal.SIGKILL) -> int:
        os.killpg(self.process.pid, number)
        return self.process.wait(60)


@pytest.fixture
def process(tmp_path: Path) -> Iterator[tuple[Process, dict[str, str]]]:
    place, tokens = clinic(tmp_path)
    made = Process(place)
    yield made, tokens
    if made.process.poll() is None:
        made.kill()
    made.log.close()


def ask(process: Process, token: str, **body: Any) -> httpx.Response:
    headers = {"Authorization": f"Bearer {token}", "Idempotency-Key": body.pop("key", "k")}
    sent = {"sql": COUNT, "epsilon": "0.01"} | body
    return httpx.post(f"{process.url}/v1/ask", json=sent, headers=headers, trust_env=False, timeout=60)


@pytest.mark.slow
def test_a_stop_ends_well_and_the_next_start_goes_on(process: tuple[Process, dict[str, str]]) -> None:
    server, tokens = process
    first = ask(server, tokens["ana"]).json()
    assert server.kill(signal.SIGTERM) in (0, -signal.SIGTERM)
    assert f"listening on {server.url}; stop with Ctrl-C" in (server.place.parent / "log").read_text()
    server.start()
    again = ask(server, tokens["ana"]).json()
    assert (again["rows"], again["repeated"]) == (first["rows"], True)
    told = (server.place.parent / "log").read_text()
    assert "Traceback" not in told
    assert tokens["ana"] not in told
    assert "SELECT" not in told
    lines = [json.loads(line) for line in told.splitlines() if line.startswith("{")]
    assert {(line["route"], line["status"]) for line in lines} == {("/health", 200), ("/v1/ask", 200)}


@pytest.mark.slow
@pytest.mark.parametrize("part", range(25))
def test_killed_fifty_times_while_asked_nothing_is_lost_and_nothing_paid_twice(part: int, tmp_path: Path) -> None:
    """Two workers; each round asks new questions at once, kills all at some moment, and asks the same again."""
    from concurrent.futures import ThreadPoolExecutor

    place, tokens = clinic(tmp_path)
    server = Process(place, workers=2)

    def one(key: str) -> Any:
        try:
            return ask(server, tokens["ana"], fresh=True, key=key).json().get("rows")
        except httpx.TransportError:
            return None

    with ThreadPoolExecutor(4) as pool:
        for number in (2 * part, 2 * part + 1):
            keys = [f"{number}-{at}" for at in range(4)]
            asked = [pool.submit(one, key) for key in keys]
            time.sleep(0.02 * (number % 15))
            server.kill()
            before = [future.result() for future in asked]
            server.start()
            after = [one(key) for key in keys]
            assert all(after)
            assert all(old in (None, new) for old, new in zip(before, after, strict=True))
    server.kill()
    server.log.close()
    curator = open_curator(place)
    assert curator.budget().spent * 100 == 8
    assert curator.ledger.verify().sound
