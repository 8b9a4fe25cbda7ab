"""Gaussian noise for a real answer or a vector, on a declared grid: the Gaussian mechanism that a computer can run.

Definition  The value is rounded to the grid (mechanisms/grid.py, mechanisms/grid_rounding.py) and discrete Gaussian
            noise is added, its variance in steps the least that keeps the promise below (or a billionth more, on a fine
            grid).
Promise     If neighbours move the value by at most `sensitivity` in l2, and in at most `coordinates` coordinates, the
            answer is rho-zCDP, or (epsilon, delta)-DP, whichever was asked; rounding is counted, exactly. Where one
            coordinate moves, (epsilon, delta) is by the discrete distribution itself, epsilon 0 included; where several
            do, by its rho (privacy/zcdp.py), since vectors of one length have not one delta, and that takes a little
            more noise. Neither formula of the continuous distribution is used. The sensitivity is declared for the
            value *after* `nan` and `bounds` have been applied to it.
Source      Canonne, Kamath, Steinke, NeurIPS 2020 (arXiv 2004.00010); what it replaces: Balle, Wang, ICML 2018.
Proof       One coordinate: the shift is at most ceil(s/g), and delta grows with the shift d, since each event's gain,
            P(Z >= m) - e**eps P(Z >= m + d), does. Several: theorem 4, with the integer l2 of mechanisms/grid.py.
Checked     tests/mechanisms/test_gaussian.py, tests/mechanisms/test_grid.py.
"""

from __future__ import annotations

import math
from dataclasses import field
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar, Self

from dpcurator.entropy import Entropy
from dpcurator.errors import Refusal
from dpcurator.mechanisms.grid import l2_squared_steps, moving, step_of
from dpcurator.mechanisms.grid_rounding import Reals, declared_constants
from dpcurator.mechanisms.noise.discrete_gaussian import DiscreteGaussian
from dpcurator.mechanisms.noise.on_grid import OnGrid
from dpcurator.mechanisms.parameters import parameters
from dpcurator.numbers import Enclosure, positive, rational
from dpcurator.numbers.decimal_search import decimal_at, least_place, place_of
from dpcurator.numbers.rational import Spelled, between_0_and_1
from dpcurator.numbers.roots import exact_root, root_above
from dpcurator.privacy import zcdp
from dpcurator.privacy.calibration import Calibration, Given, Made
from dpcurator.privacy.families import discrete_gaussian_sums as law
from dpcurator.privacy.families.gaussian import gaussian_epsilon, gaussian_sigma
from dpcurator.privacy.loss import Loss

if TYPE_CHECKING:  # a quote draws nothing, and starts faster without numpy
    pass


_FINE = 2**16  # steps
_MOST_EPS = 10**4
_FIGURES = 12  # of an epsilon returned
_LEAST_EPS = Fraction(1, 10**30)  # the least epsilon returned that is not 0


def _at_rho(cls: Any, rho: Fraction, given: Given) -> Made:
    made = cls(rho=rho, **given)
    return made, made.loss


def _at_point(cls: Any, epsilon: Fraction, delta: Fraction, given: Given) -> Made:
    made = cls(epsilon=epsilon, delta=delta, **given)
    return made, made.loss


