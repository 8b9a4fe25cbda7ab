"""The columns of a Parquet file: names from the file's own schema, types as DuckDB reads them, both by position.

DuckDB renames a column whose name another one has, case aside (`id, ID` becomes `id, ID_1`), so its names are not used.
No row is read here. Checked in tests/catalog/test_init.py and tests/snapshot/test_typed.py.
"""

from __future__ import annotations

import contextlib
import re
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from dpcurator.catalog.duckdb_options import read_parquet, write_down
from dpcurator.errors import Misconfigured

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection


def parquet_columns(path: Path) -> list[tuple[str, str]]:
    """(name, DuckDB type) per column. Raises Misconfigured when the file is not there or is no Parquet file."""
    import duckdb

    if not path.is_file():
        raise Misconfigured("There is no such file.", where=path.name, cure="Check its name.")
    with contextlib.closing(write_down(duckdb.connect())) as connection, plainly_named(path) as plain:
        try:
            return described(connection, plain)
        except (duckdb.Error, ValueError):
            raise Misconfigured("This is no Parquet file.", where=path.name, cure="Check that it is whole.") from None


def described(connection: DuckDBPyConnection, plain: str) -> list[tuple[str, str]]:
    """(name, DuckDB type) per column of the file. Raises duckdb.Error, or ValueError when the two do not match."""
    schema = connection.execute("SELECT name, num_children FROM parquet_schema(?)", [plain]).fetchall()
    kinds = connection.execute(f"DESCRIBE SELECT * FROM {read_parquet(connection)}", [plain]).fetchall()
    names: list[str] = []
    position = 1  # after the root
    while position < len(schema):
        names.append(str(schema[position][0]))
        inside = 1  # elements of this column still to be passed, itself included
        while inside:
            inside += int(schema[position][1] or 0) - 1
            position += 1
    return [(name, str(kind[1])) for name, kind in zip(names, kinds, strict=True)]


def duckdb_tables(path: Path) -> dict[str, list[tuple[str, str]]]:
    """(name, DuckDB type) per column of each table and view of a DuckDB file, by its name; "schema.name" outside main.
    Raises Misconfigured when it cannot be opened."""
    import duckdb

    if not path.is_file():
        raise Misconfigured("There is no such file.", where=path.name, cure="Check its name.")
    try:
        with contextlib.closing(duckdb.connect(str(path.resolve()), read_only=True)) as connection:
            write_down(connection).execute("SET enable_external_access = false")
            rows = connection.execute(
                "SELECT schema_name, table_name, column_name, data_type FROM duckdb_columns() WHERE NOT internal "
                "ORDER BY schema_name, table_name, column_index"
            ).fetchall()
    except duckdb.Error:
        raise Misconfigured("This is no DuckDB file that can be opened.", where=path.name,
                            cure="Check that it is one, and close it in other programs.") from None
    found: dict[str, list[tuple[str, str]]] = {}
    for schema, table, column, kind in rows:
        found.setdefault(table if schema == "main" else f"{schema}.{table}", []).append((column, kind))
    return found


@contextlib.contextmanager
def plainly_named(path: Path) -> Iterator[str]:
    """The path under a name in which DuckDB sees no pattern: a link where the real one has such characters."""
    resolved = path.resolve()
    if not re.search(r"[*?\[\]{}:]", str(resolved)):
        yield str(resolved)
        return
    with tempfile.TemporaryDirectory(prefix="dpcurator-") as directory:
        link = Path(directory) / "source.parquet"
        link.symlink_to(resolved)
        yield str(link)
