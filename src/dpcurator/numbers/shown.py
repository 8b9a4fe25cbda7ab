"""Numbers as people read them: no digit beyond the noise (MEANING 7.5).

An error bar is shown with two figures, rounded up; its value is rounded to the place of the bar's first figure.
41,832 with an error of 357 is shown as 41,800 ±360. Checked in tests/numbers/test_shown.py.
"""

from __future__ import annotations

import math
from fractions import Fraction


def place(error: Fraction) -> int:
    """The power of ten of an error's first figure: 2 for 357, -1 for 0.5. error: Fraction > 0."""
    guess = len(str(error.numerator)) - len(str(error.denominator))
    while Fraction(10) ** guess > error:
        guess -= 1
    while Fraction(10) ** (guess + 1) <= error:
        guess += 1
    return guess


def error_text(error: Fraction) -> str:
    """An error of at least 0 with two figures, rounded up."""
    if error == 0:
        return "0"
    last = place(error) - 1
    unit = Fraction(10) ** last
    steps = math.ceil(error / unit)
    return number_text(steps * unit, max(0, -last)).rstrip("0").rstrip(".") if last < 0 else number_text(steps * unit)


def value_text(value: Fraction, error: Fraction | None, whole: bool = False) -> str:
    """A value rounded to where its error leaves it known; all of it (to 12 figures) when the error is 0 or unknown."""
    if not error:
        text = number_text(value, 0 if value.denominator == 1 else 9)
        return text.rstrip("0").rstrip(".") if "." in text else text
    last = place(error)
    if whole:
        last = max(last, 0)
    unit = Fraction(10) ** last
    return number_text(round_half_up(value / unit) * unit, max(0, -last))


def round_half_up(value: Fraction) -> int:
    """The nearest whole number, halves upward."""
    return math.floor(value + Fraction(1, 2))


def number_text(value: Fraction, places: int = 0) -> str:
    """Fixed point with thousands separators."""
    scaled = round_half_up(abs(value) * 10**places)
    whole, rest = divmod(scaled, 10**places)
    sign = "-" if value < 0 and scaled else ""
    return f"{sign}{whole:,}" + (f".{rest:0{places}d}" if places else "")
