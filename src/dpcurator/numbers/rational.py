"""Reading a parameter as the exact rational its author meant.

`0.1`, `"0.1"`, `"1/10"`, `Decimal("0.1")` and `Fraction(1, 10)` all mean one tenth: a float *parameter* is read by its
shortest decimal spelling, since that is what was typed. (A float *value*, from data, is the dyadic it is.) Every entry
point validates through this module, so nan, infinities, booleans and stray text are refused in the same words.
Checked in tests/numbers/test_rational.py.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from decimal import Decimal
from fractions import Fraction

from dpcurator.errors import Refusal
from dpcurator.numbers.decimals import decimal_text

LONGEST_TOTAL = 2**1024  # the largest denominator of a running sum of prices
_GRID = 10**150
INT64 = range(-(2**63), 2**63)  # the whole numbers that 64 bits hold
Spelled = int | float | str | Decimal | Fraction  # how a parameter may be given
Numbers = Iterable[Spelled | None]  # how data may be: a list, an array, a Series; None and nan are missing ones

_SPELLING = re.compile(r"\s*[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d{1,4})?\s*|\s*[+-]?\d+\s*/\s*\d+\s*")
_LONGEST = 4000  # characters of a spelled number
_MOST = 10**1000  # largest numerator and denominator: beyond it no number is meant, and texts of it could not be made


def rational(value: object, *, name: str) -> Fraction:
    """The exact rational that `value` spells. Raises Refusal for nan, infinities, booleans and anything else."""
    exact = _read(value)
    if exact is None:
        shown = repr(value) if isinstance(value, int | float | str) and len(repr(value)) <= 60 else type(value).__name__
        raise Refusal(f"{name} must be a finite number, not {shown}.", cure=_as_in(name))
    if max(abs(exact.numerator), exact.denominator) > _MOST:
        raise Refusal(f"{name} has more than 1,000 digits.", cure=_as_in(name))
    return exact


def _as_in(name: str, example: str = '0.1, "1/3" or 2') -> str:
    """How such a number is written; a delta is the probability of a failure for each unit, so it is far below 1 / n."""
    if name.endswith("delta"):
        return f"Write {name} as in 1e-8: far less than one over the number of people."
    return f"Write {name} as in {example}."


def _read(value: object) -> Fraction | None:
    if type(value) is Fraction:
        return value
    if isinstance(value, bool):
        return None
    if isinstance(value, int | Fraction):
        return Fraction(value)
    if isinstance(value, Decimal):
        return Fraction(value) if value.is_finite() and abs(value.adjusted()) <= _LONGEST else None
    if isinstance(value, str):
        if len(value) > _LONGEST or not value.isascii() or not _SPELLING.fullmatch(value):
            return None
        try:
            return Fraction(value.replace(" ", ""))
        except (ValueError, ZeroDivisionError):
            return None
    if isinstance(value, float):
        return Fraction(repr(float(value))) if math.isfinite(value) else None
    return _numpy_scalar(value)


def _numpy_scalar(value: object) -> Fraction | None:
    item = getattr(value, "item", None)
    if item is None or getattr(value, "shape", None) != ():
        return None
    if str(getattr(value, "dtype", "")) in ("float16", "float32"):  # their shortest spelling, not the widened double's
        text = str(value)
        return _read(text) if math.isfinite(float(text)) else None
    plain = item() if callable(item) else None
    return _read(plain) if isinstance(plain, int | float) else None


def positive(value: object, *, name: str) -> Fraction:
    """The exact rational that `value` spells, when it is above 0. Raises Refusal otherwise."""
    exact = rational(value, name=name)
    if exact <= 0:
        raise Refusal(f"{name} must be above 0, not {decimal_text(exact)}.", cure=_as_in(name, "0.1"))
    return exact


def at_least_0(value: object, *, name: str, like: str = "0.5") -> Fraction:
    """The exact rational that `value` spells, when it is 0 or above. Raises Refusal otherwise."""
    exact = rational(value, name=name)
    if exact < 0:
        raise Refusal(f"{name} must be at least 0, not {decimal_text(exact)}.", cure=f"Write {name} as in {like}.")
    return exact


def from_0_below_1(value: object, *, name: str = "delta", like: str = "") -> Fraction:
    """The exact rational that `value` spells, when it is in [0, 1). Raises Refusal otherwise."""
    exact = rational(value, name=name)
    if not 0 <= exact < 1:
        raise _outside(exact, "at least 0 and below 1", name, like)
    return exact


def between_0_and_1(value: object, *, name: str = "delta", like: str = "") -> Fraction:
    """The exact rational that `value` spells, when it is in (0, 1). Raises Refusal otherwise."""
    exact = rational(value, name=name)
    if not 0 < exact < 1:
        raise _outside(exact, "above 0 and below 1", name, like)
    return exact


def from_0_to_1(value: object, *, name: str, like: str = "") -> Fraction:
    """The exact rational that `value` spells, when it is in [0, 1]. Raises Refusal otherwise."""
    exact = rational(value, name=name)
    if not 0 <= exact <= 1:
        raise _outside(exact, "between 0 and 1", name, like)
    return exact


def added(spent: Fraction, amount: Fraction) -> Fraction:
    """spent + amount, exactly; or the next multiple of 10**-150 where the exact sum would be too long to write."""
    exact = spent + amount
    return exact if exact.denominator <= LONGEST_TOTAL else Fraction(-(-exact * _GRID // 1), _GRID)


def _outside(exact: Fraction, words: str, name: str, like: str) -> Refusal:
    like = like or ("1e-6" if name == "delta" else "0.5")
    return Refusal(f"{name} must be {words}, not {decimal_text(exact)}.", cure=f"Write {name} as in {like}.")


def whole(value: object, *, name: str, least: int = 0) -> int:
    """`value` as an int of at least `least`; 3, "3" and 3.0 are all three. Raises Refusal otherwise."""
    exact = rational(value, name=name)
    if exact.denominator != 1 or exact < least:
        raise Refusal(f"{name} must be a whole number of at least {least}, not {decimal_text(exact)}.")
    return int(exact)
