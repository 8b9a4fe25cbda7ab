"""What a refresh finds out about public tables, once: their keys, how often a value is there, their ends.

All of it is of tables that are public, and goes into the record of the snapshot in force. Checked in
tests/snapshot/test_refresh.py.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Final

from dpcurator.catalog.columns import in_order
from dpcurator.catalog.declaration import Declaration
from dpcurator.catalog.model import Column
from dpcurator.catalog.problems import text
from dpcurator.errors import Misconfigured
from dpcurator.snapshot.rewriting import Tables

MOST_KEYS: Final = 1_000_000  # of one public column
MOST_GROUPED: Final = 10_000  # of one that no private column takes its keys from, but a join may group by


def public_keys(declaration: Declaration, tables: Tables) -> list[tuple[tuple[str, str], tuple[Any, ...]]]:
    """The distinct values of the public columns that keys are taken from."""
    found: dict[tuple[str, str], tuple[Any, ...]] = {}
    for wanted in declaration.public_keys:
        i = next(n for n, table in enumerate(declaration.tables) if table.name == wanted.public_table)
        j = _index(declaration.tables[i].columns, wanted.public_column)
        rows = tables.execute(
            f"SELECT DISTINCT c{j} FROM t{i} WHERE c{j} IS NOT NULL LIMIT {MOST_KEYS + 1}"
        ).fetchall()
        if len(rows) > MOST_KEYS:
            raise Misconfigured(f"Public column {text(wanted.public_column)} has more than {MOST_KEYS:,} keys.",
                                where=declaration.where(wanted.public_table, wanted.public_column),
                                cure="Group by something coarser.")
        found[wanted.public_table, wanted.public_column] = in_order(tuple(row[0] for row in rows))
    for i, table in enumerate(declaration.tables):
        for j, column in enumerate(table.columns if not table.private else ()):
            if (table.name, column.name) in found or column.kind == "float":
                continue
            rows = tables.execute(
                f"SELECT DISTINCT c{j} FROM t{i} WHERE c{j} IS NOT NULL LIMIT {MOST_GROUPED + 1}"
            ).fetchall()
            if 0 < len(rows) <= MOST_GROUPED:  # else it is too long to be grouped by
                found[table.name, column.name] = in_order(tuple(row[0] for row in rows))
    return list(found.items())


def most_of(declaration: Declaration, tables: Tables) -> dict[tuple[str, str], int]:
    """In how many rows of a public table one value of a column is, at most, with missing ones read as declared."""
    found: dict[tuple[str, str], int] = {}
    for i, table in enumerate(declaration.tables):
        for j, column in enumerate(table.columns if not table.private else ()):
            held, given = (f"c{j}", []) if column.missing is None else (f"coalesce(c{j}, ?)", [column.missing])
            [(most,)] = tables.execute(
                f"SELECT max(n) FROM (SELECT count(*) AS n FROM (SELECT {held} AS c FROM t{i}) "
                "WHERE c IS NOT NULL GROUP BY c)", given,
            ).fetchall()
            found[table.name, column.name] = most or 0
    return found


def ends_of(declaration: Declaration, tables: Tables) -> dict[tuple[str, str], tuple[str, str]]:
    """The least and greatest number of a public column, with missing ones read as declared; none where one is
    infinite."""
    found: dict[tuple[str, str], tuple[str, str]] = {}
    for i, table in enumerate(declaration.tables):
        for j, column in enumerate(table.columns if not table.private else ()):
            if column.type not in ("integer", "float", "date", "timestamp"):
                continue
            held, given = (f"c{j}", []) if column.missing is None else (f"coalesce(c{j}, ?)", [column.missing])
            known = "NOT isnan(c)" if column.kind == "float" else "c IS NOT NULL"
            [(least, greatest)] = tables.execute(
                f"SELECT min(c), max(c) FROM (SELECT {held} AS c FROM t{i}) WHERE {known}", given).fetchall()
            if least is not None and math.isfinite(least) and math.isfinite(greatest):
                found[table.name, column.name] = (repr(least), repr(greatest))
    return found


def _index(columns: Sequence[Column], name: str) -> int:
    return next(j for j, column in enumerate(columns) if column.name == name)
