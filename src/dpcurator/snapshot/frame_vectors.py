"""Columns of data frames as vectors, without a Python object per value: the plain dtypes; any other is read by values.

What comes out is what `frames.values_of` gives for the same column, as numbers and bytes: single floats widened, NaN,
NaT and null missing, instants as microseconds cut downward, those outside the calendar as one instant past it. Texts of
Arrow are looked at letter by letter first, since Arrow does not: a column with one that is no UTF-8 is read by values.
Checked in tests/snapshot/test_frames.py, beside the reading by values.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from dpcurator.catalog.spelling import DAY, FIRST_DAY, GREATEST_INTEGER, LAST_DAY
from dpcurator.snapshot.arrow import TEXT, Vector, numbers, texts
from dpcurator.snapshot.typed_values import NOT_A_TIME, PAST, PER_MICROSECOND

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_MISSING: Final = ("NoneType", "NAType", "NaTType")


def vector_of(column: Any) -> Vector | None:
    """The column as a vector with its kind; None where it is to be read by values."""
    try:
        return _of_library(column)
    except Exception:
        return None  # whatever a library or a value of it raises


def _of_library(column: Any) -> Vector | None:
    match type(column).__module__.split(".")[0]:
        case "numpy":
            return _numpy(column)
        case "pandas":
            return _pandas(column)
        case "polars":
            return _polars(column)
        case "pyarrow":
            return _arrow(column)
        case "builtins":
            return _texts(list(column))
    return None


def _numpy(column: Any) -> Vector | None:
    import numpy as np

    absent = None
    if type(column) is np.ma.MaskedArray:
        absent, column = np.ma.getmaskarray(column), column.data
    if type(column) is not np.ndarray or column.ndim != 1:
        return None
    kind = column.dtype.kind
    if kind == "M":
        return _instants(column.astype("int64"), str(column.dtype).split("[")[-1].rstrip("]"), absent, "naive")
    if kind in "biuf":
        return _numbers(column, absent)
    return _texts(column.tolist(), absent) if kind in "OU" else None


def _numbers(values: NDArray[Any], absent: NDArray[np.bool_] | None) -> Vector | None:
    import numpy as np

    kind, size = values.dtype.kind, values.dtype.itemsize
    if kind == "f":
        if size > 8:
            return None
        nan = np.isnan(values)
        return numbers(values, nan if absent is None else nan | absent, kind="double")
    if kind == "u" and size == 8 and values.size and int(values.max()) > GREATEST_INTEGER:
        return None
    return numbers(values, absent, kind="truth" if kind == "b" else "whole")


def _instants(counts: NDArray[np.int64], unit: str, absent: NDArray[np.bool_] | None, kind: str) -> Vector | None:
    """Counts of a unit since 1970 as microseconds, or of days ("day") as they are."""
    import numpy as np

    none = counts == NOT_A_TIME
    absent = none if absent is None else none | absent
    if kind == "day":
        return numbers(counts, absent, kind=kind)
    times, divisor = PER_MICROSECOND.get(unit, (0, 1))
    if not times:
        return None
    first, last = FIRST_DAY * DAY * divisor // times, (LAST_DAY + 1) * DAY * divisor // times
    within = (counts >= first) & (counts < last) if abs(first) < PAST and last < PAST else np.ones(len(counts), bool)
    return numbers(np.where(within, np.where(within, counts, 0) * times // divisor, PAST), absent, kind=kind)


def _texts(values: list[Any], absent: NDArray[np.bool_] | None = None) -> Vector | None:
    """Texts and missing ones; None where any other value is among them, or a text that is no Unicode."""
    kinds = set(map(type, values))
    others = {kind for kind in kinds if kind is not str and kind.__name__ not in _MISSING}
    if others - {float} or any(value == value for value in values if type(value) is float):
        return None
    if kinds - {str, type(None)}:
        values = [value if type(value) is str else None for value in values]
    if absent is not None:
        values = [None if none else value for value, none in zip(values, absent.tolist(), strict=True)]
    return texts(values)


def _pandas(column: Any) -> Vector | None:
    import numpy as np

    dtype = column.dtype
    if hasattr(dtype, "pyarrow_dtype"):
        return _arrow(dtype.__from_arrow__(column.array.__arrow_array__()).__arrow_array__())
    if isinstance(dtype, np.dtype):
        return _numpy(column.to_numpy())
    match type(dtype).__name__:
        case "DatetimeTZDtype":
            counts = column.dt.tz_convert("UTC").dt.tz_localize(None).to_numpy()
            return _instants(counts.astype("int64"), str(counts.dtype).split("[")[-1].rstrip("]"), None, "aware")
        case "StringDtype":
            return _arrow(column.array.__arrow_array__()) if dtype.storage == "pyarrow" else _texts(column.tolist())
        case "CategoricalDtype":
            categories = dtype.categories.tolist()
            if set(map(type, categories)) - {str}:
                return None
            known = np.array([*categories, None], dtype=object)
            return texts(known[column.cat.codes.to_numpy()].tolist())
    if hasattr(dtype, "numpy_dtype"):  # of pandas' own, with a mask
        return _numbers(column.to_numpy(dtype=dtype.numpy_dtype, na_value=0), column.isna().to_numpy())
    return None


def _polars(column: Any) -> Vector | None:
    name, unit = type(column.dtype).__name__, getattr(column.dtype, "time_unit", None)
    absent = column.is_null().to_numpy() if column.null_count() else None
    if name == "Datetime":
        aware = column.dtype.time_zone is not None
        counts = column.to_physical().fill_null(0).to_numpy()
        return _instants(counts, str(unit), absent, "aware" if aware else "naive")
    if name == "Date":
        return _instants(column.to_physical().fill_null(0).to_numpy().astype("int64"), "D", absent, "day")
    if name == "Boolean":
        return _numbers(column.fill_null(False).to_numpy(), absent)
    if name in ("Int8", "Int16", "Int32", "Int64", "UInt8", "UInt16", "UInt32", "UInt64", "Float32", "Float64"):
        return _numbers(column.fill_null(0).to_numpy(), absent)
    if name in ("Categorical", "Enum"):
        import polars

        column, name = column.cast(polars.String), "String"
    if name != "String":
        return None
    try:
        return _arrow(column.to_arrow())
    except ImportError:
        return _texts(column.to_list())


def _arrow(column: Any) -> Vector | None:
    """From the buffers of Arrow themselves: its library loads another one, of half a second, to convert a column."""
    import pyarrow as pa

    sound(column)
    if hasattr(column, "combine_chunks"):
        column = column.combine_chunks()
    if isinstance(column, pa.ChunkedArray):
        if column.num_chunks > 1:
            return None
        column = column.chunk(0) if column.num_chunks else pa.array([], column.type)
    kind = column.type
    if pa.types.is_dictionary(kind):
        return _arrow(column.dictionary_decode())
    if pa.types.is_string_view(kind):
        column, kind = column.cast(pa.large_string()), pa.large_string()
    absent = _absent(column)
    if pa.types.is_string(kind) or pa.types.is_large_string(kind):
        return _arrow_texts(column, "int32" if pa.types.is_string(kind) else "int64", absent)
    values = _buffer(column, kind)
    if values is None:
        return None
    if absent is not None:
        values = values.copy()
        values[absent] = 0  # there may be anything
    if pa.types.is_timestamp(kind) or pa.types.is_date(kind):
        unit = "day" if pa.types.is_date32(kind) else "ms" if pa.types.is_date64(kind) else kind.unit
        named = "day" if unit == "day" else "aware" if getattr(kind, "tz", None) else "naive"
        return _instants(values.astype("int64", copy=False), unit, absent, named)
    return _numbers(values, absent)


def _absent(column: Any) -> NDArray[np.bool_] | None:
    """Where an array of Arrow has no value."""
    import numpy as np

    present = column.buffers()[0] if column.null_count else None
    if present is None:
        return None
    first, past = column.offset // 8, -(-(column.offset + len(column)) // 8)
    bits = np.unpackbits(np.frombuffer(present, np.uint8)[first:past], bitorder="little")
    absent: NDArray[np.bool_] = bits[column.offset % 8 :][: len(column)] == 0
    return absent


def _buffer(column: Any, kind: Any) -> NDArray[Any] | None:
    """The numbers of an array of Arrow, in place, days and instants as they are counted; None of another kind."""
    import numpy as np
    import pyarrow as pa

    if not len(column):
        return np.empty(0, np.bool_ if pa.types.is_boolean(kind) else np.int64)
    if pa.types.is_boolean(kind):
        bits = np.frombuffer(column.buffers()[1], np.uint8)
        return np.unpackbits(bits, bitorder="little")[column.offset : column.offset + len(column)].astype(np.bool_)
    letter = "f" if pa.types.is_floating(kind) else "u" if pa.types.is_unsigned_integer(kind) else "i"
    if letter == "i" and not any(
        of(kind) for of in (pa.types.is_signed_integer, pa.types.is_date, pa.types.is_timestamp)
    ):
        return None
    dtype = np.dtype(f"{letter}{kind.bit_width // 8}")
    return np.frombuffer(column.buffers()[1], dtype)[column.offset : column.offset + len(column)]


def _arrow_texts(column: Any, size: str, absent: NDArray[np.bool_] | None) -> Vector | None:
    """Texts in the bytes of Arrow, after a look that each of them is UTF-8: all together, and that none begins within a
    letter."""
    import numpy as np

    if not len(column):
        return texts([])
    data, offsets = column.buffers()[2], ends_of(column, size)
    letters = np.frombuffer(data, np.uint8) if data is not None else np.empty(0, np.uint8)
    letters = letters[offsets[0] : offsets[-1]]
    offsets -= offsets[0]
    str(letters.data, "utf-8")
    begins = offsets[offsets < len(letters)]
    if bool(((letters[begins] & 0xC0) == 0x80).any()):
        return None
    return Vector(TEXT, (offsets, letters), absent, "text")


def sound(column: Any) -> None:
    """Raises ValueError where an array of Arrow has more values than its buffers, or points past them.

    Nobody has looked at one of a file that was read in place, and what stands there in memory would be read. Letters
    are looked at later, of each value.
    """
    import pyarrow as pa

    for one in column.chunks if hasattr(column, "chunks") else [column]:
        stored = one.storage if isinstance(one, pa.ExtensionArray) else one
        stored.validate()
        kind = stored.type
        if pa.types.is_dictionary(kind):
            sound(stored.dictionary)  # the places in it are looked at where it is decoded
        elif pa.types.is_string(kind) or pa.types.is_large_string(kind):
            if len(stored):
                ends_of(stored, "int32" if pa.types.is_string(kind) else "int64")
        elif not (pa.types.is_primitive(kind) or pa.types.is_decimal(kind)):
            (stored.view(pa.binary_view()) if pa.types.is_string_view(kind) else stored).validate(full=True)


def ends_of(column: Any, size: str) -> NDArray[np.int64]:
    """Where each text of an array of Arrow begins, and where the last one ends. Raises ValueError where they are none.
    """
    import numpy as np

    _, ends, data = column.buffers()
    offsets = np.frombuffer(ends, size)[column.offset : column.offset + len(column) + 1].astype(np.int64)
    if offsets[0] < 0 or offsets[-1] > (data.size if data is not None else 0) or bool((np.diff(offsets) < 0).any()):
        raise ValueError("texts of Arrow that end before they begin")
    return offsets
