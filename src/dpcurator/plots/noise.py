"""What the charts of noise ask of it: its law on a grid, and how far it reaches. Checked in tests/plots."""

from __future__ import annotations

import math
from collections.abc import Iterable
from fractions import Fraction
from typing import Any, Protocol

from dpcurator.errors import Refusal
from dpcurator.numbers import Enclosure

FINE = 400  # points of a grid within the chart, from which on it is drawn as a line
PARTS = 200  # of an axis, where a line is drawn


class Noise(Protocol):
    """`step`, where there is one, is that of its grid; without it the outcomes are the whole numbers."""

    def pmf(self, outcome: Any, /) -> Enclosure: ...

    def error(self, beta: Any, /) -> Fraction | int: ...


def step_of(noise: Noise) -> Fraction:
    return Fraction(getattr(noise, "step", 1))


def mass(noise: Noise, x: Fraction) -> Enclosure:
    """P(noise = x) for a point x of its grid."""
    return noise.pmf(x.numerator if x.denominator == 1 else x)


def is_fine(noises: Iterable[Noise], low: Fraction, high: Fraction) -> bool:
    """Is each grid so fine here that its law is a density? Raises Refusal for grids that no one chart shows."""
    steps = {step_of(noise) for noise in noises}
    fine = {(high - low) / step >= FINE for step in steps}
    if len(fine) > 1 or (fine == {False} and len(steps) > 1):
        raise Refusal(
            "These noises are on grids too different for one chart.", cure="Draw them apart, or give them one grid."
        )
    return fine == {True}


def points(
    noise: Noise, low: Fraction, high: Fraction, *, fine: bool, besides: Iterable[Fraction] = ()
) -> list[Fraction]:
    """Points of the grid from low to high: all of a coarse one, and of a fine one about 200 and those besides."""
    step = step_of(noise)
    if not fine:
        return [k * step for k in range(math.ceil(low / step), math.floor(high / step) + 1)]
    wanted = [low + (high - low) * part / PARTS for part in range(PARTS + 1)] + list(besides)
    return sorted({round(x / step) * step for x in wanted})
