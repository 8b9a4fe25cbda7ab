"""Data frames: one table of values in every library and dtype, extremes, and frames that are refused."""

import datetime as dt
from decimal import Decimal
from uuid import UUID

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from dpcurator.catalog.spelling import Spelling, Unreadable, read_value
from dpcurator.errors import Misconfigured
from dpcurator.snapshot.frame_vectors import vector_of
from dpcurator.snapshot.frames import values_of
from dpcurator.snapshot.loading import registered
from dpcurator.snapshot.typed_values import READERS

TYPES = {
    "i": "integer", "f": "float", "b": "boolean", "d": "date", "ts": "timestamp", "u": "uuid", "s": "text",
}
U = "123e4567-e89b-12d3-a456-426614174000"
NOON = dt.datetime(2020, 1, 1, 12, tzinfo=dt.timezone(dt.timedelta(hours=1)))
PLAIN = {
    "i": [1, None, 3],
    "f": [1.5, None, 0.0],
    "b": [True, None, False],
    "d": [dt.date(1970, 1, 2), None, dt.date(9999, 12, 31)],
    "ts": [dt.datetime(1970, 1, 1, tzinfo=dt.UTC), None, NOON],
    "u": [U, None, U.upper()],
    "s": ["a", None, "é"],
}
ROWS = [(1, 1.5, 1, 1, 0, U, "a"), (None,) * 7, (3, 0.0, 0, 2932896, 1577876400000000, U, "é")]
PANDAS = pd.DataFrame(PLAIN).assign(ts=pd.to_datetime(pd.Series(PLAIN["ts"]), utc=True))
ARROW = pa.table(PLAIN)
FRAMES = {
    "dict of lists": PLAIN,
    "dict of uuid and mixed": PLAIN | {"u": [UUID(U), None, U], "i": ["1", float("nan"), Decimal("3")]},
    "pandas": PANDAS,
    "pandas, nullable": PANDAS.convert_dtypes(),
    "pandas, categories": PANDAS.astype({"s": "category", "u": "category"}),
    "pandas, zone": PANDAS.assign(ts=PANDAS["ts"].dt.tz_convert("Asia/Tokyo")),
    "pandas, nanoseconds": PANDAS.assign(ts=PANDAS["ts"].dt.as_unit("ns")),
    "pandas, odd index": PANDAS.set_index(pd.Index([9, 9, 9])),
    "pandas, arrow": pd.DataFrame({n: pd.Series(v, dtype=pd.ArrowDtype(ARROW[n].type)) for n, v in PLAIN.items()}),
    "polars": pl.DataFrame(PLAIN),
    "polars, lazy": pl.LazyFrame(PLAIN),
    "polars, categories": pl.DataFrame(PLAIN).with_columns(pl.col("s").cast(pl.Categorical)),
    "pyarrow": ARROW,
    "pyarrow, batch": pa.RecordBatch.from_pydict(PLAIN),
    "pyarrow, dictionary": ARROW.set_column(6, "s", ARROW["s"].dictionary_encode()),
    "pyarrow, chunks": pa.concat_tables([ARROW.slice(0, 1), ARROW.slice(1)]),
    "dict of series": {n: (pl.Series(v) if n == "i" else pd.Series(v, dtype=object)) for n, v in PLAIN.items()},
}


@pytest.mark.parametrize("name", FRAMES)
def test_the_same_rows_from_every_library(refreshed, name):
    rows, report = refreshed(TYPES, FRAMES[name])
    assert rows == ROWS
    assert not any(trouble.count for trouble in report.unreadable.values())


