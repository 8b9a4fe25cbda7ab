"""What the parts of one question share while it is bound: the catalog, the table, and what has been found so far.

Checked in tests/plan/test_bind.py.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, Protocol

from dpcurator.catalog.model import Catalog, Column, Table
from dpcurator.language.expressions import Reader
from dpcurator.language.question import Name, Question
from dpcurator.language.rows import Operand
from dpcurator.plan.nodes import AggregateCall, Measured
from dpcurator.plan.scene import Scene


class AggregateRule(Protocol):
    """What bind needs of an entry of AGGREGATES."""

    @property
    def function(self) -> str: ...
    @property
    def argument(self) -> Literal["star", "column", "unit", "values", "number", "pair", "ordered"]: ...
    @property
    def names(self) -> bool: ...
    def shown(self, column: Measured | None) -> str: ...


@dataclass(frozen=True, slots=True)
class Keyed:
    """What is grouped by: as it was read, before its columns are clamped; `name` spells it."""

    part: Operand
    type: str
    name: str


@dataclass
class Scope:
    """What the parts of one question share while it is bound."""

    scene: Scene
    question: Question
    rules: Mapping[tuple[str, str], AggregateRule]
    keys: list[Keyed] = field(default_factory=list)
    calls: list[AggregateCall] = field(default_factory=list)
    max_rows: int = 1  # of one unit in one group, once it is known

    @property
    def catalog(self) -> Catalog:
        return self.scene.catalog

    @property
    def table(self) -> Table:
        """What is asked, described as a table."""
        return self.scene.table

    def column(self, name: Name) -> tuple[int, Column]:
        """The column a name means, its qualifier checked. Raises Refusal."""
        return self.scene.column(name)

    def reader(self, inside: str) -> Reader:
        """What reads expressions of rows, inside WHERE, GROUP BY or an aggregate."""
        return self.scene.reader(inside)

    @property
    def aggregates(self) -> frozenset[str]:
        """The functions that are never of one row."""
        return frozenset(function for function, _ in self.rules)
