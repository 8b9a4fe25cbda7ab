"""The core plan on DuckDB: one read-only snapshot file, one query a question, integers out as text.

What is held here: the connection lives in memory with the snapshot attached READ_ONLY; then external access, extension
loading and replacement scans are off and the configuration is locked. No spilling to disk unless the steward names a
private directory for it. Whatever goes wrong on the engine is one Fault with no cause attached, since an engine's words
quote data (attacks 10, 35). Each evaluation has its own cursor, so threads may share an engine; a forked child opens
its own connection, because DuckDB's threads do not survive a fork.
Why the integers are right: `duckdb_sql`. Checked in tests/engines.
"""

from __future__ import annotations

import ctypes
import os
import threading
import weakref
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Self

from dpcurator.catalog.duckdb_options import write_down
from dpcurator.catalog.model import Kind, Value
from dpcurator.engines.duckdb.coded import Code, coded
from dpcurator.engines.duckdb.levels import TYPES
from dpcurator.engines.duckdb.sql import Statement, statement
from dpcurator.engines.duckdb.together import Together, in_turns, over_one_relation, together
from dpcurator.engines.engine import Kinds, Tables, sealed
from dpcurator.engines.limits import COLUMN_NAME, TABLE_NAME
from dpcurator.engines.settings import MIB, SPILL, Settings
from dpcurator.errors import Fault, Misconfigured
from dpcurator.plan.core import CorePlan, Scan, scanned
from dpcurator.plan.merge import apart, merged
from dpcurator.values import Exact

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

LOCK: Final = (
    "SET python_enable_replacements = false",
    "SET autoinstall_known_extensions = false",
    "SET autoload_known_extensions = false",
    "SET allow_community_extensions = false",
    "SET preserve_insertion_order = false",
    "SET default_collation = ''",
    "SET enable_external_access = false",
    "SET lock_configuration = true",
)
SETTINGS: Final = Settings()
_ENGINES: Final[weakref.WeakSet[DuckDB]] = weakref.WeakSet()  # what a forked child has to abandon


class DuckDB:
    """An engine over one snapshot file. settings: what it may use; by default memory alone, and no file."""

    def __init__(self, snapshot: str | os.PathLike[str], *, settings: Settings = SETTINGS) -> None:
        path = Path(snapshot).resolve()
        if not path.is_file():
            raise Misconfigured("There is no snapshot.", where=str(path), cure="Run `dpcurator refresh`.")
        self._start(lambda: _attach(path, settings))

    @classmethod
    def from_tables(cls, tables: Tables, kinds: Kinds | None = None) -> Self:
        """The same engine over Python lists, for tests and rehearsals. kinds: where None, guessed from its values."""
        engine = cls.__new__(cls)
        engine._start(lambda: _load(tables, kinds or {}))
        return engine

    def _start(self, connect: Callable[[], DuckDBPyConnection]) -> None:
        self._connect, self._lock, self._turn = connect, threading.Lock(), threading.Lock()
        self._connection: DuckDBPyConnection | None = None
        _ENGINES.add(self)
        cursor = self._cursor()
        names = "SELECT table_name, column_name FROM duckdb_columns() WHERE database_name = 'snapshot'"
        self._columns = frozenset(cursor.execute(names).fetchall())
        self._codes: dict[tuple[str, str], Code] = {}
        if ("codes", "letters") in self._columns:  # which a snapshot of before has not
            found = cursor.execute("SELECT t, c, code, letters FROM snapshot.main.codes").fetchall()
            self._codes = {(table, name): Code(code, letters) for table, name, code, letters in found}
        cursor.close()

    def _cursor(self) -> DuckDBPyConnection:
        """A cursor of this process's own connection."""
        with self._lock:
            if self._connection is None:
                self._connection = self._connect()
            return self._connection.cursor()

    def _abandon(self) -> None:
        """In a forked child: forget the parent's connection without ever destroying it (its threads are not here, so
        that would abort the child), and a lock that another thread may have held. The next cursor opens anew."""
        ctypes.pythonapi.Py_IncRef(ctypes.py_object(self._connection))
        self._connection, self._lock, self._turn = None, threading.Lock(), threading.Lock()

    def explain(self, core: CorePlan) -> Statement:
        """The query that `evaluate` runs, from the plan and from which units have numbers."""
        return statement(*coded([core], self._codes))

    def evaluate(self, core: CorePlan) -> Exact:
        """Python ints, one row a key, one column a sum. Raises Refusal before data is touched, Fault after."""
        query = self.explain(core)
        if any(read not in self._columns for read in _read(core)):
            raise Misconfigured("The snapshot lacks a column of this plan.", cure="Run `dpcurator refresh`.")
        found = self._run(query)
        if isinstance(found, Exact):
            return found
        raise found()  # here and not where it was caught, so that nothing is attached to it

    def evaluate_all(self, cores: Sequence[CorePlan]) -> tuple[Exact, ...]:
        """Plans of the same groups share one reading; what fits into the allowance together is one statement. Raises as
        `evaluate` does."""
        cores = over_one_relation(cores)
        queries = [together(coded(some, self._codes)) for some in in_turns([one.core for one in merged(cores)])]
        if any(missing not in self._columns for core in cores for missing in _read(core)):
            raise Misconfigured("The snapshot lacks a column of this plan.", cure="Run `dpcurator refresh`.")
        totals: list[Exact] = []
        for query in queries:
            found = self._run_all(query)
            if not isinstance(found, tuple):
                raise found()
            totals += found
        return apart(cores, totals)

    def _fetched(self, sql: str, parameters: list[Any]) -> list[Any]:
        """The rows. One statement at a time: what a question may use is counted for one."""
        with self._turn:
            cursor = self._cursor()
            try:
                return cursor.execute(sql, parameters).fetchall()
            finally:
                cursor.close()

    def _run_all(self, query: Together) -> tuple[Exact, ...] | type[Fault] | type[KeyboardInterrupt]:
        try:
            return query.exact(self._fetched(query.sql, query.parameters))
        except Exception as error:
            return KeyboardInterrupt if _interrupted(error) else Fault

    def _run(self, query: Statement) -> Exact | type[Fault] | type[KeyboardInterrupt]:
        """The totals by key; what to raise when the engine failed, whatever it said."""
        try:
            found = self._fetched(query.sql, query.parameters)
            lying = []
            if query.histograms:
                lying = [(row[: query.columns], row[-2], row[-1]) for row in found if row[-1] is not None]
                found = [row[:-2] for row in found if row[-1] is None]
            tallies: list[int] = []
            if query.tallies:
                tallies = [int(digits) for row in found if row[-1] is not None for digits in row[-1]]
                found = [row[:-1] for row in found if row[-1] is None]
            totals = {row[: query.columns]: [int(digits) for digits in row[query.columns :]] for row in found}
            return sealed(totals, tallies, lying, query.keys, query.sums, query.histograms)
        except Exception as error:
            return KeyboardInterrupt if _interrupted(error) else Fault


