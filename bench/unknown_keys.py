"""Counting by keys that nobody lists, with every unit's keys chosen and bounded, against the plain GROUP BY unit, key.

    python bench/unknown_keys.py [rows ...]     by default 10^5 and 10^6

Ten rows a unit, in at most three of as many candidate keys as there are units: a tenth of the rows. One line a
measurement, the better of three runs: the plain query, the engine's exact integers, and selection and noise.
"""

from __future__ import annotations

import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa

import dpcurator as dp

CATALOG = {
    "curator": {"protects": "people", "salt": "00112233445566778899aabbccddeeff"},
    "ledger": {"epsilon": 1000, "delta": "1e-6"},
    "tables": {
        "visits": {
            "file": "visits.parquet", "unit": "person", "max_rows": 4, "max_groups": 2,
            "columns": {
                "person": "integer",
                "place": {"type": "integer", "keys": "unknown"},
                "word": {"type": "text", "keys": "unknown"},
            },
        }
    },
}


def write(path: Path, size: int) -> None:
    """The first keys most often, so that some are shown and most are not."""
    rng = np.random.default_rng(1)
    units = size // 10
    person = rng.permutation(np.repeat(np.arange(units), 10))
    places = (units * rng.random(size=(units, 3)) ** 3).astype(np.int64)
    places[:, 2] = np.arange(units)  # so that every key is a candidate
    drawn = pa.table({"person": person, "place": places[person, rng.integers(0, 3, size=size)]})
    with duckdb.connect() as connection:
        connection.register("drawn", drawn)
        connection.execute(f"COPY (SELECT *, 'place ' || place AS word FROM drawn) TO '{path}'")


def best(work: Callable[[], Any]) -> tuple[float, Any]:
    """Seconds, the better of three, and what the last gave."""
    times = []
    for _ in range(3):
        start = time.perf_counter()
        made = work()
        times.append(time.perf_counter() - start)
    return min(times), made


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
            (snapshot,) = (place / ".dpcurator").glob("snapshot-*")
            plain = duckdb.connect()
            plain.execute(f"ATTACH '{snapshot}' AS snapshot (READ_ONLY)")
            for key, column in (("place", "c1"), ("word", "c2")):
                measure(curator, plain, size, key, column)
            plain.close()
            curator.ledger.close()


def measure(curator: dp.Curator, plain: duckdb.DuckDBPyConnection, size: int, key: str, column: str) -> None:
    from dpcurator.release.release import release

    grouped = f"SELECT c0, {column} AS key, count(*) AS n FROM snapshot.main.t0 GROUP BY c0, {column}"
    whole = f"SELECT key, count(*), sum(n) FROM ({grouped}) GROUP BY key"
    quote = curator.quote(f"SELECT {key}, COUNT(*) AS n FROM visits GROUP BY {key}", epsilon=1, delta="1e-8")
    engine = curator.engine()
    base, groups = best(lambda: plain.execute(whole).fetchall())
    exact_in, exact = best(lambda: engine.evaluate(quote.lowered.core))
    noise_in, noisy = best(lambda: release(quote, exact, curator.entropy))
    print(
        f"unknown_keys rows {size:>9,} {key:<5} candidates {len(groups):>7,}: plain {base:.3f} s, bounded "
        f"{exact_in:.3f} s, ratio {exact_in / base:.2f}, selection and noise {noise_in:.3f} s, "
        f"{len(noisy.keys):,} keys shown",
        flush=True,
    )


if __name__ == "__main__":
    main([int(float(word)) for word in sys.argv[1:]] or [10**5, 10**6])
