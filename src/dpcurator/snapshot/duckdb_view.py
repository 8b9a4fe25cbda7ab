"""A view of a DuckDB file, or a table with generated columns: its rows are made once, and come by Arrow.

What a view or a generated column says is a program of whoever made the file. So it runs in a connection of its own, in
which nothing but that file is in reach and an empty database is in use: macros of the file may have the names of the
engine's functions, and what is asked beside the view is to be the engine's. It runs once: its rows are kept there in a
temporary table, since a view with `random()` gives others each time and a part of them may be read in several steps.
The table has half of the refresh's memory and spills into the curator's directory; what loads it has the other half.
Checked in tests/snapshot/test_typed.py.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final

from dpcurator.catalog.duckdb_options import quoted
from dpcurator.snapshot.loading import Loader

if TYPE_CHECKING:
    from pathlib import Path

    from duckdb import DuckDBPyConnection

AT_ONCE: Final = 491_520  # rows, or fewer of long texts
LETTERS: Final = 128 * 2**20  # bytes of texts at once, on average
_AS_TEXT: Final = {"huge": "HUGEINT", "vast": "UHUGEINT", "uuid": "UUID"}  # of which Arrow has no kind, or a lossy one
_SETTINGS: Final = {"arrow_large_buffer_size": "true", "arrow_lossless_conversion": "false"}
_NUMBERS: Final = itertools.count(1)


def opened(path: Path) -> tuple[DuckDBPyConnection, str]:
    """A connection in which a file is attached and an empty database is the one in use, and the name that SQL has for
    the file: the one that it has where it is opened by itself, so that its views may name it. Raises what DuckDB does.
    """
    import duckdb

    own = duckdb.connect()
    try:
        empty = identifier(f"{path.stem}_")
        for one in (f"ATTACH ':memory:' AS {empty}", f"USE {empty}", "DETACH memory",
                    f"ATTACH {quoted(str(path.resolve()))} (READ_ONLY, TYPE duckdb)"):
            own.execute(one)
        [(name,)] = own.execute("SELECT database_name FROM duckdb_databases() WHERE path IS NOT NULL").fetchall()
    except BaseException:
        own.close()
        raise
    return own, str(name)


def identifier(name: str) -> str:
    """A name as SQL writes it."""
    return '"' + name.replace('"', '""') + '"'


def shut(own: DuckDBPyConnection, place: Path | None, memory: int, threads: int) -> None:
    """Leave nothing in reach of a connection but the file that it has open, and the curator's directory for what does
    not fit into its memory; and no setting, since a view may call a function that writes a log. memory: in MiB."""
    if place is not None:
        own.execute(f"SET temp_directory = {quoted(str((place / 'draft-view.spill').absolute()))}")
    own.execute(f"SET memory_limit = '{max(1, memory):d} MiB'")
    own.execute(f"SET threads = {threads:d}")
    for name, value in _SETTINGS.items():
        own.execute(f"SET {name} = {value}")
    own.execute("SET enable_external_access = false")
    own.execute("SET lock_configuration = true")


def made(own: DuckDBPyConnection, relation: str, kinds: Sequence[str]) -> tuple[int, int]:
    """Make the rows of a relation with columns x0, x1, ...: how many there are, and how many to take at once. Raises
    what the view raises."""
    columns = (f"CAST(x{j} AS VARCHAR) AS x{j}" if kind in _AS_TEXT else f"x{j}" for j, kind in enumerate(kinds))
    own.execute(f"CREATE TEMP TABLE made AS SELECT {', '.join(columns)} FROM {relation}")
    texts = [f"COALESCE(SUM(strlen(x{j})), 0)" for j, kind in enumerate(kinds) if kind == "text"]
    [(rows, letters)] = own.execute(f"SELECT COUNT(*), {' + '.join(texts) or '0'} FROM made").fetchall()
    return int(rows), max(1, min(AT_ONCE, LETTERS * int(rows) // max(1, int(letters))))


def load_made(own: DuckDBPyConnection, rows: int, at_once: int, kinds: Sequence[str], loader: Loader) -> None:
    """Load the rows that were made. at_once: as `made` says. kinds: as in `Loader.load_typed`."""
    name = f"view{next(_NUMBERS)}"
    columns = ", ".join(f"CAST(x{j} AS {_AS_TEXT[kind]}) AS x{j}" if kind in _AS_TEXT else f"x{j}"
                        for j, kind in enumerate(kinds))
    for start in range(0, rows, at_once):
        part = f"SELECT *, rowid + 1 AS place FROM made WHERE rowid >= {start} AND rowid < {start + at_once}"
        loader.connection.register(name, _Streamed(own, part))
        try:
            loader.load_typed(f"(SELECT {columns}, place FROM {name})", kinds, counted=False)
        finally:
            loader.connection.unregister(name)


class _Streamed:
    """The rows of a query of another connection, which may be read any number of times."""

    def __init__(self, own: DuckDBPyConnection, query: str) -> None:
        self.own, self.query = own, query

    def __arrow_c_stream__(self, requested_schema: object = None) -> Any:
        return self.own.sql(self.query).__arrow_c_stream__(requested_schema)
