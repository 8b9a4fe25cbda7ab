"""COVAR_POP, COVAR_SAMP, CORR, REGR_*: of two columns (y, x), over the rows where both are present.

With the averages A of `average.py`, and dy, dx for how far a row's y and x are from the middles of their bounds:

    COVAR_POP = A(dx dy) - A(dx) A(dy)     CORR = COVAR_POP / sqrt(VAR_POP(x) VAR_POP(y))     REGR_R2 = CORR^2
    REGR_SLOPE = COVAR_POP / VAR_POP(x)    REGR_INTERCEPT = AVG(y) - REGR_SLOPE AVG(x)
    COVAR_SAMP = COVAR_POP n / (n - 1)

One count serves all of them, and columns that are never missing share their sums with AVG and VAR_POP. Products of rows
are within Wx Wy / 4 of 0, and so is COVAR_POP, to which it is clamped; COVAR_SAMP to twice that, CORR to [-1, 1] and
REGR_R2 to [0, 1]. As in SQL, what is divided by a variance of 0 is NULL, and REGR_R2 is 1 where y alone has none; here
it is the noisy variance. Where a column has one possible value, all this is known before and nothing is asked.

Interval. All readings are within their errors at once with probability 1 - beta, and the intervals of the averages
are put together by interval arithmetic: products at their corners, quotients by an interval without 0 (else nothing
is told but the clamps), roots rounded outward. It is not the least interval, since the parts move together.

Bar. COVAR_POP moves by at most bz + bx Wy/2 + by Wx/2, for AVG's bars b of the products and of the columns, as both
averages stay within half their widths. What is divided by a variance moves as far as the data's variance is small, so
that it has no bar before the answer. Checked in tests/aggregates/test_moments.py.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Final, Literal

from dpcurator.aggregates.aggregate import Aggregate, Finish, bar_of_one_reading, clamped, nothing_beside, public_count
from dpcurator.aggregates.average import from_middle, moves
from dpcurator.aggregates.moments import NULL, counted, mean_from_middle, moves_sample, of_sample, variance_of
from dpcurator.numbers.interval import Interval
from dpcurator.plan.canonical import canonical_text
from dpcurator.plan.nodes import Ask, Measured
from dpcurator.plan.stability import Reach

Part = Literal["y", "x", "product", "square x", "square y"]
Told = dict[str, Interval | None]  # the value where x has one possible value, and else where y has; None: that of y
_ZERO: Final = Interval.exactly(Fraction(0))
_ONE: Final = Interval.exactly(Fraction(1))


def in_order(column: Measured) -> tuple[Measured, ...]:
    """The two of a pair in an order that does not rest on which is named first: a bare column before an expression."""

    def place(one: Measured) -> tuple[bool, str]:
        return one.column is None, canonical_text(replace(one, name=""))

    return tuple(sorted(column.each, key=place))


def asks_of(column: Measured, reach: Reach | None, parts: tuple[Part, ...]) -> tuple[Ask, ...]:
    """The readings of these parts, and the count last, unless it is public."""
    (y, x), (first, second) = column.each, in_order(column)
    public = public_count(column, reach) is not None
    total: Literal["values", "centred"] = "values" if public else "centred"
    known = {
        "y": Ask(total, y), "x": Ask(total, x), "product": Ask("product", replace(first, beside=second)),
        "square x": Ask("square", x), "square y": Ask("square", y),
    }
    return (*(known[part] for part in parts), *(() if public else (Ask("present", first),)))


@dataclass(frozen=True, slots=True)
class Pair:
    """What the readings tell of a pair."""

    column: Measured
    reach: Reach | None
    told: dict[Part, Interval]
    count: Interval

    def mean(self, part: Literal["y", "x"]) -> Interval:
        """The average less the middle of the bounds."""
        return mean_from_middle(self.told[part], self.count, self.one(part), self.reach)

    def one(self, part: Literal["y", "x"]) -> Measured:
        return self.column.each[part == "x"]

    def average(self, part: Literal["y", "x"]) -> Interval:
        one = self.one(part)
        assert one.lower is not None
        return self.mean(part) + Interval.exactly(one.lower + one.width / 2)

    def variance(self, part: Literal["y", "x"]) -> Interval:
        squares: Part = "square y" if part == "y" else "square x"
        return variance_of(self.mean(part), self.told[squares], self.count, self.one(part))

    def covariance(self) -> Interval:
        most = largest(self.column)
        products = from_middle(self.told["product"], self.count, 2 * most)
        return (products - self.mean("y") * self.mean("x")).clamped(-most, most)


def largest(column: Measured) -> Fraction:
    """Wx Wy / 4: the most that a covariance can be."""
    y, x = column.each
    return y.width * x.width / 4


def _covariance(of: Pair) -> Interval:
    return of.covariance()


def _sample(of: Pair) -> Interval:
    if public_count(of.column, of.reach) == 1:
        return NULL
    return of_sample(of.covariance(), of.count, 2 * largest(of.column))


def _correlation(of: Pair) -> Interval:
    return (of.covariance() / (of.variance("x") * of.variance("y")).root()).clamped(Fraction(-1), Fraction(1))


def _slope(of: Pair) -> Interval:
    return of.covariance() / of.variance("x")


def _intercept(of: Pair) -> Interval:
    return of.average("y") - _slope(of) * of.average("x")


def _r2(of: Pair) -> Interval:
    both, covariance = of.variance("x") * of.variance("y"), of.covariance()
    found = (abs(covariance) * abs(covariance) / both).clamped(Fraction(0), Fraction(1))
    level = of.variance("x").value and not of.variance("y").value
    return Interval(Fraction(1), Fraction(0), Fraction(1)) if level else found


def _finish_by(parts: tuple[Part, ...], told: Told, rule: object) -> Finish:
    def finish(readings: tuple[Interval, ...], column: Measured | None, reach: Reach | None = None, /) -> Interval:
        assert column is not None
        known = _known(column, told)
        if known is not None:
            return known
        assert callable(rule)
        found = rule(Pair(column, reach, dict(zip(parts, readings, strict=False)), counted(readings, column, reach)))
        assert isinstance(found, Interval)
        return found

    return finish


def _known(column: Measured, told: Told) -> Interval | None:
    y, x = column.each
    if not x.width:
        return told["x"]
    if not y.width:
        return told["y"] or Interval.exactly(y.lower or Fraction(0))
    return None


def _number(column: Measured | None) -> str:
    return "number"


def _clamped(column: Measured | None) -> tuple[str, ...]:
    return () if column is None else tuple(words for one in column.each for words in clamped(one))


def _pair(
    function: str, parts: tuple[Part, ...], told: Told, rule: object, python: str, meaning: str,
    *, sample: bool | None = None,
) -> Aggregate:
    """sample: whether it is a covariance, and of which kind; None where it has no bar before."""
    def asks(column: Measured | None, reach: Reach | None = None, /) -> tuple[Ask, ...]:
        assert column is not None
        return asks_of(column, reach, parts) if _known(column, told) is None else ()

    def bar(
        errors: tuple[Fraction, ...], widths: tuple[Fraction, ...], column: Measured | None, reach: Reach,
        rows: Fraction | None, /,
    ) -> Fraction | None:
        assert column is not None
        return None if sample is None else covariance_moves(errors, widths, column, reach, rows, sample=sample)

    return Aggregate(function, "pair", asks, _finish_by(parts, told, rule), bar, _clamped, _number, python, meaning)


def covariance_moves(
    errors: tuple[Fraction, ...], widths: tuple[Fraction, ...], column: Measured, reach: Reach, rows: Fraction | None,
    *, sample: bool,
) -> Fraction | None:
    """How far noise moves a covariance in a group of so many rows, from the errors of y, x, products and the count."""
    (y, x), most, public = column.each, largest(column), public_count(column, reach)
    rows = rows if public is None else Fraction(max(1, public))
    if rows is None:
        return None
    each = [max(one.width, width) for one, width in zip((y, x), widths, strict=False)]
    products, count = max(2 * most, widths[2]), Fraction(0) if public is not None else errors[3]
    if public is not None:
        by, bx = (min(width, error / rows) for width, error in zip(each, errors, strict=False))
        moved = min(products, errors[2] / (2 * rows))
    else:
        by, bx, moved = (moves(error, count, width, rows)
                         for error, width in zip(errors, (*each, products), strict=False))
    moved = min(2 * most, moved + bx * y.width / 2 + by * x.width / 2)
    return moves_sample(moved, most, count, rows) if sample else moved


def _average_of(part: Literal["y", "x"], function: str, python: str, meaning: str) -> Aggregate:
    def asks(column: Measured | None, reach: Reach | None = None, /) -> tuple[Ask, ...]:
        assert column is not None
        return asks_of(column, reach, (part,)) if column.each[part == "x"].width else ()

    def finish(readings: tuple[Interval, ...], column: Measured | None, reach: Reach | None = None, /) -> Interval:
        assert column is not None
        one = column.each[part == "x"]
        if not one.width:
            return Interval.exactly(one.lower or Fraction(0))
        return Pair(column, reach, {part: readings[0]}, counted(readings, column, reach)).average(part)

    def bar(
        errors: tuple[Fraction, ...], widths: tuple[Fraction, ...], column: Measured | None, reach: Reach,
        rows: Fraction | None, /,
    ) -> Fraction | None:
        assert column is not None
        width, public = max(column.each[part == "x"].width, widths[0]), public_count(column, reach)
        if public is not None:
            return min(width, errors[0] / max(1, public))
        return None if rows is None else moves(errors[0], errors[1], width, rows)

    return Aggregate(function, "pair", asks, finish, bar, _clamped, _number, python, meaning)


def _count_asks(column: Measured | None, reach: Reach | None = None, /) -> tuple[Ask, ...]:
    assert column is not None
    return asks_of(column, reach, ())


def _count_finish(readings: tuple[Interval, ...], column: Measured | None, reach: Reach | None = None, /) -> Interval:
    return counted(readings, column, reach)


def _whole(column: Measured | None) -> str:
    return "whole"


BOTH: Final[tuple[Part, ...]] = ("y", "x", "product")
SLOPED: Final[tuple[Part, ...]] = (*BOTH, "square x")
SPREAD: Final[tuple[Part, ...]] = (*SLOPED, "square y")

COVAR_POP = _pair("COVAR_POP", BOTH, {"x": _ZERO, "y": _ZERO}, _covariance, "dp.covariance",
                  "the mean product of how far two columns are from their averages", sample=False)
COVAR_SAMP = _pair("COVAR_SAMP", BOTH, {"x": _ZERO, "y": _ZERO}, _sample, "dp.covariance",
                   "COVAR_POP times n / (n - 1)", sample=True)
CORR = _pair("CORR", SPREAD, {"x": NULL, "y": NULL}, _correlation, "dp.correlation", "the correlation of two columns")
REGR_SLOPE = _pair("REGR_SLOPE", SLOPED, {"x": NULL, "y": _ZERO}, _slope, "dp.regression",
                   "the slope of the line that fits y best, from x")
REGR_INTERCEPT = _pair("REGR_INTERCEPT", SLOPED, {"x": NULL, "y": None}, _intercept,
                       "dp.regression", "where that line is at x = 0")
REGR_R2 = _pair("REGR_R2", SPREAD, {"x": NULL, "y": _ONE}, _r2, "dp.regression",
                "how much of the variance of y that line explains")
REGR_COUNT = Aggregate("REGR_COUNT", "pair", _count_asks, _count_finish, bar_of_one_reading, nothing_beside, _whole,
                       "dp.regression", "the number of rows where both columns are present")
REGR_AVGX = _average_of("x", "REGR_AVGX", "dp.regression", "the average of x, where both are present")
REGR_AVGY = _average_of("y", "REGR_AVGY", "dp.regression", "the average of y, where both are present")
PAIRS: Final = (COVAR_POP, COVAR_SAMP, CORR, REGR_SLOPE, REGR_INTERCEPT, REGR_R2, REGR_COUNT, REGR_AVGX, REGR_AVGY)
