"""Cleaned columns through every reader: CSV fields, Parquet, DuckDB and frames give the same rows."""

import datetime as dt

import duckdb
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st
from power import tried

from dpcurator.catalog.load import load
from dpcurator.snapshot.refresh import refresh

COLUMNS = {
    "who": {"type": "text", "clean": ["trim", "nfc"], "na_values": ["0"]},
    "sex": {"type": "text", "clean": ["trim", "lower"], "map": {"female": "f", "w": "f"}, "na_values": ["", "?"]},
    "age": {"type": "integer", "na_values": ["999", -1], "valid": [0, 105]},
    "pay": {"type": "float", "decimal": ",", "thousands": ".", "valid": [0, 5000]},
    "born": {"type": "date", "format": ["DD.MM.YYYY", "D MON YYYY", "ISO"], "na_values": ["1900-01-01"]},
    "seen": {"type": "timestamp", "format": ["seconds since 1970-01-01", "DD.MM.YYYY HH:mm"], "zone": "UTC"},
    "at": {"type": "integer", "format": ["HH:mm", "hh:mm AM"]},
    "ok": {"type": "boolean", "true_words": ["J"], "false_words": ["N"]},
}
TEXTS = {
    "who": [" a ", "b", "Mu\u0308ller", "0"], "sex": [" Female", "M", "?", "w"], "age": ["30", "999", "106", "-1"],
    "pay": ["1.234,50", "12", "5.000,01", "1,234"], "born": ["02.01.1970", "3 Jan 1970", "1900-01-01", "31.02.1970"],
    "seen": ["1.5", "1,5", "01.01.1970 00:01", "x"], "at": ["05:40", "12:30 PM", "24:00", "5:40"],
    "ok": ["J", "n", "yes", " j "],
}
ROWS = [
    ("a", "f", 30, 1234.5, 1, 1_500_000, 20_400, 1), ("b", "m", None, 12.0, 2, None, 45_000, 0),
    ("Müller", None, None, None, None, 60_000_000, None, None), (None, "f", None, 1.234, None, None, None, 1),
]


def source_of(kind, tmp_path, columns):
    frame = pa.table(columns)
    if kind == "parquet":
        pq.write_table(frame, tmp_path / "d.parquet")
        return None, {"file": "d.parquet"}
    if kind == "duckdb":
        with duckdb.connect(str(tmp_path / "d.duckdb")) as connection:
            connection.execute("CREATE TABLE t AS FROM frame")
        return None, {"duckdb": {"file": "d.duckdb", "table": "t"}}
    if kind == "csv":
        pd.DataFrame(columns).to_csv(tmp_path / "d.csv", index=False)
        return None, {"file": "d.csv", "missing": []}
    return {"pandas": frame.to_pandas(), "polars": pl.DataFrame(columns), "arrow": frame}[kind], {}


@pytest.mark.parametrize("kind", ["csv", "parquet", "duckdb", "pandas", "polars", "arrow"])
def test_texts_mean_the_same_from_every_source(refreshed, tmp_path, kind):
    frame, table = source_of(kind, tmp_path, TEXTS)
    rows, report = refreshed(COLUMNS, frame, **table)
    assert rows == ROWS
    assert report.by_column()["age"].not_valid == 1
    assert report.by_column()["pay"].not_valid == 1
    assert report.spellings["at"].most() == [('"24:00"', 1), ('"5:40"', 1)]


@pytest.mark.parametrize("kind", ["parquet", "duckdb", "pandas", "polars", "arrow"])
def test_typed_values_too(refreshed, tmp_path, kind):
    columns = {
        "who": [1, 0, 3], "age": [30, 999, 106], "pay": [1234.5, 5000.5, None],
        "born": [dt.date(1970, 1, 2), dt.date(1900, 1, 1), None], "seen": [1.5, -1.0, None],
        "at": [dt.time(5, 40), dt.time(0), None], "ok": [True, False, None],
    }
    frame, table = source_of(kind, tmp_path, columns)
    born = COLUMNS["born"] | {"valid": ["1971-01-01", "2024-12-31"]}
    _, report = refreshed({"born": born}, frame, **table)
    assert report.spellings["born"].most() == [("1970-01-02", 1)]
    rows, _ = refreshed({name: COLUMNS[name] for name in columns}, frame, **table)
    assert rows == [
        ("1", 30, 1234.5, 1, 1_500_000, 20_400, 1), (None, None, None, None, -1_000_000, 0, 0),
        ("3", None, None, None, None, None, None),
    ]


