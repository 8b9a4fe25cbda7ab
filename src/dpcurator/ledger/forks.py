"""Nothing open crosses a fork.

A SQLite connection carried into a child takes the library's process-wide table of file locks along: the child would
believe it holds locks that are its parent's. So before a fork every live store takes its own lock (no transaction is
under way) and closes its connection; parent and child then release and reopen when next used. A fork made behind
Python's back runs no such hooks: stores also compare the process id, and refuse.
Checked in tests/ledger/test_fire.py (forks charging at once) and test_sqlite.py.
"""

from __future__ import annotations

import os
import threading
from typing import Protocol
from weakref import WeakSet


class Guarded(Protocol):
    def before_fork(self) -> None:
        """Take the lock, close what is open. Must not raise."""

    def after_fork(self) -> None:
        """Release the lock; called in parent and child by the thread that forked."""


_live: WeakSet[Guarded] = WeakSet()
_live_lock = threading.Lock()
_held: list[Guarded] = []


def watch(store: Guarded) -> None:
    """From now on `store` is told of forks, as long as it lives."""
    with _live_lock:
        _live.add(store)


def _before() -> None:
    _live_lock.acquire()
    _held[:] = sorted(_live, key=id)
    for store in _held:
        store.before_fork()


def _after() -> None:
    for store in reversed(_held):
        store.after_fork()
    _held.clear()
    _live_lock.release()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_before, after_in_parent=_after, after_in_child=_after)
