"""Reading Parquet files and DuckDB tables: typed sources, whose values are converted only where that keeps them.

DuckDB reads the file with every option written down (`catalog.duckdb_options`), columns are taken by position, and its
types are brought down to plain ones by expressions that cannot fail on a row: dates and instants as integers (so
infinity and the year 287000 do no harm), enumerations as text, single floats widened, and lists, blobs, times and the
like as 'unreadable, or missing'. What the plain values mean is then decided by `catalog.spelling.read_value`. Checked
in tests/snapshot/test_typed.py.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC
from pathlib import Path
from typing import Any, Final

from dpcurator.catalog import duckdb_options, parquet_schema
from dpcurator.catalog.duckdb_options import write_down
from dpcurator.catalog.parquet_schema import plainly_named
from dpcurator.catalog.problems import nearest, text
from dpcurator.catalog.spelling import DAY, Unreadable
from dpcurator.errors import Misconfigured
from dpcurator.snapshot.csv_source import BATCH, Batch, missing_cure, refuse_repeats, same_columns
from dpcurator.snapshot.frames import instant
from dpcurator.snapshot.report import TableReport

_OTHER: Final = Unreadable("a value of a kind that no column type has")
_PLAIN = re.compile(r"(U?(TINY|SMALL|BIG|HUGE)INT|U?INTEGER|DOUBLE|DECIMAL\(.*|BOOLEAN|VARCHAR|UUID|BLOB|TIME)")
_WRITE_AGAIN: Final = "Write the file again with a name for each column."
_PAST: Final = 2**63 - 1  # an instant outside every range: stands for both infinities


def read_parquet(path: Path, columns: Sequence[str], report: TableReport, *, where: str) -> Iterator[Batch]:
    """Batches of the declared columns of one Parquet file. Raises Misconfigured when it cannot be used."""
    import duckdb

    if not path.is_file():
        what = "is a directory" if path.is_dir() else "is not there"
        raise Misconfigured(f"The file {text(path.name)} {what}.", where=where,
                            cure="Paths are relative to the catalog file.")
    with contextlib.closing(write_down(duckdb.connect())) as connection, plainly_named(path) as plain:
        try:
            found = parquet_schema.described(connection, plain)
            refuse_repeats([name for name, _ in found], columns, path.name, where, _WRITE_AGAIN)
            folders = [part.partition("=")[0] for part in path.parts if "=" in part]
            for column in columns:
                if column in folders and column not in dict(found):
                    what = f"{text(path.name)} has no column {text(column)}: the name of a folder is not read as one."
                    raise Misconfigured(what, where=where, cure="Write the column into the files.")
            call = duckdb_options.read_parquet(connection)
            yield from _read(connection, call, [plain], found, columns, report, path.name, where)
        except (duckdb.Error, ValueError):
            raise Misconfigured(f"{text(path.name)} cannot be read to its end.", where=where,
                                cure="Check that it is a whole Parquet file, not encrypted, with text in "
                                "UTF-8.") from None


def read_duckdb(
    path: Path, relation: str, columns: Sequence[str], report: TableReport, *, where: str
) -> Iterator[Batch]:
    """Batches of the declared columns of a table or view of a DuckDB file, opened read-only.

    A view that reads another file is refused: what it would read is decided by guesses from that file's rows.
    """
    import duckdb

    if not path.is_file():
        raise Misconfigured(f"There is no DuckDB file {text(path.name)}.", where=where,
                            cure="Paths are relative to the catalog file.")
    try:
        connection = duckdb.connect(str(path.resolve()), read_only=True)
    except duckdb.Error:
        raise Misconfigured(f"{text(path.name)} cannot be opened as a DuckDB file.", where=where,
                            cure="Check that it is one, and close it in other programs.") from None
    with contextlib.closing(connection):
        try:
            write_down(connection).execute("SET enable_external_access = false")
            source = _relation(connection, relation, path.name, where)
            rows = connection.execute(f"DESCRIBE SELECT * FROM {source}").fetchall()
            found = [(str(row[0]), str(row[1])) for row in rows]
            yield from _read(connection, source, [], found, columns, report, path.name, where)
        except duckdb.Error:
            raise Misconfigured(f"{text(relation)} of {text(path.name)} cannot be read to its end.", where=where,
                                cure="Check that the file is whole. A view that reads another file is not read: "
                                "make it a table.") from None


def _relation(connection: Any, relation: str, name: str, where: str) -> str:
    """The table or view of this name, as SQL spells it."""
    found = connection.execute("SELECT table_schema, table_name FROM information_schema.tables").fetchall()
    matching = [(s, t) for s, t in found if relation in (t, f"{s}.{t}")]
    if len(matching) != 1:
        what = "has no" if not matching else "has more than one"
        cure = "Name the schema too." if matching else nearest(relation, [t for _, t in found])
        raise Misconfigured(f"{text(name)} {what} table {text(relation)}.", where=where, cure=cure)
    schema, table = (part.replace('"', '""') for part in matching[0])
    return f'"{schema}"."{table}"'


def _read(
    connection: Any,
    relation: str,
    parameters: list[str],
    found: Sequence[tuple[str, str]],
    columns: Sequence[str],
    report: TableReport,
    name: str,
    where: str,
) -> Iterator[Batch]:
    """found: the name and DuckDB type of each column of the relation, by position, which is how they are read."""
    names, kinds = [own for own, _ in found], [kind for _, kind in found]
    parts: list[str] = []
    readers: list[Callable[[Any], Any] | None] = []
    for column in columns:
        if column not in names:
            raise Misconfigured(f"{text(name)} has no column {text(column)}.", where=where,
                                cure=missing_cure(column, names))
        position = names.index(column)
        expression, reader = _plain(f"s.x{position}", kinds[position])
        parts.append(expression)
        readers.append(reader)
    same_columns(names, name, report, where)
    renamed = ", ".join(f"x{i}" for i in range(len(names)))
    query = f"SELECT {', '.join(parts)} FROM (SELECT * FROM {relation}) AS s({renamed})"
    cursor, start = connection.execute(query, parameters), 0
    while rows := cursor.fetchmany(BATCH):
        cells = [list(values) for values in zip(*rows, strict=True)]
        for position, reader in enumerate(readers):
            if reader is not None:
                cells[position] = [None if value is None else reader(value) for value in cells[position]]
        yield Batch(list(cells), range(start + 1, start + len(rows) + 1), "")
        start += len(rows)


def _plain(column: str, kind: str) -> tuple[str, Callable[[Any], Any] | None]:
    """An expression that cannot fail on a row, and what makes a Python value of its result."""
    if kind == "FLOAT":
        return f"CAST({column} AS DOUBLE)", None
    if kind.startswith("ENUM"):
        return f"CAST({column} AS VARCHAR)", None
    if kind == "DATE":
        days = f"date_diff('day', DATE '1970-01-01', {column})"
        return f"CASE WHEN isfinite({column}) THEN {days} WHEN {column} IS NOT NULL THEN {_PAST // DAY} END", _day
    if kind.startswith("TIMESTAMP"):
        aware = kind.endswith("WITH TIME ZONE")
        micros = f"epoch_us({column})"
        whole = f"CASE WHEN isfinite({column}) THEN {micros} WHEN {column} IS NOT NULL THEN {_PAST} END"
        return whole, _aware if aware else _naive
    if _PLAIN.fullmatch(kind):
        return column, None
    return f"CASE WHEN {column} IS NOT NULL THEN true END", lambda _: _OTHER


def _day(days: int) -> Any:
    found = instant(days * DAY, None)
    return found if isinstance(found, Unreadable) else found.date()


def _naive(micros: int) -> Any:
    return instant(micros, None)


def _aware(micros: int) -> Any:
    return instant(micros, UTC)
