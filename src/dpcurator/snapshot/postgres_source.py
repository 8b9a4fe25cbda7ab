"""Reading PostgreSQL: all tables of one server in one transaction, each by COPY in binary.

Only the declared columns are asked for, as the plain types they are (`catalog.postgres_schema`); what their values mean
is decided by `catalog.spelling.read_value`, as for other typed sources. A text is asked for as far as it could be read:
the trailing blanks of char(n), which PostgreSQL compares without, are cut, and in place of a text longer than a
column holds comes one that says so and is too long too, so that no value decides how much memory is used.

Texts come in the server's encoding and are decoded here (where it is SQL_ASCII, as UTF-8), because the server stops at
the first one that it cannot bring to another. An error on the way is told in constant words, since a view
may raise one on a row.

Checked in tests/snapshot/test_postgres.py.
"""

from __future__ import annotations

import select
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING, Any, Final

from dpcurator.catalog.cleaning import AS_IT_IS
from dpcurator.catalog.declaration import Declaration, Reading, Source
from dpcurator.catalog.limits import LONGEST_TEXT
from dpcurator.catalog.model import Column, Table
from dpcurator.catalog.postgres import begin, connected, stopped
from dpcurator.catalog.postgres_schema import TEXTS, Relation, ServerColumn, columns_of, identifier, matched, relation
from dpcurator.errors import Misconfigured
from dpcurator.snapshot.arrow import Vector
from dpcurator.snapshot.copy_binary import NotAsSent, cells_of, is_last, values_of, vector_of, without_signature
from dpcurator.snapshot.csv_source import BATCH, LONGEST_FIELD, Batch
from dpcurator.snapshot.kinds import refuse_change
from dpcurator.snapshot.loading import Loader

if TYPE_CHECKING:
    from psycopg import Connection

_BYTES: Final = 16 * 2**20  # of a batch, rows of long texts
_TOO_LONG: Final = "[a text too long to be read] "  # repeated until no column holds it and no catalog maps it
_LOCKABLE: Final = ("r", "p", "v")  # tables, partitioned ones, views; PostgreSQL locks no other kind
Reader = Callable[[Loader], None]  # into a table of the snapshot


@contextmanager
def servers(declaration: Declaration) -> Iterator[Mapping[str, Reader]]:
    """What reads each PostgreSQL table, by its name in the catalog. All of one server's are looked at, and its
    transaction begun, before anything is read. Raises Misconfigured where one cannot be read as declared."""
    readers: dict[str, Reader] = {}
    with ExitStack() as open_until_the_end:
        pairs = [pair for pair in zip(declaration.tables, declaration.sources, strict=True)
                 if pair[1].kind == "postgres"]
        for dsn in dict.fromkeys(source.place for _, source in pairs):
            here = [(table, source) for table, source in pairs if source.place == dsn]
            connection = open_until_the_end.enter_context(connected(dsn, here[0][1].where))
            readers |= _prepared(connection, here)
        yield readers


def _prepared(connection: Connection[Any], pairs: list[tuple[Table, Source]]) -> dict[str, Reader]:
    found: dict[str, Relation] = {}
    readers: dict[str, Reader] = {}
    table, source, what = pairs[0][0], pairs[0][1], "the server's own catalogs"
    import psycopg

    try:
        for table, source in pairs:
            found[table.name] = relation(connection, source.relation, source.where)
        begin(connection)
        for one in found.values():
            what = one.shown
            if one.kind in _LOCKABLE:
                connection.execute(f"LOCK TABLE {one.sql} IN ACCESS SHARE MODE".encode())
        for table, source in pairs:
            what = found[table.name].shown
            readers[table.name] = _reader(connection, table, source, found[table.name])
        encoding = connection.info.parameter_status("server_encoding")
        if encoding != "UTF8":
            connection.execute(f"SET LOCAL client_encoding = '{encoding}'".encode())
    except (psycopg.Error, UnicodeError) as error:
        raise stopped(error, connection, what, source.where) from None
    return readers


def _reader(connection: Connection[Any], table: Table, source: Source, found: Relation) -> Reader:
    """Raises Misconfigured where the table cannot be read as declared, psycopg.Error where the server says no."""
    from psycopg.errors import InsufficientPrivilege

    facts = "SELECT pg_catalog.row_security_active(%(n)s::oid), pg_catalog.has_table_privilege(%(n)s::oid, 'SELECT')"
    ((filtered, granted),) = connection.execute(facts, {"n": found.oid}).fetchall()
    own = matched(table, source.readings, columns_of(connection, found.oid), found, source.where)
    names = ", ".join(identifier(column.name) for column in table.columns)
    try:
        asked = connection.execute(f"SELECT {names} FROM {found.sql} LIMIT 0".encode())
    except InsufficientPrivilege:
        if not granted:
            raise
        what = f"a table that {found.shown} rests on" if not filtered else found.shown
        raise Misconfigured(
            f"The role may not read all rows of {what}: a row-level security policy binds it, or a grant is missing.",
            where=source.where, cure="Read as the owner, or let a superuser run: ALTER ROLE reader BYPASSRLS; with the "
            "role's name.",
        ) from None
    sent = [column.type_code for column in asked.description or ()]
    if sent != [column.type for column in own]:
        raise Misconfigured(f"{found.shown} was altered while it was looked at.", where=source.where,
                            cure="Run `dpcurator refresh` again.")
    expressions = ", ".join(map(_expression, table.columns, source.readings, own))
    copy = f"COPY (SELECT {expressions} FROM {found.sql} AS s) TO STDOUT (FORMAT binary)"
    fields = [(one.kind, column.type) for one, column in zip(own, table.columns, strict=True)]

    def read(loader: Loader) -> None:
        for column, reading, one in zip(table.columns, source.readings, own, strict=True):
            kind = {"bytea": "blob"}.get(one.kind, "text" if one.kind in TEXTS else one.kind)
            refuse_change(loader.connection, table, column, reading, kind, one.shown, found.shown, source.where)
        for places, found_values in _batches(connection, copy, fields, found.shown, source.where):
            if isinstance(found_values, Batch):
                loader.load_values([found_values])
            else:
                loader.load_vectors(found_values, places)

    return read


