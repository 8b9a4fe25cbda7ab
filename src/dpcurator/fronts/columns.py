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
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from fractions import Fraction
from typing import Any, ClassVar, Final, Literal, NoReturn
from uuid import UUID

from dpcurator.errors import Refusal
from dpcurator.fronts.render import chain, decimals, depth, expression, leaves
from dpcurator.numbers import rational, whole
from dpcurator.plan.names import show
from dpcurator.plan.question import (
    Binary,
    Branch,
    Call,
    Case,
    Cast,
    Fits,
    Literally,
    Name,
    Operator,
    Syntax,
    Unary,
    Within,
    inside,
    walk,
)  # fmt: skip
from dpcurator.plan.row_functions import CASTS
from dpcurator.plan.rows import COMPARISONS

UNITS: Final = Call("COUNT", distinct=True)  # COUNT(DISTINCT unit), as long as no table says which column that is
_PYTHON: Final = {"COUNT": "dp.count", "SUM": "dp.sum", "AVG": "dp.mean"}
_BRACKETS: Final = 'Put each comparison in brackets: (dp.col("age") > 65) & (dp.col("city") == "Leeds").'


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Expression:
    """A column, a condition, or what is computed of rows or of aggregates.

    Make one with `dp.col`, `dp.when`, `dp.count`, `dp.sum`, `dp.mean`.
    """

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

    def __mod__(self, other: object) -> Expression:
        return _arithmetic("%", self, other)

    def __rmod__(self, other: object) -> Expression:
        return _arithmetic("%", other, self)

    def __pow__(self, other: object) -> Expression:
        return _function("POWER", self, other)

    def __rpow__(self, other: object) -> Expression:
        return _function("POWER", other, self)

    def _no_such(self, other: object) -> NoReturn:
        raise Refusal(
            "this operator is not available.", cure="There are +, -, *, /, % and **; for // write (x / y).floor()."
        )

    __floordiv__ = __rfloordiv__ = __xor__ = __rxor__ = __matmul__ = __rmatmul__ = __lshift__ = __rshift__ = (
        __getitem__
    ) = _no_such

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

    # of single rows: see docs/sql.md for the exact meaning of each
    def floor(self) -> Expression:
        return _function("FLOOR", self)

    def ceil(self) -> Expression:
        return _function("CEIL", self)

    def sign(self) -> Expression:
        return _function("SIGN", self)

    def sqrt(self) -> Expression:
        return _function("SQRT", self)

    def ln(self) -> Expression:
        return _function("LN", self)

    def exp(self) -> Expression:
        return _function("EXP", self)

    def clip(self, lower: object, upper: object) -> Expression:
        """Moved into [lower, upper], which then bound it."""
        return _function("CLIP", self, lower, upper)

    def least(self, *others: object) -> Expression:
        return _function("LEAST", self, *others)

    def greatest(self, *others: object) -> Expression:
        return _function("GREATEST", self, *others)

    def lower(self) -> Expression:
        return _function("LOWER", self)

    def upper(self) -> Expression:
        return _function("UPPER", self)

    def trim(self) -> Expression:
        return _function("TRIM", self)

    def length(self) -> Expression:
        return _function("LENGTH", self)

    def substring(self, start: int, length: int | None = None) -> Expression:
        """From the code point number `start`, the first being 1."""
        return _function("SUBSTRING", self, start, *(() if length is None else (length,)))

    def replace(self, what: str, by: str) -> Expression:
        return _function("REPLACE", self, what, by)

    def concat(self, *others: object) -> Expression:
        """One text after the other; missing ones are skipped."""
        return _function("CONCAT", self, *others)

    def like(self, pattern: str, *, escape: str | None = None, fold: bool = False) -> Expression:
        """SQL's LIKE: % stands for any letters, _ for one; `fold` takes A to Z as a to z (ILIKE)."""
        sign = None if escape is None else literal(escape, "like")
        return Expression(Fits(self.syntax, literal(pattern, "like"), sign, bool(fold)))

    def is_true(self) -> Expression:
        """True where the condition is true, false where it is false or unknown."""
        return Expression(Unary("IS TRUE", self.syntax))

    def is_false(self) -> Expression:
        return Expression(Unary("IS FALSE", self.syntax))

    def cast(self, type: str) -> Expression:
        """As 'integer', 'double', 'text', 'date', 'timestamp' or 'boolean'; missing where it has no such form."""
        if not isinstance(type, str) or type.upper() not in CASTS:
            raise Refusal(f"there is no cast to {_shown(type)}.", cure=f"Use one of {', '.join(CASTS).lower()}.")
        return Expression(Cast(self.syntax, type.upper()))

    def part(self, unit: str) -> Expression:
        """A part of a date or a moment: 'year', 'month', 'dow', 'hour', ..."""
        return _function("DATE_PART", unit, self)

    def year(self) -> Expression:
        return self.part("year")

    def month(self) -> Expression:
        return self.part("month")

    def day(self) -> Expression:
        return self.part("day")

    def trunc(self, unit: str) -> Expression:
        """The start of its unit: 'month', 'week', 'hour', ..."""
        return _function("DATE_TRUNC", unit, self)

    def later(self, **by: int) -> Expression:
        """A date or a moment later by so many units, as in later(months=1) or later(days=-7)."""
        words = [f"{whole(abs(count), name=unit) * (-1 if count < 0 else 1)} {unit}" for unit, count in by.items()]
        return Expression(Binary("+", self.syntax, Literally(" ".join(words), "interval")))

    def at_zone(self, zone: str) -> Expression:
        """A moment as the wall clock of a zone, and the other way round: SQL's AT TIME ZONE."""
        return _function("TIMEZONE", zone, self)

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


