"""The curator that a server asks: opened once, and again where a refresh has put new data in force or the catalog was
edited, or the key was changed. Whether that is so is read from the times and sizes of their files. Checked in
tests/server.
"""

from __future__ import annotations

import os
import threading
from pathlib import Path

from dpcurator.catalog.load import load
from dpcurator.curator.curator import Curator
from dpcurator.curator.opening import KEY, curator_of, key_of, ledger_of
from dpcurator.ledger import Ledger
from dpcurator.ledger.key_chain import Link
from dpcurator.ledger.keys import SigningKey

Stamp = tuple[int, int, int]
Stamps = tuple[Stamp | None, ...]


class Standing:
    """catalog: a path to curator.toml. tick: of its curator. state: the folder of what it keeps. Safe to share among
    threads."""

    def __init__(self, catalog: Path, tick: float = 0.0) -> None:
        self.place, self.tick = catalog, tick
        self._lock = threading.Lock()
        self._curator: tuple[Stamps, Curator] | None = None
        self._ledger: tuple[Stamps, SigningKey, Ledger, tuple[Link, ...]] | None = None
        self.state = load(catalog).state

    def curator(self) -> Curator:
        """Over the snapshot in force. Raises Misconfigured where there is none."""
        with self._lock:
            now = (*self._stamps(), _stamp(self.state / "facts.json"))
            if self._curator is None or self._curator[0] != now:
                opened = curator_of(load(self.place))
                opened.tick = self.tick
                self._curator = now, opened
            return self._curator[1]

    def ledger(self) -> Ledger:
        """Where accounts and answers are; it needs no snapshot."""
        return self._opened()[1]

    def chain(self) -> tuple[Link, ...]:
        """How the key followed earlier ones."""
        return self._opened()[2]

    def key(self) -> SigningKey:
        """What replies are signed with, as receipts are."""
        return self._opened()[0]

    def _opened(self) -> tuple[SigningKey, Ledger, tuple[Link, ...]]:
        with self._lock:
            now = self._stamps()
            if self._ledger is None or self._ledger[0] != now:
                declaration = load(self.place)
                key = key_of(declaration)
                ledger = ledger_of(declaration, key)
                self._ledger = now, key, ledger, ledger.key_chain()
            return self._ledger[1:]

    def _stamps(self) -> Stamps:
        return _stamp(self.place), _stamp(self.state / KEY)


def _stamp(path: Path) -> Stamp | None:
    try:
        found = os.stat(path)
    except OSError:
        return None
    return found.st_mtime_ns, found.st_size, found.st_ino
