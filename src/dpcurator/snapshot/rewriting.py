"""A table of a draft that is made anew by a query over it, on DuckDB and, where the draft is a dataset, on Spark.

The rules that look at whole tables (owners, one value a unit, repeats, and what the steward is told) are written once,
as queries that both read alike; here is what they do differently. Checked in tests/snapshot/test_repeats.py,
tests/snapshot/test_owners.py and tests/snapshot/test_spark_refresh.py.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TypeAlias

from dpcurator.catalog.model import Table
from dpcurator.snapshot.codes import with_numbers
from dpcurator.snapshot.spark_tables import SparkTables
from dpcurator.snapshot.store import definition

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

    Tables: TypeAlias = DuckDBPyConnection | SparkTables
else:
    Tables: TypeAlias = Any


def replace(tables: Tables, i: int, table: Table, query: str) -> None:
    """Make table number i anew. query: its declared columns, in order."""
    if isinstance(tables, SparkTables):
        tables.replace(f"t{i}", query)
        return
    tables.execute(f"CREATE TABLE made ({definition(table)})")
    tables.execute(f"INSERT INTO made {with_numbers(table, query)}")
    tables.execute(f"DROP TABLE t{i}")
    tables.execute(f"ALTER TABLE made RENAME TO t{i}")


@contextmanager
def temporary(tables: Tables, name: str, query: str) -> Iterator[None]:
    """A query's rows under a name, for as long as the context lasts."""
    if isinstance(tables, SparkTables):
        tables.replace(name, query)
        yield
        return
    tables.execute(f"CREATE TEMP TABLE {name} AS {query}")
    try:
        yield
    finally:
        tables.execute(f"DROP TABLE {name}")


def keep_first(tables: Tables, i: int, columns: int, alike: Sequence[str], present: Sequence[str]) -> int:
    """Keep of table number i the first of the rows with equal values in the columns `alike`, where those of `present`
    are not missing; how many rows that left out."""
    order = ", ".join(f"c{j} ASC NULLS FIRST" for j in range(columns))
    there = " AND ".join(f"{column} IS NOT NULL" for column in present)
    window = f"ROW_NUMBER() OVER (PARTITION BY {', '.join(alike)} ORDER BY {order}"
    if not isinstance(tables, SparkTables):
        [(found,)] = tables.execute(
            f"DELETE FROM t{i} WHERE rowid IN (SELECT rowid FROM (SELECT rowid, {window}, rowid) AS n FROM t{i} "
            f"WHERE {there}) WHERE n > 1)").fetchall()
        return int(found)
    own = ", ".join(f"c{j}" for j in range(columns))
    numbered = f"SELECT {own}, {window}) AS n FROM t{i} WHERE {there}"
    [(found,)] = tables.execute(f"SELECT COUNT(*) FROM ({numbered}) WHERE n > 1").fetchall()
    tables.replace(f"t{i}", f"SELECT {own} FROM ({numbered}) WHERE n = 1 UNION ALL "
                            f"SELECT {own} FROM t{i} WHERE NOT ({there})")
    return int(found)
