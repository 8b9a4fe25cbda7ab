"""Files that are cut, broken or replaced, and a disk that fills: told with the cure, and the version before stays."""

import contextlib
import gzip
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from dpcurator.catalog.load import load
from dpcurator.errors import Misconfigured
from dpcurator.snapshot.refresh import refresh

ROWS = 3_000


def parquet(path):
    pq.write_table(pa.table({"x": list(range(ROWS))}), path, row_group_size=500, compression="none")


def packed(path):
    path.write_bytes(gzip.compress("\n".join(["x", *map(str, range(ROWS))]).encode() + b"\n"))


def database(path):
    path.unlink(missing_ok=True)
    with duckdb.connect(str(path)) as connection:
        connection.execute(f"CREATE TABLE t AS SELECT range AS x FROM range({ROWS})")


def plain(path):
    path.write_text("\n".join(["x", *map(str, range(ROWS))]) + "\n")


SOURCES = {"d.parquet": parquet, "d.csv.gz": packed, "d.duckdb": database, "d.csv": plain}


def declaration_of(declared, name):
    place = {"duckdb": {"file": name, "table": "t"}} if name.endswith("duckdb") else {"file": name}
    return declared({"x": "integer"}, **place)


BROKEN = [("d.parquet", "half"), ("d.csv.gz", "half"), ("d.csv.gz", "middle"), ("d.duckdb", "half")]


@pytest.mark.parametrize(("name", "what"), BROKEN)
def test_a_broken_file_is_told_and_the_version_before_stays(declared, stored, tmp_path, name, what):
    path = tmp_path / name
    SOURCES[name](path)
    declaration = declaration_of(declared, name)
    assert refresh(declaration).version == 1
    whole = path.read_bytes()
    size = len(whole) // 2
    path.write_bytes(whole[:size] if what == "half" else whole[:size] + b"\xff" * 400 + whole[size + 400 :])
    with pytest.raises(Misconfigured) as caught:
        refresh(declaration)
    assert caught.value.cure
    assert len(stored(declaration)) == ROWS


@pytest.mark.parametrize("name", SOURCES)
def test_a_file_that_is_replaced_while_it_is_read_is_told_and_nothing_of_it_is_used(declared, stored, tmp_path, name):
    path = tmp_path / name
    SOURCES[name](path)
    declaration = declaration_of(declared, name)
    refresh(declaration)

    def replace(*_):
        (tmp_path / "new").write_bytes(path.read_bytes())
        os.replace(tmp_path / "new", path)

    with pytest.raises(Misconfigured, match=r"was changed while it was read\. Run `dpcurator refresh` again"):
        refresh(declaration, progress=replace)
    assert len(stored(declaration)) == ROWS
    assert refresh(declaration).version == 2


FULL = """
import resource, signal, sys
from pathlib import Path
from dpcurator.catalog.load import load
from dpcurator.errors import Misconfigured
from dpcurator.snapshot.refresh import refresh
from dpcurator.snapshot.store import open_snapshot
raw = {"curator": {"protects": "p"}, "ledger": {"epsilon": 1},
       "tables": {"t": {"unit": "each row", "columns": {"x": "text"}}}}
declaration = load(raw, directory=Path(sys.argv[1]))
refresh(declaration, {"t": {"x": ["a"]}})
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (2**20, 2**20))
try:
    refresh(declaration, {"t": {"x": [f"{i:0400d}" for i in range(20_000)]}})
except Misconfigured as error:
    print(error)
print(open_snapshot(declaration).version, sorted(p.name for p in declaration.state.glob("draft*")))
"""


@pytest.mark.skipif(sys.platform == "win32", reason="no limit of a file's size there")
def test_a_disk_that_fills_is_told_and_the_version_before_stays(tmp_path):
    command = [sys.executable, "-c", FULL, str(tmp_path)]
    source = str(Path(refresh.__code__.co_filename).parents[2])
    ran = subprocess.run(command, capture_output=True, text=True, check=True, env=os.environ | {"PYTHONPATH": source})
    told, state = ran.stdout.splitlines()
    assert "The snapshot cannot be written. Check the disk" in told
    assert state == "1 []"


