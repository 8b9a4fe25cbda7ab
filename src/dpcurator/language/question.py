"""A question before it is bound: syntax only, the same whichever front it came from.

Names are as the analyst spelled them, with whether they were quoted; nothing has been looked up yet. `bind` turns a
Question and a Catalog into a Plan, or refuses.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Final, Literal

from dpcurator.errors import Refusal
from dpcurator.numbers import whole

Operator = Literal["+", "-", "*", "/", "%", "||", "=", "<>", "<", "<=", ">", ">=", "IS DISTINCT FROM", "AND", "OR"]
MOST_PARTS: Final = 20_000  # of one clause's expression, counted where they stand


@dataclass(frozen=True, slots=True)
class Name:
    """A column as written: `visits."net gain"` has table `visits`. `at` says where, for messages."""

    column: str
    quoted: bool = False
    table: str | None = None
    table_quoted: bool = False
    at: str = field(default="", compare=False)


@dataclass(frozen=True, slots=True)
class Literally:
    """A literal: an exact number, a text, a boolean, or NULL. `type` is set by DATE '...', TIMESTAMP '...' and INTERVAL
    '...'."""

    value: Fraction | str | bool | None
    type: str | None = None


@dataclass(frozen=True, slots=True)
class Unary:
    op: Literal["-", "NOT", "IS NULL", "IS TRUE", "IS FALSE"]
    part: Syntax


@dataclass(frozen=True, slots=True)
class Binary:
    op: Operator
    left: Syntax
    right: Syntax


@dataclass(frozen=True, slots=True)
class Within:
    """part IN (options)"""

    part: Syntax
    options: tuple[Syntax, ...]


@dataclass(frozen=True, slots=True)
class Fits:
    """part LIKE pattern ESCAPE escape; `fold`: ILIKE."""

    part: Syntax
    pattern: Syntax
    escape: Syntax | None = None
    fold: bool = False


@dataclass(frozen=True, slots=True)
class Branch:
    """WHEN condition THEN value"""

    condition: Syntax
    value: Syntax


@dataclass(frozen=True, slots=True)
class Case:
    """CASE WHEN ... THEN ... ELSE otherwise END"""

    branches: tuple[Branch, ...]
    otherwise: Syntax | None = None


@dataclass(frozen=True, slots=True)
class Cast:
    """CAST(part AS type), or TRY_CAST; `type` as SQL spells it, in capitals."""

    part: Syntax
    type: str
    at: str = field(default="", compare=False)


@dataclass(frozen=True, slots=True)
class Call:
    """A function: COUNT(*) has `star`, COUNT(DISTINCT x) has `distinct`."""

    function: str
    arguments: tuple[Syntax, ...] = ()
    distinct: bool = False
    star: bool = False
    at: str = field(default="", compare=False)


@dataclass(frozen=True, slots=True)
class Cohort:
    """part IN (SELECT ...); without `part`, EXISTS (SELECT ...)."""

    part: Syntax | None
    query: Query
    at: str = field(default="", compare=False)


@dataclass(frozen=True, slots=True)
class Place:
    """ROW_NUMBER() OVER (PARTITION BY partition ORDER BY order)"""

    partition: tuple[Syntax, ...]
    order: tuple[Ordering, ...]
    at: str = field(default="", compare=False)


Syntax = Name | Literally | Unary | Binary | Within | Fits | Case | Cast | Call | Cohort | Place


def inside(part: Syntax) -> tuple[Syntax, ...]:
    """The expressions directly inside one, in order."""
    match part:
        case Unary(_, inner) | Cast(inner, _):
            return (inner,)
        case Binary(_, left, right):
            return (left, right)
        case Within(inner, options):
            return (inner, *options)
        case Fits(inner, pattern, escape):
            return (inner, pattern) if escape is None else (inner, pattern, escape)
        case Case(branches, otherwise):
            sides = [side for branch in branches for side in (branch.condition, branch.value)]
            return tuple(sides if otherwise is None else [*sides, otherwise])
        case Call(_, arguments):
            return arguments
        case Cohort(inner) if inner is not None:
            return (inner,)
        case Place(partition, order):
            return (*partition, *(one.part for one in order))
    return ()


def with_parts(part: Syntax, parts: Sequence[Syntax]) -> Syntax:
    """The expression with others directly inside it, in the order of `inside`."""
    match part:
        case Unary() | Cast() | Cohort() if parts:
            return replace(part, part=parts[0])
        case Binary(op):
            return Binary(op, parts[0], parts[1])
        case Within():
            return Within(parts[0], tuple(parts[1:]))
        case Fits():
            return replace(part, part=parts[0], pattern=parts[1], escape=parts[2] if len(parts) == 3 else None)
        case Case(branches, otherwise):
            sides = parts if otherwise is None else parts[:-1]
            made = tuple(Branch(sides[i], sides[i + 1]) for i in range(0, 2 * len(branches), 2))
            return Case(made, None if otherwise is None else parts[-1])
        case Call():
            return replace(part, arguments=tuple(parts))
        case Place(partition, order):
            size = len(partition)
            moved = (replace(one, part=put) for one, put in zip(order, parts[size:], strict=True))
            return replace(part, partition=tuple(parts[:size]), order=tuple(moved))
    return part


def chain(op: Operator, parts: list[Syntax]) -> Syntax:
    """a AND b AND c ..., balanced, so that a long chain is not a deep one."""
    if len(parts) == 1:
        return parts[0]
    half = len(parts) // 2
    return Binary(op, chain(op, parts[:half]), chain(op, parts[half:]))


def walk(part: Syntax) -> Iterator[Syntax]:
    """An expression and all within it, in order; without recursion."""
    left = [part]
    while left:
        one = left.pop()
        yield one
        left += reversed(inside(one))


def place(part: Syntax) -> str:
    """Where an expression begins, as far as its names and calls tell."""
    return next((at for at in (getattr(one, "at", "") for one in walk(part)) if at), "")


def weigh(part: Syntax) -> None:
    """Refuse an expression of too many parts. A part used twice counts twice, though it is one object: CASE x and
    BETWEEN use theirs again."""
    sizes: dict[int, int] = {}
    left = [part]
    while left:
        one = left[-1]
        within = inside(one)
        unknown = [inner for inner in within if id(inner) not in sizes]
        if unknown:
            left += unknown
            continue
        sizes[id(left.pop())] = 1 + sum(sizes[id(inner)] for inner in within)
    if sizes[id(part)] > MOST_PARTS:
        raise Refusal(f"an expression has more than {MOST_PARTS:,} parts.", cure="Simplify it.")


@dataclass(frozen=True, slots=True)
class Item:
    """One entry of the select list; `label` is its column's title when it has no alias."""

    part: Syntax
    alias: str | None
    label: str


