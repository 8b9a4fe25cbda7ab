"""A span of numbers, either end of which may be absent: rounding outwards, cutting, unions, functions that never fall.

Ends are exact. Right because an operation on doubles rounds to the nearest one, so its result is between the exact ends
rounded outwards to doubles; and a function that never falls takes its least and its largest value at the ends of its
part's span. Checked in tests/language/test_intervals.py.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Final

from dpcurator.catalog.model import Kind, Value
from dpcurator.language.rows import Operand

Bounds = tuple[Fraction, Fraction]
LARGEST: Final = Fraction(math.nextafter(math.inf, 0))
INT64: Final = (Fraction(-(2**63)), Fraction(2**63 - 1))


@dataclass(frozen=True, slots=True)
class Span:
    """The numbers from `low` to `high`; None is no end on that side. `never`: it has no value at all."""

    low: Fraction | None = None
    high: Fraction | None = None
    never: bool = False

    @property
    def both(self) -> Bounds | None:
        return None if self.low is None or self.high is None else (self.low, self.high)


EVERYTHING: Final = Span()
NOTHING: Final = Span(Fraction(0), Fraction(0), never=True)


def outward(found: Span, kind: Kind) -> Span:
    """Rounded outwards to values of the kind, and cut to those that can be present."""
    if found.never:
        return found
    if kind == "integer":
        low = None if found.low is None else Fraction(math.floor(found.low))
        high = None if found.high is None else Fraction(math.ceil(found.high))
        return within(Span(low, high), *INT64)
    return Span(double(found.low, -math.inf), double(found.high, math.inf))


def double(end: Fraction | None, away: float) -> Fraction | None:
    if end is None or abs(end) >= LARGEST:
        return None if end is None else max(-LARGEST, min(LARGEST, end))
    near = float(end)
    return Fraction(near if near == end or (near > end) == (away > 0) else math.nextafter(near, away))


def union(parts: Sequence[Span]) -> Span:
    present = [part for part in parts if not part.never]
    if not present:
        return NOTHING
    lows, highs = [part.low for part in present], [part.high for part in present]
    return Span(
        None if None in lows else min(low for low in lows if low is not None),
        None if None in highs else max(high for high in highs if high is not None),
    )


def within(part: Span, low: Fraction | int, high: Fraction | int) -> Span:
    """Cut to [low, high]."""
    least, most = Fraction(low), Fraction(high)
    low_end = None if part.low is None else min(max(part.low, least), most)
    return Span(low_end, None if part.high is None else max(min(part.high, most), least))


Rule = Callable[[Sequence[Span], tuple[Any, ...], Sequence[Operand]], Span]
"""Of a function: from its parts' spans, its parameters and its parts to a span that holds every result."""


def anywhere(parts: Sequence[Span], *_: Any) -> Span:
    return EVERYTHING


def between(low: int, high: int) -> Rule:
    return lambda *_: Span(Fraction(low), Fraction(high))


def rising(function: Callable[..., Any], kind: Kind) -> Rule:
    """A function that never falls, of one part of this kind."""

    def rule(parts: Sequence[Span], literals: tuple[Any, ...], *_: Any) -> Span:
        low, high = parts[0].low, parts[0].high
        return Span(_at(function, low, kind, literals, up=False), _at(function, high, kind, literals, up=True))

    return rule


def _at(
    function: Callable[..., Any], end: Fraction | None, kind: Kind, literals: tuple[Any, ...], *, up: bool
) -> Fraction | None:
    """The function at an end of its part's span, the end first rounded outwards to a value of its kind."""
    if end is None:
        return None
    given: Value = math.ceil(end) if up else math.floor(end)
    if kind == "float":
        given = float(double(end, math.inf if up else -math.inf) or 0)
    found = function(given, *literals)
    if found is None or (isinstance(found, int) and not INT64[0] <= found <= INT64[1]) or not math.isfinite(found):
        return None  # it has no value there
    return Fraction(found)
