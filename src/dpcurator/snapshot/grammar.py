"""Reading a column of cells by the written grammar (`catalog.spelling`), a batch at a time.

A batch gives one physical value or None per cell, and the positions and reasons of those that could not be read. Equal
text is read once; typed values of one plain kind pass without a look at each. That this agrees with reading every cell
by itself is checked in tests/snapshot/test_grammar.py.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from typing import Any, Final

from dpcurator.catalog.model import Value
from dpcurator.catalog.spelling import (
    GRAMMAR,
    GREATEST_INTEGER,
    LEAST_INTEGER,
    Rule,
    Spelling,
    Unreadable,
    read_text,
    read_value,
)

__all__ = ["GRAMMAR", "Rule", "Unreadable", "read_cells", "read_text", "read_typed", "read_value"]

_class_of = type  # `type` is the name of a parameter below, as it is a field of the catalog
type_of_none = type(None)
_PLAIN: Final = ((str, str.__str__), (int, int.__int__), (float, float.__float__))
Read = tuple[list[Value], list[tuple[int, str]]]  # values, and (position, reason) of the unreadable


def read_cells(cells: Sequence[str], type: str, spelling: Spelling, missing: Collection[str]) -> Read:
    """CSV cells. A cell spelled exactly as in `missing` is missing, whatever its type."""
    absent = frozenset(missing)
    if absent.isdisjoint(cells):
        return _read_present(cells, type, spelling)
    present = [position for position, cell in enumerate(cells) if cell not in absent]
    read, bad = _read_present([cells[position] for position in present], type, spelling)
    values: list[Value] = [None] * len(cells)
    for position, value in zip(present, read, strict=True):
        values[position] = value
    return values, [(present[position], reason) for position, reason in bad]


def _read_present(cells: Sequence[str], type: str, spelling: Spelling) -> Read:
    plain = _plainly(cells, type, spelling) if spelling.plain else None
    if plain is not None:
        return plain, []
    table = {cell: read_text(cell, type, spelling) for cell in set(cells)}
    return _split(list(map(table.__getitem__, cells)), any(isinstance(v, Unreadable) for v in table.values()))


def _plainly(cells: Sequence[str], type: str, spelling: Spelling) -> list[Value] | None:
    """The values when all cells are spelled in the plainest way, decided on their characters together; else None.

    With no character but digits, "-" and one decimal point, Python's int and float accept no more than the grammar
    does, and raise ValueError otherwise; 18 digits fit 64 bits, and 300 characters a double.
    """
    together = "".join(cells)
    if type == "text":
        return list(cells) if "\0" not in together and _encodes(together) else None
    if type not in ("integer", "float") or spelling.decimal != "." or not together.isascii():
        return None
    digits = together.replace("-", "").replace(".", "") if type == "float" else together.replace("-", "")
    longest = 300 if type == "float" else 18
    if not digits.isdigit() or max(map(len, cells)) > longest:
        return None
    try:
        return list(map(int, cells)) if type == "integer" else [float(cell) + 0.0 for cell in cells]
    except ValueError:
        return None


def _encodes(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def read_typed(values: Sequence[Any], type: str, spelling: Spelling) -> Read:
    """Values of a data frame, Parquet or DuckDB column; an `Unreadable` among them stays what it is."""
    kinds = set(map(_class_of, values)) - {type_of_none}
    if kinds == {str}:
        distinct = {text: read_text(text, type, spelling) for text in set(values) if text is not None}
        read: list[Any] = [None if text is None else distinct[text] for text in values]
        return _split(read, any(isinstance(v, Unreadable) for v in distinct.values()))
    if kinds == {int} and type == "integer" and spelling.plain:
        present = [value for value in values if value is not None]
        if min(present) >= LEAST_INTEGER and max(present) <= GREATEST_INTEGER:
            return list(values), []
    if kinds == {float} and type == "float" and spelling.plain:
        return [None if value is None or math.isnan(value) else value + 0.0 for value in values], []
    return _split([v if _class_of(v) is Unreadable else _one(v, type, spelling) for v in values], True)


def _one(value: Any, type: str, spelling: Spelling) -> Value | Unreadable:
    """One value of whatever class. Text and numbers of a class of their own are taken as the plain ones they are, by no
    method of that class; what an object of another class does when it is looked at harms no other row."""
    for plain, taken in _PLAIN:
        if issubclass(_class_of(value), plain) and _class_of(value) is not bool:
            value = taken(value)
            break
    try:
        return read_value(value, type, spelling)
    except Exception:
        return Unreadable("a value of a kind that no column type has")


def _split(read: list[Any], troubled: bool) -> Read:
    if not troubled:
        return read, []
    bad = [(position, value.reason) for position, value in enumerate(read) if isinstance(value, Unreadable)]
    for position, _ in bad:
        read[position] = None
    return read, bad
