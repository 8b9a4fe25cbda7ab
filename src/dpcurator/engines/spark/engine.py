"""The core plan on Spark: one statement for the plans of an evaluation, integers out as text.

A dataset is a directory with a directory of Parquet files for each table. Its columns are read with types that are
declared, never inferred, and no query is run but the statement of `sql.py`. Whatever goes wrong on the engine is one
Fault with no cause attached, since an engine's words quote data. A process has one session (`session.py`), which
engines share; each names its views by a number of its own. Why the integers are right: `sql.py`. Checked in
tests/engines.
"""

from __future__ import annotations

import itertools
import os
import threading
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Self

from dpcurator.catalog.model import Kind, Value
from dpcurator.catalog.spark import address_of
from dpcurator.engines.engine import Kinds, Tables
from dpcurator.engines.limits import COLUMN_NAME, TABLE_NAME
from dpcurator.engines.settings import Settings
from dpcurator.engines.spark.constants import TYPES
from dpcurator.engines.spark.sql import Statement, statement
from dpcurator.errors import Fault, Misconfigured
from dpcurator.plan.core import CorePlan, Scan, scanned
from dpcurator.plan.merge import apart, merged
from dpcurator.values import Exact, read_json

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

SCHEMA: Final = "schema.json"  # of a dataset: {"t0": {"c0": "integer", ...}, ...}
REHEARSAL: Final = Settings(master="local[2]", partitions=2)
AT_ONCE: Final = 16  # plans in one statement: more would only make its plan long
_NUMBER = itertools.count()


class Spark:
    """An engine over the dataset of a directory. settings: where Spark runs, and what it may use."""

    def __init__(self, snapshot: str | os.PathLike[str], *, settings: Settings = REHEARSAL) -> None:
        path = Path(snapshot).resolve()
        kinds = _kinds_of(path)
        if kinds is None:
            raise Misconfigured("There is no dataset.", where=str(path), cure="Run `dpcurator refresh`.")

        def frames(session: SparkSession) -> dict[str, DataFrame]:
            return {table: session.read.schema(_schema(columns)).parquet(address_of(path / table))
                    for table, columns in kinds.items()}

        self._start(kinds, frames, settings)

    @classmethod
    def from_tables(cls, tables: Tables, kinds: Kinds | None = None) -> Self:
        """The same engine over Python lists, for tests and rehearsals. kinds: where None, guessed from its values."""
        engine = cls.__new__(cls)
        found: dict[str, dict[str, Kind]] = {
            table: {name: (kinds or {}).get(table, {}).get(name) or _guess(values) for name, values in columns.items()}
            for table, columns in tables.items()
        }

        def frames(session: SparkSession) -> dict[str, DataFrame]:
            held = {table: [_held(values, found[table][name]) for name, values in columns.items()]
                    for table, columns in tables.items()}
            return {table: session.createDataFrame(list(zip(*columns, strict=True)), _schema(found[table]))
                    for table, columns in held.items()}

        engine._start(found, frames, REHEARSAL)
        return engine

    def _start(
        self, kinds: Kinds, frames: Callable[[SparkSession], dict[str, DataFrame]], settings: Settings
    ) -> None:
        self._frames, self._settings, self._lock = frames, settings, threading.Lock()
        self._columns = frozenset((table, name) for table, columns in kinds.items() for name in columns)
        number = next(_NUMBER)
        self._views = {table: f"dpcurator_{number}_{table}" for table in kinds}
        self._seen: SparkSession | None = None
        failed = False
        try:
            self._opened()
        except Misconfigured:
            raise
        except Exception:  # its words may quote what is stored
            failed = True
        if failed:
            raise Misconfigured("The dataset cannot be opened.", cure="Run `dpcurator refresh`.")

    def _opened(self) -> SparkSession:
        """The session of this process, with this engine's views: a fork's child, and a session that is made again
        after its driver was lost, have none of them."""
        from dpcurator.engines.spark.session import spark_session

        session = spark_session(self._settings.master, settings=self._settings)
        with self._lock:
            if session is not self._seen:
                for table, frame in self._frames(session).items():
                    frame.createOrReplaceTempView(self._views[table])
                self._seen = session
        return session

    def explain(self, core: CorePlan) -> Statement:
        """The statement that `evaluate` runs."""
        return statement([core], self._view)

    def check(self, cores: Sequence[CorePlan]) -> None:
        """Raises Refusal where a statement is more than Spark's planner takes: before a charge, by the plan alone."""
        for one in merged(cores):
            statement([one.core], self._view)

    def evaluate(self, core: CorePlan) -> Exact:
        """Python ints, one row a key, one column a sum. Raises Refusal before data is touched, Fault after."""
        return self._evaluated([core])[0]

    def evaluate_all(self, cores: Sequence[CorePlan]) -> tuple[Exact, ...]:
        """Plans of the same groups share one reading. Raises as `evaluate` does."""
        return apart(cores, self._evaluated([one.core for one in merged(cores)]))

    def _evaluated(self, cores: Sequence[CorePlan]) -> list[Exact]:
        turns = [statement(cores[start : start + AT_ONCE], self._view) for start in range(0, len(cores), AT_ONCE)]
        if any(read not in self._columns for core in cores for read in _read(core)):
            raise Misconfigured("The snapshot lacks a column of this plan.", cure="Run `dpcurator refresh`.")
        totals: list[Exact] = []
        for turn in turns:
            found = self._run(turn)
            if found is None:
                raise Fault()  # here and not where it was caught, so that nothing is attached to it
            totals += found
        return totals

    def _view(self, table: str) -> str:
        return self._views.get(table, table)

    def _run(self, query: Statement) -> tuple[Exact, ...] | None:
        """The totals; None where the engine failed, whatever it said."""
        try:
            return query.exact(self._opened().sql(query.sql).collect())
        except Exception:
            return None


def _read(core: CorePlan) -> list[tuple[str, str]]:
    """The stored columns a plan reads."""
    scan = core[0]
    assert isinstance(scan, Scan)
    return [(table, name) for table, names in scanned(scan).items() for name in sorted(names)]


def _held(values: Sequence[Value], kind: Kind) -> list[Any]:
    return [None if value is None else float(value) if kind == "float" else value for value in values]


def _guess(values: Sequence[Value]) -> Kind:
    if any(isinstance(value, str) for value in values):
        return "text"
    return "float" if any(isinstance(value, float) for value in values) else "integer"


def _schema(columns: Mapping[str, Kind]) -> str:
    """The types of a table's columns, as a view of it has them."""
    assert all(COLUMN_NAME.fullmatch(name) for name in columns)
    return ", ".join(f"{name} {TYPES[kind]}" for name, kind in columns.items())


def _kinds_of(path: Path) -> Kinds | None:
    """What a dataset says of its tables; None where it is none."""
    try:
        found: Kinds = read_json((path / SCHEMA).read_text("ascii"))
        named = all(TABLE_NAME.fullmatch(table) and set(columns.values()) <= set(TYPES)
                    for table, columns in found.items())
    except (OSError, ValueError, AttributeError, TypeError):
        return None
    return found if named else None

