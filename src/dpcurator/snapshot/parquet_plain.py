"""A Parquet file whose columns are what they are stored as, for values at which a reader of their types stops.

DuckDB stops at one instant in milliseconds past the year 294,000, one time of day past midnight, one text that is no
UTF-8 or no JSON, and with it all rows would be lost. The footer of a Parquet file says of each column how it is stored
and, apart from that, what it means; a copy in which the latter is left out of the footer gives integers and bytes, at
which nothing stops. The footer is Thrift's compact protocol (thrift.apache.org, github.com/apache/parquet-format):
here the list of schema elements is written again without those two fields, and every other byte is the file's own.

Checked in tests/snapshot/test_parquet_plain.py.
"""

from __future__ import annotations

import contextlib
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Final

_MAGIC: Final = b"PAR1"
_SCHEMA, _CONVERTED, _LOGICAL = 2, 6, 10  # numbers of fields
_TEXTS_AND_TIMES: Final = frozenset({0, 4, 7, 8, 9, 19})  # UTF8, ENUM, TIME in two units, TIMESTAMP_MILLIS, JSON
_LOGICAL_ONES: Final = frozenset({1, 4, 7, 12})  # STRING, ENUM, TIME, JSON
_TIMESTAMP, _UNIT, _MILLIS = 8, 2, 1
_TRUE, _FALSE, _BYTE, _I64, _DOUBLE, _BINARY, _LIST, _SET, _STRUCT = 1, 2, 3, 6, 7, 8, 9, 10, 12


@contextlib.contextmanager
def stored_plainly(path: Path, directory: Path | None) -> Iterator[Path]:
    """A copy in a private file of the directory, removed afterwards. Raises ValueError where its footer is none."""
    with tempfile.NamedTemporaryFile(dir=directory, prefix="draft-", suffix=".parquet") as copy:
        with path.open("rb") as file:
            shutil.copyfileobj(file, copy, 2**20)
        size = copy.tell()
        copy.seek(max(0, size - 8))
        tail = copy.read(8)
        start = size - 8 - int.from_bytes(tail[:4], "little")
        if tail[4:] != _MAGIC or start < len(_MAGIC):
            raise ValueError("this is no Parquet file")
        copy.seek(start)
        footer = without_meaning(copy.read(size - 8 - start))
        copy.seek(start)
        copy.truncate()
        copy.write(footer + len(footer).to_bytes(4, "little") + _MAGIC)
        copy.flush()
        yield Path(copy.name)


def without_meaning(footer: bytes) -> bytes:
    """The footer, of which no column of texts, times of day and milliseconds says more than how it is stored."""
    try:
        for number, kind, start, end in _fields(footer, 0):
            if number == _SCHEMA and kind == _LIST:
                return footer[:start] + _elements(footer, start, end) + footer[end:]
    except (IndexError, RecursionError):
        pass
    raise ValueError("the footer of a Parquet file ends too early")


def _elements(data: bytes, start: int, end: int) -> bytes:
    count, kind, at = _list_of(data, start)
    if kind != _STRUCT:
        raise ValueError("the schema of a Parquet file is no list of elements")
    written = [data[start:at]]
    for _ in range(count):
        fields = list(_fields(data, at))
        dropped = _dropped(data, fields)
        before = 0
        for number, kind, first, last in fields:
            if number not in dropped:
                written += [_head(number - before, kind, number), data[first:last]]
                before = number
        written.append(b"\0")
        at = (fields[-1][3] if fields else at) + 1
    if at != end:
        raise ValueError("the schema of a Parquet file is longer than its list")
    return b"".join(written)


def _dropped(data: bytes, fields: list[tuple[int, int, int, int]]) -> set[int]:
    found = {number: (first, last) for number, _, first, last in fields}
    converted = _zigzag(_varint(data, found[_CONVERTED][0])[0]) if _CONVERTED in found else None
    logical = next(((number, first) for number, _, first, _ in _fields(data, found[_LOGICAL][0])), (0, 0)) \
        if _LOGICAL in found else (0, 0)
    millis = logical[0] == _TIMESTAMP and any(
        number == _UNIT and next((unit for unit, *_ in _fields(data, first)), 0) == _MILLIS
        for number, _, first, _ in _fields(data, logical[1])
    )
    if converted in _TEXTS_AND_TIMES or logical[0] in _LOGICAL_ONES or millis:
        return {_CONVERTED, _LOGICAL}
    return set()


def _fields(data: bytes, at: int) -> Iterator[tuple[int, int, int, int]]:
    """Number and kind of each field of the struct that begins there, and where its value begins and ends."""
    number = 0
    while head := data[at]:
        at, kind = at + 1, head & 15
        if head >> 4:
            number += head >> 4
        else:
            found, at = _varint(data, at)
            number = _zigzag(found)
        end = at if kind in (_TRUE, _FALSE) else _after(data, at, kind)
        yield number, kind, at, end
        at = end


def _after(data: bytes, at: int, kind: int) -> int:
    """Where a value ends."""
    if kind in (_TRUE, _FALSE, _BYTE):  # the former two as elements of a list
        return at + 1
    if _BYTE < kind <= _I64:
        return _varint(data, at)[1]
    if kind == _DOUBLE:
        return at + 8
    if kind == _BINARY:
        size, at = _varint(data, at)
        return at + size
    if kind in (_LIST, _SET):
        count, inner, at = _list_of(data, at)
        for _ in range(count):
            at = _after(data, at, inner)
        return at
    if kind == _STRUCT:
        for *_, end in _fields(data, at):
            at = end
        return at + 1
    raise ValueError("a Parquet file has a footer of an unknown form")  # maps among them, which none has


def _list_of(data: bytes, at: int) -> tuple[int, int, int]:
    """How many elements, of which kind, and where the first begins."""
    head, at = data[at], at + 1
    if head >> 4 < 15:
        return head >> 4, head & 15, at
    count, at = _varint(data, at)
    return count, head & 15, at


def _varint(data: bytes, at: int) -> tuple[int, int]:
    found = shift = 0
    while (byte := data[at]) & 128:
        found, shift, at = found | (byte & 127) << shift, shift + 7, at + 1
    return found | byte << shift, at + 1


def _zigzag(number: int) -> int:
    return number >> 1 ^ -(number & 1)


def _head(delta: int, kind: int, number: int) -> bytes:
    if 0 < delta < 16:
        return bytes([delta << 4 | kind])
    written, left = bytearray([kind]), number << 1 if number >= 0 else (-number << 1) - 1
    while left > 127:
        written.append(left & 127 | 128)
        left >>= 7
    return bytes([*written, left])
