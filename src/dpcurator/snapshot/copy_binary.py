"""Rows of COPY (FORMAT binary) as columns: PostgreSQL's own bytes of each value, by arithmetic on whole batches.

Each row is a message: a 16-bit number of fields, then for each a 32-bit length (-1 is NULL) and the value, integers
big-endian. The first message begins with a signature of 19 bytes and more; the last is a row of -1 fields. Dates are
days and timestamps microseconds since 2000-01-01, the extremes standing for the infinities; a numeric is digits of base
10,000, and is the nearest double where that is one exact division away, else a Decimal (semantics: `read_value`).
Checked in tests/snapshot/test_postgres.py, on values that a server wrote.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from typing import Any, Final
from uuid import UUID

import numpy as np
from numpy.typing import NDArray

from dpcurator.catalog.postgres_schema import TEXTS
from dpcurator.catalog.spelling import DAY, EPOCH, FIRST_DAY, LAST_DAY, NO_SUCH_DAY, NOT_UNICODE
from dpcurator.snapshot.arrow import TEXT, Vector, numbers
from dpcurator.snapshot.typed_values import instant

SIGNATURE: Final = b"PGCOPY\n\xff\r\n\0"
_DAYS: Final = 10_957  # from 1970 to 2000
_WIDEST: Final = 16  # bytes past the end of a row that may be looked at
_TENS: Final = np.array([10**i for i in range(19)])
_EXACT: Final = np.array([float(10**i) for i in range(23)])  # every power of ten that is a double
Positions = NDArray[np.int64]


class NotAsSent(Exception):
    """Rows that are not as COPY sends them."""


def without_signature(message: bytes) -> bytes:
    """The first message, without what stands before its row."""
    if not message.startswith(SIGNATURE) or len(message) < 19:
        raise NotAsSent
    return message[19 + int.from_bytes(message[15:19], "big"):]


def is_last(message: bytes) -> bool:
    return message == b"\xff\xff"


@dataclass(frozen=True, slots=True)
class Cells:
    """The values of one column, of those rows that have one: between which bytes of the batch they stand."""

    block: bytes
    cells: NDArray[np.uint8]
    at: Positions
    ends: Positions
    present: NDArray[np.bool_]

    def integers(self, width: int, skip: int = 0) -> Positions:
        return _integers(self.cells, self.at + skip, width)

    def each(self) -> list[bytes]:
        return [self.block[a:b] for a, b in zip(self.at.tolist(), self.ends.tolist(), strict=True)]

    def of_width(self, width: int) -> Cells:
        """Itself. Raises NotAsSent unless all its values are so wide."""
        if (self.ends - self.at != width).any():
            raise NotAsSent
        return self


def cells_of(rows: Sequence[bytes], fields: int) -> list[Cells]:
    """Where the values of each column stand in a batch of rows. Raises NotAsSent."""
    block = b"".join(rows)
    cells = np.frombuffer(block + bytes(_WIDEST), np.uint8)
    lengths = np.fromiter(map(len, rows), np.int64, len(rows))
    ends = np.cumsum(lengths)
    at = ends - lengths
    if (lengths < 2).any() or (_integers(cells, at, 2) != fields).any():
        raise NotAsSent
    at = at + 2
    columns = []
    for _ in range(fields):
        if (at + 4 > ends).any():
            raise NotAsSent
        lengths = _integers(cells, at, 4)
        at, present = at + 4, lengths >= 0
        following = at + np.maximum(lengths, 0)
        if (following > ends).any():
            raise NotAsSent
        columns.append(Cells(block, cells, at[present], following[present], present))
        at = following
    if (at != ends).any():
        raise NotAsSent
    return columns


def values_of(found: Cells, kind: str, type: str, encoding: str) -> list[Any]:
    """A column as Python values, of which None is missing. kind: PostgreSQL's type, as in `postgres_schema.READ_AS`;
    type: as declared; encoding: of texts. Raises NotAsSent."""
    if kind in TEXTS:
        some = _texts(found.each(), encoding)
    elif kind == "bytea":
        some = found.each()
    elif kind == "numeric":
        some = _numerics(found, type)
    else:
        width, read = _FIXED[kind]
        some = read(found.of_width(width))
    if found.present.all():
        return some
    values = iter(some)
    return [next(values) if one else None for one in found.present.tolist()]


def _integers(cells: NDArray[np.uint8], at: Positions, width: int) -> Positions:
    """Big-endian integers of so many bytes at these positions."""
    windows = np.lib.stride_tricks.sliding_window_view(cells, width)[at]
    return windows.view(f">i{width}")[:, 0].astype(np.int64)


def _texts(values: list[bytes], encoding: str) -> list[Any]:
    """No text of PostgreSQL has U+0000, so a batch is decoded together, and one by one where that fails."""
    try:
        return b"\0".join(values).decode(encoding).split("\0") if values else []
    except UnicodeDecodeError:
        return [_text(value, encoding) for value in values]


def _text(value: bytes, encoding: str) -> Any:
    try:
        return value.decode(encoding)
    except UnicodeDecodeError:
        return NOT_UNICODE


def _floats(width: int) -> Callable[[Cells], NDArray[np.float64]]:
    def read(found: Cells) -> NDArray[np.float64]:
        windows = np.lib.stride_tricks.sliding_window_view(found.cells, width)[found.at]
        return windows.view(f">f{width}")[:, 0].astype(np.float64)

    return read


def _days(found: Cells) -> list[Any]:
    distinct, where = np.unique(found.integers(4) + _DAYS, return_inverse=True)
    values = [
        date.fromordinal(day + EPOCH) if FIRST_DAY <= day <= LAST_DAY else NO_SUCH_DAY for day in distinct.tolist()
    ]
    return [values[i] for i in where.tolist()]


def _times(found: Cells) -> list[Any]:
    """Times of day; 24:00 is one of PostgreSQL's that Python does not have."""
    return [
        (datetime.min + timedelta(microseconds=one)).time() if one < DAY else NO_SUCH_DAY
        for one in found.integers(8).tolist()
    ]


