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
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Final

from dpcurator.catalog.model import Neighbours
from dpcurator.language.rows import AllOf, Compare, Constant, Expression, Field, Operand, Predicate


@dataclass(frozen=True, slots=True)
class Rows:
    """All rows of a private table. `unit`: the column whose value owns a row, or None when each row is a unit. one_row:
    a unit has one row at most, as the catalog declares and a refresh saw to; nothing that is promised rests on it.

    Unit-local: a unit's rows are its rows. Column numbers of what stands on it are positions in the catalog's table.
    """

    table: str
    unit: str | None
    unit_index: int | None
    neighbours: Neighbours = "add-remove"
    units: int | None = None  # public n, with replace-one only (semantics 1.3)
    one_row: bool = field(default=False, metadata={"later": True})  # plans written before it keep their bytes

    def __post_init__(self) -> None:
        if (self.unit is None) != (self.unit_index is None):
            raise ValueError("a unit has a name and a number")
        if (self.neighbours == "replace-one") != (self.units is not None) or (self.units or 1) < 1:
            raise ValueError("replace-one has a public number of units, and add-remove none")
        if self.one_row and self.unit is None:
            raise ValueError("a row that is a unit is not one of several")


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


@dataclass(frozen=True, slots=True)
class Made:
    """A column that is computed of one row; `name` is what it goes by, `type` a type of the catalog."""

    name: str
    part: Operand
    type: str


@dataclass(frozen=True, slots=True)
class InPublic:
    """The rows of `source` with one more column, after the others: 1 where a public table has a row, of those for which
    `predicate` is true, with equal values, else 0. here[i] is computed of the row, there[i] of the public one, and a
    missing value equals none.

    unknown: as SQL's IN of one value: where none is equal, and there are such public rows, it is missing if the value
    is, or if one of theirs is. Unit-local: it is computed of one row, and of public rows; rows are neither added nor
    taken away.
    """

    source: Relation
    table: str
    here: tuple[Made, ...]
    there: tuple[Made, ...]
    predicate: Predicate | None
    unknown: bool

    def __post_init__(self) -> None:
        if len(self.here) != len(self.there) or not self.here or (self.unknown and len(self.here) > 1):
            raise ValueError("values are compared in pairs, by IN one pair")


@dataclass(frozen=True, slots=True)
class Computed:
    """The rows with these columns more, after the others. Unit-local: each is computed of one row."""

    source: Relation
    columns: tuple[Made, ...]


@dataclass(frozen=True, slots=True)
class Fold:
    """What is made of the rows of one unit and key: exact, and the same in whatever order the rows are.

        rows      how many            present, distinct   of `part`: present values, different ones
        sum, avg  of whole numbers exactly, missing beyond 64 bits; of floats on a grid that follows from `lower` and
                  `upper`, to which values are clamped, rounded once to the nearest double
        least, greatest               arg_least, arg_greatest   `part` where `by` is so, the smallest of several
    """

    name: str
    function: str
    type: str
    part: Operand | None = None
    by: Operand | None = None
    lower: Fraction | None = None
    upper: Fraction | None = None

    def __post_init__(self) -> None:
        bounded = self.function in ("sum", "avg") and self.part is not None and self.part.kind == "float"
        if self.function not in FOLDS or (self.part is None) != (self.function == "rows"):
            raise ValueError("no fold has this name, or it is of nothing")
        if (self.by is None) == self.function.startswith("arg_"):
            raise ValueError("the least of something else is by something else")
        if (self.lower is not None, self.upper is not None) != (bounded, bounded) or (self.lower or 0) > (
            self.upper or 0
        ):
            raise ValueError("a sum of floats is within bounds, and nothing else is")


FOLDS: Final = ("rows", "present", "distinct", "sum", "avg", "least", "greatest", "arg_least", "arg_greatest")


