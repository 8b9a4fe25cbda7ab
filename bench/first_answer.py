"""From a standing start to the first answer on 1,000 rows, as whole processes; beside the plain query in DuckDB.

    python bench/first_answer.py [runs]     by default 7

One line a measurement: the median wall time, the median user CPU time (steadier on a busy machine), and the ratio of
CPU times to the plain query's. Peers are measured up to `import`, where they can be imported: what they then need to
answer differs. The targets are .7 s to an answer and .2 s for `import dpcurator` (design 9), on an idle core.
"""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
import tempfile
import time
from importlib.util import find_spec
from pathlib import Path
from statistics import median

CATALOG = """\
[curator]
protects = "people"
[ledger]
epsilon = 1000
[tables.visits]
file = "visits.csv"
unit = "person"
max_rows = 4
max_groups = 2
[tables.visits.columns]
person = "integer"
city = { type = "text", keys = ["a", "b", "c", "d"] }
age = { type = "integer", bounds = [0, 110] }
"""
QUESTION = "SELECT city, COUNT(*) AS n, AVG(age) AS age FROM visits GROUP BY city"
PLAIN = f'import duckdb; print(duckdb.sql("{QUESTION.replace("visits", chr(39) + "visits.csv" + chr(39))}").fetchall())'
PEERS = ("opendp", "dp_accounting", "snsql", "diffprivlib", "pipeline_dp")


def measure(command: list[str], place: Path, runs: int) -> tuple[float, float]:
    """Median seconds of wall and of user CPU."""
    wall: list[float] = []
    user: list[float] = []
    for _ in range(runs + 1):  # the first one warms the file cache
        before, start = os.times().children_user, time.perf_counter()
        subprocess.run(command, cwd=place, check=True, capture_output=True)
        wall.append(time.perf_counter() - start)
        user.append(os.times().children_user - before)
    return median(wall[1:]), median(user[1:])


def quote_again(place: Path, runs: int) -> float:
    """Median seconds of a quote once the process is warm."""
    import dpcurator as dp

    with contextlib.chdir(place):
        curator = dp.open("curator.toml")
        curator.quote(QUESTION, epsilon=1)
        times: list[float] = []
        for number in range(runs):
            start = time.perf_counter()
            curator.quote(QUESTION, epsilon=f"0.{number + 1}")
            times.append(time.perf_counter() - start)
    return median(times)


def main(runs: int) -> None:
    here = Path(sys.executable).parent / "dpcurator"
    shell = [str(here)] if here.exists() else [sys.executable, "-c", "from dpcurator.cli import main; main()"]
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        rows = [f"{number % 400},{'abcd'[number % 4]},{number % 90}\n" for number in range(1000)]
        (place / "visits.csv").write_text("person,city,age\n" + "".join(rows), encoding="utf-8")
        (place / "curator.toml").write_text(CATALOG, encoding="utf-8")
        subprocess.run([*shell, "refresh"], cwd=place, check=True, capture_output=True)
        python = [sys.executable, "-c"]
        _, plain = baseline = measure([*python, PLAIN], place, runs)
        tasks = {
            "plain query in DuckDB": baseline,
            "import dpcurator": measure([*python, "import dpcurator"], place, runs),
            "dpcurator quote": measure([*shell, "quote", QUESTION, "--epsilon", "1"], place, runs),
            "dpcurator ask (fresh answer)": measure(
                [*shell, "ask", QUESTION, "--epsilon", "1", "--fresh"], place, runs
            ),
        }
        for peer in PEERS:
            if find_spec(peer) is not None:
                tasks[f"import {peer}"] = measure([*python, f"import {peer}"], place, runs)
        for name, (wall, user) in tasks.items():
            print(f"{name:30} {wall:6.3f} s wall {user:6.3f} s user   {user / plain:5.1f} x plain")
        print(f"{'quote, process warm':30} {quote_again(place, runs):6.3f} s wall")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 7)
