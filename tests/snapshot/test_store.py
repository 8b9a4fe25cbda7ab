"""Snapshots in force: a refresh stopped at any step leaves the one before, and mismatches are refused."""

import contextlib
import json
import os
import signal
import stat
import subprocess
import sys

import duckdb
import pytest

from dpcurator.errors import Misconfigured
from dpcurator.snapshot import store
from dpcurator.snapshot.refresh import refresh
from dpcurator.snapshot.store import open_snapshot, public_facts

X = {"x": "integer"}


class Stop(BaseException):
    """A crash, which nothing may catch."""


def fill(declaration, *values):
    return refresh(declaration, {"t": {"x": list(values)}})


def test_versions_go_up_and_the_one_before_is_kept(declared, stored, tmp_path):
    declaration = declared(X)
    with pytest.raises(Misconfigured, match=r"no snapshot of the data yet.*dpcurator refresh"):
        open_snapshot(declaration)
    assert public_facts(declaration).version == 0
    for version in (1, 2, 3):
        assert fill(declaration, version).version == version
        assert open_snapshot(declaration).version == version
        assert stored(declaration) == [(version,)]
    names = sorted(path.name for path in declaration.state.glob("snapshot*"))
    assert names == ["snapshot-0002.duckdb", "snapshot-0003.duckdb"]


STEPS = ["os.replace", "os.fsync", "json.dumps", "os.open"]


@pytest.mark.parametrize("step", STEPS)
@pytest.mark.parametrize("occurrence", [0, 1, 2, 3])
def test_a_crash_at_any_step_leaves_a_whole_snapshot_in_force(declared, stored, monkeypatch, step, occurrence):
    declaration = declared(X)
    fill(declaration, 1)
    module, name = step.split(".")
    real, calls = getattr(getattr(store, module), name), []

    def crash(*args, **kwargs):
        calls.append(1)
        if len(calls) > occurrence:
            raise Stop
        return real(*args, **kwargs)

    with monkeypatch.context() as patched:
        patched.setattr(getattr(store, module), name, crash)
        with contextlib.suppress(Stop):
            fill(declaration, 2)
    info = open_snapshot(declaration)
    assert stored(declaration) == [(info.version,)]
    report = fill(declaration, 3)
    assert report.version > info.version
    assert stored(declaration) == [(3,)]
    assert not list(declaration.state.glob("draft*"))


def test_a_failed_refresh_leaves_the_snapshot_before_in_force(declared, stored):
    declaration = declared(X)
    fill(declaration, 1)
    with pytest.raises(Misconfigured):
        refresh(declaration, {"t": {"y": [1]}})
    assert stored(declaration) == [(1,)]
    assert not list(declaration.state.glob("draft*"))


def test_a_refresh_while_another_runs_is_refused(declared):
    declaration = declared(X)
    with store.drafting(declaration), pytest.raises(Misconfigured, match="Another refresh is running"):
        fill(declaration, 1)
    assert fill(declaration, 1).version == 1


def test_a_reader_keeps_its_snapshot_through_a_refresh(declared):
    declaration = declared(X)
    fill(declaration, 1)
    with duckdb.connect(str(open_snapshot(declaration).path), read_only=True) as reader:
        fill(declaration, 2)
        fill(declaration, 3)
        assert reader.execute("FROM t0").fetchall() == [(1,)]


def test_other_declarations_need_a_refresh(declared):
    fill(declared(X), 1)
    open_snapshot(declared({"x": {"type": "integer", "bounds": [0, 1]}}, max_rows=None))
    for columns in ({"x": "float"}, {"y": "integer"}, {"x": "integer", "y": "text"}):
        with pytest.raises(Misconfigured, match=r"made for other tables, columns, types.*dpcurator refresh"):
            open_snapshot(declared(columns))


def test_a_damaged_state_is_told(declared):
    declaration = declared(X)
    fill(declaration, 1)
    facts = declaration.state / "facts.json"
    good = facts.read_text()
    for bad in ("", "[]", "{}", good.replace('"format": 1', '"format": 9')):
        facts.write_text(bad)
        with pytest.raises(Misconfigured, match="record of the last refresh cannot be read"):
            open_snapshot(declaration)
    facts.write_text(good)
    os.remove(open_snapshot(declaration).path)
    with pytest.raises(Misconfigured, match="snapshot in force is gone"):
        open_snapshot(declaration)


