"""The plan: a question bound to a catalog, typed and immutable (design 1.4).

Below: what is read from private rows, nodes that `stability` folds over, one rule a node; what FROM and WHERE make of
the stored tables is a tree (`plan/relations.py`).
Above: what is done with noisy values (`Output`, HAVING, ORDER BY, LIMIT), which is post-processing and free.

    Bounded( Grouped( Where( Rows ) ) )  ->  calls: COUNT, SUM, AVG  ->  outputs

A plan carries the public facts its sensitivity rests on (bounds, caps, number of keys), so that a receipt holding the
plan is enough to derive the sensitivity again. Key lists are held by their count and digest; the lists themselves are
in the catalog.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any, Final, Literal

from dpcurator.catalog.model import EACH_ROW, KINDS, Kind
from dpcurator.language.rows import Field, Operand
from dpcurator.numbers.readable import readable
from dpcurator.plan.relations import Relation, leaves
from dpcurator.plan.relations import Rows as Rows
from dpcurator.plan.relations import Where as Where

SUMMED: Final = ("values", "centred", "square", "product")  # readings that add up values, on a grid
FINEST: Final = 10**6  # parts in which a quantile's q is counted
LATER: Final[dict[str, Any]] = {"later": True}  # a field that older plans have not: left out where it is the default


@dataclass(frozen=True, slots=True)
class KeyColumn:
    """What is grouped by, with its public list: how many keys, and the sha256 of the list.

    `part` is a column or an expression, whose list is then its image (`plan/public_keys.py`); `name` spells it. No
    list: `count` is None and `digest` empty, and the keys are selected privately (semantics 4.4). per_unit: all rows of
    a unit have the same one, since it is made of such columns alone; no noise is less for it but by `max_groups`.
    """

    name: str
    part: Operand
    type: str
    count: int | None
    digest: str
    per_unit: bool = field(default=False, metadata=LATER)

    def __post_init__(self) -> None:
        if (self.count is None) != (self.digest == "") or (self.count or 0) < 0:
            raise ValueError("a list has a count, at least 0, and a digest")

    @property
    def listed(self) -> bool:
        return self.count is not None


@dataclass(frozen=True, slots=True)
class Grouped:
    """Rows with listed keys only; the keys are all tuples of the columns' lists. No columns: one key for all rows.

    With a column without a list the keys are unknown as a whole: a listed part still drops the rows whose value is not
    listed, and the tuples that occur are candidates. `other`: the readings of the candidates that are not shown are
    answered as well, added up in one more group. `min_units`: of fewer units no unknown key is shown.
    """

    source: Relation
    columns: tuple[KeyColumn, ...]
    other: bool = False
    min_units: int = field(default=1, metadata=LATER)

    def __post_init__(self) -> None:
        if self.other and self.listed:
            raise ValueError("every listed key is answered: there are no others")
        if self.min_units < 1 or (self.min_units > 1 and self.listed):
            raise ValueError("every listed key is answered, of however few units")

    @property
    def listed(self) -> bool:
        """Whether every key is public."""
        return all(column.listed for column in self.columns)

    @property
    def spread(self) -> int | None:
        """In how many groups one unit can be, as some columns are the same in all its rows: None where that says
        nothing, or nothing public."""
        others = [column.count for column in self.columns if not column.per_unit]
        if len(others) == len(self.columns):
            return None
        return None if None in others else max(1, math.prod(count for count in others if count is not None))

    @property
    def keys(self) -> int:
        """K, the number of listed keys. Raises TypeError when the keys are not listed."""
        total = 1
        for column in self.columns:
            if column.count is None:
                raise TypeError("the keys are not listed")
            total *= column.count
        return total


@dataclass(frozen=True, slots=True)
class Bounded:
    """Each unit weighted down to `max_rows` rows a key, `max_groups` keys and `max_total` rows in all (semantics 2.5).

    1, 1 and None for `each row`. max_total is None where the other two alone bind: where it is at least their product.
    """

    source: Grouped
    max_rows: int
    max_groups: int
    max_total: int | None = field(default=None, metadata=LATER)

    def __post_init__(self) -> None:
        if self.max_rows < 1 or self.max_groups < 1:
            raise ValueError("max_rows and max_groups are at least 1")
        if self.max_groups > (self.source.spread or self.max_groups):
            raise ValueError("a unit is in no more groups than the columns allow that are not the same in all its rows")
        if self.max_total is not None and not self.max_rows <= self.max_total < self.max_rows * self.max_groups:
            raise ValueError("max_total is at least max_rows, and below max_rows * max_groups")
        if self.max_total is not None and not self.source.listed and self.max_groups > self.max_total:
            raise ValueError("a unit is whole in each of its chosen keys: they are no more than its rows")


@dataclass(frozen=True, slots=True)
class Measured:
    """What an aggregate reads, a column or an expression, with its bounds (None when there are none).

    `part` says what; `name` spells it. A column's bounds are declared, an expression's follow from those by interval
    arithmetic (`language/intervals.py`); values are clamped to them when they are measured, whatever they rest on.
    `filled`: it is a column that declares a value for missing ones, so it is never missing. `beside`: the other of a
    pair, over the rows where both are present; then each is missing, as it is read, where the other is.
    """

    name: str
    part: Operand
    type: str
    kind: Kind
    lower: Fraction | None
    upper: Fraction | None
    filled: bool = False
    beside: Measured | None = field(default=None, metadata=LATER)

    def __post_init__(self) -> None:
        if self.beside is not None and (self.beside.beside is not None or None in (self.lower, self.beside.lower)):
            raise ValueError("a pair is of two columns, both with bounds")
        if self.filled and not isinstance(self.part, Field):
            raise ValueError("only a column declares a value for missing ones")
        if {KINDS.get(self.type), self.part.kind} != {self.kind} or (self.lower is None) != (self.upper is None):
            raise ValueError("what is measured has the kind of its type, and both bounds or none")
        if self.lower is not None and self.upper is not None and self.lower > self.upper:
            raise ValueError("a lower bound is at most the upper one")

    @property
    def column(self) -> int | None:
        """The number of the column, when it is one."""
        return self.part.index if isinstance(self.part, Field) else None

    @property
    def each(self) -> tuple[Measured, ...]:
        """It alone, or the two of a pair."""
        return (self,) if self.beside is None else (replace(self, beside=None), self.beside)

    @property
    def width(self) -> Fraction:
        """U - L. Raises TypeError where it has no bounds."""
        if self.lower is None or self.upper is None:
            raise TypeError("a column without bounds has no width")
        return self.upper - self.lower


@dataclass(frozen=True, slots=True)
class AggregateCall:
    """`function` is the name of an entry of AGGREGATES; `column` is None for COUNT(*) and COUNT(DISTINCT unit), and one
    beside another for an aggregate of two. q: which quantile, from 0 to 1; None for all that is no quantile. top: how
    many are named, of each `among` keys that follow one another; None for all that names none."""

    function: str
    column: Measured | None
    q: Fraction | None = field(default=None, metadata=LATER)
    top: int | None = field(default=None, metadata=LATER)
    among: int | None = field(default=None, metadata=LATER)

    def __post_init__(self) -> None:
        _is_level(self.q)
        _names_some(self.top, self.among)


def of_values(call: AggregateCall) -> bool:
    """Whether it is COUNT(DISTINCT x), of anything but the protected unit."""
    return call.function == "COUNT DISTINCT" and call.column is not None


@dataclass(frozen=True, slots=True)
class Ask:
    """A reading a question pays for. rows, units, present: counts. distinct: a count of the column's different values.
    values: a sum. centred: 2 S' - W n'. quantile: which of the column's candidates (`plan/candidates.py`) is chosen as
    its q-quantile. top: of a count, which keys it is greatest in, chosen among each `among` that follow one another in
    their order; a key's number is then its place, from 1 to `top`, or 0.

    square, product: 2 S' - W n' as well, of how far the column is from the middle of its bounds, squared, or times how
    far the column beside it is from that of its own; of its least and greatest value as `ends` has them.

    The last three are one number whatever the keys, in which each unit counts once (semantics 2.9). everyone: the units
    with a row under any key. cut: those of them that are weighted down or have a value of one of `clamped` outside its
    bounds; cut_groups: the same where only the number of a unit's groups matters.
    """

    what: Literal["rows", "units", "present", "values", "centred", "square", "product", "quantile",
                  "distinct", "everyone", "cut", "cut_groups"]
    column: Measured | None = None
    clamped: tuple[Measured, ...] = field(default=(), metadata=LATER)
    q: Fraction | None = field(default=None, metadata=LATER)
    top: int | None = field(default=None, metadata=LATER)
    among: int | None = field(default=None, metadata=LATER)

    def __post_init__(self) -> None:
        _is_level(self.q)
        _names_some(self.top, self.among)
        if self.top is not None and self.what not in ("rows", "units", "present"):
            raise ValueError("keys are named by a count")
        if (self.what == "quantile") != (self.q is not None) or (self.q is not None and self.column is None):
            raise ValueError("a quantile has its q and its column, and nothing else has one")
        if self.clamped and self.what not in ("cut", "cut_groups"):
            raise ValueError("only a count of the units that are cut names what is clamped")
        if (self.what == "product") != (self.column is not None and self.column.beside is not None):
            raise ValueError("a product is of a column and of the one beside it, and nothing else is")

    @property
    def on_grid(self) -> Measured | Ask | None:
        """What is measured on a grid for it: the column, or this very square or product; None for a count."""
        if self.what not in SUMMED:
            return None
        return self if self.what in ("square", "product") else self.column

    @property
    def ends(self) -> tuple[Fraction, Fraction] | None:
        """The least and the greatest that is added up of one row, in the query's unit; None for a count."""
        column = self.column
        if self.what not in SUMMED or column is None or column.lower is None or column.upper is None:
            return None
        if self.what == "square":
            return Fraction(0), column.width**2 / 4
        if column.beside is not None:
            return -column.width * column.beside.width / 4, column.width * column.beside.width / 4
        return column.lower, column.upper

    @property
    def overall(self) -> bool:
        """Whether it is one number, whatever the keys."""
        return self.what in ("everyone", "cut", "cut_groups")


