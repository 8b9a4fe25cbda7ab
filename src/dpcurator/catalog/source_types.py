"""Which types a column of a typed source may be declared as, by the type that the source's own schema has.

A type is part of a schema and no row decides it, so a column of which no value could be read is refused before a row is
looked at. Texts and bytes are read by the grammar of any type. Checked in tests/snapshot/test_source_types.py.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from dpcurator.catalog.formats import count_of
from dpcurator.catalog.model import Column
from dpcurator.catalog.problems import quoted, text
from dpcurator.catalog.spelling import ISO, Spelling
from dpcurator.errors import Misconfigured, either

ANY: Final = ("text", "integer", "float", "boolean", "date", "timestamp", "uuid")  # by the grammar of the type
WRITTEN: Final = ("text", "blob")  # kinds whose values are read by it
_NUMBERS: Final = ("integer", "float", "boolean", "text")
READ_AS: Final[dict[str, tuple[str, ...]]] = {  # by the kinds of `snapshot.vectorised`, the plainest first
    "whole": _NUMBERS, "huge": _NUMBERS, "vast": _NUMBERS,
    "double": ("float", "integer", "boolean"), "decimal": ("float", "integer", "boolean"),
    "truth": ("boolean",), "text": ANY, "blob": ANY, "day": ("date", "timestamp"), "naive": ("timestamp", "date"),
    "aware": ("timestamp",), "uuid": ("uuid", "text"), "clock": (), "other": (),
}


def may_be(kind: str, type: str, spelling: Spelling) -> bool:
    """Could any value of the kind be read as the type? Numbers are dates where a count since a day is declared, times
    of day are integers where a format says so."""
    if type == "integer" and spelling.formats:
        return kind in (*WRITTEN, "clock")
    if type in ("date", "timestamp") and kind in ("whole", "huge", "vast", "double", "decimal"):
        return any(count_of(one) for one in spelling.formats)
    return type in READ_AS[kind]


def refuse_type(column: Column, spelling: Spelling, kind: str, shown: str, source: str, where: str) -> None:
    """Raise Misconfigured where no value of a file's column could be read as declared. kind: as in `READ_AS`; shown:
    the file's name of the type."""
    if not may_be(kind, column.type, spelling):
        otherwise = f"write it into the file as {column.type}."
        if spelling.formats and may_be(kind, column.type, ISO):
            otherwise = f"leave out its format: {quoted(column.name)} = {text(column.type)}."
        elif column.type in ("date", "timestamp") and may_be(kind, "integer", ISO):
            count = '{ type = "%s", format = "%s since 1970-01-01" }'
            unit = "days" if column.type == "date" else "seconds"
            otherwise = f"say what it counts: {quoted(column.name)} = {count % (column.type, unit)}."
        raise not_read_as(column, shown, source, READ_AS[kind], where, otherwise)
    if kind in ("day", "naive") and column.type == "timestamp" and spelling.zone is None:
        raise no_zone(column, shown, source, where)


def not_read_as(
    column: Column, shown: str, source: str, types: Sequence[str], where: str, otherwise: str
) -> Misconfigured:
    """The source's type is not read as the declared one. types: which may be declared."""
    plain = [f'"{type}"' for type in types if type != column.type]
    what = f"{text(column.name)} of {source} is of type {shown}, which is not read as {column.type}."
    first = f"Declare it as {either(plain) if len(plain) > 1 else plain[0]}." if plain else \
        "Leave it out of the catalog."
    return Misconfigured(what, where=where, cure=f"{first} Or {otherwise}")


def no_zone(column: Column, shown: str, source: str, where: str) -> Misconfigured:
    return Misconfigured(
        f"{text(column.name)} of {source} is of type {shown}, and no zone is declared.", where=where,
        cure=f'Say whose time it is: {quoted(column.name)} = {{ type = "timestamp", zone = "UTC" }}.')
