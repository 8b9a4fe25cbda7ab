"""Tables with `distinct` or `one_row_per`: of a unit's rows with equal values there, the canonically first one stays.

Canonically: by all columns in the catalog's order, missing before present, numbers by value, texts by code point. With
`distinct`, rows that miss a value there are not known to repeat one another, and stay; with `one_row_per` a missing
value is a value like any other. Rows without a unit belong to nobody, and stay. Both look at values as `per_unit` has
made them. Which
of a unit's rows stay is a function of that unit's own rows as a multiset (unit-local, semantics 1.5), so neighbours
stay neighbours, and the order of files and rows plays no part. Checked in tests/snapshot/test_repeats.py.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from dpcurator.catalog.model import Table

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection


def without_repeats(connection: DuckDBPyConnection, i: int, table: Table) -> int:
    """Take the repeats out of table number i; how many there were."""
    if not table.distinct:
        return 0
    alike = _columns(table, table.distinct)
    return _first_of(connection, i, table, alike, alike)


def first_rows(connection: DuckDBPyConnection, i: int, table: Table) -> int:
    """Keep of table number i what `one_row_per` says; how many rows are left out."""
    if table.one_row_per is None:
        return 0
    return _first_of(connection, i, table, _columns(table, table.one_row_per), _columns(table, ()))


def _columns(table: Table, names: Sequence[str]) -> list[str]:
    """The unit's column and these."""
    position = {column.name: j for j, column in enumerate(table.columns)}
    return [f"c{position[name]}" for name in (table.unit, *names) if name is not None]


def _first_of(
    connection: DuckDBPyConnection, i: int, table: Table, alike: Sequence[str], present: Sequence[str]
) -> int:
    """Keep the first of the rows with equal values in the columns `alike`, where those of `present` are not missing."""
    order = ", ".join(f"c{j} ASC NULLS FIRST" for j in range(len(table.columns)))
    [(found,)] = connection.execute(
        f"DELETE FROM t{i} WHERE rowid IN (SELECT rowid FROM (SELECT rowid, ROW_NUMBER() OVER "
        f"(PARTITION BY {', '.join(alike)} ORDER BY {order}, rowid) AS n FROM t{i} "
        f"WHERE {' AND '.join(f'{column} IS NOT NULL' for column in present)}) WHERE n > 1)"
    ).fetchall()
    return int(found)
