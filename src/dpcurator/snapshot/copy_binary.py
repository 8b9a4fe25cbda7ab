"""Rows of COPY (FORMAT binary) as columns: PostgreSQL's own bytes of each value, by arithmetic on whole batches.

Each row is a message: a 16-bit number of fields, then for each a 32-bit length (-1 is NULL) and the value, integers
big-endian. The first message begins with a signature of 19 bytes and more; the last is a row of -1 fields. Dates are
days and timestamps microseconds since 2000-01-01, the extremes standing for the infinities; a numeric is digits of base
10,000, and is the nearest double where that is one exact division away, else a Decimal (semantics: `read_value`).
Checked in tests/snapshot/test_postgres.py, on values that a server wrote.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from typing import Any, Final
from uuid import UUID

import numpy as np
from numpy.typing import NDArray

from dpcurator.catalog.postgres_schema import TEXTS
from dpcurator.catalog.spelling import DAY, EPOCH, FIRST_DAY, LAST_DAY, NO_SUCH_DAY, NOT_UNICODE
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


def columns_of(rows: Sequence[bytes], fields: Sequence[tuple[str, str]], encoding: str) -> list[list[Any]]:
    """The cells of a batch, column by column. fields: PostgreSQL's type, as in `postgres_schema.READ_AS`, and the
    declared one; encoding: of texts. Raises NotAsSent."""
    block = b"".join(rows)
    cells = np.frombuffer(block + bytes(_WIDEST), np.uint8)
    ends = np.cumsum(np.fromiter(map(len, rows), np.int64, len(rows)))
    at = np.concatenate([np.zeros(min(1, len(rows)), np.int64), ends[:-1]])
    if len(rows) and (min(map(len, rows)) < 2 or (_integers(cells, at, 2) != len(fields)).any()):
        raise NotAsSent
    at = at + 2
    columns: list[list[Any]] = []
    for kind, type in fields:
        if (at + 4 > ends).any():
            raise NotAsSent
        lengths = _integers(cells, at, 4)
        at, present = at + 4, lengths >= 0
        following = at + np.maximum(lengths, 0)
        if (following > ends).any():
            raise NotAsSent
        some = _present(block, cells, at[present], following[present], kind, type, encoding)
        columns.append(some if present.all() else _spread(some, present))
        at = following
    if (at != ends).any():
        raise NotAsSent
    return columns


def _spread(some: list[Any], present: NDArray[np.bool_]) -> list[Any]:
    values = iter(some)
    return [next(values) if one else None for one in present.tolist()]


def _integers(cells: NDArray[np.uint8], at: Positions, width: int) -> Positions:
    """Big-endian integers of so many bytes at these positions."""
    windows = np.lib.stride_tricks.sliding_window_view(cells, width)[at]
    return windows.view(f">i{width}")[:, 0].astype(np.int64)


def _present(
    block: bytes, cells: NDArray[np.uint8], at: Positions, ends: Positions, kind: str, type: str, encoding: str
) -> list[Any]:
    """The values between these positions."""
    if kind in TEXTS:
        return _texts([block[a:b] for a, b in zip(at.tolist(), ends.tolist(), strict=True)], encoding)
    if kind == "bytea":
        return [block[a:b] for a, b in zip(at.tolist(), ends.tolist(), strict=True)]
    if kind == "numeric":
        return _numerics(block, cells, at, ends, type)
    width, read = _FIXED[kind]
    if (ends - at != width).any():
        raise NotAsSent
    return read(cells, at)


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


def _floats(width: int) -> Callable[[NDArray[np.uint8], Positions], list[Any]]:
    def read(cells: NDArray[np.uint8], at: Positions) -> list[Any]:
        windows = np.lib.stride_tricks.sliding_window_view(cells, width)[at]
        return windows.view(f">f{width}")[:, 0].astype(np.float64).tolist()  # type: ignore[no-any-return]

    return read


def _days(cells: NDArray[np.uint8], at: Positions) -> list[Any]:
    days = _integers(cells, at, 4) + _DAYS
    distinct, where = np.unique(days, return_inverse=True)
    values = [
        date.fromordinal(day + EPOCH) if FIRST_DAY <= day <= LAST_DAY else NO_SUCH_DAY for day in distinct.tolist()
    ]
    return [values[i] for i in where.tolist()]


def _times(cells: NDArray[np.uint8], at: Positions) -> list[Any]:
    """Times of day; 24:00 is one of PostgreSQL's that Python does not have."""
    return [
        (datetime.min + timedelta(microseconds=one)).time() if one < DAY else NO_SUCH_DAY
        for one in _integers(cells, at, 8).tolist()
    ]


