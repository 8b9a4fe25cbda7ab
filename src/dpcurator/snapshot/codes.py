"""Units that are texts, each with a number that stands for it: two units are one exactly where their numbers are.

A number is 63 bits of DuckDB's hash, made as rows are stored, which costs next to nothing; that different texts have
different ones is looked at once all rows are there, over the units of all tables together, and where several texts
share one, all but the first of these get numbers below 0. So joins between tables, and rows that are owned through
another table, compare units by numbers too. The table `units` has the text of each number, for what hashes it, and
`codes` says which column has numbers. Whether a table has any is decided by its unit's type, never by a row; which
number a unit has is seen by nobody. Checked in tests/snapshot/test_codes.py.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from dpcurator.catalog.model import Table

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

NUMBER: Final = "(hash({0}) >> 1)::BIGINT"


def unit_of(table: Table) -> int | None:
    """The position of the unit's column, where it is a text."""
    return next((j for j, column in enumerate(table.columns) if column.name == table.unit and column.kind == "text"),
                None)


def code_of(table: Table) -> str | None:
    """The name of the column of numbers, after the declared ones."""
    return None if unit_of(table) is None else f"c{len(table.columns)}"


def stored_columns(table: Table) -> str:
    """The names of a table's columns, that of numbers among them."""
    names = [f"c{j}" for j in range(len(table.columns))]
    return ", ".join([*names, *filter(None, [code_of(table)])])


def with_numbers(table: Table, query: str) -> str:
    """A query of the declared columns, in order, and the unit's number behind them."""
    unit = unit_of(table)
    if unit is None:
        return query
    names = ", ".join(f"c{j}" for j in range(len(table.columns)))
    return (f"SELECT *, CASE WHEN c{unit} IS NOT NULL THEN {NUMBER.format(f'c{unit}')} END "
            f"FROM ({query}) AS rows({names})")


def number_units(connection: DuckDBPyConnection, tables: Sequence[Table]) -> None:
    """Make `codes` and `units`, and let no two units have one number."""
    run = connection.execute
    run("CREATE TABLE codes (t VARCHAR, c VARCHAR, code VARCHAR, letters INTEGER)")
    found = [(i, unit, table) for i, table in enumerate(tables) if (unit := unit_of(table)) is not None]
    for i, unit, table in found:
        run("INSERT INTO codes VALUES (?, ?, ?, ?)",
            [f"t{i}", f"c{unit}", code_of(table), table.columns[unit].letters])
    rows = [f"SELECT {code_of(table)} AS code, c{unit} AS unit FROM t{i} WHERE c{unit} IS NOT NULL"
            for i, unit, table in found]
    nothing = "SELECT NULL::BIGINT AS code, NULL::VARCHAR AS unit WHERE false"
    run(f"CREATE TABLE units AS SELECT DISTINCT code, unit FROM ({' UNION ALL '.join(rows) or nothing})")
    shared = "SELECT code FROM units GROUP BY code HAVING COUNT(*) > 1"
    [(several,)] = run(f"SELECT COUNT(*) FROM ({shared})").fetchall()
    if not several:
        return
    run("CREATE TEMP TABLE others AS SELECT unit, -ROW_NUMBER() OVER (ORDER BY unit) AS code FROM (SELECT unit, "
        f"ROW_NUMBER() OVER (PARTITION BY code ORDER BY unit) AS n FROM units WHERE code IN ({shared})) WHERE n > 1")
    run("UPDATE units SET code = others.code FROM others WHERE units.unit = others.unit")
    for i, unit, table in found:
        run(f"UPDATE t{i} SET {code_of(table)} = others.code FROM others WHERE t{i}.c{unit} = others.unit")
    run("DROP TABLE others")
