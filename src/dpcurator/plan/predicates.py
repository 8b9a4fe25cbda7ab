"""WHERE: from syntax to a typed row predicate, or a Refusal.

Every comparison is between values of one family (numbers, texts, dates, timestamps, booleans, uuids). A literal is
turned into the column's physical value exactly: an integer column against 65.5 becomes a comparison with a whole
number that means the same for every integer; a float column is compared with the double nearest to the literal. So
nothing is cast while rows are read, and no row can fail. Checked in tests/plan/test_predicates.py.
"""

from __future__ import annotations

import math
import re
import uuid
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, date, datetime
from fractions import Fraction

from dpcurator.catalog.model import Column, Value
from dpcurator.errors import Refusal
from dpcurator.plan.names import show
from dpcurator.plan.question import Binary, Call, Literally, Name, Syntax, Unary, Within
from dpcurator.plan.rows import (
    COMPARISONS,
    AllOf,
    Among,
    AnyOf,
    Compare,
    Comparison,
    Constant,
    Field,
    IsMissing,
    Not,
    Operand,
    Predicate,
    Truth,
)  # fmt: skip

Resolve = Callable[[Name], tuple[int, Column]]
_SWAPPED: dict[Comparison, Comparison] = {"=": "=", "<>": "<>", "<": ">", "<=": ">=", ">": "<", ">=": "<="}
_INT64 = range(-(2**63), 2**63)
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Typed:
    """A column of the table, with its number there."""

    index: int
    column: Column

    @property
    def field(self) -> Field:
        return Field(self.index, self.column.kind)


def predicate(part: Syntax, resolve: Resolve) -> Predicate:
    """The predicate that `part` means. Raises Refusal for anything that is not true, false or unknown of one row."""
    match part:
        case Unary("NOT", inner):
            return Not(predicate(inner, resolve))
        case Unary("IS NULL", Name() as name):
            return IsMissing(_typed(name, resolve).field)
        case Unary("IS NULL", _):
            raise Refusal("IS NULL in WHERE is asked of a column.", cure="Write it as in `age IS NULL`.")
        case Binary("AND" | "OR" as op, left, right):
            return _joined(op, predicate(left, resolve), predicate(right, resolve))
        case Binary(op, left, right) if op in COMPARISONS:
            return _compare(op, left, right, resolve)
        case Within(inner, options):
            return _among(inner, options, resolve)
        case Literally(None):
            return Truth(None)
        case Literally(bool() as truth):
            return Truth(truth)
        case Name():
            typed = _typed(part, resolve)
            if typed.column.type != "boolean":
                raise Refusal(
                    f"WHERE needs a condition, and {show(typed.column.name)} is {typed.column.type}.",
                    where=part.at, cure="Compare it with something.",
                )  # fmt: skip
            return Compare("=", typed.field, Constant(1, "integer"))
        case Call(function):
            raise Refusal(
                f"{function} is not available in WHERE.", where=part.at,
                cure="WHERE compares columns with values; HAVING filters aggregates.",
            )  # fmt: skip
    raise Refusal(
        "WHERE compares columns with values or columns, and this part computes something else.",
        cure="Use =, <>, <, <=, >, >=, BETWEEN, IN, IS NULL, AND, OR, NOT.",
    )


def _joined(op: str, left: Predicate, right: Predicate) -> Predicate:
    kind = AllOf if op == "AND" else AnyOf
    parts: list[Predicate] = []
    for side in (left, right):
        parts.extend(side.parts if isinstance(side, kind) else (side,))
    return kind(tuple(parts))


def _typed(name: Name, resolve: Resolve) -> Typed:
    return Typed(*resolve(name))


def _compare(op: Comparison, left: Syntax, right: Syntax, resolve: Resolve) -> Predicate:
    for side in (left, right):
        if isinstance(side, Call):
            predicate(side, resolve)  # refuses it by name
    if isinstance(left, Literally) and isinstance(right, Name):
        return _compare(_SWAPPED[op], right, left, resolve)
    if not isinstance(left, Name):
        raise Refusal("a comparison in WHERE needs a column on one side.", cure="Write it as in `age > 65`.")
    typed = _typed(left, resolve)
    if isinstance(right, Name):
        other = _typed(right, resolve)
        if _family(typed.column) != _family(other.column):
            raise Refusal(
                f"{show(typed.column.name)} is {typed.column.type} and {show(other.column.name)} is "
                f"{other.column.type}: they cannot be compared.", where=left.at, cure="Compare columns of one type.",
            )  # fmt: skip
        return Compare(op, typed.field, other.field)
    if isinstance(right, Literally):
        return with_literal(op, typed, right)
    raise Refusal("a comparison in WHERE is between a column and a value.", cure="Write it as in `age > 65`.")


def with_literal(op: Comparison, typed: Typed, literal: Literally) -> Predicate:
    """`column op literal`, exactly; unknown when the literal is NULL."""
    if literal.value is None:
        return Truth(None)
    if typed.column.type == "integer":
        return _whole(op, typed.field, _number(typed, literal))
    return Compare(op, typed.field, Constant(physical(typed.column, literal), typed.column.kind))


