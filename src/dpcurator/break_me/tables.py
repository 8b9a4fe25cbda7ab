"""What questions are drawn about: a declared table, or whatever stands in FROM, with its columns.

Definition  `Table` and `Column` are what is known of a declaration: a catalog's table is one. A `Source` is what stands
            in FROM, as SQL, with the fields that can be written of it; `source_of` is a table's.
Promise     The public declaration alone is known here.
Checked     tests/break_me/test_break_me.py.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Final, Protocol

EACH_ROW: Final = "each row"
NUMBERS: Final = ("integer", "float", "boolean")


class Column(Protocol):
    """A declared column; lower, upper and keys as physical values. The catalog's, or another of these attributes."""

    @property
    def name(self) -> str: ...
    @property
    def type(self) -> str: ...
    @property
    def kind(self) -> str: ...
    @property
    def lower(self) -> Fraction | None: ...
    @property
    def upper(self) -> Fraction | None: ...
    @property
    def keys(self) -> tuple[Any, ...] | None: ...
    @property
    def unknown_keys(self) -> bool: ...
    @property
    def per_unit(self) -> bool: ...
    @property
    def unique(self) -> bool: ...
    @property
    def most(self) -> int | None: ...


class Table(Protocol):
    """A table. unit: the column of its units, or "each row"; None: it is public."""

    @property
    def name(self) -> str: ...
    @property
    def columns(self) -> Sequence[Column]: ...
    @property
    def unit(self) -> str | None: ...
    @property
    def max_rows(self) -> int | None: ...
    @property
    def max_groups(self) -> int | None: ...
    @property
    def max_total(self) -> int | None: ...


@dataclass(frozen=True, slots=True)
class Field:
    """A column of what stands in FROM. sql: how it is written there."""

    sql: str
    type: str
    lower: Fraction | None = None
    upper: Fraction | None = None
    keys: tuple[Any, ...] | None = None
    unknown_keys: bool = False

    @property
    def bounded(self) -> bool:
        """Can it be added up as it is?"""
        return self.type == "boolean" or (self.type in NUMBERS and None not in (self.lower, self.upper))


@dataclass(frozen=True, slots=True)
class Source:
    """What stands in FROM, as SQL. fields: without the unit; unit: None where each row is one. where: conditions that
    come with it."""

    text: str
    fields: tuple[Field, ...]
    unit: Field | None
    where: tuple[str, ...] = ()


def fellows(table: Table, tables: Sequence[Table]) -> list[Table]:
    """The table, then those that a question may use beside it: of the same units, and public ones. Where each row is a
    unit there is none."""
    kind = unit_type(table)
    if kind is None:
        return [table]
    return [table, *(one for one in tables if one.name != table.name and (one.unit is None or unit_type(one) == kind))]


def unit_type(table: Table) -> str | None:
    """Of what type its units are; None where no column says so."""
    return next((column.type for column in table.columns if column.name == table.unit), None)


def quoted(name: str) -> str:
    """A name in SQL."""
    return '"' + name.replace('"', '""') + '"'


def source_of(table: Table, alias: str = "") -> Source:
    """The table itself, under another name where one is given."""
    before = f"{alias}." if alias else ""
    fields = {
        column.name: Field(before + quoted(column.name), column.type, column.lower, column.upper, column.keys,
                           column.unknown_keys)
        for column in table.columns
    }
    unit = fields.pop(table.unit, None) if table.unit is not None else None
    return Source(quoted(table.name) + (f" AS {alias}" if alias else ""), tuple(fields.values()), unit)