# --- what stands in FROM, and subqueries ----------------------------------------------------------------------------
# A name of WITH is no part of it: whatever reads a question puts the subquery in its place.


@dataclass(frozen=True, slots=True)
class Named:
    """A table of the catalog, as written."""

    name: str
    quoted: bool = False
    alias: str | None = None
    at: str = field(default="", compare=False)
    early: str = field(default="", compare=False)  # "itself", "cycle", "later": where a WITH gives the name, not here


@dataclass(frozen=True, slots=True)
class Inner:
    """(SELECT ...) AS alias"""

    query: Query
    alias: str | None = None
    at: str = field(default="", compare=False)


@dataclass(frozen=True, slots=True)
class Join:
    """left JOIN right ON on, or USING (using). turned: it is written the other way round, as right RIGHT JOIN left.
    one_row, one_type: cures in the words of a front that is not SQL."""

    left: From
    right: From
    kind: Literal["INNER", "LEFT"]
    on: Syntax | None = None
    using: tuple[Name, ...] = ()
    at: str = field(default="", compare=False)
    one_row: str = field(default="", compare=False)
    one_type: str = field(default="", compare=False)
    turned: bool = False


From = Named | Inner | Join


@dataclass(frozen=True, slots=True)
class Everything:
    """* or table.*"""

    table: str | None = None
    table_quoted: bool = False
    at: str = field(default="", compare=False)


@dataclass(frozen=True, slots=True)
class Select:
    """A SELECT inside another one."""

    items: tuple[Item | Everything, ...]
    source: From
    where: Syntax | None = None
    group_by: tuple[Syntax, ...] = ()
    having: Syntax | None = None
    qualify: Syntax | None = None
    distinct: bool = False
    weight: int = field(default=1, compare=False)  # SELECTs in it and below, each counted where it stands


@dataclass(frozen=True, slots=True)
class Stacked:
    """one UNION ALL another"""

    parts: tuple[Query, ...]
    at: str = field(default="", compare=False)


Query = Select | Stacked


# --- the whole --------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Ordering:
    part: Syntax
    descending: bool
    nulls_first: bool


@dataclass(frozen=True, slots=True)
class Caps:
    """How much of one unit counts in an answer: rows in all, rows in one group, groups. None: not said.

    min_units: of fewer units no group that nobody listed is shown."""

    max_total: int | None = None
    max_rows: int | None = None
    max_groups: int | None = None
    min_units: int | None = None

    def or_else(self, other: Caps) -> Caps:
        """These where any is said, else the other ones: caps are named together or not at all. The larger of the two
        least numbers of units: a question can only be stricter."""
        caps = other if replace(self, min_units=None) == Caps() else self
        return replace(caps, min_units=max(self.min_units or 1, other.min_units or 1))


NO_CAPS: Final = Caps()


def caps_of(
    max_total: object = None, max_rows: object = None, max_groups: object = None, min_units: object = None
) -> Caps:
    """Caps as somebody gives them, each None or a whole number of at least 1. Raises Refusal."""
    given = {"max_total": max_total, "max_rows": max_rows, "max_groups": max_groups, "min_units": min_units}
    return Caps(**{name: whole(value, name=name, least=1) for name, value in given.items() if value is not None})


@dataclass(frozen=True, slots=True)
class Question:
    items: tuple[Item, ...]
    table: str
    table_quoted: bool
    table_alias: str | None
    where: Syntax | None = None
    group_by: tuple[Syntax, ...] = ()
    other: bool = False  # GROUP BY WITH_OTHER(...): one more group, of all keys that are not shown
    sets: tuple[tuple[int, ...], ...] = ()  # of ROLLUP and the like: the columns, by number, that each set keeps
    having: Syntax | None = None
    order_by: tuple[Ordering, ...] = ()
    limit: int | None = None
    offset: int = 0
    caps: Caps = NO_CAPS  # the question's own, instead of the catalog's
    price: tuple[tuple[str, str], ...] = ()  # epsilon and delta, where the question itself says them
    table_at: str = field(default="", compare=False)
    source: From | None = None  # what stands in FROM, where it is no table alone; then `table` is empty
