"""Bounds of the functions of numbers: one rule each, from the spans of the parts to a span of the result.

Law: where every part is within its span, the result is within the rule's, or missing. Right because + - * / take their
extremes at the ends, which are exact; those of sqrt, exp, ln and power are widened by more than their sequences of
operations round. Rules may be wide. Checked in tests/language/test_intervals.py.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

from dpcurator.language.rows import Compute, Constant, Operand
from dpcurator.language.spans import EVERYTHING, LARGEST, NOTHING, Rule, Span, double, union


def added(parts: Sequence[Span], *_: Any) -> Span:
    one, other = parts
    return Span(
        None if one.low is None or other.low is None else one.low + other.low,
        None if one.high is None or other.high is None else one.high + other.high,
    )


def subtracted(parts: Sequence[Span], *_: Any) -> Span:
    return added([parts[0], negative(parts[1])])


def negated(parts: Sequence[Span], *_: Any) -> Span:
    return negative(parts[0])


def negative(part: Span) -> Span:
    return Span(None if part.high is None else -part.high, None if part.low is None else -part.low)


def product(parts: Sequence[Span], literals: tuple[Any, ...], given: Sequence[Operand]) -> Span:
    """Of a part with itself: its square."""
    one, other = parts
    if given[0] == given[1]:
        return square(one)
    if one.both is None or other.both is None:
        return EVERYTHING
    ends = [a * b for a in one.both for b in other.both]
    return Span(min(ends), max(ends))


def size(parts: Sequence[Span], *_: Any) -> Span:
    return absolute(parts[0])


def absolute(part: Span) -> Span:
    if part.low is not None and part.low >= 0:
        return part
    if part.high is not None and part.high <= 0:
        return negative(part)
    high = None if part.both is None else max(abs(end) for end in part.both)
    return Span(Fraction(0), high)


def square(part: Span) -> Span:
    found = absolute(part)
    return Span(Fraction(0) if found.low is None else found.low**2, None if found.high is None else found.high**2)


def _apart_from_zero(part: Operand, found: Span) -> Span:
    """A whole number that is divided by, or whose logarithm is taken, is not between 0 and 1: 0 gives missing."""
    if isinstance(part, Compute) and part.function == "to_f" and found.low is not None and 0 <= found.low < 1:
        return Span(Fraction(1), None if found.high is None else max(Fraction(1), found.high))
    if isinstance(part, Compute) and part.function == "to_f" and found.high is not None and -1 < found.high <= 0:
        return Span(None if found.low is None else min(Fraction(-1), found.low), Fraction(-1))
    return found


def quotient(parts: Sequence[Span], literals: tuple[Any, ...], given: Sequence[Operand]) -> Span:
    one, other = parts[0], _apart_from_zero(given[1], parts[1])
    if one.both is None or other.both is None or other.both[0] <= 0 <= other.both[1]:
        return EVERYTHING
    ends = [a / b for a in one.both for b in other.both]
    return Span(min(ends), max(ends))


def whole_remainder(parts: Sequence[Span], *_: Any) -> Span:
    """Of integers: at most |b| - 1 in size."""
    most = absolute(parts[1]).high
    return _remainder(parts[0], None if most is None else max(Fraction(0), most - 1))


def remainder(parts: Sequence[Span], *_: Any) -> Span:
    return _remainder(parts[0], absolute(parts[1]).high)


def _remainder(one: Span, most: Fraction | None) -> Span:
    """At most `most` in size, no larger than |a|, of the sign of a."""
    sizes = [end for end in (absolute(one).high, most) if end is not None]
    least = min(sizes) if sizes else None
    return Span(
        Fraction(0) if one.low is not None and one.low >= 0 else None if least is None else -least,
        Fraction(0) if one.high is not None and one.high <= 0 else least,
    )


def first(parts: Sequence[Span], *_: Any) -> Span:
    """One of the parts."""
    return union(parts)


def least(parts: Sequence[Span], literals: tuple[Any, ...], given: Sequence[Operand]) -> Span:
    """Of the parts that are not missing: a literal never is, so LEAST(x, 100) is at most 100."""
    every = union(parts)
    ends = [every.high, *(one.high for part, one in zip(given, parts, strict=True) if isinstance(part, Constant))]
    return Span(every.low, min((end for end in ends if end is not None), default=None), every.never)


def greatest(parts: Sequence[Span], literals: tuple[Any, ...], given: Sequence[Operand]) -> Span:
    every = union(parts)
    ends = [every.low, *(one.low for part, one in zip(given, parts, strict=True) if isinstance(part, Constant))]
    return Span(max((end for end in ends if end is not None), default=None), every.high, every.never)


def clip(parts: Sequence[Span], literals: tuple[Any, ...], *_: Any) -> Span:
    if isinstance(literals[0], str):
        return EVERYTHING
    least_end, most = (Fraction(end) for end in literals)
    low, high = parts[0].low, parts[0].high
    return Span(
        least_end if low is None else min(max(low, least_end), most),
        most if high is None else max(min(high, most), least_end),
    )


def signs(parts: Sequence[Span], *_: Any) -> Span:
    low, high = parts[0].low, parts[0].high
    return Span(
        Fraction(-1 if low is None or low < 0 else 0 if low == 0 else 1),
        Fraction(1 if high is None or high > 0 else 0 if high == 0 else -1),
    )


def root(parts: Sequence[Span], *_: Any) -> Span:
    low, high = parts[0].low, parts[0].high
    if high is not None and high < 0:
        return NOTHING
    low = Fraction(0) if low is None or low < 0 else low
    return Span(_real(low, math.sqrt, False), None if high is None else _real(high, math.sqrt, True))


def exponential(parts: Sequence[Span], *_: Any) -> Span:
    low, high = parts[0].low, parts[0].high
    return Span(
        Fraction(0) if low is None else _real(min(max(low, Fraction(-800)), Fraction(709)), math.exp, False),
        None if high is None else LARGEST if high > 709 else _real(max(high, Fraction(-800)), math.exp, True),
    )


def logarithm(parts: Sequence[Span], literals: tuple[Any, ...], given: Sequence[Operand]) -> Span:
    part = _apart_from_zero(given[0], parts[0])
    if part.high is not None and part.high <= 0:
        return NOTHING
    return Span(
        None if part.low is None or part.low <= 0 else _real(part.low, math.log, False),
        None if part.high is None else _real(part.high, math.log, True),
    )


def _real(end: Fraction, function: Callable[[float], float], up: bool) -> Fraction:
    """The function at an end, widened by one part in 2**40: its sequence of operations rounds less than that."""
    end = min(max(end, -LARGEST), LARGEST)  # what is beyond is no double, so missing
    near = double(end, math.inf if up else -math.inf)
    found = Fraction(function(float(near if near is not None else end)))
    wide = abs(found) / 2**40 + Fraction(1, 2**1000)
    return found + wide if up else found - wide


def power(parts: Sequence[Span], *_: Any) -> Span:
    """A fixed whole exponent, or a base that is above 0; anything else has no bound."""
    base, exponent = parts
    if base.both is None or exponent.both is None:
        return EVERYTHING
    low, high = (min(max(end, -LARGEST), LARGEST) for end in base.both)
    if exponent.low == exponent.high and exponent.low is not None and exponent.low.denominator == 1:
        n = int(exponent.low)
        if 0 <= n <= 64:
            span = square(base) if n == 2 else None
            if span is None:
                ends = [low**n, high**n] + ([Fraction(0)] if n and low < 0 < high else [])
                span = Span(min(ends), max(ends))
            return _wider(span)
    if low < 0 or (low == 0 and exponent.both[0] < 0):
        return EVERYTHING
    found = [_raised(a, b) for a in (low, high) for b in exponent.both]
    return _wider(Span(min(found), max(found)))


def _raised(a: Fraction, b: Fraction) -> Fraction:
    """a**b of a >= 0, and of b >= 0 where a = 0; at most the largest double."""
    if a == 0:
        return Fraction(0) if b > 0 else Fraction(1)
    exponent = float(min(max(b, -LARGEST), LARGEST)) * math.log(a)
    return LARGEST if exponent > 709 else Fraction(math.exp(max(exponent, -800)))


def _wider(part: Span) -> Span:
    """Wider by one part in 2**30: repeated roundings, and e**(b ln a) with |b ln a| <= 745, lose less."""
    if part.both is None:
        return part
    low, high = part.both
    least, most = Fraction(1, 2**1000), Fraction(2**52)
    exact = all(end.denominator == 1 and abs(end) <= most for end in part.both)  # squaring whole numbers is exact
    return part if exact else Span(low - abs(low) / 2**30 - least, high + abs(high) / 2**30 + least)


def rounded(falls_never: Rule) -> Rule:
    """Each of its operations never falls, up to where it leaves large numbers as they are."""

    def rule(parts: Sequence[Span], literals: tuple[Any, ...], given: Sequence[Operand]) -> Span:
        high = absolute(parts[0]).high
        if high is not None and high * 10 ** literals[0] < 2**51:
            return falls_never(parts, literals, given)
        half = Fraction(1, 10 ** literals[0])
        return added([parts[0], Span(-half, half)])

    return rule