def _read(core: CorePlan) -> list[tuple[str, str]]:
    """The stored columns a plan reads."""
    scan = core[0]
    assert isinstance(scan, Scan)
    return [(table, name) for table, names in scanned(scan).items() for name in sorted(names)]


def _interrupted(error: Exception) -> bool:
    """DuckDB takes the signal of Ctrl-C for itself and says so in one of these ways."""
    import duckdb

    return isinstance(error, duckdb.InterruptException) or (
        type(error) is RuntimeError and str(error) == "Query interrupted"
    )


def _attach(path: Path, settings: Settings) -> DuckDBPyConnection:
    connection = _open(settings)
    try:
        connection.execute(f"ATTACH {_quoted(path)} AS snapshot (TYPE duckdb, READ_ONLY)")
    except Exception:
        connection.close()
        failed = True
    else:
        failed = False
    if failed:
        raise Misconfigured("The snapshot cannot be opened.", where=str(path), cure="Run `dpcurator refresh`.")
    return _locked(connection)


def _load(tables: Tables, kinds: Kinds, opened: DuckDBPyConnection | None = None) -> DuckDBPyConnection:
    """opened: a locked connection with no database of this name, where one is there."""
    connection = opened or _open(SETTINGS)
    connection.execute("ATTACH ':memory:' AS snapshot")
    numbered = _numbers(tables)
    connection.execute("CREATE TABLE snapshot.main.codes (t VARCHAR, c VARCHAR, code VARCHAR, letters INTEGER)")
    connection.execute("CREATE TABLE snapshot.main.units AS SELECT unnest(CAST(? AS BIGINT[])) AS code, "
                       "unnest(CAST(? AS VARCHAR[])) AS unit", [list(numbered.values()), list(numbered)])
    for table, columns in tables.items():
        assert TABLE_NAME.fullmatch(table)
        assert all(COLUMN_NAME.fullmatch(name) for name in columns)
        types = {name: TYPES[kinds.get(table, {}).get(name) or _guess(values)] for name, values in columns.items()}
        texts = {name: f"c{10_000 + place}" for place, name in enumerate(columns) if types[name] == TYPES["text"]}
        arrays = ", ".join([*(f"unnest(CAST(? AS {types[name]}[])) AS {name}" for name in columns),
                            *(f"unnest(CAST(? AS BIGINT[])) AS {code}" for code in texts.values())])
        values: list[list[Any]] = [list(column) for column in columns.values()]
        values += [[numbered.get(value) for value in columns[name]] for name in texts]
        for name, code in texts.items():
            longest = max((len(value) for value in columns[name] if isinstance(value, str)), default=0)
            connection.execute("INSERT INTO snapshot.main.codes VALUES (?, ?, ?, ?)", [table, name, code, longest])
        connection.execute(f"CREATE TABLE snapshot.main.{table} AS SELECT {arrays}", values)
    return opened or _locked(connection)


def _numbers(tables: Tables) -> dict[Value, int]:
    """Numbers for all texts of all tables, in the opposite order and past 32 bits."""
    texts = {value for columns in tables.values() for column in columns.values() for value in column
             if isinstance(value, str)}
    return {value: number << 33 for number, value in enumerate(sorted(texts, reverse=True))}


def _guess(values: Sequence[Value]) -> Kind:
    if any(isinstance(value, str) for value in values):
        return "text"
    return "float" if any(isinstance(value, float) for value in values) else "integer"


def _open(settings: Settings) -> DuckDBPyConnection:
    """A connection in memory that may use so much; before anything is attached, loaded or locked."""
    import duckdb

    connection = write_down(duckdb.connect(":memory:"))
    connection.execute(f"SET threads = {settings.threads:d}")
    connection.execute(f"SET memory_limit = '{settings.memory // MIB:d} MiB'")
    connection.execute(f"SET temp_directory = {_quoted(settings.spill or '')}")
    connection.execute(f"SET max_temp_directory_size = '{SPILL // MIB:d} MiB'")
    return connection


def _locked(connection: DuckDBPyConnection) -> DuckDBPyConnection:
    for setting in LOCK:
        connection.execute(setting)
    return connection


def _quoted(path: str | os.PathLike[str]) -> str:
    """A path as a SQL text: the one place where the steward's own words enter SQL, with quotes doubled."""
    return "'" + os.fspath(path).replace("'", "''") + "'"


def _abandon_all() -> None:
    for engine in _ENGINES:
        engine._abandon()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_abandon_all)
