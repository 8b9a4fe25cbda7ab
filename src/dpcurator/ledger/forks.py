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
from weakref import WeakSet

from dpcurator.errors import Misconfigured


class Guarded:
    """A store with one connection a process, under a lock. A kind of it says what it holds open, and closes it."""

    _connection: object = None

    def __init__(self) -> None:
        self._lock = threading.RLock()
        self._pid = os.getpid()
        with _live_lock:
            _live.add(self)

    def _drop(self) -> None:
        """Close what is open; the next use opens it again. Must not raise."""
        raise NotImplementedError

    def close(self) -> None:
        with self._lock:
            self._drop()

    def before_fork(self) -> None:
        self._lock.acquire()
        self._drop()

    def after_fork(self) -> None:
        """Called in parent and child by the thread that forked."""
        self._pid = os.getpid()
        self._lock.release()

    def __del__(self) -> None:
        if self._connection is not None and self._pid == os.getpid():
            self._drop()

    def _same_process(self, place: str) -> None:
        """Raises Misconfigured after a fork that ran no hooks."""
        if self._pid != os.getpid():
            raise Misconfigured(
                "This process was forked in a way Python did not see, with the ledger open.",
                where=place,
                cure="Start a new process for it, or fork through Python's os.fork or multiprocessing.",
            )


_live: WeakSet[Guarded] = WeakSet()
_live_lock = threading.Lock()
_held: list[Guarded] = []


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
