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
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from urllib.parse import quote

from dpcurator.errors import Misconfigured
from dpcurator.ledger import trouble
from dpcurator.ledger.forks import Guarded
from dpcurator.ledger.sql_page import SqlPage
from dpcurator.ledger.sqlite_file import READINGS, WatchedFile, create, require_ledger
from dpcurator.ledger.stores.memory import MemoryPage

_SETTINGS = (
    "synchronous = FULL",
    "fullfsync = ON",
    "checkpoint_fullfsync = ON",
    "trusted_schema = OFF",
    "wal_autocheckpoint = 4000",  # pages: by a commit itself, should `_take_in` not have come to it
)
_READERS = 0.25  # seconds to wait for those who still read an older state
_abandoned: list[sqlite3.Connection | None] = []  # never closed: that removes the journal by name, now another file's


class SqlitePage(SqlPage):
    """The statements on this file; it has an index of readings where one was noted."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        super().__init__(connection.execute)

    def index(self, reading: str, request: str) -> None:
        self._run(READINGS)
        super().index(reading, request)

    def holding(self, reading: str, limit: int) -> list[str]:
        return super().holding(reading, limit) if self._indexed() else []

    def noted(self) -> list[tuple[str, str]]:
        return super().noted() if self._indexed() else []

    def _indexed(self) -> bool:
        found = self._run("SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = 'readings'")
        return found.fetchone() is not None


class SqliteStore(Guarded):
    """path: the ledger's file; links are followed once, here. patience: seconds to wait for another process."""

    def __init__(self, path: str | os.PathLike[str], *, patience: float = 10.0) -> None:
        self._place = os.path.realpath(path)
        self._file = WatchedFile(self._place)
        self._patience = patience
        self._connection: sqlite3.Connection | None = None
        super().__init__()

    @property
    def place(self) -> str:
        return self._place

    def server(self) -> str:
        return ""

    def exists(self) -> bool:
        with self._lock:
            return self._present()

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
        self._same_process(self._place)
        return self._file.present(abandon=self._abandon)
