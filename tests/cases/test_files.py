"""Real-world cases about files, names, special values and declarations, named by id; data in tests/cases/data."""

import datetime as dt
import shutil
from fractions import Fraction
from pathlib import Path

import duckdb
import numpy as np
import pandas as pd
import pytest

from dpcurator.catalog.bind import PublicFacts, catalog_of
from dpcurator.catalog.check import check
from dpcurator.catalog.load import load
from dpcurator.errors import Misconfigured
from dpcurator.snapshot.refresh import refresh
from dpcurator.snapshot.store import open_snapshot

DATA = Path(__file__).parent / "data"


@pytest.fixture
def case(tmp_path):
    """(table fields, frame) -> (catalog table, stored rows); a file is copied from the cases' data."""

    def run(frame=None, **table):
        if "file" in table:
            shutil.copy(DATA / table["file"], tmp_path)
        raw = {"curator": {"protects": "people"}, "ledger": {"epsilon": 1}, "tables": {"t": table}}
        declaration = load(raw, directory=tmp_path)
        refresh(declaration, None if frame is None else {"t": frame})
        info = open_snapshot(declaration)
        with duckdb.connect(str(info.path), read_only=True) as connection:
            return catalog_of(declaration, info.facts).tables[0], connection.execute("FROM t0").fetchall()

    return run


def test_nam_01_a_hyphen_in_a_column_name(case):
    frame = {"age": [1, 2, 3, 4, 5], "net-gain": [0, 0, 0, 5000, 0], "occupation": ["a"] * 5}
    table, rows = case(frame, unit="each row", columns={"net-gain": {"type": "integer", "bounds": [0, 10000]}})
    assert table.columns[0].name == "net-gain"
    assert sum(row[0] for row in rows) / 5 == 1000


MESSY = {
    "user id": "integer", "score": "integer", "second score": "integer", "rate %": "float", "rate $": "float",
    "größe": {"type": "float", "bounds": [140, 200]}, "年齢": {"type": "integer", "bounds": [0, 99]}, "select": "text",
    "group by": "text", "line\nbreak": "text", "a,b": "text", "": "integer",
}


def test_nam_03_a_messy_header(case):
    with pytest.raises(Misconfigured, match=r'Columns 3 and 4 of "messy_headers.csv" have the same name \("score"\)'):
        case(file="messy_headers.csv", unit="user id", columns={"user id": "integer", "score": "integer"})
    _, rows = case(file="messy_headers.csv", unit="user id", columns=MESSY, rename={"4": "second score"})
    columns = dict(zip(MESSY, zip(*rows, strict=True), strict=True))
    assert len(rows) == 8
    assert columns["user id"] == tuple(range(1, 9))
    assert sum(columns["größe"]) / 8 == 154.5
    assert sum(columns["年齢"]) / 8 == 24.5
    assert [columns["select"].count(word) for word in ("yes", "no")] == [4, 4]
    assert (columns["score"][0], columns["second score"][0]) == (1, 99)
    assert (columns["rate %"][0], columns["rate $"][0]) == (0.5, 0.2)
    assert set(columns["a,b"]) == {"v,0", "v,1"}
    assert set(columns["line\nbreak"]) == {"p", "q"}


def test_nam_05_line_breaks_in_header_and_cells(case):
    _, rows = case(
        file="header_newline.csv", unit="id", columns={"id": "integer", "weight\n(kg)": "float", "note": "text"}
    )
    assert len(rows) == 3
    assert sum(row[1] for row in rows) / 3 == pytest.approx(71.6666667)
    assert [row[2] for row in rows] == ["first\nline", "ok", 'say "hi"']


def test_nam_07_upper_and_lower_case(case):
    frame = pd.DataFrame({"UserId": [1, 2], "Score": [3.0, 4.0], "score": [5.0, 6.0]})
    table, rows = case(frame, unit="UserId", columns={"UserId": "integer", "Score": "float", "score": "float"})
    assert [column.name for column in table.columns] == ["UserId", "Score", "score"]
    assert rows == [(1, 3.0, 5.0), (2, 4.0, 6.0)]
    with pytest.raises(Misconfigured, match=r'no column "userid". Did you mean "UserId"\?'):
        case(frame, unit="userid", columns={"userid": "integer"})
    with pytest.raises(Misconfigured, match=r'The unit "userid" is not among the columns\. Did you mean "UserId"'):
        case(frame, unit="userid", columns={"UserId": "integer"})


@pytest.mark.parametrize("host", ["UTC", "Asia/Tokyo", "America/New_York"])
def test_tim_01_the_machine_s_zone_does_not_matter(case, monkeypatch, host):
    monkeypatch.setenv("TZ", host)
    _, rows = case(file="timestamps_tz.csv", unit="user_id", columns={"user_id": "integer", "ts": "timestamp"})
    days = [str(dt.datetime(1970, 1, 1) + dt.timedelta(microseconds=row[1]))[:10] for row in rows]
    assert days == ["2015-05-09", "2015-05-09", "2015-05-08", "2015-05-09", "2015-01-01"]
    assert rows[0][1] % 1_000_000 == 123_000


