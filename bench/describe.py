"""A description of 20 columns, beside the plain aggregates of the same columns, which bound nobody.

    python bench/describe.py [rows]     by default 10^6

Ten rows a unit: six whole numbers, four floats, two dates, two texts of 5,000 values, five columns of ten listed keys,
and the unit. The least of three runs of each, by the clock and in seconds of processor time of all threads: the whole
description, with its prices, ledger and receipts; the engine's part of it; and plain counts, means, standard
deviations, three quantiles of numbers and dates, numbers of different values, and counts by the keys. max_rows 4: every
unit is over it; 10: nobody is. Target: three times the plain aggregates.
"""

from __future__ import annotations

import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb

import dpcurator as dp
from dpcurator.catalog.load import load
from dpcurator.curator.opening import refresh_all
from dpcurator.engines.duckdb.engine import DuckDB

COLUMNS: dict[str, tuple[Any, str]] = {
    "unit": ("integer", "i // 10"),
    **{f"whole{n}": ({"type": "integer", "bounds": [0, 110]}, f"hash(i, {n}) % 111") for n in range(6)},
    **{f"real{n}": ({"type": "float", "bounds": [0, 20000]}, f"(hash(i, {n + 10}) % 2000000) / 100.0")
       for n in range(4)},
    **{f"day{n}": ({"type": "date", "bounds": ["2020-01-01", "2023-12-31"]},
                   f"DATE '2020-01-01' + CAST(hash(i, {n + 30}) % 1400 AS INTEGER)") for n in range(2)},
    **{f"text{n}": ("text", f"'t' || (hash(i, {n + 40}) % 5000)") for n in range(2)},
    **{f"key{n}": ({"type": "text", "keys": [f"k{key}" for key in range(10)]},
                   f"'k' || (hash(i // 3, {n + 20}) % 10)") for n in range(5)},
}
PLAIN = {"whole": "count({0}), avg({0}), stddev({0}), quantile_disc({0}, [0.25, 0.5, 0.75])",
         "real": "count({0}), avg({0}), stddev({0}), quantile_disc({0}, [0.25, 0.5, 0.75])",
         "day": "count({0}), quantile_disc({0}, [0.05, 0.5, 0.95])", "text": "count({0}), count(DISTINCT {0})"}
ROUNDS = 3
Took = tuple[float, float]  # seconds by the clock, and of processor time


def timed(work: Callable[[], object]) -> Took:
    clock, cpu = time.perf_counter(), time.process_time()
    work()
    return time.perf_counter() - clock, time.process_time() - cpu


def plain(path: Path) -> None:
    items = [PLAIN[name.rstrip("0123456789")].format(name) for name in COLUMNS
             if name.rstrip("0123456789") in PLAIN]
    with duckdb.connect(str(path), read_only=True) as connection:
        connection.execute(f"SELECT count(*), count(DISTINCT unit), {', '.join(items)} FROM t").fetchall()
        for name in COLUMNS:
            if name.startswith("key"):
                connection.execute(f"SELECT {name}, count(*) FROM t GROUP BY {name}").fetchall()


def measure(folder: Path, size: int, max_rows: int) -> None:
    table = {"file": "rows.parquet", "unit": "unit", "max_rows": max_rows, "max_groups": 10,
             "columns": {name: kind for name, (kind, _) in COLUMNS.items()}}
    catalog = {"curator": {"protects": "people", "threads": 2}, "ledger": {"epsilon": 100}, "tables": {"t": table}}
    refresh_all(load(catalog, directory=folder))
    curator = dp.open(catalog, directory=folder)
    engine: list[Took] = []
    evaluate_all = DuckDB.evaluate_all

    def watched(self: DuckDB, cores: Any) -> Any:
        found: list[Any] = []
        engine.append(timed(lambda: found.append(evaluate_all(self, cores))))
        return found[0]

    DuckDB.evaluate_all = watched  # type: ignore[method-assign]
    whole, beside = [], []
    for _ in range(ROUNDS):
        whole.append(timed(lambda: curator.describe("t", epsilon=1, fresh=True)))
        beside.append(timed(lambda: plain(folder / "plain.db")))
    DuckDB.evaluate_all = evaluate_all  # type: ignore[method-assign]
    (clock, cpu), (own, own_cpu), (base, base_cpu) = (
        tuple(map(min, zip(*found, strict=True))) for found in (whole, engine, beside)
    )
    print(f"describe rows {size:>9,} columns {len(COLUMNS)} max_rows {max_rows}: plain {base:.2f} s "
          f"({base_cpu:.2f} of CPU), describe {clock:.2f} s ({cpu:.2f}), of it the engine {own:.2f} s ({own_cpu:.2f}), "
          f"ratio {clock / base:.2f} (CPU {cpu / base_cpu:.2f})", flush=True)


def main(size: int) -> None:
    made = ", ".join(f"{text} AS {name}" for name, (_, text) in COLUMNS.items())
    for max_rows in (4, 10):
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            with duckdb.connect(str(folder / "plain.db")) as connection:
                connection.execute(f"CREATE TABLE t AS SELECT {made} FROM range({size}) AS rows(i)")
                connection.execute(f"COPY t TO '{folder / 'rows.parquet'}' (FORMAT parquet)")
            measure(folder, size, max_rows)


if __name__ == "__main__":
    main(int(float(sys.argv[1])) if len(sys.argv) > 1 else 10**6)
