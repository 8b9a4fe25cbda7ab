"""Engines: what turns a core plan and a stored table into exact integers, and does nothing else.

An engine never rounds, chooses, samples, logs or shows; on one plan and one table all engines give the same integers.
ENGINES is the one list: the product opens the first in it that reads a snapshot (`stored_engine`), `break-me` compares
all of them, and the tests of engines run each against `reference` and against tables worked by hand.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Final, NamedTuple, Protocol, Self

from dpcurator.catalog.model import Kind, Value
from dpcurator.plan.core import CorePlan
from dpcurator.values import Exact

if TYPE_CHECKING:
    from dpcurator.engines.settings import Settings

Tables = Mapping[str, Mapping[str, Sequence[Value]]]  # {physical table: {physical column: values}}
Kinds = Mapping[str, Mapping[str, Kind]]


class Engine(Protocol):
    """Evaluate a core plan: per listed key, in the list's order, the plan's sums as Python ints, under seal.

    Raises Refusal where `limits.check_core` does, before data is touched, and Fault, which tells nothing, after.
    """

    @classmethod
    def from_tables(cls, tables: Tables, kinds: Kinds | None = None) -> Self:
        """The engine over Python lists, for tests and rehearsals. kinds: of columns; where None, as the values are."""

    def evaluate(self, core: CorePlan) -> Exact: ...

    def evaluate_all(self, cores: Sequence[CorePlan]) -> tuple[Exact, ...]:
        """Several at once, in one statement: plans of the same groups share one reading of the stored table."""


class StoredEngine(Engine, Protocol):
    """An engine that also opens a snapshot. settings: what it may use."""

    def __init__(self, snapshot: str | os.PathLike[str], *, settings: Settings = ...) -> None: ...


class Known(NamedTuple):
    """One engine of the list. `load` imports its class; `opens`: the same, where it opens snapshots."""

    name: str
    load: Callable[[], type[Engine]]
    opens: Callable[[], type[StoredEngine]] | None = None


def _reference() -> type[Engine]:
    from dpcurator.engines.reference import Reference

    return Reference


def _duckdb() -> type[StoredEngine]:
    from dpcurator.engines.duckdb.engine import DuckDB

    return DuckDB


ENGINES: Final = (Known("reference", _reference), Known("duckdb", _duckdb, _duckdb))


def stored_engine() -> type[StoredEngine]:
    """The engine that opens snapshots and answers: the first of ENGINES that can."""
    return next(one.opens for one in ENGINES if one.opens is not None)()