def test_only_the_owner_may_read_the_state(declared):
    declaration = declared(X)
    fill(declaration, 1)
    assert stat.S_IMODE(declaration.state.stat().st_mode) == 0o700
    assert {stat.S_IMODE(path.stat().st_mode) for path in declaration.state.iterdir()} == {0o600}


def test_facts_hold_nothing_private(declared):
    declaration = declared(X)
    fill(declaration, 123456789)
    facts = json.loads((declaration.state / "facts.json").read_text())
    assert set(facts) == {"format", "version", "fingerprint", "keys", "most", "name", "names"}
    assert facts["most"] == []  # of public tables alone
    assert (facts["name"], facts["names"]) == (None, {})  # the steward's words
    assert "123456789" not in str(facts)


def test_meta_says_what_the_snapshot_is(declared, stored):
    declaration = declared(X)
    fill(declaration, 1)
    ((form, version, fingerprint),) = stored(declaration, "meta")
    assert (form, version) == (1, 1)
    assert fingerprint == json.loads((declaration.state / "facts.json").read_text())["fingerprint"]


def test_a_disk_that_fails_is_told_without_its_words(declared, stored, monkeypatch):
    declaration = declared(X)
    fill(declaration, 1)

    def full(*_):
        raise OSError("secret cell")

    with monkeypatch.context() as patched:
        patched.setattr(store.os, "fsync", full)
        with pytest.raises(Misconfigured, match="snapshot cannot be written") as caught:
            fill(declaration, 2)
    assert "secret" not in str(caught.value)
    assert caught.value.__cause__ is None
    assert stored(declaration) == [(1,)]


def test_what_duckdb_spilled_is_cleared(declared):
    declaration = declared(X)
    fill(declaration, 1)
    (declaration.state / "draft-0007.duckdb.tmp").mkdir()
    (declaration.state / "draft-0007.duckdb").write_text("half")
    fill(declaration, 2)
    assert not list(declaration.state.glob("draft*"))


KILLED = """
import os, signal, sys
from pathlib import Path
from dpcurator.catalog.load import load
from dpcurator.snapshot import csv_source
from dpcurator.snapshot.refresh import refresh
from dpcurator.snapshot.store import Draft
csv_source.CHUNK = 1000
declaration = load(Path(sys.argv[1]))
def killed(table, rows, share):
    if share > 0.5:
        spill = next(declaration.state.glob("draft-*.duckdb")).with_suffix(".spill")
        spill.mkdir(exist_ok=True)
        (spill / "duckdb_temp_storage-0.tmp").write_bytes(b"rows")
        os.kill(os.getpid(), signal.SIGKILL)
refresh(declaration, progress=killed)
"""


def test_t3_a_refresh_that_is_killed_leaves_the_version_before_and_nothing_after_the_next_start(tmp_path, stored):
    from dpcurator.catalog.load import load
    from dpcurator.curator.opening import curator_of, refresh_all

    catalog = tmp_path / "curator.toml"
    catalog.write_text('[curator]\nprotects = "people"\n[ledger]\nepsilon = 1\n[tables.t]\nfile = "x.csv"\n'
                       'unit = "each row"\n[tables.t.columns]\nx = "integer"\n')
    (tmp_path / "x.csv").write_text("x\n7\n")
    declaration = load(catalog)
    refresh_all(declaration)
    (tmp_path / "x.csv").write_text("x\n" + "8\n" * 5000)
    ran = subprocess.run([sys.executable, "-c", KILLED, str(catalog)], capture_output=True, text=True, timeout=120)
    assert ran.returncode == -signal.SIGKILL, ran.stderr
    assert {path.suffix for path in declaration.state.glob("draft-*")} >= {".duckdb", ".spill"}
    assert stored(declaration) == [(7,)]
    with store.drafting(declaration):
        store.clear_leavings(declaration.state)  # while another refresh runs: its draft is not touched
        assert list(declaration.state.glob("draft-*.duckdb"))
    (declaration.state / "draft-0009.spill").mkdir()
    curator_of(declaration)
    assert not list(declaration.state.glob("draft-*"))
    assert stored(declaration) == [(7,)]


def test_t3_temporary_files_are_in_the_private_directory_and_memory_is_the_catalogs(declared):
    declaration = declared(X)
    with store.drafting(declaration) as draft:
        names = ("temp_directory", "threads", "memory_limit")
        found = draft.connection.execute(f"SELECT {', '.join(f'current_setting({n!r})' for n in names)}").fetchall()
    assert found == [(str(draft.state / "draft-0001.spill"), declaration.threads, "1.5 GiB")]
    assert stat.S_IMODE(draft.state.stat().st_mode) == 0o700
