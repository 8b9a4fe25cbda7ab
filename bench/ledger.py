"""How fast the ledger charges, beside what the disk allows: one line a measurement.

    python bench/ledger.py [folder]

The bound is the disk's: a charge is an fsync of the journal and one of the file, which takes it in. So the first line
appends 512 bytes and fsyncs, in the same folder, and the others are given as ratios to it, measured in turns so
that a busy machine slows all alike. Where LEDGER_DSN holds the connection string of a PostgreSQL server, a ledger there
is measured too, in the schema `bench_ledger`, which is made anew, beside one round trip to that server.
"""

from __future__ import annotations

import os
import resource
import statistics
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path

from dpcurator.ledger import Ledger, MemoryStore, Opening, PostgresStore, SqliteStore, Store
from dpcurator.values import Request

ROUNDS, EACH = 7, 300
_PRICE = Fraction(1, 10)


def request(plan: str) -> Request:
    return Request("ada", plan, "c" * 64, 1, '{"beta":"1/20"}', _PRICE, Fraction(1, 10**12))


def opened(store: Store) -> Ledger:
    return Ledger.open(store, Opening("patients", "add-remove", None, Fraction(10**9), Fraction(1, 10), "ab" * 32))


def measured(work: Callable[[int], None], rounds: int, each: int) -> tuple[float, float]:
    """(operations a second, CPU milliseconds an operation, user and system), of one round."""
    before, start = resource.getrusage(resource.RUSAGE_SELF), time.perf_counter()
    for n in range(each):
        work(rounds * each + n)
    wall, after = time.perf_counter() - start, resource.getrusage(resource.RUSAGE_SELF)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return each / wall, cpu / each * 1000


def main(folder: Path) -> None:
    disk = os.open(folder / "fsync", os.O_CREAT | os.O_WRONLY | os.O_APPEND)
    ledger, rehearsal, paired = (
        opened(SqliteStore(folder / "a.db")),
        opened(MemoryStore()),
        opened(SqliteStore(folder / "b.db")),
    )
    crowded = opened(SqliteStore(folder / "c.db"))

    def fsync(_: int) -> None:
        os.write(disk, b"x" * 512)
        os.fsync(disk)

    def answer(n: int) -> None:
        charge = paired.charge(request(f"{n}"))
        paired.answer(charge, "x" * 500)  # type: ignore[arg-type]

    def crowd(n: int) -> None:
        threads = [threading.Thread(target=crowded.charge, args=(request(f"{n} {m}"),)) for m in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    paired.answer(paired.charge(request("repeated")), "x" * 500)  # type: ignore[arg-type]
    works: dict[str, tuple[Callable[[int], None], int]] = {
        "append 512 bytes and fsync (the disk)": (fsync, EACH),
        "charge": (lambda n: void(ledger.charge(request(str(n)))), EACH),
        "charge, 8 threads": (crowd, EACH // 8),
        "charge and answer": (answer, EACH // 2),
        "repeat of a stored answer": (lambda n: void(paired.charge(request("repeated"))), EACH),
        "budget": (lambda n: void(ledger.budget()), EACH),
        "charge, in memory": (lambda n: void(rehearsal.charge(request(str(n)))), EACH),
    }
    if "LEDGER_DSN" in os.environ:
        works |= on_a_server()
    results: dict[str, list[tuple[float, float]]] = {name: [] for name in works}
    for round_ in range(ROUNDS):
        for name, (work, each) in works.items():
            results[name].append(measured(work, round_, each))
    base = [rate for rate, _ in results["append 512 bytes and fsync (the disk)"]]
    for name, rounds in results.items():
        times = 8 if "threads" in name else 1
        rate = statistics.median(rate for rate, _ in rounds) * times
        ratio = statistics.median(rate * times / disk_rate for (rate, _), disk_rate in zip(rounds, base, strict=True))
        cpu = statistics.median(cpu for _, cpu in rounds) / times
        print(f"{name:40} {rate:9,.0f}/s   {ratio:6.2f} of the disk   {cpu:6.3f} ms CPU each")
    start = time.perf_counter()
    verdict = ledger.verify()
    print(
        f"{'verify':40} {verdict.position / (time.perf_counter() - start):9,.0f} events/s   problem: {verdict.problem}"
    )
    for one in (ledger, paired, crowded):
        one.close()
    os.close(disk)


def on_a_server() -> dict[str, tuple[Callable[[int], None], int]]:
    import psycopg

    connection = psycopg.connect(os.environ["LEDGER_DSN"], autocommit=True)
    connection.execute("DROP SCHEMA IF EXISTS bench_ledger CASCADE")
    ledger = opened(PostgresStore("env:LEDGER_DSN", schema="bench_ledger"))
    ledger.charge(request("first"))
    return {
        "one round trip to the server": (lambda n: void(connection.execute("SELECT 1")), EACH),
        "charge, on the server": (lambda n: void(ledger.charge(request(str(n)))), EACH // 2),
        "budget, on the server": (lambda n: void(ledger.budget()), EACH),
    }


def void(_: object) -> None:
    """Let go of a result."""


if __name__ == "__main__":
    with tempfile.TemporaryDirectory(dir=sys.argv[1] if len(sys.argv) > 1 else None) as made:
        main(Path(made))
