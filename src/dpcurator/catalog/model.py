"""The catalog: everything that is public about some private tables, as frozen values.

A catalog protects one kind of unit (patients, say) with one budget for its whole life (semantics 1.1). Nothing here is
ever read off private data: bounds, keys, caps and types are declared. `load` reads it from TOML, `refresh` adds the
rows of *public* tables (`PublicFacts`), and the plan rests on nothing else.

Physical kinds. A column has a declared `type` (what its author means) and a physical `kind` (what engines see):

    type       kind      how a value is held
    integer    integer   64-bit signed
    boolean    integer   0 or 1
    date       integer   days since 1970-01-01, proleptic Gregorian
    timestamp  integer   microseconds since 1970-01-01T00:00Z
    float      float     IEEE double; NaN is missing, -0.0 is 0.0
    text       text      Unicode, compared by code point
    uuid       text      36 lower-case characters

Checked in tests/catalog.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Final, Literal

from dpcurator.catalog.cleaning import AS_IT_IS, Cleaning
from dpcurator.numbers.readable import readable

Kind = Literal["integer", "float", "text"]
Value = int | float | str | None  # a physical value; None is missing
Neighbours = Literal["add-remove", "replace-one"]

KINDS: Final[dict[str, Kind]] = {
    "integer": "integer", "boolean": "integer", "date": "integer", "timestamp": "integer",
    "float": "float", "text": "text", "uuid": "text",
}
EACH_ROW: Final = "each row"
MAX_LENGTH: Final = 500  # letters of a text where none is declared: an address or a remark; 40 such texts in a question
UUID_LETTERS: Final = 36


@dataclass(frozen=True, slots=True)
class Column:
    """One declared column. `lower` and `upper` are exact and both present or both absent (numbers, dates, timestamps;
    of these two as physical values).

    `keys` is the public list a GROUP BY on this column answers for, as physical values, distinct, in canonical order
    (missing first, then by value); None when no list was declared. `unknown_keys`: declared `keys = "unknown"`, so keys
    are selected privately. `missing` is the value that missing ones are read
    as, or None when they stay missing.
    """

    name: str
    type: str
    lower: Fraction | None = None
    upper: Fraction | None = None
    keys: tuple[Value, ...] | None = None
    missing: Value = None
    unknown_keys: bool = False
    max_length: int = MAX_LENGTH  # letters of a text; a longer one cannot be read
    per_unit: bool = False  # all rows of a unit have one value here: `refresh` sees to it
    unique: bool = False  # of a public table: no two rows have the same value here, as a refresh has read
    most: int | None = None  # of a public table: in how many rows one value is, at most, as a refresh has read
    cleaning: Cleaning = AS_IT_IS  # what `refresh` makes of the values that the source has

    @property
    def letters(self) -> int:
        """Code points of a value that is a text, at most; a public fact."""
        return UUID_LETTERS if self.type == "uuid" else self.max_length

    __repr__ = readable

    @property
    def kind(self) -> Kind:
        """The physical kind, from the table above."""
        return KINDS[self.type]


@dataclass(frozen=True, slots=True)
class Through:
    """Whose the rows of a table are that do not say it: the unit of the row of `table` whose `key` equals `on` here.

    A refresh looks it up, and writes it in the last column, which has the name of that table's unit (semantics 8.9).
    """

    table: str
    on: str
    key: str

    __repr__ = readable


@dataclass(frozen=True, slots=True)
class Table:
    """One declared table. `unit` is a column name, or EACH_ROW; None for a public table. through: where that column is
    not read, but looked up in another table."""

    name: str
    columns: tuple[Column, ...]
    unit: str | None
    max_rows: int | None = None  # rows a unit may add to one group; None only with EACH_ROW, or not yet declared
    max_groups: int | None = None
    max_total: int | None = None  # rows of a unit in all of one answer
    expected_units: int | None = None  # a public size hint, for error bars only
    min_units: int | None = None  # of fewer units no unlisted key is ever shown
    distinct: tuple[str, ...] = ()  # columns of which a unit has each combination of present values in one row
    through: Through | None = None
    one_row_per: tuple[str, ...] | None = None  # columns of which a unit has each combination, missing ones too, once

    __repr__ = readable

    @property
    def private(self) -> bool:
        return self.unit is not None


@dataclass(frozen=True, slots=True)
class Catalog:
    """The whole declaration. The ledger's total is `epsilon`, or `rho` (then epsilon is 0), and `delta`; delta 0 means
    pure differential privacy. `salt`: the public constant that chooses among a unit's keys (semantics 4.4).
    """

    protects: str
    neighbours: Neighbours
    units: int | None  # public n, with replace-one only
    epsilon: Fraction
    delta: Fraction
    tables: tuple[Table, ...]
    digest: str  # sha256 of the canonical declaration, public key lists included; hexadecimal
    data_version: int  # the snapshot this catalog was bound to by `refresh`; 0 when there is none yet
    rho: Fraction = Fraction(0)
    salt: str = ""

    __repr__ = readable

    @property
    def currency(self) -> Literal["epsilon", "rho"]:
        """What the ledger counts in, besides delta."""
        return "rho" if self.rho else "epsilon"

    def units_expected(self, table: Table) -> int | None:
        """The public number of units, or how many are expected in a table; None where neither is said."""
        return self.units or table.expected_units

    @property
    def budget(self) -> Fraction:
        """The ledger's total, in its currency."""
        return self.rho or self.epsilon
