"""Numbers as people read them: no digit beyond the noise (semantics 7.5).

An error bar is shown with two figures, rounded up; its value is rounded to the place of the bar's first figure.
41,832 with an error of 357 is shown as 41,800 ±360. A noisy value without a bound gets two figures, as in 0.41 ±?.
Checked in tests/numbers/test_display.py.
"""

from __future__ import annotations

import math
import sys
from fractions import Fraction

from dpcurator.numbers.decimals import leading


def place(error: Fraction) -> int:
    """The power of ten of an error's first figure: 2 for 357, -1 for 0.5. error: Fraction > 0."""
    return leading(error)


def error_text(error: Fraction) -> str:
    """An error of at least 0 with two figures, rounded up."""
    if error == 0:
        return "0"
    last = place(error) - 1
    unit = Fraction(10) ** last
    steps = math.ceil(error / unit)
    return number_text(steps * unit, max(0, -last)).rstrip("0").rstrip(".") if last < 0 else number_text(steps * unit)


def value_text(value: Fraction, error: Fraction | None, whole: bool = False) -> str:
    """A value rounded to where its error leaves it known: 12 figures when the error is 0, two when it is unknown."""
    if error:
        last = place(error)
    elif value.denominator == 1 and error is not None:
        last = 0
    else:
        last = place(abs(value)) - (1 if error is None else 11) if value else 0
    if whole:
        last = max(last, 0)
    unit = Fraction(10) ** last
    text = number_text(round_half_up(value / unit) * unit, max(0, -last))
    return text.rstrip("0").rstrip(".") if not error and "." in text else text


def interval_text(low: Fraction, high: Fraction) -> str:
    """An interval, its ends with two figures of its width, rounded outward: [0, 0.42]. low < high."""
    last = place(high - low) - 1
    unit, places = Fraction(10) ** last, max(0, -last)
    ends = (number_text(steps * unit, places) for steps in (math.floor(low / unit), math.ceil(high / unit)))
    return f"[{', '.join(end.rstrip('0').rstrip('.') if '.' in end else end for end in ends)}]"


def round_half_up(value: Fraction) -> int:
    """The nearest whole number, halves upward."""
    return math.floor(value + Fraction(1, 2))


def number_text(value: Fraction, places: int = 0) -> str:
    """Fixed point with thousands separators."""
    scaled = round_half_up(abs(value) * 10**places)
    whole, rest = divmod(scaled, 10**places)
    sign = "-" if value < 0 and scaled else ""
    return f"{sign}{whole:,}" + (f".{rest:0{places}d}" if places else "")


def nearest_double(value: Fraction) -> float:
    """The nearest double; beyond the largest one, the largest one, so that no infinity is ever shown."""
    try:
        return float(value)
    except OverflowError:
        return sys.float_info.max if value > 0 else -sys.float_info.max
