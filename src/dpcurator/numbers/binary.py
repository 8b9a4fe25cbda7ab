"""Multiples of powers of two near a rational, exactly: the grids that bounds and values are rounded to.

Checked in tests/pricing/test_grids.py.
"""

from __future__ import annotations

from fractions import Fraction


def leading_bit(value: Fraction) -> int:
    """The k with 2**k <= value < 2**(k + 1); value: Fraction > 0."""
    k = value.numerator.bit_length() - value.denominator.bit_length()
    return k if Fraction(2) ** k <= value else k - 1


def nearest(bound: Fraction, exponent: int) -> int:
    """floor(bound * 2**exponent + 1/2), exactly."""
    moved = bound * Fraction(2) ** exponent + Fraction(1, 2)
    return moved.numerator // moved.denominator
