"""Engines: what turns a core plan and a stored table into exact integers, and does nothing else.

An engine is a value with one verb, `evaluate`. It never rounds, chooses, samples, logs or shows; on one plan and one
table all engines give the same integers (tests/engines runs every one in ENGINES against `reference`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final, Protocol

from dpcurator.plan.core import CorePlan
from dpcurator.values import Exact


class Engine(Protocol):
    """Evaluate a core plan: per listed key, in the list's order, the plan's sums as Python ints, under seal.

    Raises Refusal where `limits.check_core` does, before data is touched, and Fault, which tells nothing, after.
    """

    def evaluate(self, core: CorePlan) -> Exact: ...

    def evaluate_all(self, cores: Sequence[CorePlan]) -> tuple[Exact, ...]:
        """Several at once, in one statement: plans of the same groups share one reading of the stored table."""


def _reference() -> Callable[..., Engine]:
    from dpcurator.engines.reference import Reference

    return Reference


def _duckdb() -> Callable[..., Engine]:
    from dpcurator.engines.duckdb.engine import DuckDB

    return DuckDB


ENGINES: Final[tuple[tuple[str, Callable[[], Any]], ...]] = (
    ("reference", _reference),
    ("duckdb", _duckdb),
)