NUMBERS = [
    (np.array([1, -128], dtype=np.int8), "integer", [1, -128]),
    (np.array([2**63, 5], dtype=np.uint64), "integer", [None, 5]),
    (np.array([1.0, 1.5, np.nan, np.inf, 2.0**63]), "integer", [1, None, None, None, None]),
    (np.array([0.1, -0.0], dtype=np.float32), "float", [0.10000000149011612, 0.0]),
    (np.array([0.1], dtype=np.float16), "float", [0.0999755859375]),
    (np.array([2**53 + 1]), "float", [float(2**53)]),
    (np.ma.masked_array([1, 2], mask=[True, False]), "integer", [None, 2]),
    (np.array([True, False]), "integer", [None, None]),
    (np.array([True, False]), "boolean", [1, 0]),
    ([np.int32(4), np.float64("nan"), np.str_("6"), np.bool_(True)], "integer", [4, None, 6, None]),
    (["1", "99999999999999999999", "", " 7 "], "integer", [1, None, None, 7]),
    ([Decimal("0.1"), Decimal("Infinity"), Decimal("-0")], "float", [0.1, float("inf"), 0.0]),
    (np.array(["a", "b"]), "text", ["a", "b"]),
    (np.array(["1970-01-02", "NaT"], dtype="datetime64[D]"), "date", [1, None]),
    (np.array(["1970-01-02T00:00", "1970-01-02T00:01"], dtype="datetime64[ns]"), "date", [1, None]),
]


@pytest.mark.parametrize(("values", "type", "expected"), NUMBERS)
def test_values_are_converted_exactly_or_not_at_all(refreshed, values, type, expected):
    rows, _ = refreshed({"x": type}, {"x": values})
    assert [row[0] for row in rows] == expected
    assert "-0.0" not in str(rows)


