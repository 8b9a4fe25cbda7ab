"""Discrete Gaussian noise for one integer answer, or for each of many.

Definition  P(Z = k) proportional to exp(-k**2 / (2 variance)) for integers k.
Promise     If neighbours move a vector of integers by at most l2 (Euclidean), then the vector with independent noise
            is rho-zCDP with rho = l2**2 / (2 variance), exactly: at whole orders the Renyi divergences of an integer
            shift are those of the continuous distribution, and at no order more. One answer moved by at most
            `sensitivity` is (eps, delta)-DP with the delta of this very distribution, and no smaller one. There is no
            pure eps. The continuous curve is another: delta may be above it, and need not fall as the variance grows
            (see privacy/families/discrete_gaussian_sums.py).
Source      Canonne, Kamath, Steinke, NeurIPS 2020 (arXiv 2004.00010), theorems 4 and 7.
Checked     tests/mechanisms/test_discrete_gaussian.py (loss, distribution, error), tests/samplers (distribution of the
            sample).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING, Any, ClassVar, Self

from dpcurator.entropy import Entropy
from dpcurator.mechanisms.parameters import error_level
from dpcurator.numbers import Enclosure, positive, whole
from dpcurator.numbers.arb import Ball, ball, precision
from dpcurator.numbers.rational import at_least_0, between_0_and_1
from dpcurator.numbers.readable import readable
from dpcurator.privacy.calibration import Calibration, Given, Made, whole_shift
from dpcurator.privacy.families import discrete_gaussian_sums as law
from dpcurator.privacy.loss import Loss
from dpcurator.privacy.narrow import narrow, surely_at_most

if TYPE_CHECKING:  # a quote draws nothing, and starts faster without numpy
    from numpy.typing import NDArray


def _at_rho(cls: Any, rho: Fraction, given: Given) -> Made:
    shift = whole_shift(given)
    made = cls.spending_rho(rho, l2_squared=shift**2)
    return made, made.loss(shift)


def _at_point(cls: Any, epsilon: Fraction, delta: Fraction, given: Given) -> Made:
    shift = whole_shift(given)
    made = cls.spending(epsilon, delta, sensitivity=shift)
    return made, made.loss(shift)


@dataclass(frozen=True, slots=True)
class DiscreteGaussian:
    """Discrete Gaussian noise for whole numbers; rho-zCDP, and (epsilon, delta)-DP by its own curve.

    P(Z = k) is proportional to exp(-k**2 / (2 variance)) for integers k.

    Promise: if neighbours move a vector of integers by at most l2, the vector with independent noise is rho-zCDP with
    rho = l2**2 / (2 variance), exactly. One answer is besides (epsilon, delta)-DP with the delta of this distribution,
    which `loss` encloses. There is no pure epsilon.

    Parameters (any other value raises Refusal):
        variance: number > 0, sigma squared, in the square of the query's unit. `spending_rho` chooses it for a rho,
            `spending` for an epsilon and a delta.

    >>> from fractions import Fraction
    >>> import dpcurator as dp
    >>> noise = dp.DiscreteGaussian.spending_rho(Fraction(1, 8), l2_squared=1)
    >>> noise.variance, noise.loss(1).rho(), noise.error(Fraction(1, 20))
    (Fraction(4, 1), Fraction(1, 8), 4)

    Source: Canonne, Kamath, Steinke 2020, theorems 4 and 7.
    """

    calibration: ClassVar[Calibration] = Calibration("rho", _at_rho, curve=_at_point)

    variance: Fraction

    __repr__ = readable

    def __post_init__(self) -> None:
        object.__setattr__(self, "variance", positive(self.variance, name="variance"))

    @classmethod
    def spending_rho(cls, rho: Fraction, *, l2_squared: int) -> Self:
        """The least noise that is rho-zCDP. rho: Fraction > 0; l2_squared: int >= 1, of the l2 sensitivity.

        Raises Refusal for others.
        """
        return cls(whole(l2_squared, name="l2_squared", least=1) / (2 * positive(rho, name="rho")))

    @classmethod
    def spending(cls, eps: Fraction, delta: Fraction, *, sensitivity: int) -> Self:
        """The least variance of 32 binary figures for which one answer is (eps, delta)-DP.

        eps: Fraction >= 0; delta: Fraction in (0, 1); sensitivity: int >= 1, query's unit. Raises Refusal for others.
        """
        eps, delta = at_least_0(eps, name="eps"), between_0_and_1(delta)
        return cls(law.least_variance(eps, delta, whole(sensitivity, name="sensitivity", least=1)))

    def loss(self, sensitivity: int) -> Loss:
        """Exact, for one answer. The worst pair is Z against Z + sensitivity; both directions are alike.

        Raises Refusal for a sensitivity that is no whole number.
        """
        step = Fraction(whole(sensitivity, name="sensitivity"))
        return Loss("discrete_gaussian", (("shift", step), ("variance", self.variance)))

    def vector_loss(self, l2_squared: int) -> Loss:
        """For a vector with independent noise: its rho alone. Vectors of equal l2 have not equal delta.

        Raises Refusal for what is no whole number.
        """
        square = Fraction(whole(l2_squared, name="l2_squared"))
        return Loss("discrete_gaussian_vector", (("l2_squared", square), ("variance", self.variance)))

    def pmf(self, k: int) -> Enclosure:
        """P(Z = k), unitless, as two numbers that bracket it; relative width under 2**-64 down to 2**-60000."""

        def mass(bits: int) -> Ball:
            total = law.whole(self.variance, bits)
            with precision(bits + int(k * k / self.variance).bit_length()):
                return (-ball(k * k / (2 * self.variance))).exp() / total

        found = narrow(mass, 128)
        return Enclosure(max(found.lo, Fraction(0)), min(found.hi, Fraction(1)))

    def tail(self, m: int) -> Enclosure:
        """P(|Z| > m), unitless, m >= 0; relative width under 2**-64 down to 2**-60000."""
        found = narrow(lambda bits: self._tail(m, bits), 128)
        return Enclosure(max(found.lo, Fraction(0)), min(found.hi, Fraction(1)))

    def _tail(self, m: int, bits: int) -> Ball:
        beyond, total = law.upper(self.variance, m + 1, bits), law.whole(self.variance, bits)
        with precision(bits):
            return 2 * beyond / total

    def sample(self, size: int, entropy: Entropy | None = None) -> NDArray[Any]:
        """Independent draws, query's unit; int64, or Python ints above variance 2**108 (never by the draw)."""
        from dpcurator import samplers

        return samplers.discrete_gaussian(self.variance, size, entropy)

    def error(self, beta: Fraction) -> int:
        """Smallest m with P(|Z| > m) <= beta, query's unit; beta: Fraction in (0, 1). Raises Refusal for any other.

        The continuous quantile says where to begin; the exact distribution decides, by doubling steps and bisection.
        """
        beta = error_level(beta)

        return _error(self, beta)


