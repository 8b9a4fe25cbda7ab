"""The file under a SQLite ledger: how it is made, and what SQLite does not watch.

A new file is built aside, readable by this account alone, and renamed into place with its tables, so an empty file is
never a young ledger: it is a truncated one. Before every transaction: the file was not removed, replaced, emptied or
given a second name (two names would have two journals), and its journal is still there.
Checked in tests/ledger/: test_broken_stores, test_sqlite, test_fire (who makes the file).
"""

from __future__ import annotations

import os
import sqlite3
import stat
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

from dpcurator.errors import Misconfigured
from dpcurator.ledger import trouble

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
# An index of readings and accounts, made where the first is noted: older ledgers have none. What it points to is
# checked against the chain. A reading it has lost is paid again; an account it has lost signs in no more, and that it
# lost the last event of one, `verify` tells.
READINGS = (
    "CREATE TABLE IF NOT EXISTS readings "
    "(number INTEGER PRIMARY KEY, reading TEXT NOT NULL, request TEXT NOT NULL, UNIQUE (reading, request))"
)


def require_ledger(connection: sqlite3.Connection, place: str) -> None:
    """Raises Misconfigured unless the open file is marked as a ledger of this version."""
    if connection.execute("PRAGMA application_id").fetchone()[0] != APPLICATION:
        raise Misconfigured(
            "This file is not a ledger.",
            where=place,
            cure="Correct the ledger's path in the catalog. " + trouble.RESTORE,
        )
    if connection.execute("PRAGMA user_version").fetchone()[0] != VERSION:
        raise Misconfigured(
            "This ledger was written by another version of dpcurator.",
            where=place,
            cure="Use the version that wrote it, or a newer one.",
        )


class WatchedFile:
    """The ledger's file at one place, remembered by its inode once seen. place: an absolute path without links."""

    def __init__(self, place: str) -> None:
        self.place = place
        self._identity: tuple[int, int] | None = None  # (device, inode)

    def present(self, *, abandon: Callable[[], None]) -> bool:
        """Whether the file is there; that it is the one used so far. Raises Misconfigured when something is off.

        abandon: called when another file has taken its place, before anything closes a connection to the old one.
        """
        found = self._found()
        if found is None and self._identity is None:
            if not os.path.exists(self.place + "-wal"):
                return False
            found = self._found()  # a journal comes after its file: another process may have made both just now
        if found is None:
            raise self._odd("has disappeared")
        if not stat.S_ISREG(found.st_mode):
            raise Misconfigured("This is not a file.", where=self.place, cure="Correct the ledger's path.")
        if found.st_size == 0:
            raise self._odd("is empty, so it was truncated")
        if found.st_nlink > 1:
            raise Misconfigured(
                "The ledger file has more than one name (hard links), and each name would have its own journal.",
                where=self.place,
                cure="Remove the other names; copy a ledger with a plain copy while no curator is running.",
            )
        if self._identity not in (None, (found.st_dev, found.st_ino)):
            abandon()
            raise self._odd("was replaced by another file while in use")
        self._identity = (found.st_dev, found.st_ino)
        return True

    def _found(self) -> os.stat_result | None:
        try:
            return os.stat(self.place)
        except FileNotFoundError:
            return None
        except OSError as error:
            failed = error
        raise trouble.from_system(failed, self.place)

    def has_its_journal(self) -> None:
        """Raises Misconfigured when the journal of an open ledger is gone."""
        if not os.path.exists(self.place + "-wal"):
            raise Misconfigured(
                "The ledger's journal (the file ending in -wal) was removed while in use.",
                where=self.place,
                cure="Leave that file alone. " + trouble.RESTORE,
            )

    def _odd(self, what: str) -> Misconfigured:
        return Misconfigured(f"The ledger file {what}.", where=self.place, cure=trouble.RESTORE)


def create(place: str) -> None:
    """Build the file aside, readable by this account alone, and rename it into place if there is none yet."""
    aside = place + ".new"
    try:
        with _directory_locked(os.path.dirname(place)) as directory:
            if os.path.exists(place):
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
                    where=place,
                    cure="Keep the ledger on a local disk.",
                )
            os.rename(aside, place)
            if directory is not None:
                os.fsync(directory)
    except sqlite3.Error as error:
        raise trouble.from_sqlite(error, place) from None
    except OSError as error:
        raise trouble.from_system(error, place) from None


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
