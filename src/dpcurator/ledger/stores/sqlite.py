"""A ledger in one SQLite file: the default store. One transaction a charge, and the file itself holds it afterwards.

Why it cannot overspend: BEGIN IMMEDIATE lets one writer in, among all threads and processes; WAL with synchronous=FULL
returns from COMMIT only when the event is on disk; kill -9 leaves either the whole event or none. One connection per
process, under a lock, closed across forks (forks.py).

What a copy of the file alone has: every charge that was returned, since each is taken over from the journal first
(`_take_in`), but for those made while that could not be done: while another program read an older state for longer than
`_READERS`, or the disk refused it. These wait for the next event, or for `close`. A charge that a crash leaves in the
journal alone was never returned, so nothing was drawn for it.

What SQLite does not watch is watched before every transaction by `ledger/sqlite_file.py`, which also makes a new file.
Checked in tests/ledger/: test_stores (conformance), test_sqlite, test_fire, test_kill, test_broken_stores.
"""

from __future__ import annotations

import os
import sqlite3
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from urllib.parse import quote

from dpcurator.errors import Misconfigured
from dpcurator.ledger import forks, trouble
from dpcurator.ledger.canonical import text_bytes
from dpcurator.ledger.events import GENESIS, Row
from dpcurator.ledger.sqlite_file import READINGS, WatchedFile, create, require_ledger
from dpcurator.ledger.store import Kept
from dpcurator.ledger.stores.memory import MemoryPage

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
    "wal_autocheckpoint = 4000",  # pages: by a commit itself, should `_take_in` not have come to it
)
_READERS = 0.25  # seconds to wait for those who still read an older state
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

    def index(self, reading: str, request: str) -> None:
        self._run(READINGS)
        self._run("INSERT OR IGNORE INTO readings (reading, request) VALUES (?, ?)", (reading, request))

    def holding(self, reading: str, limit: int) -> list[str]:
        if not self._run("SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = 'readings'").fetchone():
            return []
        found = self._run(
            "SELECT request FROM readings WHERE reading = ? ORDER BY number DESC LIMIT ?", (reading, limit)
        )
        return [request for (request,) in found]

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
        self._file = WatchedFile(self._place)
        self._patience = patience
        self._lock = threading.RLock()
        self._connection: sqlite3.Connection | None = None
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
                create(self._place)
                self._present()
            with self._transaction("BEGIN IMMEDIATE") as page:
                yield page
            self._take_in()

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
        try:
            self._file.has_its_journal()
        except Misconfigured:
            self._drop()
            raise
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
            try:
                require_ledger(connection, self._place)
            except Misconfigured:
                self._drop()
                raise
            for setting in _SETTINGS:
                connection.execute(f"PRAGMA {setting}")
            self._take_in()  # what a process left that was killed
        return self._connection

    def _take_in(self) -> None:
        """Writes what the journal holds into the file, and waits for the disk; never for a writer. What cannot be
        taken in stays in the journal, where it is as durable, and the next event tries again."""
        deadline = time.monotonic() + _READERS
        with suppress(sqlite3.Error):
            while self._connection is not None:
                busy, pages, taken = self._connection.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchone()
                if (not busy and taken == pages) or time.monotonic() >= deadline:
                    return
                time.sleep(0.002)

    def _drop(self) -> None:
        """Close; the last connection to close writes the journal back into the file."""
        connection, self._connection = self._connection, None
        if connection is not None:
            with suppress(sqlite3.Error):
                connection.close()

    def _abandon(self) -> None:
        _abandoned.append(self._connection)
        self._connection = None

    def _present(self) -> bool:
        """Whether the file is there and is the one used so far. Raises Misconfigured when something is off."""
        if self._pid != os.getpid():
            raise Misconfigured(
                "This process was forked in a way Python did not see, with the ledger open.",
                where=self._place,
                cure="Start a new process for it, or fork through Python's os.fork or multiprocessing.",
            )
        return self._file.present(abandon=self._abandon)