@parameters
class Gaussian(OnGrid):
    """Gaussian mechanism on a grid, for a real answer or a vector; (epsilon, delta)-DP or rho-zCDP.

    P(answer = x) is proportional to exp(-(x - value)**2 / (2 sigma**2)) over the points x of the grid, independently in
    each coordinate, with the least sigma that keeps the promise.

    Promise: if neighbours move the value by at most `sensitivity` in l2, the answer is (epsilon, delta)-DP or rho-zCDP,
    whichever was asked, rounding to the grid included; for one coordinate by the exact delta of this discrete
    distribution, for several by their rho.

    Parameters (any other value raises Refusal, with a way to mend it):
        sensitivity: number > 0, the l2 sensitivity in the query's unit, after `bounds` and `nan` have been applied.
        epsilon, delta: numbers in [0, 10000] and (0, 1), of one release; or
        rho: number > 0, of one release, in their place.
        grid: the step of the answers, a finite decimal > 0 in the query's unit; by default below a millionth of the
            noise's size and of the sensitivity.
        coordinates: int >= 1, in how many coordinates of a vector neighbours may differ (a histogram under add-remove
            differs in 1, a mean of vectors in all); None for one number, with which a vector is refused.
        bounds: (low, high), to which each value is clamped, infinities too; or None.
        nan: the number that stands for a missing value; None refuses missing values.

    >>> import dpcurator as dp
    >>> noise = dp.Gaussian(sensitivity=1, epsilon=1, delta="1e-6")
    >>> f"{float(noise.sigma):.4f}"
    '4.2247'
    >>> counts = dp.Gaussian(sensitivity=1, rho="0.1", grid=1, coordinates=1).release([3, 5, 8])
    >>> counts.shape
    (3,)

    Source: Canonne, Kamath, Steinke 2020; calibration by the curve itself, Balle, Wang 2018.
    """

    calibration: ClassVar[Calibration] = Calibration("rho", _at_rho, curve=_at_point)

    sensitivity: Fraction
    epsilon: Fraction | None = None
    delta: Fraction | None = None
    rho: Fraction | None = None
    grid: Fraction | None = None
    coordinates: int | None = None
    bounds: tuple[Fraction, Fraction] | None = None
    nan: Fraction | None = None
    noise: DiscreteGaussian = field(init=False, repr=False, compare=False)
    values: Reals = field(init=False, repr=False, compare=False)

    if TYPE_CHECKING:  # each is given as people write it, and kept as the exact number

        def __init__(
            self, *, sensitivity: Spelled, epsilon: Spelled | None = None, delta: Spelled | None = None,
            rho: Spelled | None = None, grid: Spelled | None = None, coordinates: int | None = None,
            bounds: tuple[Spelled, Spelled] | None = None, nan: Spelled | None = None,
        ) -> None: ...

    def __post_init__(self) -> None:
        moved = positive(self.sensitivity, name="sensitivity")
        declared, most = moving(self.coordinates)
        eps, delta, rho = _price(self.epsilon, self.delta, self.rho)
        step = step_of(self.grid, sensitivity=moved, scale=_about(moved, most, eps, delta, rho), coordinates=most)
        bounds, nan = declared_constants(self.bounds, self.nan)
        squared = l2_squared_steps(moved, step, most)
        if rho is not None:
            noise = DiscreteGaussian.spending_rho(rho, l2_squared=squared)
        elif eps is not None and delta is not None and most == 1:
            noise = _least(eps, delta, math.isqrt(squared))
        else:
            assert eps is not None
            assert delta is not None
            noise = DiscreteGaussian.spending_rho(zcdp.greatest_rho(eps, delta), l2_squared=squared)
        for name, exact in (
            ("sensitivity", moved), ("epsilon", eps), ("delta", delta), ("rho", rho), ("grid", step),
            ("coordinates", declared), ("bounds", bounds), ("nan", nan), ("noise", noise),
            ("values", Reals.declared(step, bounds, nan)),
        ):
            object.__setattr__(self, name, exact)

    @classmethod
    def with_sigma(
        cls, *, sigma: Spelled, sensitivity: Spelled, grid: Spelled | None = None, coordinates: int | None = None,
        bounds: tuple[Spelled, Spelled] | None = None, nan: Spelled | None = None,
    ) -> Self:
        """Noise of this sigma, query's unit; `rho` is then what it loses. The rest is as for the class.

        Raises Refusal as the class does.
        """
        moved, spread = positive(sensitivity, name="sensitivity"), positive(sigma, name="sigma")
        declared, most = moving(coordinates)
        step = step_of(grid, sensitivity=moved, scale=spread, coordinates=most)
        rho = l2_squared_steps(moved, step, most) / (2 * (spread / step) ** 2)
        return cls(sensitivity=moved, rho=rho, grid=step, coordinates=declared, bounds=bounds, nan=nan)

    @property
    def sigma(self) -> Fraction:
        """The root of the distribution's variance, query's unit; rounded up by under 2**-64 where it is no rational.

        `noise` is the distribution in steps of the grid. Its standard deviation is a little less where sigma is below a
        step.
        """
        variance = self.noise.variance * self.step**2
        shift = 80 + max(0, variance.denominator.bit_length() - variance.numerator.bit_length())
        return exact_root(variance) or root_above(variance, 1 << shift)

    @property
    def loss(self) -> Loss:
        """Exact: of one coordinate, its whole distribution; of several, their rho."""
        squared = l2_squared_steps(self.sensitivity, self.step, self.coordinates or 1)
        one = self.coordinates in (None, 1)
        return self.noise.loss(math.isqrt(squared)) if one else self.noise.vector_loss(squared)

    def delta_at(self, epsilon: Spelled) -> Enclosure:
        """The least delta at this epsilon >= 0, else a Refusal; of several coordinates, from 0 to what rho implies."""
        if self.coordinates in (None, 1):
            return self.loss.delta(rational(epsilon, name="epsilon"))
        return Enclosure(Fraction(0), zcdp.delta_of(self.loss.rho(), rational(epsilon, name="epsilon")))

    def epsilon_at(self, delta: Spelled) -> Fraction:
        """An epsilon at this delta in (0, 1), else a Refusal; 12 figures, rounded up. The least, of one coordinate; of
        several, the least that rho implies. 0 if that does, and else at least 1e-30."""
        most = between_0_and_1(delta)
        if self.coordinates not in (None, 1):
            return zcdp.epsilon_of(self.loss.rho(), most)
        loss = self.loss

        def enough(place: int) -> bool:
            return place >= least and loss.delta(decimal_at(place, _FIGURES)).hi <= most

        if loss.delta(Fraction(0)).hi <= most:
            return Fraction(0)
        least = place_of(_LEAST_EPS, _FIGURES)
        near = gaussian_epsilon(sigma=self.sigma, sensitivity=self.sensitivity, delta=most)
        return decimal_at(least_place(enough, place_of(max(near, _LEAST_EPS), _FIGURES)), _FIGURES)

    def _draw(self, size: int | None, entropy: Entropy | None) -> Any:
        from dpcurator import samplers

        return samplers.discrete_gaussian(self.noise.variance, size, entropy)


