"""A real answer on a grid, whatever whole-number noise is added: what Laplace and Gaussian have in common.

The value is rounded to a whole number of steps (reals.py), if it may be (grid.py); the noise is added in whole numbers,
so that nothing is lost; what is shown or asked about comes from the noise's exact distribution in steps.
Checked in tests/mechanisms/test_laplace.py and tests/mechanisms/test_gaussian.py.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Protocol

from dpcurator.entropy import Entropy
from dpcurator.errors import Refusal
from dpcurator.mechanisms.grid import may_release
from dpcurator.mechanisms.grid_rounding import Reals
from dpcurator.mechanisms.parameters import error_level
from dpcurator.numbers import Enclosure
from dpcurator.numbers.rational import Spelled, at_least_0

if TYPE_CHECKING:
    from numpy.typing import NDArray

_ROOM = 1 << 62  # of an int64, that a sum with noise cannot pass unseen


class Sampler(Protocol):
    """Whole-number noise: one draw for size None, else an array of independent ones."""

    def __call__(self, size: int | None, entropy: Entropy | None, /) -> Any: ...


class Noise(Protocol):
    """Its exact distribution, in steps."""

    def pmf(self, k: int) -> Enclosure: ...

    def error(self, beta: Fraction) -> int: ...

    def sample(self, size: int, entropy: Entropy | None = None) -> NDArray[Any]: ...


def noised(
    values: Reals, value: Any, coordinates: int | None, draw: Sampler, entropy: Entropy | None
) -> int | NDArray[Any]:
    """The value in steps, each coordinate with an independent draw added. Raises Refusal as `release` says."""
    steps = may_release(values.steps(value), coordinates)
    if isinstance(steps, int):
        return steps + int(draw(None, entropy))
    draws: NDArray[Any] = draw(steps.size, entropy).reshape(steps.shape)
    narrow = steps.dtype != object and draws.dtype != object
    if narrow and (not draws.size or max(int(draws.max()), -int(draws.min())) < _ROOM):
        total: NDArray[Any] = steps + draws
        return total
    wide: NDArray[Any] = steps.astype(object) + draws.astype(object)
    return wide


def draws(values: Reals, noise: Noise, size: int, entropy: Entropy | None) -> NDArray[Any]:
    """The noise alone, query's unit; float64, shape (size,)."""
    found = values.shown(noise.sample(size, entropy))
    assert not isinstance(found, float)
    return found


def chance(values: Reals, noise: Noise, outcome: object, value: Any) -> Enclosure:
    """P(answer = outcome) when one `value` is the truth; 0 off the grid. Raises Refusal for a vector."""
    place, truth = values.place(outcome), values.steps(value)
    if not isinstance(truth, int):
        raise Refusal("pmf takes one value, not a vector.", cure="Multiply the probabilities of the coordinates.")
    return Enclosure.exactly(0) if place is None else noise.pmf(place - truth)


def within(values: Reals, t: object) -> int:
    """The most steps that are at most t. t: at least 0, query's unit; else a Refusal."""
    exact = at_least_0(t, name="t", like="3.4")
    return math.floor(exact / values.step)


def reach(values: Reals, noise: Noise, beta: Spelled) -> Fraction:
    """Least m on the grid with P(|noise| > m) <= beta, query's unit; beta in (0, 1), else a Refusal."""
    return noise.error(error_level(beta)) * values.step
