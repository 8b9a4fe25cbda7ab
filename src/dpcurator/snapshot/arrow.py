"""Columns in memory as an Arrow stream, which DuckDB reads in place: no Python object per value, and no Arrow library.

The C data interface of Arrow (arrow.apache.org/docs/format/CDataInterface.html): a capsule with a stream of record
batches, each a struct of pointers into numpy arrays. What a stream points into is kept in `_HELD` until the reader
releases it, so arrays live as long as they are read. Checked in tests/snapshot/test_arrow.py.
"""

from __future__ import annotations

import ctypes
import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

AT_ONCE: Final = 122_880  # rows of a record batch: one group of rows of a DuckDB table, which one thread compresses
TEXT, WHOLE, FLOAT = b"U", b"l", b"g"  # as Arrow writes large UTF-8, int64 and float64


class _Schema(ctypes.Structure):
    pass


class _Array(ctypes.Structure):
    pass


class _Stream(ctypes.Structure):
    pass


_OfSchema: Any = ctypes.POINTER(_Schema)
_OfArray: Any = ctypes.POINTER(_Array)
_OfStream: Any = ctypes.POINTER(_Stream)
_ReleaseSchema, _ReleaseArray, _ReleaseStream = (
    ctypes.CFUNCTYPE(None, kind) for kind in (_OfSchema, _OfArray, _OfStream)
)
_GetSchema = ctypes.CFUNCTYPE(ctypes.c_int, _OfStream, _OfSchema)
_GetNext = ctypes.CFUNCTYPE(ctypes.c_int, _OfStream, _OfArray)
_GetError = ctypes.CFUNCTYPE(ctypes.c_char_p, _OfStream)
_Schema._fields_ = [
    ("format", ctypes.c_char_p), ("name", ctypes.c_char_p), ("metadata", ctypes.c_char_p), ("flags", ctypes.c_int64),
    ("n_children", ctypes.c_int64), ("children", ctypes.POINTER(_OfSchema)), ("dictionary", _OfSchema),
    ("release", _ReleaseSchema), ("private_data", ctypes.c_void_p),
]
_Array._fields_ = [
    ("length", ctypes.c_int64), ("null_count", ctypes.c_int64), ("offset", ctypes.c_int64),
    ("n_buffers", ctypes.c_int64), ("n_children", ctypes.c_int64), ("buffers", ctypes.POINTER(ctypes.c_void_p)),
    ("children", ctypes.POINTER(_OfArray)), ("dictionary", _OfArray),
    ("release", _ReleaseArray), ("private_data", ctypes.c_void_p),
]
_Stream._fields_ = [
    ("get_schema", _GetSchema), ("get_next", _GetNext), ("get_last_error", _GetError), ("release", _ReleaseStream),
    ("private_data", ctypes.c_void_p),
]
_NULLABLE: Final = 2
_HELD: Final[dict[int, Any]] = {}  # by number, until it is released
_NUMBERS: Final = itertools.count(1)


@dataclass(frozen=True, slots=True)
class Vector:
    """One column. absent: True where a value is missing, or None; the buffers are offsets and bytes of texts, or the
    numbers themselves. kind: what the values are (`vectorised.of_kind`)."""

    format: bytes
    buffers: tuple[NDArray[Any], ...]
    absent: NDArray[np.bool_] | None = None
    kind: str = "text"

    def __len__(self) -> int:
        return len(self.buffers[0]) - (self.format == TEXT)


def texts(cells: Sequence[str | None]) -> Vector:
    """Texts, of which None is missing. Raises UnicodeEncodeError for what is no Unicode."""
    import numpy as np

    absent = np.fromiter((cell is None for cell in cells), np.bool_, len(cells)) if None in cells else None
    present: Sequence[str] = cells if absent is None else [cell or "" for cell in cells]  # type: ignore[assignment]
    together = "".join(present)
    encoded = together.encode()
    letters = present if len(encoded) == len(together) else [cell.encode() for cell in present]
    offsets = np.zeros(len(cells) + 1, dtype=np.int64)
    np.cumsum(np.fromiter(map(len, letters), np.int64, len(cells)), out=offsets[1:])
    return Vector(TEXT, (offsets, np.frombuffer(encoded, np.uint8)), absent)


def numbers(values: NDArray[Any], absent: NDArray[np.bool_] | None = None, *, kind: str = "whole") -> Vector:
    """64-bit integers or doubles."""
    import numpy as np

    whole = values.dtype.kind != "f"
    plain = np.ascontiguousarray(values, dtype=np.int64 if whole else np.float64)
    return Vector(WHOLE if whole else FLOAT, (plain,), absent, kind)


