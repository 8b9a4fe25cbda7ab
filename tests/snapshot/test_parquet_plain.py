"""Parquet files with one value at which a reader of their types stops: it is unreadable, and all others are read."""

import contextlib
import datetime as dt

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from dpcurator.snapshot.parquet_plain import stored_plainly, without_meaning

CLOCK = {"type": "integer", "format": "HH:mm"}
INSTANT = {"type": "timestamp", "zone": "UTC"}
PAST = 9_224_318_015_999_999  # milliseconds, the first that are not 64 bits of microseconds


def of_bits(kind, numbers, size="int64"):
    return pa.Array.from_buffers(kind, len(numbers), [None, pa.py_buffer(np.array(numbers, size))])


def of_bytes(cells):
    ends = np.cumsum([0, *map(len, cells)]).astype(np.int32)
    return pa.StringArray.from_buffers(len(cells), pa.py_buffer(ends), pa.py_buffer(b"".join(cells)))


def millis(zone):
    last = 253402300799999  # of the year 9999
    return of_bits(pa.timestamp("ms", zone), [1, PAST, -PAST, 2**63 - 1, -(2**62), last, last + 1, -7])


MILLIS = [1000, None, None, None, None, 253402300799999000, None, -7000]
STOPS = {
    "ms": (millis(None), INSTANT, MILLIS),
    "ms utc": (millis("UTC"), "timestamp", MILLIS),
    "text": (of_bytes([b"a", b"\xff", b"?", b"", b"\xc3\xa9"]), "text", ["a", None, "?", "", "é"]),
    "json": (pa.array(['{"a": 1}', "no json", '"x"'], pa.json_()), "text", ['{"a": 1}', "no json", '"x"']),
    "time ms": (of_bits(pa.time32("ms"), [0, 5000, 86_400_000, -1, 61_500], "int32"), CLOCK, [0, 5, None, None, 61]),
    "time us": (of_bits(pa.time64("us"), [0, 5_000_000, 86_400_000_000, 2**62, -1]), CLOCK, [0, 5, None, None, None]),
}
SOUND = {"t": ["x", "y"], "at": pa.array([1, 2], pa.timestamp("us")), "f": [0.5, 1.5],
         "inner": [{"l": ["u", None], "j": 1}, None], "d": [dt.date(2020, 1, 1)] * 2}


@pytest.mark.parametrize("name", STOPS)
def test_t1_a_value_that_stops_a_reader_is_unreadable_and_harms_no_other_row(refreshed, tmp_path, name):
    cells, column, values = STOPS[name]
    size = len(cells)
    beside = {key: pa.array(list(given) * size)[:size] for key, given in SOUND.items()}
    pq.write_table(pa.table({"x": cells, "n": range(size), **beside}), tmp_path / "x.parquet", row_group_size=2)
    columns = {"x": column, "n": "integer", "t": "text", "at": INSTANT, "f": "float", "d": "date"}
    rows, report = refreshed(columns, file="x.parquet")
    others = [("x", 1, 0.5, 18262), ("y", 2, 1.5, 18262)]
    assert sorted(rows, key=lambda row: row[1]) == [(value, n, *others[n % 2]) for n, value in enumerate(values)]
    assert report.unreadable["x"].count == values.count(None)
    assert not any(report.unreadable[name].count for name in ("n", "t", "at", "f", "d"))
    assert not [left for left in (tmp_path / ".dpcurator").iterdir() if left.name.startswith("draft")]


@pytest.mark.slow
@pytest.mark.parametrize("name", STOPS)
def test_t1_what_another_row_has_decides_no_value(refreshed, tmp_path, name):
    """Each row alone in its file, which is then read in one way or the other, is what it is among all."""
    cells, column, values = STOPS[name]
    for n, value in enumerate(values):
        pq.write_table(pa.table({"x": cells.slice(n, 1)}), tmp_path / "x.parquet")
        assert refreshed({"x": column}, file="x.parquet")[0] == [(value,)]


def test_a_copy_is_its_owners_alone_and_gone_afterwards(tmp_path):
    names = [f"column number {n}" for n in range(40)]
    pq.write_table(pa.table({name: ["x"] for name in names}), tmp_path / "x.parquet")
    with stored_plainly(tmp_path / "x.parquet", tmp_path) as copy:
        assert copy.parent == tmp_path
        assert copy.stat().st_mode & 0o777 == 0o600
        schema = pq.ParquetFile(copy).schema
        assert [schema.column(n).name for n in range(40)] == names
        assert {schema.column(n).logical_type.type for n in range(40)} == {"NONE"}
    assert not copy.exists()


def test_damaged_footers_are_no_parquet_files(tmp_path):
    pq.write_table(pa.table({"x": ["a"], "y": pa.array([1], pa.time32("ms"))}), tmp_path / "x.parquet")
    whole = (tmp_path / "x.parquet").read_bytes()
    footer = whole[-8 - int.from_bytes(whole[-8:-4], "little") : -8]
    assert without_meaning(footer) != footer
    assert without_meaning(without_meaning(footer)) == without_meaning(footer)
    for size in range(len(footer) // 2):  # the schema is in front
        with contextlib.suppress(ValueError):  # and nothing else
            without_meaning(footer[:size])
    with pytest.raises(ValueError, match="ends too early"):
        without_meaning(footer[:20])
    for content in (b"", b"PAR1", b"PAR1" + bytes(8), whole[:-1], whole[: len(whole) // 2], b"\x4c" * 5000 + b"PAR1"):
        (tmp_path / "y.parquet").write_bytes(content)
        with pytest.raises(ValueError, match=r"Parquet"), stored_plainly(tmp_path / "y.parquet", tmp_path):
            pass