def _micros(found: Cells) -> Positions:
    return np.clip(found.integers(8), -(2**62), 2**62) + _DAYS * DAY


def _uuids(found: Cells) -> bytes:
    """36 letters each."""
    digits = np.frombuffer(np.lib.stride_tricks.sliding_window_view(found.cells, 16)[found.at].tobytes().hex().encode(),
                           np.uint8).reshape(-1, 32)
    letters = np.full((len(digits), 36), ord("-"), np.uint8)
    start = 0
    for first, last in ((0, 8), (9, 13), (14, 18), (19, 23), (24, 36)):
        letters[:, first:last] = digits[:, start : start + last - first]
        start += last - first
    return letters.tobytes()


_FIXED: Final[dict[str, tuple[int, Callable[[Cells], list[Any]]]]] = {
    "int2": (2, lambda found: found.integers(2).tolist()),
    "int4": (4, lambda found: found.integers(4).tolist()),
    "int8": (8, lambda found: found.integers(8).tolist()),
    "bool": (1, lambda found: (found.cells[found.at] != 0).tolist()),
    "float4": (4, lambda found: _floats(4)(found).tolist()),
    "float8": (8, lambda found: _floats(8)(found).tolist()),
    "date": (4, _days), "time": (8, _times),
    "timestamp": (8, lambda found: [instant(one, None) for one in _micros(found).tolist()]),
    "timestamptz": (8, lambda found: [instant(one, UTC) for one in _micros(found).tolist()]),
    "uuid": (16, lambda found: [UUID(value.hex()) for value in found.each()]),
}


def _numerics(found: Cells, type: str) -> list[Any]:
    values, sure = _numbers(found, type)
    some: list[Any] = values.tolist()
    for i in np.flatnonzero(~sure).tolist():
        some[i] = _decimal(found.block[int(found.at[i]) : int(found.ends[i])])
    return some


