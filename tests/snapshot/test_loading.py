"""Parts of a source in a table: the way through the forms and the way through the grammar give the same snapshot."""

import datetime as dt
from decimal import Decimal

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hostile_spellings import spellings

from dpcurator.catalog.source_types import may_be
from dpcurator.catalog.spelling import ISO
from dpcurator.snapshot import loading
from dpcurator.snapshot.refresh import refresh
from dpcurator.snapshot.typed_source import _plain
from dpcurator.snapshot.vectorised import NONE

TYPES = ("integer", "float", "boolean", "date", "timestamp", "uuid", "text")
COLUMNS = {type: {"type": type} for type in TYPES}
COLUMNS["timestamp"]["zone"] = "UTC"
COLUMNS["text"]["max_length"] = 8
KEPT = {
    "integer": {"valid": [-5, 2**40], "na_values": [1]}, "float": {"valid": [-10, 1e18], "na_values": [0.5]},
    "boolean": {"na_values": ["1"]}, "date": {"valid": ["1969-01-01", "9999-12-30"], "na_values": ["1969-12-31"]},
    "timestamp": {"valid": ["1970-01-01T00:00", "9999-12-30T00:00"]},
    "uuid": {"na_values": ["123e4567-e89b-12d3-a456-426614174001"]}, "text": {"na_values": ["1", "x"]},
}
ASIDE = COLUMNS | {type: {"type": type, "unreadable": "set-aside"} for type in ("date", "uuid")}


def in_order(rows):
    """Which order rows come in is the engine's, and no part of meaning."""
    return sorted(rows, key=str)


@pytest.fixture
def both(declared, stored, monkeypatch):
    """Rows and report by the forms and by the grammar alone; they must be the same."""

    def read(columns, frame=None, **table):
        declaration = declared(columns, **table)
        told = []
        for forms in (True, False):
            with monkeypatch.context() as patched:
                if not forms:
                    patched.setattr(loading, "of_kind", lambda *_: NONE)
                report = refresh(declaration, None if frame is None else {"t": frame})
            told.append((in_order(stored(declaration)), report.tables[0].as_json()))
        assert str(told[0]) == str(told[1])
        return told[0]

    return read


@pytest.mark.parametrize("columns", [COLUMNS, ASIDE], ids=["missing", "set aside"])
def test_t18_a_csv_file_is_read_alike_in_both_ways(both, tmp_path, columns):
    import csv

    kept = [[text for text in spellings(type, 900, "csv") if "\0" not in text] for type in TYPES]
    with (tmp_path / "x.csv").open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([TYPES, *zip(*(cells[:700] for cells in kept), strict=True)])
    _, report = both(columns, file="x.csv", missing=["", "NaN", "it's", "\u3000"])
    assert report["rows"] + report["set_aside"]["count"] == 700
    assert bool(report["set_aside"]["count"]) is (columns is ASIDE)
    assert len(report["unreadable"]) >= 5


