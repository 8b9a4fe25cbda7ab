"""A value with the interval it is claimed to lie in: what answers are computed with after the noise is added.

Exact rationals throughout. Interval arithmetic is conservative: when every input lies in its interval, so does the
result (Moore 1966). None stands for SQL's NULL; an infinite end is None too, and marks 'no bound on this side'.
Checked in tests/numbers/test_interval.py.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction

from dpcurator.numbers.roots import root_above, root_below, ten_to_figures


@dataclass(frozen=True, slots=True)
class Interval:
    """`value` in [low, high]; low or high None: unbounded on that side. `value` None: NULL.

    missing: without the noise it might be NULL, as x/0 is, whatever its ends are clamped to.
    """

    value: Fraction | None
    low: Fraction | None
    high: Fraction | None
    missing: bool = field(default=False, compare=False, repr=False)

    @classmethod
    def exactly(cls, value: Fraction) -> Interval:
        return cls(value, value, value)

    @classmethod
    def around(cls, value: Fraction, error: Fraction) -> Interval:
        return cls(value, value - error, value + error)

    def __neg__(self) -> Interval:
        return Interval(_minus(self.value), _minus(self.high), _minus(self.low), self.missing)

    def __add__(self, other: Interval) -> Interval:
        return Interval(
            _plus(self.value, other.value), _plus(self.low, other.low), _plus(self.high, other.high),
            self.missing or other.missing,
        )

    def __sub__(self, other: Interval) -> Interval:
        return self + -other

    def __mul__(self, other: Interval) -> Interval:
        value = None if self.value is None or other.value is None else self.value * other.value
        corners = [_times(a, b) for a in (self.low, self.high) for b in (other.low, other.high)]
        missing = self.missing or other.missing
        if None in corners:
            return Interval(value, None, None, missing)
        known = [corner for corner in corners if corner is not None]
        return Interval(value, min(known), max(known), missing)

    def __truediv__(self, other: Interval) -> Interval:
        """Division; NULL by a zero value, unbounded when the divisor's interval holds zero."""
        value = None if self.value is None or not other.value else self.value / other.value
        low, high = other.low, other.high
        if low is None or high is None or low <= 0 <= high:
            return Interval(value, None, None, True)
        return replace_value(self * Interval(None, 1 / high, 1 / low, other.missing), value)

    def __abs__(self) -> Interval:
        value = None if self.value is None else abs(self.value)
        if self.low is not None and self.low >= 0:
            return Interval(value, self.low, self.high, self.missing)
        if self.high is not None and self.high <= 0:
            return Interval(value, -self.high, _minus(self.low), self.missing)
        top = None if self.low is None or self.high is None else max(-self.low, self.high)
        return Interval(value, Fraction(0), top, self.missing)

    def root(self) -> Interval:
        """The square root to 30 figures, its ends rounded outward; NULL of what is below 0, as x/0 is."""

        def n(end: Fraction) -> int:
            return max(10**30, ten_to_figures(end, 30))

        found = None if self.value is None or self.value < 0 else root_below(self.value, n(self.value))
        if self.low is None or self.high is None or self.low < 0:  # without the noise it might be NULL
            return Interval(found, None, None, True)
        return Interval(found, root_below(self.low, n(self.low)), root_above(self.high, n(self.high)), self.missing)

    def clamped(self, least: Fraction, most: Fraction) -> Interval:
        """Post-processing into [least, most], where the true value is known to lie."""
        value = None if self.value is None else min(max(self.value, least), most)
        low = least if self.low is None else min(max(self.low, least), most)
        high = most if self.high is None else min(max(self.high, least), most)
        return Interval(value, low, high, self.missing)

    def error(self) -> Fraction | None:
        """The distance from the value to the farther end; None when there is no bound or no value."""
        if self.value is None or self.low is None or self.high is None:
            return None
        return max(self.high - self.value, self.value - self.low)


def replace_value(interval: Interval, value: Fraction | None) -> Interval:
    return Interval(value, interval.low, interval.high, interval.missing)


def _minus(end: Fraction | None) -> Fraction | None:
    return None if end is None else -end


def _plus(one: Fraction | None, other: Fraction | None) -> Fraction | None:
    return None if one is None or other is None else one + other


def _times(one: Fraction | None, other: Fraction | None) -> Fraction | None:
    return None if one is None or other is None else one * other