def _expression(column: Column, reading: Reading, own: ServerColumn) -> str:
    """What is asked for: the value itself; of a text no more than could be read, cleaned if it is."""
    value = f"s.{identifier(own.name)}"
    if own.kind not in (*TEXTS, "bytea"):
        return value
    plain = column.type == "text" and reading.spelling.cleaning is AS_IT_IS
    most = 4 * column.letters if plain else LONGEST_FIELD  # bytes; a letter has at most four
    times = (column.letters if plain else LONGEST_TEXT) // len(_TOO_LONG) + 1
    longer = f"pg_catalog.repeat('{_TOO_LONG}', {times})"
    if own.kind == "bytea":
        longer = f"pg_catalog.decode({longer}, 'escape')"
    else:
        value = f"CAST({value} AS pg_catalog.text)"
    return (f"CASE WHEN pg_catalog.octet_length({value}) <= {most} THEN {value} "
            f"WHEN {value} IS NOT NULL THEN {longer} END")


def _batches(
    connection: Connection[Any], copy: str, fields: list[tuple[str, str]], shown: str, where: str
) -> Iterator[tuple[range, list[tuple[str, Vector]] | Batch]]:
    """Batches of rows with their numbers: as vectors, or as Python values where one is in no vector's reach. Raises
    Misconfigured."""
    import psycopg

    places = range(1, 1)
    try:
        encoding = connection.info.encoding.replace("ascii", "utf-8")
        for rows in rows_of(connection, copy.encode(encoding)):
            places = range(places.stop, places.stop + len(rows))
            cells = list(zip(cells_of(rows, len(fields)), fields, strict=True))
            vectors = [vector for one, field in cells if (vector := vector_of(one, *field, encoding)) is not None]
            if len(vectors) == len(fields):
                yield places, vectors
            else:
                yield places, Batch([values_of(one, *field, encoding) for one, field in cells], places, "")
    except (psycopg.Error, NotAsSent, UnicodeError):
        if connection.broken or connection.closed:
            raise Misconfigured(f"The connection to the server of {shown} was lost.", where=where,
                                cure="Run `dpcurator refresh` again; the data version before stays in force.") from None
        raise Misconfigured(f"{shown} cannot be read to its end.", where=where,
                            cure="Where it is a view, write it so that no row raises an error: NULLIF(x, 0) for what "
                            "is divided by, CASE around a cast. The data version before stays in force.") from None


def rows_of(connection: Connection[Any], copy: bytes) -> Iterator[list[bytes]]:
    """The rows of a COPY as they come, in lists by number and by bytes. Raises psycopg.Error or NotAsSent."""
    from psycopg import pq

    libpq = connection.pgconn
    libpq.send_query(copy)
    answer = _answer(libpq)
    if answer is None or answer.status != pq.ExecStatus.COPY_OUT:
        raise NotAsSent
    get = libpq.get_copy_data
    first = without_signature(_message(libpq))
    last = is_last(first)
    rows, total = [first] if first and not last else [], len(first)
    while not last:
        size, data = get(1)
        if size > 2:
            rows.append(bytes(data))
            total += size
            if total >= _BYTES or len(rows) == BATCH:
                yield rows
                rows, total = [], 0
        elif size == 0:
            _wait(libpq)
        else:
            last = size == 2 and is_last(bytes(data))
            if not last:
                _ended(libpq)  # of a connection that is lost, only what comes after tells
                raise NotAsSent
    if rows:
        yield rows
    if _message(libpq) or not _ended(libpq):
        raise NotAsSent


def _message(libpq: Any) -> bytes:
    """The next message of a COPY; empty where there is none."""
    size, data = libpq.get_copy_data(1)
    while size == 0:
        _wait(libpq)
        size, data = libpq.get_copy_data(1)
    return bytes(data) if size > 0 else b""


def _ended(libpq: Any) -> bool:
    """Did the server say that the command is complete, and nothing else?"""
    from psycopg import pq

    said = []
    while (answer := _answer(libpq)) is not None:
        said.append(answer.status)
    return said == [pq.ExecStatus.COMMAND_OK]


def _answer(libpq: Any) -> Any:
    while libpq.is_busy():
        _wait(libpq)
    return libpq.get_result()


def _wait(libpq: Any) -> None:
    """Until the server has sent more; a key press ends it."""
    select.select([libpq.socket], [], [])
    libpq.consume_input()
