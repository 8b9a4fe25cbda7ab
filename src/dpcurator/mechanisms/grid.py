"""The grid of a real answer: its step, and how many steps neighbours can be apart on it.

Definition  A value x becomes the whole number floor(x / step + 1/2), exactly. `coordinates` is how many coordinates of
            the vector may differ between neighbours at all; 1 for a single answer.
Promise     If neighbours are at most `sensitivity` apart in l1, their whole numbers are at most `l1_steps` apart in l1;
            if in l2, the square of their distance is at most `l2_squared_steps`. Neither asks where the values are.
Proof       |floor(u) - floor(v)| < |u - v| + 1 for reals u, v, and a coordinate that does not differ stays put. Sums
            over k coordinates are thus below s/g + k, and lengths below s/g + sqrt(k) (Minkowski); both are whole (the
            length squared), so at most the whole number next below. For k = 1 that is ceil(s/g), which is s/g when the
            step divides the sensitivity: then rounding costs nothing.
The step    Any finite decimal, which powers of two are; answers on it can be written out. By itself it is the greatest
            power of two at most 2**-20 times the noise's scale and times s/k, so that rounding costs under a millionth.
            If one answer's sensitivity is a multiple of the greatest power of ten there instead, it is that.
Checked     tests/mechanisms/test_grid.py.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import TYPE_CHECKING, Any, TypeVar

from dpcurator.errors import Refusal
from dpcurator.numbers import positive, whole
from dpcurator.numbers.decimal_search import ten_to
from dpcurator.numbers.decimals import leading

if TYPE_CHECKING:
    from numpy.typing import NDArray

FINER = 2**20
Steps = TypeVar("Steps", bound="int | NDArray[Any]")


def moving(coordinates: object) -> tuple[int | None, int]:
    """How many coordinates may differ, as declared (None: it is one number) and as counted with. Else a Refusal."""
    if coordinates is None:
        return None, 1
    most = whole(coordinates, name="coordinates", least=1)
    return most, most


def may_release(steps: Steps, coordinates: int | None) -> Steps:
    """The rounded values; a Refusal for several where nobody said in how many of them neighbours may differ."""
    if coordinates is None and not isinstance(steps, int) and steps.size > 1:
        raise Refusal(
            "for a vector, say in how many coordinates neighbours may differ at most.",
            cure="Write coordinates=1 for a histogram by add-remove, and the vector's length where all may.",
        )
    return steps


def step_of(grid: object, *, sensitivity: Fraction, scale: Fraction, coordinates: int) -> Fraction:
    """The step that was declared or, for None, chosen by the public parameters; query's unit. Else a Refusal."""
    if grid is None:
        return _chosen(sensitivity, min(sensitivity / coordinates, scale) / FINER, coordinates)
    step = positive(grid, name="grid")
    rest = step.denominator // (step.denominator & -step.denominator)
    if 5 ** rest.bit_length() % rest:
        raise Refusal(
            "grid must be a finite decimal, so that answers on it can be written out.",
            cure='Write grid as in 0.01, "1e-6" or 2, or leave it out.',
        )
    return step


def _chosen(sensitivity: Fraction, most: Fraction, coordinates: int) -> Fraction:
    power = most.numerator.bit_length() - most.denominator.bit_length()
    binary = Fraction(2) ** power
    binary = binary if binary <= most else binary / 2
    decimal = ten_to(leading(most))
    free = coordinates == 1 and (sensitivity / binary).denominator > 1 and (sensitivity / decimal).denominator == 1
    return decimal if free else binary


def l1_steps(sensitivity: Fraction, step: Fraction, coordinates: int) -> int:
    """How far apart in l1 neighbours are at most, in steps."""
    return math.ceil(sensitivity / step) + coordinates - 1


def l2_squared_steps(sensitivity: Fraction, step: Fraction, coordinates: int) -> int:
    """The square of how far apart in l2 neighbours are at most, in steps: below (s/g + sqrt(k))**2, exactly."""
    if coordinates == 1:
        return math.ceil(sensitivity / step) ** 2
    ratio = sensitivity / step
    plain, cross = ratio**2 + coordinates, 4 * coordinates * ratio**2  # (r + sqrt k)**2 = plain + sqrt(cross)
    least = math.floor(plain) + math.isqrt(math.floor(cross))
    while least < plain or (least - plain) ** 2 < cross:  # until least is at least that; at most three times
        least += 1
    return least - 1
