"""Reading data frames: pandas, polars, pyarrow tables, or a dict of columns (lists, arrays, series).

Every dtype comes down to standard Python values, exactly, and `catalog.spelling.read_value` decides what they mean:
float32 is widened, 64-bit unsigned integers are whole, categories are their values, and NaT, NA, NaN and None are one
missing. Instants are taken as integers first, since years past 9999 have no Python datetime and a frame may hold them.
The libraries are told apart by module name, so none of them is imported here.

Checked in tests/snapshot/test_frames.py, a table of dtypes per library.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import UTC
from typing import Any, Final

from dpcurator.catalog.problems import text
from dpcurator.catalog.spelling import NOT_UNICODE, Unreadable
from dpcurator.errors import Misconfigured
from dpcurator.snapshot.arrow import Vector
from dpcurator.snapshot.csv_source import BATCH, Batch, missing_cure, refuse_repeats
from dpcurator.snapshot.frame_vectors import sound, vector_of
from dpcurator.snapshot.typed_values import NO_VALUE, NOT_A_TIME, PER_MICROSECOND, instant

AT_ONCE: Final = 500_000  # rows, where all columns are vectors
RENAME: Final = "Give each column of the frame a name of its own."
_SPAN: Final = Unreadable("a duration")


def read_frame(frame: Any, columns: Sequence[str], name: str, *, where: str) -> Iterator[Batch]:
    """Batches of the declared columns. Raises Misconfigured for what is no frame, and for absent or repeated names."""
    given, column_at, length = layout(frame, name, where)
    names = [str(column) for column in given]  # a pandas column may be called 0: the catalog says "0"
    refuse_repeats(names, columns, f"the frame {name}", where, RENAME)
    for column in columns:
        if column not in names:
            raise Misconfigured(f"The frame for {text(name)} has no column {text(column)}.", where=where,
                                cure=missing_cure(column, names))
    chosen = [column_at(names.index(column)) for column in columns]
    if len({len(values) for values in chosen}) > 1:
        raise Misconfigured(f"The columns of the frame for {text(name)} differ in length.", where=where,
                            cure="Give every column one value per row.")
    for start in range(0, length, AT_ONCE):
        stop = min(start + AT_ONCE, length)
        read = [vector_of(_slice(values, start, stop)) for values in chosen]
        step = stop - start if all(vector is not None for vector in read) else BATCH
        if step == stop - start:
            yield Batch(list(read), range(start + 1, stop + 1), "")  # type: ignore[arg-type]
            continue
        for first in range(start, stop, BATCH):
            last = min(first + BATCH, stop)
            parts = [_slice(values, first, last) for values in chosen]
            yield Batch([_read(part) for part in parts], range(first + 1, last + 1), "")


def _read(column: Any) -> Sequence[object] | Vector:
    vector = vector_of(column)
    return values_of(column) if vector is None else vector


def _slice(column: Any, start: int, stop: int) -> Any:
    """By position: pandas before 3 takes numbers in [start:stop] for labels where these are floats."""
    return column.iloc[start:stop] if hasattr(column, "iloc") else column[start:stop]


def layout(frame: Any, name: str, where: str) -> tuple[list[Any], Callable[[int], Any], int]:
    """Column names, a function from position to column, and the number of rows."""
    library = _library(frame)
    if library == "polars" and hasattr(frame, "collect"):
        frame = frame.collect()
    if isinstance(frame, Mapping):
        listed = [_sequence(values) for values in frame.values()]
        if not any(values is None for values in listed):
            return list(frame), listed.__getitem__, max(map(len, listed), default=0)
    elif library == "pandas" and hasattr(frame, "iloc") and hasattr(frame, "columns"):
        return list(frame.columns), lambda i: frame.iloc[:, i], len(frame)
    elif library == "polars" and hasattr(frame, "get_columns"):
        return list(frame.columns), frame.get_columns().__getitem__, len(frame)
    elif library == "pyarrow" and hasattr(frame, "column_names"):
        return list(frame.column_names), frame.column, int(frame.num_rows)
    raise Misconfigured(f"What was given for table {text(name)} is no data frame.", where=where,
                        cure="Give a pandas, polars or pyarrow table, or a dict of equally long lists.")


def _library(value: Any) -> str:
    return type(value).__module__.split(".")[0]


def _sequence(values: Any) -> Any:
    if isinstance(values, str | bytes | Mapping) or not hasattr(values, "__len__"):
        return None
    if _library(values) == "numpy":
        return values if values.ndim == 1 else None
    return values if hasattr(values, "__getitem__") else None


def values_of(column: Any) -> list[Any]:
    """A slice of a column as standard Python values, and `Unreadable` for what Python has no value of.

    A library stops at the first such value, so where one is met the cells are taken one by one.
    """
    try:
        return _values(column)
    except UnicodeDecodeError:
        unreadable = NOT_UNICODE
    except Exception:
        unreadable = NO_VALUE
    size = len(column)
    return [unreadable] if size == 1 else [values_of(_slice(column, i, i + 1))[0] for i in range(size)]


def _values(column: Any) -> list[Any]:
    match _library(column):
        case "numpy":
            if column.dtype.kind == "M":
                return _instants(column.astype("int64").tolist(), _numpy_unit(column.dtype), aware=False)
            if column.dtype.kind == "m":
                return [None if missing else _SPAN for missing in (column != column).tolist()]
            return list(column.tolist())
        case "pandas":
            return _pandas(column)
        case "polars":
            unit = getattr(column.dtype, "time_unit", None)
            if unit and hasattr(column.dtype, "time_zone"):
                return _instants(column.to_physical().to_list(), unit, aware=column.dtype.time_zone is not None)
            if unit or column.dtype.is_nested():
                return [(_SPAN if unit else NO_VALUE) if valid else None for valid in column.is_not_null().to_list()]
            if str(column.dtype) == "Date":
                return _instants(column.to_physical().to_list(), "D", aware=False)
            return list(column.to_list())
        case "pyarrow":
            return _pyarrow(column)
        case _:
            return list(column)


def _pandas(column: Any) -> list[Any]:
    dtype = column.dtype
    if getattr(dtype, "kind", "") == "M" and _library(dtype) in ("numpy", "pandas") and not _of_arrow(dtype):
        aware = getattr(dtype, "tz", None) is not None
        naive = column.dt.tz_convert("UTC").dt.tz_localize(None) if aware else column
        array = naive.to_numpy()
        return _instants(array.astype("int64").tolist(), _numpy_unit(array.dtype), aware=aware)
    if _of_arrow(dtype):
        return _pyarrow(dtype.__from_arrow__(column.array.__arrow_array__()).__arrow_array__())
    return list(column.tolist())


def _of_arrow(dtype: Any) -> bool:
    return hasattr(dtype, "pyarrow_dtype")


def _pyarrow(column: Any) -> list[Any]:
    sound(column)
    kind = str(column.type)
    if kind.startswith("dictionary"):
        chunks = column.chunks if hasattr(column, "chunks") else [column]
        return [value for chunk in chunks for value in _pyarrow(chunk.dictionary_decode())]
    if kind.startswith("timestamp"):
        return _instants(column.cast("int64").to_pylist(), column.type.unit, aware=column.type.tz is not None)
    if kind.startswith(("duration", "month_day_nano")):
        return [_SPAN if valid else None for valid in column.is_valid().to_pylist()]
    if kind in ("date32[day]", "date64[ms]"):
        days = column.cast("timestamp[s]" if kind.startswith("date32") else "timestamp[ms]")
        return _instants(days.cast("int64").to_pylist(), days.type.unit, aware=False)
    return list(column.to_pylist())


def _numpy_unit(dtype: Any) -> str:
    return str(dtype).split("[")[-1].rstrip("]")


def _instants(counts: list[int | None], unit: str, *, aware: bool) -> list[Any]:
    times, divisor = PER_MICROSECOND.get(unit, (0, 1))
    if not times:
        return [Unreadable("an instant in an odd unit") for _ in counts]
    zone = UTC if aware else None
    return [
        None if count is None or count == NOT_A_TIME else instant(count * times // divisor, zone) for count in counts
    ]
