"""Keys whose noisy number of units reaches a threshold; the noise is discrete Laplace.

Definition  A key of n >= 1 units is kept when n + Z >= T, Z discrete Laplace of scale groups/eps. T is the least
            integer for which a unit's added keys (n = 1) are all dropped with probability at least 1 - delta.
Promise     The kept keys and their noisy counts are together (eps, delta)-DP when one unit, in at most `groups` keys,
            is added or taken out: one draw serves for the selection and for a released COUNT(DISTINCT unit). Hence
            delta-approximately eps**2/2-zCDP.
Source      Korolova et al. 2009, with the integer distribution and `>=`: at a tie the key is kept, and is counted in t;
            proof in `rule`, where the common keys move by at most `groups` in l1.
Checked     tests/mechanisms/test_key_selection.py.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import ClassVar

from dpcurator.mechanisms.key_selection.rule import PureRule, Threshold, least_threshold
from dpcurator.mechanisms.noise.discrete_laplace import DiscreteLaplace
from dpcurator.numbers.arb import Ball, ball, precision


@dataclass(frozen=True, slots=True, repr=False)
class LaplaceThreshold(PureRule, Threshold):
    """eps: Fraction > 0; delta: Fraction in (0, 1); groups: int >= 1. Raises Refusal for any other."""

    NAME: ClassVar[str] = "laplace_threshold"

    @property
    def noise(self) -> DiscreteLaplace:
        """What is added to each count, in units."""
        return DiscreteLaplace(self.groups / self.eps)

    @property
    def threshold(self) -> int:
        """T, in units."""
        return _threshold(self.eps, self.delta, self.groups)

    def _tail(self, j: int, bits: int) -> Ball:
        return at_least(self.noise.scale, j, bits)


def at_least(scale: Fraction, j: int, bits: int) -> Ball:
    """P(Z >= j): p**j / (1+p) for j >= 0, 1 - p**(1-j) / (1+p) below, p = exp(-1/scale)."""
    steps = abs(j) / scale
    with precision(bits + 32 + int(steps).bit_length()):
        rest = 1 + (-ball(1 / scale)).exp()
        return (-ball(j / scale)).exp() / rest if j >= 0 else 1 - (-ball((1 - j) / scale)).exp() / rest


@lru_cache(maxsize=256)
def _threshold(eps: Fraction, delta: Fraction, groups: int) -> int:
    scale = groups / eps
    return least_threshold(DiscreteLaplace(scale), lambda j, bits: at_least(scale, j, bits), delta, groups)


EXAMPLES = tuple(
    LaplaceThreshold(Fraction(eps), Fraction(delta), groups)
    for eps, delta, groups in (("1", "1e-5", 1), ("1/2", "1/50", 3), ("3", "1e-9", 20), ("1", "2/3", 2))
)  # the laws run on these
