"""Columns, conditions and aggregates as Python values: what the steps of a frame take.

    dp.col("age") > 65        (dp.col("city") == "Leeds") & ~dp.col("age").is_missing()
    dp.mean("age")            (dp.sum("cost") / dp.count()).round(2)

An Expression holds the syntax that the SQL front makes of the same words (`plan/question.py`), so one binding gives
both their meaning. Names are exact, as if quoted. Python values become literals exactly: a float by its shortest
decimal, a moment by its UTC time. What Python would take in silence (`and`, `==` with None, an operator that binds more
than a comparison) is refused here, where it is written. Checked in tests/fronts/test_columns.py.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, date, datetime
from decimal import Decimal
from fractions import Fraction
from typing import Any, ClassVar, Final, Literal, NoReturn
from uuid import UUID

from dpcurator.errors import Refusal
from dpcurator.fronts.render import chain, decimals, depth, expression, leaves
from dpcurator.numbers import rational
from dpcurator.plan.names import show
from dpcurator.plan.post import FUNCTIONS
from dpcurator.plan.question import Binary, Call, Literally, Name, Operator, Syntax, Unary, Within
from dpcurator.plan.rows import COMPARISONS

UNITS: Final = Call("COUNT", distinct=True)  # COUNT(DISTINCT unit), as long as no table says which column that is
_PYTHON: Final = {"COUNT": "dp.count", "SUM": "dp.sum", "AVG": "dp.mean"}
_BRACKETS: Final = 'Put each comparison in brackets: (dp.col("age") > 65) & (dp.col("city") == "Leeds").'


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Expression:
    """A column, a condition, or arithmetic on aggregates. Make one with `dp.col`, `dp.count`, `dp.sum`, `dp.mean`."""

    syntax: Syntax
    __array_ufunc__: ClassVar[None] = None  # numpy's scalars leave operators to this class

    def __repr__(self) -> str:
        return expression(self.syntax) if depth(self.syntax, 64) <= 64 else "a deep expression"

    # comparisons
    def __eq__(self, other: object) -> Expression:  # type: ignore[override]
        return _compared("=", self, other)

    def __ne__(self, other: object) -> Expression:  # type: ignore[override]
        return _compared("<>", self, other)

    def __lt__(self, other: object) -> Expression:
        return _compared("<", self, other)

    def __le__(self, other: object) -> Expression:
        return _compared("<=", self, other)

    def __gt__(self, other: object) -> Expression:
        return _compared(">", self, other)

    def __ge__(self, other: object) -> Expression:
        return _compared(">=", self, other)

    def isin(self, *values: object) -> Expression:
        """Is it one of these? Takes values, or one collection of them. Raises Refusal."""
        if len(values) == 1 and isinstance(values[0], Iterable) and not isinstance(values[0], str | Expression):
            unordered = isinstance(values[0], set | frozenset)
            values = tuple(sorted(values[0], key=repr) if unordered else values[0])
        if not values:
            raise Refusal("isin needs a value.", cure='Write it as in isin("York", "Hull").')
        return Expression(Within(self.syntax, tuple(literal(value, "isin") for value in values)))

    def between(self, low: object, high: object) -> Expression:
        """low <= it <= high, both ends included."""
        return (self >= low) & (self <= high)

    def is_missing(self) -> Expression:
        """SQL's IS NULL: NULL and NaN are one thing, missing."""
        return Expression(Unary("IS NULL", self.syntax))

    # and, or, not
    def __and__(self, other: object) -> Expression:
        return _joined("AND", self, other)

    def __rand__(self, other: object) -> Expression:
        return _joined("AND", other, self)

    def __or__(self, other: object) -> Expression:
        return _joined("OR", self, other)

    def __ror__(self, other: object) -> Expression:
        return _joined("OR", other, self)

    def __invert__(self) -> Expression:
        return Expression(Unary("NOT", self.syntax))

    def __bool__(self) -> bool:
        raise Refusal(
            "a condition is true or false of each row, not by itself: `and`, `or`, `not`, `if`, `in` and "
            "a < b < c cannot ask it.",
            cure=f"Use &, |, ~, .isin(...) or .between(low, high). {_BRACKETS}",
        )

    def __contains__(self, other: object) -> bool:
        return bool(self)

    def __iter__(self) -> Iterator[Any]:
        raise Refusal("an expression has no values to go through: they never leave the curator.", cure="Ask for it.")

    # arithmetic
    def __add__(self, other: object) -> Expression:
        return _arithmetic("+", self, other)

    def __radd__(self, other: object) -> Expression:
        return _arithmetic("+", other, self)

    def __sub__(self, other: object) -> Expression:
        return _arithmetic("-", self, other)

    def __rsub__(self, other: object) -> Expression:
        return _arithmetic("-", other, self)

    def __mul__(self, other: object) -> Expression:
        return _arithmetic("*", self, other)

    def __rmul__(self, other: object) -> Expression:
        return _arithmetic("*", other, self)

    def __truediv__(self, other: object) -> Expression:
        return _arithmetic("/", self, other)

    def __rtruediv__(self, other: object) -> Expression:
        return _arithmetic("/", other, self)

    def __neg__(self) -> Expression:
        return Expression(Unary("-", self.syntax))

    def __pos__(self) -> Expression:
        return self

    def _no_such(self, other: object) -> NoReturn:
        raise Refusal("this operator is not available.", cure="Arithmetic on aggregates has +, -, * and /.")

    __mod__ = __rmod__ = __floordiv__ = __rfloordiv__ = __pow__ = __rpow__ = _no_such
    __xor__ = __rxor__ = __matmul__ = __rmatmul__ = __lshift__ = __rshift__ = __getitem__ = _no_such

    def round(self, places: object = None) -> Expression:
        """SQL's ROUND: to whole numbers, or to so many decimal places; negative ones are tens, hundreds, ..."""
        return _function("ROUND", self, *(() if places is None else (places,)))

    def abs(self) -> Expression:
        return _function("ABS", self)

    def coalesce(self, *others: object) -> Expression:
        """The first of these that is not missing."""
        return _function("COALESCE", self, *others)

    def nullif(self, other: object) -> Expression:
        """Missing where it equals `other`."""
        return _function("NULLIF", self, other)

    __round__, __abs__ = round, abs

    # order
    def ascending(self, *, missing_first: bool = True) -> Sorted:
        """For `order_by`: smallest first."""
        return Sorted(self.syntax, False, missing_first)

    def descending(self, *, missing_first: bool = False) -> Sorted:
        """For `order_by`: largest first."""
        return Sorted(self.syntax, True, missing_first)


