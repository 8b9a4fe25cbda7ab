"""Columns with `per_unit = 1`: every row of a unit gets the canonically smallest of the present values it has there.

Canonically: texts by code point, numbers by value; values are stored so by then, NaN as missing and -0.0 as 0.0
(snapshot/grammar.py). A unit without a present value keeps none; rows without a unit are left as they are. What a
unit's rows become is a function of that unit's own rows as a multiset (unit-local, semantics 1.5), so neighbours stay
neighbours and the order of files and rows plays no part.
Checked in tests/snapshot/test_one_value.py.
"""

from __future__ import annotations

from dpcurator.catalog.model import Table
from dpcurator.snapshot.report import OneValue
from dpcurator.snapshot.rewriting import Tables, replace, temporary


def one_value_each(connection: Tables, i: int, table: Table) -> dict[str, OneValue]:
    """Give table number i its one value a unit, and tell for each such column how many rows it changed."""
    single = [(j, column) for j, column in enumerate(table.columns) if column.per_unit]
    if not single:
        return {}
    unit = next(j for j, column in enumerate(table.columns) if column.name == table.unit)
    least = ", ".join(f"MIN(c{j}) AS v{j}" for j, _ in single)
    of_each = f"SELECT c{unit} AS unit, {least} FROM t{i} WHERE c{unit} IS NOT NULL GROUP BY c{unit}"
    counts = ", ".join(
        f"COUNT(*) FILTER (WHERE c{j} <> v{j}), COUNT(*) FILTER (WHERE c{j} IS NULL "
        f"AND v{j} IS NOT NULL)" for j, _ in single
    )
    columns = ", ".join(
        f"CASE WHEN unit IS NULL THEN c{j} ELSE v{j} END AS c{j}" if column.per_unit else f"c{j}"
        for j, column in enumerate(table.columns)
    )
    with temporary(connection, "least", of_each):
        [found] = connection.execute(f"SELECT {counts} FROM t{i} JOIN least ON c{unit} = unit").fetchall()
        replace(connection, i, table, f"SELECT {columns} FROM t{i} LEFT JOIN least ON c{unit} = unit")
    return {column.name: OneValue(found[2 * n], found[2 * n + 1]) for n, (_, column) in enumerate(single)}
