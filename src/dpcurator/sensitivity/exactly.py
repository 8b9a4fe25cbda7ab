"""The results of a user's function as exact numbers, and distances between them.

Definition  A result is a number or a sequence of numbers. Ints, Fractions and Decimals are what they say, a float is
            the dyadic it is, an Enclosure is its bracket. `finite` is None where a number is nan or infinite.
Promise     No rounding: l1, linf and the square of l2 are exact for rationals, and enclosed for enclosures.
Checked     tests/sensitivity/test_checking.py.
"""

from __future__ import annotations

import math
from decimal import Decimal
from fractions import Fraction
from typing import Any

from dpcurator.errors import Refusal
from dpcurator.numbers import Enclosure
from dpcurator.numbers.roots import exact_root, root_above, root_below

Number = int | Fraction | Enclosure
Vector = tuple[Number, ...]
DISTANCES = ("l1", "l2", "linf")


def finite(result: Any) -> Vector | None:
    """The numbers of a result; None when one is nan or infinite. Raises Refusal for what is no number."""
    if hasattr(result, "tolist"):  # numpy's arrays and scalars
        result = result.tolist()
    parts = [_number(part) for part in result] if isinstance(result, list | tuple) else [_number(result)]
    return None if None in parts else tuple(part for part in parts if part is not None)


def _number(value: Any) -> Number | None:
    if hasattr(value, "item") and not isinstance(value, Enclosure):
        value = value.item()
    if isinstance(value, bool):
        return int(value)
    if isinstance(value, int | Fraction | Enclosure):
        return value
    if isinstance(value, float):
        return Fraction(value) if math.isfinite(value) else None
    if isinstance(value, Decimal):
        return Fraction(value) if value.is_finite() else None
    raise Refusal(
        f"The function gave a {type(value).__name__}, which is no number and no sequence of numbers.",
        cure="Return an int, a Fraction, a float, or a list of them.",
    )


def distance(one: Vector, other: Vector, kind: str) -> Enclosure:
    """l1, linf, or the square of l2, between vectors of equal length."""
    gaps = [_size(a - b) for a, b in zip(one, other, strict=True)]
    if kind == "linf":
        none = Fraction(0)
        return Enclosure(max((gap.lo for gap in gaps), default=none), max((gap.hi for gap in gaps), default=none))
    total = Enclosure.exactly(0)
    for gap in gaps:
        total = total + (gap * gap if kind == "l2" else gap)
    return total


def _size(value: Number) -> Enclosure:
    if isinstance(value, int | Fraction):
        return Enclosure.exactly(abs(Fraction(value)))
    if value.lo >= 0:
        return value
    return -value if value.hi <= 0 else Enclosure(Fraction(0), max(-value.lo, value.hi))


def ends(value: Number) -> tuple[Fraction | int, Fraction | int]:
    """The bracket of a number."""
    return (value.lo, value.hi) if isinstance(value, Enclosure) else (value, value)


def same(one: Any, other: Any) -> bool:
    """Are they equal? No for what cannot be compared (a missing value, an array); equality of any two never raises."""
    try:
        return one is other or holds(one == other)
    except Exception:
        return False


def holds(value: Any) -> bool:
    """Its truth; False for what has none, as a comparison with a missing value."""
    try:
        return bool(value)
    except Exception:
        return False


def root(square: Fraction | int, bits: int = 128) -> Enclosure:
    """The square root of a rational of at least 0: of width 0 where it is rational, else of relative width 2**-bits."""
    square = Fraction(square)
    if square < 0:
        raise Refusal("There is no square root of a number below 0.")
    exact = exact_root(square)
    if exact is not None:
        return Enclosure.exactly(exact)
    shift = max(0, bits + 1 + (square.denominator.bit_length() - square.numerator.bit_length()) // 2)
    return Enclosure(root_below(square, 1 << shift), root_above(square, 1 << shift))
