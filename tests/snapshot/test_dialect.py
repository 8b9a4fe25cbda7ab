"""CSV files as other programs write them: escapes, spaces, lines to pass over, comments, packed files."""

import csv
import gzip

import duckdb
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpcurator.catalog.load import load
from dpcurator.errors import Misconfigured
from dpcurator.snapshot.csv_source import read_csv
from dpcurator.snapshot.loading import registered
from dpcurator.snapshot.report import TableReport

connection = duckdb.connect()

WHO = {"id": "integer", "name": "text", "x": "integer"}

READ = [
    (r"id,name,x" "\n" r'1,"foo (\"bar\")",5' "\n" r'2,"a\, b",6' "\n" r"3,\N,\N" "\n",
     {"escape": "\\", "missing": ["\\N"]},
     [(1, 'foo ("bar")', 5), (2, "a, b", 6), (3, None, None)]),
    ("id, name, x\n1,  a, 5\n2, \"b, c\", 6\n", {"space_after_delimiter": True}, [(1, "a", 5), (2, "b, c", 6)]),
    ("made by a program\n\nid,name,x\n1,a,5\n", {"skip_lines": 2}, [(1, "a", 5)]),
    ("\ufeff# a note\nid,name,x\n# 1,a,5\n2,\"b\n# c\",6\n#\n3,#,7\n", {"comment": "#"},
     [(2, "b\n# c", 6), (3, "#", 7)]),
    ('id\tname\tx\n1\t"a\t5\n2\tb" c"\t6\n', {"delimiter": "\t", "quote": ""}, [(1, '"a', 5), (2, 'b" c"', 6)]),
    ('id,name,x\n1,"a\\, b,5\n', {"quote": "", "escape": "\\"}, [(1, '"a, b', 5)]),
    ("skip\nid|name|x\n1| a|5\n", {"skip_lines": 1, "delimiter": "|", "comment": "--"}, [(1, " a", 5)]),
    ("--1,a,5\n2,b,6\n", {"header": False, "names": ["id", "name", "x"], "comment": "--"}, [(2, "b", 6)]),
]


@pytest.mark.parametrize(("text", "table", "rows"), READ)
def test_hunt_16_a_declared_dialect_is_read(refreshed, tmp_path, text, table, rows):
    (tmp_path / "d.csv").write_text(text, encoding="utf-8")
    found, report = refreshed(WHO, file="d.csv", **table)
    assert found == rows
    assert not report.set_aside.count


def test_the_lines_of_the_report_are_those_of_the_file(refreshed, tmp_path):
    (tmp_path / "d.csv").write_text("title\nid,name,x\n# note\n1,a,b\n# note\n1,a\n2,b,3\n")
    rows, report = refreshed(WHO, file="d.csv", skip_lines=1, comment="#")
    assert rows == [(1, "a", None), (2, "b", 3)]
    assert report.unreadable["x"].first[0][0] == "d.csv:4"
    assert report.set_aside.first[0][0] == "d.csv:6"


def test_a_comment_or_line_past_the_limit_is_passed_over_whole(refreshed, tmp_path):
    long = "#" + "x" * (2 * 4 * 2**20)
    (tmp_path / "d.csv").write_text(f"{long}\nid,name,x\n{long}\n1,a,5\n")
    assert refreshed(WHO, file="d.csv", skip_lines=1, comment="#")[0] == [(1, "a", 5)]


def test_hunt_14_packed_files(refreshed, tmp_path):
    text = b"id,name,x\n1,a,5\n2,b,6\n"
    (tmp_path / "d.csv.gz").write_bytes(gzip.compress(text))
    (tmp_path / "d.csv.zst").write_bytes(pa.compress(text, codec="zstd", asbytes=True))
    for name in ("d.csv.gz", "d.csv.zst"):
        assert refreshed(WHO, file=name)[0] == [(1, "a", 5), (2, "b", 6)]
        half = (tmp_path / name).read_bytes()[:-9]
        (tmp_path / name).write_bytes(half)
        with pytest.raises(Misconfigured, match=r"cannot be read to its end.*Pack it again"):
            refreshed(WHO, file=name)
    with pytest.raises(Misconfigured, match="There is no file"):
        refreshed(WHO, file="e.csv.zst")