FAR = 9_000_000_000_000_000_000  # microseconds: the year 287,000
INSTANTS = [
    pa.array([FAR, -1, None, 0], pa.timestamp("us")),
    pa.array([FAR // 1000, None, None, 0], pa.timestamp("ms")),
    pl.Series([FAR, -1, None, 0], dtype=pl.Datetime("us")),
    np.array([FAR, -1, "NaT", 0], dtype="datetime64[us]"),
    pd.Series(np.array([FAR, -1, "NaT", 0], dtype="datetime64[us]")),
]


@pytest.mark.parametrize("values", INSTANTS)
def test_an_instant_past_the_calendar_harms_no_other_row(refreshed, values):
    rows, report = refreshed({"x": {"type": "timestamp", "zone": "UTC"}}, {"x": values})
    assert rows[0] == (None,)
    assert rows[2:] == [(None,), (0,)]
    assert report.unreadable["x"].count == 1


def wild_text():
    """Two texts, the second of bytes that are no UTF-8, which Arrow does not look at."""
    ends = pa.py_buffer(np.array([0, 1, 2], dtype=np.int32).tobytes())
    return pa.StringArray.from_buffers(2, ends, pa.py_buffer(b"a\xff"))


YEAR_20000 = 568_971_820_800  # in seconds
WILD = {
    "Arrow, text that is no UTF-8": (lambda: pa.table({"x": wild_text()}), "text", "a"),
    "pandas, text that is no UTF-8": (
        lambda: pd.DataFrame({"x": pd.arrays.ArrowExtensionArray(pa.chunked_array([wild_text()]))}), "text", "a"),
    "polars, a day past the calendar": (
        lambda: pl.DataFrame({"x": pl.Series([1, 9_000_000], dtype=pl.Int32).cast(pl.Date)}), "date", 1),
    "polars, a duration past those of Python": (
        lambda: pl.DataFrame({"x": pl.Series([1, 2**62]).cast(pl.Duration("ms"))}), "integer", None),
    "polars, a list of instants past the calendar": (
        lambda: pl.DataFrame({"x": pl.Series([[1], [2**61]]).cast(pl.List(pl.Datetime("ms")))}), "integer", None),
    "Arrow, a list of instants past the calendar": (
        lambda: pa.table({"x": pa.array([[1], [YEAR_20000]], pa.list_(pa.timestamp("s")))}), "integer", None),
    "pandas, an instant past the calendar among objects": (
        lambda: pd.DataFrame({"x": pd.Series([7, pd.Timestamp(np.datetime64(YEAR_20000, "s"))], dtype=object)}),
        "integer", 7),
    "pandas, categories past the calendar": (
        lambda: pd.DataFrame({"x": np.array([0, YEAR_20000], "M8[s]")}).astype("category"), "date", 0),
    "pandas, a whole number of many digits": (
        lambda: pd.DataFrame({"x": pd.Series([7, 10**5000], dtype=object)}), "text", "7"),
    "numpy, a duration": (lambda: {"x": np.array([7, 8], "m8[ns]")}, "integer", None),
    "numpy, letters past Unicode": (
        lambda: {"x": np.frombuffer(np.array([97, 0x110000], np.uint32).tobytes(), "U1")}, "text", "a"),
}


@pytest.mark.parametrize("name", WILD)
def test_t1_a_value_that_python_has_none_of_harms_no_other_row(refreshed, name):
    frame, kind, first = WILD[name]
    rows, report = refreshed({"x": kind}, frame=frame())
    assert rows == [(first,), (None,)]
    assert report.unreadable["x"].count == (1 if first is not None else 2)


def test_t1_no_method_of_a_value_harms_another_row(refreshed):
    """Objects in a frame that raise whatever is asked of them; text and numbers of such classes are read as what they
    are."""

    def hostile(base: type) -> type:
        def stop(*given: object) -> None:
            raise RuntimeError("private")

        names = {name for name in dir(base) if callable(getattr(base, name))}
        kept = {"__new__", "__init__", "__class__", "__getattribute__", "__init_subclass__", "__subclasshook__"}
        own = dict.fromkeys((names | {"__hash__", "__eq__", "__bool__", "__len__"}) - kept, stop)
        return type("Hostile", (base,), own | {"as_integer_ratio": stop, "item": stop, "encode": stop})

    class Unlike:
        @property
        def __class__(self) -> type:
            raise RuntimeError("private")

    for kind, plain in (("text", "b"), ("integer", 7), ("float", 2.5)):
        odd = [hostile(type(plain))(plain), hostile(object)(), Unlike(), plain, hostile(dt.date)(2024, 1, 1)]
        rows, report = refreshed({"x": kind}, frame={"x": odd})
        assert rows == [(plain,), (None,), (None,), (plain,), (None,)]
        assert report.unreadable["x"].count == 3


def test_t1_rows_are_taken_by_position_whatever_their_labels(refreshed):
    labels = pd.Index([10.5, 0.5, 70_000.5])  # which pandas 2 compares with the numbers of a slice
    assert refreshed({"x": "integer"}, frame=pd.DataFrame({"x": [1, 2, 3]}, index=labels))[0] == [(1,), (2,), (3,)]


def test_nanoseconds_are_cut_downward_and_zones_are_declared(refreshed):
    values = np.array([-1, 1999], dtype="datetime64[ns]")
    zoned = {"x": {"type": "timestamp", "zone": "Asia/Tokyo"}}
    for given in (values, pd.Series(values), pl.Series(values), pa.array(values)):
        rows, _ = refreshed(zoned, {"x": given})
        assert rows == [(-1 - 9 * 3_600_000_000,), (1 - 9 * 3_600_000_000,)]
        rows, report = refreshed({"x": "timestamp"}, {"x": given})
        assert rows == [(None,), (None,)]
        assert "without a declared zone" in report.unreadable["x"].first[0][1]


def test_values_of_no_type_are_unreadable(refreshed):
    odd = [dt.time(1), dt.timedelta(1), b"\xff", [1], {"a": 1}, object(), 1 + 2j, "\ud800", "\0"]
    for type in TYPES.values():
        rows, report = refreshed({"x": type}, {"x": odd})
        assert rows == [(None,)] * len(odd)
        assert report.unreadable["x"].count == len(odd)
    for column in (pa.array([dt.timedelta(1)]), pl.Series([dt.timedelta(1)]), pd.Series([dt.timedelta(1)]),
                   pa.array([[1]]), pl.Series([[1]]), pa.array([b"\xff"]), pl.Series([dt.time(1)])):
        rows, _ = refreshed({"x": "integer"}, {"x": column})
        assert rows == [(None,)]


def test_an_empty_frame(refreshed):
    assert refreshed(TYPES, {name: [] for name in TYPES})[0] == []
    assert refreshed(TYPES, ARROW.slice(0, 0))[0] == []
    assert refreshed({"x": "text"}, pd.DataFrame({"x": []}))[0] == []


REFUSED = [
    (pd.DataFrame([[1, 2]], columns=["x", "x"]), 'Columns 1 and 2 of "the frame t" have the same name ("x")'),
    (pd.DataFrame({"X": [1]}), 'has no column "x". Did you mean "X"?'),
    (pd.DataFrame({0: [1]}), 'has no column "x". It has 1 columns'),
    (pd.DataFrame([[1, 2]], columns=["x", "x"]), "Give each column of the frame a name of its own."),
    (pd.DataFrame([[1, 2]], columns=["0", 0]), 'Columns 1 and 2 of "the frame t" have the same name'),
    (pa.table([[1], [2]], names=["x", "x"]), "Columns 1 and 2"),
    ({"x": [1], "y": [1, 2]}, "differ in length"),
    ({"x": "abc"}, "is no data frame"),
    ({"x": 3}, "is no data frame"),
    ({"x": np.zeros((2, 2))}, "is no data frame"),
    ([1, 2], "is no data frame"),
    ("x.csv", "is no data frame"),
]


@pytest.mark.parametrize(("frame", "told"), REFUSED)
def test_refused(refreshed, frame, told):
    columns = {"x": "integer"} | ({"y": "integer"} if isinstance(frame, dict) and "y" in frame else {})
    with pytest.raises(Misconfigured) as caught:
        refreshed(columns, frame)
    assert told in str(caught.value)


def test_c10_a_column_called_by_a_number_is_found_by_its_digits(refreshed):
    for frame in (pd.DataFrame([[5, 6]]), {0: [5], 1: [6]}):
        assert refreshed({"1": "integer"}, frame)[0] == [(6,)]


def test_frames_and_tables_must_match(declared):
    from dpcurator.snapshot.refresh import refresh

    with pytest.raises(Misconfigured, match="names no source"):
        refresh(declared({"x": "integer"}))
    with pytest.raises(Misconfigured, match=r'"T", which is not declared. Did you mean "t"\?'):
        refresh(declared({"x": "integer"}), {"T": {"x": [1]}})
    with pytest.raises(Misconfigured, match="which has a source in the catalog"):
        refresh(declared({"x": "integer"}, file="x.csv"), {"t": {"x": [1]}})


def test_a_frame_is_copied(declared, stored):
    from dpcurator.snapshot.refresh import refresh

    values, declaration = [1, 2], declared({"x": "integer"})
    refresh(declaration, {"t": {"x": values}})
    values[0] = 9
    assert stored(declaration) == [(1,), (2,)]


EXTREMES = {
    "whole": np.array([0, 1, -1, 2**63 - 1, -(2**63)]), "unsigned": np.array([0, 1, 2**63 - 1], dtype=np.uint64),
    "beyond": np.array([0, 1, 2**63], dtype=np.uint64), "other end": np.array([0, 1, 3], dtype=">i4"),
    "double": np.array([0.0, -0.0, 1.0, 0.5, np.nan, np.inf, -np.inf, 2.0**63, -(2.0**63), 1e308]),
    "half": np.array([0.1, np.inf, 1], dtype=np.float16), "long": np.array([0.1, 1], dtype=np.longdouble),
    "masked": np.ma.masked_array([0, 1, 2], mask=[False, True, False]), "truth": np.array([True, False]),
    "masked words": np.ma.masked_array(np.array(["1", "x", "no"], dtype=object), mask=[False, True, False]),
    "seconds": np.array([0, -1, 2**62, "NaT", 253402300799, 253402300800, -62135596801], dtype="datetime64[s]"),
    "tens": np.array([0, 7], dtype="datetime64[10ms]"), "hours": np.array([0, 7, 2**50], dtype="datetime64[h]"),
    "nanoseconds": np.array([0, -1, 999, 1000, "NaT", 86_400_000_000_000, 2**63 - 1], dtype="datetime64[ns]"),
    "years": np.array([0, 7], dtype="datetime64[Y]"), "span": np.array([0, "NaT"], dtype="timedelta64[s]"),
    "words": np.array(["1", "no", " 2 ", "2020-01-01", "é"]),
    "objects": np.array(["1", None, np.nan, "x"], dtype=object),
    "mixed": np.array(["1", 1, 1.5, True], dtype=object), "surrogate": ["a", "\ud800", "1"], "nul": ["a\0", "1"],
    "bytes": np.array([b"1", b"\xff"]),
    "numbers": [1, 0, None],
    "pandas NA": pd.Series(["1", pd.NA, "x"], dtype="string"),
    "pandas whole": pd.Series([1, None, 2**62], dtype="Int64"),
    "pandas truth": pd.Series([True, None], dtype="boolean"),
    "pandas float": pd.Series([1.5, None, -0.0], dtype="Float32"),
    "pandas zone": pd.Series(pd.to_datetime(["2020-01-01", None], utc=True)).dt.tz_convert("Asia/Tokyo"),
    "categories": pd.Series(["1", None, "x", "1"], dtype="category"),
    "whole categories": pd.Series([1, 2], dtype="category"),
    "polars days": pl.Series([0, None, 9_000_000, -800_000], dtype=pl.Int32).cast(pl.Date),
    "polars instants": pl.Series([0, None, 2**61, -1], dtype=pl.Int64).cast(pl.Datetime("ms", "UTC")),
    "polars words": pl.Series(["1", None, "é", ""]), "polars list": pl.Series([[1], None]),
    "polars decimal": pl.Series([Decimal("1.50"), None]), "polars small": pl.Series([1, None], dtype=pl.Int8),
    "Arrow days": pa.array([0, None, 2932896, 2932897], pa.date32()),
    "Arrow ms": pa.array([0, 86_400_000, 5], pa.date64()),
    "Arrow words": pa.array(["1", None, "é", "x"]).slice(1),
    "Arrow views": pa.array(["1", None, "é" * 20], pa.string_view()),
    "Arrow halves": pa.StringArray.from_buffers(
        2, pa.py_buffer(np.array([0, 1, 2], dtype=np.int32).tobytes()), pa.py_buffer("é".encode())),
    "Arrow chunks": pa.chunked_array([["1"], [None, "x"], []], pa.large_string()),
    "no chunk": pa.chunked_array([], pa.int8()),
    "Arrow half": pa.array([1.5, None], pa.float16()), "Arrow decimal": pa.array([Decimal("1.50"), None]),
    "Arrow truth": pa.array([True, None, False, True, None, True, True, False, True, None]).slice(3, 6),
    "Arrow small": pa.array([7, None, -128, 0], pa.int8()).slice(1), "Arrow none": pa.array([], pa.float32()),
    "Arrow unsigned": pa.array([2**64 - 1, 5, None], pa.uint64()).slice(1),
    "Arrow span": pa.array([5], pa.duration("s")),
    "Arrow clock": pa.array([5], pa.time32("s")), "Arrow float": pa.array([0.1, None, -0.0], pa.float32()),
    "Arrow garbage": pa.Array.from_buffers(pa.uint64(), 2, [
        pa.py_buffer(b"\2"), pa.py_buffer(np.array([2**64 - 1, 3], dtype=np.uint64).tobytes())]),
    "Arrow uuid": pa.array([UUID(U).bytes, None], pa.uuid()), "Arrow bool8": pa.array([1, None, 0], pa.bool8()),
    "Arrow dictionary": pa.array(["1", None, "x", "1"]).dictionary_encode().slice(1),
    "Arrow days on": pa.array([5, None, 7], pa.date32()).slice(1),
    "Arrow seconds": pa.array([0, 2**62, None], pa.timestamp("s", "UTC")), "null": pa.nulls(2), "nothing": [],
}


@pytest.fixture(scope="module")
def connection():
    with duckdb.connect() as opened:
        yield opened


@pytest.mark.parametrize("name", EXTREMES)
def test_t18_a_column_of_a_frame_is_read_alike_as_a_vector_and_by_values(connection, name):
    vector, by_values = vector_of(EXTREMES[name]), values_of(EXTREMES[name])
    if vector is None:
        return
    with registered(connection, [vector]) as relation:
        found = [value for (value,) in connection.execute(f"FROM {relation}").fetchall()]
    reader = READERS.get(vector.kind, lambda value: value)
    found = [None if value is None else reader(value) for value in found]
    for type in TYPES.values():
        read = [[value if isinstance(value, Unreadable) else read_value(value, type, Spelling(zone="UTC"))
                 for value in values] for values in (found, by_values)]
        assert str(read[0]) == str(read[1]), type


def test_t18_plain_columns_are_vectors():
    """The one before would hold, were none ever one."""
    by_values = {name for name, column in EXTREMES.items() if vector_of(column) is None}
    assert by_values == {
        "beyond", "long", "tens", "years", "span", "mixed", "surrogate", "bytes", "numbers", "whole categories",
        "polars list", "polars decimal", "Arrow halves", "Arrow decimal", "null", "Arrow span", "Arrow clock",
        "Arrow uuid", "Arrow bool8",
    }


def longer(values, kind):
    """777 rows of a file of Arrow that says that they are 2,000; the first of them, and the last 600."""
    sink = pa.BufferOutputStream()
    batch = pa.record_batch({"x": pa.array(values * 777, kind)})
    with pa.ipc.new_file(sink, batch.schema) as file:
        file.write(batch)
    told, wrong = ((n).to_bytes(8, "little") for n in (777, 2_000))
    [read] = [pa.ipc.open_file(sink.getvalue().to_pybytes().replace(told, wrong)).get_batch(0).column(0)]
    assert len(read) == 2_000
    return pa.chunked_array([read.slice(0, 1), read.slice(1_400)])


BEYOND = {
    "numbers": longer([7], pa.int32()),
    "decimals": longer([Decimal(7)], pa.decimal128(5, 0)),
    "truth": longer([True], pa.bool_()),
    "bits": longer([None], pa.int64()),
    "texts": longer([""], pa.string()),
    "places": pa.DictionaryArray.from_arrays(pa.array([1, None, 2, -1]), pa.array(["a", "b"]), safe=False),
    "views": pa.Array.from_buffers(pa.string_view(), 2, [None, pa.py_buffer(
        np.array([1, ord("b"), 0, 0, 20, 0, 0, 10**6], np.int32).tobytes()), pa.py_buffer(bytes(20))]),
}


@pytest.mark.parametrize("name", BEYOND)
def test_what_stands_past_the_buffers_of_arrow_is_read_by_nobody(name):
    """Values of a file that was read in place, of which it says that there are more than there are."""
    for column in (BEYOND[name], BEYOND[name].slice(1)):
        assert vector_of(column) is None
    first, *_, last = values_of(BEYOND[name])
    assert first in (7, True, None, "", "b")
    assert isinstance(last, Unreadable)


def test_texts_of_arrow_that_end_before_they_begin_are_read_by_nobody(refreshed):
    """Of a file that somebody made so: nothing of Arrow looks at them, and an engine would read where they point."""
    broken = pa.StringArray.from_buffers(
        3, pa.py_buffer(np.array([0, 3, 1, 2], dtype=np.int32).tobytes()), pa.py_buffer(b"abc"))
    assert vector_of(broken) is None
    rows, report = refreshed({"x": "text", "y": "integer"}, pa.table({"x": broken, "y": [1, 2, 3]}))
    assert rows == [("abc", 1), (None, 2), ("b", 3)]
    assert report.unreadable["x"].count == 1


def test_t18_a_day_is_read_alike_from_a_column_of_instants_and_from_objects(refreshed):
    """Nanoseconds are cut, and what is midnight then is a day."""
    column = pd.Series(np.array([0, 1, 999, 1_000, -1, 86_400_000_000_001], "datetime64[ns]"))
    for given in (column, column.astype(object), list(column), list(column.to_numpy())):
        assert refreshed({"x": "date"}, {"x": given})[0] == [(0,), (0,), (0,), (None,), (None,), (1,)]