def _price(epsilon: object, delta: object, rho: object) -> tuple[Fraction | None, Fraction | None, Fraction | None]:
    """Exact, and one of the two ways to say it. Raises Refusal otherwise."""
    if (rho is None) == (epsilon is None) or (epsilon is None) != (delta is None):
        raise Refusal(
            "Gaussian takes either epsilon and delta, or rho.", cure="Write epsilon=1, delta=1e-6, or rho=0.1."
        )
    if rho is not None:
        return None, None, positive(rho, name="rho")
    eps = rational(epsilon, name="epsilon")
    if not 0 <= eps <= _MOST_EPS:
        raise Refusal("epsilon must be at least 0 and at most 10,000.", cure="Write epsilon as in 0.5.")
    return eps, between_0_and_1(delta), None


def _least(eps: Fraction, delta: Fraction, shift: int) -> DiscreteGaussian:
    """The least noise for one coordinate. On a fine grid the continuous curve is so near that a billionth more than its
    variance will do, and then that is taken: it was proved by the discrete distribution, and the search for the least
    is saved.
    """
    if shift >= _FINE:
        near = gaussian_sigma(sensitivity=shift, epsilon=eps, delta=delta)
        if near >= _FINE:
            variance = Fraction(math.ceil(near**2 * (1 + Fraction(1, 10**9))))
            if law.delta(variance, shift, eps).hi <= delta:
                return DiscreteGaussian(variance)
    return DiscreteGaussian.spending(eps, delta, sensitivity=shift)


def _about(moved: Fraction, most: int, eps: Fraction | None, delta: Fraction | None, rho: Fraction | None) -> Fraction:
    """About sigma, to choose a grid by: any number above 0 would be right."""
    if rho is None and eps is not None and delta is not None:
        if most == 1:
            return gaussian_sigma(sensitivity=moved, epsilon=eps, delta=delta)
        rho = zcdp.greatest_rho(eps, delta)
    assert rho is not None
    inverse = 1 / (2 * rho)
    if inverse >= 1:
        return moved * math.isqrt(math.floor(inverse))
    return moved / (math.isqrt(math.floor(2 * rho)) + 1)


EXAMPLES = (
    Gaussian(sensitivity=1, epsilon=1, delta="1e-6"),
    Gaussian(sensitivity="0.12", epsilon=0, delta="1/20"),
    Gaussian(sensitivity="5/2", rho="1/2", grid=1, coordinates=3),
    Gaussian(sensitivity=1000, epsilon=10, delta="1e-5", grid="0.5", coordinates=2, bounds=(0, 1000), nan=0),
)
