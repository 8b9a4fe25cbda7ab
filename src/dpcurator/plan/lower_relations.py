"""From a relation of a plan to what an engine runs: one rule a node; only the columns that are used are read.

`place` says where in the result each column of the plan's relation is. A node without a rule is refused by name.
Checked in tests/plan/test_bind_relations.py and tests/laws/test_heart_relations.py.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, Final

from dpcurator.catalog.model import MAX_LENGTH, Catalog
from dpcurator.errors import Misconfigured
from dpcurator.language.rows import fields, moved_condition
from dpcurator.plan.core_relations import CoreRelation, Flag, Only, Source, Stored, columns_of
from dpcurator.plan.relation_facts import facts
from dpcurator.plan.relations import InCohort, Relation, Rows, Where


@dataclass(frozen=True, slots=True)
class Placed:
    """A relation of the core plan, and where the columns of the plan's are in it: those that are used."""

    node: CoreRelation
    place: dict[int, int]


def physical(node: Rows, catalog: Catalog) -> str:
    """The name under which a table is stored."""
    for number, table in enumerate(catalog.tables):
        if table.name == node.table:
            return f"t{number}"
    raise Misconfigured(f"the catalog has no table {node.table!r}.")


def sources(node: Rows, used: Iterable[int], catalog: Catalog) -> tuple[Source, ...]:
    """Stored columns; a missing unit stays missing whatever its column declares, for its rows are left out."""
    columns = facts(node, catalog).table.columns
    return tuple(
        Source(f"c{index}", column.kind, None if index == node.unit_index else column.missing,
               column.letters if column.kind == "text" else MAX_LENGTH)
        for index, column in ((index, columns[index]) for index in used)
    )


def lowered_relation(node: Relation, used: set[int], catalog: Catalog) -> Placed:
    """The relation with at least these of its columns, and its unit."""
    rule = RULES.get(type(node))
    if rule is None:
        raise TypeError(f"no rule says how an engine runs {type(node).__name__}")
    found: Placed = rule(node, used, catalog)
    return found


def _rows(node: Rows, used: set[int], catalog: Catalog) -> Placed:
    if node.unit_index is None:
        raise TypeError("a row that is a unit is read by itself")
    read = sorted({*used, node.unit_index})
    place = {index: position for position, index in enumerate(read)}
    return Placed(Stored(physical(node, catalog), sources(node, read, catalog), place[node.unit_index]), place)


def _where(node: Where, used: set[int], catalog: Catalog) -> Placed:
    below = lowered_relation(node.source, used | fields(node.predicate), catalog)
    return Placed(Only(below.node, moved_condition(node.predicate, below.place)), below.place)


def _in_cohort(node: InCohort, used: set[int], catalog: Catalog) -> Placed:
    """Where nobody looks at the column, it is not made."""
    mine, others = facts(node.source, catalog), facts(node.among, catalog)
    flag, unit, other = len(mine.table.columns), _owner(mine.unit), _owner(others.unit)
    below = lowered_relation(node.source, (used - {flag}) | {unit}, catalog)
    if flag not in used:
        return below
    among = lowered_relation(node.among, {other}, catalog)
    made = Flag(below.node, below.place[unit], among.node, among.place[other])
    return Placed(made, below.place | {flag: len(columns_of(below.node))})


def _owner(unit: int | None) -> int:
    if unit is None:
        raise TypeError("a row that is a unit is in no other relation")
    return unit


RULES: Final[dict[type, Callable[..., Any]]] = {Rows: _rows, Where: _where, InCohort: _in_cohort}
