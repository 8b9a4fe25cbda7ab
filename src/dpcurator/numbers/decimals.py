"""A rational as people write it, in decimals. It refuses nothing, so the texts of refusals can be made with it.

Checked in tests/numbers/test_rational.py.
"""

from __future__ import annotations

import math
from fractions import Fraction


def decimal_text(value: Fraction, *, digits: int = 12) -> str:
    """`value` as people write it: exact when its decimal form ends within `digits` places, else rounded with '...'.

    Whole numbers of 40 figures or more are written as in 1.5e+300, so a text is short and always made.
    """
    places = _places(value.denominator)
    if places is not None and places <= digits and abs(value) < 10**40:
        return _fixed(value, places)
    text = f"{float(value):.6g}" if 10**-300 < abs(value) < 10**40 else _scientific(value)
    return text if abs(value) >= 10**40 and Fraction(text) == value else f"{text}..."


def _places(denominator: int) -> int | None:
    """How many decimal places 1/denominator has; None when it never ends."""
    twos = (denominator & -denominator).bit_length() - 1
    rest, fives = denominator >> twos, 0
    while rest % 5 == 0:
        rest, fives = rest // 5, fives + 1
    return max(twos, fives) if rest == 1 else None


def _fixed(value: Fraction, places: int) -> str:
    if places == 0:
        return str(value.numerator)
    scaled = value * 10**places
    sign = "-" if scaled < 0 else ""
    digits = str(abs(scaled.numerator)).rjust(places + 1, "0")
    return f"{sign}{digits[:-places]}.{digits[-places:]}".rstrip("0").rstrip(".")


def _scientific(value: Fraction) -> str:
    """Six figures and a power of ten, for what a double cannot hold. value: Fraction, not 0."""
    power = leading(abs(value))
    steps = math.floor(abs(value) / Fraction(10) ** (power - 5) + Fraction(1, 2))
    if steps == 10**6:
        steps, power = 10**5, power + 1
    figures = str(steps).rstrip("0")
    point = f"{figures[0]}.{figures[1:]}" if len(figures) > 1 else figures
    return f"{'-' if value < 0 else ''}{point}e{power:+03d}"


def leading(value: Fraction) -> int:
    """The power of ten of a number's first figure: 2 for 357, -1 for 0.5. value: Fraction > 0."""
    guess = (value.numerator.bit_length() - value.denominator.bit_length()) * 30103 // 100000
    while Fraction(10) ** guess > value:
        guess -= 1
    while Fraction(10) ** (guess + 1) <= value:
        guess += 1
    return guess
