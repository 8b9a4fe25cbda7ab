"""What an engine is, and how tables in memory are handed to one. Checked in tests/engines/test_conformance.py."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Protocol, Self

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


def sealed(
    totals: Mapping[tuple[Value, ...], list[int]], tallies: Sequence[int],
    lying: Iterable[tuple[tuple[Value, ...], str, int]], keys: int | None, sums: int, histograms: int,
) -> Exact:
    """By key, what an engine found, under seal. lying: (key, what lies where, number of the histogram). keys: how many
    are listed, numbered from 0; None where they are those of `totals`."""
    order = list(totals) if keys is None else [(number,) for number in range(keys)]
    at: list[dict[tuple[Value, ...], dict[int, int]]] = [{key: {} for key in order} for _ in range(histograms)]
    for key, text, number in lying:
        pairs = (pair.split(":") for pair in text.split(" "))
        at[number][key] = {int(place): weight for place, digits in pairs if (weight := int(digits))}
    rows = [totals.get(key, [0] * sums) for key in order]
    return Exact(rows, order if keys is None else None, tallies, [list(one.values()) for one in at])
