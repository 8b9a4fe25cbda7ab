"""`append_only`: only new files are read, the rows are those of reading everything, and changed files are noticed."""

import random

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from dpcurator.catalog.load import load
from dpcurator.errors import Misconfigured
from dpcurator.snapshot.refresh import refresh

COLUMNS = {"who": "text", "visit": "integer", "cost": "float"}


def declaration(tmp_path, **table):
    raw = {"curator": {"protects": "people"}, "ledger": {"epsilon": 1}}
    fields = {"unit": "who", "max_total": 5, "columns": COLUMNS, "file": "d/*.csv", "append_only": True} | table
    return load(raw | {"tables": {"t": fields}}, directory=tmp_path)


def week(tmp_path, name, rows, seed=0):
    draw = random.Random(f"{name}{seed}")
    lines = [f"{draw.choice('abcd')},{draw.choice(['1', '2', 'x', ''])},{draw.randrange(9)}" for _ in range(rows)]
    (tmp_path / "d").mkdir(exist_ok=True)
    (tmp_path / "d" / name).write_text("\n".join(["who,visit,cost", *lines]) + "\n")


PER_UNIT = COLUMNS | {"cost": {"type": "float", "per_unit": 1}}


@pytest.mark.parametrize("more", [{}, {"distinct": ["visit"]}, {"columns": PER_UNIT}])
def test_the_rows_are_those_of_reading_everything(tmp_path, stored, more):
    declared, whole = declaration(tmp_path, **more), declaration(tmp_path, **more, append_only=False)
    week(tmp_path, "2.csv", 30)
    first = refresh(declared).tables[0]
    assert (first.kept.files, first.kept.rows) == (0, 0)
    before = len(stored(declared))
    week(tmp_path, "1.csv", 20)
    week(tmp_path, "3.csv", 25)
    seen = []
    second = refresh(declared, progress=lambda table, rows, share: seen.append(rows)).tables[0]
    assert (second.kept.files, second.kept.rows) == (1, before)
    assert seen[-1] == 45  # of the two new files alone
    assert "of 1 files that are as they were are taken over" in "\n".join(second.lines())
    found = stored(declared)
    refresh(whole)
    assert sorted(found, key=repr) == sorted(stored(whole), key=repr)
    third = refresh(declared).tables[0]  # the version before was read without, and knows of no files
    assert third.kept.files == 0
    assert refresh(declared).tables[0].kept.files == 3
    assert sorted(found, key=repr) == sorted(stored(declared), key=repr)


def test_a_file_that_changed_or_went_is_told_and_everything_is_read(tmp_path, stored):
    declared = declaration(tmp_path)
    for name in ("1.csv", "2.csv"):
        week(tmp_path, name, 10)
    refresh(declared)
    text = (tmp_path / "d" / "1.csv").read_text()
    (tmp_path / "d" / "1.csv").write_text(text[:-2] + ("7" if text[-2] != "7" else "8") + "\n")  # of the same size
    report = refresh(declared).tables[0]
    assert report.kept.changed == ("1.csv",)
    assert "not append-only: 1.csv changed since the version before, so all files" in "\n".join(report.lines())
    assert len(stored(declared)) == 20
    (tmp_path / "d" / "2.csv").unlink()
    assert refresh(declared).tables[0].kept.changed == ("2.csv",)
    assert len(stored(declared)) == 10


@pytest.mark.parametrize(
    "change", [{"columns": COLUMNS | {"cost": {"type": "float", "na_values": ["3"]}}}, {"delimiter": ";"},
               {"columns": COLUMNS | {"visit": {"type": "integer", "unreadable": "set-aside"}}}, {"missing": ["", "x"]}]
)
def test_what_is_read_otherwise_now_is_read_again(tmp_path, change):
    week(tmp_path, "1.csv", 10)
    refresh(declaration(tmp_path))
    if change == {"delimiter": ";"}:
        text = (tmp_path / "d" / "1.csv").read_text()
        (tmp_path / "d" / "1.csv").write_text(text.replace(",", ";"))
    report = refresh(declaration(tmp_path, **change)).tables[0]
    assert report.kept.files == 0
    assert report.rows + report.set_aside.count == 10


def test_parquet_and_a_failed_refresh(tmp_path, stored):
    (tmp_path / "d").mkdir()
    for n in (1, 2):
        pq.write_table(pa.table({"who": ["a"], "visit": [n], "cost": [1.5]}), tmp_path / "d" / f"{n}.parquet")
    declared = declaration(tmp_path, file="d/*.parquet")
    refresh(declared)
    (tmp_path / "d" / "3.parquet").write_bytes(b"PAR1 cut")
    with pytest.raises(Misconfigured, match="cannot be read to its end"):
        refresh(declared)
    assert stored(declared) == [("a", 1, 1.5), ("a", 2, 1.5)]
    pq.write_table(pa.table({"who": ["b"], "visit": [3], "cost": [2.5]}), tmp_path / "d" / "3.parquet")
    assert refresh(declared).tables[0].kept.rows == 2
    assert stored(declared) == [("a", 1, 1.5), ("a", 2, 1.5), ("b", 3, 2.5)]


def test_nothing_of_the_files_is_public(tmp_path):
    declared = declaration(tmp_path)
    week(tmp_path, "secret-2024.csv", 5)
    refresh(declared)
    assert "secret" not in (declared.state / "facts.json").read_text()


REFUSED = [
    ({"file": None}, "append_only is for files"),
    ({"distinct": ["visit"], "columns": PER_UNIT}, "append_only goes with distinct or with per_unit"),
]


@pytest.mark.parametrize(("fields", "told"), REFUSED)
def test_refused(tmp_path, fields, told):
    with pytest.raises(Misconfigured, match=told):
        declaration(tmp_path, **fields)


def test_a_new_file_has_the_columns_of_those_taken_over(tmp_path):
    """As where all are read: else the next refresh that reads them all would be refused for a file long taken."""
    declared = declaration(tmp_path)
    week(tmp_path, "1.csv", 5)
    refresh(declared)
    (tmp_path / "d" / "2.csv").write_text("who,visit,cost,ward\na,1,2,3\n")
    for one in (declared, declaration(tmp_path, append_only=False)):
        with pytest.raises(Misconfigured, match=r'"2\.csv" has other columns than the files before it'):
            refresh(one)
    (tmp_path / "d" / "2.csv").write_text("cost,visit,who\n2,1,a\n")
    assert refresh(declared).tables[0].kept.files == 1
