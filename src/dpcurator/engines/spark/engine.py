"""The core plan on Spark: one statement for the plans of an evaluation, integers out as text.

A dataset is a directory with a directory of Parquet files for each table. Its columns are read with types that are
declared, never inferred, and no query is run but the statement of `sql.py`. Whatever goes wrong on the engine is one
Fault with no cause attached, since an engine's words quote data. A process has one session (`session.py`), which
engines share; each names its views by a number of its own. Why the integers are right: `sql.py`. Checked in
tests/engines.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, Self

from dpcurator.catalog.model import Kind, Value
from dpcurator.engines.engine import Kinds, Tables
from dpcurator.engines.limits import COLUMN_NAME, TABLE_NAME
from dpcurator.engines.spark.constants import TYPES
from dpcurator.engines.spark.sql import Statement, statement
from dpcurator.errors import Fault, Misconfigured
from dpcurator.plan.core import CorePlan, Scan, scanned
from dpcurator.plan.merge import apart, merged
from dpcurator.values import Exact

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

AT_ONCE: Final = 16  # plans in one statement: more would only make its plan long
_NUMBER = itertools.count()


class Spark:
    """An engine over views of a session."""

    _session: SparkSession
    _views: dict[str, str]
    _columns: frozenset[tuple[str, str]]

    @classmethod
    def from_tables(cls, tables: Tables, kinds: Kinds | None = None) -> Self:
        """The same engine over Python lists, for tests and rehearsals. kinds: where None, guessed from its values."""
        engine = cls.__new__(cls)
        engine._session = _rehearsal()
        engine._views, engine._columns = {}, frozenset()
        for table, columns in tables.items():
            own = (kinds or {}).get(table, {})
            found = {name: own.get(name) or _guess(values) for name, values in columns.items()}
            schema = ", ".join(f"{name} {TYPES[kind]}" for name, kind in found.items())
            rows = list(zip(*(_held(values, found[name]) for name, values in columns.items()), strict=True))
            engine._view(table, engine._session.createDataFrame(rows, schema), found)
        return engine

    def _view(self, table: str, frame: DataFrame, columns: Mapping[str, Kind]) -> None:
        assert TABLE_NAME.fullmatch(table)
        assert all(COLUMN_NAME.fullmatch(name) for name in columns)
        self._views[table] = f"dpcurator_{next(_NUMBER)}_{table}"
        frame.createOrReplaceTempView(self._views[table])
        self._columns |= {(table, name) for name in columns}

    def explain(self, core: CorePlan) -> Statement:
        """The statement that `evaluate` runs."""
        return statement([core], lambda table: self._views.get(table, table))

    def evaluate(self, core: CorePlan) -> Exact:
        """Python ints, one row a key, one column a sum. Raises Refusal before data is touched, Fault after."""
        return self._evaluated([core])[0]

    def evaluate_all(self, cores: Sequence[CorePlan]) -> tuple[Exact, ...]:
        """Plans of the same groups share one reading. Raises as `evaluate` does."""
        return apart(cores, self._evaluated([one.core for one in merged(cores)]))

    def _evaluated(self, cores: Sequence[CorePlan]) -> list[Exact]:
        turns = [statement(cores[start : start + AT_ONCE], lambda table: self._views.get(table, table))
                 for start in range(0, len(cores), AT_ONCE)]
        if any(read not in self._columns for core in cores for read in _read(core)):
            raise Misconfigured("The snapshot lacks a column of this plan.", cure="Run `dpcurator refresh`.")
        totals: list[Exact] = []
        for turn in turns:
            found = self._run(turn)
            if found is None:
                raise Fault()  # here and not where it was caught, so that nothing is attached to it
            totals += found
        return totals

    def _run(self, query: Statement) -> tuple[Exact, ...] | None:
        """The totals; None where the engine failed, whatever it said."""
        try:
            return query.exact(self._session.sql(query.sql).collect())
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


def _rehearsal() -> SparkSession:
    """A session of two threads in this process."""
    from dpcurator.engines.settings import Settings
    from dpcurator.engines.spark.session import spark_session

    return spark_session("local[2]", settings=Settings())