@dataclass(frozen=True, slots=True)
class PerUnit:
    """One row for each unit and key that has a row: the unit, the keys, and what each fold makes of these rows.

    Unit-local: a unit's rows are grouped with rows of the same unit only, and a fold is a function of their bag. Keys
    need no public list, since they are inside the unit; a missing value is a key like any other.
    """

    source: Relation
    keys: tuple[Made, ...]
    folds: tuple[Fold, ...]


@dataclass(frozen=True, slots=True)
class JoinOnUnit:
    """The rows of `source`, each with the columns of the row of `other` that has the same unit and equal values: column
    on[i] of the one equals column other_on[i] of the other, and a missing value equals none.

    `other` has at most one row for a unit and these values, so no row becomes two. `left`: a row that finds none stays,
    with missing values; otherwise it is left out. Unit-local: a unit's rows meet rows of the same unit only, and what
    they find is a function of these. The units are compared by the node itself: no plan says which columns they are.
    """

    source: Relation
    other: Relation
    on: tuple[int, ...]
    other_on: tuple[int, ...]
    left: bool

    def __post_init__(self) -> None:
        if len(self.on) != len(self.other_on) or any(index < 0 for index in (*self.on, *self.other_on)):
            raise ValueError("a join compares columns in pairs")


@dataclass(frozen=True, slots=True)
class JoinPublic:
    """The rows of `source`, each with the columns of every row of a public table that has equal values: column on[i] of
    the one equals column other_on[i] of the other, and a missing value equals none. `left`: as in `JoinOnUnit`.

    made: of the public row are computed, too; they are numbered after its columns, and are no columns of the result.
    single: the public table has these values in one row at most; else a row may become many, which bounding limits, as
    it comes after. Nothing that is promised rests on it. Unit-local: what a row becomes depends on that row, and on
    public rows.
    """

    source: Relation
    table: str
    on: tuple[int, ...]
    other_on: tuple[int, ...]
    left: bool
    single: bool
    made: tuple[Made, ...] = field(default=(), metadata={"later": True})

    def __post_init__(self) -> None:
        if len(self.on) != len(self.other_on) or not self.on or min(*self.on, *self.other_on) < 0:
            raise ValueError("a join compares columns in pairs")


@dataclass(frozen=True, slots=True)
class UnionAll:
    """The rows of `source` and those of `other`, each its unit and these columns: columns[i] of the one and
    other_columns[i] of the other are one column, of one type.

    Unit-local: a unit's rows are its rows on the one side and its rows on the other. The unit is put first by the node
    itself: no plan says which columns they are.
    """

    source: Relation
    other: Relation
    columns: tuple[int, ...]
    other_columns: tuple[int, ...]

    def __post_init__(self) -> None:
        if len(self.columns) != len(self.other_columns) or min((*self.columns, *self.other_columns), default=0) < 0:
            raise ValueError("rows of two relations are put together column by column")


@dataclass(frozen=True, slots=True)
class Sorted:
    """What rows are put in order by: the least first, or with `descending` the greatest."""

    part: Operand
    descending: bool
    missing_first: bool


@dataclass(frozen=True, slots=True)
class Numbered:
    """The rows with one more column, number `at`, after the others: 1, 2, ... among the rows of the same unit and keys,
    in order of `along`; where these are equal, in the canonical order of all columns (missing first, then by value).

    Unit-local: a row is compared with rows of the same unit only, by their own values; rows that are equal in all
    columns are the same in the bag, whichever has which number. The unit is a key by the node itself: no plan leaves it
    out.
    """

    source: Relation
    at: int
    keys: tuple[Made, ...]
    along: tuple[Sorted, ...]


Relation = Rows | Where | InCohort | InPublic | Computed | PerUnit | JoinOnUnit | JoinPublic | UnionAll | Numbered


def below(node: Relation) -> tuple[Relation, ...]:
    """The relations directly below one, in order."""
    match node:
        case Where() | Computed() | PerUnit() | JoinPublic() | Numbered() | InPublic():
            return (node.source,)
        case InCohort(source, among):
            return (source, among)
        case JoinOnUnit(source, other) | UnionAll(source, other):
            return (source, other)
    return ()


