"""Values as a client of PostgreSQL reads and writes them: each type's number, its text and its bytes.

A whole number is an int8, any other a float8, dates are dates, timestamps are with time zone (UTC); a list is text in
braces. Checked in tests/server/test_wire_messages.py. Source: PostgreSQL's documentation, Data Types; its send and
receive functions for the binary forms.
"""

from __future__ import annotations

import math
import re
import struct
import uuid
from datetime import UTC, date, datetime, timedelta
from typing import Any, Final

from dpcurator.errors import Refusal
from dpcurator.numbers.rational import INT64
from dpcurator.server.wire.messages import BINARY

BOOL, INT8, TEXT, FLOAT8, DATE, TIMESTAMPTZ, UUID = 16, 20, 25, 701, 1082, 1184, 2950
TEXTS, INT8S = 1009, 1016  # arrays
OF_TYPE: Final = {
    "integer": INT8,
    "whole": INT8,
    "float": FLOAT8,
    "number": FLOAT8,
    "boolean": BOOL,
    "truth": BOOL,
    "date": DATE,
    "timestamp": TIMESTAMPTZ,
    "uuid": UUID,
}  # of how a column is shown, or of a catalog's type; TEXT for all others
_DAY: Final = date(2000, 1, 1)
_SECOND: Final = datetime(2000, 1, 1, tzinfo=UTC)
_NUMBER: Final = re.compile(r"[+-]?(\d{1,400}(\.\d{0,400})?|\.\d{1,400})([eE][+-]?\d{1,3})?")
_DATE: Final = re.compile(r"\d{4}-\d\d-\d\d")
_TIME: Final = re.compile(r"\d{4}-\d\d-\d\d[ T]\d\d:\d\d(:\d\d(\.\d{1,6})?)?([+-]\d\d(:?\d\d)?|Z)?")
_INTEGERS: Final = {21: "!h", 23: "!i", 20: "!q", 26: "!I"}  # int2, int4, int8, oid
_FLOATS: Final = {700: "!f", 701: "!d"}
_TEXTS: Final = {0, 18, 19, 25, 705, 1042, 1043}  # unknown, "char", name, text, unknown, char, varchar


class Unsendable(Exception):
    """A value that its column's type cannot hold. It is one of an answer that was released, so it tells nothing new."""


def sent(value: Any, kind: int, form: int) -> bytes | None:
    """A value of an answer, as text or in its binary form. Raises Unsendable."""
    if value is None:
        return None
    try:
        return _bytes(value, kind) if form == BINARY else _text(value, kind).encode("utf-8", "replace")
    except (struct.error, ValueError, TypeError, OverflowError):
        raise Unsendable from None


def _text(value: Any, kind: int) -> str:
    match kind:
        case 16:
            return "t" if value else "f"
        case 20:
            if value not in INT64:
                raise Unsendable
            return str(int(value))
        case 701:
            return _float(float(value))
        case 1082:
            return _date(value).isoformat()
        case 1184:
            return _time(value).isoformat(" ")
        case 1009 | 1016:
            return "{" + ",".join("NULL" if one is None else _quoted(str(one)) for one in value) + "}"
    return str(value).replace("\0", "")


def _bytes(value: Any, kind: int) -> bytes:
    match kind:
        case 16:
            return b"\1" if value else b"\0"
        case 20:
            return struct.pack("!q", int(value))
        case 701:
            return struct.pack("!d", float(value))
        case 1082:
            return struct.pack("!i", (_date(value) - _DAY).days)
        case 1184:
            return struct.pack("!q", (_time(value) - _SECOND) // timedelta(microseconds=1))
        case 2950:
            return uuid.UUID(value).bytes
        case 1009 | 1016:
            inner = TEXT if kind == TEXTS else INT8
            parts = [
                struct.pack("!i", -1) if one is None else struct.pack("!i", len(own)) + own
                for one in value
                for own in [b"" if one is None else _bytes(one, inner)]
            ]
            head = struct.pack("!iii", 1 if value else 0, int(None in value), inner)
            return head + (struct.pack("!ii", len(parts), 1) if value else b"") + b"".join(parts)
    return str(value).replace("\0", "").encode("utf-8", "replace")


def _float(value: float) -> str:
    if math.isfinite(value):
        return repr(value).removesuffix(".0")
    return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"


def _date(value: Any) -> date:
    return date.fromisoformat(value) if isinstance(value, str) else value


def _time(value: Any) -> datetime:
    found = datetime.fromisoformat(value) if isinstance(value, str) else value
    return found if found.tzinfo else found.replace(tzinfo=UTC)


def _quoted(text: str) -> str:
    return (
        text if re.fullmatch(r"\w+", text) and text.upper() != "NULL" else '"' + re.sub(r'(["\\])', r"\\\1", text) + '"'
    )


def literal(value: bytes | None, kind: int, form: int, place: int) -> str:
    """A value that a client sent beside its statement, as it would stand in it. Raises Refusal."""
    if value is None:
        return "NULL"
    try:
        found = _read_binary(value, kind) if form == BINARY else value.decode("utf-8")
    except (struct.error, ValueError, OverflowError):
        found = None
    if found is None:
        raise _unreadable(place, kind)
    if kind in _INTEGERS or kind in _FLOATS or kind == 1700:
        if not _NUMBER.fullmatch(found):
            raise _unreadable(place, kind)
        return f"({found})" if found.startswith(("-", "+")) else found
    if kind == BOOL:
        if found.lower() not in ("t", "f", "true", "false"):
            raise _unreadable(place, kind)
        return "TRUE" if found.lower().startswith("t") else "FALSE"
    if kind == DATE and _DATE.fullmatch(found):
        return f"DATE '{found}'"
    if kind in (1114, TIMESTAMPTZ) and _TIME.fullmatch(found):
        return f"TIMESTAMP '{found}'"
    if kind in _TEXTS or kind == UUID:
        return "'" + found.replace("'", "''") + "'"
    raise _unreadable(place, kind)


def _read_binary(value: bytes, kind: int) -> str | None:
    if kind in _INTEGERS:
        return str(struct.unpack(_INTEGERS[kind], value)[0])
    if kind in _FLOATS:
        return repr(struct.unpack(_FLOATS[kind], value)[0])
    if kind == BOOL:
        return "true" if value == b"\1" else "false" if value == b"\0" else None
    if kind == DATE:
        return (_DAY + timedelta(days=struct.unpack("!i", value)[0])).isoformat()
    if kind in (1114, TIMESTAMPTZ):
        found = _SECOND + timedelta(microseconds=struct.unpack("!q", value)[0])
        return found.replace(tzinfo=None).isoformat(" ")
    if kind == UUID:
        return str(uuid.UUID(bytes=value))
    return value.decode("utf-8") if kind in _TEXTS else None


def _unreadable(place: int, kind: int) -> Refusal:
    return Refusal(
        f"the value of ${place} cannot be read (type {kind}).",
        cure="Write it into the statement, or send a number, a text, a date, a timestamp or a boolean.",
    )
