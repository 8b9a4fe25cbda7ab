"""Relations: what stands in FROM, below bounding. A small tree of nodes, each with its argument that it is unit-local.

Definition  A private relation is a bag of rows, each owned by one unit. A node is *unit-local* when the rows of its
            result that a unit owns are a function of the bag of that unit's own rows below it, and of public tables;
            of nothing else: not of other units' rows, not of the order in which rows are stored.
Promise     A composition of unit-local nodes is unit-local: by induction, a unit's rows at the top are a function of
            its rows in the stored tables. So two databases that are equal but for one unit's rows have results that
            are equal but for that unit's rows: neighbours stay neighbours at the same distance (add-remove, or
            replace-one), and bounding, readings and keys apply to the result unchanged (semantics 8).

Rows whose unit is missing are nobody's: they are left out where a table is read below any other node. What is known of
the columns of a node is derived in `plan/relation_facts.py`, what an engine runs in `plan/lower_relations.py`, how far
a unit moves what is read of it in `plan/stability.py`: one rule a node in each, and a node without one is refused by
name. Checked in tests/plan/test_bind_relations.py and tests/laws/test_heart_relations.py.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from dpcurator.catalog.model import Neighbours
from dpcurator.language.rows import Predicate


@dataclass(frozen=True, slots=True)
class Rows:
    """All rows of a private table. `unit`: the column whose value owns a row, or None when each row is a unit.

    Unit-local: a unit's rows are its rows. Column numbers of what stands on it are positions in the catalog's table.
    """

    table: str
    unit: str | None
    unit_index: int | None
    neighbours: Neighbours = "add-remove"
    units: int | None = None  # public n, with replace-one only (semantics 1.3)

    def __post_init__(self) -> None:
        if (self.unit is None) != (self.unit_index is None):
            raise ValueError("a unit has a name and a number")
        if (self.neighbours == "replace-one") != (self.units is not None) or (self.units or 1) < 1:
            raise ValueError("replace-one has a public number of units, and add-remove none")


@dataclass(frozen=True, slots=True)
class Where:
    """The rows for which the predicate is true. Unit-local: it looks at one row, so a unit's rows only become fewer."""

    source: Relation
    predicate: Predicate
    columns: tuple[str, ...]  # the names behind the predicate's column numbers, in the order of the numbers


@dataclass(frozen=True, slots=True)
class InCohort:
    """The rows of `source` with one more column, after the others: 1 where their unit has a row in `among`, else 0.

    IN, NOT IN, EXISTS and NOT EXISTS are conditions on it. Never missing, and the same in all rows of a unit.
    Unit-local: whether a unit has a row in `among` is a fact of its own rows there, which are a function of its own
    rows, as `among` is unit-local; rows are neither added nor taken away.
    """

    source: Relation
    among: Relation


Relation = Rows | Where | InCohort


def below(node: Relation) -> tuple[Relation, ...]:
    """The relations directly below one, in order."""
    match node:
        case Where(source):
            return (source,)
        case InCohort(source, among):
            return (source, among)
    return ()


def walk(node: Relation) -> Iterator[Relation]:
    """A relation and all below it, from the top, without recursion."""
    left = [node]
    while left:
        one = left.pop()
        yield one
        left += reversed(below(one))


def leaves(node: Relation) -> tuple[Rows, ...]:
    """The private tables that are read, in order, each where it stands."""
    return tuple(one for one in walk(node) if isinstance(one, Rows))


def base(node: Relation) -> Rows:
    """The private table whose rows the result's rows are made of: the first one."""
    return leaves(node)[0]


def unnamed(node: Relation) -> Relation:
    """The relation without the names that a question gives to its parts."""
    match node:
        case Where(source):
            return replace(node, source=unnamed(source), columns=())
        case InCohort(source, among):
            return InCohort(unnamed(source), unnamed(among))
    return node
