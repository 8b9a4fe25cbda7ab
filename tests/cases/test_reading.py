"""Real-world cases of reading: files and frames as other programs leave them, named by id."""

import gzip
import tomllib

import duckdb
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from dpcurator.catalog.check import check
from dpcurator.catalog.init import draft
from dpcurator.catalog.load import load
from dpcurator.errors import Misconfigured
from dpcurator.snapshot.refresh import refresh
from dpcurator.snapshot.store import open_snapshot


@pytest.fixture
def read(tmp_path):
    """(columns, frame, file or other fields of the table) -> (stored rows, the table's report)."""

    def run(columns, frame=None, **table):
        raw = {"curator": {"protects": "people"}, "ledger": {"epsilon": 1}}
        fields = {"unit": "each row", "columns": columns} | table
        declaration = load(raw | {"tables": {"t": fields}}, directory=tmp_path)
        report = refresh(declaration, None if frame is None else {"t": frame})
        declared = ", ".join(f"c{j}" for j in range(len(columns)))  # without the numbers of units
        with duckdb.connect(str(open_snapshot(declaration).path), read_only=True) as connection:
            return connection.execute(f"SELECT {declared} FROM t0").fetchall(), report.tables[0]

    return run


def write(path, **columns):
    path.parent.mkdir(parents=True, exist_ok=True)
    pq.write_table(pa.table(columns), path)


def test_hunt_01_a_folder_replaces_no_column(read, tmp_path):
    write(tmp_path / "people" / "COL1=x" / "a.parquet", id=[1, 2], col1=["Ann", "Bob"])
    for site in ("12", "13"):
        write(tmp_path / "site" / f"id={site}" / "a.parquet", id=[7, 7], x=[1, 1])
    assert read({"col1": "text"}, file="people/*/a.parquet")[0] == [("Ann",), ("Bob",)]
    rows, _ = read({"id": "integer", "x": "integer"}, file="site/*/a.parquet", unit="id", max_rows=1)
    assert rows == [(7, 1)] * 4  # one unit: not one for each folder


def test_hunt_03_names_that_differ_by_case_only_and_names_that_repeat(read, tmp_path):
    write(tmp_path / "a.parquet", id=[1, 2], ID=["a", "b"], x=[3, 4])
    assert read({"ID": "text", "x": "integer"}, file="a.parquet")[0] == [("a", 3), ("b", 4)]
    columns = [pa.array([1, 2]), pa.array([3, 4]), pa.array([30, 40]), pa.array([50, 60])]
    pq.write_table(pa.table(columns, names=["id", "x", "x", "x_1"]), tmp_path / "b.parquet")
    for declared in ({"x_1": "integer"}, {"x": "integer"}):
        with pytest.raises(Misconfigured, match="Columns 2 and 3"):
            read(declared, file="b.parquet")


def test_hunt_04_a_column_that_is_all_null_in_the_first_file(read, tmp_path):
    write(tmp_path / "a.parquet", id=[1], x=pa.nulls(1))
    write(tmp_path / "b.parquet", x=["q"], id=[2])
    rows, report = read({"id": "integer", "x": "text"}, file="*.parquet")
    assert rows == [(1, None), (2, "q")]
    assert not report.unreadable["x"].count


def test_hunt_05_account_numbers_of_several_types_are_one_unit(read, tmp_path):
    write(tmp_path / "a.parquet", acct=["1001"], x=[1])
    write(tmp_path / "b.parquet", acct=[1001], x=[2])
    write(tmp_path / "c.parquet", acct=["AC80"], x=[3.0])
    rows, _ = read({"acct": "text", "x": "integer"}, file="*.parquet", unit="acct", max_rows=5)
    assert (len(rows), sum(x for _, x in rows), len({who for who, _ in rows})) == (3, 6, 2)


def test_hunt_07_a_later_file_with_another_column_is_a_set_up_error(read, tmp_path):
    (tmp_path / "2023.csv").write_text("id,x\n1,5\n")
    (tmp_path / "2024.csv").write_text("x,id,y\n6,2,n\n")
    with pytest.raises(Misconfigured, match=r'"2024\.csv" has other columns than the files before it'):
        read({"id": "integer", "x": "integer"}, file="*.csv")