def _is_level(q: Fraction | None) -> None:
    if q is not None and not (0 <= q <= 1 and q.denominator <= FINEST):
        raise ValueError("a quantile is from 0 to 1, in at most so many parts")


def _names_some(top: int | None, among: int | None) -> None:
    if (top is None) != (among is None) or (top is not None and among is not None and not 1 <= top <= among):
        raise ValueError("at least one key is named, and at most all of those it is named among")


# --- what is done with noisy values -------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Key:
    """The value of the grouping column number `index`."""

    index: int


@dataclass(frozen=True, slots=True)
class Result:
    """The value of the aggregate call number `index`."""

    index: int


@dataclass(frozen=True, slots=True)
class Given:
    """A constant: a number, a text, a boolean or NULL. Dates are their column's physical value."""

    value: Fraction | str | bool | None


@dataclass(frozen=True, slots=True)
class Apply:
    """An operator or function on post-processed values: see `release/finish.py` for the list and each one's meaning."""

    op: str
    parts: tuple[Post, ...]


Post = Key | Result | Given | Apply


@dataclass(frozen=True, slots=True)
class Output:
    """A column of the answer: its title, what it is, and how to show it ('whole' numbers are rounded to integers)."""

    title: str
    part: Post
    shown: str  # number, whole, truth, or a column type


@dataclass(frozen=True, slots=True)
class Order:
    part: Post
    descending: bool
    nulls_first: bool


@dataclass(frozen=True, slots=True)
class Plan:
    source: Bounded
    calls: tuple[AggregateCall, ...]
    outputs: tuple[Output, ...]
    having: Post | None = None
    order: tuple[Order, ...] = ()
    limit: int | None = None
    offset: int = 0
    sets: tuple[tuple[int, ...], ...] = field(default=(), metadata=LATER)  # of grouping columns, each answered: totals
    cut: bool = field(default=False, metadata=LATER)  # how many units are cut is counted too (`pricing/cut.py`)

    __repr__ = readable


def measured_of(plan: Plan) -> tuple[Measured, ...]:
    """What its aggregates are of, each column of a pair by itself."""
    return tuple(one for call in plan.calls if call.column is not None for one in call.column.each)


def owners_of(plan: Plan) -> tuple[tuple[str, str], ...]:
    """(private table, the column that owns its rows, or "each row") of each table that a plan reads."""
    return tuple(dict.fromkeys((one.table, one.unit or EACH_ROW) for one in leaves(plan.source.source.source)))
