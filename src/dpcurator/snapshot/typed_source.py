"""Loading Parquet files and DuckDB tables: typed sources, whose values are converted only where that keeps them.

DuckDB reads the file with every option written down (`catalog.duckdb_options`), columns are taken by position, and its
types are brought down to plain ones by expressions that cannot fail on a row: dates and instants as integers (so
infinity and the year 287000 do no harm), enumerations as text, single floats widened, texts compared by code point
whatever the table says, and lists and the like as 'unreadable, or missing'. What the plain values mean is then decided
a column at a time (`vectorised`), and by `catalog.spelling.read_value` where that leaves a value. Checked in
tests/snapshot/test_typed.py.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final

from dpcurator.catalog import duckdb_options, parquet_schema
from dpcurator.catalog.duckdb_options import quoted, write_down
from dpcurator.catalog.parquet_schema import plainly_named
from dpcurator.catalog.problems import nearest, text
from dpcurator.catalog.source_types import refuse_type
from dpcurator.catalog.spelling import DAY, FIRST_DAY, LAST_DAY
from dpcurator.errors import Misconfigured
from dpcurator.snapshot.csv_source import missing_cure, refuse_repeats, same_columns
from dpcurator.snapshot.duckdb_view import identifier, load_made, made, opened, shut
from dpcurator.snapshot.folders import Folders, beside_typed, named_by, refuse_in_both
from dpcurator.snapshot.kinds import refuse_change
from dpcurator.snapshot.loading import Loader
from dpcurator.snapshot.parquet_plain import stored_plainly
from dpcurator.snapshot.typed_values import PAST

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection
    from pyarrow import RecordBatch

_WRITE_AGAIN: Final = "Write the file again with a name for each column."
_WHOLE: Final = re.compile(r"U?(TINY|SMALL)INT|BIGINT|U?INTEGER")
_VALUES: Final = re.compile(r"ENUM\('(?:[^']|'')*'(?:, '(?:[^']|'')*')*\)")  # the type lists what values there are
_AS_THEY_ARE: Final = {
    "HUGEINT": "huge", "UBIGINT": "huge", "BOOLEAN": "truth", "UUID": "uuid", "BLOB": "blob",
    "UHUGEINT": "vast",  # which cannot be compared with numbers below 0, so no form has it
}
_UNTYPED: Final = ('"NULL"', "NULL")  # of a column in which no value has ever been
_NO_TEXT: Final = "chr(0)"  # unreadable for the same reason as bytes that are no Unicode
_MILLIS: Final = "MILLIS"  # and with _ZONE: what DuckDB makes instants of, as they are stored
_ZONE: Final = " WITH TIME ZONE"
_INSTANTS: Final = ("TIMESTAMP", f"TIMESTAMP{_ZONE}", "TIMESTAMP_S", "TIMESTAMP_MS", "TIMESTAMP_NS")
_CLOCK: Final = {("TIME", "INTEGER"): "CLOCK IN MILLIS", ("TIME", "BIGINT"): "CLOCK"}


def load_parquet(path: Path, columns: Sequence[str], loader: Loader, *, where: str, folders: Folders) -> None:
    """Load the declared columns of one Parquet file. folders: those that its folders name. Raises Misconfigured when it
    cannot be used."""
    import duckdb

    if not path.is_file():
        what = "is a directory" if path.is_dir() else "is not there"
        raise Misconfigured(f"The file {text(path.name)} {what}.", where=where,
                            cure="Paths are relative to the catalog file.")
    broken = Misconfigured(f"{text(path.name)} cannot be read to its end.", where=where,
                           cure="Check that it is a whole Parquet file, not encrypted.")
    connection = loader.connection
    with plainly_named(path) as plain:
        try:
            found = parquet_schema.described(connection, plain)
        except (duckdb.Error, ValueError):
            raise broken from None
        refuse_repeats([name for name, _ in found], columns, path.name, where, _WRITE_AGAIN)
        refuse_in_both(folders, dict(found), path.name, where)
        own = [column for column in columns if column not in folders]
        for column in own:
            if column in named_by(path, Path()) and column not in dict(found):
                what = f"{text(path.name)} has no column {text(column)}: the name of a folder is not read as one."
                cure = f"Add folders = [{text(column)}] to the table, or write the column into the files."
                raise Misconfigured(what, where=where, cure=cure)
        chosen = _chosen(found, own, path.name, loader, where)
        relation, kinds = beside_typed(columns, *_plainly(_source(connection, plain, found), found, chosen), folders)
        try:
            loader.load_typed(relation, kinds)
            return
        except duckdb.Error:
            if _readable(connection, relation):
                raise  # what failed is not the file
    try:
        with stored_plainly(path, loader.place) as copy, plainly_named(copy) as plain:
            stored = _as_stored(found, parquet_schema.described(connection, plain))
            relation, kinds = beside_typed(columns, *_plainly(_source(connection, plain, stored), stored, chosen),
                                           folders)
            if not _readable(connection, relation):
                raise broken
            loader.load_typed(relation, kinds)
    except ValueError:
        raise broken from None


def load_arrow(
    batches: Iterable[RecordBatch], name: str, columns: Sequence[str], loader: Loader, *, where: str
) -> None:
    """Load the declared columns of batches of Arrow, which are of one schema. name: what a message calls them. Raises
    Misconfigured where they cannot be read as declared."""
    import pyarrow

    run, rows, chosen = loader.connection.execute, 0, list[int]()
    found: list[tuple[str, str]] = []
    for batch in batches:
        loader.connection.register("batch", pyarrow.Table.from_batches([batch]))
        try:
            if not found:
                described = run("DESCRIBE FROM batch").fetchall()
                names = batch.schema.names  # by position: DuckDB renames two that differ by case
                found = [(own, str(row[1])) for own, row in zip(names, described, strict=True)]
                refuse_repeats(names, columns, name, where)
                chosen = _chosen(found, columns, name, loader, where)
            numbered = f"(SELECT *, row_number() OVER () + {rows} AS place FROM batch)"
            source, kinds = _plainly(f"{numbered} AS source({_names(found)}, place)", found, chosen, "place")
            loader.load_typed(source, kinds, counted=False)
            rows += batch.num_rows
        finally:
            loader.connection.unregister("batch")


def _source(connection: DuckDBPyConnection, plain: str, found: Sequence[object]) -> str:
    call = duckdb_options.read_parquet(connection).replace("?", quoted(plain), 1)
    return f"{call} AS source({_names(found)})"


def _as_stored(found: Sequence[tuple[str, str]], stored: Sequence[tuple[str, str]]) -> list[tuple[str, str]]:
    """The names, and what `_plain` makes of each column where its type was left out of the footer."""
    kinds = []
    for (_, kind), (_, plainly) in zip(found, stored, strict=True):
        if kind in ("VARCHAR", "JSON") and plainly == "BLOB":
            kind = "BYTES OF TEXT"
        elif kind in ("TIMESTAMP", f"TIMESTAMP{_ZONE}") and plainly == "BIGINT":
            kind = kind.replace("TIMESTAMP", _MILLIS)
        kinds.append(_CLOCK.get((kind, plainly), kind))
    return [(name, kind) for (name, _), kind in zip(found, kinds, strict=True)]


def load_duckdb(
    path: Path, name: str, columns: Sequence[str], loader: Loader, *, memory: int, threads: int, where: str
) -> None:
    """Load the declared columns of a table or view of a DuckDB file, opened read-only.

    A view, or a table with generated columns, is read by a connection of its own, in which nothing but the file is in
    reach (`duckdb_view`): a view that reads another file is refused, as what it would read is decided by guesses from
    that file's rows. memory: in MiB.
    """
    import duckdb

    if not path.is_file():
        raise Misconfigured(f"There is no DuckDB file {text(path.name)}.", where=where,
                            cure="Paths are relative to the catalog file.")
    try:
        own, attached = opened(path)
    except duckdb.Error:
        raise Misconfigured(f"{text(path.name)} cannot be opened as a DuckDB file.", where=where,
                            cure="Check that it is one, and close it in other programs.") from None
    broken = Misconfigured(f"{text(name)} of {text(path.name)} cannot be read to its end.", where=where,
                           cure="Check that the file is whole, and that the disk has room for the rows of a view. A "
                           "view that reads another file is not read: make it a table.")
    with contextlib.closing(own):
        try:
            shut(write_down(own), loader.place, memory // 2, threads)
            relation, computed = _relation(own, attached, name, path.name, where)
            within = f"{identifier(attached)}.{relation}"
            found = [(str(row[0]), str(row[1])) for row in own.execute(f"DESCRIBE FROM {within}").fetchall()]
            chosen = _chosen(found, columns, path.name, loader, where)
            if computed:
                source, kinds = _plainly(f"{within} AS source({_names(found)})", found, chosen)
                rows, at_once = made(own, source, kinds)
        except duckdb.Error:
            raise broken from None
        run = loader.connection.execute
        if computed:
            with contextlib.suppress(duckdb.Error):  # the rows that were made have the other half
                run(f"SET memory_limit = '{memory - memory // 2:d} MiB'")
            try:
                load_made(own, rows, at_once, kinds, loader)
            finally:
                run(f"SET memory_limit = '{memory:d} MiB'")
            return
    try:
        run(f"ATTACH {quoted(str(path.resolve()))} AS attached (READ_ONLY, TYPE duckdb)")
    except duckdb.Error:
        raise broken from None
    try:
        source, kinds = _plainly(f"attached.{relation} AS source({_names(found)})", found, chosen)
        try:
            loader.load_typed(source, kinds)
        except duckdb.Error:
            if _readable(loader.connection, source):
                raise
            raise broken from None
    finally:
        run("DETACH attached")


def _relation(
    connection: DuckDBPyConnection, database: str, relation: str, name: str, where: str
) -> tuple[str, bool]:
    """The table or view of this name, as SQL spells it within its database, and whether its rows are computed: those of
    a view, and of a table with a generated column."""
    found = connection.execute(
        "SELECT table_schema, table_name, table_type <> 'BASE TABLE' OR EXISTS (FROM information_schema.columns AS c "
        "WHERE (c.table_catalog, c.table_schema, c.table_name) = (t.table_catalog, t.table_schema, t.table_name) "
        "AND c.is_generated = 'ALWAYS') FROM information_schema.tables AS t WHERE table_catalog = ?", [database],
    ).fetchall()
    matching = [one for one in found if relation in (one[1], f"{one[0]}.{one[1]}")]
    if len(matching) != 1:
        what = "has no" if not matching else "has more than one"
        cure = "Name the schema too." if matching else nearest(relation, [one[1] for one in found])
        raise Misconfigured(f"{text(name)} {what} table {text(relation)}.", where=where, cure=cure)
    return ".".join(map(identifier, matching[0][:2])), bool(matching[0][2])


def _chosen(
    found: Sequence[tuple[str, str]], columns: Sequence[str], file: str, loader: Loader, where: str
) -> list[int]:
    """The positions of the declared columns. found: the name and DuckDB type of each column, by position. Raises
    Misconfigured where one is absent, or of a type of which nothing is read as declared."""
    names = [own for own, _ in found]
    for column in columns:
        if column not in names:
            raise Misconfigured(f"{text(file)} has no column {text(column)}.", where=where,
                                cure=missing_cure(column, names))
    same_columns(names, file, loader.report, where)
    for declared, reading in zip(loader.table.columns, loader.readings, strict=True):
        shown = found[names.index(declared.name)][1] if declared.name in columns else _UNTYPED[0]
        if shown not in _UNTYPED:
            kind = _plain("", shown)[1].partition("(")[0]
            shown = _VALUES.sub("ENUM", shown)
            refuse_type(declared, reading.spelling, kind, shown, text(file), where)
            refuse_change(loader.connection, loader.table, declared, reading, kind, shown, text(file), where)
    return [names.index(column) for column in columns]


def _names(found: Sequence[object]) -> str:
    """Names by position, since DuckDB takes two that differ by case for one."""
    return ", ".join(f"y{i}" for i in range(len(found)))


def _plainly(
    source: str, found: Sequence[tuple[str, str]], chosen: Sequence[int], *more: str
) -> tuple[str, list[str]]:
    """The chosen columns y0, y1, ... of a relation as x0, x1, ... of plain values, and their kinds. more: columns that
    stay as they are."""
    plain = [_plain(f"y{position}", found[position][1]) for position in chosen]
    columns = ", ".join([*(f"{expression} AS x{j}" for j, (expression, _) in enumerate(plain)), *more])
    return f"(SELECT {columns} FROM {source})", [kind for _, kind in plain]


def _plain(column: str, kind: str) -> tuple[str, str]:
    """An expression that cannot fail on a row, and the kind of its values (`vectorised.of_kind`)."""
    if kind in ("VARCHAR", "JSON") or (kind.startswith("ENUM(") and kind.endswith(")")):  # no list of them
        return f'CAST({column} AS VARCHAR) COLLATE "C"', "text"
    if kind == "BYTES OF TEXT":
        decoded = f"COALESCE(TRY(decode({column})), {_NO_TEXT})"
        return f'CASE WHEN {column} IS NOT NULL THEN {decoded} END COLLATE "C"', "text"
    if kind in ("FLOAT", "DOUBLE"):
        return f"CASE WHEN isnan({column}) THEN NULL ELSE CAST({column} AS DOUBLE) END", "double"
    if kind.startswith("DECIMAL("):
        return column, kind.lower()
    if _WHOLE.fullmatch(kind):
        return column, "whole"
    if kind == "DATE":
        days = f"date_diff('day', DATE '1970-01-01', {column})"
        return f"CASE WHEN isfinite({column}) THEN {days} WHEN {column} IS NOT NULL THEN {PAST // DAY} END", "day"
    if kind.startswith(_MILLIS):
        micros = f"CASE WHEN {column} // 1000 BETWEEN {FIRST_DAY * DAY // 10**6} AND {(LAST_DAY + 1) * DAY // 10**6} "
        micros += f"THEN {column} * 1000 WHEN {column} IS NOT NULL THEN {PAST} END"
        return micros, "aware" if kind.endswith(_ZONE) else "naive"
    if kind in ("TIME", *_CLOCK.values()):
        micros = {"TIME": f"epoch_us({column})", "CLOCK": column}.get(kind, f"CAST({column} AS BIGINT) * 1000")
        return micros, "clock"
    if kind == "TIMESTAMPTZ_NS":  # which no function but one takes; the count is the same
        return _plain(f"CAST({column} AS TIMESTAMP_NS)", "TIMESTAMP_NS")[0], "aware"
    if kind in _INSTANTS:
        micros = f"CASE WHEN isfinite({column}) THEN epoch_us({column}) WHEN {column} IS NOT NULL THEN {PAST} END"
        if kind not in ("TIMESTAMP", f"TIMESTAMP{_ZONE}"):  # in other units it may be past 64 bits
            micros = f"CASE WHEN {column} IS NOT NULL THEN COALESCE(TRY({micros}), {PAST}) END"
        return micros, "aware" if kind.endswith(_ZONE) else "naive"
    if kind in _AS_THEY_ARE:
        return column, _AS_THEY_ARE[kind]
    return f"CASE WHEN {column} IS NOT NULL THEN true END", "other"


def _readable(connection: DuckDBPyConnection, relation: str) -> bool:
    """Can it be read to its end?"""
    import duckdb

    try:
        connection.execute(f"SELECT BIT_XOR(hash(source)) FROM {relation} AS source").fetchall()
    except duckdb.Error:
        return False
    return True
