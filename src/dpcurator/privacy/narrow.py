"""From a formula in balls to an enclosure that is narrow relative to the number itself, however small that is.

Checked in tests/privacy/test_distribution.py.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

from dpcurator.errors import Refusal
from dpcurator.numbers import Enclosure
from dpcurator.numbers.arb import Ball, precision
from dpcurator.numbers.enclosure import bracket

_NOTHING = Fraction(1, 2**60000)
_LAST = 1 << 17  # bits after which a bracket is returned as it is: still true, and wider


def enclosed(value: Callable[[int], Ball], *, bits: int = 128, most: Fraction | None = None) -> Enclosure:
    """A number of at least 0 (and at most `most`) to a relative width under 2**-64, or below 2**-60000.

    `value` computes it at so many bits, inside a block of that precision; it is asked again with twice as many until
    the ball is narrow enough. Raises Refusal where it never is finite.
    """
    while True:
        with precision(bits):
            ball = value(bits)
            finite = ball.is_finite()
        if finite and ball.is_exact() and ball.is_zero():
            return Enclosure.exactly(0)
        found = _ends(ball) if finite else None
        if found is not None and (found.width * 2**64 <= found.lo or found.hi <= _NOTHING or bits >= _LAST):
            low = max(found.lo, Fraction(0))
            return Enclosure(low, found.hi) if most is None else Enclosure(min(low, most), min(found.hi, most))
        if bits >= 2 * _LAST:
            raise Refusal("This number comes of others too large to be written out.", cure="Ask of smaller losses.")
        bits *= 2


def _ends(ball: Ball) -> Enclosure | None:
    """None where the ball is so wide, or so large, that no rational of its ends can be written."""
    try:
        return bracket(ball)
    except OverflowError:
        return None
