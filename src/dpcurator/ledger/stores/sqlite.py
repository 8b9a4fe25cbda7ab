"""A ledger in one SQLite file: the default store. One transaction and one fsync a charge.

Why it cannot overspend: BEGIN IMMEDIATE lets one writer in, among all threads and processes; WAL with synchronous=FULL
returns from COMMIT only when the event is on disk; kill -9 leaves either the whole event or none. One connection per
process, under a lock, closed across forks (forks.py).

What SQLite does not watch, we do before every transaction: the file was not removed, replaced, emptied or given a
second name (two names would have two journals), and its journal is still there. A new file is built aside and renamed
into place with its tables, so an empty file is never a young ledger: it is a truncated one.
Checked in tests/ledger/: test_stores (conformance), test_sqlite, test_fire, test_kill, test_broken_stores.
"""

from __future__ import annotations

import os
import sqlite3
import stat
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from urllib.parse import quote

from dpcurator.errors import Misconfigured
from dpcurator.ledger import forks, trouble
from dpcurator.ledger.canonical import text_bytes
from dpcurator.ledger.events import GENESIS, Row
from dpcurator.ledger.stores import Kept
from dpcurator.ledger.stores.memory import MemoryPage

APPLICATION = 0x64706375  # "dpcu": marks the file as a ledger
VERSION = 2  # events in two currencies
SCHEMA = f"""
PRAGMA application_id = {APPLICATION};
PRAGMA user_version = {VERSION};
CREATE TABLE events (position INTEGER PRIMARY KEY, name TEXT NOT NULL, body TEXT NOT NULL, hash TEXT NOT NULL);
CREATE INDEX events_by_name ON events (name, position);
CREATE TABLE requests (request TEXT PRIMARY KEY, position INTEGER NOT NULL) WITHOUT ROWID;
CREATE TABLE answers (position INTEGER PRIMARY KEY, request TEXT NOT NULL UNIQUE, question TEXT NOT NULL,
                      hash TEXT NOT NULL, text BLOB NOT NULL);
CREATE INDEX answers_by_question ON answers (question, position);
CREATE INDEX answers_by_hash ON answers (hash);
PRAGMA journal_mode = WAL;
""" + "".join(
    f"CREATE TRIGGER {table}_{verb} BEFORE {verb} ON {table} BEGIN SELECT RAISE(ABORT, 'append-only'); END;\n"
    for table in ("events", "requests", "answers")
    for verb in ("UPDATE", "DELETE")
)
_ROW = (
    "SELECT e.position, e.name, e.body, e.hash, "
    f"CASE e.position WHEN 1 THEN '{GENESIS}' ELSE coalesce(p.hash, '') END "
    "FROM events e LEFT JOIN events p ON p.position = e.position - 1 "
)
_KEPT = "SELECT request, question, position, hash, text FROM answers "
_SETTINGS = (
    "synchronous = FULL",
    "fullfsync = ON",
    "checkpoint_fullfsync = ON",
    "trusted_schema = OFF",
    "wal_autocheckpoint = 4000",  # pages: the journal is taken in every thousand charges or so, at 16 MB
)
_END = "\U0010ffff"
_abandoned: list[sqlite3.Connection | None] = []  # never closed: that removes the journal by name, now another file's


