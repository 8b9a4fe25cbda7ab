"""Row expressions: from syntax to typed operands and predicates, or a Refusal with its place.

What stands inside an aggregate, after WHERE and after GROUP BY is read here, one reading for all three. A condition is
a boolean value where a value is wanted, and the other way round. Checked in tests/language/test_expressions.py.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Final

from dpcurator.catalog.model import Column, Table
from dpcurator.errors import Mend, Refusal, closest
from dpcurator.language import question as syntax
from dpcurator.language import rows
from dpcurator.language.comparing import all_of, among, any_of, compare, distinct, like, missing
from dpcurator.language.functions import ROW_FUNCTIONS
from dpcurator.language.functions.casts import cast
from dpcurator.language.functions.numbers import arithmetic, negative
from dpcurator.language.functions.texts import joined
from dpcurator.language.instead import OF_ROWS, instead
from dpcurator.language.render import words
from dpcurator.language.spelling import spelled
from dpcurator.language.typed import Spell, Typed, condition, kind_of, literal, truth_value, united

MOST_PARTS: Final = 5_000  # of one expression, once it is typed; values after IN apart
MOST_LEVELS: Final = 95


class Reader:
    """Reads the expressions of one question; `resolve` says which column of the table a name means, `aggregates` which
    functions are never of one row."""

    def __init__(
        self, table: Table, resolve: Callable[[syntax.Name | syntax.Cohort | syntax.Place], tuple[int, Column]],
        inside: str = "WHERE", aggregates: Collection[str] = (),
    ) -> None:
        self.resolve, self.inside, self.aggregates = resolve, inside, aggregates
        self._written: dict[int, syntax.Syntax] = {}  # what an operand was read from
        self._spell: Spell = lambda part: self._words(part) or spelled(part, table)
        self._sizes: dict[int, tuple[int, int]] = {}
        self._kept: list[rows.Expression] = []  # so that no id is used again

    def value(self, part: syntax.Syntax) -> Typed:
        """The typed value of a row. Raises Refusal."""
        try:
            made = self._value(part)
            if made.part is not None:
                self._measure(made.part)
                self._written[id(made.part)] = part
                self._kept.append(made.part)
            return made
        except Refusal as refused:
            raise self._placed(refused, part) from None

    def predicate(self, part: syntax.Syntax) -> rows.Predicate:
        """The condition on a row. Raises Refusal."""
        try:
            made = self._predicate(part)
            self._measure(made)
            return made
        except Refusal as refused:
            raise self._placed(refused, part) from None

    def _words(self, part: rows.Operand) -> str | None:
        """The analyst's own words for an operand, where they are short."""
        written = self._written.get(id(part))
        return None if written is None else words(written)

    def _placed(self, refused: Refusal, part: syntax.Syntax) -> Refusal:
        return refused if refused.where else refused.placed(syntax.place(part))

    def _value(self, part: syntax.Syntax) -> Typed:
        match part:
            case syntax.Name() | syntax.Cohort() | syntax.Place():
                index, column = self.resolve(part)
                return Typed(rows.Field(index, column.kind), column.type, self._spell)
            case syntax.Literally():
                return literal(part, self._spell)
            case syntax.Unary("-", inner):
                return negative(self.value(inner))
            case syntax.Binary("+" | "-" | "*" | "/" | "%" as op, left, right):
                return arithmetic(op, self.value(left), self.value(right))
            case syntax.Binary("||", left, right):
                return joined(self.value(left), self.value(right))
            case syntax.Case():
                return self._case(part)
            case syntax.Cast(inner, type):
                return cast(self.value(inner), type)
            case syntax.Call():
                return self._call(part)
        return Typed(truth_value(self._predicate(part)), "boolean", self._spell)

    def _predicate(self, part: syntax.Syntax) -> rows.Predicate:
        match part:
            case syntax.Unary("NOT", inner):
                return rows.Not(self.predicate(inner))
            case syntax.Unary("IS NULL", inner):
                return missing(self.value(inner))
            case syntax.Unary("IS TRUE" | "IS FALSE" as op, inner):
                said = self.predicate(inner)
                one, zero = rows.Constant(1, "integer"), rows.Constant(0, "integer")
                sure = rows.Choose((rows.When(said if op == "IS TRUE" else rows.Not(said), one),), zero, "integer")
                return rows.Compare("=", sure, one)
            case syntax.Binary("AND" as op, left, right):
                return all_of([self.predicate(left), self.predicate(right)])
            case syntax.Binary("OR" as op, left, right):
                return any_of([self.predicate(left), self.predicate(right)])
            case syntax.Binary("IS DISTINCT FROM", left, right):
                return distinct(self.value(left), self.value(right))
            case syntax.Binary(op, left, right) if op in rows.COMPARISONS:
                return compare(op, self.value(left), self.value(right))
            case syntax.Within(inner, options):
                return among(self.value(inner), [self.value(option) for option in options])
            case syntax.Fits(inner, pattern, escape, fold):
                sign = None if escape is None else self.value(escape)
                return like(self.value(inner), self.value(pattern), sign, fold=fold)
            case syntax.Literally(None):
                return rows.Truth(None)
            case syntax.Literally(bool() as truth):
                return rows.Truth(truth)
        return condition(self.value(part))

    def _case(self, part: syntax.Case) -> Typed:
        conditions = [self.predicate(branch.condition) for branch in part.branches]
        otherwise = syntax.Literally(None) if part.otherwise is None else part.otherwise
        values = [self.value(side) for side in (*(branch.value for branch in part.branches), otherwise)]
        type, made = united(values, "CASE")
        branches = tuple(rows.When(one, value) for one, value in zip(conditions, made, strict=False))
        return Typed(rows.Choose(branches, made[-1], kind_of(type)), type, self._spell)

    def _call(self, part: syntax.Call) -> Typed:
        if part.function in self.aggregates:
            raise self._of_many(part)
        known = ROW_FUNCTIONS.get(part.function)
        if known is None:
            raise not_available(part)
        if part.distinct or part.star or not known.least <= len(part.arguments) <= known.most:
            raise Refusal(f"{part.function} takes {known.counted} values.", where=part.at, cure=f"Write {known.use}.")
        return known.read([self.value(argument) for argument in part.arguments])

    def _of_many(self, part: syntax.Call) -> Refusal:
        """An aggregate stands where one row is looked at."""
        if self.inside == "WHERE":
            cure = "WHERE looks at single rows; HAVING filters aggregates."
            return Refusal(f"{part.function} is not available in WHERE.", where=part.at, cure=cure)
        cure = "GROUP BY takes expressions of one row." if self.inside == "GROUP BY" else (
            "An aggregate takes columns and expressions of one row."
        )
        return Refusal(f"{self.inside} holds {part.function}, which is of many rows.", where=part.at, cure=cure)

    def _measure(self, made: rows.Expression) -> tuple[int, int]:
        """How many parts, and how deep. Parts measured before are not walked again."""
        known = self._sizes.get(id(made))
        if known is None:
            within = rows.parts_of(made)[:1] if isinstance(made, rows.Among) else rows.parts_of(made)
            inner = [self._measure(one) for one in within]
            known = 1 + sum(size for size, _ in inner), 1 + max((levels for _, levels in inner), default=0)
            self._sizes[id(made)] = known
            self._kept.append(made)
        if known[0] > MOST_PARTS or known[1] > MOST_LEVELS:
            raise Refusal("an expression is too large once it is worked out.", cure="Simplify it.")
        return known


def not_available(part: syntax.Call) -> Refusal:
    """The refusal of a function of rows that there is not."""
    what, written = f"the function {part.function} is not available on rows.", instead(part, OF_ROWS)
    if written is not None:
        return Refusal(what, where=part.at, cure=written[0], mends=written[1])
    close, listed = closest(part.function, ROW_FUNCTIONS), "docs/sql.md lists those there are."
    return Refusal(
        what, where=part.at, cure=f"Did you mean {close[0]}? {listed}" if close else listed,
        mends=tuple(Mend(name, part.function) for name in close),
    )
