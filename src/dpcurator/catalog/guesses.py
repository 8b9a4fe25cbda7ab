"""Guesses of a column's type from its first values, which the steward confirms; and whether a line is a header.

A guess is a question. In a draft it is written `"integer?"`, which `load` tells as still to be decided, because one
private cell may have turned it; what it rests on is said to the steward alone. Checked in tests/catalog/test_init.py.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Final

from dpcurator.catalog.spelling import NO_ZONE, Spelling, Unreadable, read_text, read_value

LOOKED_AT: Final = 200  # rows that guesses rest on
_ORDER: Final = ("integer", "float", "boolean", "date", "timestamp", "uuid")  # of equally good ones the first
_FORMATS: Final = ("DD/MM/YYYY", "MM/DD/YYYY", "DD.MM.YYYY", "DD-MM-YYYY", "MM-DD-YYYY", "YYYY/MM/DD")
_ABSENT: Final = ("", "NA", "N/A", "n/a", "NULL", "null", "NaN", "nan", "None", "?")
_ENOUGH: Final = 0.9  # share of the values that read so
# What looks like a number and loses something as one: leading zeros, digits around one e, too many digits.
_IDENTIFIER: Final = re.compile(r"[+-]?0\d+|\d+[eE]\d+|\d{16,}", re.ASCII)
_LONGEST_NAME: Final = 80
_NUMBER: Final = re.compile(r"[+-]?[\d.,' ]*\d[\d.,' %]*|[$€£]\s*\d[\d.,]*", re.ASCII)
_DATE: Final = re.compile(r"\d{1,4}([-/.])\d{1,2}\1\d{1,4}([T ].*)?|\d{1,2}:\d\d.*", re.ASCII)


@dataclass(frozen=True, slots=True)
class Guess:
    """A type ("" when no value is there), further fields of the column as TOML, and what the steward is told."""

    type: str
    fields: tuple[tuple[str, str], ...] = ()
    note: str = ""


def guess(values: Iterable[Any], decimal: str = ".") -> Guess:
    """The type that most of the values read as, if nine in ten do; else text."""
    present = [value for value in values if value is not None and not (isinstance(value, str) and value in _ABSENT)]
    if not present:
        return Guess("", note="has no value in the rows looked at")
    texts = [value.strip() for value in present if isinstance(value, str)]
    codes = any(_IDENTIFIER.fullmatch(cell) for cell in texts)
    tried = [type for type in _ORDER if not (codes and type in ("integer", "float"))]
    shares = {type: _share(present, type, Spelling(decimal=decimal)) for type in tried}
    best = max(tried, key=shares.__getitem__)
    if shares[best] >= _ENOUGH:
        naive = best == "timestamp" and any(read_value(value, best) is NO_ZONE for value in present)
        return Guess(best, (("zone", '"?"'),) if naive else (), _odd(present, shares[best]))
    fitting = [(share, f) for f in _FORMATS if (share := _share(present, "date", Spelling(formats=(f,)))) >= _ENOUGH]
    if texts and fitting:
        share, date_format = fitting[0]
        clear = len(fitting) == 1
        note = _odd(present, share) if clear else f"may be {' or '.join(f for _, f in fitting)}"
        return Guess("date", (("format", f'"{date_format}"' if clear else '"?"'),), note)
    return Guess("text", note="has digits that are lost in a number, as an identifier's are" if codes else "")


def _share(values: Sequence[Any], type: str, spelling: Spelling) -> float:
    read = [read_value(value, type, spelling) for value in values]
    return sum(not isinstance(value, Unreadable) or value is NO_ZONE for value in read) / len(read)


def _odd(values: Sequence[Any], share: float) -> str:
    others = round(len(values) * (1 - share))
    return f"{others} of the first {len(values)} values are not written so" if others else ""


def like_rows(header: Sequence[str], rows: Sequence[Sequence[str]]) -> list[int]:
    """The positions, from 1, of cells of a first line that look like values and not like names."""
    return [
        position
        for position, cell in enumerate(header, start=1)
        if cell.strip() and (_like_value(cell.strip()) or any(row[position - 1 : position] == [cell] for row in rows))
    ]


def _like_value(cell: str) -> bool:
    if len(cell) > _LONGEST_NAME or re.search(r"\S@\S|://", cell):
        return True
    if _NUMBER.fullmatch(cell) or _DATE.fullmatch(cell) or sum(map(str.isdigit, cell)) >= 6:
        return True
    return any(not isinstance(read_text(cell, type), Unreadable) for type in ("integer", "float", "timestamp", "uuid"))
