"""Sessions of browsers: who signed in with which token, until when.

A session is named by 256 random bits, which are in a cookie alone: the file beside the ledger holds their sha256. It is
of one account with one token: when that token is revoked or replaced, the next request finds no session. It ends at
`LONGEST`, after `IDLE` without a request, and when its owner signs out. All workers share the file.
Checked in tests/server/test_sessions.py.
"""

from __future__ import annotations

import base64
import hmac
import os
import sqlite3
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Final

from dpcurator.errors import Misconfigured
from dpcurator.ledger import Ledger
from dpcurator.ledger.accounts import Account

LONGEST: Final = 12 * 3600  # seconds
IDLE: Final = 2 * 3600  # seconds
MOST: Final = 16  # of one account: one more ends the oldest
_NOTED: Final = 60  # seconds after which a request is noted again
_TABLE: Final = (
    "CREATE TABLE IF NOT EXISTS session (name TEXT PRIMARY KEY, analyst TEXT NOT NULL, token TEXT NOT NULL, "
    "began REAL NOT NULL, seen REAL NOT NULL) STRICT"
)


@dataclass
class Sessions:
    """place: the file, made when the first session begins. now: seconds since 1970."""

    place: Path
    now: Callable[[], float] = time.time

    def begin(self, account: Account) -> str:
        """A new session of an account; what its cookie holds. Raises Misconfigured where none can be kept."""
        name, now = random_name(), self.now()
        with self._file(make=True) as file:
            file.execute("DELETE FROM session WHERE began <= ? OR seen <= ?", (now - LONGEST, now - IDLE))
            file.execute(
                "DELETE FROM session WHERE analyst = ? AND name NOT IN "
                "(SELECT name FROM session WHERE analyst = ? ORDER BY began DESC LIMIT ?)",
                (account.analyst, account.analyst, MOST - 1),
            )
            file.execute("INSERT INTO session VALUES (?, ?, ?, ?, ?)",
                         (_hash(name), account.analyst, account.token, now, now))
        return name

    def account(self, name: str, ledger: Ledger) -> Account | None:
        """Whose session it is, as the account is now; None where it has ended, or its token signs in no more."""
        if not self.place.exists():
            return None
        now = self.now()
        with self._file() as file:
            found = file.execute("SELECT analyst, token, began, seen FROM session WHERE name = ?",
                                 (_hash(name),)).fetchone()
            if found is None or not now - LONGEST < found[2] or not now - IDLE < found[3]:
                return None
            if now - found[3] > _NOTED:
                file.execute("UPDATE session SET seen = ? WHERE name = ?", (now, _hash(name)))
        account = ledger.account(found[0])
        same = account is not None and account.active and hmac.compare_digest(account.token, found[1])
        return account if same else None

    def end(self, name: str) -> None:
        """It signs in no more."""
        if self.place.exists():
            with self._file() as file:
                file.execute("DELETE FROM session WHERE name = ?", (_hash(name),))

    @contextmanager
    def _file(self, *, make: bool = False) -> Iterator[sqlite3.Connection]:
        try:
            if make:
                os.close(os.open(self.place, os.O_CREAT | os.O_RDWR, 0o600))  # nobody else's to read, from the start
            with closing(sqlite3.connect(self.place, timeout=10)) as file, file:
                file.execute(_TABLE)
                yield file
        except (OSError, sqlite3.Error):
            raise Misconfigured("sessions cannot be kept.", where=str(self.place),
                                cure="Let the server write there, or take the file away: all sign in again.") from None


def random_name() -> str:
    """256 bits of the operating system's randomness, as a cookie holds them."""
    return base64.urlsafe_b64encode(os.urandom(32)).decode().rstrip("=")


def _hash(name: str) -> str:
    return sha256(name.encode()).hexdigest()
