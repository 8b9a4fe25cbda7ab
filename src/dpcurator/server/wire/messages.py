"""The messages of PostgreSQL's protocol 3.0, as bytes: what a client sends is taken apart, what it gets put together.

Whatever is too short, too long or no UTF-8 raises `Malformed`. Checked in tests/server/test_wire_messages.py.
Source: PostgreSQL's documentation, Frontend/Backend Protocol, Message Formats.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

SSL_REQUEST: Final = 80877103
GSS_REQUEST: Final = 80877104
CANCEL_REQUEST: Final = 80877102
PROTOCOL: Final = 3  # its major version
TEXT, BINARY = 0, 1  # formats of a value


class Malformed(Exception):
    """Not a message of the protocol. Its words are constant."""


@dataclass
class Reader:
    """The fields of one message, from its start."""

    content: bytes
    at: int = 0

    def take(self, size: int) -> bytes:
        if size < 0 or self.at + size > len(self.content):
            raise Malformed
        self.at += size
        return self.content[self.at - size : self.at]

    def text(self) -> str:
        """Up to a zero byte."""
        end = self.content.find(b"\0", self.at)
        if end < 0:
            raise Malformed
        found, self.at = self.content[self.at : end], end + 1
        try:
            return found.decode("utf-8")
        except UnicodeDecodeError:
            raise Malformed from None

    def int16(self) -> int:
        return int(struct.unpack("!H", self.take(2))[0])

    def int32(self) -> int:
        return int(struct.unpack("!i", self.take(4))[0])

    def value(self) -> bytes | None:
        """A length and so many bytes; None for NULL."""
        size = self.int32()
        return None if size == -1 else self.take(size)

    def many16(self) -> list[int]:
        return [self.int16() for _ in range(self.int16())]

    def end(self) -> None:
        if self.at != len(self.content):
            raise Malformed


@dataclass(frozen=True, slots=True)
class Parse:
    name: str
    sql: str
    types: list[int]

    @classmethod
    def read(cls, content: bytes) -> Parse:
        reader = Reader(content)
        found = cls(reader.text(), reader.text(), [reader.int32() for _ in range(reader.int16())])
        reader.end()
        return found


@dataclass(frozen=True, slots=True)
class Bind:
    portal: str
    name: str
    formats: list[int]  # of the values: none, one for all, or each its own
    values: list[bytes | None]
    wanted: list[int]  # formats of the columns, likewise

    @classmethod
    def read(cls, content: bytes) -> Bind:
        reader = Reader(content)
        portal, name, formats = reader.text(), reader.text(), reader.many16()
        values = [reader.value() for _ in range(reader.int16())]
        found = cls(portal, name, formats, values, reader.many16())
        reader.end()
        if len(formats) not in (0, 1, len(values)) or not {*formats, *found.wanted} <= {TEXT, BINARY}:
            raise Malformed
        return found


def target(content: bytes) -> tuple[bytes, str]:
    """Of Describe and Close: b"S" for a statement or b"P" for a portal, and its name."""
    reader = Reader(content)
    kind, name = reader.take(1), reader.text()
    reader.end()
    if kind not in (b"S", b"P"):
        raise Malformed
    return kind, name


def execute(content: bytes) -> tuple[str, int]:
    """The portal, and how many rows at most; 0: all."""
    reader = Reader(content)
    found = reader.text(), reader.int32()
    reader.end()
    return found[0], max(0, found[1])


def query(content: bytes) -> str:
    reader = Reader(content)
    found = reader.text()
    reader.end()
    return found


def startup(content: bytes) -> dict[str, str]:
    """The parameters of a StartupMessage, behind its version."""
    reader, found = Reader(content), {}
    while (name := reader.text()) != "":
        found[name] = reader.text()
    reader.end()
    return found


def sasl_initial(content: bytes) -> tuple[str, bytes]:
    """The mechanism and the first message of SASL."""
    reader = Reader(content)
    name, first = reader.text(), reader.value()
    reader.end()
    return name, first or b""


def at_format(formats: Sequence[int], place: int) -> int:
    """The format of the column or value at a place: none says text, one says it of all."""
    return TEXT if not formats else formats[0] if len(formats) == 1 else formats[place]


def message(kind: bytes, content: bytes = b"") -> bytes:
    return kind + struct.pack("!i", len(content) + 4) + content


def zero_ended(text: str) -> bytes:
    return text.replace("\0", "").encode("utf-8", "replace") + b"\0"


def authentication(code: int, content: bytes = b"") -> bytes:
    """10: SASL, and its mechanisms; 11 and 12: SASL goes on and ends; 0: signed in."""
    return message(b"R", struct.pack("!i", code) + content)


def parameter_status(name: str, value: str) -> bytes:
    return message(b"S", zero_ended(name) + zero_ended(value))


def negotiate(unknown: Iterable[str]) -> bytes:
    """The newest minor version known, 0, and the options of the protocol that are not."""
    names = list(unknown)
    return message(b"v", struct.pack("!ii", PROTOCOL << 16, len(names)) + b"".join(map(zero_ended, names)))


def ready(state: bytes) -> bytes:
    """b"I" outside a transaction, b"T" in one, b"E" in one that failed."""
    return message(b"Z", state)


def row_description(columns: Iterable[tuple[str, int]], formats: Sequence[int] = ()) -> bytes:
    """columns: a name and a type's number each."""
    parts = [
        zero_ended(name) + struct.pack("!ihihih", 0, 0, kind, _SIZE.get(kind, -1), -1, at_format(formats, place))
        for place, (name, kind) in enumerate(columns)
    ]
    return message(b"T", struct.pack("!H", len(parts)) + b"".join(parts))


_SIZE: Final = {16: 1, 20: 8, 701: 8, 1082: 4, 1184: 8, 2950: 16}  # bytes of the types that have a fixed number


def parameter_description(types: Sequence[int]) -> bytes:
    return message(b"t", struct.pack("!H", len(types)) + b"".join(struct.pack("!i", one) for one in types))


def data_row(values: Sequence[bytes | None]) -> bytes:
    parts = [struct.pack("!i", -1) if one is None else struct.pack("!i", len(one)) + one for one in values]
    return message(b"D", struct.pack("!H", len(parts)) + b"".join(parts))


def command_complete(tag: str) -> bytes:
    return message(b"C", zero_ended(tag))


def told(kind: bytes, severity: str, code: str, text: str, *, hint: str = "", detail: str = "", at: int = 0) -> bytes:
    """An error (kind b"E") or a notice (b"N"). at: the letter of the statement it is about, from 1; 0: none."""
    fields = {"S": severity, "V": severity, "C": code, "M": text, "H": hint, "D": detail, "P": str(at or "")}
    parts = [name.encode() + zero_ended(value) for name, value in fields.items() if value]
    return message(kind, b"".join(parts) + b"\0")


PARSE_COMPLETE: Final = message(b"1")
BIND_COMPLETE: Final = message(b"2")
CLOSE_COMPLETE: Final = message(b"3")
NO_DATA: Final = message(b"n")
EMPTY: Final = message(b"I")
SUSPENDED: Final = message(b"s")
