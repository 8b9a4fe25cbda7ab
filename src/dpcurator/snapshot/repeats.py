"""Tables with `distinct`: of a unit's rows with equal values in those columns, the canonically first one stays.

Canonically: by all columns in the catalog's order, missing before present, numbers by value, texts by code point. Rows
that miss a value there are not known to repeat one another, and rows without a unit belong to nobody: both stay. Which
of a unit's rows stay is a function of that unit's own rows as a multiset (unit-local, semantics 1.5), so neighbours
stay neighbours, and the order of files and rows plays no part. Checked in tests/snapshot/test_repeats.py.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from dpcurator.catalog.model import Table

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection


def without_repeats(connection: DuckDBPyConnection, i: int, table: Table) -> int:
    """Take the repeats out of table number i; how many there were."""
    if not table.distinct:
        return 0
    position = {column.name: j for j, column in enumerate(table.columns)}
    alike = [f"c{position[name]}" for name in (table.unit, *table.distinct) if name is not None]
    present = " AND ".join(f"{column} IS NOT NULL" for column in alike)
    order = ", ".join(f"c{j} ASC NULLS FIRST" for j in range(len(table.columns)))
    [(found,)] = connection.execute(
        f"DELETE FROM t{i} WHERE rowid IN (SELECT rowid FROM (SELECT rowid, ROW_NUMBER() OVER "
        f"(PARTITION BY {', '.join(alike)} ORDER BY {order}, rowid) AS n FROM t{i} WHERE {present}) WHERE n > 1)"
    ).fetchall()
    return int(found)
