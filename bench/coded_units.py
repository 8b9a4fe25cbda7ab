"""What questions would gain from units as numbers in place of texts: the most that coding them at refresh could bring.

    python bench/coded_units.py [rows ...] [runs=N]     by default 10^6 and 10^7, 5 runs

Count, sum and mean by 100 keys with every unit bounded, ten rows a unit in at most three keys. The unit is a text of 8,
12 or 36 letters (those of a uuid), or the whole number that stands for it. The two are asked by turns on one file; a
line has the least processor time of each and their ratio, and the least and greatest ratio of a pair. Keys that nobody
lists are selected by the md5 of the unit's text, which a code would have to look up again: there are none here.
"""

from __future__ import annotations

import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import duckdb

from dpcurator.engines.duckdb.engine import DuckDB
from dpcurator.engines.settings import Settings
from dpcurator.plan.core import ONE, Grid, Listed, Measure, Owner, PerUnit, ScaleDown, Scan, Source, Sum, Total

TEXTS = {8: "lpad(u::VARCHAR, 8, '0')", 12: "'user' || lpad(u::VARCHAR, 8, '0')", 36: "md5(u::VARCHAR)::UUID::VARCHAR"}
CAPS = ((4, 3, None), (4, 100, 8), (1, 1, None))
GRID = Grid(2, "integer", 0, 110, 0, 110, 0)
SUMS = (Sum("rows"), Sum("present"), Sum("values"))


def write(path: Path, size: int) -> None:
    texts = ", ".join(f"{text} AS c{length}" for length, text in TEXTS.items())
    with duckdb.connect(str(path)) as connection:
        connection.execute("SET threads = 2")
        connection.execute(
            f"CREATE TABLE t0 AS SELECT u AS c0, {texts}, 'key' || (hash(u, hash(i) % 3) % 100) AS c1, "
            f"(hash(i + 1) % 111)::BIGINT AS c2 FROM (SELECT i, (i * 7919 % {size // 10})::BIGINT AS u "
            f"FROM range({size}) r(i))"
        )


def main(sizes: list[int], runs: int) -> None:
    keys = tuple((f"key{number}",) for number in range(100))
    for size in sizes:
        with tempfile.TemporaryDirectory() as folder:
            write(Path(folder) / "snapshot.db", size)
            engine = DuckDB(Path(folder) / "snapshot.db", settings=Settings(threads=2))
            for max_rows, max_groups, max_total in CAPS:
                asked: dict[int, Any] = {}
                for length in (0, *TEXTS):
                    unit = Source(f"c{length}", "text" if length else "integer")
                    scan = Scan("t0", (unit, Source("c1", "text"), Source("c2", "integer")))
                    asked[length] = (scan, Owner(0), Listed((1,), keys), Measure((GRID,)), PerUnit(),
                                     ScaleDown(max_rows, max_groups, ONE, max_total), Total(SUMS))
                times: dict[int, list[float]] = {length: [] for length in asked}
                for _ in range(runs):
                    for length, core in asked.items():
                        start = time.process_time()
                        engine.evaluate(core)
                        times[length].append(time.process_time() - start)
                for length in TEXTS:
                    pairs = [text / number for text, number in zip(times[length], times[0], strict=True)]
                    text, number = min(times[length]), min(times[0])
                    caps = f"max_rows {max_rows} max_groups {max_groups} max_total {max_total}"
                    print(f"coded units rows {size:>10,} letters {length:>2} {caps}: text {text:.2f} s, number "
                          f"{number:.2f} s, ratio {text / number:.2f} (pairs {min(pairs):.2f} to {max(pairs):.2f})",
                          flush=True)


if __name__ == "__main__":
    given = [word for word in sys.argv[1:] if not word.startswith("runs=")]
    wanted = next((int(word[5:]) for word in sys.argv[1:] if word.startswith("runs=")), 5)
    main([int(float(word)) for word in given] or [10**6, 10**7], wanted)
