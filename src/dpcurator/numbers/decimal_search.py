"""The decimals of so many figures, numbered in order, and the least of them at which something holds.

With 2 figures place 0 is 1.0, place 1 is 1.1, place 90 is 10 and place -1 is .99. A search over places returns numbers
that people can read, and looks no further than it must whatever their size. Checked in
tests/numbers/test_decimal_search.py.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction

from dpcurator.numbers.decimals import leading


def decimal_at(place: int, figures: int) -> Fraction:
    """The decimal at a place: place 0 is 1, place 9 * 10**(figures - 1) is 10."""
    first: int = 10 ** (figures - 1)
    decade, rest = divmod(place, 9 * first)
    return (first + rest) * ten_to(decade - figures + 1)


def place_of(value: Fraction, figures: int) -> int:
    """The place of the greatest decimal that is at most `value` > 0."""
    power, first = leading(value), int(10 ** (figures - 1))
    return 9 * first * power + math.floor(value / ten_to(power - figures + 1)) - first


def least_place(true: Callable[[int], bool], near: int) -> int:
    """The least int at which `true` holds, if from there on it does: steps that double from `near`, then bisection."""
    low, high, step = near - 1, near, 1
    if true(high):
        while true(low):
            low, high, step = low - step, low, 2 * step
    else:
        while not true(high):
            low, high, step = high, high + step, 2 * step
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if true(middle) else (middle, high)
    return high


def ten_to(power: int) -> Fraction:
    """10**power, exactly."""
    return Fraction(10**power) if power >= 0 else Fraction(1, 10**-power)
