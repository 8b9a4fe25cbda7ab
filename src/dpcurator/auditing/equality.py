"""Where two values first differ, in words: what is shown must be the same, byte for byte, not only equal.

Two numbers are the same when type and value are (nan is itself, 0.0 is not -0.0), mappings also in their order, arrays
in type and shape. A value with no notion of equality of its own is compared by its type and its printed form without
addresses. Checked in tests/audit/test_replay.py.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import fields, is_dataclass
from fractions import Fraction
from itertools import zip_longest
from typing import Any, Final

from dpcurator.auditing.copies import printed
from dpcurator.numbers import decimal_text

MOST: Final = 8  # differences told of one pair of values
_NONE: Final = object()


def differences(one: Any, other: Any, where: str = "") -> list[tuple[str, str, str]]:
    """(where, the one, the other) for the first few places in which they differ; empty when they are the same."""
    found: list[tuple[str, str, str]] = []
    for place in _walk(one, other, where):
        found.append(place)
        if len(found) == MOST:
            break
    return found


def shape(value: Any) -> Any:
    """What is seen of a value before any number in it: how long it is, in each direction."""
    if hasattr(value, "shape"):
        return tuple(value.shape)
    return len(value) if isinstance(value, list | tuple | dict | set | frozenset) else None


def _walk(one: Any, other: Any, where: str) -> Iterator[tuple[str, str, str]]:
    if one is other:
        return
    if type(one) is not type(other):
        yield where, _told(one), _told(other)
    elif isinstance(one, Mapping):
        if list(one) != list(other):
            yield f"{where} keys".strip(), _told(list(one)), _told(list(other))
        for name in one:
            if name in other:
                yield from _walk(one[name], other[name], f"{where}.{name}" if where else str(name))
    elif isinstance(one, list | tuple):
        if len(one) != len(other):
            yield f"{where} length".strip(), str(len(one)), str(len(other))
        for place, (left, right) in enumerate(zip_longest(one, other, fillvalue=_NONE)):
            if left is not _NONE and right is not _NONE:
                yield from _walk(left, right, f"{where}[{place}]")
    elif hasattr(one, "dtype") and hasattr(one, "shape"):
        if (one.dtype, one.shape) != (other.dtype, other.shape):
            yield f"{where} shape".strip(), f"{one.dtype}{one.shape}", f"{other.dtype}{other.shape}"
        elif one.dtype == object or one.tobytes() != other.tobytes():
            yield from _walk(one.tolist(), other.tolist(), where)
    elif isinstance(one, float):
        if repr(one) != repr(other):
            yield where, repr(one), repr(other)
    elif is_dataclass(one) and not isinstance(one, type):
        for field in fields(one):
            left, right = getattr(one, field.name, None), getattr(other, field.name, None)
            if field.compare:
                yield from _walk(left, right, f"{where}.{field.name}" if where else field.name)
    elif not _equal(one, other):
        yield where, _told(one), _told(other)


def _equal(one: Any, other: Any) -> bool:
    if getattr(type(one), "__eq__", None) is object.__dict__["__eq__"]:  # it knows its address alone
        return printed(one) == printed(other)
    try:
        return bool(one == other)
    except Exception:
        return printed(one) == printed(other)


def _told(value: Any) -> str:
    text = decimal_text(value) if isinstance(value, Fraction) else printed(value)
    return text if len(text) <= 60 else f"{text[:57]}..."
