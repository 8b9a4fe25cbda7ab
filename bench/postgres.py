"""A refresh from PostgreSQL beside a plain COPY of the same columns to nowhere: walls, processor seconds, peak memory.

    python bench/postgres.py [ROWS ...]        10^6 and 10^7 rows of five columns; a server is started for it

COPY is psql's, in text, to /dev/null: what the server and the wire take by themselves. Its processor seconds are
psql's, ours those of the process that refreshes; the server's own, on another core, are in both walls.
"""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "support"))

COLUMNS = {"who": "text", "age": "integer", "cost": "float", "day": "date", "at": "timestamp"}
TABLE = """CREATE TABLE visits AS SELECT 'p' || i % 100000 AS who, (i % 90)::int AS age,
    (i * 1.25)::numeric(12, 2) AS cost, DATE '2020-01-01' + i % 1000 AS day,
    TIMESTAMPTZ '2020-01-01' + i * INTERVAL '1 second' AS at
    FROM generate_series(1, {}) i"""


def ours(folder: Path) -> None:
    from dpcurator.catalog.load import load
    from dpcurator.snapshot.refresh import refresh

    place = {"dsn": "env:BENCH_DSN", "table": "visits"}
    table = {"unit": "who", "max_total": 10, "columns": COLUMNS, "postgres": place}
    raw = {"curator": {"protects": "people", "threads": 2}, "ledger": {"epsilon": 1}, "tables": {"t": table}}
    declaration = load(raw, directory=folder)
    start = time.perf_counter(), time.process_time()
    refresh(declaration)
    wall, processor = time.perf_counter() - start[0], time.process_time() - start[1]
    print(wall, processor, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)


def plain(programs: Path, dsn: str) -> tuple[float, float]:
    copy = f"COPY (SELECT {', '.join(COLUMNS)} FROM visits) TO STDOUT"
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    subprocess.run([str(programs / "psql"), dsn, "-qc", copy], stdout=subprocess.DEVNULL, check=True)
    wall, after = time.perf_counter() - start, resource.getrusage(resource.RUSAGE_CHILDREN)
    return wall, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main(sizes: list[int]) -> None:
    from postgres_server import running

    print(f"{'rows':>10}{'COPY':>10}{'refresh':>10}{'of walls':>10}{'COPY cpu':>10}{'our cpu':>10}{'peak MiB':>10}")
    with running() as server:
        for size in sizes:
            server.run("DROP TABLE IF EXISTS visits", TABLE.format(size), "VACUUM ANALYZE visits")
            copied = plain(server.programs, server.dsn())
            with tempfile.TemporaryDirectory() as folder:
                ran = subprocess.run([sys.executable, __file__, "ours", folder], capture_output=True, text=True,
                                     env={**os.environ, "BENCH_DSN": server.dsn()})
            if ran.returncode:
                raise SystemExit(ran.stderr)
            wall, processor, peak = (float(word) for word in ran.stdout.split())
            print(f"{size:10,}{copied[0]:8.2f} s{wall:8.2f} s{wall / copied[0]:10.2f}{copied[1]:8.2f} s"
                  f"{processor:8.2f} s{peak:10.0f}", flush=True)


if __name__ == "__main__":
    if sys.argv[1:2] == ["ours"]:
        ours(Path(sys.argv[2]))
    else:
        main([int(float(word)) for word in sys.argv[1:]] or [10**6, 10**7])
