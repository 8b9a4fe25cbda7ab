"""The plan: a question bound to a catalog, typed and immutable (DESIGN 1.4).

Below: what is read from private rows, a chain of nodes that `stability` folds over, one rule a node.
Above: what is done with noisy values (`Output`, HAVING, ORDER BY, LIMIT), which is post-processing and free.

    Bounded( Grouped( Where( Rows ) ) )  ->  calls: COUNT, SUM, AVG  ->  outputs

A plan carries the public facts its sensitivity rests on (bounds, caps, number of keys), so that a receipt holding the
plan is enough to derive the sensitivity again. Key lists are held by their count and digest; the lists themselves are
in the catalog.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

from dpcurator.catalog.model import KINDS, Kind
from dpcurator.plan.rows import Predicate


@dataclass(frozen=True, slots=True)
class Rows:
    """All rows of a private table. `unit`: the column whose value owns a row, or None when each row is a unit.

    Column numbers, here and in `Where`, are positions in the catalog's table.
    """

    table: str
    unit: str | None
    unit_index: int | None

    def __post_init__(self) -> None:
        if (self.unit is None) != (self.unit_index is None):
            raise ValueError("a unit has a name and a number")


@dataclass(frozen=True, slots=True)
class Where:
    source: Rows
    predicate: Predicate
    columns: tuple[str, ...]  # the names behind the predicate's column numbers, in the order of the numbers


@dataclass(frozen=True, slots=True)
class KeyColumn:
    """A grouping column with its public list: how many keys, and the sha256 of the list."""

    name: str
    index: int
    type: str
    count: int
    digest: str

    def __post_init__(self) -> None:
        if self.index < 0 or self.count < 0:
            raise ValueError("a column's number and its count of keys are at least 0")


@dataclass(frozen=True, slots=True)
class Grouped:
    """Rows with listed keys only; the keys are all tuples of the columns' lists. No columns: one key for all rows."""

    source: Rows | Where
    columns: tuple[KeyColumn, ...]

    @property
    def keys(self) -> int:
        """K, the number of listed keys."""
        total = 1
        for column in self.columns:
            total *= column.count
        return total


@dataclass(frozen=True, slots=True)
class Bounded:
    """Each unit scaled down to `max_rows` rows a key and `max_groups` keys (MEANING 2.5); 1 and 1 for `each row`."""

    source: Grouped
    max_rows: int
    max_groups: int

    def __post_init__(self) -> None:
        if self.max_rows < 1 or self.max_groups < 1:
            raise ValueError("max_rows and max_groups are at least 1")


@dataclass(frozen=True, slots=True)
class Measured:
    """A column an aggregate reads, with its declared bounds (None when none are declared)."""

    name: str
    index: int
    type: str
    kind: Kind
    lower: Fraction | None
    upper: Fraction | None

    def __post_init__(self) -> None:
        if self.index < 0 or KINDS.get(self.type) != self.kind or (self.lower is None) != (self.upper is None):
            raise ValueError("a measured column has a number, the kind of its type, and both bounds or none")
        if self.lower is not None and self.upper is not None and self.lower > self.upper:
            raise ValueError("a lower bound is at most the upper one")


@dataclass(frozen=True, slots=True)
class AggregateCall:
    """`function` is the name of an entry of AGGREGATES; `column` is None for COUNT(*) and COUNT(DISTINCT unit)."""

    function: str
    column: Measured | None


@dataclass(frozen=True, slots=True)
class Ask:
    """A reading an aggregate pays for. rows, units, present: counts. values: a sum. centred: 2 S' - W n'."""

    what: Literal["rows", "units", "present", "values", "centred"]
    column: Measured | None = None


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
    """An operator or function on post-processed values: see `pricing/finish.py` for the list and each one's meaning."""

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
