"""What the parts of one question share while it is bound: the catalog, the table, and what has been found so far.

Checked in tests/plan/test_bind.py.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, Protocol

from dpcurator.catalog.model import Catalog, Column, Table
from dpcurator.errors import Mend, Refusal
from dpcurator.language.expressions import Reader
from dpcurator.language.names import find, quote, show
from dpcurator.language.question import Name, Question
from dpcurator.language.render import expression, quoted
from dpcurator.language.rows import Operand
from dpcurator.plan.nodes import AggregateCall, Measured


class AggregateRule(Protocol):
    """What bind needs of an entry of AGGREGATES."""

    @property
    def function(self) -> str: ...
    @property
    def argument(self) -> Literal["star", "column", "unit", "number"]: ...
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

    catalog: Catalog
    table: Table
    question: Question
    rules: Mapping[tuple[str, str], AggregateRule]
    keys: list[Keyed] = field(default_factory=list)
    calls: list[AggregateCall] = field(default_factory=list)
    max_rows: int = 1  # of one unit in one group, once it is known

    def column(self, name: Name) -> tuple[int, Column]:
        """The column a name means, its qualifier checked. Raises Refusal."""
        if name.table is not None:
            self._qualifier(name)
        names = [column.name for column in self.table.columns]
        try:
            index = find(name.column, name.quoted, names, what="column", where=name.at)
        except Refusal as refused:
            raise self._text_perhaps(name, refused) from None
        return index, self.table.columns[index]

    def reader(self, inside: str) -> Reader:
        """What reads expressions of rows, inside WHERE, GROUP BY or an aggregate."""
        return Reader(self.table, self.column, inside, self.aggregates)

    @property
    def aggregates(self) -> frozenset[str]:
        """The functions that are never of one row."""
        return frozenset(function for function, _ in self.rules)

    def _text_perhaps(self, name: Name, refused: Refusal) -> Refusal:
        """city = "Leeds", in SQL: double quotes hold names, and the writer may have meant a text."""
        if not (name.quoted and name.at) or name.table is not None or refused.cure.startswith("Did you mean"):
            return refused
        text = show(name.column)[1:-1].replace("'", "''")
        cure = f"If it is a text, write it in single quotes: '{text}'. {refused.cure}"
        mends = (Mend(f"'{text}'", quoted(name.column)),)
        return Refusal(refused.what, where=refused.where, cure=cure, mends=mends)

    def _qualifier(self, name: Name) -> None:
        known = self.question.table_alias or self.table.name
        same = name.table == known if name.table_quoted else (name.table or "").lower() == known.lower()
        if not same:
            raise Refusal(
                f"{show(name.table or '')} is not the table of this question.", where=name.at,
                cure=f"Its columns are written {quote(known)}.{quote(name.column)}.",
                mends=(Mend(f"{quote(known)}.{quote(name.column)}", expression(name)),),
            )
