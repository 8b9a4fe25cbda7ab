"""Row expressions: what WHERE may compute of one row. Total, three-valued, the same on every engine (MEANING 2.2).

A value is missing or an integer, a double or a text; a predicate is true, false or unknown. Comparing with missing is
unknown, integers meet doubles as doubles, texts compare by code point. Nothing here can raise on any row.
Checked in tests/engines (conformance) and tests/plan.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal

from dpcurator.catalog.model import Kind, Value

Comparison = Literal["=", "<>", "<", "<=", ">", ">="]
COMPARISONS: Final[tuple[Comparison, ...]] = ("=", "<>", "<", "<=", ">", ">=")


@dataclass(frozen=True, slots=True)
class Field:
    """The value of the scan's column number `index` (its position in `Scan.columns`)."""

    index: int
    kind: Kind


@dataclass(frozen=True, slots=True)
class Constant:
    """A literal. An integer fits 64 bits; a double is finite; never missing."""

    value: Value
    kind: Kind


Operand = Field | Constant


@dataclass(frozen=True, slots=True)
class Truth:
    """A constant predicate: True, False, or None for unknown."""

    value: bool | None


@dataclass(frozen=True, slots=True)
class Compare:
    """left op right; both text, or both numeric. Unknown when either is missing."""

    op: Comparison
    left: Operand
    right: Operand


@dataclass(frozen=True, slots=True)
class Among:
    """operand IN (values): `values` are constants of the operand's kind, at least one, none missing."""

    operand: Operand
    values: tuple[Constant, ...]


@dataclass(frozen=True, slots=True)
class IsMissing:
    """operand IS NULL: never unknown."""

    operand: Operand


@dataclass(frozen=True, slots=True)
class Not:
    part: Predicate


@dataclass(frozen=True, slots=True)
class AllOf:
    """AND over two or more parts."""

    parts: tuple[Predicate, ...]


@dataclass(frozen=True, slots=True)
class AnyOf:
    """OR over two or more parts."""

    parts: tuple[Predicate, ...]


Predicate = Truth | Compare | Among | IsMissing | Not | AllOf | AnyOf