def _numbers(found: Cells, type: str) -> tuple[NDArray[Any], NDArray[np.bool_]]:
    """Doubles for floats and integers for other types, and which of them are sure. The value of digits d of base 10,000
    is sum d_i 10000^(weight - i); before them stand their number, weight, sign and scale, 16 bits each."""
    if (found.ends - found.at < 8).any():
        raise NotAsSent
    count, weight, sign = (found.integers(2, skip) for skip in (0, 2, 4))
    if (found.ends - found.at != 8 + 2 * count).any():
        raise NotAsSent
    short = (count <= 4) & ((sign == 0) | (sign == 0x4000))
    whole = np.zeros(len(found.at), np.int64)
    for i in range(4):
        inside = i < count
        digit = _integers(found.cells, np.where(inside, found.at + 8 + 2 * i, 0), 2)
        whole = np.where(inside, whole * 10_000 + digit, whole)
    whole = np.where(sign == 0x4000, -whole, whole)
    power = 4 * (weight - count + 1)
    if type == "float":  # two doubles, both exact: one correctly rounded operation gives the nearest of the result
        sure = short & (np.abs(whole) <= 2**53) & (np.abs(power) <= 22)
        scale = _EXACT[np.where(sure, np.abs(power), 0)]
        return np.where(power < 0, whole / scale, whole * scale), sure
    tens = _TENS[np.minimum(np.abs(power), 16)]
    sure = short & np.where(power < 0, (power >= -16) & (whole % tens == 0),
                            (power <= 16) & (np.abs(whole) <= (2**63 - 1) // tens))
    return np.where(power < 0, whole // tens, np.where(sure, whole * tens, 0)), sure


def _decimal(value: bytes) -> Decimal:
    count, weight, sign, _ = (int.from_bytes(value[i : i + 2], "big", signed=i == 2) for i in (0, 2, 4, 6))
    if sign not in (0, 0x4000):
        return Decimal({0xC000: "NaN", 0xD000: "Infinity", 0xF000: "-Infinity"}[sign])
    digits = "".join(f"{int.from_bytes(value[i : i + 2], 'big'):04d}" for i in range(8, 8 + 2 * count, 2)) or "0"
    return Decimal(f"{'-' if sign else ''}{digits}e{4 * (weight - count + 1)}")


def vector_of(found: Cells, kind: str, type: str, encoding: str) -> tuple[str, Vector] | None:
    """A column as it is in memory, with its kind in the words of `vectorised.of_kind`; None where a value of it is none
    of those, so that the column is read by `values_of`. Raises NotAsSent."""
    absent = None if found.present.all() else ~found.present
    match kind:
        case "int2" | "int4" | "int8":
            width = int(kind[3])
            return "whole", _spread(found.of_width(width).integers(width), absent)
        case "float4" | "float8":
            width = int(kind[5])
            return _doubles(_floats(width)(found.of_width(width)), found.present)
        case "numeric":
            values, sure = _numbers(found, type)
            if sure.all():
                return ("double" if type == "float" else "whole"), _spread(values, absent)
            return _far_numerics(found, values, sure) if type == "float" else None
        case "bool":
            return "truth", _spread((found.of_width(1).cells[found.at] != 0).astype(np.int64), absent)
        case "date":
            days = found.of_width(4).integers(4) + _DAYS
            return "day", _spread(days, absent)
        case "timestamp" | "timestamptz":
            return ("naive" if kind == "timestamp" else "aware"), _spread(_micros(found.of_width(8)), absent)
        case "uuid":
            return "text", _text_vector(_uuids(found.of_width(16)), np.full(len(found.at), 36), found.present)
        case "text" | "varchar" | "bpchar" | "enum" if encoding == "utf-8":
            whole = b"".join(found.each())
            if not (whole.isascii() or _each_is_unicode(found, whole)):
                return None
            return "text", _text_vector(whole, found.ends - found.at, found.present)
    return None


def _each_is_unicode(found: Cells, whole: bytes) -> bool:
    """Does each value end where a letter does? The whole may be UTF-8 though a value begins within a letter of it."""
    try:
        whole.decode()
    except UnicodeDecodeError:
        return False
    first = found.cells[np.where(found.at < found.ends, found.at, len(found.cells) - 1)]
    return not ((first & 0xC0) == 0x80).any()


def _far_numerics(found: Cells, values: NDArray[Any], sure: NDArray[np.bool_]) -> tuple[str, Vector] | None:
    """Numbers of many digits too, unless one is past the doubles."""
    for i in np.flatnonzero(~sure).tolist():
        number = _decimal(found.block[int(found.at[i]) : int(found.ends[i])])
        values[i] = float(number)
        if number.is_finite() and np.isinf(values[i]):
            return None
    return _doubles(values, found.present)


def _doubles(values: NDArray[np.float64], present: NDArray[np.bool_]) -> tuple[str, Vector]:
    there = present.copy()
    there[present] = ~np.isnan(values)
    return "double", _spread(values[~np.isnan(values)], None if there.all() else ~there)


def _spread(some: NDArray[Any], absent: NDArray[np.bool_] | None) -> Vector:
    if absent is None:
        return numbers(some)
    values = np.zeros(len(absent), some.dtype)
    values[~absent] = some
    return numbers(values, absent)


def _text_vector(whole: bytes, lengths: Positions, present: NDArray[np.bool_]) -> Vector:
    offsets = np.zeros(len(present) + 1, np.int64)
    offsets[1:][present] = lengths
    absent = None if present.all() else ~present
    return Vector(TEXT, (np.cumsum(offsets), np.frombuffer(whole, np.uint8)), absent)
