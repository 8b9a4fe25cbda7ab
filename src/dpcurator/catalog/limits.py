"""Limits of everything a catalog holds, public and checked when it is read, so that no question fails for its size.

Checked in tests/catalog/test_limits.py.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Final

from dpcurator.catalog.positions import Path
from dpcurator.catalog.problems import Problems, dotted
from dpcurator.errors import Refusal
from dpcurator.numbers import whole

LARGEST_FILE: Final = 16 * 2**20  # bytes
LONGEST_NAME: Final = 200  # letters, of a table, column or any other field
LONGEST_TEXT: Final = 10_000  # letters of any text: a key, a path
MOST_TABLES: Final = 1_000
MOST_COLUMNS: Final = 10_000  # of one table
MOST_KEYS: Final = 1_000_000  # of one column, and entries of any list
DEEPEST: Final = 8  # tables and lists inside one another
MOST: Final = {  # what the engines' integers allow: `engines.limits` derives these numbers
    "max_rows": 2**20, "max_groups": 2**26, "max_total": 2**20, "units": 2**48, "expected_units": 2**48,
    "min_units": 2**48,
}


LEAST_BUDGET: Final = Fraction(1, 10**24)  # of epsilon or rho: a hundredth of it can still be charged
GREATEST_BUDGET: Final = 10**40


def within_limits(raw: Mapping[str, object], problems: Problems) -> bool:
    """Is every part of the file within its limit? Faults go to `problems`, each with the limit."""
    before = len(problems.found)
    tables = raw.get("tables")
    if isinstance(tables, Mapping):
        _count(tables, MOST_TABLES, "tables", ("tables",), problems)
        for name, table in tables.items():
            columns = table.get("columns") if isinstance(table, Mapping) else None
            if isinstance(columns, Mapping):
                _count(columns, MOST_COLUMNS, "columns", ("tables", str(name), "columns"), problems)
    if len(problems.found) == before:
        _walk(raw, (), problems)
    return len(problems.found) == before


def _count(part: Mapping[str, object] | list[object], most: int, what: str, path: Path, problems: Problems) -> None:
    if len(part) > most:
        problems.add(path, f"{dotted(path)} has {len(part):,} {what}; the limit is {most:,}.",
                     "Long key lists belong in a public table: keys = { table = ... }." if what == "entries"
                     else "Leave out those that nobody asks about.")


def _walk(value: object, path: Path, problems: Problems) -> None:
    if isinstance(value, str) and len(value) > LONGEST_TEXT:
        problems.add(path, f"a text of {len(value):,} letters; the limit is {LONGEST_TEXT:,}.", "Shorten it.")
    elif isinstance(value, Mapping | list) and len(path) > DEEPEST:
        problems.add(path[:DEEPEST], f"tables and lists are nested more than {DEEPEST} deep.", "See docs/catalog.md.")
    elif isinstance(value, Mapping):
        for name, inner in value.items():
            if len(str(name)) > LONGEST_NAME:
                problems.add(path, f"a name of {len(str(name)):,} letters; the limit is {LONGEST_NAME}.", "Shorten it.")
            else:
                _walk(inner, (*path, str(name)), problems)
    elif isinstance(value, list):
        _count(value, MOST_KEYS, "entries", path, problems)
        for index, inner in enumerate(value[:MOST_KEYS]):
            if isinstance(inner, str | Mapping | list):
                _walk(inner, (*path, index), problems)


def number_of(field: str, given: object) -> int:
    """A declared number of rows, groups or units: from 1 to its limit. Raises Refusal."""
    found = whole(given, name=field, least=1)
    if found > MOST[field]:
        raise Refusal(f"{field} is above its limit, {MOST[field]:,}.", cure=f"Write {field} = {MOST[field]} or less.")
    return found
