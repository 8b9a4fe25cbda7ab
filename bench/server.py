"""A server under load: clients that quote and ask at once, and what a quote takes by itself.

    python bench/server.py [--seconds 60] [--clients 50] [--workers 1]

A made-up clinic of 10,000 people, served by `dpcurator serve` on this machine; each client in an account of its own,
with a limit that it uses up. First quotes one after another, with the processor time that the server takes for each;
then all clients at once, by turns a new quote, a new question, and the same again. Every reply must be an answer or
over budget; at the end no account may have spent more than its limit, and the ledger must verify. One line a
measurement.
"""

from __future__ import annotations

import argparse
import http.client
import json
import os
import random
import socket
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from fractions import Fraction
from pathlib import Path
from typing import Any

from dpcurator.catalog.load import load
from dpcurator.cli import demo
from dpcurator.curator.opening import open_curator, refresh_all
from dpcurator.ledger.accounts import new_token

LIMIT = Fraction(1, 50)
SHAPES = (
    "SELECT city, COUNT(*) AS n FROM visits WHERE age > {0} GROUP BY city",
    "SELECT AVG(cost) AS cost FROM visits WHERE age BETWEEN {0} AND {1}",
    "SELECT city, COUNT(*) AS n, AVG(age) AS age FROM visits WHERE cost > {1} GROUP BY city",
    "SELECT COUNT(*) AS n, SUM(cost) AS cost FROM visits WHERE age < {0} AND cost < {1}",
)


class Client:
    """One connection, in one account."""

    def __init__(self, port: int, token: str) -> None:
        self.line = http.client.HTTPConnection("127.0.0.1", port, timeout=120)
        self.head = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}

    def send(self, path: str, **body: Any) -> tuple[int, float]:
        """The status, and how many seconds it took."""
        began = time.perf_counter()
        self.line.request("POST", path, json.dumps(body), self.head)
        reply = self.line.getresponse()
        reply.read()
        return reply.status, time.perf_counter() - began


def question(luck: random.Random) -> str:
    return luck.choice(SHAPES).format(luck.randrange(1, 100), luck.randrange(100, 2000))


def processor(pid: int) -> int:
    """Nanoseconds that a process and its children have had of a processor."""
    found = 0
    for one in (pid, *children(pid)):
        for task in Path(f"/proc/{one}/task").iterdir():
            try:
                found += int((task / "schedstat").read_text().split()[0])
            except OSError:  # it has just ended
                continue
    return found


def children(pid: int) -> list[int]:
    text = Path(f"/proc/{pid}/task/{pid}/children").read_text()
    return [int(one) for one in text.split()]


def part(values: Iterable[float], share: float) -> float:
    """The value that this share of them are below."""
    every = sorted(values)
    return every[min(len(every) - 1, int(share * len(every)))]


def told(what: str, values: list[float]) -> None:
    print(f"{what}: {len(values):,}, median {1000 * part(values, 0.5):.1f} ms, p95 {1000 * part(values, 0.95):.1f} ms, "
          f"most {1000 * max(values):.1f} ms", flush=True)


def alone(client: Client, pid: int, number: int) -> None:
    """Quotes one after another: the processor time of each, the reading of the request and the reply included."""
    luck, wall, spent = random.Random(1), list[float](), list[float]()
    for warm in range(number + 20):
        before = processor(pid)
        status, seconds = client.send("/v1/quote", sql=question(luck), epsilon="0.01")
        assert status == 200, status
        if warm >= 20:
            wall.append(seconds)
            spent.append((processor(pid) - before) / 1e9)
    told("a quote by itself, processor time of the server", spent)
    told("a quote by itself, as its client waits", wall)


def loaded(port: int, tokens: dict[str, str], seconds: float) -> None:
    """All at once. Raises AssertionError for a reply that is neither an answer nor over budget."""
    until = time.monotonic() + seconds

    def one(number: int) -> tuple[Counter[int], list[float], list[float]]:
        luck, client = random.Random(number), Client(port, list(tokens.values())[number])
        found, quotes, asks = Counter[int](), list[float](), list[float]()
        while time.monotonic() < until:
            sql = question(luck)
            for path, kept in (("/v1/quote", quotes), ("/v1/ask", asks), ("/v1/ask", asks)):
                status, took = client.send(path, sql=sql, epsilon="0.01")
                found[status] += 1
                kept.append(took)
        return found, quotes, asks

    with ThreadPoolExecutor(len(tokens)) as pool:
        every = list(pool.map(one, range(len(tokens))))
    statuses = sum((found for found, _, _ in every), Counter[int]())
    told(f"{len(tokens)} clients, quotes as they wait", [took for _, quotes, _ in every for took in quotes])
    told(f"{len(tokens)} clients, asks as they wait", [took for _, _, asks in every for took in asks])
    print(f"replies in {seconds:.0f} s: {statuses[200]:,} given, {statuses[402]:,} over budget", flush=True)
    assert set(statuses) <= {200, 402}, statuses


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--clients", type=int, default=50)
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--quotes", type=int, default=300)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        demo._generate(place)
        catalog = place / "curator.toml"
        catalog.write_text(catalog.read_text().replace("epsilon = 4", "epsilon = 1000"))
        refresh_all(load(catalog))
        ledger = open_curator(catalog).ledger
        tokens = {f"c{number}": new_token(f"c{number}") for number in range(given.clients)}
        for name, token in tokens.items():
            ledger.grant(name, limit=LIMIT, token=token)
        with socket.create_server(("127.0.0.1", 0)) as free:
            port = free.getsockname()[1]
        server = subprocess.Popen(
            [sys.executable, "-m", "dpcurator", "serve", "--port", str(port), "--workers", str(given.workers), "-c",
             str(catalog)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )
        try:
            for _ in range(600):
                try:
                    socket.create_connection(("127.0.0.1", port), timeout=1).close()
                    break
                except OSError:
                    time.sleep(0.1)
            print(f"{os.cpu_count()} processors, load {os.getloadavg()[0]:.1f}", flush=True)
            alone(Client(port, tokens["c0"]), server.pid, given.quotes)
            loaded(port, tokens, given.seconds)
        finally:
            server.terminate()
            server.wait(60)
        over = [one.analyst for one in ledger.accounts() if one.spent > one.limit]
        verdict = ledger.verify()
        print(f"accounts over their limit: {len(over)}; {verdict.position:,} events verify: {verdict.sound}")
        assert not over
        assert verdict.sound
        assert ledger.budget().spent == sum(one.spent for one in ledger.accounts())


if __name__ == "__main__":
    main()
