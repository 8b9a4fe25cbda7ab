"""What a row expression in a core plan must satisfy: kinds, parameters of functions, depth and size.

Looks at the plan alone. Whatever it lets through has a value on every row, on every engine (`language/evaluate.py`).
Checked in tests/engines/test_limits.py.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

from dpcurator.catalog.model import Kind, Value
from dpcurator.errors import Refusal
from dpcurator.language import patterns, rows, zones
from dpcurator.language.functions.function import BY_NAME, DATE_PARTS, DATE_UNITS, TIME_PARTS, TIME_UNITS, Function

MAX_DEPTH: Final = 100
MAX_PARTS: Final = 5000  # parts of all the expressions of a plan, constants in lists apart
MAX_ZONES: Final = 50  # uses of time zones in a plan: each is a table of some hundred changes
MAX_PATTERN: Final = 10_000  # code points
INT64: Final = range(-(2**63), 2**63)
LETTERS: Final[dict[str, Kind]] = {"i": "integer", "f": "float", "t": "text"}


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


def kind_of(kinds: tuple[Kind, ...], column: int) -> Kind:
    require(type(column) is int and 0 <= column < len(kinds), "The plan names a column that its scan does not read.")
    return kinds[column]


@dataclass(slots=True)
class Rows:
    """Checks expressions over columns of these kinds, and counts their parts."""

    kinds: tuple[Kind, ...]
    parts: int = 0
    zones: int = 0

    def predicate(self, predicate: rows.Predicate, depth: int = MAX_DEPTH) -> None:
        self._count(depth)
        match predicate:
            case rows.Truth(value):
                require(value is None or type(value) is bool, "A constant condition is true, false or unknown.")
            case rows.Compare(op, left, right):
                require(op in rows.COMPARISONS, "A comparison is one of = <> < <= > >=.")
                texts = [self.operand(part, depth - 1) == "text" for part in (left, right)]
                require(texts[0] == texts[1], "A text is compared with a text, a number with a number.")
            case rows.Among(operand, values):
                kind = self.operand(operand, depth - 1)
                require(bool(values), "IN needs at least one value.")
                for constant in values:
                    require(isinstance(constant, rows.Constant), "IN compares with constants.")
                    require(constant.kind == kind and constant.value is not None, "IN has values of one kind.")
                    check_value(constant.value, kind)
            case rows.Like(operand, pattern, escape):
                require(self.operand(operand, depth - 1) == "text", "LIKE looks at a text.")
                require(is_unicode(pattern) and is_unicode(escape), "A pattern is Unicode text.")
                require(len(escape) <= 1 and len(pattern) <= MAX_PATTERN, "A pattern is too long, or its escape is.")
                require(not patterns.ends_in_escape(pattern, escape), "A pattern does not end in its escape.")
            case rows.IsMissing(operand):
                self.operand(operand, depth - 1)
            case rows.Not(part):
                self.predicate(part, depth - 1)
            case rows.AllOf(parts) | rows.AnyOf(parts):
                require(len(parts) >= 1, "AND and OR need parts.")
                for part in parts:
                    self.predicate(part, depth - 1)
            case _:
                raise Refusal("This is not a condition a core plan may hold.")

    def operand(self, operand: rows.Operand, depth: int = MAX_DEPTH) -> Kind:
        """Its kind."""
        self._count(depth)
        match operand:
            case rows.Field(index, kind):
                require(kind_of(self.kinds, index) == kind, "A field has the kind of its column.")
            case rows.Constant(value, kind):
                require(value is not None, "A constant is never missing.")
                require(kind in LETTERS.values(), "A value is an integer, a float or a text.")
                check_value(value, kind)
            case rows.Missing(kind):
                require(kind in LETTERS.values(), "A value is an integer, a float or a text.")
            case rows.Compute():
                self._compute(operand, depth)
            case rows.Choose(branches, otherwise, kind):
                require(bool(branches), "A choice has a branch.")
                for branch in branches:
                    self.predicate(branch.condition, depth - 1)
                    require(self.operand(branch.value, depth - 1) == kind, "A choice is among values of one kind.")
                require(self.operand(otherwise, depth - 1) == kind, "A choice is among values of one kind.")
            case _:
                raise Refusal("This is not a value a core plan may hold.")
        return operand.kind

    def _compute(self, operand: rows.Compute, depth: int) -> None:
        require(operand.function in BY_NAME, "No function of rows has this name.")
        function = BY_NAME[operand.function]
        found = tuple(self.operand(part, depth - 1) for part in operand.parts)
        any_kind = operand.kind if found == () else found[0]
        expected = _kinds(function, len(found), any_kind)
        require(bool(found) and found == expected, f"The parts of {function.name} are not of its kinds.")
        require(operand.kind == LETTERS.get(function.kind, any_kind), f"{function.name} gives another kind.")
        check = LITERALS.get(function.name, _none)
        require(type(operand.literals) is tuple and check(operand.literals, any_kind),
                f"These are not the parameters of {function.name}.")  # fmt: skip
        if function.name in ("local_of_time", "time_of_local"):
            self.zones += 1
            require(self.zones <= MAX_ZONES, "The plan looks up too many time zones.")
            zones.offsets(str(operand.literals[0]))  # Refusal where there is no such zone

    def _count(self, depth: int) -> None:
        self.parts += 1
        require(depth > 0, "The expression is nested too deeply.")
        require(self.parts <= MAX_PARTS, "The plan's expressions have too many parts.")


def _kinds(function: Function, count: int, any_kind: Kind) -> tuple[Kind, ...]:
    letters = function.parts
    if letters.endswith("*"):
        letters = letters[:-1] + letters[-2] * max(count - len(letters) + 1, 0)
    return tuple(LETTERS.get(letter, any_kind) for letter in letters)


# parameters: from the tuple and the kind of the first part to whether they are as functions.py says

Check = Callable[[tuple[Any, ...], Kind], bool]


def _integers(*ranges: range) -> Check:
    return lambda literals, _: len(literals) == len(ranges) and all(
        type(literal) is int and literal in allowed for literal, allowed in zip(literals, ranges, strict=True)
    )


def _one_of(names: tuple[str, ...]) -> Check:
    return lambda literals, _: len(literals) == 1 and type(literals[0]) is str and literals[0] in names


def _substring(literals: tuple[Any, ...], _: Kind) -> bool:
    if len(literals) == 2 and literals[1] is None:
        literals = (literals[0], 0)
    return _integers(range(1, 2**31), range(2**31))(literals, "text")


def _replacement(literals: tuple[Any, ...], _: Kind) -> bool:
    return (
        len(literals) == 2
        and all(is_unicode(literal) and len(literal) <= 100 for literal in literals)
        and literals[0] != ""
    )


def _bounds(literals: tuple[Any, ...], kind: Kind) -> bool:
    if len(literals) != 2 or None in literals:
        return False
    for literal in literals:
        check_value(literal, kind)
    return bool(literals[0] <= literals[1])


def _zone(literals: tuple[Any, ...], _: Kind) -> bool:
    return len(literals) == 1 and type(literals[0]) is str


def _none(literals: tuple[Any, ...], _: Kind) -> bool:
    return literals == ()


MONTHS: Final = range(-(10**6), 10**6 + 1)
LITERALS: Final[dict[str, Check]] = {
    "floordiv_i": _integers(range(1, 2**63)),
    "round_i": _integers(range(1, 19)),
    "round_f": _integers(range(1, 16)),
    "clip": _bounds,
    "substring": _substring,
    "replace": _replacement,
    "date_part": _one_of(DATE_PARTS),
    "date_trunc": _one_of(DATE_UNITS),
    "date_add": _integers(MONTHS, MONTHS),
    "time_part": _one_of(TIME_PARTS),
    "time_trunc": _one_of(TIME_UNITS),
    "time_add": _integers(MONTHS, range(-(10**18), 10**18 + 1)),
    "local_of_time": _zone,
    "time_of_local": _zone,
}
