"""Which types the columns of a source had when they were read before: a number that became a text is told, not read.

Texts are read by the grammar of the declared type, so a column that turns into one would go on being read, with
whatever is spelled otherwise unreadable. A snapshot keeps the types that each declaration of a column has met; where
these were never texts, and now are, the steward is asked. A type is a fact of a schema, and no row decides it. Checked
in tests/snapshot/test_source_types.py.
"""

from __future__ import annotations

import contextlib
from pathlib import Path
from typing import TYPE_CHECKING

from dpcurator.catalog.bind import content_digest, made_for
from dpcurator.catalog.declaration import Reading
from dpcurator.catalog.duckdb_options import quoted
from dpcurator.catalog.model import KINDS, Column, Table
from dpcurator.catalog.problems import quoted as key
from dpcurator.catalog.problems import text
from dpcurator.catalog.source_types import WRITTEN
from dpcurator.errors import Misconfigured

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

def remembered(connection: DuckDBPyConnection, before: Path) -> None:
    """Make the table `kinds` of a new snapshot, with what the one before has of it."""
    import duckdb

    connection.execute("CREATE TABLE kinds (reading VARCHAR, kind VARCHAR, shown VARCHAR)")
    if not before.is_file():
        return
    with contextlib.suppress(duckdb.Error):  # one that cannot be read, or has none
        connection.execute(f"ATTACH {quoted(str(before.absolute()))} AS before (READ_ONLY, TYPE duckdb)")
        try:
            connection.execute("INSERT INTO kinds FROM before.kinds")
        finally:
            connection.execute("DETACH before")


def refuse_change(
    connection: DuckDBPyConnection, table: Table, column: Column, reading: Reading, kind: str, shown: str, source: str,
    where: str,
) -> None:
    """Keep the kind of a column, as in `source_types.READ_AS`. Raises Misconfigured where it is of texts for the first
    time since it was declared so. shown: the source's name of the type."""
    run = connection.execute
    told = content_digest([table.name, made_for(table, column), repr(reading.spelling)])
    known = run("SELECT kind, shown FROM kinds WHERE reading = ?", [told]).fetchall()
    if (kind, shown) in known:
        return
    if kind in WRITTEN and KINDS[column.type] != "text" and known and not any(one in WRITTEN for one, _ in known):
        name = f"{key(column.name)} = {{ type = {text(column.type)}, clean = [\"trim\"] }}"
        raise Misconfigured(
            f"{text(column.name)} of {source} is of type {shown} now, and was of type {known[-1][1]} before.",
            where=where, cure=f"Write it as {known[-1][1]} again. Or, where its texts are to be read as "
            f"{column.type}, say so by adding clean = [\"trim\"] to the column: {name}.")
    run("INSERT INTO kinds VALUES (?, ?, ?)", [told, kind, shown])
