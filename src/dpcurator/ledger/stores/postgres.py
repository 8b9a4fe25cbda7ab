"""A ledger in a PostgreSQL database: curators on several machines share one budget.

Why it cannot overspend: a writing transaction first takes the ledger's advisory lock, which one transaction of the
database holds at a time, and is READ COMMITTED, so each statement after the lock sees all that was committed before it.
Should somebody write without the lock, the primary key of `events` lets one of two events into a place, and the other
transaction fails whole. COMMIT returns when the event is on the server's disk (synchronous_commit = on, whatever the
role's default; fsync = off is refused) and, where the server has synchronous standbys, on theirs; a wait for those that
somebody cuts short is told, and the charge not returned. A connection that is lost at COMMIT leaves open whether the
charge is there, and asking again resumes it if it is (ledger/trouble.py). A standby is refused, for reading too: it may
be behind. A copy that was behind when it was promoted lacks heads that this process, or a receipt, has seen
(ledger/reading.py).

What the server watches: UPDATE, DELETE and TRUNCATE fail, by triggers that fire always. Every setting that touches the
statements is written down in `_begin`, at each transaction. Values go as parameters, never into the SQL.
Checked in tests/ledger/: test_stores (conformance), test_postgres_ledger, test_fire.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from hashlib import sha256
from typing import TYPE_CHECKING, Any, Final

from dpcurator.errors import Misconfigured
from dpcurator.ledger import trouble
from dpcurator.ledger.forks import Guarded
from dpcurator.ledger.sql_page import SqlPage
from dpcurator.ledger.stores.memory import MemoryPage
from dpcurator.postgres import connect

if TYPE_CHECKING:
    from psycopg import Connection

SCHEMA: Final = "dpcurator"  # where the catalog names none
VERSION: Final = 1  # of the tables
_TABLES: Final = ("answers", "events", "ledger", "readings", "requests")
_AWAY: Final = {"keepalives_idle": 20, "keepalives_interval": 5, "keepalives_count": 3, "tcp_user_timeout": 30_000}
_ABANDONED: Final = 60_000  # ms after which the server ends a transaction whose curator is gone, and frees the lock
# A row that is here and not on the standby, since a wait was cut short or the server fell, is shown to nobody: COMMIT
# waits for the standby where the transaction logged something, and then for all before it.
_WAITS: Final = (
    "SELECT CASE WHEN pg_catalog.current_setting('synchronous_standby_names') <> '' "
    "AND NOT pg_catalog.pg_is_in_recovery() "
    "THEN pg_catalog.pg_logical_emit_message(true, 'dpcurator', '') END; "
)
_NEVER: Final = """
CREATE FUNCTION append_only() RETURNS trigger LANGUAGE plpgsql
    AS $$BEGIN RAISE EXCEPTION 'append-only' USING ERRCODE = '55000'; END$$;
"""
_MADE: Final = f"""
CREATE TABLE ledger (version INTEGER NOT NULL);
INSERT INTO ledger VALUES ({VERSION});
CREATE TABLE events (position BIGINT PRIMARY KEY, name TEXT COLLATE "C" NOT NULL, body TEXT COLLATE "C" NOT NULL,
                     hash TEXT COLLATE "C" NOT NULL);
CREATE INDEX events_by_name ON events (name, position);
CREATE TABLE requests (request TEXT COLLATE "C" PRIMARY KEY, position BIGINT NOT NULL);
CREATE TABLE answers (position BIGINT PRIMARY KEY, request TEXT COLLATE "C" NOT NULL UNIQUE,
                      question TEXT COLLATE "C" NOT NULL, hash TEXT COLLATE "C" NOT NULL, text BYTEA NOT NULL);
CREATE INDEX answers_by_question ON answers (question, position);
CREATE INDEX answers_by_hash ON answers (hash);
CREATE TABLE readings (number BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY, reading TEXT COLLATE "C" NOT NULL,
                       request TEXT COLLATE "C" NOT NULL, UNIQUE (reading, request));
