"""A1: no accepted question's memory or end depends on data; what might is refused from public facts, before the charge.

Each attack runs in a process of its own that the operating system holds to 2.5 GiB, over rows as large as the catalog
lets them be: every text at its max_length, in letters of four bytes.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

resource = pytest.importorskip("resource", reason="limits of the operating system are POSIX's")
if not sys.platform.startswith("linux"):
    pytest.skip("RLIMIT_AS holds a process to its memory on Linux alone", allow_module_level=True)

LIMIT = 5 * 2**29  # bytes: 2.5 GiB
BASE = 768  # MiB of Python, DuckDB and the snapshot's blocks, of which a question uses nothing
CATALOG: dict[str, Any] = {
    "curator": {"protects": "people", "threads": 2, "memory": 1024}, "ledger": {"epsilon": 1},
    "tables": {"v": {"unit": "who", "max_rows": 1, "max_groups": 1, "columns": {
        "who": "text", "city": "text", "t": {"type": "text", "max_length": 20},
        "note": {"type": "text", "max_length": 8000}, "n": {"type": "integer", "bounds": [0, 100]}}}},
}
CHILD = """
import json, resource, sys
resource.setrlimit(resource.RLIMIT_AS, (LIMIT, LIMIT))
import dpcurator as dp
given = json.loads(sys.stdin.read())
size, bob = given["rows"], given["bob"]
wide = "\\U0001F600"
rows = {"who": [f"{wide * 490}{i}" for i in range(size)], "city": [wide * 500] * size, "t": [wide * 20] * size,
        "note": [wide * 8000] * size, "n": [1] * size}
if bob:
    for name, value in {"who": "bob", "city": "x" * 500, "t": "x" * 20, "note": "x" * 8000, "n": 1}.items():
        rows[name].append(value)
curator = dp.open(given["catalog"], directory=given["directory"], v=rows)
def peak():
    return int(next(line for line in open("/proc/self/status") if line.startswith("VmHWM")).split()[1]) // 1024
try:
    open("/proc/self/clear_refs", "w").write("5")
except OSError:
    pass
def ended(ask):
    try:
        ask()
    except dp.Refusal as refused:
        return "refused: " + refused.what
    except dp.Fault:
        curator.reopen()
        return "fault"
    return "answered"
found = []
for question in given["questions"]:
    if isinstance(question, list):
        found.append([ended(lambda: curator.batch(question, epsilon="1e-9")), "", peak()])
    else:
        price = {"epsilon": "1e-9"}
        asked = ended(lambda: curator.ask(question, **price))
        found.append([asked, ended(lambda: curator.rehearse(question, **price)), peak()])
