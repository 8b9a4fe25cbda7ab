"""Count, sum and mean by 100 keys with every unit bounded, against the plain GROUP BY unit, key on the same file.

    python bench/group_by.py [rows ...]     by default 10^5, 10^6 and 10^7

Ten rows a unit, in at most three of its keys. One line a measurement: the least of several runs of each, taken in
turns so that what else the machine does meets both alike, by the clock and in CPU seconds of all threads, and the
ratios. The plain query is the first half of the work and protects nobody; the target is at most twice its time
(design 9).
"""

from __future__ import annotations

import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

import duckdb
import numpy as np
import pyarrow as pa

from dpcurator.catalog.model import Kind
from dpcurator.engines.duckdb.engine import DuckDB
from dpcurator.plan.core import ONE, Grid, Listed, Measure, Owner, PerUnit, ScaleDown, Scan, Source, Sum, Total

KINDS: dict[str, Kind] = {"c0": "integer", "c1": "text", "c2": "integer", "c3": "text", "c4": "integer", "c5": "float"}
GRIDS = {
    "c4": Grid(2, "integer", 0, 110, 0, 110, 0),
    "c5": Grid(2, "float", 0.0, 20000.0, 0, 20000 * 2**26, 26),
}
SUMS = (Sum("rows"), Sum("present"), Sum("values"))  # COUNT(*), and AVG's two readings; SUM shares them


def write(path: Path, size: int) -> None:
    """c0, c1 the unit and c2, c3 the key, as integer and text; c4, c5 the value, as integer and float."""
    rng = np.random.default_rng(1)
    unit = rng.permutation(np.repeat(np.arange(size // 10), 10))
    keys = rng.integers(0, 100, size=(size // 10, 3))
    drawn = pa.table({
        "unit": unit, "key": keys[unit, rng.integers(0, 3, size=size)],
        "whole": rng.integers(0, 111, size=size), "real": rng.random(size) * 20000,
    })
    assert drawn.num_rows == size
    with duckdb.connect(str(path)) as connection:
        connection.execute(
            "CREATE TABLE t0 AS SELECT unit AS c0, 'user' || unit AS c1, key AS c2, 'key' || key AS c3, "
            "whole AS c4, real AS c5 FROM drawn"
        )


CAPS = ((4, 3, None), (1, 1, None), (4, 100, 8))  # max_rows, max_groups, max_total
RUNS = 5


def in_turns(works: list[Callable[[], object]]) -> list[tuple[float, float]]:
    """Of each, the least seconds by the clock and of CPU, over RUNS rounds."""
    found = [(float("inf"), float("inf"))] * len(works)
    for _ in range(RUNS):
        for at, work in enumerate(works):
            clock, cpu = time.perf_counter(), time.process_time()
            work()
            found[at] = min(found[at][0], time.perf_counter() - clock), min(found[at][1], time.process_time() - cpu)
    return found


def main(sizes: list[int]) -> None:
    for size in sizes:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "snapshot.db"
            write(path, size)
            engine = DuckDB(path)
            plain = duckdb.connect()
            plain.execute(f"ATTACH '{path}' AS snapshot (READ_ONLY)")
            for unit, key in (("c0", "c2"), ("c1", "c3")):
                for value in ("c4", "c5"):
                    measure(engine, plain, size, (unit, key, value))
            plain.close()


def measure(engine: DuckDB, plain: duckdb.DuckDBPyConnection, size: int, names: tuple[str, str, str]) -> None:
    unit, key, value = names
    grouped = f"SELECT {unit}, {key}, count(*) AS r, sum({value}) AS s FROM snapshot.main.t0 GROUP BY {unit}, {key}"
    keys = tuple((number if key == "c2" else f"key{number}",) for number in range(100))
    scan = Scan("t0", tuple(Source(name, KINDS[name]) for name in names))
    works: list[Callable[[], object]] = [
        lambda: plain.execute(f"SELECT count(*), sum(r), sum(s) FROM ({grouped})").fetchall()
    ]
    for max_rows, max_groups, max_total in CAPS:
        core = (scan, Owner(0), Listed((1,), keys), Measure((GRIDS[value],)), PerUnit(),
                ScaleDown(max_rows, max_groups, ONE, max_total), Total(SUMS))
        works.append(partial(engine.evaluate, core))
    base, *ours = in_turns(works)
    for (max_rows, max_groups, max_total), one in zip(CAPS, ours, strict=True):
        print(
            f"group_by rows {size:>9,} unit and key {KINDS[unit]:<7} value {KINDS[value]:<7} "
            f"max_rows {max_rows} max_groups {max_groups} max_total {max_total}: "
            f"plain {base[0]:.3f} s ({base[1]:.3f} of CPU), bounded {one[0]:.3f} s ({one[1]:.3f}), "
            f"ratio {one[0] / base[0]:.2f} (CPU {one[1] / base[1]:.2f})",
            flush=True,
        )


if __name__ == "__main__":
    main([int(float(word)) for word in sys.argv[1:]] or [10**5, 10**6, 10**7])
