"""How a PostgreSQL server is reached: by a connection string that an environment variable holds.

The variable's value is read as libpq reads it; a service file, a password file and the variables of libpq work as they
do in psql. Nothing of that string is in any message, nor are the server's own words, which may quote it.
Checked in tests/snapshot/test_postgres.py and tests/ledger/test_postgres_ledger.py.
"""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING, Any, Final

from dpcurator.errors import Misconfigured

if TYPE_CHECKING:
    from psycopg import Connection

VARIABLE: Final = re.compile(r"env:([A-Za-z_][A-Za-z0-9_]*)")
LEAST_VERSION: Final = 12
WAIT: Final = 30  # seconds until a server that does not answer is away, where the connection string says nothing


def variable_of(dsn: str) -> str:
    """The environment variable that `dsn` names; "" where it is none, so that it may be a password."""
    found = VARIABLE.fullmatch(dsn)
    return found[1] if found else ""


def connect(dsn: str, where: str, **more: str | int) -> Connection[Any]:
    """A connection to the server that the variable of `dsn` names. more: what the connection string may leave out.
    Raises Misconfigured."""
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
        if "PGCONNECT_TIMEOUT" not in os.environ:
            more.setdefault("connect_timeout", WAIT)
        left = {name: value for name, value in more.items() if name not in given}
        conninfo = psycopg.conninfo.make_conninfo(string, **left, client_encoding="UTF8")
    except (psycopg.Error, UnicodeError):
        raise Misconfigured(f"The environment variable {variable} is no connection string.", where=where,
                            cure='Write it as in "host=db.example.org dbname=clinic user=reader", or '
                            '"postgresql://reader@db.example.org/clinic".') from None
    try:
        connection: Connection[Any] = psycopg.connect(conninfo, autocommit=True, prepare_threshold=None)
    except (psycopg.Error, OSError, UnicodeError) as error:
        raise _unreachable(psycopg, error, conninfo, variable, where) from None
    if connection.info.server_version < LEAST_VERSION * 10_000:
        connection.close()
        raise Misconfigured(f"The server of {variable} is older than PostgreSQL {LEAST_VERSION}.", where=where,
                            cure="Use a newer one.")
    return connection


def _client(where: str) -> Any:
    try:
        import psycopg
    except ImportError:  # not installed, or without the C library that it calls
        raise Misconfigured("PostgreSQL is reached through psycopg, which is not installed.", where=where,
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
