"""Aggregates beyond count, sum and mean, by 100 keys, against our own n, mean and the plain query on the same file.

    python bench/aggregates.py [rows ...]     by default 10^6 and 10^7

The file of bench/group_by.py: ten rows a unit, in at most three of its keys, the value a whole number from 0 to 110 or
a float to 20,000. One line a measurement, in seconds of processor time, which other programs on the machine disturb
least: the least of three runs of each, taken in turns. Targets: n, mean, standard deviation at most 1.2 times n, mean,
and 2 times the plain GROUP BY unit, key. A median is of whole numbers from 0 to 1,000; beside it are GROUP BY key,
value, which is all it takes where nobody is protected (target: 2 times), and what bounding needs besides.
"""

from __future__ import annotations

import sys
import tempfile
import time
from collections.abc import Callable, Mapping
from fractions import Fraction
from pathlib import Path
from typing import Any

import duckdb

from dpcurator.aggregates import AGGREGATES
from dpcurator.catalog.model import Catalog, Column, Table
from dpcurator.engines.duckdb.engine import DuckDB
from dpcurator.fronts.sql import parse
from dpcurator.plan.bind import bind
from dpcurator.pricing.quote import price
from group_by import write

COLUMNS = (
    Column("unit", "integer"), Column("unit_text", "text"), Column("k", "integer", keys=tuple(range(100))),
    Column("key_text", "text"), Column("whole", "integer", Fraction(0), Fraction(110)),
    Column("real", "float", Fraction(0), Fraction(20000)), Column("value", "integer", Fraction(0), Fraction(1000)),
)
PLAIN = "SELECT count(*), sum(r), sum(s) FROM (SELECT c0, c2, count(*) AS r, sum({0}) AS s FROM {1} GROUP BY c0, c2)"
VALUES = "SELECT count(*), sum(r) FROM (SELECT c0, c2, c4, count(*) AS r FROM {0} GROUP BY c0, c2, c4)"
ITEMS = {"n, mean": "COUNT(*), AVG({0})", "n, mean, stddev": "COUNT(*), AVG({0}), STDDEV({0})"}


def ours(engine: DuckDB, items: str, max_rows: int, max_groups: int) -> Callable[[], object]:
    """What an answer's integers take, at a price whose grid people use."""
    table = Table("t", COLUMNS, "unit", max_rows=max_rows, max_groups=max_groups)
    catalog = Catalog("people", "add-remove", None, Fraction(10), Fraction(0), (table,), "c" * 64, 1)
    plan = bind(parse(f"SELECT k, {items} FROM t GROUP BY k"), catalog, AGGREGATES)
    core = price(plan, Fraction(1), catalog).lowered.core
    return lambda: engine.evaluate(core)


def least(works: Mapping[str, Callable[[], object]], rounds: int = 3) -> dict[str, float]:
    """Seconds of processor time of each, all threads together."""
    found: dict[str, float] = {}
    for _ in range(rounds):
        for name, work in works.items():
            start = time.process_time()
            work()
            found[name] = min(found.get(name, float("inf")), time.process_time() - start)
    return found


def median(engine: DuckDB, plain: Any, size: int, caps: tuple[int, int]) -> None:
    """The median of c6 by c2."""
    keys = {"key, value": "c2, c6", "unit, key": "c0, c2", "unit, key, value": "c0, c2, c6"}
    works: dict[str, Callable[[], object]] = {
        name: lambda listed=listed: plain.execute(
            f"SELECT count(*), sum(r) FROM (SELECT {listed}, count(*) AS r FROM snapshot.main.t0 GROUP BY {listed})"
        ).fetchall() for name, listed in keys.items()
    }
    took = least(works | {"median": ours(engine, "MEDIAN(value)", *caps)})
    ratios = ", ".join(f"{took['median'] / took[name]:.2f} of GROUP BY {name}" for name in keys)
    named = f"aggregates rows {size:>10,} median max_rows {caps[0]} max_groups {caps[1]}"
    print(f"{named}: {took['median']:.2f} s, {ratios}", flush=True)


def main(sizes: list[int]) -> None:
    for size in sizes:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "snapshot.db"
            write(path, size)
            with duckdb.connect(str(path)) as connection:
                connection.execute("ALTER TABLE t0 ADD COLUMN c6 BIGINT")
                connection.execute("UPDATE t0 SET c6 = hash(c0, c2, c4, c5) % 1001")
            engine, plain = DuckDB(path), duckdb.connect()
            plain.execute(f"ATTACH '{path}' AS snapshot (READ_ONLY)")
            for name, stored in (("whole", "c4"), ("real", "c5")):
                for caps in ((4, 3), (1, 1)):
                    measure(engine, plain, size, (name, stored), caps)
            for caps in ((4, 3), (1, 1)):
                median(engine, plain, size, caps)
            plain.close()


def measure(engine: DuckDB, plain: Any, size: int, value: tuple[str, str], caps: tuple[int, int]) -> None:
    name, stored = value
    works = {title: ours(engine, items.format(name), *caps) for title, items in ITEMS.items()}
    works["plain"] = lambda: plain.execute(PLAIN.format(stored, "snapshot.main.t0")).fetchall()
    took = least(works)
    all_three = took["n, mean, stddev"]
    if name == "whole":
        values(engine, plain, size, caps)
    print(
        f"aggregates rows {size:>10,} value {name:<5} max_rows {caps[0]} max_groups {caps[1]}: "
        f"plain {took['plain']:.2f} s, n, mean {took['n, mean']:.2f} s, n, mean, stddev {all_three:.2f} s, "
        f"ratios {all_three / took['n, mean']:.2f} and {all_three / took['plain']:.2f}",
        flush=True,
    )


def values(engine: DuckDB, plain: Any, size: int, caps: tuple[int, int]) -> None:
    """COUNT(DISTINCT x): of each unit as many values as its caps allow."""
    took = least({"ours": ours(engine, "COUNT(DISTINCT whole)", *caps),
                  "plain": lambda: plain.execute(VALUES.format("snapshot.main.t0")).fetchall()})
    print(
        f"aggregates rows {size:>10,} different values max_rows {caps[0]} max_groups {caps[1]}: plain "
        f"{took['plain']:.2f} s, COUNT(DISTINCT x) {took['ours']:.2f} s, ratio {took['ours'] / took['plain']:.2f}",
        flush=True,
    )


if __name__ == "__main__":
    main([int(float(word)) for word in sys.argv[1:]] or [10**6, 10**7])
