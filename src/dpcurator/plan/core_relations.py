"""Relations of the core plan: what an engine reads a plan's rows from, where that is more than one stored table.

Each node has its result's columns numbered from 0. A unit, where a node names one, is the number of the column that
owns a row; it is never missing, since `Stored` leaves out rows without one. `Scan` (plan/core.py) of a relation names
its columns c0, c1, ... as if it were stored. Every node is a function of bags of rows, and raises on none.
Checked in tests/laws/test_heart_relations.py.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from dpcurator.catalog.model import MAX_LENGTH, Kind, Value
from dpcurator.language.functions import BY_NAME
from dpcurator.language.rows import Choose, Compute, Constant, Expression, Field, Operand, Predicate


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
    """The rows of a stored table with these columns; those whose `unit` is missing are left out, where there is one."""

    table: str  # the snapshot's physical table name: t0, t1, ...
    columns: tuple[Source, ...]
    unit: int | None


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


@dataclass(frozen=True, slots=True)
class Found:
    """The rows of `source` with one more column: 1 where some row of `other` has equal values, column on[i] of the one
    and i of the other, which has no more; else 0. A missing value equals none.

    unknown: with one pair of columns: where none is equal and `other` has rows, missing if the value is, or one of
    theirs: SQL's IN."""

    source: CoreRelation
    on: tuple[int, ...]
    other: CoreRelation
    unknown: bool


@dataclass(frozen=True, slots=True)
class Columns:
    """The rows with exactly these columns, each computed of one row of `source`."""

    source: CoreRelation
    parts: tuple[Operand, ...]


@dataclass(frozen=True, slots=True)
class Folded:
    """What is made of the values of one column in the rows of a group, NaN and missing ones left out.

    rows, present, distinct: a count. sum_i, sum_f, avg_i, avg_f, least, greatest, arg_least, arg_greatest (of `column`
    in the rows where it and `by` are present and `by` is least, or greatest; the smallest of several): missing where
    there is none.
    sum_i: missing beyond 64 bits. sum_f: values as they are measured by `grid`, a Grid of this column (plan/core.py);
    with S = the sum of their integers + count * lower, the nearest double to S, times 2**-exponent as doubles.
    avg_i: the double nearest to sum / count. avg_f: that nearest to S / count, times 2**-exponent. Infinite: missing.
    """

    function: str
    column: int = 0
    by: int = 0
    ends: tuple[float, float] = (0.0, 0.0)  # of the clamp, for floats
    steps: tuple[int, int] = (0, 0)  # the same in steps of 2**-exponent
    exponent: int = 0


@dataclass(frozen=True, slots=True)
class Groups:
    """One row for each combination of values in the first `keys` columns: these values, and the folds. A missing value
    equals a missing value."""

    source: CoreRelation
    keys: int
    folds: tuple[Folded, ...]


@dataclass(frozen=True, slots=True)
class Match:
    """Each row of `source` with the columns of each row of `other` with equal values in all pairs of columns (on[i],
    other_on[i]); a missing value equals none. left: a row without any stays, with missing values."""

    source: CoreRelation
    other: CoreRelation
    on: tuple[int, ...]
    other_on: tuple[int, ...]
    left: bool


@dataclass(frozen=True, slots=True)
class Both:
    """The rows of `source` and those of `other`, which have columns of the same kinds."""

    source: CoreRelation
    other: CoreRelation


@dataclass(frozen=True, slots=True)
class Order:
    column: int
    descending: bool
    missing_first: bool


@dataclass(frozen=True, slots=True)
class Ranked:
    """The rows with one more column: 1, 2, ... among the rows with the same values in the columns `keys`, in order.
    A missing value equals a missing value. Rows that are equal in all columns of `order` have their numbers in any
    way, so `order` names every column that is looked at afterwards."""

    source: CoreRelation
    keys: tuple[int, ...]
    order: tuple[Order, ...]


CoreRelation = Stored | Only | Flag | Found | Columns | Groups | Match | Both | Ranked


def below(node: CoreRelation) -> tuple[CoreRelation, ...]:
    """The relations directly below one; a stored table has none."""
    match node:
        case Only(source) | Columns(source) | Groups(source) | Ranked(source):
            return (source,)
        case Flag(source, _, among):
            return (source, among)
        case Match() | Both() | Found():
            return (node.source, node.other)
    return ()


def distinct_columns(node: CoreRelation) -> frozenset[int] | None:
    """Columns of which no two rows have the same values, missing ones too, as the relation is made; None where there
    may be none such."""
    match node:
        case Groups(_, keys):
            return frozenset(range(keys))
        case Only(source) | Flag(source) | Found(source) | Ranked(source):
            return distinct_columns(source)
        case Match(source, other, _, other_on):
            met = distinct_columns(other)
            return distinct_columns(source) if met is not None and met <= set(other_on) else None
        case Columns(source, parts):
            found = distinct_columns(source)
            places = {part.index: place for place, part in enumerate(parts) if isinstance(part, Field)}
            kept = found is not None and found <= set(places)
            return frozenset(places[index] for index in found or ()) if kept else None
    return None


def walk(node: CoreRelation) -> Iterator[CoreRelation]:
    """A relation and all below it."""
    yield node
    for one in below(node):
        yield from walk(one)


def expressions_of(node: CoreRelation) -> tuple[Expression, ...]:
    """The expressions of rows that one node computes, over the columns of the relation below it."""
    match node:
        case Only(_, predicate):
            return (predicate,)
        case Columns(_, parts):
            return parts
    return ()


def columns_of(node: CoreRelation) -> tuple[Source, ...]:
    """The result's columns, with their kinds and the most letters of a text."""
    match node:
        case Stored(_, columns):
            return columns
        case Only(source):
            return columns_of(source)
        case Flag() | Found() | Ranked():
            return (*columns_of(node.source), Source("", "integer"))
        case Both(source, other):
            pairs = zip(columns_of(source), columns_of(other), strict=True)
            return tuple(Source("", one.kind, None, max(one.letters, two.letters)) for one, two in pairs)
        case Match(source, other):
            return (*columns_of(source), *columns_of(other))
        case Columns(source, parts):
            below_ = columns_of(source)
            return tuple(Source("", part.kind, None, _letters(part, below_)) for part in parts)
        case Groups(source, keys, folds):
            below_ = columns_of(source)
            return (*below_[:keys], *(_folded(fold, below_) for fold in folds))


def _folded(fold: Folded, columns: tuple[Source, ...]) -> Source:
    if fold.function in ("rows", "present", "distinct", "sum_i"):
        return Source("", "integer")
    return Source("", "float") if fold.function in ("sum_f", "avg_i", "avg_f") else columns[fold.column]


def _letters(part: Operand, columns: tuple[Source, ...]) -> int:
    return letters(part, lambda index: columns[index].letters)


def letters(part: Operand, of: Callable[[int], int]) -> int:
    """The most letters of a text that is computed; `of` says so of a column. MAX_LENGTH where it is no text."""
    match part:
        case _ if part.kind != "text":
            return MAX_LENGTH
        case Field(index):
            return of(index)
        case Constant(value):
            return max(1, len(str(value)))
        case Choose(branches, otherwise):
            return max(letters(one, of) for one in (*(branch.value for branch in branches), otherwise))
        case Compute(name, parts, _, literals):
            inner = tuple(letters(one, of) if one.kind == "text" else 0 for one in parts)
            return max(1, BY_NAME[name].letters(inner, literals))
    return 1
