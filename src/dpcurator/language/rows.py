"""Row expressions: what may be computed of one row. Total, three-valued, the same on every engine (semantics 2.2).

A value is missing or an integer (64 bits), a double or a text; a predicate is true, false or unknown. Comparing with
missing is unknown, integers meet doubles as doubles, texts compare by code point. Nothing here can raise on any row.
What each function of `Compute` means is its record in `language/functions`; `language/evaluate.py` computes it in
Python. Checked in tests/engines (conformance, vectors) and tests/plan.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final, Literal

from dpcurator.catalog.model import Kind, Value
from dpcurator.errors import Refusal
from dpcurator.numbers.rational import INT64

Comparison = Literal["=", "<>", "<", "<=", ">", ">="]
COMPARISONS: Final[tuple[Comparison, ...]] = ("=", "<>", "<", "<=", ">", ">=")
COMPARE: Final[Mapping[str, Callable[[Any, Any], bool]]] = {
    "=": operator.eq, "<>": operator.ne, "<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge,
}


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


@dataclass(frozen=True, slots=True)
class Missing:
    """NULL, as a value of this kind."""

    kind: Kind


@dataclass(frozen=True, slots=True)
class Compute:
    """A function of these parts. `literals` are its parameters: a unit, a zone, a pattern."""

    function: str
    parts: tuple[Operand, ...]
    kind: Kind
    literals: tuple[Value, ...] = ()


@dataclass(frozen=True, slots=True)
class When:
    """One branch of a choice."""

    condition: Predicate
    value: Operand


@dataclass(frozen=True, slots=True)
class Choose:
    """The value of the first branch whose condition is true, else `otherwise`; all of one kind (SQL's CASE)."""

    branches: tuple[When, ...]
    otherwise: Operand
    kind: Kind


Operand = Field | Constant | Missing | Compute | Choose


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
class Like:
    """The whole of a text fits the pattern: % any code points, _ one, and the letter after `escape` itself.

    `escape` is one code point or empty for none; a pattern never ends in it. Unknown when the text is missing.
    """

    operand: Operand
    pattern: str
    escape: str


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


Predicate = Truth | Compare | Among | Like | IsMissing | Not | AllOf | AnyOf
Expression = Operand | Predicate


def parts_of(expression: Expression) -> tuple[Expression, ...]:
    """The expressions directly inside one, in order."""
    match expression:
        case Compute(_, parts) | AllOf(parts) | AnyOf(parts):
            return parts
        case Choose(branches, otherwise):
            return (*(side for branch in branches for side in (branch.condition, branch.value)), otherwise)
        case Compare(_, left, right):
            return (left, right)
        case Among(operand, values):
            return (operand, *values)
        case Like(operand) | IsMissing(operand):
            return (operand,)
        case Not(part):
            return (part,)
    return ()


def walk(expression: Expression) -> Iterator[Expression]:
    """An expression and all within it."""
    yield expression
    for part in parts_of(expression):
        yield from walk(part)


def fields(expression: Expression) -> set[int]:
    """The numbers of the columns an expression looks at."""
    return {part.index for part in walk(expression) if isinstance(part, Field)}


def moved(operand: Operand, place: Mapping[int, int]) -> Operand:
    """The operand with its columns' numbers replaced."""
    match operand:
        case Field(index):
            return replace(operand, index=place[index])
        case Compute(_, parts):
            return replace(operand, parts=tuple(moved(part, place) for part in parts))
        case Choose(branches, otherwise):
            made = tuple(When(moved_condition(b.condition, place), moved(b.value, place)) for b in branches)
            return replace(operand, branches=made, otherwise=moved(otherwise, place))
    return operand


def moved_condition(condition: Predicate, place: Mapping[int, int]) -> Predicate:
    """The predicate with its columns' numbers replaced."""
    match condition:
        case Compare(op, left, right):
            return Compare(op, moved(left, place), moved(right, place))
        case Among(operand) | Like(operand) | IsMissing(operand):
            return replace(condition, operand=moved(operand, place))
        case Not(part):
            return Not(moved_condition(part, place))
        case AllOf(parts) | AnyOf(parts):
            return replace(condition, parts=tuple(moved_condition(part, place) for part in parts))
    return condition


def require(true: bool, otherwise: str) -> None:
    if not true:
        raise Refusal(otherwise)


def check_value(value: Value, kind: Kind) -> None:
    """A constant of the kind, or missing. A float constant may be spelled as an integer that is a double."""
    if value is None:
        return
    if kind == "integer":
        require(type(value) is int and value in INT64, "An integer constant fits 64 bits.")
    elif kind == "float":
        require(type(value) in (int, float) and is_double(value), "A float constant is a finite double.")
    else:
        require(type(value) is str and is_unicode(value), "A text constant is Unicode text, without lone surrogates.")


def is_double(value: object) -> bool:
    if isinstance(value, int):
        return abs(value) <= 2**1000 and int(float(value)) == value
    return isinstance(value, float) and math.isfinite(value)


def is_unicode(value: object) -> bool:
    try:
        return isinstance(value, str) and value.encode() is not None
    except UnicodeEncodeError:
        return False
