"""What is public about the result of a relation: one rule a node, one fold (semantics 8.7).

The result is described as a table of the catalog is: its columns with types, kinds, bounds, lists of keys; so all that
reads expressions, keys and bounds of a table reads a derived one alike. Columns have names that differ, those of the
left side first. Nothing is ever read off private rows. A node without a rule is refused by name.
Checked in tests/plan/test_bind_relations.py.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Final

from dpcurator.catalog.model import Catalog, Column, Table
from dpcurator.errors import Refusal
from dpcurator.plan.nodes import Plan
from dpcurator.plan.relations import InCohort, Relation, Rows, Where, below

MOST_DEPTH: Final = 64  # nodes above each other
MOST_NODES: Final = 256  # of one question, each counted where it stands


@dataclass(frozen=True, slots=True)
class Facts:
    """table: the columns, as those of a table. unit: which of them owns a row, None where each row is a unit.

    one_row: a unit has at most one row. Nothing that is promised rests on it: caps of 1 are enforced as all caps are.
    """

    table: Table
    unit: int | None
    one_row: bool = False


def _rows(node: Rows, catalog: Catalog) -> Facts:
    table = next((table for table in catalog.tables if table.name == node.table and table.private), None)
    if table is None:
        raise LookupError("the catalog has no such private table")
    return Facts(table, node.unit_index, node.unit is None)


def _where(node: Where, catalog: Catalog) -> Facts:
    return facts(node.source, catalog)


def _in_cohort(node: InCohort, catalog: Catalog) -> Facts:
    found, other = facts(node.source, catalog), facts(node.among, catalog)
    name = f"{found.table.unit} IN {other.table.name}"
    return replace(found, table=with_column(found.table, Column(name, "boolean", per_unit=True)))


RULES: Final[dict[type, Callable[..., Facts]]] = {Rows: _rows, Where: _where, InCohort: _in_cohort}


def facts(node: Relation, catalog: Catalog) -> Facts:
    """Fold the rules over a relation. Raises LookupError where the catalog has no such table."""
    rule = RULES.get(type(node))
    if rule is None:
        raise TypeError(f"no rule says what is public of {type(node).__name__}")
    found: Facts = rule(node, catalog)
    return found


def table_of(plan: Plan, catalog: Catalog) -> Table:
    """What a plan's condition, keys and aggregates are read of, described as a table."""
    return facts(plan.source.source.source, catalog).table


def with_column(table: Table, column: Column) -> Table:
    """The table with one more column, under a name that no other one has."""
    name = distinct_name(column.name, (one.name for one in table.columns))
    return replace(table, columns=(*table.columns, replace(column, name=name)))


def distinct_name(name: str, taken: Iterable[str]) -> str:
    """The name, numbered where it is taken, in whatever case."""
    known = {one.lower() for one in taken}
    found, number = name, 2
    while found.lower() in known:
        found, number = f"{name} ({number})", number + 1
    return found


def check_size(node: Relation) -> None:
    """Raise Refusal where a relation is too large, counted without walking a part twice that is one object."""
    sizes: dict[int, tuple[int, int]] = {}
    left = [node]
    while left:
        one = left[-1]
        within = below(one)
        unknown = [inner for inner in within if id(inner) not in sizes]
        if unknown:
            left += unknown
            if len(left) > 2 * MOST_NODES:
                break
            continue
        inner = [sizes[id(part)] for part in within]
        sizes[id(left.pop())] = 1 + sum(count for count, _ in inner), 1 + max((deep for _, deep in inner), default=0)
    count, deep = sizes.get(id(node), (MOST_NODES + 1, MOST_DEPTH + 1))
    if deep > MOST_DEPTH or count > MOST_NODES:
        raise Refusal(
            f"the question has too many subqueries, joins and conditions on top of each other: the limits are "
            f"{MOST_DEPTH} in depth and {MOST_NODES} in all.", cure="Ask it in several questions, or more simply.",
        )
