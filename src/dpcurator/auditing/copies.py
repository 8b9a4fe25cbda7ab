"""Defensive copies: a fresh input for each run, and a snapshot of each outcome.

Definition  `fresh(data)` is a function that gives a copy of the data: what a run changes is gone in the next.
            `kept(outcome)` is what a function gave, as of now: a list that it fills anew each time is copied, and an
            iterator is read (its first 513 items). `canonical(outcome)` is the same as a key of a law: equal outcomes
            have equal keys, also nan, sets, and objects that know their address alone, told by how they print.
Promise     Two outcomes that are shown alike have one key, in every run: without that, each nan and each object would
            be an outcome of its own, and no two inputs would share any. Some that differ may have one key too (a list
            and a tuple, 1 and True): then less is seen, and what is seen still holds, since keys are post-processing.
Weaker      What cannot be copied is handed over as it is.
Checked     tests/audit/test_copies.py.
"""

from __future__ import annotations

import copy
import math
import re
from collections.abc import Callable, Hashable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from itertools import islice
from typing import Any, Final

_STILL: Final = frozenset({int, float, complex, str, bytes, bool, type(None), Fraction, Decimal})
_READ: Final = 513  # items of an iterator: one more than are looked at
_ADDRESS: Final = re.compile(r" at 0x[0-9a-fA-F]+")


@dataclass(frozen=True, slots=True)
class Printed:
    """An outcome that is told by how it prints."""

    text: str

    def __repr__(self) -> str:
        return self.text


def fresh(data: Any) -> Callable[[], Any]:
    """Each call gives a copy that nobody else has."""
    if _still(data):
        return lambda: data
    if type(data) is list and all(map(_still, data)):
        return data.copy
    if type(data) is dict and all(map(_still, data.values())):
        return data.copy
    return lambda: _copied(data)


def kept(outcome: Any) -> Any:
    """The outcome as it is now."""
    if type(outcome) in _STILL:
        return outcome
    if isinstance(outcome, Iterator):
        outcome = list(islice(outcome, _READ))
    if type(outcome) is list and _STILL.issuperset(map(type, outcome)):
        return outcome.copy()
    if type(outcome) is dict and _STILL.issuperset(map(type, outcome.values())):
        return outcome.copy()
    return outcome if _still(outcome) else _copied(outcome)


def canonical(outcome: Any) -> Hashable:
    """A key that equal outcomes share."""
    if isinstance(outcome, Iterator):
        outcome = list(islice(outcome, _READ))
    elif hasattr(outcome, "tolist"):
        outcome = outcome.tolist()
    if isinstance(outcome, list | tuple):
        return tuple(map(canonical, outcome))
    if isinstance(outcome, set | frozenset):
        return "set", *sorted(map(canonical, outcome), key=repr)
    if isinstance(outcome, Mapping):
        return tuple(sorted(((canonical(key), canonical(value)) for key, value in outcome.items()), key=repr))
    if isinstance(outcome, float | Decimal) and outcome != outcome:
        return math.nan  # this one object, so it is equal to itself
    if type(outcome) in _STILL and outcome == outcome:
        made: Hashable = outcome
        return made
    return Printed(printed(outcome))


def printed(value: Any) -> str:
    """How it prints, but for addresses; a whole number too long to print, by its size."""
    try:
        return _ADDRESS.sub("", repr(value))
    except ValueError:
        size = f"of {value.bit_length():,} bits" if isinstance(value, int) else "that is too long to print"
        return f"{type(value).__name__} {size}"
    except Exception as error:
        return f"{type(value).__name__}, which cannot be printed ({type(error).__name__})"


def _still(value: Any) -> bool:
    """Can nobody change it?"""
    return type(value) in _STILL or (type(value) in (tuple, frozenset) and all(map(_still, value)))


def _copied(value: Any) -> Any:
    with suppress(Exception):
        return copy.deepcopy(value)
    return value