def _instants(zone: Any) -> Callable[[NDArray[np.uint8], Positions], list[Any]]:
    def read(cells: NDArray[np.uint8], at: Positions) -> list[Any]:
        micros = np.clip(_integers(cells, at, 8), -(2**62), 2**62) + _DAYS * DAY
        return [instant(one, zone) for one in micros.tolist()]

    return read


def _uuids(cells: NDArray[np.uint8], at: Positions) -> list[Any]:
    windows = np.lib.stride_tricks.sliding_window_view(cells, 16)[at].tobytes()
    return [UUID(bytes=windows[i : i + 16]) for i in range(0, len(windows), 16)]


_FIXED: Final[dict[str, tuple[int, Callable[[NDArray[np.uint8], Positions], list[Any]]]]] = {
    "int2": (2, lambda cells, at: _integers(cells, at, 2).tolist()),
    "int4": (4, lambda cells, at: _integers(cells, at, 4).tolist()),
    "int8": (8, lambda cells, at: _integers(cells, at, 8).tolist()),
    "bool": (1, lambda cells, at: (cells[at] != 0).tolist()),
    "float4": (4, _floats(4)), "float8": (8, _floats(8)),
    "date": (4, _days), "timestamp": (8, _instants(None)), "timestamptz": (8, _instants(UTC)), "uuid": (16, _uuids),
    "time": (8, _times),
}


def _numerics(block: bytes, cells: NDArray[np.uint8], at: Positions, ends: Positions, type: str) -> list[Any]:
    """digits, weight, sign and scale, 16 bits each, then so many digits: their value is sum d_i 10000^(weight - i)."""
    if (ends - at < 8).any():
        raise NotAsSent
    count, weight, sign = (_integers(cells, at + skip, 2) for skip in (0, 2, 4))
    if (ends - at != 8 + 2 * count).any():
        raise NotAsSent
    short = (count <= 4) & ((sign == 0) | (sign == 0x4000))
    whole = np.zeros(len(at), np.int64)
    for i in range(4):
        inside = i < count
        digit = _integers(cells, np.where(inside, at + 8 + 2 * i, 0), 2)
        whole = np.where(inside, whole * 10_000 + digit, whole)
    whole = np.where(sign == 0x4000, -whole, whole)
    power = 4 * (weight - count + 1)
    if type == "float":  # two doubles, both exact: one correctly rounded operation gives the nearest of the result
        sure = short & (np.abs(whole) <= 2**53) & (np.abs(power) <= 22)
        scale = _EXACT[np.where(sure, np.abs(power), 0)]
        values: list[Any] = np.where(power < 0, whole / scale, whole * scale).tolist()
    else:
        tens = _TENS[np.minimum(np.abs(power), 16)]
        sure = short & np.where(power < 0, (power >= -16) & (whole % tens == 0),
                                (power <= 16) & (np.abs(whole) <= (2**63 - 1) // tens))
        values = np.where(power < 0, whole // tens, np.where(sure, whole * tens, 0)).tolist()
    for i in np.flatnonzero(~sure).tolist():
        values[i] = _decimal(block[int(at[i]) : int(ends[i])])
    return values


def _decimal(value: bytes) -> Decimal:
    count, weight, sign, _ = (int.from_bytes(value[i : i + 2], "big", signed=i == 2) for i in (0, 2, 4, 6))
    if sign not in (0, 0x4000):
        return Decimal({0xC000: "NaN", 0xD000: "Infinity", 0xF000: "-Infinity"}[sign])
    digits = "".join(f"{int.from_bytes(value[i : i + 2], 'big'):04d}" for i in range(8, 8 + 2 * count, 2)) or "0"
    return Decimal(f"{'-' if sign else ''}{digits}e{4 * (weight - count + 1)}")
