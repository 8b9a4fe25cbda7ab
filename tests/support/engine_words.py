"""What an engine itself said of an error: for those who write its SQL, since a Fault tells nothing by design.

Only a test can hear it: this wraps the cursors of DuckDB's class and the session of Spark's while the test runs,
and prints each error with its statement to stderr, which pytest shows of a test that fails. The product has no way to
show them.
"""

from __future__ import annotations

import sys
from types import SimpleNamespace
from typing import Any

import pytest

from dpcurator.engines.duckdb.engine import DuckDB
from dpcurator.engines.spark.engine import Spark


class Telling:
    """A cursor that prints what went wrong before it raises it."""

    def __init__(self, cursor: Any) -> None:
        self._cursor = cursor

    def __getattr__(self, name: str) -> Any:
        return getattr(self._cursor, name)

    def execute(self, sql: str, *parameters: Any) -> Any:
        return _told(lambda: self._cursor.execute(sql, *parameters) and self, sql)

    def fetchall(self) -> Any:
        return _told(self._cursor.fetchall, "the rows of the statement before")


def _told(run: Any, what: str) -> Any:
    try:
        return run()
    except Exception as error:
        print(f"\nthe engine said: {type(error).__name__}: {error}\nof: {what}", file=sys.stderr)
        raise


def hear(monkeypatch: pytest.MonkeyPatch) -> None:
    """From here to the end of a test."""
    plain = DuckDB._cursor
    monkeypatch.setattr(DuckDB, "_cursor", lambda engine: Telling(plain(engine)))
    opened = Spark._opened

    def telling(engine: Spark) -> Any:
        session = opened(engine)
        return SimpleNamespace(sql=lambda sql: SimpleNamespace(
            collect=lambda: _told(lambda: session.sql(sql).collect(), sql)))

    monkeypatch.setattr(Spark, "_opened", telling)
