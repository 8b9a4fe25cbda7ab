"""A table that is larger than the memory given: refreshed from Parquet files, then grouped, on two threads.

    python bench/out_of_core.py [rows] [files] [text]     by default 10^8 rows in 10 files, whole-number units

The five columns of `refresh.py`, ten rows a unit, written by DuckDB into as many Parquet files. The refresh and the
question, a count and a mean by a hundred keys under a cap of ten rows a unit, each run in a process of its own with the
memory that a catalog gives by default. Told are wall and processor seconds, the peak memory of the process with all
that it started, the largest temporary files, and what is left in the curator's directory. "text": units are texts of
twelve letters. Everything is removed afterwards.
"""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import Any

import duckdb

from refresh import COLUMNS, ROWS

EVERY: float = 0.2  # seconds between two looks at memory and files
QUESTION = "SELECT city, COUNT(*) AS n, AVG(age) AS age FROM t GROUP BY city"


def catalog(unit: str) -> dict[str, Any]:
    keys = [f"city{i}" for i in range(100)]
    columns: dict[str, Any] = COLUMNS | {
        "unit": unit, "age": {"type": "integer", "bounds": [0, 99]}, "city": {"type": "text", "keys": keys}}
    table = {"file": "rows-*.parquet", "unit": "unit", "max_total": 10, "columns": columns}
    return {"curator": {"protects": "people", "threads": 2}, "ledger": {"epsilon": 1}, "tables": {"t": table}}


def write(folder: Path, size: int, files: int, unit: str) -> None:
    named = "'P' || lpad(unit::VARCHAR, 11, '0') AS unit, age, cost, city, day" if unit == "text" else "*"
    step = -(-size // files)
    with duckdb.connect() as connection:
        connection.execute("SET threads = 2")
        for n, start in enumerate(range(0, size, step)):
            rows = ROWS.format(units=max(1, size // 10), rows=f"{start}, {min(size, start + step)}")
            place = folder / f"rows-{n:03}.parquet"
            connection.execute(f"COPY (SELECT {named} FROM ({rows})) TO '{place}' (FORMAT parquet)")


def run(folder: Path, what: str, unit: str) -> None:
    """A refresh or a question, in a process of its own."""
    import dpcurator as dp
    from dpcurator.catalog.load import load
    from dpcurator.curator.opening import refresh_all

    start, processor = time.perf_counter(), time.process_time()
    if what == "refresh":
        told = f"{refresh_all(load(catalog(unit), directory=folder)).tables[0].rows:,} rows"
    else:
        told = f"{len(dp.open(catalog(unit), directory=folder).ask(QUESTION, spend='20%').rows)} groups"
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    processor = time.process_time() - processor + children.ru_utime + children.ru_stime
    print(f"{told:18}{time.perf_counter() - start:10.1f}{processor:12.1f}", end="")


def resident(process: int) -> int:
    """Bytes in memory of a process and of those that it started."""
    try:
        started = Path(f"/proc/{process}/task/{process}/children").read_text().split()
        own = int(Path(f"/proc/{process}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, IndexError):
        return 0
    return own + sum(resident(int(child)) for child in started)


def temporary(state: Path) -> int:
    """Bytes of spilled files, wherever they are below the curator's directory."""
    found = 0
    for path in state.rglob("*"):
        try:
            found += path.stat().st_size if ".tmp" in path.suffix or "spill" in str(path.relative_to(state)) else 0
        except OSError:
            continue
    return found


def watched(folder: Path, what: str, unit: str) -> None:
    started = subprocess.Popen([sys.executable, __file__, what, str(folder), unit], stdout=subprocess.PIPE, text=True)
    most = [0, 0]

    def look() -> None:
        while started.poll() is None:
            most[0] = max(most[0], resident(started.pid))
            most[1] = max(most[1], temporary(folder / ".dpcurator"))
            time.sleep(EVERY)

    watcher = threading.Thread(target=look)
    watcher.start()
    told, _ = started.communicate()
    watcher.join()
    if started.returncode:
        raise SystemExit(f"{what} failed: {started.returncode}")
    left = sorted(path.name for path in (folder / ".dpcurator").iterdir())
    print(f"{what:10}{told}{most[0] / 2**20:12,.0f}{most[1] / 2**20:14,.0f}  left: {', '.join(left)}", flush=True)


def main(size: int, files: int, unit: str) -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write(folder, size, files, unit)
        held = sum(path.stat().st_size for path in folder.glob("*.parquet"))
        print(f"{size:,} rows, {unit} units, {files} files of {held / 2**20:,.0f} MiB; load {os.getloadavg()[0]:.1f}")
        print(f"{'':10}{'':18}{'wall s':>10}{'CPU s':>12}{'peak MiB':>12}{'temporary MiB':>14}", flush=True)
        for what in ("refresh", "question"):
            watched(folder, what, unit)


if __name__ == "__main__":
    given = sys.argv[1:]
    if given and given[0] in ("refresh", "question"):
        run(Path(given[1]), given[0], given[2])
    else:
        numbers = [int(float(word)) for word in given if word != "text"]
        main(*(numbers + [10**8, 10][len(numbers):]), "text" if "text" in given else "integer")
