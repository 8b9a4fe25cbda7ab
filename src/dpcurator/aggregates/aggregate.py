"""What an aggregate is: its SQL name, the readings it asks for, how noisy readings become its value, and its error bar.

`asks` may be empty: then the value is a public constant of the catalog (a sum of values clamped to [0, 0] is 0, the
number of rows is n where that is public), no data is touched and nothing is charged (semantics 3).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal, Protocol

from dpcurator.numbers import decimal_text
from dpcurator.numbers.interval import Interval
from dpcurator.plan.nodes import Ask, Measured
from dpcurator.plan.stability import Reach


class Asks(Protocol):
    """The readings to pay for. `reach` is that of the plan: it holds the public n, if any; None: there is none."""

    def __call__(self, column: Measured | None, reach: Reach | None = None, /) -> tuple[Ask, ...]: ...


class Finish(Protocol):
    """The value with its interval, from the noisy readings in the order of `asks(column, reach)`, in the query's unit.

    Rests on noisy values and public facts alone, so it is post-processing.
    """

    def __call__(
        self, readings: tuple[Interval, ...], column: Measured | None, reach: Reach | None = None, /
    ) -> Interval: ...


class Bar(Protocol):
    """How far noise that is still to be drawn can move the value, in the query's unit; None where the data decides.

    errors: Fraction > 0 each, in the order of `asks(column, reach)`: the noise of a reading is within its own. widths:
    of each, U - L of what it adds up, as it is measured on its grid; 0 for a count. rows: the group is assumed to have
    at least so many rows in which the column is present; None: nothing is assumed.

    Promise. For a group of at least `rows` rows the value is within the bar of the value without noise. Where the noisy
    count is at least `rows`, half the width of the interval that `finish` gives is within it too. Both are laws that
    tests/aggregates/test_bars.py holds every aggregate to.
    """

    def __call__(
        self, errors: tuple[Fraction, ...], widths: tuple[Fraction, ...], column: Measured | None, reach: Reach,
        rows: Fraction | None, /,
    ) -> Fraction | None: ...


@dataclass(frozen=True, slots=True)
class Aggregate:
    """`function` as SQL writes it; `argument`: star (*), column (any), unit (DISTINCT unit), values (DISTINCT
    column), number (with bounds), pair (of two such) or ordered (with bounds; a number, a date or a time).

    bar: its error bar; beside_bar: what that does not cover, in words. Neither has a default, for what is right for one
    aggregate is wrong for the next. python: the function of this package that asks for it. ranked: its error bar is
    one in rank, in rows. names: it says which groups are greatest, and is the only one of its question.
    """

    function: str
    argument: Literal["star", "column", "unit", "values", "number", "pair", "ordered"]
    asks: Asks
    finish: Finish
    bar: Bar
    beside_bar: Callable[[Measured | None], tuple[str, ...]]
    shown: Callable[[Measured | None], str]
    python: str
    meaning: str
    ranked: bool = False
    names: bool = False


def bar_of_one_reading(
    errors: tuple[Fraction, ...], widths: tuple[Fraction, ...], column: Measured | None, reach: Reach,
    rows: Fraction | None, /,
) -> Fraction | None:
    """Where the value is its one reading: the error of that."""
    (error,) = errors
    return error


def nothing_beside(column: Measured | None) -> tuple[str, ...]:
    """Where the error bar covers all that is done to a row."""
    return ()


def clamped(column: Measured | None) -> tuple[str, ...]:
    """That values are clamped to the column's bounds, which no error bar covers."""
    if column is None or column.lower is None or column.upper is None:
        return ()
    return (f"{column.name} is clamped to [{decimal_text(column.lower)}, {decimal_text(column.upper)}]",)


def public_count(column: Measured | None, reach: Reach | None) -> int | None:
    """The number of rows where the column (None: the row) is present, if it is the public n (semantics 2.6)."""
    return None if reach is None else reach.public_count(column)