print(json.dumps({"found": found, "life": curator.ledger.life(), "spent": str(curator.budget().spent)}))
"""


def attacked(directory: Path, questions: list[Any], *, rows: int = 1000, bob: bool = False) -> Any:
    """What became of each question, asked and rehearsed, and the process's peak in MiB."""
    directory.mkdir()
    given = {"rows": rows, "bob": bob, "catalog": CATALOG, "directory": str(directory), "questions": questions}
    script = CHILD.replace("LIMIT, LIMIT", f"{LIMIT}, {LIMIT}")
    done = subprocess.run(
        [sys.executable, "-c", script], input=json.dumps(given), capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr[-1000:]
    return json.loads(done.stdout)


def nested(inner: str, times: int, template: str) -> str:
    for number in range(times):
        inner = template.format(inner, number)
    return inner


def either(size: int, template: str) -> str:
    return "SELECT COUNT(*) FROM v WHERE " + " OR ".join(
        template.format(chr(0x1F601 + number), number, chr(97 + number % 26)) for number in range(size)
    )


GROWN = nested("CASE WHEN who = 'bob' THEN 'x' END", 4, "REPLACE({}, 'x', '" + "x" * 16 + "')")
OF_BOB = either(66, f"REPLACE({GROWN}, 'x', '{{0}}{'😀' * 99}') = 'q'")
OF_ALL = "SELECT COUNT(*) FROM v WHERE " + nested("t", 4, "REPLACE({}, 'x', '" + "x" * 50 + "')") + " = 'q'"
REFUSED = {
    "grown for one person alone": OF_BOB,
    "grown for everybody": OF_ALL,
    "a note that is doubled": "SELECT COUNT(note || note) FROM v",
    "many copies": either(60, "REPLACE(city, 'x', '{0}') = 'q'"),
    "long patterns of a long text": "SELECT COUNT(*) FROM v WHERE note LIKE '%a_" + "b%c_" * 50 + "'",
    "many automata": either(40, "t LIKE '%{2}_" + "_" * 20 + "{1}%'"),
    "doubled ten times": "SELECT COUNT(*) FROM v WHERE " + nested("t", 10, "REPLACE({0}, '{1}', 'aaaa')") + " = 'q'",
    "joined ten times": either(1, "||".join(["note"] * 3) + " = 'q'"),
    "a batch that merges into too much": [f"SELECT COUNT(REPLACE(city, 'x', '{n}')) FROM v" for n in range(60)],
}
ACCEPTED: dict[str, Any] = {
    "copies side by side": either(36, "REPLACE(city, '😀', '{0}') = 'q'"),
    "copies in each other": "SELECT COUNT(*) FROM v WHERE " + nested("city", 18, "LTRIM(UPPER({0}))") + " = 'q'",
    "the greatest of many": "SELECT COUNT(*) FROM v WHERE GREATEST("
                            + ", ".join(f"REPLACE(city, '😀', '{n}')" for n in range(10, 19)) + ") = 'q'",
    "reversed": either(6, "REVERSE(LEFT(city, 49{1})) = 'q'"),
    "a long note, folded": "SELECT COUNT(*) FROM v WHERE note ILIKE '%a%b_c%'",
    "a long note, measured": "SELECT SUM(CLIP(LENGTH(TRIM(note)), 0, 10)) FROM v",
    "patterns": either(15, "t LIKE '%{2}_" + "_" * 20 + "{1}%'"),
    "patterns without one": either(30, "city LIKE '%{2}%b%c%{1}'"),
    "grown to the limit": "SELECT COUNT(*) FROM v WHERE REPLACE(city, '😀', '" + "😀" * 16 + "') = 'q'",
    "joined": "SELECT COUNT(*) FROM v WHERE " + "||".join(["city"] * 16) + " LIKE '%x%y'",
    "choices": "SELECT COUNT(CASE " + " ".join(f"WHEN n = {n} THEN REPLACE(city, '😀', '{n}')" for n in range(18))
               + " END) FROM v",
    "texts to numbers": either(20, "CAST(LEFT(city, 1{1}) AS DOUBLE) = {1} OR CAST(LEFT(t, 1{1}) AS DATE) IS NULL"),
    "powers": either(40, "POWER(n, {1}.5) = {1}"),
    "filters": "SELECT " + ", ".join(f"COUNT(*) FILTER (WHERE REPLACE(city, '😀', '{n}') = 'q')" for n in range(18))
               + " FROM v",
    "a batch": [f"SELECT COUNT(*) FROM v WHERE REPLACE(city, '😀', '{n}') = 'q'" for n in range(30)],
    "a batch of its own groups": [
        f"SELECT COUNT(*) FROM v WHERE UPPER(LEFT(note, 40{n % 10})) = 'q' GROUP BY n % {n + 2}" for n in range(12)
    ],
}


def test_a1_a_question_that_grows_ends_alike_with_and_without_a_row(tmp_path):
    with_bob, without = (attacked(tmp_path / str(bob), list(REFUSED.values()), bob=bob) for bob in (True, False))
    for name, one, other in zip(REFUSED, with_bob["found"], without["found"], strict=True):
        assert one[:2] == other[:2], name
        assert one[0].startswith("refused: "), (name, one)
        assert one[1] == "" or one[1] == one[0], name
    assert (with_bob["life"], with_bob["spent"]) == (without["life"], without["spent"]) == ("new", "0")


@pytest.mark.parametrize("rows", [1000, 5000])
def test_a1_what_is_accepted_stays_within_the_allowance_on_the_largest_rows(rows, tmp_path):
    from dpcurator.engines.allowance import ALLOWANCE

    found = attacked(tmp_path / "all", list(ACCEPTED.values()), rows=rows)
    for name, (asked, rehearsed, _) in zip(ACCEPTED, found["found"], strict=True):
        assert asked == "answered", (name, asked)
        assert rehearsed in ("answered", ""), (name, rehearsed)
    assert found["life"] == "open"
    assert max(peak for *_, peak in found["found"]) <= BASE + 2 * ALLOWANCE // 2**20 * 3 // 2


OF_ONE_UNIT = """
import json, resource, sys
resource.setrlimit(resource.RLIMIT_AS, (LIMIT, LIMIT))
from dpcurator.engines.duckdb.engine import DuckDB
from dpcurator.engines.settings import Settings
from dpcurator.plan.core import (ONE, Chosen, Measure, Owner, PerUnit, ScaleDown, Scan, Source, Sum, Total)
place, unit, key = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
core = (Scan("t0", (Source("c0", "text", None, unit), Source("c1", "text", None, key + 10))), Owner(0),
        Chosen((1,), 3, "salt"), Measure(()), PerUnit(), ScaleDown(2, 3, ONE), Total((Sum("units"),)))
engine = DuckDB(place, settings=Settings(threads=2, memory=1024 * 2**20, spill=place + ".spill"))
print(len(engine.evaluate(core).open_for_release()))
"""
MADE = """
import duckdb, sys
place, unit, key, rows = sys.argv[1], *map(int, sys.argv[2:])
connection = duckdb.connect(place)
connection.execute("SET threads = 1")
connection.execute(f"CREATE TABLE t0 AS SELECT repeat('\U0001F600', {unit}) AS c0,"
                   f" i::VARCHAR || repeat('\U0001F600', {key}) AS c1 FROM range({rows}) r(i)")
connection.close()
"""


@pytest.mark.slow
@pytest.mark.parametrize(("unit", "key", "rows"), [(2000, 10, 100_000), (20, 2000, 60_000), (5, 5, 2_000_000)])
def test_a1_one_unit_may_have_any_number_of_unknown_keys_however_long(unit, key, rows, tmp_path):
    """A1: up to 800 MB of one person's texts, in 1 GiB for groups, sorts and joins."""
    place = str(tmp_path / "snapshot.db")
    subprocess.run([sys.executable, "-c", MADE, place, str(unit), str(key), str(rows)], check=True)
    script = OF_ONE_UNIT.replace("LIMIT, LIMIT", f"{LIMIT}, {LIMIT}")
    done = subprocess.run(
        [sys.executable, "-c", script, place, str(unit), str(key)], capture_output=True, text=True, check=False
    )
    assert done.stdout.split("\n")[-2:] == ["3", ""], done.stderr[-1000:]