class SqlitePage:
    """The statements; each is one index lookup or one insert, but for `rows`, `matching` and `counts`."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._run = connection.execute

    def head(self) -> Row | None:
        return self._row("WHERE e.position = (SELECT max(position) FROM events)")

    def row(self, position: int) -> Row | None:
        return self._row("WHERE e.position = ?", position)

    def last(self, *names: str) -> Row | None:
        each = " UNION ALL ".join(["SELECT max(position) AS position FROM events WHERE name = ?"] * len(names))
        return self._row(f"WHERE e.position = (SELECT max(position) FROM ({each}))", *names)

    def rows(self, after: int, limit: int) -> list[Row]:
        return [Row(*row) for row in self._run(_ROW + "WHERE e.position > ? ORDER BY 1 LIMIT ?", (after, limit))]

    def charged(self, request: str) -> int | None:
        found = self._run("SELECT position FROM requests WHERE request = ?", (request,)).fetchone()
        return found[0] if found else None

    def answer(self, request: str) -> Kept | None:
        return self._kept("WHERE request = ?", request)

    def answered(self, question: str) -> Kept | None:
        return self._kept("WHERE question = ? ORDER BY position LIMIT 1", question)

    def matching(self, prefix: str) -> list[str]:
        between = (prefix, prefix + _END) * 2
        return [
            request
            for (request,) in self._run(
                "SELECT request FROM requests WHERE request >= ? AND request < ? "
                "UNION SELECT request FROM answers WHERE hash >= ? AND hash < ? ORDER BY 1",
                between,
            )
        ]

    def counts(self) -> tuple[int, int]:
        found: tuple[int, int] = self._run(
            "SELECT (SELECT count(*) FROM requests), (SELECT count(*) FROM answers)"
        ).fetchone()
        return found

    def append(self, row: Row) -> None:
        self._run("INSERT INTO events VALUES (?, ?, ?, ?)", (row.position, row.name, row.body, row.hash))

    def enter(self, request: str, position: int) -> None:
        self._run("INSERT INTO requests VALUES (?, ?)", (request, position))

    def keep(self, kept: Kept) -> None:
        self._run(
            "INSERT INTO answers (request, question, position, hash, text) VALUES (?, ?, ?, ?, ?)",
            (kept.request, kept.question, kept.position, kept.hash, text_bytes(kept.text)),
        )

    def _row(self, where: str, *values: object) -> Row | None:
        found = self._run(_ROW + where, values).fetchone()
        return Row(*found) if found else None

    def _kept(self, where: str, *values: object) -> Kept | None:
        found = self._run(_KEPT + where, values).fetchone()
        if found is None:
            return None
        request, question, position, hash_, text = found
        return Kept(request, question, position, hash_, _text(text))


def _text(blob: object) -> str:
    """The stored text; for damaged bytes something else, whose hash then does not match."""
    if not isinstance(blob, bytes):
        return ""
    try:
        return blob.decode("utf-8", "surrogatepass")
    except UnicodeDecodeError:
        return blob.decode("utf-8", "replace")


class SqliteStore:
    """path: the ledger's file; links are followed once, here. patience: seconds to wait for another process."""

    def __init__(self, path: str | os.PathLike[str], *, patience: float = 10.0) -> None:
        self._place = os.path.realpath(path)
        self._patience = patience
        self._lock = threading.RLock()
        self._connection: sqlite3.Connection | None = None
        self._identity: tuple[int, int] | None = None  # (device, inode) of the file once seen
        self._pid = os.getpid()
        forks.watch(self)

    @property
    def place(self) -> str:
        return self._place

    @contextmanager
    def reading(self) -> Iterator[SqlitePage | MemoryPage]:
        with self._lock:
            if self._present():
                with self._transaction("BEGIN") as page:
                    yield page
            else:
                yield MemoryPage()

    @contextmanager
    def writing(self) -> Iterator[SqlitePage]:
        with self._lock:
            if not self._present():
                self._create()
                self._present()
            with self._transaction("BEGIN IMMEDIATE") as page:
                yield page

    def close(self) -> None:
        with self._lock:
            self._drop()

    def before_fork(self) -> None:
        self._lock.acquire()
        self._drop()

    def after_fork(self) -> None:
        self._pid = os.getpid()
        self._lock.release()

    def __del__(self) -> None:
        if getattr(self, "_connection", None) is not None and self._pid == os.getpid():
            self._drop()

    @contextmanager
    def _transaction(self, begin: str) -> Iterator[SqlitePage]:
        connection = self._begun(begin)
        try:
            yield SqlitePage(connection)
            connection.execute("COMMIT")
        except sqlite3.Error as error:
            self._drop()
            raise trouble.from_sqlite(error, self._place) from None
        except BaseException:
            with suppress(sqlite3.Error):
                if connection.in_transaction:
                    connection.execute("ROLLBACK")
            if connection.in_transaction:
                self._drop()
            raise

    def _begun(self, begin: str) -> sqlite3.Connection:
        """A connection inside a transaction. SQLite answers some races of opening and closing with BUSY at once,
        without waiting, so we wait as well."""
        deadline = time.monotonic() + self._patience
        while True:
            try:
                connection = self._connected()
                connection.execute(begin)
                if begin == "BEGIN":
                    connection.execute("SELECT max(position) FROM events").fetchone()  # fixes the view
                break
            except sqlite3.Error as error:
                self._drop()
                if not trouble.is_busy(error) or time.monotonic() >= deadline:
                    raise trouble.from_sqlite(error, self._place) from None
                time.sleep(0.005)
        if not os.path.exists(self._place + "-wal"):
            self._drop()
            raise Misconfigured(
                "The ledger's journal (the file ending in -wal) was removed while in use.",
                where=self._place,
                cure="Leave that file alone. " + trouble.RESTORE,
            )
        return connection

    def _connected(self) -> sqlite3.Connection:
        if self._connection is None:
            connection = sqlite3.connect(
                f"file:{quote(self._place)}?mode=rw",
                uri=True,
                timeout=self._patience,
                isolation_level=None,
                check_same_thread=False,
            )
            self._connection = connection
            if connection.execute("PRAGMA application_id").fetchone()[0] != APPLICATION:
                self._drop()
                raise Misconfigured(
                    "This file is not a ledger.",
                    where=self._place,
                    cure="Correct the ledger's path in the catalog. " + trouble.RESTORE,
                )
            if connection.execute("PRAGMA user_version").fetchone()[0] != VERSION:
                self._drop()
                raise Misconfigured(
                    "This ledger was written by another version of dpcurator.",
                    where=self._place,
                    cure="Use the version that wrote it, or a newer one.",
                )
            for setting in _SETTINGS:
                connection.execute(f"PRAGMA {setting}")
        return self._connection

    def _drop(self) -> None:
        """Close; the last connection to close writes the journal back into the file."""
        connection, self._connection = self._connection, None
        if connection is not None:
            with suppress(sqlite3.Error):
                connection.close()

    def _present(self) -> bool:
        """Whether the file is there and is the one used so far. Raises Misconfigured when something is off."""
        if self._pid != os.getpid():
            raise Misconfigured(
                "This process was forked in a way Python did not see, with the ledger open.",
                where=self._place,
                cure="Start a new process for it, or fork through Python's os.fork or multiprocessing.",
            )
        found = self._found()
        if found is None and self._identity is None:
            if not os.path.exists(self._place + "-wal"):
                return False
            found = self._found()  # a journal comes after its file: another process may have made both just now
        if found is None:
            raise self._odd("has disappeared")
        if not stat.S_ISREG(found.st_mode):
            raise Misconfigured("This is not a file.", where=self._place, cure="Correct the ledger's path.")
        if found.st_size == 0:
            raise self._odd("is empty, so it was truncated")
        if found.st_nlink > 1:
            raise Misconfigured(
                "The ledger file has more than one name (hard links), and each name would have its own journal.",
                where=self._place,
                cure="Remove the other names; copy a ledger with a plain copy while no curator is running.",
            )
        if self._identity not in (None, (found.st_dev, found.st_ino)):
            _abandoned.append(self._connection)
            self._connection = None
            raise self._odd("was replaced by another file while in use")
        self._identity = (found.st_dev, found.st_ino)
        return True

    def _found(self) -> os.stat_result | None:
        try:
            return os.stat(self._place)
        except FileNotFoundError:
            return None
        except OSError as error:
            failed = error
        raise trouble.from_system(failed, self._place)

    def _odd(self, what: str) -> Misconfigured:
        return Misconfigured(f"The ledger file {what}.", where=self._place, cure=trouble.RESTORE)

    def _create(self) -> None:
        """Build the file aside, readable by this account alone, and rename it into place if there is none yet."""
        aside = self._place + ".new"
        try:
            with _directory_locked(os.path.dirname(self._place)) as directory:
                if os.path.exists(self._place):
                    return
                for leftover in (aside, aside + "-wal", aside + "-shm", aside + "-journal"):
                    with suppress(FileNotFoundError):
                        os.unlink(leftover)
                os.close(os.open(aside, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
                connection = sqlite3.connect(aside, isolation_level=None)
                try:
                    connection.executescript(SCHEMA)
                    mode = connection.execute("PRAGMA journal_mode").fetchone()[0]
                finally:
                    connection.close()
                if mode != "wal":
                    raise Misconfigured(
                        "This file system cannot hold a ledger (no shared memory, as on many network drives).",
                        where=self._place,
                        cure="Keep the ledger on a local disk.",
                    )
                os.rename(aside, self._place)
                if directory is not None:
                    os.fsync(directory)
        except sqlite3.Error as error:
            raise trouble.from_sqlite(error, self._place) from None
        except OSError as error:
            raise trouble.from_system(error, self._place) from None


@contextmanager
def _directory_locked(path: str) -> Iterator[int | None]:
    """One creator at a time. Yields the open directory, or None where directories cannot be opened (Windows)."""
    try:
        import fcntl
    except ImportError:
        yield None
        return
    directory = os.open(path, os.O_RDONLY)
    try:
        fcntl.flock(directory, fcntl.LOCK_EX)
        yield directory
    finally:
        os.close(directory)
