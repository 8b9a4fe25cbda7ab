"""Square roots of rationals as rationals: exactly where there is one, else the multiple of 1/n below or above.

Definition  `exact_root`: the root, where it is rational. `root_below`: floor(n sqrt(x)) / n; `root_above`: 1/n more.
            `ten_to_figures`: the power of ten that, as n, gives the root of x so many figures or more.
Promise     root_below <= sqrt(x) < root_above, since isqrt is the floor of the root of a whole
            number and floor(n sqrt(x)) = isqrt(floor(n**2 x)). x: at least 0; n: whole, above 0.
Checked     tests/numbers/test_roots.py.
"""

from __future__ import annotations

import math
from fractions import Fraction


def exact_root(square: Fraction) -> Fraction | None:
    """The root, or None where it is irrational: a fraction in lowest terms is a square when both of its parts are."""
    top, bottom = math.isqrt(square.numerator), math.isqrt(square.denominator)
    return Fraction(top, bottom) if top**2 == square.numerator and bottom**2 == square.denominator else None


def root_below(square: Fraction, n: int) -> Fraction:
    """The greatest multiple of 1/n that is at most the root."""
    return Fraction(_steps(square, n), n)


def root_above(square: Fraction, n: int) -> Fraction:
    """The least multiple of 1/n that is above the root."""
    return Fraction(_steps(square, n) + 1, n)


def _steps(square: Fraction, n: int) -> int:
    return math.isqrt(square.numerator * n**2 // square.denominator)


def ten_to_figures(square: Fraction, figures: int) -> int:
    """A power of ten, 1 at least: multiples of its inverse give the root that many figures or more, if square <= 1.

    With b - a = d >= 0, the bits of its denominator and numerator, the root is above 2**(-(d + 1)/2), so with
    figures + floor(d/6) decimals it is above 10**(figures - 1) steps, since log10(2)/2 < 1/6. Of the root of a larger
    number it is a figure fewer for about each 60 bits: steps are chosen for people, or with room, and not to the last.
    """
    missing = square.denominator.bit_length() - square.numerator.bit_length()
    return int(10 ** max(0, figures + missing // 6))
