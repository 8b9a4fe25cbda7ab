"""Values as a notebook or a prompt shows them: short, and in the words that Python takes back.

Definition  `readable(value)` is Name(field=..., ...) of a dataclass, for its `__repr__`: fields that have their
            default, private ones and functions are left out. Fractions are decimals, "1/3" where those never end, and
            of ten figures with dots where both are long; enclosures are their ten figures.
Promise     At most LONGEST characters, and no object's address. Shorter than the value: compare values, not texts.
Checked     tests/laws/test_shown.py, for every public value.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import MISSING, fields, is_dataclass
from fractions import Fraction
from types import FunctionType
from typing import Any, Final

from dpcurator.numbers.decimals import decimal_text

LONGEST: Final = 280
_PART: Final = 120  # characters of one field
_ITEMS: Final = 6  # of a list


def readable(value: Any) -> str:
    """The text of a dataclass."""
    told = []
    for field in fields(value):
        given = getattr(value, field.name)
        usual = field.default is not MISSING and _same(given, field.default)
        if usual or not field.repr or field.name.startswith("_") or isinstance(given, FunctionType):
            continue
        told.append(f"{field.name}={part(given)}")
    return cut(f"{type(value).__name__}({', '.join(told)})")


def cut(text: str) -> str:
    """A text of at most LONGEST characters."""
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 3]}..."


def part(value: Any) -> str:
    """One value inside another, cut where it is long."""
    text = _text(value)
    return text if len(text) <= _PART else f"{text[: _PART - 3]}..."


def fraction_text(value: Fraction) -> str:
    """A number as a parameter is written: 0.1, "1/3", or ten figures and dots."""
    text = decimal_text(value)
    if not text.endswith("..."):
        return text
    exact = str(value) if value.denominator < 10**8 and abs(value.numerator) < 10**9 else ""
    return f'"{exact}"' if exact else f"{float(value):.10g}..." if 10**-300 < abs(value) < 10**300 else text


def _text(value: Any) -> str:
    if isinstance(value, Fraction):
        return fraction_text(value)
    if isinstance(value, Mapping):
        items = [f"{part(key)}: {part(one)}" for key, one in list(value.items())[:_ITEMS]]
        return "{" + ", ".join([*items, "..."] if len(value) > _ITEMS else items) + "}"
    if type(value) in (tuple, list):
        items = [part(one) for one in value[:_ITEMS]]
        inside = ", ".join([*items, "..."] if len(value) > _ITEMS else items)
        left, right = "[]" if type(value) is list else "()"
        return f"{left}{inside}{',' if left == '(' and len(value) == 1 else ''}{right}"
    if is_dataclass(value) and hasattr(type(value).__repr__, "__wrapped__"):  # the text that `dataclass` made
        return readable(value)
    text = repr(value)
    return type(value).__name__ if " at 0x" in text else text


def _same(value: Any, default: Any) -> bool:
    return value is default or (type(value) is type(default) and bool(value == default))