def test_hunt_08_texts_stored_as_plain_bytes(read, tmp_path):
    write(tmp_path / "a.parquet", did=[b"p1", b"p2"], day=[b"20240703", b"20240704"])
    day = {"type": "date", "format": "YYYYMMDD"}
    rows, _ = read({"did": "text", "day": day}, file="a.parquet", unit="did", max_rows=1)
    assert rows == [("p1", 19907), ("p2", 19908)]


def test_hunt_09_a_byte_order_mark_before_a_quoted_header(read, tmp_path):
    (tmp_path / "v.csv").write_text('\ufeff"id","name"\n1,Ann\n2,Bob\n', encoding="utf-8")
    assert read({"id": "integer", "name": "text"}, file="v.csv")[0] == [(1, "Ann"), (2, "Bob")]


def test_hunt_11_a_question_mark_means_missing_or_is_a_key(read, tmp_path):
    (tmp_path / "v.csv").write_text("id,age,work\n1,39,State-gov\n2,?,Private\n3,38,?\n")
    rows, _ = read({"age": "integer", "work": "text"}, file="v.csv", missing=["", "?"])
    assert rows == [(39, "State-gov"), (None, "Private"), (38, None)]
    by_column = {"age": {"type": "integer", "na_values": ["?"]},
                 "work": {"type": "text", "keys": ["State-gov", "Private", "?"]}}
    rows, report = read(by_column, file="v.csv")
    assert rows == [(39, "State-gov"), (None, "Private"), (38, "?")]
    assert report.outside == {}
    assert not report.unreadable["age"].count


def test_hunt_12_a_file_without_a_header_line(read, tmp_path):
    lines = "39,State-gov,1984-02-11,ann@example.org\n50,Private,1973-05-01,bob@example.org\n"
    (tmp_path / "v.csv").write_text(lines)
    with pytest.raises(Misconfigured, match="looks like a row") as caught:
        draft(tmp_path / "v.csv")
    assert not any(word in str(caught.value) for word in ("State-gov", "1984", "ann"))
    columns = {"age": "integer", "work": "text"}
    rows, _ = read(columns, file="v.csv", header=False, names=["age", "work", "born", "mail"])
    assert rows == [(39, "State-gov"), (50, "Private")]


def test_hunt_14_compressed_files(read, tmp_path):
    text = b"id,x\n1,2\n2,3\n"
    (tmp_path / "v.csv.gz").write_bytes(gzip.compress(text))
    (tmp_path / "w.csv.zst").write_bytes(pa.compress(text, codec="zstd", asbytes=True))
    for name in ("v.csv.gz", "w.csv.zst"):
        assert 'x  = "integer?"' in draft(tmp_path / name)
        assert read({"x": "integer"}, file=name)[0] == [(2,), (3,)]


def test_hunt_15_marks_between_thousands(read, tmp_path):
    (tmp_path / "v.csv").write_text('id,pay\n1,"1,234.50"\n2,"$2,000"\n3,45%\n')
    rows, report = read({"pay": {"type": "float", "thousands": ","}}, file="v.csv")
    assert rows == [(1234.5,), (None,), (None,)]
    assert report.unreadable["pay"].count == 2


def test_hunt_16_backslash_escapes(read, tmp_path):
    (tmp_path / "v.csv").write_text('id,name,x\n1,"foo (\\"bar\\")",5\n2,"a\\, b",6\n3,\\N,\\N\n')
    columns = {"name": "text", "x": "integer"}
    rows, _ = read(columns, file="v.csv", escape="\\", missing=["\\N"])
    assert rows == [('foo ("bar")', 5), ("a, b", 6), (None, None)]


def test_hunt_18_symbols_of_census_tables(read, tmp_path):
    (tmp_path / "v.csv").write_text(
        'GEO,est,moe\n1,2500-,**\n2,"250,000+",***\n3,(X),(X)\n4,N,N\n5,-,-\n6,1234,12\n'
    )
    columns = {"est": {"type": "integer", "thousands": ","}, "moe": "integer"}
    rows, report = read(columns, file="v.csv", missing=["(X)", "N", "-", "**", "***"])
    assert rows == [(None, None)] * 5 + [(1234, 12)]
    assert report.unreadable["est"].count == 2


