"""A real number known as two rationals that bracket it.

Definition  Enclosure(lo, hi) stands for some real x with lo <= x <= hi; an operation on enclosures brackets the
            operation on every pair of reals inside them.
Promise     lo only ever rounds down and hi only ever rounds up, so the real is never outside. There is no `<` and no
            truth value: a bracket may straddle what it is compared with, so one asks `surely_at_most` and the like.
Source      interval arithmetic as in Moore 1966; exp and ln from the balls of Johansson, IEEE Trans. Comp. 2017.
Checked     tests/numbers/test_enclosure.py.
"""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Context, Decimal
from fractions import Fraction
from typing import Self

from dpcurator.numbers.arb import Ball, ball, precision
from dpcurator.numbers.display import nearest_double

_LONG = 512  # bits an endpoint's numerator or denominator may have before it is rounded outward
_KEPT = 256  # significant bits it then keeps
_FIGURES = Context(prec=60)  # of an end that is shown
_SMALL = 65536  # 2**-_SMALL is the least positive endpoint; a smaller number is bracketed by 0 and that


@dataclass(frozen=True, slots=True)
class Enclosure:
    """lo, hi: Fraction, lo <= hi. Brackets of equal endpoints are equal as data, which says nothing of the reals."""

    lo: Fraction
    hi: Fraction

    def __post_init__(self) -> None:
        if self.lo > self.hi:
            raise ValueError("an enclosure needs lo <= hi")

    @classmethod
    def exactly(cls, value: Fraction | int) -> Self:
        """The bracket of width 0."""
        return cls(Fraction(value), Fraction(value))

    @property
    def width(self) -> Fraction:
        return self.hi - self.lo

    def holds(self, value: Fraction | int) -> bool:
        """Could the real be `value`?"""
        return self.lo <= value <= self.hi

    def surely_at_most(self, other: Number) -> bool:
        return self.hi <= _enclosure(other).lo

    def surely_below(self, other: Number) -> bool:
        return self.hi < _enclosure(other).lo

    def surely_at_least(self, other: Number) -> bool:
        return self.lo >= _enclosure(other).hi

    def surely_above(self, other: Number) -> bool:
        return self.lo > _enclosure(other).hi

    def __bool__(self) -> bool:
        raise TypeError("an enclosure has no truth value; ask surely_at_most, surely_below and the like")

    def __format__(self, spec: str) -> str:
        """The real in this format, where both ends round to the same text; else both, as in "0.1 to 0.3"."""
        lo, hi = (format(_decimal(end), spec or ".10g") for end in (self.lo, self.hi))
        return lo if lo == hi else f"{lo} to {hi}"

    def __str__(self) -> str:
        """Of ten figures: what is known of the real at a glance. `lo` and `hi` say it exactly."""
        return format(self, ".10g")

    def __repr__(self) -> str:
        return f"Enclosure({self!s})"

    def __float__(self) -> float:
        """The double nearest to the middle: for display. No bound: `lo` and `hi` are."""
        return nearest_double((self.lo + self.hi) / 2)

    def __neg__(self) -> Enclosure:
        return Enclosure(-self.hi, -self.lo)

    def __add__(self, other: Number) -> Enclosure:
        that = _enclosure(other)
        return _outward(self.lo + that.lo, self.hi + that.hi)

    __radd__ = __add__

    def __sub__(self, other: Number) -> Enclosure:
        return self + -_enclosure(other)

    def __rsub__(self, other: Number) -> Enclosure:
        return -self + other

    def __mul__(self, other: Number) -> Enclosure:
        that = _enclosure(other)
        if self.lo >= 0 and that.lo >= 0:  # the common case, at half the work
            return _outward(self.lo * that.lo, self.hi * that.hi)
        corners = (self.lo * that.lo, self.lo * that.hi, self.hi * that.lo, self.hi * that.hi)
        return _outward(min(corners), max(corners))

    __rmul__ = __mul__

    def __truediv__(self, other: Number) -> Enclosure:
        that = _enclosure(other)
        if that.holds(0):
            raise ZeroDivisionError("the divisor's bracket holds 0")
        return self * Enclosure(1 / that.hi, 1 / that.lo)

    def __rtruediv__(self, other: Number) -> Enclosure:
        return _enclosure(other) / self

    def __pow__(self, power: int) -> Enclosure:
        """power: int >= 0, by repeated squaring; the base must not straddle 0."""
        if power < 0 or self.lo < 0 < self.hi:
            raise ValueError("powers are of brackets on one side of 0, to whole numbers of at least 0")
        result, square = Enclosure.exactly(1), self
        while power:
            result, square, power = result * square if power & 1 else result, square * square, power >> 1
        return result


