"""Keys whose noisy number of units reaches a threshold; the noise is discrete Gaussian.

Definition  A key of n >= 1 units is kept when n + Z >= T, Z discrete Gaussian of variance groups / (2 rho). T is the
            least integer for which a unit's added keys (n = 1) are all dropped with probability at least 1 - delta.
Promise     The kept keys and their noisy counts are together delta-approximately rho-zCDP when one unit, in at most
            `groups` keys, is added or taken out; and (eps, delta_of(rho, eps) + delta)-DP at every eps >= 0. One draw
            serves for the selection and for a released COUNT(DISTINCT unit).
Source      Canonne, Kamath, Steinke 2020 (the noise, whose vector of common keys moves by at most sqrt(groups)); proof
            of the sum in `rule`. No delta of a single coordinate is used (semantics 5.3).
Checked     tests/mechanisms/test_key_selection.py.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import ClassVar, Self

from dpcurator.mechanisms.key_selection.rule import Threshold, least_threshold, minimum, written
from dpcurator.mechanisms.noise.discrete_gaussian import DiscreteGaussian
from dpcurator.numbers import positive, rational, whole
from dpcurator.numbers.arb import Ball, precision
from dpcurator.numbers.rational import at_least_0, between_0_and_1
from dpcurator.numbers.readable import readable
from dpcurator.privacy import zcdp
from dpcurator.privacy.families import discrete_gaussian_sums as law


@dataclass(frozen=True, slots=True)
class GaussianThreshold(Threshold):
    """rho: Fraction > 0, of the noise; delta: Fraction in (0, 1), of the threshold alone; groups: int >= 1.

    eps: Fraction >= 0, where `promise` is stated; None for the least at which the noise's own delta is at most `delta`.
    Raises Refusal for any other.
    """

    NAME: ClassVar[str] = "gaussian_threshold"

    rho: Fraction
    delta: Fraction
    groups: int
    eps: Fraction | None = None
    min_units: int | None = None

    __repr__ = readable

    def __post_init__(self) -> None:
        object.__setattr__(self, "rho", positive(self.rho, name="rho"))
        object.__setattr__(self, "delta", between_0_and_1(self.delta))
        object.__setattr__(self, "groups", whole(self.groups, name="groups", least=1))
        object.__setattr__(self, "min_units", minimum(self.min_units))
        if self.eps is not None:
            object.__setattr__(self, "eps", at_least_0(self.eps, name="eps"))

    @classmethod
    def spending_rho(cls, rho: Fraction, delta: Fraction, *, groups: int, min_units: int | None = None) -> Self:
        """The rule that is delta-approximately rho-zCDP."""
        return cls(rho, delta, groups, None, min_units)

    @classmethod
    def spending(cls, eps: Fraction, delta: Fraction, *, groups: int, min_units: int | None = None) -> Self:
        """A rule that is (eps, delta)-DP: half of delta for the noise, half for the threshold."""
        half = between_0_and_1(delta) / 2
        eps = rational(eps, name="eps")
        return cls(zcdp.greatest_rho(eps, half), half, groups, eps, min_units)

    @property
    def promise(self) -> tuple[Fraction, Fraction]:
        """(eps, delta): the noise's delta at eps, and the threshold's; at most 1."""
        eps = zcdp.epsilon_of(self.rho, self.delta) if self.eps is None else self.eps
        return eps, min(zcdp.delta_of(self.rho, eps) + self.delta, Fraction(1))

    @property
    def rho_promise(self) -> tuple[Fraction, Fraction]:
        return self.rho, self.delta

    @property
    def noise(self) -> DiscreteGaussian:
        """What is added to each count, in units."""
        return DiscreteGaussian.spending_rho(self.rho, l2_squared=self.groups)

    @property
    def threshold(self) -> int:
        """T, in units."""
        return _threshold(self.rho, self.delta, self.groups)

    def _tail(self, j: int, bits: int) -> Ball:
        return at_least(self.noise.variance, j, bits)

    def as_json(self) -> dict[str, object]:
        """The rule and its exact parameters as text; `eps` only where it was given."""
        return written(self, self.NAME)


def at_least(variance: Fraction, j: int, bits: int) -> Ball:
    """P(Z >= j)."""
    upper, everything = law.upper(variance, j, bits), law.whole(variance, bits)
    with precision(bits + 64):
        return upper / everything


@lru_cache(maxsize=256)
def _threshold(rho: Fraction, delta: Fraction, groups: int) -> int:
    noise = DiscreteGaussian.spending_rho(rho, l2_squared=groups)
    return least_threshold(noise, lambda j, bits: at_least(noise.variance, j, bits), delta, groups)


EXAMPLES = (
    GaussianThreshold(Fraction(1, 2), Fraction(1, 10**6), 1),
    GaussianThreshold(Fraction(1, 8), Fraction(1, 50), 3),
    GaussianThreshold.spending(Fraction(3), Fraction(1, 10**9), groups=20),
    GaussianThreshold(Fraction(2), Fraction(2, 3), 2, Fraction(1)),
)  # the laws run on these
