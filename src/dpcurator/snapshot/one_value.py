"""Columns with `per_unit = 1`: every row of a unit gets the canonically smallest of the present values it has there.

Canonically: texts by code point, numbers by value; values are stored so by then, NaN as missing and -0.0 as 0.0
(snapshot/grammar.py). A unit without a present value keeps none; rows without a unit are left as they are. What a
unit's rows become is a function of that unit's own rows as a multiset (unit-local, semantics 1.5), so neighbours stay
neighbours and the order of files and rows plays no part.
Checked in tests/snapshot/test_one_value.py.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from dpcurator.catalog.model import Table
from dpcurator.snapshot.codes import with_numbers
from dpcurator.snapshot.report import OneValue
from dpcurator.snapshot.store import definition

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection


def one_value_each(connection: DuckDBPyConnection, i: int, table: Table) -> dict[str, OneValue]:
    """Give table number i its one value a unit, and tell for each such column how many rows it changed."""
    single = [(j, column) for j, column in enumerate(table.columns) if column.per_unit]
    if not single:
        return {}
    unit = next(j for j, column in enumerate(table.columns) if column.name == table.unit)
    least = ", ".join(f"MIN(c{j}) AS v{j}" for j, _ in single)
    connection.execute(f"CREATE TEMP TABLE least AS SELECT c{unit} AS unit, {least} FROM t{i} "
                       f"WHERE c{unit} IS NOT NULL GROUP BY c{unit}")
    counts = ", ".join(
        f"COUNT(*) FILTER (WHERE c{j} <> v{j}), COUNT(*) FILTER (WHERE c{j} IS NULL "
        f"AND v{j} IS NOT NULL)" for j, _ in single
    )
    [found] = connection.execute(f"SELECT {counts} FROM t{i} JOIN least ON c{unit} = unit").fetchall()
    columns = ", ".join(
        f"CASE WHEN unit IS NULL THEN c{j} ELSE v{j} END AS c{j}" if column.per_unit else f"c{j}"
        for j, column in enumerate(table.columns)
    )
    connection.execute(f"CREATE TABLE made ({definition(table)})")
    changed = f"SELECT {columns} FROM t{i} LEFT JOIN least ON c{unit} = unit"
    connection.execute(f"INSERT INTO made {with_numbers(table, changed)}")
    connection.execute(f"DROP TABLE t{i}")
    connection.execute(f"ALTER TABLE made RENAME TO t{i}")
    connection.execute("DROP TABLE least")
    return {column.name: OneValue(found[2 * n], found[2 * n + 1]) for n, (_, column) in enumerate(single)}
