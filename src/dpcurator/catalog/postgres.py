"""A PostgreSQL server as a steward's source: how it is reached, and every setting of a session that touches rows.

The catalog names an environment variable, which holds a connection string as libpq reads it; a service file, a password
file and the variables of libpq work as they do in psql. Nothing of that string is in any message, nor are the server's
own words, which may quote it, or a row. Everything is read in one transaction, REPEATABLE READ and READ ONLY, with each
setting of `SETTINGS` written down, so that neither the role, nor the database, nor the string decides a value.

Checked in tests/snapshot/test_postgres.py, against a server, whose own list of settings is compared with ours.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final

from dpcurator.errors import Misconfigured

if TYPE_CHECKING:
    from psycopg import Connection

VARIABLE: Final = re.compile(r"env:([A-Za-z_][A-Za-z0-9_]*)")
WRITE_DSN: Final = 'Write dsn = "env:CLINIC_DSN", and put the connection string into that environment variable.'
LEAST_VERSION: Final = 12
WAIT: Final = 30  # seconds until a server that does not answer is away, where the connection string says nothing
SETTINGS: Final = {
    "TimeZone": "UTC",
    "DateStyle": "ISO, YMD",
    "IntervalStyle": "postgres",
    "timezone_abbreviations": "Default",
    "extra_float_digits": "1",  # a view that writes a float as text writes all of it
    "bytea_output": "hex",
    "lc_monetary": "C",
    "lc_numeric": "C",
    "lc_time": "C",
    "xmlbinary": "base64",
    "xmloption": "content",
    "quote_all_identifiers": "off",
    "default_text_search_config": "pg_catalog.simple",
    "search_path": "pg_catalog, pg_temp",  # names in a view's functions are PostgreSQL's own, or say their schema
    "row_security": "off",  # where a policy would show a part of the rows, reading fails
    "gin_fuzzy_search_limit": "0",  # above 0 an index may leave rows out by chance
    "restrict_nonsystem_relation_kind": "",
    "constraint_exclusion": "partition",
    "transform_null_equals": "off",
    "array_nulls": "on",
    "standard_conforming_strings": "on",
    "backslash_quote": "safe_encoding",
    "synchronize_seqscans": "off",  # rows come in one order while nothing is written
    "exit_on_error": "off",
    "statement_timeout": "0",
    "transaction_timeout": "0",
    "idle_in_transaction_session_timeout": "0",
    "idle_session_timeout": "0",
    "lock_timeout": "60s",  # a table that is being altered for longer is told, not waited for
}


def variable_of(dsn: str) -> str:
    """The environment variable that `dsn` names; "" where it is none, so that it may be a password."""
    found = VARIABLE.fullmatch(dsn)
    return found[1] if found else ""


@contextmanager
def connected(dsn: str, where: str) -> Iterator[Connection[Any]]:
    """A connection to the server that the variable of `dsn` names, closed at the end. Raises Misconfigured."""
    psycopg, variable = _client(where), variable_of(dsn)
    if not variable:
        raise Misconfigured("A server is named by an environment variable.", where=where, cure="Write as in --postgres "
                            "env:CLINIC_DSN, and put the connection string into that environment variable.")
    string = os.environ.get(variable, "").strip()
    if not string:
        raise Misconfigured(f"The environment variable {variable} is not set.", where=where,
                            cure=f'Set it: export {variable}="host=db.example.org dbname=clinic user=reader". A '
                            "password belongs in a password file, ~/.pgpass.")
    try:
        given = psycopg.conninfo.conninfo_to_dict(string)
        wait = {} if "connect_timeout" in given or "PGCONNECT_TIMEOUT" in os.environ else {"connect_timeout": WAIT}
        conninfo = psycopg.conninfo.make_conninfo(string, **wait, client_encoding="UTF8")
    except (psycopg.Error, UnicodeError):
        raise Misconfigured(f"The environment variable {variable} is no connection string.", where=where,
                            cure='Write it as in "host=db.example.org dbname=clinic user=reader", or '
                            '"postgresql://reader@db.example.org/clinic".') from None
    try:
        connection = psycopg.connect(conninfo, autocommit=True, prepare_threshold=None)
    except (psycopg.Error, OSError, UnicodeError) as error:
        raise _unreachable(psycopg, error, conninfo, variable, where) from None
    try:
        if connection.info.server_version < LEAST_VERSION * 10_000:
            raise Misconfigured(f"The server of {variable} is older than PostgreSQL {LEAST_VERSION}.", where=where,
                                cure="Copy the table to a newer one, or to a file.")
        yield connection
    finally:
        connection.close()


def _client(where: str) -> Any:
    try:
        import psycopg
    except ImportError:  # not installed, or without the C library that it calls
        raise Misconfigured("Reading from PostgreSQL needs psycopg, which is not installed.", where=where,
                            cure="Run: pip install 'dpcurator[postgres]'") from None
    return psycopg


def _unreachable(psycopg: Any, error: Any, conninfo: str, variable: str, where: str) -> Misconfigured:
    """Why there is no connection, in constant words: libpq's own may repeat the connection string."""
    tried, shown = getattr(error, "pgconn", None), f'To see why, run: psql "${variable}"'
    if getattr(tried, "needs_password", False):
        return Misconfigured(f"The server of {variable} asks for a password, and none was found.", where=where,
                             cure="Put it into the password file ~/.pgpass, or the file that PGPASSFILE names.")
    if getattr(tried, "used_password", False):
        return Misconfigured(f"The server of {variable} refuses the role, the password or the database.", where=where,
                             cure=shown)
    ping, found = psycopg.pq.Ping, psycopg.pq.PGconn.ping(conninfo.encode())
    what = {
        ping.OK: f"The server of {variable} refuses the role or the database.",
        ping.REJECT: f"The server of {variable} is starting or stopping, and takes no connection.",
        ping.NO_RESPONSE: f"The server of {variable} does not answer.",
    }.get(found, f"The environment variable {variable} names no server that can be reached.")
    return Misconfigured(what, where=where, cure=shown)