@dataclass(frozen=True, slots=True)
class Choice:
    """`dp.when(condition).then(value)`, with further `.when(...).then(...)`; ends in `.otherwise(value)`."""

    branches: tuple[Branch, ...] = ()
    condition: Syntax | None = None

    def when(self, condition: Expression) -> Choice:
        """The next condition."""
        if self.condition is not None or not isinstance(condition, Expression):
            raise Refusal(
                "when takes a condition, and then a value.", cure='Write dp.when(dp.col("age") > 65).then(1).'
            )
        return Choice(self.branches, condition.syntax)

    def then(self, value: object) -> Choice:
        """The value where the condition is true and none before it was."""
        if self.condition is None:
            raise Refusal("then comes after when.", cure='Write dp.when(dp.col("age") > 65).then(1).')
        return Choice((*self.branches, Branch(self.condition, _or_missing(value))))

    def otherwise(self, value: object = None) -> Expression:
        """The value where no condition is true; None for missing."""
        if self.condition is not None or not self.branches:
            raise Refusal("otherwise comes after then.", cure='Write dp.when(dp.col("age") > 65).then(1).otherwise(0).')
        return Expression(Case(self.branches, None if value is None else _or_missing(value)))


def when(condition: Expression) -> Choice:
    """A value by conditions: SQL's CASE. `dp.when(dp.col("age") < 18).then("child").otherwise("adult")`."""
    return Choice().when(condition)


def _or_missing(value: object) -> Syntax:
    return Literally(None) if value is None else literal(value, "then")


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
    """The sum of a column, or an expression of rows, with bounds."""
    return Expression(_aggregate("SUM", column))


def mean(column: str | Expression) -> Expression:
    """The average of a column, or an expression of rows, with bounds: SQL's AVG."""
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
    if not isinstance(column, Expression) or isinstance(column.syntax, Name):
        return Call(function, (named(column, f"the column of {python}"),))
    inner = next(iter(aggregates(column.syntax)), None)
    if inner is not None:
        raise Refusal(
            f"{python} looks at single rows, and this holds the aggregate {inner}.",
            cure=f'Write it as in {python}("age") or {python}(dp.col("age") * 2).',
        )
    return Call(function, (column.syntax,))


def literal(given: object, beside: str) -> Syntax:
    """What a Python value means beside an operator: itself, exactly. Raises Refusal."""
    if isinstance(given, Expression):
        return given.syntax
    if given is None or (isinstance(given, float) and math.isnan(given)):
        raise Refusal(f"{beside} cannot meet {given}: nothing equals a missing value.", cure=_MISSING.get(beside, _IS))
    scalar = getattr(given, "shape", None) == ()  # numpy's
    if isinstance(given, bool) or (scalar and str(getattr(given, "dtype", "")) == "bool"):
        return Literally(bool(given))
    if isinstance(given, timedelta):
        return Literally(_interval(given), "interval")
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


def _interval(given: timedelta) -> str:
    """Days and seconds of a Python interval. Raises Refusal."""
    if given.microseconds:
        raise Refusal("an interval has whole seconds.", cure="Round it to seconds.")
    words = [f"{given.days} days"] * (given.days != 0) + [f"{given.seconds} seconds"] * (given.seconds != 0)
    return " ".join(words) or "0 days"


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
        return part.op in (*COMPARISONS, "IS DISTINCT FROM", "AND", "OR")
    return isinstance(part, Within | Fits) or (isinstance(part, Unary) and part.op != "-")


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
        if not (isinstance(one, Call) and one.function in _PYTHON):
            left += reversed(inside(one))


def measured(part: Syntax) -> Iterator[Name]:
    """The columns that the aggregates of an expression are of."""
    for one in outside(part):
        if isinstance(one, Call) and one.function in _PYTHON:
            yield from (column for argument in one.arguments for column in walk(argument) if isinstance(column, Name))


def aggregates(part: Syntax) -> Iterator[str]:
    """The aggregates of an expression, as Python spells them."""
    for one in outside(part):
        if one == UNITS:
            yield "dp.count_units()"
        elif isinstance(one, Call) and one.function in _PYTHON:
            column = one.arguments[0] if one.arguments else None
            said = show(column.column) if isinstance(column, Name) else "" if column is None else "..."
            yield f"{_PYTHON[one.function]}({said})"
