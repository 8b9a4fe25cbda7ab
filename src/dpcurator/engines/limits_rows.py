"""What a row expression in a core plan must satisfy: kinds, parameters of functions, depth and size.

Looks at the plan alone. Whatever it lets through has a value on every row, on every engine (`language/evaluate.py`).
Checked in tests/engines/test_limits.py.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from dpcurator.catalog.model import Kind
from dpcurator.errors import Refusal
from dpcurator.language import patterns, rows, zones
from dpcurator.language.functions import BY_NAME
from dpcurator.language.functions.function import KINDS
from dpcurator.language.rows import check_value, is_unicode, require

MAX_DEPTH: Final = 100
MAX_PARTS: Final = 5000  # parts of all the expressions of a plan, constants in lists apart
MAX_ZONES: Final = 50  # uses of time zones in a plan: each is a table of some hundred changes
MAX_PATTERN: Final = 10_000  # code points


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
                require(kind in KINDS.values(), "A value is an integer, a float or a text.")
                check_value(value, kind)
            case rows.Missing(kind):
                require(kind in KINDS.values(), "A value is an integer, a float or a text.")
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
        expected = function.kinds(len(found), any_kind)
        require(bool(found) and found == expected, f"The parts of {function.name} are not of its kinds.")
        require(operand.kind == KINDS.get(function.kind, any_kind), f"{function.name} gives another kind.")
        require(type(operand.literals) is tuple and function.check(operand.literals, any_kind),
                f"These are not the parameters of {function.name}.")
        if function.zone:
            self.zones += 1
            require(self.zones <= MAX_ZONES, "The plan looks up too many time zones.")
            zones.offsets(str(operand.literals[0]))  # Refusal where there is no such zone

    def _count(self, depth: int) -> None:
        self.parts += 1
        require(depth > 0, "The expression is nested too deeply.")
        require(self.parts <= MAX_PARTS, "The plan's expressions have too many parts.")