@dataclass(frozen=True, slots=True)
class Sorted:
    """How `order_by` sorts by one expression."""

    part: Syntax
    descending: bool
    missing_first: bool


def col(name: str) -> Expression:
    """A column by its exact name; in `having` and `order_by` also a column of the answer."""
    return Expression(named(name))


def count(column: str | Expression | None = None) -> Expression:
    """How many rows; with a column, how many rows where it is present."""
    return Expression(Call("COUNT", star=True) if column is None else _aggregate("COUNT", column))


def count_units() -> Expression:
    """How many of the protected units: SQL's COUNT(DISTINCT unit)."""
    return Expression(UNITS)


def sum_of(column: str | Expression) -> Expression:
    """The sum of a column with declared bounds."""
    return Expression(_aggregate("SUM", column))


def mean(column: str | Expression) -> Expression:
    """The average of a column with declared bounds: SQL's AVG."""
    return Expression(_aggregate("AVG", column))


def named(name: object, what: str = "a column") -> Name:
    """The exact name of a column. Raises Refusal."""
    if isinstance(name, Expression) and isinstance(name.syntax, Name):
        return name.syntax
    if not isinstance(name, str):
        raise Refusal(f"{what} is given by its name, not by {_shown(name)}.", cure='Write it as in "age".')
    return Name(text(name), quoted=True)


def text(given: str) -> str:
    """The text, when SQL could spell it: without NUL and halves of surrogate pairs. Raises Refusal."""
    for letter in given:
        if letter == "\0" or "\ud800" <= letter <= "\udfff":
            raise Refusal(f"a text holds a character that is no text (U+{ord(letter):04X}).", cure="Take it out.")
    return str(given)


def _aggregate(function: str, column: str | Expression) -> Call:
    python = _PYTHON[function]
    if isinstance(column, Expression) and not isinstance(column.syntax, Name):
        inside = next(iter(aggregates(column.syntax)), None)
        what = "an expression" if inside is None else f"the aggregate {inside}"
        raise Refusal(
            f"{python} takes one column, and this is {what}.",
            cure=f'Write it as in {python}("age"); expressions inside an aggregate are not available yet.',
        )
    return Call(function, (named(column, f"the column of {python}"),))


