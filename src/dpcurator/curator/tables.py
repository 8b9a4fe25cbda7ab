"""What can be asked: the public facts of a catalog's tables, laid out for whoever asks.

Everything here is declared, or a list of keys that a public table gave; nothing is of private data. Checked in
tests/curator/test_tables.py.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, Final

from dpcurator.catalog.bind import table_facts
from dpcurator.catalog.model import EACH_ROW, Catalog, Column, Table
from dpcurator.errors import Refusal
from dpcurator.language.names import nearest
from dpcurator.numbers import decimal_text
from dpcurator.numbers.text_table import pre_html, printable, table_text
from dpcurator.release.cells import key_value
from dpcurator.values import Json

SHOWN: Final = 8  # keys of a column


@dataclass(frozen=True, slots=True, repr=False)
class Tables:
    """The tables of a catalog, by name: `tables["visits"]`, `list(tables)`, `print(tables)`, `tables.as_json()`."""

    catalog: Catalog

    def __iter__(self) -> Iterator[str]:
        return (table.name for table in self.catalog.tables)

    def __len__(self) -> int:
        return len(self.catalog.tables)

    def __getitem__(self, name: str) -> Table:
        """A table as declared. Raises Refusal for a name that none has."""
        for table in self.catalog.tables:
            if table.name == name:
                return table
        names = list(self)
        raise Refusal(f"there is no table {str(name)!r}.", cure=nearest(str(name), names, "table"))

    def __str__(self) -> str:
        return "\n\n".join(_table_text(table, self.catalog) for table in self.catalog.tables)

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return pre_html(str(self))

    def as_json(self) -> Json:
        """For machines: every key, and bounds and caps as declared."""
        return {
            "protects": self.catalog.protects,
            "neighbours": self.catalog.neighbours,
            "tables": [_table_json(table) for table in self.catalog.tables],
        }


def _table_text(table: Table, catalog: Catalog) -> str:
    rows = [[printable(column.name), column.type, _bounds(column), _keys(column, table)] for column in table.columns]
    head = f"{printable(table.name)}: {_caps(table, catalog)}"
    told = f"{head}\n{table_text(['column', 'type', 'bounds', 'keys'], rows, [False] * 4)}"
    single = ", ".join(printable(column.name) for column in table.columns if column.per_unit)
    who = f"each of the {printable(catalog.protects)} has"
    notes = [f"({who} one value of: {single})"] if single else []
    if table.distinct:
        notes.append(f"({who} one row for each: {', '.join(map(printable, table.distinct))})")
    if table.one_row_per is not None:
        each = f" for each: {', '.join(map(printable, table.one_row_per))}" if table.one_row_per else ""
        notes.append(f"({who} one row{each})")
    ranges = [f"{printable(c.name)} {_range(c)}" for c in table.columns if c.cleaning.lower is not None]
    if ranges:
        notes.append(f"(missing, where the data is outside: {', '.join(ranges)})")
    return "\n".join([told, *notes])


def _range(column: Column) -> str:
    """`valid`, as bounds are written."""
    return _bounds(replace(column, lower=column.cleaning.lower, upper=column.cleaning.upper))


def _caps(table: Table, catalog: Catalog) -> str:
    """How much of a table one unit may be, as a sentence's end."""
    if not table.private:
        return "public, for lists of keys"
    if table.unit == EACH_ROW:
        return f"private, each row is one of the {printable(catalog.protects)}"
    caps = [
        f"at most {number:,} {what if number != 1 else what.replace('s', '', 1)}"
        for number, what in (
            (table.max_rows, "rows in a group"), (table.max_groups, "groups"), (table.max_total, "rows in all"),
        )
        if number is not None
    ]
    about = f"; about {table.expected_units:,} of them" if table.expected_units is not None else ""
    unit = f"private, protects {printable(catalog.protects)} by {printable(table.unit or '')}"
    return f"{unit}, of whom each has {' and '.join(caps)}{about}" if caps else f"{unit}{about}"


def _bounds(column: Column) -> str:
    return "" if column.lower is None else f"{_end(column.lower, column)} to {_end(column.upper, column)}"


def _end(end: Fraction | None, column: Column) -> str:
    assert end is not None  # both ends are there, or neither
    return str(key_value(end, column.type)) if column.type in ("date", "timestamp") else decimal_text(end)


def _keys(column: Column, table: Table) -> str:
    if table.unit == column.name:
        return "(the unit)" if table.through is None else f"(the unit, through {printable(table.through.table)})"
    if column.unknown_keys:
        return "unknown: selected privately, for a delta"
    if column.keys is None:
        return ""
    told = ["NULL" if key is None else printable(str(key_value(key, column.type))) for key in column.keys[:SHOWN]]
    more = len(column.keys) - SHOWN
    return ", ".join([*told, f"... and {more:,} more"] if more > 0 else told)


def _table_json(table: Table) -> Json:
    return {
        "name": table.name,
        "private": table.private,
        "unit": table.unit,
        "max_rows": table.max_rows,
        "max_groups": table.max_groups,
        "max_total": table.max_total,
        "expected_units": table.expected_units,
        "columns": [_column_json(column) for column in table.columns],
    } | table_facts(table)


def _column_json(column: Column) -> Json:
    keys: Any = "unknown" if column.unknown_keys else None
    if column.keys is not None:
        keys = [key_value(key, column.type) for key in column.keys]
    ends = None if column.lower is None else [_end(column.lower, column), _end(column.upper, column)]
    single = {"per_unit": 1} if column.per_unit else {}
    told = {"name": column.name, "type": column.type, "bounds": ends, "keys": keys} | single
    return told | column.cleaning.facts()
