"""What DuckDB's engine may not do: reach outside, write, say what went wrong, or die in a fork or a thread."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
import warnings
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from dpcurator.engines.duckdb.engine import DuckDB
from dpcurator.engines.duckdb.sql import Statement, statement
from dpcurator.errors import Fault, Misconfigured
from dpcurator.plan.core import ONE, Listed, Measure, Owner, PerUnit, ScaleDown, Scan, Source, Sum, Total

CORE: Any = (Scan("t0", (Source("c0", "text"),)), Owner(0), Listed((), ((),)), Measure(()), PerUnit(),
             ScaleDown(1, 1, ONE), Total((Sum("rows"),)))
RIGHT = ((3 * ONE,),)


@pytest.fixture
def snapshot(tmp_path: Path) -> Path:
    import duckdb

    path = tmp_path / "it's a snapshot.db"
    with duckdb.connect(str(path)) as connection:
        connection.execute("CREATE TABLE t0 AS SELECT unnest(['secret', 'b', 'c', 'c']) AS c0")
    return path


def test_a_snapshot_file_answers_twice_and_beside_another_engine(snapshot: Path) -> None:
    first, second = DuckDB(snapshot), DuckDB(snapshot)
    for engine in (first, second, first):
        assert engine.evaluate(CORE).open_for_release() == RIGHT


def test_no_snapshot_a_broken_one_and_a_lacking_column_are_set_up(tmp_path: Path, snapshot: Path) -> None:
    with pytest.raises(Misconfigured):
        DuckDB(tmp_path / "none.db")
    (tmp_path / "broken.db").write_bytes(b"not a database" * 1000)
    with pytest.raises(Misconfigured) as caught:
        DuckDB(tmp_path / "broken.db")
    assert caught.value.__context__ is None
    with pytest.raises(Misconfigured):
        DuckDB(snapshot).evaluate((Scan("t0", (Source("c1", "text"),)), *CORE[1:]))


@pytest.mark.parametrize("text", [
    "SELECT * FROM read_csv('{0}')", "SELECT * FROM read_text('{0}')", "COPY (SELECT 1) TO '{0}.csv'",
    "ATTACH '{0}.other'", "INSERT INTO snapshot.main.t0 VALUES ('x')", "DROP TABLE snapshot.main.t0",
    "INSTALL httpfs", "LOAD httpfs", "SET threads = 1", "SET enable_external_access = true", "SELECT * FROM outside",
])
def test_the_connection_reaches_nothing_else(snapshot: Path, text: str) -> None:
    import duckdb
    import pyarrow

    outside = pyarrow.table({"a": [1]})
    assert outside.num_rows == 1  # a replacement scan would find this variable
    with pytest.raises(duckdb.Error):
        DuckDB(snapshot)._cursor().execute(text.format(snapshot))


def test_a_fault_tells_nothing(snapshot: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An engine error that quotes a cell becomes constant words with no cause, context or note."""

    def failing(core: Any) -> Statement:
        return Statement("SELECT 0, CAST(c0 AS BIGINT) FROM snapshot.main.t0", [], 1, 1)

    engine = DuckDB(snapshot)
    import duckdb

    with pytest.raises(duckdb.ConversionException, match="secret"):
        engine._cursor().execute(failing(CORE).sql).fetchall()
    monkeypatch.setattr("dpcurator.engines.duckdb.engine.statement", failing)
    with pytest.raises(Fault) as caught:
        engine.evaluate(CORE)
    assert caught.value.__cause__ is None
    assert caught.value.__context__ is None
    assert str(caught.value) == str(Fault())


def test_threads_share_an_engine(snapshot: Path) -> None:
    engine = DuckDB(snapshot)
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(lambda _: engine.evaluate(CORE).open_for_release(), range(64)))
    assert found == [RIGHT] * 64


def test_a_forked_child_opens_its_own_connection(snapshot: Path) -> None:
    engine = DuckDB(snapshot)
    assert engine.evaluate(CORE).open_for_release() == RIGHT
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # forking beside DuckDB's threads is what is tested
        child = os.fork()
    if child == 0:
        os._exit(0 if engine.evaluate(CORE).open_for_release() == RIGHT else 1)
    assert _wait(child) == 0
    assert engine.evaluate(CORE).open_for_release() == RIGHT


@pytest.mark.parametrize("use", ["engine.evaluate(CORE)", "None"])
def test_a_forked_child_may_exit_in_the_ordinary_way(snapshot: Path, use: str) -> None:
    """Destroying the parent's connection at exit would abort the child (seen on DuckDB 2.0)."""
    script = f"""
import os, sys
from dpcurator.engines.duckdb.engine import DuckDB
from dpcurator.plan.core import *
from dpcurator.plan.core import Sum
CORE = {CORE!r}
engine = DuckDB({str(snapshot)!r})
engine.evaluate(CORE)
if os.fork() == 0:
    {use}
    sys.exit(7)
sys.exit(os.waitstatus_to_exitcode(os.wait()[1]))
"""
    done = subprocess.run([sys.executable, "-W", "ignore", "-c", script], timeout=60, capture_output=True, check=False)
    assert (done.returncode, done.stderr) == (7, b"")


def _wait(child: int, seconds: float = 30) -> int:
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            return os.waitstatus_to_exitcode(status)
        time.sleep(0.01)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return -1


def test_an_interrupt_is_the_users_and_not_a_fault(snapshot: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dpcurator.engines.duckdb.engine.statement", lambda core: Statement(
        "SELECT 0, sum(hash(range))::VARCHAR FROM range(900000000)", [], 1, 1))
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    timer = threading.Timer(0.3, lambda: os.kill(os.getpid(), signal.SIGINT))
    timer.start()
    try:
        with pytest.raises(KeyboardInterrupt):
            DuckDB(snapshot).evaluate(CORE)
    finally:
        timer.join()
        signal.signal(signal.SIGINT, before)


def test_constants_are_bound_and_never_part_of_the_text() -> None:
    words = "x'; DROP TABLE t0; --"
    query = statement((Scan("t0", (Source("c0", "text", words),)), CORE[1], Listed((0,), ((words,),)), *CORE[3:]))
    assert words not in query.sql
    assert query.parameters == [words, [words]]


def test_no_step_for_units_and_none_for_groups_where_they_cannot_bind() -> None:
    """Each row a unit: one grouping. As many groups as keys: no g."""
    assert statement((CORE[0], Owner(None), *CORE[2:])).sql.count("GROUP BY") == 1
    assert statement(CORE).sql.count("GROUP BY") == 2
    two = Listed((0,), (("a",), ("b",)))
    assert statement((*CORE[:2], two, *CORE[3:])).sql.count("GROUP BY") == 3


def test_only_a_test_hears_what_an_engine_says(snapshot: Path, monkeypatch: pytest.MonkeyPatch, capfd: Any) -> None:
    """This folder's fixture prints an engine's own error; without it the same error is nowhere."""
    failing = Statement("SELECT 0, CAST(c0 AS BIGINT) FROM snapshot.main.t0", [], 1, 1)
    monkeypatch.setattr("dpcurator.engines.duckdb.engine.statement", lambda core: failing)
    with pytest.raises(Fault):
        DuckDB(snapshot).evaluate(CORE)
    assert "the engine said: ConversionException" in (heard := capfd.readouterr().err)
    assert failing.sql in heard
    monkeypatch.undo()
    monkeypatch.setattr("dpcurator.engines.duckdb.engine.statement", lambda core: failing)
    with pytest.raises(Fault):
        DuckDB(snapshot).evaluate(CORE)
    assert capfd.readouterr() == ("", "")
