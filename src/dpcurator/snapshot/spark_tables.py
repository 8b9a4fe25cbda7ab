"""The tables of a dataset that is being made, as views of a Spark session, asked in the words that DuckDB is.

The few words that differ are put into Spark's here: a list among the values of a question is a view of its own, and the
names t0, t1, ... are views of this refresh alone. Spark's words quote values, so none of them goes further. Checked in
tests/snapshot/test_spark_refresh.py.
"""

from __future__ import annotations

import re
import uuid
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Final, TypeVar

from dpcurator.catalog.model import Kind, Table
from dpcurator.errors import Misconfigured

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

T = TypeVar("T")
TYPES: Final[dict[Kind, str]] = {"integer": "BIGINT", "float": "DOUBLE", "text": "STRING"}
_OF_DUCKDB: Final = {"BIGINT": "bigint", "DOUBLE": "double", "VARCHAR": "string"}
_NAME: Final = re.compile(r"\b(?:t[0-9]+|owners|least)\b")
_GIVEN: Final = re.compile(r"unnest\(CAST\(\? AS (\w+)\[\]\)\)|\?")


class Rows(list[tuple[Any, ...]]):
    """What a question gave."""

    def fetchall(self) -> list[tuple[Any, ...]]:
        return self


class SparkTables:
    """Views by the names that the rules of a refresh use."""

    def __init__(self, session: SparkSession) -> None:
        self.session, self.token = session, uuid.uuid4().hex[:8]
        self.made: list[str] = []
        self.views: dict[str, str] = {}

    def execute(self, sql: str, given: Sequence[Any] = ()) -> Rows:
        """The rows of a query. given: values for each `?`, numbers, texts or lists of them. Raises Misconfigured."""
        return on_spark(lambda: Rows(tuple(row) for row in self._asked(sql, given).collect()))

    def replace(self, name: str, query: str) -> None:
        """Let a name be the rows of a query, which may be of the same name as it was."""
        on_spark(lambda: self.put(name, self._asked(query, ())))

    def put(self, name: str, rows: DataFrame) -> None:
        """Let a name be these rows."""
        view = f"dpcurator_{self.token}_{len(self.made)}"
        rows.createOrReplaceTempView(view)
        self.made.append(view)
        self.views[name] = view

    def rows(self, name: str) -> DataFrame:
        """The rows that a name stands for."""
        return self.session.table(self.views[name])

    def clear(self) -> None:
        """Drop the views; those of a session that has ended are gone."""
        with suppress(Exception):
            for view in self.made:
                self.session.catalog.dropTempView(view)
        self.made.clear()

    def _asked(self, sql: str, given: Sequence[Any]) -> DataFrame:
        values = iter(given)
        scalars: list[Any] = []

        def each(found: re.Match[str]) -> str:
            value = next(values)
            if found[1] is None:
                scalars.append(value)
                return "?"
            view = f"given_{len(self.made)}"
            listed = self.session.createDataFrame([(one,) for one in value], f"value {_OF_DUCKDB[found[1]]}")
            self.put(view, listed)
            return f"value FROM {self.views[view]}"

        asked = _GIVEN.sub(each, sql)
        asked = _NAME.sub(lambda found: self.views[found[0]] if found[0] in self.views else found[0], asked)
        return self.session.sql(asked, args=scalars) if scalars else self.session.sql(asked)


def schema_of(table: Table) -> str:
    """The columns of a stored table and their types, in Spark's words: nothing of a file is inferred."""
    return ", ".join(f"c{j} {TYPES[column.kind]}" for j, column in enumerate(table.columns))


def on_spark(work: Callable[[], T]) -> T:
    """What some work on Spark gives. Whatever goes wrong there is told in constant words. Raises Misconfigured."""
    try:
        return work()
    except Misconfigured:
        raise
    except Exception:
        pass
    raise Misconfigured("Spark did not end the refresh: an executor was lost, or its memory or disk is full.",
                        where="[curator] spark", cure="Check the executors, then run `dpcurator refresh` again; the "
                        "version before stays in force.")  # here, so that nothing is attached to it
