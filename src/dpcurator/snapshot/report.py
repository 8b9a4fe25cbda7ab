"""What a refresh tells the steward, and nobody else: rows read and set aside, values that could not be read.

Counts and line numbers are private facts (semantics 1.4): a report is shown to whoever runs `refresh` and stored
nowhere. It gives places and constant reasons, never the content of a cell. Checked in tests/snapshot/test_refresh.py.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Any, Final

SHOWN: Final = 5  # places kept per kind of trouble


@dataclass(slots=True)
class Trouble:
    """How often something happened, the first places ("visits.csv:12", "row 3") with reasons, and totals by reason."""

    count: int = 0
    first: list[tuple[str, str]] = field(default_factory=list)
    reasons: Counter[str] = field(default_factory=Counter)

    def add(self, place: str, reason: str) -> None:
        self.count += 1
        self.reasons[reason] += 1
        if len(self.first) < SHOWN:
            self.first.append((place, reason))

    def as_json(self) -> dict[str, Any]:
        first = [{"place": place, "reason": reason} for place, reason in self.first]
        return {"count": self.count, "reasons": dict(self.reasons), "first": first}


@dataclass(slots=True)
class TableReport:
    """One table. rows: stored rows; null_units: stored rows without a unit, which no question counts."""

    table: str
    rows: int = 0
    blank_lines: int = 0
    null_units: int = 0
    set_aside: Trouble = field(default_factory=Trouble)
    unreadable: dict[str, Trouble] = field(default_factory=dict)  # by column
    missing: Counter[str] = field(default_factory=Counter)  # by column, unreadable ones included
    header: frozenset[str] | None = None  # the names in the first file, which later ones must share

    def as_json(self) -> dict[str, Any]:
        return {
            "table": self.table,
            "rows": self.rows,
            "blank_lines": self.blank_lines,
            "null_units": self.null_units,
            "set_aside": self.set_aside.as_json(),
            "unreadable": {name: trouble.as_json() for name, trouble in self.unreadable.items() if trouble.count},
            "missing": {name: count for name, count in self.missing.items() if count},
        }

    def lines(self) -> list[str]:
        told = [f"{self.table}: {self.rows:,} rows"]
        told += _told("rows set aside", self.set_aside)
        for name, trouble in self.unreadable.items():
            told += _told(f"values of {name!r} unreadable", trouble)
        if self.null_units:
            told.append(f"  {self.null_units:,} rows without a unit: no question counts them")
        if self.blank_lines:
            told.append(f"  {self.blank_lines:,} blank lines skipped")
        return told


def _told(what: str, trouble: Trouble) -> list[str]:
    if not trouble.count:
        return []
    places = [f"    {place}: {reason}" for place, reason in trouble.first]
    more = [f"    and {trouble.count - len(places):,} more"] if trouble.count > len(places) else []
    return [f"  {trouble.count:,} {what}", *places, *more]


@dataclass(frozen=True, slots=True)
class Report:
    """For the steward alone. `version` is the new data version, which is public; the rest is not."""

    version: int
    tables: tuple[TableReport, ...]

    @property
    def clean(self) -> bool:
        """Was everything read?"""
        return not any(t.set_aside.count or any(x.count for x in t.unreadable.values()) for t in self.tables)

    def as_json(self) -> dict[str, Any]:
        return {"version": self.version, "tables": [table.as_json() for table in self.tables]}

    def __str__(self) -> str:
        head = f"Data version {self.version}. For the steward only: these counts are private."
        return "\n".join([head, *(line for table in self.tables for line in table.lines())])
