"""Questions over relations with every person bounded, beside the plain query that does the same and protects nobody.

    python bench/relations.py [rows ...]      by default 10^6 and 10^7
    python bench/relations.py --memory rows   peak memory of each, in processes of their own

A tenth as many people as rows. Three works, each with a public list of keys and 20 rows of a person counted in all:
    totals    the mean over people of their sum of costs, by 100 keys          nested GROUP BY
    public    count and mean by the region of 10^4 places, a public join       the join, then GROUP BY unit, region
    patients  count and mean by the region of the patient, a join on the unit  the join, then GROUP BY unit, region
Ten rows a person, once of at most three keys and places, as in `group_by.py`, and once of as many as there are rows.
One line a work: processor seconds and wall seconds, the least of five runs each, taken in turns. Target: 1.5 times.
"""

from __future__ import annotations

import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import duckdb

from dpcurator.aggregates import AGGREGATES
from dpcurator.catalog.bind import PublicFacts, catalog_of
from dpcurator.catalog.load import load
from dpcurator.engines.duckdb.engine import DuckDB
from dpcurator.engines.settings import Settings
from dpcurator.fronts.sql import parse
from dpcurator.plan.bind import bind
from dpcurator.plan.core import CorePlan
from dpcurator.pricing.quote import price

PLACES, REGIONS = 10_000, [f"region {n}" for n in range(20)]
DECLARED = {
    "curator": {"protects": "patients", "salt": "0" * 32}, "ledger": {"epsilon": 10},
    "tables": {
        "visits": {"unit": "pid", "max_total": 20, "columns": {
            "pid": "integer", "key": {"type": "integer", "keys": list(range(100))}, "place": "integer",
            "cost": {"type": "float", "bounds": [0, 1000]}}},
        "patients": {"unit": "pid", "one_row_per": ["pid"], "columns": {
            "pid": "integer", "region": {"type": "text", "keys": REGIONS}}},
        "places": {"public": True, "columns": {"place": "integer", "region": "text"}},
    },
}
FACTS = PublicFacts(
    1, ((("places", "region"), tuple(REGIONS)),), frozenset({("places", "place")}),
    ((("places", "place"), 1), (("places", "region"), PLACES)),
)
WORKS = {
    "totals": (
        "SELECT key, AVG(CLIP(total, 0, 20000)) FROM (SELECT pid, key, SUM(cost) AS total FROM visits "
        "GROUP BY pid, key) GROUP BY key",
        "SELECT c1, avg(s) FROM (SELECT c0, c1, sum(c3) AS s FROM t0 GROUP BY c0, c1) GROUP BY c1",
    ),
    "public": (
        "SELECT region, COUNT(*), AVG(cost) FROM visits JOIN places USING (place) GROUP BY region",
        "SELECT k, sum(r), sum(s) FROM (SELECT t0.c0, t2.c1 AS k, count(*) AS r, sum(t0.c3) AS s "
        "FROM t0 JOIN t2 ON t0.c2 = t2.c0 GROUP BY t0.c0, t2.c1) GROUP BY k",
    ),
    "patients": (
        "SELECT region, COUNT(*), AVG(cost) FROM visits JOIN patients USING (pid) GROUP BY region",
        "SELECT k, sum(r), sum(s) FROM (SELECT t0.c0, t1.c1 AS k, count(*) AS r, sum(t0.c3) AS s "
        "FROM t0 JOIN t1 ON t0.c0 = t1.c0 GROUP BY t0.c0, t1.c1) GROUP BY k",
    ),
}


def core_of(text: str) -> CorePlan:
    """What an engine runs of a question, as it is asked."""
    catalog = catalog_of(load(DECLARED), FACTS)
    return price(bind(parse(text), catalog, AGGREGATES), Fraction(1), catalog).lowered.core