def test_tim_03_one_corrupt_timestamp_is_one_missing_value(case):
    values = [np.datetime64(f"{year}-06-01", "us") for year in (2021, 2023, 2024)]
    column = np.array([*values, np.datetime64(9 * 10**18, "us"), np.datetime64("NaT")])
    for given in (column, pd.Series(column)):
        _, rows = case({"ts": given}, unit="each row", columns={"ts": {"type": "timestamp", "zone": "UTC"}})
        assert [row[0] is None for row in rows] == [False, False, False, True, True]
    edges = ["0001-01-01T00:00Z", "9999-12-31T23:59:59.999999Z", "1969-12-31T23:59:59Z"]
    _, rows = case({"ts": edges}, unit="each row", columns={"ts": "timestamp"})
    assert rows == [(-62135596800000000,), (253402300799999999,), (-1000000,)]


def test_spv_01_nan_is_missing(case):
    for values in ([1.0, float("nan"), 2.0], np.array([1, np.nan, 2], dtype=np.float32), ["1", "NaN", "2"]):
        _, rows = case({"x": values}, unit="each row", columns={"x": {"type": "float", "bounds": [0, 10]}})
        assert rows == [(1.0,), (None,), (2.0,)]


def test_spv_08_an_empty_field_is_missing(case):
    _, rows = case(file="nulls.csv", unit="user_id", columns={"user_id": "integer", "c": "text", "region": "text"})
    assert {row[1] for row in rows} - {None} == {"x", "y", "z"}
    assert {row[2] for row in rows} - {None} == {"North", "South"}


def test_spv_11_all_nans_are_one_missing_and_both_zeros_one_zero(case):
    quiet = np.array([0x7FF8000000000000, 0xFFF8000000000001], dtype=np.uint64).view(np.float64)
    column = np.concatenate([quiet, [1, 1, 2, 0.0, -0.0]])
    keyed = {"type": "float", "keys": [1, 2, 0.0], "keys_include_missing": True}
    table, rows = case({"x": column}, unit="each row", columns={"x": keyed})
    assert table.columns[0].keys == (None, 0.0, 1.0, 2.0)
    values = [str(row[0]) for row in rows]
    assert [values.count(key) for key in ("1.0", "2.0", "None", "0.0")] == [2, 1, 2, 2]
    with pytest.raises(Misconfigured, match="key nan means missing"):
        case({"x": column}, unit="each row", columns={"x": {"type": "float", "keys": [float("nan")]}})


@pytest.mark.parametrize(
    ("bounds", "shown"),
    [
        ([0, float("inf")], "[0, inf]"),
        ([float("nan"), 1], "[nan, 1]"),
        ([10, 0], "[10, 0]"),
        (["0", "10"], '["0", "10"]'),
    ],
)
def test_spv_12_bad_bounds_are_refused_when_declared(case, bounds, shown):
    with pytest.raises(Misconfigured) as caught:
        case({"x": []}, unit="each row", columns={"x": {"type": "float", "bounds": bounds}})
    assert shown in str(caught.value)


def test_sel_10_an_empty_list_of_keys_is_a_list(case):
    columns = {"user_id": "integer", "a": {"type": "integer", "keys": []}, "b": "integer"}
    table, _ = case(file="null_group_keys.csv", unit="user_id", columns=columns)
    assert table.columns[1].keys == ()
    assert table.columns[2].keys is None


def test_num_01_huge_integers(case):
    huge = {"user_id": "integer", "v": {"type": "integer", "bounds": [-10, 10**38]}}
    with pytest.raises(Misconfigured, match="must be whole and inside 64 bits"):
        case(file="huge_ints.csv", unit="user_id", columns=huge)
    _, rows = case(file="huge_ints.csv", unit="user_id", columns={"user_id": "integer", "v": "integer"})
    assert [row[1] for row in rows] == [None, None, -5]
    _, rows = case(file="huge_ints.csv", unit="user_id",
                   columns={"user_id": "integer", "v": {"type": "float", "bounds": [-10, 1e38]}})
    assert [row[1] for row in rows] == [1e38, 1e38, -5.0]


def test_use_03_a_forgotten_cap_is_named_with_its_line():
    text = '[curator]\nprotects = "p"\n[ledger]\nepsilon = 1\n[tables.t]\nunit = "u"\n[tables.t.columns]\nu = "text"\n'
    found = check(load(text), PublicFacts(1))
    assert [finding.paste for finding in found] == ["max_total = 20"]
    assert found[0].where == "curator.toml:5"
    assert "how many rows of one unit count in an answer" in found[0].what


@pytest.mark.parametrize("spelled", [0.1, "0.1", "1/10"])
def test_bud_01_the_budget_is_exact(spelled):
    tables = {"t": {"unit": "each row", "columns": {"x": "text"}}}
    declared = load({"curator": {"protects": "p"}, "ledger": {"epsilon": spelled}, "tables": tables})
    assert declared.epsilon == Fraction(1, 10)
