"""Relations of the core plan: what an engine reads a plan's rows from, where that is more than one stored table.

Each node has its result's columns numbered from 0. A unit, where a node names one, is the number of the column that
owns a row; it is never missing, since `Stored` leaves out rows without one. `Scan` (plan/core.py) of a relation names
its columns c0, c1, ... as if it were stored. Every node is a function of bags of rows, and raises on none.
Checked in tests/laws/test_heart_relations.py.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from dpcurator.catalog.model import MAX_LENGTH, Kind, Value
from dpcurator.language.rows import Expression, Predicate


@dataclass(frozen=True, slots=True)
class Source:
    """A stored column, read canonically: NaN is missing, -0.0 is 0.0, a text of more than `letters` code
    points is missing, then missing becomes `fill` unless None."""

    name: str  # the snapshot's physical column name: c0, c1, ...; never a user's spelling
    kind: Kind
    fill: Value = None
    letters: int = MAX_LENGTH  # the column's public max_length; plays no part where it is no text


@dataclass(frozen=True, slots=True)
class Stored:
    """The rows of a stored table with these columns; those whose `unit` is missing are left out."""

    table: str  # the snapshot's physical table name: t0, t1, ...
    columns: tuple[Source, ...]
    unit: int


@dataclass(frozen=True, slots=True)
class Only:
    """The rows for which the predicate is true."""

    source: CoreRelation
    predicate: Predicate


@dataclass(frozen=True, slots=True)
class Flag:
    """The rows of `source` with one more column: 1 where some row of `among` has the same unit, else 0."""

    source: CoreRelation
    unit: int
    among: CoreRelation
    among_unit: int


CoreRelation = Stored | Only | Flag


def below(node: CoreRelation) -> tuple[CoreRelation, ...]:
    """The relations directly below one; a stored table has none."""
    match node:
        case Only(source):
            return (source,)
        case Flag(source, _, among):
            return (source, among)
    return ()


def walk(node: CoreRelation) -> Iterator[CoreRelation]:
    """A relation and all below it."""
    yield node
    for one in below(node):
        yield from walk(one)


def expressions_of(node: CoreRelation) -> tuple[Expression, ...]:
    """The expressions of rows that one node computes, over the columns of the relation below it."""
    return (node.predicate,) if isinstance(node, Only) else ()


def columns_of(node: CoreRelation) -> tuple[Source, ...]:
    """The result's columns, with their kinds and the most letters of a text."""
    match node:
        case Stored(_, columns):
            return columns
        case Only(source):
            return columns_of(source)
        case Flag(source):
            return (*columns_of(source), Source("", "integer"))
