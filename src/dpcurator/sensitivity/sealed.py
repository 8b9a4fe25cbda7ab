"""Local and smooth sensitivities of one's own data: numbers that no noise can be scaled by, and that show nothing.

A local sensitivity is itself private: the median of (0,0,0,1,1,1,1) has 0 or 1, one row apart, so noise scaled by it
tells the two apart. Neither kind is a number to Python: parameters of mechanisms refuse it, arithmetic and comparison
raise, it has no pickle, and its repr never varies. `in_words_for_study` is a sentence, which no parameter accepts.
A smooth sensitivity is opened, as a ball, by the mechanism of smooth noise alone. Checked in
tests/sensitivity/test_sealed.py.
"""

from __future__ import annotations

from fractions import Fraction
from typing import NoReturn

from dpcurator.numbers.arb import Ball, ball


def _sealed(*_: object) -> NoReturn:
    raise TypeError("a sensitivity of private data is sealed: no noise may be scaled by it")


class LocalSensitivity:
    """How far one neighbour, of any dataset within `distance` rows, can move the answer. Sealed."""

    __slots__ = ("_distance", "_steps", "_unit")

    def __init__(self, steps: int, unit: Fraction, distance: int) -> None:
        self._steps, self._unit, self._distance = steps, unit, distance

    def in_words_for_study(self) -> str:
        """A sentence for someone who may see the data. It is private: do not release it."""
        return f"private: at distance {self._distance} the local sensitivity is {self._steps * self._unit}, exactly"

    def __repr__(self) -> str:
        return "<LocalSensitivity: sealed>"

    __eq__ = __hash__ = __reduce__ = __reduce_ex__ = __copy__ = __deepcopy__ = __lt__ = _sealed


class SmoothSensitivity:
    """steps * shrink**power * unit, exactly. Sealed."""

    __slots__ = ("_power", "_shrink", "_steps", "_unit")

    def __init__(self, steps: int, power: int, shrink: Fraction, unit: Fraction) -> None:
        self._steps, self._power, self._shrink, self._unit = steps, power, shrink, unit

    def in_words_for_study(self) -> str:
        """A sentence for someone who may see the data. It is private: do not release it."""
        return (
            f"private: the smooth sensitivity is {self._steps * self._unit} * ({self._shrink})**{self._power}, exactly"
        )

    def ball_for_noise(self) -> Ball:
        """It, in a ball at the working precision. Only mechanisms/smooth/smooth_noise.py may call this."""
        return ball(self._steps * self._unit) * ball(self._shrink) ** self._power

    def is_zero_for_noise(self) -> bool:
        """Only mechanisms/smooth/smooth_noise.py may call this."""
        return self._steps == 0

    def __repr__(self) -> str:
        return "<SmoothSensitivity: sealed>"

    __eq__ = __hash__ = __reduce__ = __reduce_ex__ = __copy__ = __deepcopy__ = __lt__ = _sealed