PEOPLE = {
    "who": {"type": "text", "clean": ["trim"], "na_values": ["0", ""]},
    "visit": {"type": "integer", "na_values": ["9"], "valid": [0, 50]},
    "sex": {"type": "text", "clean": ["lower"], "map": {"female": "f"}, "per_unit": 1},
    "cost": {"type": "float", "decimal": ",", "unreadable": "set-aside"},
}
CELLS = (
    st.sampled_from(["a", " a", "b", "b ", "0", "", "A"]), st.sampled_from(["1", "01", "2", "9", "99", "x", ""]),
    st.sampled_from(["F", "female", "m", "M", None]), st.sampled_from(["1,5", "2", "1.5", None]),
)


@pytest.fixture(scope="module")
def people(tmp_path_factory):
    raw = {"curator": {"protects": "people"}, "ledger": {"epsilon": 1}}
    table = {"unit": "who", "max_total": 3, "distinct": ["visit"], "columns": PEOPLE}
    return load(raw | {"tables": {"t": table}}, directory=tmp_path_factory.mktemp("people"))


@given(rows=st.lists(st.tuples(*CELLS), max_size=9), gone=st.sampled_from("ab"))
@tried
def test_without_one_person_the_rows_of_all_others_are_what_they_were(people, stored, rows, gone):
    """Where a unit is cleaned, repeats go, one value a unit is taken and rows are set aside, all at once."""

    def read(kept):
        refresh(people, {"t": {name: [row[j] for row in kept] for j, name in enumerate(PEOPLE)}})
        return sorted(stored(people), key=repr)

    whole = read(rows)
    assert read([row for row in rows if row[0].strip() != gone]) == [row for row in whole if row[0] != gone]


GOOD = {"ts": "01/02/2020 03:04", "n": "1.234,5", "w": "Ja", "tm": "12:30", "c": "86400", "x": "a"}
MEANT = (1_580_526_240_000_000, 1234.5, 1, 45_000, 86_400_000_000, "a")
HOSTILE = [
    "\0", "9" * 5000, "31/02/2020 00:00", "01/02/0000 03:04", "01/02/2020 24:00", "01/02/2020 03:04|x", "||||||||",
    "\\1", "(", "'; DROP TABLE t0; --", "\ufeff01/02/2020 03:04", "01/02/2020\u00a003:04", "1.23.456", "1e309", "nan",
    "ﬀ", "İ", "9223372036854775807", "-9223372036854775808", "9" * 19, "86400.0", "99:99", "12:60", "\t12:30",
    "１２:３０", "2020-01-01T00:00:00+99:99", "2020-01-01T00:00:00." + "9" * 1000, "0" * 400 + "1",
]


def test_t1_a_hostile_cell_of_a_declared_format_changes_no_other_cell(refreshed, tmp_path):
    """Each in each column, in a row of its own among good ones; what it is itself, the grammar says."""
    columns = {
        "ts": {"type": "timestamp", "zone": "UTC", "format": ["DD/MM/YYYY HH:mm", "ISO"]},
        "n": {"type": "float", "decimal": ",", "thousands": "."},
        "w": {"type": "boolean", "true_words": ["ja"], "false_words": ["nein"]},
        "tm": {"type": "integer", "format": "HH:mm"}, "c": {"type": "timestamp", "format": "seconds since 1970-01-01"},
        "x": "text",
    }
    cells = [(j, cell) for cell in HOSTILE for j in range(len(GOOD))]
    lines = [[cell if n == j else good for n, good in enumerate(GOOD.values())] for j, cell in cells]
    lines = [line for one in lines for line in (one, list(GOOD.values()))]
    written = "\n".join(";".join('"' + cell.replace('"', '""') + '"' for cell in line) for line in [list(GOOD), *lines])
    (tmp_path / "h.csv").write_text(written + "\n", encoding="utf-8")
    rows, _ = refreshed(columns, file="h.csv", delimiter=";")
    assert rows[1::2] == [MEANT] * len(cells)
    for (j, _), row in zip(cells, rows[0::2], strict=True):
        assert row[:j] + row[j + 1 :] == MEANT[:j] + MEANT[j + 1 :]
