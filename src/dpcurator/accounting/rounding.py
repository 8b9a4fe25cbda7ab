"""An epsilon to show: a decimal of 12 figures that is at least the number, and one of a delta that is at most it.

Checked in tests/accounting/test_closed.py.
"""

from __future__ import annotations

from fractions import Fraction

from dpcurator.numbers.arb import Ball
from dpcurator.numbers.decimal_search import decimal_at, place_of
from dpcurator.numbers.enclosure import bracket

FIGURES = 12
_LEAST = Fraction(1, 10**30)  # the least epsilon shown that is not 0


def up(value: Fraction) -> Fraction:
    """The least decimal of 12 figures that is at least `value`; 0 for what is at most 0, and else at least 1e-30."""
    if value <= 0:
        return Fraction(0)
    value = max(value, _LEAST)
    place = place_of(value, FIGURES)
    below = decimal_at(place, FIGURES)
    return below if below == value else decimal_at(place + 1, FIGURES)


def down(value: Fraction) -> Fraction:
    """The greatest decimal of 18 figures that is at most `value` > 0."""
    return decimal_at(place_of(value, FIGURES + 6), FIGURES + 6)


def ball_up(value: Ball) -> Fraction:
    """`up` of the upper end of a finite ball."""
    return up(bracket(value).hi)
