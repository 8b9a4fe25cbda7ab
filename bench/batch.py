"""Ten questions as a batch, against the ten one by one and against ten plain GROUP BYs of unit and key.

    python bench/batch.py [rows ...]     by default 10^5, 10^6 and 10^7

Ten rows a unit, in at most three of 100 listed keys; from charge to stored answer, ledger and noise included. One set
of questions shares rows and groups, so that it is merged into one plan; in the other each has a condition of its own,
so that rows are read and grouped once, and only what follows is done ten times. One line a measurement: the better of
two runs.
"""

from __future__ import annotations

import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import duckdb
import numpy as np
import pyarrow as pa

import dpcurator as dp

CATALOG = {
    "curator": {"protects": "people"},
    "ledger": {"epsilon": 10**6},
    "tables": {
        "visits": {
            "file": "visits.parquet", "unit": "person", "max_rows": 4, "max_groups": 3,
            "columns": {
                "person": "integer",
                "place": {"type": "integer", "keys": list(range(100))},
                "age": {"type": "integer", "bounds": [0, 110]},
                "cost": {"type": "float", "bounds": [0, 20000]},
            },
        }
    },
}
MEASURES = ("COUNT(*)", "COUNT(age)", "SUM(age)", "AVG(age)", "COUNT(cost)", "SUM(cost)", "AVG(cost)",
            "SUM(age), AVG(cost)", "COUNT(DISTINCT person)", "SUM(age) / COUNT(*)")
PLAIN = ("count(*)", "count(age)", "sum(age)", "sum(age), count(age)", "count(cost)", "sum(cost)",
         "sum(cost), count(cost)", "sum(age), sum(cost), count(cost)", "count(*)", "sum(age), count(*)")
SETS = {"of the same rows": [""] * 10, "of rows of their own": [f"WHERE age > {5 * n}" for n in range(10)]}


def write(path: Path, size: int) -> None:
    rng = np.random.default_rng(1)
    person = rng.permutation(np.repeat(np.arange(size // 10), 10))
    places = rng.integers(0, 100, size=(size // 10, 3))
    table = pa.table({
        "person": person, "place": places[person, rng.integers(0, 3, size=size)],
        "age": rng.integers(0, 111, size=size), "cost": rng.random(size) * 20000,
    })
    with duckdb.connect() as connection:
        connection.register("made", table)
        connection.execute(f"COPY made TO '{path}'")


def best(work: Callable[[], object]) -> float:
    """Seconds, the better of two."""
    times = []
    for _ in range(2):
        start = time.perf_counter()
        work()
        times.append(time.perf_counter() - start)
    return min(times)


def main(sizes: list[int]) -> None:
    from dpcurator.catalog.load import load
    from dpcurator.curator.opening import curator_of, refresh_all

    for size in sizes:
        with tempfile.TemporaryDirectory() as folder:
            place = Path(folder)
            write(place / "visits.parquet", size)
            declared = load(CATALOG, directory=place)
            refresh_all(declared)
            curator = curator_of(declared)
            curator.engine()
            (snapshot,) = (place / ".dpcurator").glob("snapshot-*")
            plain = duckdb.connect()
            plain.execute(f"ATTACH '{snapshot}' AS snapshot (READ_ONLY)")
            for name, conditions in SETS.items():
                measure(curator, plain, size, name, conditions)
            plain.close()
            curator.ledger.close()


def measure(curator: dp.Curator, plain: duckdb.DuckDBPyConnection, size: int, name: str, conditions: list[str]) -> None:
    asked = [
        f"SELECT place, {what} FROM visits {where} GROUP BY place"
        for what, where in zip(MEASURES, conditions, strict=True)
    ]
    stored = "(SELECT c0 AS person, c1 AS place, c2 AS age, c3 AS cost FROM snapshot.main.t0)"
    grouped = []
    for what, where in zip(PLAIN, conditions, strict=True):
        named = ", ".join(f"{sum_} AS a{n}" for n, sum_ in enumerate(what.split(", ")))
        every = ", ".join(f"sum(a{n})" for n in range(len(what.split(", "))))  # so that none is optimised away
        inner = f"SELECT person, place, {named} FROM {stored} {where} GROUP BY person, place"
        grouped.append(f"SELECT {every} FROM ({inner})")
    base = best(lambda: [plain.execute(text).fetchall() for text in grouped])
    alone = best(lambda: [curator.ask(text, epsilon="0.1", fresh=True) for text in asked])
    together = best(lambda: curator.batch(asked, epsilon=1, fresh=True))
    print(
        f"batch rows {size:>10,}, 10 questions {name:<20}: 10 GROUP BY {base:.3f} s, 10 asks {alone:.3f} s, "
        f"batch {together:.3f} s, ratio to asks {together / alone:.2f}, to GROUP BY {together / base:.2f}",
        flush=True,
    )


if __name__ == "__main__":
    main([int(float(word)) for word in sys.argv[1:]] or [10**5, 10**6, 10**7])
