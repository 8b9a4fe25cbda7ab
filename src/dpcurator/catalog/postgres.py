"""A PostgreSQL server as a steward's source: every setting of a session that touches rows.

The server's own words are in no message: they may quote a row. Everything is read in one transaction, REPEATABLE READ
and READ ONLY, with each setting of `SETTINGS` written down, so that neither the role, nor the database, nor the
connection string decides a value.

Checked in tests/snapshot/test_postgres.py, against a server, whose own list of settings is compared with ours.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final

from dpcurator.errors import Misconfigured
from dpcurator.postgres import connect

if TYPE_CHECKING:
    from psycopg import Connection

WRITE_DSN: Final = 'Write dsn = "env:CLINIC_DSN", and put the connection string into that environment variable.'
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


@contextmanager
def connected(dsn: str, where: str) -> Iterator[Connection[Any]]:
    """A connection to the server that the variable of `dsn` names, closed at the end. Raises Misconfigured."""
    connection = connect(dsn, where)
    try:
        yield connection
    finally:
        connection.close()


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
