"""What a refresh read of each column, as a table for the steward alone, and how the values that it could not read are
written.

Checked in tests/snapshot/test_by_column.py.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from datetime import date, time
from decimal import Decimal
from typing import Final

from dpcurator.catalog.problems import text
from dpcurator.catalog.spelling import NOT_VALID, Unreadable
from dpcurator.numbers.text_table import printable, table_text

SHOWN: Final = 5  # spellings of a column
_LONGEST: Final = 40  # letters of one
_KEPT: Final = 10_000  # distinct ones that are counted; what comes after them is not


@dataclass(slots=True)
class Spellings:
    """How often each value that could not be read, or is outside `valid`, is written so."""

    counts: Counter[str] = field(default_factory=Counter)

    def add(self, value: object, times: int = 1) -> None:
        shown = _shown(value)
        if shown and (shown in self.counts or len(self.counts) < _KEPT):
            self.counts[shown] += times

    def most(self) -> list[tuple[str, int]]:
        """The most frequent, each with how often; of equally frequent ones the first by code point."""
        return sorted(self.counts.items(), key=lambda one: (-one[1], one[0]))[:SHOWN]


def _shown(value: object) -> str:
    """As it is written; what an object does when it is looked at harms no other row."""
    try:
        return _written(value)
    except Exception:
        return "a value of a kind that no column type has"


def _written(value: object) -> str:
    if isinstance(value, str):
        return text(value if len(value) <= _LONGEST else value[:_LONGEST] + "...")
    if isinstance(value, bool | int | float | Decimal | date | time | bytes):
        return repr(value)[:_LONGEST] if isinstance(value, bytes) else str(value)[:_LONGEST]
    return "" if value is None or isinstance(value, Unreadable) else f"a {type(value).__name__}"


@dataclass(frozen=True, slots=True)
class ByColumn:
    """One column of the report. values: those that were read; missing: fields that mean missing; unreadable, not_valid:
    values that are missing for that; beyond: of the values, those that count as a bound; no_key: none of its keys."""

    values: int
    missing: int
    unreadable: int
    not_valid: int
    beyond: int
    no_key: int

    @classmethod
    def of(cls, rows: int, missing: int, reasons: Mapping[str, int], beyond: int, no_key: int) -> ByColumn:
        """missing: stored rows without a value. reasons: how many values are missing for each, as unreadable."""
        unread, not_valid = sum(reasons.values()), reasons.get(NOT_VALID.reason, 0)
        return cls(rows - missing, missing - unread, unread - not_valid, not_valid, beyond, no_key)

    def as_json(self) -> dict[str, int]:
        return asdict(self)


_HEADS: Final = {
    "values": "values", "missing": "missing", "unreadable": "unreadable", "not_valid": "not valid",
    "beyond": "beyond bounds", "no_key": "no key",
}


def lines_of(columns: Mapping[str, ByColumn]) -> list[str]:
    """The table: a line for each column, and of the counts the first two and those that any column has."""
    found = {name: one.as_json() for name, one in columns.items()}
    heads = [head for head in _HEADS if head in ("values", "missing") or any(one[head] for one in found.values())]
    rows = [[printable(name), *(f"{one[head]:,}" for head in heads)] for name, one in found.items()]
    drawn = table_text(["column", *(_HEADS[head] for head in heads)], rows, [False, *(True for _ in heads)])
    return [f"  {line}" for line in drawn.splitlines()]


def told_of(spellings: Spellings | None) -> list[str]:
    """The most frequent spellings on one line."""
    most = [] if spellings is None else spellings.most()
    return [f"    most often {', '.join(f'{shown} ({times:,})' for shown, times in most)}"] if most else []
