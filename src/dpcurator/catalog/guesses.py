"""Guesses of a column's type from its first values, which the steward confirms; and whether a line is a header.

A guess is a question. In a draft it is written `"integer?"`, which `load` tells as still to be decided, because one
private cell may have turned it; what it rests on is said to the steward alone. Checked in tests/catalog/test_init.py.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Final

from dpcurator.catalog.formats import alike
from dpcurator.catalog.problems import text, toml
from dpcurator.catalog.spelling import NO_ZONE, Spelling, Unreadable, read_text, read_value

LOOKED_AT: Final = 1_000  # rows that guesses rest on
_ORDER: Final = ("integer", "float", "boolean", "date", "timestamp", "uuid")  # of equally good ones the first
ABSENT: Final = ("", "NA", "N/A", "n/a", "NULL", "null", "NaN", "nan", "None", "?", "-", "\\N")
_ENOUGH: Final = 0.9  # share of the values that read so
_FURTHER: Final = 2  # values that a second format must read, so that one cell adds none
_ORDERS: Final = ("YYYY-MM-DD", "DD-MM-YYYY", "MM-DD-YYYY", "D-M-YYYY", "M-D-YYYY")
_DAYS: Final = (  # of formats that read as many values, the first
    *(day.replace("-", mark) for mark in "-/." for day in _ORDERS),
    "DD-MON-YYYY", "D MON YYYY", "MON D, YYYY", "D. MON YYYY", "YYYYMMDD", "DDMMYYYY",
)
_TIMES: Final = ("HH:mm", "HH:mm:ss", "H:mm", "H:mm:ss", "hh:mm AM", "h:mm AM", "h:mm:ss AM")
_THOUSANDS: Final = (",", ".", " ", "'", "\u2019", "\u00a0", "\u202f")
_WORDS: Final = (
    (("y", "yes"), ("n", "no")), (("j", "ja"), ("n", "nein")), (("j", "ja"), ("n", "nej", "nei", "nee")),
    (("o", "oui"), ("n", "non")), (("s", "si", "s\u00ed", "sim"), ("n", "no", "n\u00e3o")), (("on",), ("off",)),
    (("w", "wahr"), ("f", "falsch")),
)
_STAND_INS: Final = frozenset(  # numbers that people write for a value that is missing
    int(sign + digit * n) for sign in ("", "-") for digit in "89" for n in range(2, 6)
) | {-1, -9, -8}
# What looks like a number and loses something as one: leading zeros, digits around one e, too many digits.
_IDENTIFIER: Final = re.compile(r"[+-]?0\d+|\d+[eE]\d+|\d{16,}", re.ASCII)
_THREE: Final = re.compile(r"[+-]?\d{1,3}([.,]\d{3})+", re.ASCII)
_MOMENT: Final = re.compile(
    r" *\d[\d./:, -]{0,20}([a-z]{3})?[\d./:, -]{0,16}([ap]m)? *|[a-z]{3} \d[\d, ]{5,12}", re.ASCII | re.IGNORECASE
)
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
    """The type that most of the values read as, if nine in ten do; else text. decimal: the file's decimal mark."""
    present = [value for value in values if value is not None and not (isinstance(value, str) and value in ABSENT)]
    if not present:
        return Guess("", note="has no value in the rows looked at")
    texts = [value.strip() for value in present if isinstance(value, str)]
    codes = any(_IDENTIFIER.fullmatch(cell) for cell in texts)
    tried = [type for type in _ORDER if not (codes and type in ("integer", "float"))]
    shares = {type: _share(present, type, Spelling(decimal=decimal)) for type in tried}
    best = max(tried, key=shares.__getitem__)
    if shares[best] >= _ENOUGH:
        naive = best == "timestamp" and any(read_value(value, best) is NO_ZONE for value in present)
        notes = [_odd(present, shares[best]), *([_stand_in(present, decimal)] if best in ("integer", "float") else [])]
        return Guess(best, (("zone", '"?"'),) if naive else (), ", and ".join(note for note in notes if note))
    grouped = None if codes or not texts else _grouped(present, decimal)
    if texts and (found := grouped or _worded(texts, present) or _timed(present)):
        return found
    notes = ["has digits that are lost in a number, as an identifier's are"] if codes else []
    notes += ['has spaces at the ends of values, for clean = ["trim"]'] if _padded(present) else []
    if len(set(texts)) > len({one.lower() for one in texts}):
        notes.append('has values that differ in upper and lower case alone, for clean = ["lower"]')
    return Guess("text", note=", and ".join(notes))


def _padded(values: Sequence[Any]) -> bool:
    return any(isinstance(value, str) and value != value.strip() for value in values)


