"""The store's failures in words: what, where, and what to do. All are the steward's to mend (exit 4).

A failure at the moment of committing leaves open whether the event reached the disk, so the cure is the same
everywhere: ask again. If the charge was written the request resumes it; if not, it is charged then.
Checked in tests/ledger/test_broken_stores.py.
"""

from __future__ import annotations

import errno
import sqlite3

from dpcurator.errors import Misconfigured

RESTORE = "Restore the ledger from its latest copy, and run `dpcurator verify` with a receipt issued since."
AGAIN = "Then ask again: a charge already written is resumed, never paid twice."

_PERMISSION = "Give this account permission to read and write the file and its directory. " + AGAIN
_LOCKED = ("The ledger is locked by another process.", "Wait until it has finished, or end it. " + AGAIN)
_READ_ONLY = ("The ledger cannot be written.", _PERMISSION)
_CLOSED_TO_US = ("The ledger, or the journal beside it, cannot be opened.", _PERMISSION)
_DAMAGED = ("The ledger file is damaged.", RESTORE)
_NOT_WHOLE = ("The ledger is damaged: a table or a column of it is missing, or the server cannot read it.", RESTORE)
_SQLITE: dict[int, tuple[str, str]] = {
    sqlite3.SQLITE_BUSY: _LOCKED,
    sqlite3.SQLITE_LOCKED: _LOCKED,
    sqlite3.SQLITE_READONLY: _READ_ONLY,
    sqlite3.SQLITE_PERM: _CLOSED_TO_US,
    sqlite3.SQLITE_CANTOPEN: _CLOSED_TO_US,
    sqlite3.SQLITE_FULL: ("There is no room left to write the ledger.", "Free some disk space. " + AGAIN),
    sqlite3.SQLITE_IOERR: ("The disk did not read or write the ledger.", "Check it and its free space. " + AGAIN),
    sqlite3.SQLITE_CORRUPT: _DAMAGED,
    sqlite3.SQLITE_NOTADB: ("This file is not a ledger.", "Correct the ledger's path in the catalog. " + RESTORE),
    sqlite3.SQLITE_ERROR: _DAMAGED,  # a table or column is not there
    sqlite3.SQLITE_CONSTRAINT: _DAMAGED,
    sqlite3.SQLITE_MISMATCH: _DAMAGED,
    0: _DAMAGED,  # the library's own: text that is not text
}
_SYSTEM: dict[int, tuple[str, str]] = {
    errno.EACCES: _SQLITE[sqlite3.SQLITE_CANTOPEN],
    errno.EPERM: _SQLITE[sqlite3.SQLITE_CANTOPEN],
    errno.EROFS: _SQLITE[sqlite3.SQLITE_READONLY],
    errno.ENOENT: ("The ledger's directory does not exist.", "Create it, or correct the ledger's path. " + AGAIN),
    errno.ENOTDIR: ("The ledger's directory does not exist.", "Create it, or correct the ledger's path. " + AGAIN),
    errno.ENOSPC: _SQLITE[sqlite3.SQLITE_FULL],
    errno.EDQUOT: _SQLITE[sqlite3.SQLITE_FULL],
    errno.EFBIG: _SQLITE[sqlite3.SQLITE_FULL],
}
_LOST = ("The connection to the ledger's server was lost.", "See that the server is there. " + AGAIN)
_STANDBY = ("The server is a standby, which may be behind, or takes no writes.", "Name the primary. " + AGAIN)
_NOT_ALLOWED = (
    "The role may not use the ledger, or make it.",
    "Let the database's owner run: CREATE SCHEMA dpcurator AUTHORIZATION role; with the catalog's schema and the "
    "role's name. For a ledger that is there: GRANT USAGE ON SCHEMA dpcurator TO role; GRANT SELECT, INSERT ON ALL "
    "TABLES IN SCHEMA dpcurator TO role; " + AGAIN,
)
_POSTGRES: dict[str, tuple[str, str]] = {  # by SQLSTATE, or its first two characters
    "08": _LOST,
    "57P": _LOST,
    "25P03": _LOST,  # this transaction stood still for too long
    "55P03": _LOCKED,
    "40": _LOCKED,  # two transactions in each other's way
    "57014": ("The server was told to cancel this.", AGAIN),
    "0A000": _STANDBY,
    "25006": _STANDBY,
    "42501": _NOT_ALLOWED,
    "53100": ("There is no room left to write the ledger.", "Free some disk space at the server. " + AGAIN),
    "53": ("The server has no room for this.", "Free some of it, or allow it more. " + AGAIN),
    "23": ("The ledger is damaged, or something else wrote to it at this moment.", AGAIN + " " + RESTORE),
    "42": _NOT_WHOLE,
    "XX": _NOT_WHOLE,
}
_OTHER = ("The ledger cannot be used.", "Check the file, its directory and the disk. " + AGAIN)
_UNKNOWN = ("The server did not do what the ledger asked of it.", "Look into the server's log. " + AGAIN)


def is_busy(error: sqlite3.Error) -> bool:
    return _code(error) in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED)


def from_sqlite(error: sqlite3.Error, place: str) -> Misconfigured:
    what, cure = _SQLITE.get(_code(error), _OTHER)
    return Misconfigured(what, where=place, cure=cure)


def from_system(error: OSError, place: str) -> Misconfigured:
    what, cure = _SYSTEM.get(error.errno or 0, _OTHER)
    return Misconfigured(what, where=place, cure=cure)


def from_postgres(error: Exception | None, place: str) -> Misconfigured:
    """error: of psycopg; its words are the server's and are not repeated."""
    state = getattr(error, "sqlstate", None) or ("08" if error is not None else "")
    found = next((_POSTGRES[state[:length]] for length in (5, 3, 2) if state[:length] in _POSTGRES), _UNKNOWN)
    return Misconfigured(found[0], where=place, cure=found[1])


def standby(place: str) -> Misconfigured:
    return Misconfigured(_STANDBY[0], where=place, cure=_STANDBY[1])


def not_allowed(place: str) -> Misconfigured:
    return Misconfigured(_NOT_ALLOWED[0], where=place, cure=_NOT_ALLOWED[1])


def damaged(place: str, detail: str) -> Misconfigured:
    """`detail` names a position and what is wrong with it, never what it holds."""
    return Misconfigured(f"The ledger is damaged: {detail}.", where=place, cure=RESTORE)


def _code(error: sqlite3.Error) -> int:
    code: int = getattr(error, "sqlite_errorcode", 0) or 0
    return code & 0xFF  # the primary code of an extended one
