"""A refresh of one table from Parquet, a DuckDB table or view, data frames and CSV, beside a plain copy.

    python bench/refresh.py [rows ...] [sources ...] [runs=N] [memory=MiB]     by default 10^6 and 10^7, once, 1536

Five columns: a whole-number unit, a whole number, a float, a text of a hundred, a date. Each line is measured in two
processes of its own, DuckDB's copy and the refresh, by turns: processor seconds of both, the least of the runs, and
their ratio, the wall's, and the greatest peak memory of the refresh.  Beside typed sources stands `CREATE TABLE AS
SELECT` of the same columns; beside CSV files `read_csv(all_varchar = true)` into a table, which leaves types undecided.
"quoted" CSV has two quoted fields a line; "odd" CSV has whole numbers with blanks and zeros before them.
"""

from __future__ import annotations

import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import duckdb

COLUMNS = {"unit": "integer", "age": "integer", "cost": "float", "city": "text", "day": "date"}
ROWS = (
    "SELECT (hash(i) % {units})::BIGINT AS unit, (hash(i + 1) % 100)::BIGINT AS age, "
    "(hash(i + 2) % 2000000)::DOUBLE / 100 AS cost, 'city' || (hash(i + 3) % 100) AS city, "
    "DATE '2020-01-01' + (hash(i + 4) % 1500)::INTEGER AS day FROM range({rows}) t(i)"
)
COPY = {"parquet": "rows.parquet", "csv": "rows.csv", "quoted csv": "quoted.csv", "odd csv": "odd.csv"}
RELATIONS = {"duckdb table": "rows", "duckdb view": "shown"}
SOURCES = (
    "parquet", "duckdb table", "duckdb view", "arrow frame", "pandas frame", "polars frame", "csv", "quoted csv",
    "odd csv",
)


def write(folder: Path, size: int) -> None:
    with duckdb.connect(str(folder / "rows.duckdb")) as connection:
        connection.execute("SET threads = 2")
        connection.execute(f"CREATE TABLE rows AS {ROWS.format(units=max(1, size // 10), rows=size)}")
        connection.execute("CREATE VIEW shown AS SELECT * FROM rows WHERE unit >= 0")
        connection.execute(f"COPY rows TO '{folder}/rows.parquet' (FORMAT parquet)")
        connection.execute(f"COPY rows TO '{folder}/rows.csv' (FORMAT csv, HEADER)")
        connection.execute(f"COPY rows TO '{folder}/quoted.csv' (FORMAT csv, HEADER, FORCE_QUOTE (city, day))")
        odd = "' ' || unit AS unit, lpad(age::VARCHAR, 3, '0') AS age, cost, city, day"
        connection.execute(f"COPY (SELECT {odd} FROM rows) TO '{folder}/odd.csv' (FORMAT csv, HEADER)")


def frame(folder: Path, source: str) -> Any:
    with duckdb.connect() as connection:
        found = connection.execute(f"SELECT * FROM '{folder}/rows.parquet'")
        if source == "pandas frame":
            return found.df()
        rows = found.to_arrow_table()
    if source == "arrow frame":
        return rows
    import polars

    return polars.from_arrow(rows)


def plain(folder: Path, source: str, _: int) -> None:
    """DuckDB's own copy."""
    rows = frame(folder, source) if source.endswith("frame") else None
    start = _clock()
    with duckdb.connect(str(folder / "copy.duckdb")) as connection:
        connection.execute("SET threads = 2")
        if source in RELATIONS:
            connection.execute(f"ATTACH '{folder}/rows.duckdb' AS source (READ_ONLY)")
            place = f"source.{RELATIONS[source]}"
        elif rows is not None:
            connection.register("frame", rows)
            place = "frame"
        else:
            reader = "read_csv('{}', all_varchar = true)" if source.endswith("csv") else "'{}'"
            place = reader.format(folder / COPY[source])
        connection.execute(f"CREATE TABLE t AS SELECT * FROM {place}")
    _tell(start)


def ours(folder: Path, source: str, memory: int) -> None:
    from dpcurator.catalog.load import load
    from dpcurator.snapshot.refresh import refresh

    rows = frame(folder, source) if source.endswith("frame") else None
    table: dict[str, Any] = {"unit": "unit", "max_total": 10, "columns": COLUMNS}
    if source in RELATIONS:
        table["duckdb"] = {"file": "rows.duckdb", "table": RELATIONS[source]}
    elif rows is None:
        table["file"] = COPY[source]
    raw = {"curator": {"protects": "people", "threads": 2, "memory": memory},
           "ledger": {"epsilon": 1}, "tables": {"t": table}}
    declaration = load(raw, directory=folder)
    start = _clock()
    refresh(declaration, None if rows is None else {"t": rows})
    _tell(start)


def _clock() -> tuple[float, float]:
    return time.perf_counter(), time.process_time()


def _tell(start: tuple[float, float]) -> None:
    wall, processor = (now - then for now, then in zip(_clock(), start, strict=True))
    print(wall, processor, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)


def measured(folder: Path, who: str, source: str, memory: int) -> list[float]:
    for leaving in folder.glob("copy.duckdb*"):
        leaving.unlink()
    command = [sys.executable, __file__, who, str(folder), source, str(memory)]
    ran = subprocess.run(command, capture_output=True, text=True)
    if ran.returncode:
        raise SystemExit(ran.stderr)
    return [float(word) for word in ran.stdout.split()]


def main(sizes: list[int], sources: tuple[str, ...], runs: int, memory: int) -> None:
    print(f"{'rows':>10}  {'source':14}{'DuckDB':>10}{'refresh':>10}{'ratio':>8}{'of walls':>10}{'peak MiB':>10}")
    for size in sizes:
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            write(folder, size)
            for source in sources:
                turns = [[measured(folder, who, source, memory) for who in ("plain", "ours")] for _ in range(runs)]
                base, found = ([min(one[part] for one in some) for part in (0, 1)] for some in zip(*turns, strict=True))
                found.append(max(one[1][2] for one in turns))
                print(f"{size:10,}  {source:14}{base[1]:8.2f} s{found[1]:8.2f} s{found[1] / base[1]:8.2f}"
                      f"{found[0] / base[0]:10.2f}{found[2]:10.0f}", flush=True)


if __name__ == "__main__":
    given = [word for word in sys.argv[1:] if "=" not in word]
    said = dict(word.split("=", 1) for word in sys.argv[1:] if "=" in word)
    if given and given[0] in ("plain", "ours"):
        {"plain": plain, "ours": ours}[given[0]](Path(given[1]), given[2], int(given[3]))
    else:
        named = tuple(source for source in SOURCES if source in given)
        main([int(float(word)) for word in given if word not in SOURCES] or [10**6, 10**7], named or SOURCES,
             int(said.get("runs", 1)), int(said.get("memory", 1536)))
