"""Laplace noise for a real answer or a vector, on a declared grid: the Laplace mechanism that a computer can run.

Definition  The value is rounded to the grid (mechanisms/grid.py, mechanisms/grid_rounding.py) and discrete Laplace
            noise of scale b steps is added; b = l1 / epsilon, with l1 the most steps that neighbours are apart in l1.
Promise     If neighbours move the value by at most `sensitivity` in l1, and in at most `coordinates` coordinates, the
            answer is epsilon-DP, exactly, and no float or rounding is left out of that. The sensitivity is declared for
            the value *after* `nan` and `bounds` have been applied to it. One value's b * step is sensitivity / epsilon
            when the step divides the sensitivity, and less than a step / epsilon more otherwise.
Why a grid  A double of continuous noise has holes that tell the value (Mironov, CCS 2012). Here every answer is a point
            of the grid, whatever the value; the double shown is the nearest to it.
Source      Dwork, McSherry, Nissim, Smith 2006 (the mechanism); Ghosh, Roughgarden, Sundararajan 2009 (discrete).
Checked     tests/mechanisms/test_laplace.py, tests/mechanisms/test_grid.py.
"""

from __future__ import annotations

from dataclasses import field
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar, Self

from dpcurator.entropy import Entropy
from dpcurator.mechanisms.grid import l1_steps, moving, step_of
from dpcurator.mechanisms.grid_rounding import Reals, declared_constants
from dpcurator.mechanisms.noise.discrete_laplace import DiscreteLaplace
from dpcurator.mechanisms.noise.on_grid import OnGrid
from dpcurator.mechanisms.parameters import parameters
from dpcurator.numbers import positive
from dpcurator.numbers.rational import Spelled
from dpcurator.privacy.calibration import BY_EPSILON, Calibration
from dpcurator.privacy.loss import Loss

if TYPE_CHECKING:  # a quote draws nothing, and starts faster without numpy
    pass


@parameters
class Laplace(OnGrid):
    """Laplace mechanism on a grid, for a real answer or a vector; epsilon-DP.

    P(answer = x) is proportional to exp(-|x - value| / scale) over the points x of the grid, scale = sensitivity /
    epsilon. A vector has independent noise in each coordinate.

    Promise: if neighbours move the value by at most `sensitivity` in l1, the answer is epsilon-DP, exactly, rounding to
    the grid included. `loss` is the exact privacy loss.

    Parameters (any other value raises Refusal, with a way to mend it):
        sensitivity: number > 0, the l1 sensitivity in the query's unit, after `bounds` and `nan` have been applied.
        epsilon: number > 0, of one release.
        grid: the step of the answers, a finite decimal > 0 in the query's unit; by default below a millionth of the
            noise's size and of the sensitivity.
        coordinates: int >= 1, in how many coordinates of a vector neighbours may differ (a histogram under add-remove
            differs in 1, a mean of vectors in all); None for one number, with which a vector is refused.
        bounds: (low, high), to which each value is clamped, infinities too; or None.
        nan: the number that stands for a missing value; None refuses missing values.

    >>> import dpcurator as dp
    >>> noise = dp.Laplace(sensitivity=10, epsilon="0.5", grid="0.01")
    >>> noise.scale, float(noise.error("0.05"))  # with probability 0.95 the noise is at most this far
    (Fraction(20, 1), 59.91)
    >>> isinstance(noise.release(2807.5), float)
    True

    Source: Dwork, McSherry, Nissim, Smith 2006; on integers, Ghosh, Roughgarden, Sundararajan 2009.
    """

    calibration: ClassVar[Calibration] = BY_EPSILON

    sensitivity: Fraction
    epsilon: Fraction
    grid: Fraction | None = None
    coordinates: int | None = None
    bounds: tuple[Fraction, Fraction] | None = None
    nan: Fraction | None = None
    noise: DiscreteLaplace = field(init=False, repr=False, compare=False)
    values: Reals = field(init=False, repr=False, compare=False)

    if TYPE_CHECKING:  # each is given as people write it, and kept as the exact number

        def __init__(
            self, *, sensitivity: Spelled, epsilon: Spelled, grid: Spelled | None = None,
            coordinates: int | None = None, bounds: tuple[Spelled, Spelled] | None = None, nan: Spelled | None = None,
        ) -> None: ...

    def __post_init__(self) -> None:
        moved, eps = positive(self.sensitivity, name="sensitivity"), positive(self.epsilon, name="epsilon")
        declared, most = moving(self.coordinates)
        step = step_of(self.grid, sensitivity=moved, scale=moved / eps, coordinates=most)
        bounds, nan = declared_constants(self.bounds, self.nan)
        noise = DiscreteLaplace(l1_steps(moved, step, most) / eps)
        for name, exact in (
            ("sensitivity", moved), ("epsilon", eps), ("grid", step), ("coordinates", declared), ("bounds", bounds),
            ("nan", nan), ("noise", noise), ("values", Reals.declared(step, bounds, nan)),
        ):
            object.__setattr__(self, name, exact)

    @classmethod
    def with_scale(
        cls, *, scale: Spelled, sensitivity: Spelled, grid: Spelled | None = None, coordinates: int | None = None,
        bounds: tuple[Spelled, Spelled] | None = None, nan: Spelled | None = None,
    ) -> Self:
        """Noise of this scale, query's unit; `epsilon` is then what it loses. The rest is as for the class.

        Raises Refusal as the class does.
        """
        moved, spread = positive(sensitivity, name="sensitivity"), positive(scale, name="scale")
        declared, most = moving(coordinates)
        step = step_of(grid, sensitivity=moved, scale=spread, coordinates=most)
        eps = l1_steps(moved, step, most) * step / spread
        return cls(sensitivity=moved, epsilon=eps, grid=step, coordinates=declared, bounds=bounds, nan=nan)

    @property
    def scale(self) -> Fraction:
        """The noise's scale, query's unit. `noise` is its distribution in steps of the grid."""
        return self.noise.scale * self.step

    @property
    def loss(self) -> Loss:
        """Exact. The worst pair is the noise against itself moved by the whole sensitivity."""
        return self.noise.loss(l1_steps(self.sensitivity, self.step, self.coordinates or 1))

    def _draw(self, size: int | None, entropy: Entropy | None) -> Any:
        from dpcurator import samplers

        return samplers.discrete_laplace(self.noise.scale, size, entropy)


EXAMPLES = (
    Laplace(sensitivity=1, epsilon=1),
    Laplace(sensitivity="0.12", epsilon="0.1"),
    Laplace(sensitivity="5/2", epsilon=2, grid=1, coordinates=3),
    Laplace(sensitivity=10_000_000, epsilon=1, grid="0.01", bounds=(0, 10_000_000), nan=0),
)
