"""Normalise Python, numpy and pandas values: missing values, masked arrays, Decimals.

Definition  `missing`: is a value None, or what pandas and numpy write for one that is not there?
            `unmasked`: what a numpy mask hides is missing (nan among floats, else None), whatever lies under it.
            `decimal_value`: a Decimal as the rational it is; nan as nan; one of 10**4000 or more as the infinity of its
            sign, and one below 10**-4000 as 0, since neither could be written out.
            `real_value`: whatever it is as a rational or an infinity, or None for nan and for what is no number.
            `exact_scalar`: a number, or numpy's scalar of one, as the rational it is.
            `quotient`, `double_of`: the double nearest to top / bottom, to a rational; an infinity beyond the largest.
Promise     Each is a map of its arguments alone and raises for none it is for, so no data makes a mechanism fail by it.
Checked     tests/numbers/test_coerce.py.
"""

from __future__ import annotations

import math
from decimal import Decimal
from fractions import Fraction
from typing import Any

_FAR = 4000  # a power of ten
_ABSENT = ("NAType", "NaTType", "MaskedConstant")


def missing(value: object) -> bool:
    return value is None or type(value).__name__ in _ABSENT


def unmasked(values: Any) -> Any:
    """A numpy masked array as a plain one of its shape; anything else as it is."""
    if not (hasattr(values, "mask") and hasattr(values, "filled")):
        return values
    import numpy as np

    hidden, plain = np.ma.getmaskarray(values), np.asarray(values.data)
    if not hidden.any():
        return plain
    out = plain.copy() if plain.dtype.kind == "f" else plain.astype(object)
    out[hidden] = math.nan if plain.dtype.kind == "f" else None
    return out


def decimal_value(value: Decimal) -> Fraction | float:
    """The rational; or nan, or an infinity."""
    if value.is_nan():
        return math.nan
    if not value.is_finite() or (value and value.adjusted() >= _FAR):
        return -math.inf if value.is_signed() else math.inf
    return Fraction(value) if value and value.adjusted() >= -_FAR else Fraction(0)


def real_value(value: Any) -> Fraction | float | None:
    """A rational, an infinity, or None."""
    if missing(value):
        return None
    try:
        plain = value.item() if hasattr(value, "item") else value
        plain = decimal_value(plain) if isinstance(plain, Decimal) else plain
        return Fraction(*plain.as_integer_ratio())
    except OverflowError:
        return math.inf if plain > 0 else -math.inf
    except (ValueError, AttributeError, TypeError):
        return None


def exact_scalar(value: Any) -> Fraction:
    """Of a finite int, float, Fraction or numpy scalar."""
    return Fraction(value.item() if hasattr(value, "item") else value)


def quotient(top: int, bottom: int) -> float:
    """The nearest double, since Python divides ints so. bottom: above 0."""
    try:
        return top / bottom
    except OverflowError:
        return math.inf if top > 0 else -math.inf


def double_of(value: Fraction) -> float:
    return quotient(value.numerator, value.denominator)