REFUSED = [
    ({"delimiter": ""}, "delimiter must be one character"), ({"quote": "''"}, "quote must be one character"),
    ({"escape": "ab"}, "escape must be one character"), ({"escape": '"'}, "not delimiter or quote"),
    ({"escape": "n"}, "no letter"), ({"comment": ""}, "comment begins"), ({"comment": " #"}, "comment begins"),
    ({"skip_lines": -1}, "skip_lines must be"), ({"skip_lines": "2"}, "skip_lines must be"),
    ({"file": "d.parquet", "comment": "#"}, "comment is for CSV files"),
    ({"file": "d.parquet", "skip_lines": 1}, "skip_lines is for CSV files"),
]


@pytest.mark.parametrize(("fields", "told"), REFUSED)
def test_refused_and_the_cure_works(fields, told):
    def declared(**more):
        table = {"unit": "each row", "file": "d.csv", "columns": WHO} | more
        return load({"curator": {"protects": "p"}, "ledger": {"epsilon": 1}, "tables": {"t": table}})

    with pytest.raises(Misconfigured) as caught:
        declared(**fields)
    assert told in str(caught.value)
    if "Write" in caught.value.cure:
        import tomllib

        declared(**fields | tomllib.loads(caught.value.cure.removeprefix("Write ").removesuffix(".")))


DIALECTS = [
    {"comment": "#"}, {"escape": "\\"}, {"space_after_delimiter": True}, {"comment": "#", "escape": "\\"},
    {"comment": "//", "space_after_delimiter": True, "delimiter": ";"},
]
FIELD = st.text(alphabet='ab#/ \\"\',;é', max_size=4)


def read_alone(line, dialect):
    """One line by the csv module alone; None where it is no whole record of two fields, or passed over."""
    if line.startswith(dialect.get("comment", "\n")):
        return None
    try:
        rows = list(csv.reader([line + "\n"], delimiter=dialect.get("delimiter", ","), strict=True,
                               escapechar=dialect.get("escape"), skipinitialspace="space_after_delimiter" in dialect))
    except csv.Error:
        return None
    return rows[0] if len(rows) == 1 and len(rows[0]) == 2 and "\n" not in "".join(rows[0]) else None


@pytest.mark.parametrize("dialect", DIALECTS)
@given(pairs=st.lists(st.tuples(FIELD, FIELD), max_size=8))
def test_a_line_is_read_as_it_is_alone_whatever_lines_are_beside_it(tmp_path_factory, dialect, pairs):
    lines = [dialect.get("delimiter", ",").join(pair) for pair in pairs]
    alone = [(line, row) for line in lines if (row := read_alone(line, dialect)) is not None]
    passed = [line for line in lines if line.startswith(dialect.get("comment", "\n"))]
    kept = [line for line in lines if line in passed or line in dict(alone)]
    path = tmp_path_factory.getbasetemp() / "d.csv"
    head = dialect.get("delimiter", ",").join("ab")
    path.write_text("\n".join([head, *kept]) + "\n", encoding="utf-8")
    table = {"unit": "each row", "file": path.name, "columns": {"a": "text", "b": "text"}} | dialect
    declared = load({"curator": {"protects": "p"}, "ledger": {"epsilon": 1}, "tables": {"t": table}})
    report = TableReport("t")
    found = []
    for records in read_csv(path, declared.sources[0].csv, ["a", "b"], report, where=""):
        with registered(connection, records.columns) as name:
            found += [list(row) for row in connection.execute(f"FROM {name}").fetchall()]
    assert found == [dict(alone)[line] for line in kept if line not in passed]
    assert not report.set_aside.count