def _stand_in(values: Sequence[Any], decimal: str) -> str:
    """Numbers that repeat and stand apart from all others, as 999 among ages: told to the steward alone."""
    read = [one for value in values if isinstance(one := read_value(value, "float", Spelling(decimal=decimal)), float)]
    others = [value for value in read if value not in _STAND_INS]
    if not others:
        return ""
    low, high = min(others), 2 * max(others)
    found = [f"{value:.0f}" for value, times in sorted(Counter(read).items())
             if value in _STAND_INS and times > 1 and not low <= value <= high]
    told = f"has {' and '.join(found)} far from all others: na_values = {toml(found)} if missing is meant"
    return told if found else ""


def _grouped(values: Sequence[Any], decimal: str) -> Guess | None:
    """Numbers with a mark between thousands."""
    for mark in _THOUSANDS:
        for type in ("integer", "float"):
            share = 0 if mark == decimal else _share(values, type, Spelling(decimal=decimal, thousands=mark))
            if share >= _ENOUGH:
                return Guess(type, (("thousands", text(mark)),), _odd(values, share))
    return None


def _worded(texts: Sequence[str], values: Sequence[Any]) -> Guess | None:
    """Booleans in the words of some languages."""
    for yes, no in _WORDS:
        share = _share(values, "boolean", Spelling(true_words=yes, false_words=no))
        if share >= _ENOUGH and {cell.lower() for cell in texts} & set(yes) and len(texts) == len(values):
            return Guess("boolean", (("true_words", toml(yes)), ("false_words", toml(no))), _odd(values, share))
    return None


def _timed(values: Sequence[Any]) -> Guess | None:
    """Dates, timestamps or times of day in one or several written formats; "?" where two read them differently."""
    if sum(isinstance(value, str) and bool(_MOMENT.fullmatch(value)) for value in values) < _ENOUGH * len(values):
        return None
    moments = tuple(f"{day} {time}" for day in _DAYS for time in _TIMES)
    for type, formats, zone in (("date", _DAYS, None), ("integer", _TIMES, None), ("timestamp", moments, "UTC")):
        some = values[:: max(1, len(values) // 50)]
        hopeful = [one for one in formats if any(_read(value, type, one, zone) for value in some)]
        if not hopeful:
            continue
        chosen: list[str] = []
        left = list(values)
        doubt: tuple[str, str] | None = None
        while left:
            counts = [(sum(_read(value, type, one, zone) for value in left), one) for one in hopeful]
            most = max(count for count, _ in counts)
            if most < (_FURTHER if chosen else 1):
                break
            best = next(one for count, one in counts if count == most)
            rest = [value for value in left if not _read(value, type, best, zone)]
            rivals = [one for count, one in counts if count == most and alike(best, one, type)]
            doubt = doubt or ((best, rivals[0]) if rivals else None)
            if any(alike(best, one, type) for one in chosen):
                break
            chosen.append(best)
            left = rest
        share = 1 - len(left) / len(values)
        if not chosen or share < _ENOUGH:
            continue
        written = '"?"' if doubt else toml(chosen[0] if len(chosen) == 1 else chosen)
        note = f"may be {doubt[0]} or {doubt[1]}" if doubt else _odd(values, share)
        more = (("zone", '"?"'),) if type == "timestamp" else ()
        return Guess(type, (("format", written), *more), note)
    return None


def _read(value: Any, type: str, format: str, zone: str | None) -> bool:
    return isinstance(value, str) and not isinstance(
        read_text(value, type, Spelling(zone=zone, formats=(format,))), Unreadable
    )


def _share(values: Sequence[Any], type: str, spelling: Spelling) -> float:
    read = [read_value(value, type, spelling) for value in values]
    return sum(not isinstance(value, Unreadable) or value is NO_ZONE for value in read) / len(read)


def decimal_of(columns: Sequence[Sequence[str]]) -> str:
    """The decimal mark with which more columns are numbers with a fraction; "1,234" alone, which may be a whole number
    with a mark between thousands, is none."""
    counts = {mark: sum(_fractions(cells, mark) for cells in columns) for mark in ".,"}
    return "," if counts[","] > counts["."] else "."


def _fractions(cells: Sequence[str], decimal: str) -> bool:
    present = [cell for cell in cells if cell not in ABSENT]
    told = any(decimal in cell and not _THREE.fullmatch(cell.strip()) for cell in present)
    other = "," if decimal == "." else "."
    return told and any(
        _share(present, "float", Spelling(decimal=decimal, thousands=mark)) >= _ENOUGH for mark in ("", other, " ")
    )


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