Number = Enclosure | Fraction | int


def exp_neg(x: Fraction, bits: int = 128) -> Enclosure:
    """exp(-x) for a rational x >= 0, relative width about 2**-bits (absolute 2**-65536 where it is smaller)."""
    if x < 0:
        raise ValueError("exp_neg takes x >= 0")
    extra = max(0, (x.numerator // x.denominator).bit_length())
    if extra > _SMALL.bit_length():  # x >= 2**17 > 65536 ln 2
        return Enclosure(Fraction(0), Fraction(1, 2**_SMALL))
    with precision(bits + extra + 8):
        result = bracket((-ball(x)).exp())
    return Enclosure(max(result.lo, Fraction(0)), min(result.hi, Fraction(1)))


def ln(x: Fraction, bits: int = 128) -> Enclosure:
    """The natural logarithm of a rational x > 0; absolute width about 2**-bits, relative too unless x is near 1."""
    if x <= 0:
        raise ValueError("ln takes x > 0")
    with precision(bits + (x.numerator.bit_length() + x.denominator.bit_length()).bit_length() + 8):
        return bracket(ball(x).log())


def bracket(value: Ball) -> Enclosure:
    """The endpoints of a ball, as rationals."""
    if not value.is_finite():
        raise ValueError("the ball is not finite")
    middle, radius = _rational(value.mid()), _rational(value.rad())
    if middle is None:
        slack = Fraction(1, 2**_SMALL)
        middle, radius = Fraction(0), slack + (slack if radius is None else radius)
    elif radius is None:
        radius = Fraction(1, 2**_SMALL)
    return Enclosure(middle - radius, middle + radius)


def _rational(point: Ball) -> Fraction | None:
    """An exact point as a rational; None when it is not 0 but so small that its denominator would not fit."""
    mantissa, exponent = (int(part) for part in point.man_exp())
    if exponent >= 0:
        return Fraction(mantissa << exponent)
    return None if mantissa and mantissa.bit_length() + exponent < -_SMALL else Fraction(mantissa, 1 << -exponent)


def _decimal(end: Fraction) -> Decimal:
    """An end for people to read, of 60 figures, however small or large."""
    return _FIGURES.divide(Decimal(end.numerator), Decimal(end.denominator))


def _enclosure(value: Number) -> Enclosure:
    return value if isinstance(value, Enclosure) else Enclosure.exactly(value)


def _outward(lo: Fraction, hi: Fraction) -> Enclosure:
    return Enclosure(_shorter(lo, up=False), _shorter(hi, up=True))


def _shorter(value: Fraction, *, up: bool) -> Fraction:
    """`value` rounded to _KEPT significant bits, up or down, once its parts are long."""
    top, bottom = value.numerator, value.denominator
    if top.bit_length() <= _LONG and bottom.bit_length() <= _LONG:
        return value
    shift = _KEPT - top.bit_length() + bottom.bit_length()
    shift = min(shift, _SMALL)
    scaled = (top << shift, bottom) if shift >= 0 else (top, bottom << -shift)
    whole = -(-scaled[0] // scaled[1]) if up else scaled[0] // scaled[1]
    return Fraction(whole, 1 << shift) if shift >= 0 else Fraction(whole << -shift)
