"""From a formula in balls to an enclosure that is narrow relative to the number itself, however small that is.

Checked in tests/privacy/test_distribution.py.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

from dpcurator.errors import Refusal
from dpcurator.numbers import Enclosure
from dpcurator.numbers.arb import Ball, ball, precision
from dpcurator.numbers.enclosure import bracket

_NOTHING = Fraction(1, 2**60000)
_LAST = 1 << 17  # bits after which a bracket is returned as it is: still true, and wider
_UNDECIDED = 1 << 14  # bits at which a comparison still open counts as failed


def enclosed(value: Callable[[int], Ball], *, bits: int = 128, most: Fraction | None = None) -> Enclosure:
    """A number of at least 0 (and at most `most`) to a relative width under 2**-64, or below 2**-60000.

    `value` computes it at so many bits, inside a block of that precision; it is asked again with twice as many until
    the ball is narrow enough. Raises Refusal where it never is finite.
    """
    while True:
        with precision(bits):
            made = value(bits)
            finite = made.is_finite()
        if finite and made.is_exact() and made.is_zero():
            return Enclosure.exactly(0)
        found = _ends(made) if finite else None
        if found is not None and (found.width * 2**64 <= found.lo or found.hi <= _NOTHING or bits >= _LAST):
            low = max(found.lo, Fraction(0))
            return Enclosure(low, found.hi) if most is None else Enclosure(min(low, most), min(found.hi, most))
        if bits >= 2 * _LAST:
            raise Refusal("This number comes of others too large to be written out.", cure="Ask of smaller losses.")
        bits *= 2


def _ends(value: Ball) -> Enclosure | None:
    """None where the ball is so wide, or so large, that no rational of its ends can be written."""
    try:
        return bracket(value)
    except OverflowError:
        return None


def narrow(value: Callable[[int], Ball], bits: int) -> Enclosure:
    """A positive number to a relative width under 2**-64 (or below 2**-60000); `value` makes it at so many bits."""
    while True:
        found = bracket(value(bits))
        if found.width * 2**64 <= found.lo or found.hi <= _NOTHING:
            return found
        bits *= 2


def surely_at_most(value: Callable[[int], Ball], limit: Fraction, bits: int) -> bool:
    """Is it proved that the number is at most `limit`? Only two numbers that agree to 16,000 bits go undecided."""
    while bits <= _UNDECIDED:
        found = value(bits)
        with precision(bits + 64):
            line = ball(limit)
            if found <= line or found > line:
                return bool(found <= line)
        bits *= 2
    return False