def write(path: Path, size: int, few: int = 3) -> None:
    people = size // 10
    with duckdb.connect(str(path)) as connection:
        person = f"hash(i) % {people}"
        one_of = f"hash({person} * {few} + hash(i + 7) % {few})"  # each person has so many keys and places
        connection.execute(
            f"CREATE TABLE t0 AS SELECT {person} AS c0, {one_of} % 100 AS c1, hash({one_of}) % {PLACES} AS c2, "
            f"(hash(i + 29) % 1000000) / 1000.0 AS c3 FROM range({size}) AS r(i)")
        for column in ("c0", "c1", "c2"):
            connection.execute(f"ALTER TABLE t0 ALTER {column} TYPE BIGINT")
        connection.execute("ALTER TABLE t0 ALTER c3 TYPE DOUBLE")
        for table, size_ in (("t1", people), ("t2", PLACES)):
            connection.execute(f"CREATE TABLE {table} AS SELECT i AS c0, 'region ' || hash(i) % 20 AS c1 "
                               f"FROM range({size_}) AS r(i)")


def opened(path: Path) -> tuple[DuckDB, duckdb.DuckDBPyConnection]:
    settings = Settings(memory=8 << 30)
    plain = duckdb.connect(config={"threads": settings.threads})
    plain.execute(f"ATTACH '{path}' AS snapshot (READ_ONLY)")
    plain.execute("USE snapshot")
    return DuckDB(path, settings=settings), plain


def seconds(work: Callable[[], object]) -> tuple[float, float]:
    """Of the processor and of the clock."""
    used, begun = resource.getrusage(resource.RUSAGE_SELF), time.perf_counter()
    work()
    after = resource.getrusage(resource.RUSAGE_SELF)
    return after.ru_utime + after.ru_stime - used.ru_utime - used.ru_stime, time.perf_counter() - begun


def measure(path: Path, size: int, few: int, runs: int = 5) -> None:
    engine, plain = opened(path)
    for name, (text, same) in WORKS.items():
        core = core_of(text)
        taken: list[list[tuple[float, float]]] = [[], []]
        for _ in range(runs):
            taken[0].append(seconds(lambda same=same: plain.execute(same).fetchall()))  # type: ignore[misc]
            taken[1].append(seconds(lambda core=core: engine.evaluate(core)))  # type: ignore[misc]
        (cpu, wall), (our_cpu, our_wall) = ([min(one) for one in zip(*some, strict=True)] for some in taken)
        print(f"relations rows {size:>10,} keys of a person {few:>4} {name:<8} "
              f"plain {cpu:.2f} s ({wall:.2f} s), bounded {our_cpu:.2f} s "
              f"({our_wall:.2f} s), ratio {our_cpu / cpu:.2f} ({our_wall / wall:.2f})", flush=True)


def memory(size: int) -> None:
    """Peak resident memory of one run in a process of its own, without what reading the imports takes."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "snapshot.db"
        write(path, size)
        for name in WORKS:
            peaks = [int(subprocess.run([sys.executable, __file__, "--one", str(path), name, how], check=True,
                                        capture_output=True, text=True).stdout) for how in ("plain", "bounded")]
            print(f"relations rows {size:>10,} {name:<8} peak memory plain {peaks[0] // 1024} MiB, bounded "
                  f"{peaks[1] // 1024} MiB, ratio {peaks[1] / peaks[0]:.2f}", flush=True)


def one(path: str, name: str, how: str) -> None:
    """Print the peak of one run, in KiB."""
    engine, plain = opened(Path(path))
    text, same = WORKS[name]
    core: Any = core_of(text)
    if how == "plain":
        plain.execute(same).fetchall()
    else:
        engine.evaluate(core)
    print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)


def main(words: list[str]) -> None:
    if words[:1] == ["--one"]:
        one(*words[1:])
        return
    if words[:1] == ["--memory"]:
        memory(int(float(words[1])))
        return
    for size in [int(float(word)) for word in words] or [10**6, 10**7]:
        with tempfile.TemporaryDirectory() as folder:
            for few in (3, 1000):
                path = Path(folder) / f"snapshot-{few}.db"
                write(path, size, few)
                measure(path, size, few)


if __name__ == "__main__":
    main(sys.argv[1:])