def test_hunt_19_the_delimiter_inside_quotes_and_a_decimal_comma(read, tmp_path):
    text = 'Country;Place;Count;Date\nA;"35.86;104.19";97100,7;04/07/20\nB;""";";1,5;04/07/20\n'
    (tmp_path / "v.csv").write_text(text)
    rows, _ = read({"Place": "text", "Count": "float"}, file="v.csv", delimiter=";", decimal=",")
    assert rows == [("35.86;104.19", 97100.7), ('";', 1.5)]


def test_hunt_21_texts_and_numbers_in_one_object_column(read):
    frame = pd.DataFrame({"id": [1, 2, 3, 4], "s": ["rest", "CC", "CV", 46], "n": ["1", "2", 3, 4.0]})
    rows, _ = read({"s": "text", "n": "integer"}, frame)
    assert rows == [("rest", 1), ("CC", 2), ("CV", 3), ("46", 4)]


def test_hunt_22_a_text_after_2_999_missing_values(read):
    rows, _ = read({"s": "text"}, pd.DataFrame({"s": [None] * 2_999 + ["jack"]}))
    assert len(rows) == 3_000
    assert [s for (s,) in rows if s is not None] == ["jack"]


def test_hunt_24_bytes_from_a_sas_file(read):
    frame = pd.DataFrame({"did": [b"p1", b"p2"], "sex": [b"M", b"\xffF"]})
    rows, report = read({"did": "text", "sex": "text"}, frame, unit="did", max_rows=1)
    assert rows == [("p1", "M"), ("p2", None)]
    assert report.unreadable["sex"].first[0][1] == "bytes that are no UTF-8"


def test_c11_periods_and_intervals_of_pandas_are_what_they_are_written_as(read):
    days, months = pd.period_range("2024-03-05", periods=2, freq="D"), pd.period_range("2024-01", periods=2, freq="M")
    frame = pd.DataFrame({"day": days, "month": months, "age": pd.interval_range(0, 20, periods=2)})
    rows, _ = read({"day": "date", "month": "text", "age": "text"}, frame)
    assert rows == [(19787, "2024-01", "(0, 10]"), (19788, "2024-02", "(10, 20]")]


def test_hunt_25_whole_numbers_beside_a_missing_key_leave_as_they_are(opened):
    big = [9007199254740993, 9007199254740994]
    key = {"type": "integer", "keys": big, "keys_include_missing": True}
    curator = opened({"k": big * 20}, unit="each row", columns={"k": key})
    frame = curator.ask("SELECT k, COUNT(*) AS n FROM t GROUP BY k", spend="5%").to_pandas()
    assert [None if pd.isna(k) else int(k) for k in frame["k"]] == [None, *big]
    assert "float" not in str(frame["k"].dtype)
    assert len(frame.merge(pd.DataFrame({"k": pd.array(big, dtype="Int64")}), on="k")) == 2


def test_hunt_28_times_of_day(read, tmp_path):
    (tmp_path / "v.csv").write_text("id,tm\n1,05:40\n2,21:30\n")
    rows, _ = read({"tm": {"type": "integer", "format": "HH:mm", "bounds": [0, 86399]}}, file="v.csv")
    assert [tm // 3600 for (tm,) in rows] == [5, 21]


def test_hunt_29_lines_that_check_prints_keep_how_values_are_written(read):
    columns = {
        "d": {"type": "date", "format": "MM/DD/YYYY"}, "at": {"type": "timestamp", "zone": "Europe/Paris"},
        "cost": {"type": "float", "missing": 0, "clean": ["trim"]},
    }
    raw = {"curator": {"protects": "p"}, "ledger": {"epsilon": 1}}
    found = check(load(raw | {"tables": {"t": {"unit": "each row", "columns": columns}}}))
    pasted = tomllib.loads("\n".join(finding.paste for finding in found if finding.under))
    assert {name: {k: v for k, v in pasted[name].items() if k != "bounds"} for name in columns} == columns
    frame = {"d": ["04/07/2020"], "at": ["2020-01-01 10:00"], "cost": [" 1 "]}
    assert read(pasted, frame)[0] == [(18359, 1577869200000000, 1.0)]