def walk(node: Relation) -> Iterator[Relation]:
    """A relation and all below it, from the top, without recursion."""
    left = [node]
    while left:
        one = left.pop()
        yield one
        left += reversed(below(one))


def expressions_of(node: Relation) -> list[Expression]:
    """The expressions of rows that one node has, over the columns of the relation below it."""
    match node:
        case Where(_, predicate):
            return [predicate]
        case Computed(_, columns) | InPublic(_, _, columns):
            return [one.part for one in columns]
        case PerUnit(_, keys, folds):
            every = [*(one.part for one in keys), *(part for fold in folds for part in (fold.part, fold.by))]
            return [part for part in every if part is not None]
        case Numbered(_, _, keys, along):
            return [*(one.part for one in keys), *(one.part for one in along)]
    return []


def public_expressions_of(node: Relation) -> list[Expression]:
    """The expressions of rows that a node has over the columns of its public table."""
    if isinstance(node, JoinPublic):
        return [one.part for one in node.made]
    if not isinstance(node, InPublic):
        return []
    made: list[Expression] = [one.part for one in node.there]
    return made if node.predicate is None else [node.predicate, *made]


def leaves(node: Relation) -> tuple[Rows, ...]:
    """The private tables that are read, in order, each where it stands."""
    return tuple(one for one in walk(node) if isinstance(one, Rows))


def base(node: Relation) -> Rows:
    """The private table whose rows the result's rows are made of: the first one."""
    return leaves(node)[0]


def one_row(node: Relation) -> bool:
    """Whether a unit has at most one row, as the tree alone tells: then no cap leaves anything of it out."""
    match node:
        case Rows(_, unit):
            return unit is None or node.one_row
        case Where(source) if (first := first_of(node)) is not None and not first.keys:
            return True
        case Where() | Computed() | InCohort() | InPublic() | JoinOnUnit() | Numbered():
            return one_row(node.source)
        case PerUnit(_, keys):
            return not keys
        case JoinPublic(source, single=single):
            return single and one_row(source)
    return False


def first_of(node: Where) -> Numbered | None:
    """The numbering of which it keeps the rows with number 1, at most one of a unit and its keys; None where none."""
    ones, left = set[int](), [node.predicate]
    while left:
        match left.pop():
            case AllOf(parts):
                left += parts
            case Compare("=", Field(index), Constant(1)) | Compare("=", Constant(1), Field(index)):
                ones.add(index)
    below_: Relation = node.source
    while True:  # these add columns after the others, and make no row several
        match below_:
            case Numbered(source, at):
                if at in ones:
                    return below_
                below_ = source
            case Where() | Computed() | InCohort() | InPublic() | JoinOnUnit():
                below_ = below_.source
            case JoinPublic(source, single=True):
                below_ = source
            case _:
                return None


def unnamed(node: Relation) -> Relation:
    """The relation without the names that a question gives to its parts."""
    match node:
        case Where(source):
            return replace(node, source=unnamed(source), columns=())
        case InCohort(source, among):
            return InCohort(unnamed(source), unnamed(among))
        case InPublic(source, _, here, there):
            nameless = (tuple(replace(one, name="") for one in some) for some in (here, there))
            return replace(node, source=unnamed(source), here=next(nameless), there=next(nameless))
        case Computed(source, columns):
            return Computed(unnamed(source), tuple(replace(one, name="") for one in columns))
        case JoinOnUnit(source, other) | UnionAll(source, other):
            return replace(node, source=unnamed(source), other=unnamed(other))
        case Numbered(source, _, keys):
            return replace(node, source=unnamed(source), keys=tuple(replace(one, name="") for one in keys))
        case JoinPublic(source):
            return replace(node, source=unnamed(source), made=tuple(replace(one, name="") for one in node.made))
        case PerUnit(source, keys, folds):
            named = (tuple(replace(one, name="") for one in keys), tuple(replace(one, name="") for one in folds))
            return PerUnit(unnamed(source), *named)
    return node