def literal(given: object, beside: str) -> Syntax:
    """What a Python value means beside an operator: itself, exactly. Raises Refusal."""
    if isinstance(given, Expression):
        return given.syntax
    if given is None or (isinstance(given, float) and math.isnan(given)):
        raise Refusal(f"{beside} cannot meet {given}: nothing equals a missing value.", cure=_MISSING.get(beside, _IS))
    scalar = getattr(given, "shape", None) == ()  # numpy's
    if isinstance(given, bool) or (scalar and str(getattr(given, "dtype", "")) == "bool"):
        return Literally(bool(given))
    if isinstance(given, str | UUID):
        return Literally(text(str(given)))
    if isinstance(given, datetime):
        return Literally(_moment(given), "timestamp")
    if isinstance(given, date):
        return Literally(given.isoformat(), "date")
    if not isinstance(given, int | float | Fraction | Decimal) and not scalar:
        raise Refusal(
            f"{beside} cannot meet {_shown(given)}.",
            cure="Use numbers, texts, True and False, dates, datetimes with a zone, columns or aggregates.",
        )
    number = rational(given, name="a number")
    if decimals(number) is None:
        return Binary("/", Literally(Fraction(number.numerator)), Literally(Fraction(number.denominator)))
    return Literally(number)


_IS: Final = "Ask .is_missing(), or ~x.is_missing() for where it is present."
_MISSING: Final = {
    "isin": "Write x.isin(...) | x.is_missing().",
    "coalesce": "Give the value to use instead.", "nullif": "Give the value to read as missing.",
}  # fmt: skip


def _moment(given: datetime) -> str:
    """The UTC spelling of a moment. Raises Refusal."""
    if given.tzinfo is None or given.utcoffset() is None:
        raise Refusal(
            f"the datetime {given.isoformat()} has no zone.",
            cure="Give it one, as in datetime(2024, 5, 31, tzinfo=timezone.utc).",
        )
    if getattr(given, "nanosecond", 0):
        raise Refusal("a moment has microseconds, and this one has nanoseconds.", cure="Round it to microseconds.")
    try:
        return given.astimezone(UTC).isoformat().replace("+00:00", "Z")
    except OverflowError:
        raise Refusal("this moment is outside the years 1 to 9999.", cure="Use one that is within.") from None


def _shown(given: object) -> str:
    """A value for a message: short ones as Python spells them, else their type."""
    huge = isinstance(given, int) and given.bit_length() > 64
    short = given is None or (isinstance(given, bool | int | float | str) and not huge and len(repr(given)) <= 60)
    return ascii(given) if short else f"a value of type {type(given).__name__}"


def _compared(op: Operator, left: Expression, other: object) -> Expression:
    right = literal(other, {"=": "==", "<>": "!="}.get(op, op))
    if condition(left.syntax) or condition(right):
        raise Refusal("this compares a condition, which is true or false already.", cure=_BRACKETS)
    return Expression(Binary(op, left.syntax, right))


def condition(part: Syntax) -> bool:
    """Whether an expression can only be true, false or unknown."""
    if isinstance(part, Binary):
        return part.op in (*COMPARISONS, "AND", "OR")
    return isinstance(part, Within) or (isinstance(part, Unary) and part.op != "-")


def _joined(op: Literal["AND", "OR"], left: object, right: object) -> Expression:
    sides: list[Syntax] = []
    for side in (left, right):
        if not isinstance(side, Expression):
            sign = "&" if op == "AND" else "|"
            raise Refusal(f"{sign} joins conditions, and {_shown(side)} is none.", cure=_BRACKETS)
        sides += leaves(side.syntax, op)
    return Expression(chain(op, sides))


def _arithmetic(op: Operator, left: object, right: object) -> Expression:
    return Expression(Binary(op, literal(left, op), literal(right, op)))


def _function(function: str, *arguments: object) -> Expression:
    return Expression(Call(function, tuple(literal(argument, function.lower()) for argument in arguments)))


def outside(part: Syntax) -> Iterator[Syntax]:
    """Every part of an expression, but for what is inside its aggregates; without recursion."""
    left: list[Syntax] = [part]
    while left:
        one = left.pop()
        yield one
        match one:
            case Unary(_, inner):
                left.append(inner)
            case Binary(_, first, second):
                left += [second, first]
            case Within(inner, options):
                left += [*reversed(options), inner]
            case Call(function, arguments) if function in FUNCTIONS:
                left += reversed(arguments)


def measured(part: Syntax) -> Iterator[Name]:
    """The columns that the aggregates of an expression are of."""
    for one in outside(part):
        if isinstance(one, Call) and one.function not in FUNCTIONS:
            yield from (column for column in one.arguments if isinstance(column, Name))


def aggregates(part: Syntax) -> Iterator[str]:
    """The aggregates of an expression, as Python spells them."""
    for one in outside(part):
        if one == UNITS:
            yield "dp.count_units()"
        elif isinstance(one, Call) and one.function not in FUNCTIONS:
            column = one.arguments[0] if one.arguments else None
            yield f"{_PYTHON[one.function]}({show(column.column) if isinstance(column, Name) else ''})"
