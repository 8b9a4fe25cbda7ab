"""Files that are cut, broken or replaced, and a disk that fills: told with the cure, and the version before stays."""

import gzip
import os
import subprocess
import sys
from pathlib import Path

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

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
