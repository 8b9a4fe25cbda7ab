"""What numbers in place of texts cost a refresh and bring questions (`snapshot/codes.py`, `engines/duckdb/coded.py`).

    python bench/coded_units.py [rows ...] [runs=N]     by default 10^6 and 10^7, 3 runs

A table of five columns, ten rows a unit, whose unit is a text of 12 or 36 letters (those of a uuid), in a Parquet file.
It is refreshed with numbers and without, and beside it stands `CREATE TABLE AS SELECT` of the same columns. Then the
same questions are asked of both snapshots by turns: processor seconds, the least of the runs.
"""

from __future__ import annotations

import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any
from unittest import mock

import duckdb

from dpcurator.catalog.load import load
from dpcurator.engines.duckdb.engine import DuckDB
from dpcurator.engines.settings import Settings
from dpcurator.plan.core import (
    ONE,
    Chosen,
    CorePlan,
    Distinct,
    Grid,
    Listed,
    Measure,
    Owner,
    PerUnit,
    ScaleDown,
    Scan,
    Source,
    Sum,
    Total,
)
from dpcurator.plan.core_relations import Folded, Groups, Match, Stored
from dpcurator.snapshot import codes
from dpcurator.snapshot.refresh import refresh
from dpcurator.snapshot.store import open_snapshot

TEXTS = {12: "'user' || lpad(u::VARCHAR, 8, '0')", 36: "md5(u::VARCHAR)::UUID::VARCHAR"}
COLUMNS = {"unit": "text", "city": {"type": "text", "keys": [f"city{n}" for n in range(100)]}, "age": "integer",
           "cost": "float", "day": "date"}
UNIT, CITY, AGE = Source("c0", "text"), Source("c1", "text"), Source("c2", "integer")
GRID, CITIES = Grid(2, "integer", 0, 110, 0, 110, 0), tuple((f"city{n}",) for n in range(100))
SUMS = (Sum("rows"), Sum("present"), Sum("values"))


def questions() -> dict[str, CorePlan]:
    caps = ScaleDown(4, 3, ONE)
    scan, listed, ages = Scan("t0", (UNIT, CITY, AGE)), Listed((1,), CITIES), Measure((GRID,))
    people = Groups(Stored("t0", (UNIT, AGE), 0), 1, (Folded("sum_i", 1),))
    joined = Match(Stored("t0", (UNIT, CITY, AGE), 0), people, (0,), (0,), False)
    first = (Source("c0", "text"), Source("c1", "integer"))
    return {
        "count, sum, mean by city": (scan, Owner(0), listed, ages, PerUnit(), caps, Total(SUMS)),
        "the same, max_total binds": (scan, Owner(0), listed, ages, PerUnit(), ScaleDown(4, 100, ONE, 8), Total(SUMS)),
        "by cities nobody lists": (scan, Owner(0), Chosen((1,), 3, "s"), ages, PerUnit(), caps,
                                   Total((Sum("units"), *SUMS))),
        "different ages by city": (scan, Owner(0), listed, Measure((), (), (Distinct(2, "s"),)), PerUnit(), caps,
                                   Total((Sum("distinct", 0),))),
        "per person SUM, then AVG": (Scan(people, first), Owner(0), Listed((), ((),)),
                                     Measure((Grid(1, "integer", 0, 500, 0, 500, 0),)), PerUnit(),
                                     ScaleDown(1, 1, ONE), Total(SUMS)),
        "a join on the unit": (Scan(joined, (*(Source(f"c{n}", one.kind) for n, one in enumerate((UNIT, CITY, AGE))),)),
                               Owner(0), listed, ages, PerUnit(), caps, Total(SUMS)),
    }


def taken(work: Callable[[], Any]) -> tuple[float, float]:
    start = time.process_time(), time.perf_counter()
    work()
    return time.process_time() - start[0], time.perf_counter() - start[1]


def copied(file: Path) -> None:
    with duckdb.connect(str(file.with_suffix(".copy"))) as connection:
        connection.execute("SET threads = 2")
        connection.execute(f"CREATE TABLE t AS FROM '{file}'")


def main(sizes: list[int], runs: int) -> None:
    for size in sizes:
        for length, text in TEXTS.items():
            with tempfile.TemporaryDirectory() as name:
                snapshots = {}
                for which in ("text", "number"):
                    folder = Path(name) / which
                    folder.mkdir()
                    duckdb.execute(
                        f"COPY (SELECT {text} AS unit, 'city' || (hash(u, hash(i) % 3) % 100) AS city, (hash(i + 1) % "
                        "111)::BIGINT AS age, (hash(i + 2) % 2000000)::DOUBLE / 100 AS cost, DATE '2020-01-01' + "
                        f"(hash(i + 4) % 1500)::INTEGER AS day FROM (SELECT i, (i * 7919 % {size // 10})::BIGINT AS u "
                        f"FROM range({size}) r(i))) TO '{folder}/t.parquet' (FORMAT parquet)")
                    table = {"file": "t.parquet", "unit": "unit", "max_total": 10, "columns": COLUMNS}
                    snapshots[which] = load({"curator": {"protects": "people", "threads": 2}, "ledger": {"epsilon": 1},
                                             "tables": {"t": table}}, directory=folder)
                plain = taken(partial(copied, Path(name) / "text" / "t.parquet"))
                with mock.patch.object(codes, "unit_of", return_value=None):
                    before = taken(partial(refresh, snapshots["text"]))
                after = taken(partial(refresh, snapshots["number"]))
                print(f"{size:,} rows, units of {length} letters: copy {plain[0]:.1f} s; refresh with texts "
                      f"{before[0]:.1f} s ({before[0] / plain[0]:.2f}), with numbers {after[0]:.1f} s "
                      f"({after[0] / plain[0]:.2f}); wall {plain[1]:.1f}, {before[1]:.1f}, {after[1]:.1f}", flush=True)
                engines = {which: DuckDB(open_snapshot(one).path, settings=Settings(threads=2, spill=name))
                           for which, one in snapshots.items()}
                for asked, core in questions().items():
                    times: dict[str, list[float]] = {which: [] for which in engines}
                    for _ in range(runs):
                        for which, engine in engines.items():
                            times[which].append(taken(partial(engine.evaluate, core))[0])
                    least = {which: min(some) for which, some in times.items()}
                    print(f"    {asked:28} text {least['text']:6.2f} s, number {least['number']:6.2f} s, ratio "
                          f"{least['text'] / least['number']:.2f}", flush=True)


if __name__ == "__main__":
    given = [word for word in sys.argv[1:] if not word.startswith("runs=")]
    wanted = next((int(word[5:]) for word in sys.argv[1:] if word.startswith("runs=")), 3)
    main([int(float(word)) for word in given] or [10**6, 10**7], wanted)
