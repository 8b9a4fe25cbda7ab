"""Discrete Laplace noise for one integer answer.

Definition  P(Z = k) = (1-p)/(1+p) * p**|k| for integers k, with p = exp(-1/scale).
Promise     If neighbours move the answer by at most `sensitivity`, then answer + Z is
            eps-DP with eps = sensitivity/scale, exactly; no smaller eps holds.
            For a vector with independent noise the same is true of its l1 sensitivity.
Source      Ghosh, Roughgarden, Sundararajan, STOC 2009 (mechanism).
Checked     tests/mechanisms/test_discrete_laplace.py (loss, distribution, error), tests/samplers (distribution of the
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
from dpcurator.numbers import Enclosure, exp_neg, positive, whole
from dpcurator.numbers.arb import ball, common_floor, precision
from dpcurator.numbers.readable import readable
from dpcurator.privacy.calibration import Calibration, Given, Made, whole_shift
from dpcurator.privacy.loss import Loss

if TYPE_CHECKING:  # a quote draws nothing, and starts faster without numpy
    from numpy.typing import NDArray


def _at_epsilon(cls: Any, epsilon: Fraction, given: Given) -> Made:
    shift = whole_shift(given)
    made = cls.spending(epsilon, sensitivity=shift)
    return made, made.loss(shift)


@dataclass(frozen=True, slots=True)
class DiscreteLaplace:
    """Discrete Laplace noise for whole numbers (two-sided geometric); epsilon-DP.

    P(Z = k) = (1-p) / (1+p) p**|k| for integers k, with p = exp(-1/scale).

    Promise: if neighbours move an integer answer by at most d, answer + Z is epsilon-DP with epsilon = d / scale, and
    no smaller epsilon holds; for a vector with independent noise, d is its l1 sensitivity.

    Parameters (any other value raises Refusal):
        scale: number > 0, in the query's unit. `DiscreteLaplace.spending(epsilon, sensitivity=d)` chooses it.

    >>> from fractions import Fraction
    >>> import dpcurator as dp
    >>> noise = dp.DiscreteLaplace.spending(Fraction(1, 2), sensitivity=1)
    >>> noise.scale, noise.loss(1).pure_epsilon(), noise.error(Fraction(1, 20))
    (Fraction(2, 1), Fraction(1, 2), 6)
    >>> noise.sample(3).shape
    (3,)

    Source: Ghosh, Roughgarden, Sundararajan 2009.
    """

    calibration: ClassVar[Calibration] = Calibration("epsilon", _at_epsilon)

    scale: Fraction

    __repr__ = readable

    def __post_init__(self) -> None:
        object.__setattr__(self, "scale", positive(self.scale, name="scale"))

    @classmethod
    def spending(cls, eps: Fraction, *, sensitivity: int) -> Self:
        """The least noise whose loss is at most eps. eps: Fraction > 0; sensitivity: int >= 1, query's unit.

        Raises Refusal for others.
        """
        return cls(whole(sensitivity, name="sensitivity", least=1) / positive(eps, name="eps"))

    def loss(self, sensitivity: int) -> Loss:
        """Exact. The worst pair is Z against Z + sensitivity; each tail attains the bound.

        Raises Refusal for a sensitivity that is no whole number.
        """
        return Loss.shifted("discrete_laplace", scale=self.scale, shift=sensitivity)

    def pmf(self, k: int) -> Enclosure:
        """P(Z = k), unitless, as two numbers that bracket it; relative width under 2**-100 down to 2**-65000."""
        bits = 128 + math.ceil(self.scale).bit_length()  # 1 - p is about 1/scale
        p = exp_neg(1 / self.scale, bits)
        return (1 - p) / (1 + p) * exp_neg(abs(k) / self.scale)

    def sample(self, size: int, entropy: Entropy | None = None) -> NDArray[Any]:
        """Independent draws, query's unit; int64, or Python ints where the scale could pass it (never by the draw)."""
        from dpcurator import samplers

        return samplers.discrete_laplace(self.scale, size, entropy)

    def tail(self, m: int) -> Enclosure:
        """P(|Z| > m) = 2 p**(m+1) / (1+p), unitless, m >= 0."""
        return 2 * exp_neg((m + 1) / self.scale) / (1 + exp_neg(1 / self.scale))

    def error(self, beta: Fraction) -> int:
        """Smallest m with P(|Z| > m) <= beta, query's unit; beta: Fraction in (0, 1). Raises Refusal for any other.

        P(|Z| > m) = 2 p**(m+1) / (1+p), so m + 1 is the ceiling of scale * ln(2 / (beta (1+p))), and at least 1.
        That product is no whole number j, or 2 p**j = beta (1+p) would make p algebraic; exp(-1/scale) is not
        (Lindemann). So m is its floor, and the search for enough bits ends.
        """
        return _error(self.scale, error_level(beta))


@lru_cache(maxsize=256)  # a quote asks for the same one several times
def _error(scale: Fraction, beta: Fraction) -> int:
    bits = 64 + math.ceil(scale).bit_length()
    while True:
        with precision(bits):
            p = (-1 / ball(scale)).exp()
            reach = ball(scale) * (2 / (ball(beta) * (1 + p))).log()
            below = common_floor(reach, reach)
        if below is not None:
            return max(below, 0)
        bits *= 2


EXAMPLES = tuple(DiscreteLaplace(Fraction(s)) for s in ("1/2", "1", "3/2", "10"))  # the laws run on these