@contextlib.contextmanager
def nobody(folder):
    """As a user who owns the folder and nothing else, where this one may read everything."""
    os.chown(folder, 65534, 65534)
    os.seteuid(65534)
    try:
        yield
    finally:
        os.seteuid(0)


@pytest.fixture
def own_folder():
    with tempfile.TemporaryDirectory() as name, nobody(name) if os.geteuid() == 0 else contextlib.nullcontext():
        yield Path(name)


@pytest.mark.skipif(not hasattr(os, "seteuid"), reason="no such users there")
def test_a_file_or_folder_that_may_not_be_read_is_told_of_every_kind_and_the_cure_mends_it(own_folder, stored):
    (own_folder / "closed").mkdir()
    for name, write in SOURCES.items():
        for place in (name, "closed/d.csv") if name == "d.csv" else (name,):  # folders are looked at first
            write(own_folder / place)
            fields = {"duckdb": {"file": place, "table": "t"}} if name.endswith("duckdb") else {"file": place}
            table = {"unit": "each row", "columns": {"x": "integer"}} | fields
            raw = {"curator": {"protects": "p"}, "ledger": {"epsilon": 1}, "tables": {"t": table}}
            declaration = load(raw, directory=own_folder)
            closed = (own_folder / place).parent if "/" in place else own_folder / place
            mode = closed.stat().st_mode & 0o777
            closed.chmod(0)
            told = "cannot be reached. Check the permissions of its folders" if "/" in place else \
                f'"{name}" cannot be read. Check its permissions'
            try:
                with pytest.raises(Misconfigured, match=told):
                    refresh(declaration)
            finally:
                closed.chmod(mode)
            refresh(declaration)
            assert len(stored(declaration)) == ROWS


def test_a_folder_in_place_of_a_file_and_a_folder_without_one(declared, stored, tmp_path):
    """Each cure is pasted back."""
    (tmp_path / "site").mkdir()
    for source, cure in (
        ({"file": "site"}, 'Name the files in it: file = "site/*.csv".'),
        ({"file": "site/*.csv"}, "Put one there, or mend the pattern"),
        ({"duckdb": {"file": "site", "table": "t"}}, "Name the DuckDB file in it."),
    ):
        with pytest.raises(Misconfigured) as caught:
            refresh(declared({"x": "integer"}, **source))
        assert cure in str(caught.value)
    plain(tmp_path / "site" / "a.csv")
    database(tmp_path / "site" / "a.duckdb")
    for source in ({"file": "site/*.csv"}, {"duckdb": {"file": "site/a.duckdb", "table": "t"}}):
        declaration = declared({"x": "integer"}, **source)
        refresh(declaration)
        assert len(stored(declaration)) == ROWS


def test_a_table_that_is_gone_or_renamed_between_refreshes_leaves_the_version_before(declared, stored, tmp_path):
    path = tmp_path / "d.duckdb"
    database(path)
    declaration = declaration_of(declared, "d.duckdb")
    refresh(declaration)
    for changed, told in (
        ("ALTER TABLE t RENAME TO visits", 'has no table "t". There is "visits".'),
        ("ALTER TABLE visits RENAME TO t; ALTER TABLE t RENAME x TO X2", 'has no column "x". Did you mean "X2"?'),
    ):
        with duckdb.connect(str(path)) as connection:
            connection.execute(changed)
        with pytest.raises(Misconfigured) as caught:
            refresh(declaration)
        assert told in str(caught.value)
        assert len(stored(declaration)) == ROWS
    renamed = declared({"X2": "integer"}, duckdb={"file": "d.duckdb", "table": "t"})
    assert refresh(renamed).version == 2