@dataclass(frozen=True, slots=True)
class Columns:
    """Columns of the same length by name, to be registered with a connection; they may be read any number of times."""

    vectors: dict[str, Vector]

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        stream = _stream_of(list(self.vectors.items()))
        address = ctypes.addressof(stream)
        _CAPSULES[address] = stream
        return _new_capsule(address, _NAME, _destroyed)


_NAME: Final = b"arrow_array_stream"
_CAPSULES: Final[dict[int, _Stream]] = {}  # by address, until the capsule is destroyed
_Destroy = ctypes.PYFUNCTYPE(None, ctypes.c_void_p)  # the capsule itself, of which no reference may be made any more
_new_capsule, _pointer_of = ctypes.pythonapi.PyCapsule_New, ctypes.pythonapi.PyCapsule_GetPointer
_new_capsule.restype, _new_capsule.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.c_char_p, _Destroy]
_pointer_of.restype, _pointer_of.argtypes = ctypes.c_void_p, [ctypes.c_void_p, ctypes.c_char_p]


def _on_destroy(capsule: int) -> None:
    """Release a stream that nobody took out of its capsule: who takes it, leaves none to be released."""
    stream = _CAPSULES.pop(_pointer_of(capsule, _NAME))
    if stream.release:
        stream.release(ctypes.pointer(stream))


_destroyed = _Destroy(_on_destroy)


def _hold(held: Any) -> int:
    number = next(_NUMBERS)
    _HELD[number] = held
    return number


def _let_go(one: Any, kind: Any) -> None:
    number = one[0].private_data
    one[0].release = kind()
    if number:
        _HELD.pop(number, None)


def _on_release_schema(one: Any) -> None:
    _let_go(one, _ReleaseSchema)


def _on_release_array(one: Any) -> None:
    _let_go(one, _ReleaseArray)


def _on_release_stream(one: Any) -> None:
    _let_go(one, _ReleaseStream)


@dataclass(slots=True)
class _Open:
    """A stream that is being read: its columns, with a bit per value that is there, and the batches still to come."""

    columns: list[tuple[str, Vector, NDArray[np.uint8] | None]]
    left: Iterator[tuple[int, int]]
    stream: _Stream


def _stream_of(columns: list[tuple[str, Vector]]) -> _Stream:
    import numpy as np

    rows = len(columns[0][1])
    stream = _Stream(_get_schema, _get_next, _get_error, _release_stream, None)
    bits = [None if vector.absent is None else np.packbits(~vector.absent, bitorder="little") for _, vector in columns]
    left = iter([(start, min(AT_ONCE, rows - start)) for start in range(0, rows, AT_ONCE)])
    held = [(name, vector, present) for (name, vector), present in zip(columns, bits, strict=True)]
    stream.private_data = _hold(_Open(held, left, stream))
    return stream


def _on_get_schema(stream: Any, out: Any) -> int:
    columns = _HELD[stream[0].private_data].columns
    children = [
        _Schema(vector.format, name.encode(), None, _NULLABLE, 0, None, None, _release_schema, None)
        for name, vector, _ in columns
    ]
    pointers = (_OfSchema * len(children))(*(ctypes.pointer(child) for child in children))
    one = out[0]
    one.format, one.name, one.metadata, one.flags, one.n_children = b"+s", b"", None, 0, len(children)
    one.children, one.dictionary, one.release = pointers, None, _release_schema
    one.private_data = _hold((children, pointers))
    return 0


def _on_get_next(stream: Any, out: Any) -> int:
    held, one = _HELD[stream[0].private_data], out[0]
    start, rows = next(held.left, (0, 0))
    if not rows:
        one.release = _ReleaseArray()
        return 0
    children, buffers = [], []
    for _, vector, bits in held.columns:
        places = [None if bits is None else bits.ctypes.data, *(buffer.ctypes.data for buffer in vector.buffers)]
        pointed = (ctypes.c_void_p * len(places))(*places)
        buffers.append(pointed)
        unknown = 0 if bits is None else -1  # how many are missing
        children.append(_Array(rows, unknown, start, len(places), 0, pointed, None, None, _release_array, None))
    pointers = (_OfArray * len(children))(*(ctypes.pointer(child) for child in children))
    own = (ctypes.c_void_p * 1)(None)
    one.length, one.null_count, one.offset, one.n_buffers, one.n_children = rows, 0, 0, 1, len(children)
    one.buffers, one.children, one.dictionary, one.release = own, pointers, None, _release_array
    one.private_data = _hold((children, buffers, pointers, own, held))
    return 0


def _on_get_error(stream: Any) -> None:
    return None


_release_schema, _release_array = _ReleaseSchema(_on_release_schema), _ReleaseArray(_on_release_array)
_release_stream = _ReleaseStream(_on_release_stream)
_get_schema, _get_next, _get_error = _GetSchema(_on_get_schema), _GetNext(_on_get_next), _GetError(_on_get_error)
