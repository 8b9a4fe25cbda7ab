"""The Spark engine on `local[2]`: a refresh and questions, their time and the bytes that they shuffle, by size.

    python bench/spark.py [rows ...]     by default 10^6, 10^7 and 3 * 10^7

Ten rows a unit, in at most three of a hundred keys; whole-number units, as in `group_by.py`. Each size is refreshed
from two Parquet files into a dataset, and each question is a statement over it, beside plain Spark SQL's GROUP BY of
unit and key over the same dataset: after each has run once, the least of several runs in turns, by the clock and in
processor seconds of the driver, and of the ratios of a turn the least. Shuffles are counted in the plan that ran, and
their bytes by Spark itself. The integers are compared with those of DuckDB over the same files. Nothing here is for
speed on one machine: what is shown is that both grow linearly, and how many shuffles a question has (docs/scale.md).
"""

from __future__ import annotations

import os
import re
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb

from dpcurator.catalog.declaration import Declaration
from dpcurator.catalog.load import load
from dpcurator.curator.opening import refresh_all, settings_of
from dpcurator.engines.duckdb.engine import DuckDB
from dpcurator.engines.spark.engine import Spark
from dpcurator.engines.spark.session import spark_session
from dpcurator.plan.core import (
    ONE,
    CorePlan,
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
from dpcurator.snapshot.store import open_snapshot

RUNS = 3
ROWS = (
    "SELECT (i * 7919) % {units} AS unit, (((i * 7919) % {units}) * 31 + i // {units} % 3 * 17) % 100 AS key, "
    "(hash(i) % 111)::BIGINT AS age FROM range({first}, {last}) AS t(i)"
)
COLUMNS = {"unit": "integer", "key": {"type": "integer", "keys": list(range(100))},
           "age": {"type": "integer", "bounds": [0, 110]}}


def question(max_rows: int, max_groups: int, max_total: int | None) -> CorePlan:
    """A count, and a mean's two sums, by key, with every unit bounded."""
    columns = (Source("c0", "integer"), Source("c1", "integer"), Source("c2", "integer"))
    keys = tuple((number,) for number in range(100))
    return (Scan("t0", columns), Owner(0), Listed((1,), keys), Measure((Grid(2, "integer", 0, 110, 0, 110, 0),)),
            PerUnit(), ScaleDown(max_rows, max_groups, ONE, max_total),
            Total((Sum("rows"), Sum("present"), Sum("values"))))


QUESTIONS = {"max_rows 4, max_groups 3": question(4, 3, None), "max_rows 10, max_total 10": question(10, 100, 10)}


def driver(session: Any) -> float:
    """Processor seconds of the JVM so far, in which the two tasks run as well."""
    process = session._sc._gateway.jvm.ProcessHandle.current().pid()
    spent = Path(f"/proc/{process}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(spent[11]) + int(spent[12])) / os.sysconf("SC_CLK_TCK")


def shuffled(session: Any) -> int:
    """Bytes written for shuffles by all stages so far."""
    gateway = session._sc._gateway
    stages = session._jsparkSession.sparkContext().statusStore().stageList(
        None, False, False, gateway.new_array(gateway.jvm.double, 0), None)
    return sum(stages.apply(n).shuffleWriteBytes() for n in range(stages.size()))


def exchanges(session: Any, sql: str) -> int:
    """Shuffles in the plan of a statement, as it was planned before it ran."""
    plan = session.sql(sql)._jdf.queryExecution().executedPlan().toString()
    return len(re.findall(r"\bExchange (?:hash|range|single|SinglePartition)", plan))


def measured(session: Any, work: Callable[[], object]) -> tuple[float, float, int]:
    clock, cpu, bytes_before = time.perf_counter(), driver(session), shuffled(session)
    work()
    return time.perf_counter() - clock, driver(session) - cpu, shuffled(session) - bytes_before


def main(sizes: list[int]) -> None:
    for size in sizes:
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            for n in range(2):
                rows = ROWS.format(units=max(1, size // 10), first=n * size // 2, last=(n + 1) * size // 2)
                duckdb.sql(f"COPY ({rows}) TO '{folder / f'rows-{n}.parquet'}' (FORMAT parquet)")
            declaration = declared(folder, engine="spark", spark={"master": "local[2]", "partitions": 8})
            settings = settings_of(declaration)
            session: Any = spark_session(settings.master, settings=settings)
            clock, cpu, moved = measured(session, lambda given=declaration: refresh_all(given))  # type: ignore[misc]
            dataset = open_snapshot(declaration).path
            held = sum(path.stat().st_size for path in dataset.rglob("*.parquet"))
            print(f"{size:>11,} rows, load {os.getloadavg()[0]:.1f}; refresh {clock:.1f} s ({cpu:.1f} of the driver's "
                  f"CPU), {moved / size:.1f} bytes a row shuffled, {held / size:.1f} a row stored", flush=True)
            engine = Spark(dataset, settings=settings)
            told(session, engine, size)
            print(f"{'':12}{same(engine, folder)} of {len(QUESTIONS)} questions have DuckDB's integers", flush=True)


def declared(folder: Path, state: str = ".", **engine: object) -> Declaration:
    (folder / state).mkdir(exist_ok=True)
    return load({
        "curator": {"protects": "people", "threads": 2, "memory": 3000, **engine},
        "ledger": {"epsilon": 1},
        "tables": {"t": {"file": str(folder / "rows-*.parquet"), "unit": "unit", "max_total": 10, "columns": COLUMNS}},
    }, directory=folder / state)


def same(engine: Spark, folder: Path) -> int:
    """How many of the questions have the same integers on DuckDB."""
    declaration = declared(folder, "duckdb")
    refresh_all(declaration)
    beside = DuckDB(open_snapshot(declaration).path, settings=settings_of(declaration))
    return sum(engine.evaluate(core).open_for_release() == beside.evaluate(core).open_for_release()
               for core in QUESTIONS.values())


def told(session: Any, engine: Spark, size: int) -> None:
    view = engine._views["t0"]
    grouped = f"SELECT c0, c1, COUNT(*) AS r, SUM(c2) AS s FROM {view} GROUP BY c0, c1"
    plain = f"SELECT COUNT(*), SUM(r), SUM(s) FROM ({grouped})"
    works: dict[str, tuple[str, Callable[[], object]]] = {
        "plain GROUP BY unit, key": (plain, lambda: session.sql(plain).collect())}
    for named, core in QUESTIONS.items():
        works[named] = (engine.explain(core).sql, lambda core=core: engine.evaluate(core))  # type: ignore[misc]
    for _, work in works.values():
        work()
    turns = [{named: measured(session, work) for named, (_, work) in works.items()} for _ in range(RUNS)]
    for named, (sql, _) in works.items():
        clock, cpu = (min(turn[named][which] for turn in turns) for which in (0, 1))
        ratio, of_cpu = (min(turn[named][which] / turn["plain GROUP BY unit, key"][which] for turn in turns)
                         for which in (0, 1))
        print(f"{'':12}{named:<27}{clock:8.2f} s ({cpu:.2f} of CPU), ratio {ratio:.2f} (CPU {of_cpu:.2f}), "
              f"{exchanges(session, sql)} shuffles, {turns[-1][named][2] / size:.2f} bytes a row", flush=True)


if __name__ == "__main__":
    main([int(float(word)) for word in sys.argv[1:]] or [10**6, 10**7, 3 * 10**7])