def begin(connection: Connection[Any]) -> None:
    """Begin the one transaction, with every setting written down; SET takes no view of the data yet.

    Tables are to be locked next, before the first query takes that view: one that was emptied or rewritten in between
    would otherwise be read as empty. Raises psycopg.Error.
    """
    known = [name for (name,) in connection.execute("SELECT name FROM pg_catalog.pg_settings").fetchall()]
    connection.execute("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
    for name, value in SETTINGS.items():
        if name in known:
            values = value.split(", ") if name == "search_path" else [value]
            connection.execute(f"SET LOCAL {name} = {', '.join(map(_literal, values))}".encode())


def _literal(value: str) -> str:
    return "'" + value.replace("'", "''") + "'"


def stopped(error: Exception, connection: Connection[Any], what: str, where: str) -> Misconfigured:
    """What a steward is told of an error of the server before a row was asked for. what: the table, as in SQL."""
    again = "Run `dpcurator refresh` again"
    if connection.closed or connection.broken:
        return Misconfigured(f"The connection to the server of {what} was lost.", where=where,
                             cure=f"{again}; the data version before stays in force.")
    match getattr(error, "sqlstate", None):
        case "42501":
            return Misconfigured(f"The role may not read {what}.", where=where,
                                 cure=f"Let its owner run: GRANT SELECT ON {what} TO role; with the role's name. Or "
                                 "name a view of the columns that it may read.")
        case "55P03":
            return Misconfigured(f"{what} is being altered by another session.", where=where,
                                 cure=f"{again} when that has ended.")
        case "57014":
            return Misconfigured(f"Reading {what} was cancelled at the server.", where=where, cure=f"{again}.")
        case _:
            return Misconfigured(f"{what} cannot be read.", where=where,
                                 cure=f"To see why, run in psql: SELECT * FROM {what} LIMIT 1;")