def _whole(op: Comparison, field: Operand, number: Fraction) -> Predicate:
    """An integer against a rational: x < 65.5 is x < 66, x > 65.5 is x > 65, x = 65.5 is false where x is present."""
    low, high = math.floor(number), math.ceil(number)
    if low != high and op in ("=", "<>"):
        return _known(field, op == "<>")
    bound = high if op in ("<", ">=") else low
    if bound in _INT64:
        return Compare(op, field, Constant(bound, "integer"))
    above = bound > 0  # every integer is below the bound, or above it
    return _known(field, op == "<>" or (op in ("<", "<=")) == above if op != "=" else False)


def _known(field: Operand, truth: bool) -> Predicate:
    """`truth` where the field is present, unknown where it is missing."""
    return Compare("=" if truth else "<>", field, field)


def _among(inner: Syntax, options: tuple[Syntax, ...], resolve: Resolve) -> Predicate:
    if not isinstance(inner, Name):
        raise Refusal("IN is asked of a column.", cure="Write it as in `city IN ('Leeds', 'York')`.")
    typed = _typed(inner, resolve)
    values: list[Constant] = []
    unknown = False
    for option in options:
        if not isinstance(option, Literally):
            raise Refusal("the list after IN holds values only.", where=inner.at, cure="Write numbers or texts.")
        if option.value is None:
            unknown = True
        elif typed.column.type == "integer":
            number = _number(typed, option)
            if number.denominator == 1 and int(number) in _INT64:
                values.append(Constant(int(number), "integer"))
        else:
            values.append(Constant(physical(typed.column, option), typed.column.kind))
    found: Predicate = Among(typed.field, tuple(dict.fromkeys(values))) if values else _known(typed.field, False)
    return AnyOf((found, Truth(None))) if unknown else found


def _family(column: Column) -> str:
    return "number" if column.type in ("integer", "float") else column.type


def _number(typed: Typed, literal: Literally) -> Fraction:
    if isinstance(literal.value, Fraction) and literal.type is None:
        return literal.value
    raise _mismatch(typed.column, "a number")


def _mismatch(column: Column, wanted: str) -> Refusal:
    return Refusal(
        f"{show(column.name)} is {column.type}; compare it with {wanted}.",
        cure={
            "date": "Write it as in '2024-05-31'.",
            "timestamp": "Write it as in '2024-05-31T12:00:00Z', with its zone.",
            "text": "Write it in single quotes.",
            "uuid": "Write its 36 characters in single quotes.",
            "boolean": "Write TRUE or FALSE.",
        }.get(column.type, "Write it as in 65 or 0.5."),
    )  # fmt: skip


def physical(column: Column, literal: Literally) -> Value:
    """The stored value a literal means for this column. Raises Refusal when it means none."""
    value, wanted = literal.value, literal.type
    match column.type:
        case "float" if isinstance(value, Fraction):
            return _double(column, value)
        case "integer" if isinstance(value, Fraction) and value.denominator == 1 and int(value) in _INT64:
            return int(value)
        case "boolean" if isinstance(value, bool):
            return int(value)
        case "text" if isinstance(value, str) and wanted is None:
            return value
        case "uuid" if isinstance(value, str) and wanted is None:
            return _uuid(column, value)
        case "date" if isinstance(value, str) and wanted in (None, "date"):
            return _date(column, value)
        case "timestamp" if isinstance(value, str) and wanted in (None, "timestamp"):
            return _timestamp(column, value)
    words = {"float": "a number", "integer": "a whole number", "boolean": "TRUE or FALSE", "uuid": "a UUID",
             "date": "a date", "timestamp": "a timestamp with its zone"}  # fmt: skip
    raise _mismatch(column, words.get(column.type, "a text"))


def _double(column: Column, value: Fraction) -> float:
    try:
        return float(value) + 0.0
    except OverflowError:
        raise Refusal(
            f"the number compared with {show(column.name)} is beyond the largest double.", cure="Use a smaller number."
        ) from None


def _uuid(column: Column, text: str) -> str:
    try:
        return str(uuid.UUID(text))
    except ValueError:
        raise _mismatch(column, "a UUID") from None


def _date(column: Column, text: str) -> int:
    if re.fullmatch(r"[0-9]{4}-[0-9]{2}-[0-9]{2}", text):
        try:
            return date.fromisoformat(text).toordinal() - date(1970, 1, 1).toordinal()
        except ValueError:
            pass
    raise _mismatch(column, "a date")


_TIMESTAMP = re.compile(
    r"[0-9]{4}-[0-9]{2}-[0-9]{2}[ T][0-9]{2}:[0-9]{2}(:[0-9]{2}(\.[0-9]{1,6})?)?(Z|[+-][0-9]{2}:[0-9]{2})"
)


def _timestamp(column: Column, text: str) -> int:
    if _TIMESTAMP.fullmatch(text):
        try:
            found = datetime.fromisoformat(text) - _EPOCH
            return (found.days * 86_400 + found.seconds) * 1_000_000 + found.microseconds
        except (ValueError, OverflowError):
            pass
    raise _mismatch(column, "a timestamp with its zone")
