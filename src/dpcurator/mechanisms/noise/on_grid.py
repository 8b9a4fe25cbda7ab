"""What Laplace, Gaussian and Staircase have in common: whole-number noise for a real answer, or a vector, on a grid.

The value is rounded to a whole number of steps (mechanisms/grid_rounding.py), if it may be (mechanisms/grid.py); the
noise is added in whole numbers, so that nothing is lost; what is shown or asked about comes from the noise's exact
distribution in steps. Checked in tests/mechanisms/test_laplace.py and tests/mechanisms/test_gaussian.py.
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


class Whole(Protocol):
    """The noise's exact distribution in steps: `tail(m)` is P(|Z| > m), and `error(beta)` the least m with at most
    beta beyond it."""

    def pmf(self, k: int) -> Enclosure: ...

    def tail(self, m: int) -> Enclosure: ...

    def error(self, beta: Fraction) -> int: ...

    def sample(self, size: int, entropy: Entropy | None = None) -> NDArray[Any]: ...


class OnGrid:
    """What noise on a grid has in common. A class made of it has the fields below, and draws as `_draw` says."""

    if TYPE_CHECKING:

        @property
        def coordinates(self) -> int | None: ...

        @property
        def noise(self) -> Whole: ...

        @property
        def values(self) -> Reals: ...

    def _draw(self, size: int | None, entropy: Entropy | None) -> Any:
        """Whole-number noise: one draw for size None, else an array of independent ones."""
        raise NotImplementedError

    @property
    def step(self) -> Fraction:
        """The grid's step, query's unit."""
        return self.values.step

    def release(self, value: Any, entropy: Entropy | None = None) -> float | NDArray[Any]:
        """The noisy answer, query's unit: a float, or an array of float64 of a vector's shape with independent noise.

        value: int, float, Fraction, Decimal; or a list or array of such, of any size. Each is read exactly. Raises
        Refusal for nan or an infinity without its constant declared, and for what is no number.
        """
        return self.values.shown(self._noised(value, entropy))

    def release_exact(self, value: Any, entropy: Entropy | None = None) -> Fraction | NDArray[Any]:
        """The same as the exact points of the grid: a Fraction, or an array of them.

        Raises Refusal as `release` does.
        """
        return self.values.exactly(self._noised(value, entropy))

    def _noised(self, value: Any, entropy: Entropy | None) -> int | NDArray[Any]:
        """The value in steps, each coordinate with an independent draw added."""
        steps = may_release(self.values.steps(value), self.coordinates)
        if isinstance(steps, int):
            return steps + int(self._draw(None, entropy))
        draws: NDArray[Any] = self._draw(steps.size, entropy).reshape(steps.shape)
        narrow = steps.dtype != object and draws.dtype != object
        if narrow and (not draws.size or max(int(draws.max()), -int(draws.min())) < _ROOM):
            total: NDArray[Any] = steps + draws
            return total
        wide: NDArray[Any] = steps.astype(object) + draws.astype(object)
        return wide

    def sample(self, size: int, entropy: Entropy | None = None) -> NDArray[Any]:
        """Independent draws of the noise alone, query's unit; float64, shape (size,).

        Raises Refusal for a size that is none.
        """
        found = self.values.shown(self.noise.sample(size, entropy))
        assert not isinstance(found, float)
        return found

    def pmf(self, outcome: Spelled, value: Any = 0) -> Enclosure:
        """P(answer = outcome), when `value` is the truth; 0 off the grid. A float is the point of the grid shown so.

        Raises Refusal for a vector.
        """
        place, truth = self.values.place(outcome), self.values.steps(value)
        if not isinstance(truth, int):
            raise Refusal("pmf takes one value, not a vector.", cure="Multiply the probabilities of the coordinates.")
        return Enclosure.exactly(0) if place is None else self.noise.pmf(place - truth)

    def tail(self, t: Spelled) -> Enclosure:
        """P(|noise| > t), unitless, by the exact distribution. t: at least 0, query's unit; else a Refusal."""
        return self.noise.tail(math.floor(at_least_0(t, name="t", like="3.4") / self.step))

    def error(self, beta: Spelled) -> Fraction:
        """Least m on the grid with P(|noise| > m) <= beta, query's unit; beta in (0, 1), else a Refusal.

        A value off the grid is besides rounded by at most half a step.
        """
        return self.noise.error(error_level(beta)) * self.step
