"""Ball arithmetic at a stated precision, safe among threads and forks.

A ball m +- r of python-flint holds the real it stands for, whatever the working precision; more bits only make it
narrower. That precision is one number for the whole process, so it is set under a lock and put back. Another thread
that moves it meanwhile can cost width, never truth: callers loop until a ball is narrow enough. Checked in
tests/numbers/test_enclosure.py.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from fractions import Fraction
from typing import Any

Ball = Any  # flint.arb, which ships no types; imported where used so that importing this package stays light

_lock = threading.RLock()


def _fresh_lock() -> None:
    global _lock
    _lock = threading.RLock()


if hasattr(os, "register_at_fork"):  # a fork while another thread holds the lock would leave the child waiting for ever
    os.register_at_fork(after_in_child=_fresh_lock)


@contextmanager
def precision(bits: int) -> Iterator[None]:
    """Work with balls of `bits` bits inside the block; the former precision afterwards."""
    from flint import ctx

    with _lock:
        before = ctx.prec
        ctx.prec = bits
        try:
            yield
        finally:
            ctx.prec = before


def ball(value: Fraction | int) -> Ball:
    """A ball that holds `value`, at the working precision."""
    import flint  # and not a name from it, which takes longer than making the ball

    return flint.arb(flint.fmpq(value.numerator, value.denominator))


def common_floor(one: Ball, other: Ball) -> int | None:
    """The floor shared by every real between the two balls' points, or None while they leave a doubt."""
    first, second = one.floor().unique_fmpz(), other.floor().unique_fmpz()
    return None if first is None or first != second else int(first)