def typed():
    """Odd values of every kind that a Parquet file has."""
    whole = [0, 1, -1, 2, 2**31 - 1, -(2**63), 2**63 - 1, None]
    many = [0.0, -0.0, 1.0, 0.5, float("nan"), float("inf"), -float("inf"), None]
    last, first = 253402300799999999, -62135596800000000
    micros = [0, -1, 86_400_000_000, last, last + 1, first, first - 1, None]
    return pa.table({
        "i8": pa.array([0, 1, -1, 2, 127, -128, 7, None], pa.int8()), "i64": pa.array(whole, pa.int64()),
        "u64": pa.array([0, 1, 2, 2**63 - 1, 2**63, 2**64 - 1, 3, None], pa.uint64()),
        "f32": pa.array(many, pa.float32()), "f64": pa.array([1e19, -9.3e18, 2.0**63, *many[3:]], pa.float64()),
        "d9": pa.array([Decimal(n) / 100 for n in (0, 1, 100, -250, 999999999, 7, 30)] + [None], pa.decimal128(9, 2)),
        "d38": pa.array([Decimal(n) / 1000 for n in (0, 1000, 10**17 + 1, 10**18, -(10**36), 7, 1001)] + [None],
                        pa.decimal128(38, 3)),
        "b": pa.array([True, False, None] * 2 + [True, True]), "day": pa.array([0, -1, 2932896, 2932897, -719162,
                                                                                -719163, 1, None], pa.date32()),
        "us": pa.array(micros, pa.timestamp("us")), "zoned": pa.array(micros, pa.timestamp("us", "UTC")),
        "ms": pa.array([0, -1, 86_400_000, 2**52, -(2**52), last // 1000, 5, None], pa.timestamp("ms")),
        "ns": pa.array([0, -1, 999, 86_400_000_000_000, 2**62, -(2**62), 1000, None], pa.timestamp("ns")),
        "text": pa.array(["a", "", "1", "2024-01-01", "a\0b", "é" * 9, "YES", None]),
        "uuid": pa.array(["123e4567-e89b-12d3-a456-426614174000", "123E4567-E89B-12D3-A456-426614174000"] * 4),
        "bytes": pa.array([b"1", b"\xff"] * 4),
        "list": pa.array([[1], None] * 4), "time": pa.array([dt.time(1), None] * 4),
        "words": pa.array(["1", "no", "x", None] * 2).dictionary_encode(),
    })


@pytest.mark.parametrize("kept", [False, True], ids=["as it is", "cleaned"])
@pytest.mark.parametrize("type", TYPES)
def test_t18_typed_sources_are_read_alike_in_both_ways(both, declared, stored, tmp_path, type, kept):
    """Cleaned too: of a value that is none of the type, as 1e19 is no integer, `valid` and `na_values` ask nothing."""
    table = typed()
    pq.write_table(table, tmp_path / "x.parquet")
    with duckdb.connect(str(tmp_path / "x.duckdb")) as connection:
        connection.execute(f"CREATE TABLE t AS FROM '{tmp_path}/x.parquet'")
        kinds = {name: _plain("", kind)[1].partition("(")[0] for name, kind, *_ in connection.execute(
            "DESCRIBE t").fetchall()}
    read = [name for name, kind in kinds.items() if may_be(kind, type, ISO)]  # any other is refused
    columns = dict.fromkeys(read, COLUMNS[type] | (KEPT[type] if kept else {}))
    rows, _ = both(columns, file="x.parquet")
    assert len(rows) == 8
    assert any(value is not None for row in rows for value in row)
    declaration = declared(columns, duckdb={"file": "x.duckdb", "table": "t"})
    refresh(declaration)
    assert str(in_order(stored(declaration))) == str(rows)
    refresh(declared(columns), {"t": table})
    assert str(in_order(stored(declared(columns)))) == str(rows)


def test_t18_many_left_values_go_through_the_grammar_in_pieces(both, monkeypatch):
    monkeypatch.setattr(loading, "AT_ONCE", 3)
    cells = [f"0{n}.00" for n in range(10)] + ["x", "y", "z", "0x1"]
    rows, report = both({"a": "integer"}, {"a": cells})
    assert rows == in_order([(n,) for n in range(10)] + [(None,)] * 4)
    assert report["unreadable"]["a"]["count"] == 4


def test_t18_a_collation_of_the_source_makes_no_two_texts_one(both, tmp_path):
    with duckdb.connect(str(tmp_path / "x.duckdb")) as connection:
        connection.execute("CREATE TABLE t (a VARCHAR COLLATE NOCASE)")
        connection.execute("INSERT INTO t VALUES ('nAN'), ('NaN'), ('x'), ('X'), ('YES'), ('yEs'), ('yes'), ('K')")
    rows, _ = both({"a": {"type": "text", "max_length": 2}}, duckdb={"file": "x.duckdb", "table": "t"})
    assert rows == in_order([(None,)] * 5 + [("x",), ("X",), ("K",)])


def test_t1_of_a_value_that_is_none_of_its_type_valid_and_na_values_ask_nothing(both, tmp_path):
    """1e300 is no integer: where `valid` was compared with it as one, the whole refresh stopped for that row."""
    values = {"f": "DOUBLE", "h": "HUGEINT", "u": "UBIGINT", "d": "DECIMAL(38,2)", "day": "DATE", "at": "TIMESTAMP"}
    whole = ["1", "3", str(2**63), "0.5", None]
    odd = {"f": ["1", "3", "1e300", "-inf", None], "h": ["1", "3", str(2**127 - 1), str(1 - 2**127), None],
           "day": ["1970-01-02", "1970-01-03", "infinity", "290000-01-01", None]}
    cells = {name: odd.get("day" if name == "at" else name, whole) for name in values}
    with duckdb.connect(str(tmp_path / "x.duckdb")) as connection:
        columns = ", ".join(f"unnest({cells[name]!r}::VARCHAR[])::{kind} AS {name}".replace("None", "NULL")
                            for name, kind in values.items() if name != "u")
        connection.execute(f"CREATE TABLE t AS SELECT {columns}, unnest([1, 3, {2**64 - 1}, 0, NULL]) AS u")
    source = {"duckdb": {"file": "x.duckdb", "table": "t"}}
    for given in ({"valid": [0, 2]}, {"na_values": [3]}):
        rows, _ = both({name: {"type": "integer"} | given for name in "fhud"}, **source)
        assert (rows.count((1,) * 4), rows.count((None,) * 4)) == (1, 3)
    rows, _ = both({name: {"type": "boolean", "na_values": ["1"]} for name in "fhud"}, **source)
    assert {value for row in rows for value in row} <= {None, 0}
    rows, _ = both({name: {"type": "float", "valid": [0, 2]} for name in "fhud"}, **source)
    assert (rows.count((1.0,) * 4), rows.count((None,) * 4)) == (1, 3)
    days = {"type": "date", "valid": ["1970-01-01", "1970-01-02"]}
    assert both({"day": days, "at": days}, **source)[0] == in_order([(1, 1)] + [(None, None)] * 4)
