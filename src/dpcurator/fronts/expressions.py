"""An Expression: a column, a condition, or what is computed, with the operators and methods of Python values.

It holds the syntax that the SQL front makes of the same words (`language/question.py`), so one binding gives both their
meaning: each method here makes one node of it. A function of SQL is a method as soon as it is in ROW_FUNCTIONS. What
Python would take in silence (`and`, a comparison of comparisons, an operator that binds more than a comparison) is
refused here, where it is written. Checked in tests/fronts/test_columns.py.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Final, Literal, NoReturn

from dpcurator.errors import Refusal
from dpcurator.fronts.bins import bin_of, width_bucket
from dpcurator.fronts.values import shown, value
from dpcurator.language.functions import ROW_FUNCTIONS
from dpcurator.language.functions.casts import CASTS
from dpcurator.language.functions.function import RowFunction
from dpcurator.language.question import Binary, Call, Cast, Fits, Literally, Operator, Syntax, Unary, Within, chain
from dpcurator.language.render import depth, expression, leaves
from dpcurator.language.rows import COMPARISONS
from dpcurator.numbers import whole
from dpcurator.numbers.readable import cut

_BRACKETS: Final = 'Put each comparison in brackets: (dp.col("age") > 65) & (dp.col("city") == "Leeds").'


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Expression:
    """A column, a condition, or what is computed of rows or of aggregates.

    Make one with `dp.col`, `dp.when`, `dp.count`, `dp.sum`, `dp.mean` and the like.
    """

    syntax: Syntax
    __array_ufunc__: ClassVar[None] = None  # numpy's scalars leave operators to this class

    def __repr__(self) -> str:
        return cut(expression(self.syntax)) if depth(self.syntax, 64) <= 64 else "a deep expression"

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

    __round__ = round

    def __abs__(self) -> Expression:
        return _function("ABS", self)

    # of single rows: see docs/sql.md for the exact meaning of each; those without words of their own follow the class
    def clip(self, lower: object, upper: object) -> Expression:
        """Moved into [lower, upper], which then bound it."""
        return _function("CLIP", self, lower, upper)

    def bin(self, width: object) -> Expression:
        """The lower end of the bin of this width that it is in, from 0 on: SQL's BIN(x, width), for histograms."""
        return Expression(bin_of((self.syntax, literal(width, "bin")), example='dp.col("age").bin(10)'))

    def width_bucket(self, low: object, high: object, count: int) -> Expression:
        """The number of its bucket, of `count` equal ones between two ends; 0 below them, count + 1 above."""
        ends = tuple(literal(one, "width_bucket") for one in (low, high, count))
        return Expression(width_bucket((self.syntax, *ends), example='dp.col("age").width_bucket(0, 100, 10)'))

    def substring(self, start: int, length: int | None = None) -> Expression:
        """From the code point number `start`, the first being 1."""
        return _function("SUBSTRING", self, start, *(() if length is None else (length,)))

    def replace(self, what: str, by: str) -> Expression:
        """Every occurrence of a text by another."""
        return _function("REPLACE", self, what, by)

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
            raise Refusal(f"there is no cast to {shown(type)}.", cure=f"Use one of {', '.join(CASTS).lower()}.")
        return Expression(Cast(self.syntax, type.upper()))

    def part(self, unit: str) -> Expression:
        """A part of a date or a moment: 'year', 'month', 'dow', 'hour', ..."""
        return _function("DATE_PART", unit, self)

    def year(self) -> Expression:
        """The year of a date or a moment."""
        return self.part("year")

    def month(self) -> Expression:
        """The month of a date or a moment: 1 to 12."""
        return self.part("month")

    def day(self) -> Expression:
        """The day of the month: 1 to 31."""
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

    if TYPE_CHECKING:

        def __getattr__(self, name: str) -> Callable[..., Expression]:
            """The other functions of SQL, as `_method` makes them."""

    # order
    def ascending(self, *, missing_first: bool = True) -> Sorted:
        """For `order_by`: smallest first."""
        return Sorted(self.syntax, False, missing_first)

    def descending(self, *, missing_first: bool = False) -> Sorted:
        """For `order_by`: largest first."""
        return Sorted(self.syntax, True, missing_first)


def _method(name: str, known: RowFunction) -> Callable[..., Expression]:
    """A function of SQL as a method of its first part."""

    def method(self: Expression, *others: object) -> Expression:
        if not known.least <= 1 + len(others) <= known.most:
            raise Refusal(f"{name.lower()} takes {known.counted} values.", cure=f"It means {known.use}.")
        return _function(name, self, *others)

    method.__name__, method.__qualname__ = name.lower(), f"Expression.{name.lower()}"
    method.__doc__ = f"SQL's {known.use}; this expression comes first. For example {known.example}."
    return method


for _name, _known in ROW_FUNCTIONS.items():
    if _known.method and not hasattr(Expression, _name.lower()):
        setattr(Expression, _name.lower(), _method(_name, _known))


@dataclass(frozen=True, slots=True)
class Sorted:
    """How `order_by` sorts by one expression."""

    part: Syntax
    descending: bool
    missing_first: bool

    def __repr__(self) -> str:
        return f"{Expression(self.part)!r}{' DESC' if self.descending else ''}"


def literal(given: object, beside: str) -> Syntax:
    """What stands beside an operator: the syntax of an expression, or what a Python value means. Raises Refusal."""
    return given.syntax if isinstance(given, Expression) else value(given, beside)


def condition(part: Syntax) -> bool:
    """Whether an expression can only be true, false or unknown."""
    if isinstance(part, Binary):
        return part.op in (*COMPARISONS, "IS DISTINCT FROM", "AND", "OR")
    return isinstance(part, Within | Fits) or (isinstance(part, Unary) and part.op != "-")


def _compared(op: Operator, left: Expression, other: object) -> Expression:
    right = literal(other, {"=": "==", "<>": "!="}.get(op, op))
    if condition(left.syntax) or condition(right):
        raise Refusal("this compares a condition, which is true or false already.", cure=_BRACKETS)
    return Expression(Binary(op, left.syntax, right))


def _joined(op: Literal["AND", "OR"], left: object, right: object) -> Expression:
    sides: list[Syntax] = []
    for side in (left, right):
        if not isinstance(side, Expression):
            sign = "&" if op == "AND" else "|"
            raise Refusal(f"{sign} joins conditions, and {shown(side)} is none.", cure=_BRACKETS)
        sides += leaves(side.syntax, op)
    return Expression(chain(op, sides))


def _arithmetic(op: Operator, left: object, right: object) -> Expression:
    return Expression(Binary(op, literal(left, op), literal(right, op)))


def _function(function: str, *arguments: object) -> Expression:
    return Expression(Call(function, tuple(literal(argument, function.lower()) for argument in arguments)))
