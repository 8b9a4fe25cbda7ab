"""How many more calls can be made inside one another, before Python's limit stops them (sys.getrecursionlimit).

An answer that passed this limit after its charge would be a fault, so what is left is looked at before the charge. The
frames of Python are counted. Before Python 3.12 calls within C count towards the same limit and have no frame: a
comparison of nested tuples, say, from which the question was asked. There the room is also tried, by comparing two
tuples that are as deep. Checked in tests/attacks/test_adversary_surface.py.
"""

from __future__ import annotations

import sys
from functools import cache
from types import FrameType
from typing import Any


def room_for(calls: int) -> bool:
    """Whether so many calls can still be made inside one another."""
    left = sys.getrecursionlimit() - calls
    frame: FrameType | None = sys._getframe()
    while frame is not None and left > 0:
        left, frame = left - 1, frame.f_back
    if left <= 0 or sys.version_info >= (3, 12):
        return left > 0
    one, other = _nested(calls)
    try:
        return bool(one == other)
    except RecursionError:
        return False


@cache
def _nested(depth: int) -> tuple[Any, Any]:
    """Two equal tuples of this depth that share no part, so that each level is compared."""
    one: Any = ()
    other: Any = ()
    for _ in range(depth):
        one, other = (one, 0), (other, 0)
    return one, other