@lru_cache(maxsize=256)  # a quote asks for the same one several times
def _error(noise: DiscreteGaussian, beta: Fraction) -> int:
    def enough(m: int) -> bool:
        return m >= 0 and surely_at_most(lambda bits: noise._tail(m, bits), beta, 96)

    high = low = _guess(noise.variance, beta)
    step = 1 + (low >> 80)
    while not enough(high):
        low, high, step = high, high + step, 2 * step
    step = 1 + (low >> 80)
    while low == high or enough(low):  # ends: no m below 0 is enough
        low, step = low - step, 2 * step
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return high


def _guess(variance: Fraction, beta: Fraction) -> int:
    """About the m of a continuous Gaussian, P(|X| > m + 1/2) = beta; any int >= 0 will do."""
    root = math.isqrt(int(variance * 2**64))  # sigma * 2**32
    return (_quantile(beta) * root + 2**127) >> 128


@lru_cache(maxsize=64)
def _quantile(beta: Fraction) -> int:
    """About 2**96 times what a standard Gaussian passes, up or down, with probability beta: a step of Newton's method
    beyond what doubles hold, since noise on a fine grid has more than 2**53 steps."""
    from statistics import NormalDist

    from flint import arb

    power = beta.denominator.bit_length() - beta.numerator.bit_length()
    if power >= 1000:
        return int(math.sqrt(2 * math.log(2) * power) * 2**40) << 56
    with precision(192):
        x = arb(-NormalDist().inv_cdf(float(beta) / 2))
        x += ((x / ball(2).sqrt()).erfc() - ball(beta)) / ((2 / arb.pi()).sqrt() * (-x * x / 2).exp())
        return int((x.mid() * 2**96).floor().unique_fmpz())

EXAMPLES = tuple(DiscreteGaussian(Fraction(s)) for s in ("1/4", "1", "9/2", "100"))  # the laws run on these