""" + _NEVER + "".join(
    f"CREATE TRIGGER append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON {table} EXECUTE FUNCTION append_only();\n"
    f"ALTER TABLE {table} ENABLE ALWAYS TRIGGER append_only;\n"
    for table in _TABLES
)


class PostgresStore(Guarded):
    """dsn: "env:" and the environment variable that holds the connection string. schema: of the database, made with the
    ledger's first event; one ledger in each. patience: seconds to wait for another curator's transaction."""

    def __init__(self, dsn: str, *, schema: str = SCHEMA, patience: float = 10.0) -> None:
        self._dsn, self._schema, self._patience = dsn, schema, patience
        self._connection: Connection[Any] | None = None
        self._warned, self._version = False, 0
        super().__init__()

    @property
    def place(self) -> str:
        return f"{self._dsn}, schema {self._schema}"

    def server(self) -> str:
        """The cluster's own number, which its copies and standbys share, and that of the database."""
        with self._lock, self._transaction(writing=False):
            return "{}/{}".format(*self._run(
                "SELECT (SELECT system_identifier FROM pg_catalog.pg_control_system()), "
                "(SELECT oid FROM pg_catalog.pg_database WHERE datname = pg_catalog.current_database())"
            ).fetchone())

    def exists(self) -> bool:
        with self._lock, self._transaction(writing=False) as there:
            return there

    @contextmanager
    def reading(self) -> Iterator[SqlPage | MemoryPage]:
        with self._lock, self._transaction(writing=False) as there:
            yield SqlPage(self._run) if there else MemoryPage()

    @contextmanager
    def writing(self) -> Iterator[SqlPage]:
        with self._lock, self._transaction(writing=True) as there:
            if not there:
                self._make()
            yield SqlPage(self._run)

    @contextmanager
    def _transaction(self, *, writing: bool) -> Iterator[bool]:
        """Yields whether the ledger was made. Every failure of the server is Misconfigured, in constant words."""
        there, psycopg = self._begun(writing), _client()
        try:
            yield there
            self._commit()
        except (psycopg.Error, UnicodeError) as error:
            self._drop()
            raise trouble.from_postgres(error, self.place) from None
        except BaseException:
            connection = self._connection
            with suppress(psycopg.Error):
                if connection is not None:
                    connection.execute("ROLLBACK")
            if connection is not None and connection.info.transaction_status != psycopg.pq.TransactionStatus.IDLE:
                self._drop()
            raise

    def _begun(self, writing: bool) -> bool:
        """In a transaction; whether the ledger was made. A connection that was lost since its last use is made anew."""
        self._same_process(self.place)
        while True:
            fresh = self._connection is None
            connection = self._connected()
            try:
                return self._begin(connection, writing)
            except _client().Error as error:
                lost = connection.closed or connection.broken
                self._drop()
                if fresh or not lost:
                    raise trouble.from_postgres(error, self.place) from None
            except BaseException:
                self._drop()
                raise

    def _connected(self) -> Connection[Any]:
        if self._connection is None:
            self._connection = connect(self._dsn, self.place, **_AWAY)
            self._connection.add_notice_handler(self._noticed)
            self._version = 0
        return self._connection

    def _noticed(self, notice: Any) -> None:
        self._warned |= notice.severity_nonlocalized == "WARNING"

    def _begin(self, connection: Connection[Any], writing: bool) -> bool:
        """One round trip. Each statement of it sees what was committed before it began, the last one after the lock."""
        lock = int.from_bytes(sha256(f"dpcurator ledger {self._schema}".encode()).digest()[:8], signed=True)
        settings = {
            "search_path": f'"{self._schema}", pg_temp',
            "synchronous_commit": "on",
            "lock_timeout": f"{max(1, round(self._patience * 1000))}",
            "statement_timeout": "0",
            "idle_in_transaction_session_timeout": f"{_ABANDONED}",
            "client_min_messages": "warning",
            "row_security": "off",  # where a policy would show a part of the rows, reading fails
        }
        if connection.info.server_version >= 170_000:
            settings["transaction_timeout"] = "0"
        mode = "READ COMMITTED READ WRITE" if writing else "REPEATABLE READ READ ONLY"
        found = connection.execute(
            f"BEGIN ISOLATION LEVEL {mode}; "
            + "".join(f"SET LOCAL {name} = {value if name == 'search_path' else repr(value)}; "
                      for name, value in settings.items())
            + (f"SELECT pg_catalog.pg_advisory_xact_lock({lock}); " if writing else "")
            + _WAITS
            + "SELECT pg_catalog.pg_is_in_recovery(), pg_catalog.current_setting('fsync') = 'on', "
            "pg_catalog.current_setting('server_encoding') = 'UTF8', "
            "(SELECT count(*) FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace "
            f"WHERE n.nspname = '{self._schema}' AND c.relname IN {_TABLES} AND c.relkind = 'r' "
            "AND c.relpersistence = 'p'), "
            "(SELECT coalesce(bool_and(pg_catalog.has_schema_privilege(oid, 'USAGE')), true) "
            f"FROM pg_catalog.pg_namespace WHERE nspname = '{self._schema}')"
        )
        while found.nextset():
            pass
        standby, durable, utf8, tables, allowed = found.fetchone() or (True, False, False, 0, False)
        if standby:
            raise trouble.standby(self.place)
        if not allowed:
            raise trouble.not_allowed(self.place)
        if not durable:
            raise Misconfigured(
                "The server does not wait for its disk (fsync = off), so a charge could be lost.",
                where=self.place,
                cure="Let its administrator set fsync = on, or name another server.",
            )
        if not utf8:
            raise Misconfigured(
                "The database does not hold its text as UTF-8.", where=self.place,
                cure="Make one that does: CREATE DATABASE ledgers ENCODING 'UTF8' TEMPLATE template0;",
            )
        if tables not in (0, len(_TABLES)):
            raise Misconfigured("This schema holds a part of a ledger, or one whose tables a crash empties (UNLOGGED).",
                                where=self.place, cure="Name another schema. " + trouble.RESTORE)
        if tables and not self._version:
            (self._version,) = connection.execute("SELECT version FROM ledger").fetchone() or (0,)
        if tables and self._version != VERSION:
            raise Misconfigured("This ledger was written by another version of dpcurator, or is none.",
                                where=self.place, cure="Use the version that wrote it, or a newer one.")
        return bool(tables)

    def _make(self) -> None:
        """The schema, if there is none, and its tables, in this transaction: so there is all of it or none."""
        if self._run("SELECT 1 FROM pg_catalog.pg_namespace WHERE nspname = ?", (self._schema,)).fetchone() is None:
            self._run(f'CREATE SCHEMA "{self._schema}"')
        self._run(_MADE.replace("CREATE TABLE ", f'CREATE TABLE "{self._schema}".'))

    def _commit(self) -> None:
        assert self._connection is not None
        self._warned = False
        if self._connection.execute("COMMIT").statusmessage != "COMMIT":
            raise trouble.from_postgres(None, self.place)
        if self._warned:
            raise Misconfigured(
                "The server wrote to its own disk, and did not hear from its standby that it has done so too.",
                where=self.place,
                cure="Mend the standby, or take it out of synchronous_standby_names. " + trouble.AGAIN,
            )

    def _run(self, statement: str, values: tuple[Any, ...] = ()) -> Any:
        assert self._connection is not None
        if not values:
            return self._connection.execute(statement.encode())
        return self._connection.execute(statement.replace("?", "%s").encode(), [_storable(value) for value in values])

    def _drop(self) -> None:
        connection, self._connection = self._connection, None
        if connection is not None:
            connection.close()


def _storable(value: Any) -> Any:
    """A text that no column holds, with NUL or half a surrogate pair, becomes NULL: it equals none, nor is it kept."""
    if isinstance(value, str) and ("\0" in value or any("\ud800" <= letter <= "\udfff" for letter in value)):
        return None
    return value


def _client() -> Any:
    import psycopg

    return psycopg
