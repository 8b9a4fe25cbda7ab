"""DuckDB over lists with few connections: opening one takes ten times as long as all that a small test asks of it.

A connection is taken from those that no living engine uses, or opened and locked as the product does; the tables are
written by the product's own code into a database in memory that is dropped with the engine. What opens and locks a
connection by itself is tried by the tests of the engine over snapshots, which share none.
"""

from __future__ import annotations

import ctypes
import os
import weakref
from typing import Any

from dpcurator.engines.duckdb import engine
from dpcurator.engines.engine import Kinds, Tables

_FREE: list[Any] = []
_EVERY: list[Any] = []  # never closed, as a forked child must not


def _take() -> Any:
    if _FREE:
        return _FREE.pop()
    connection = engine._locked(engine._open(engine.SETTINGS))
    _EVERY.append(connection)
    return connection


def _give_back(process: int, connection: Any) -> None:
    if process == os.getpid():
        try:
            connection.execute("DETACH snapshot")
        except Exception:
            return  # something still reads it: it is left as it is
        _FREE.append(connection)


def from_tables(cls: type[engine.DuckDB], tables: Tables, kinds: Kinds | None = None) -> engine.DuckDB:
    made, process, connection = cls.__new__(cls), os.getpid(), _take()

    def connect() -> Any:
        return engine._load(tables, kinds or {}, connection if process == os.getpid() else None)

    try:
        made._start(connect)
    except BaseException:
        _give_back(process, connection)
        raise
    weakref.finalize(made, _give_back, process, connection).atexit = False
    return made


def _abandon() -> None:
    """In a forked child: DuckDB's threads are not there, so what the parent opened is neither used nor destroyed."""
    for connection in _EVERY:
        ctypes.pythonapi.Py_IncRef(ctypes.py_object(connection))
    _FREE.clear()


os.register_at_fork(after_in_child=_abandon)
