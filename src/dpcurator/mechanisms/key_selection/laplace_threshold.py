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

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Self

from dpcurator.entropy import Entropy
from dpcurator.mechanisms.key_selection import rule
from dpcurator.mechanisms.noise.discrete_laplace import DiscreteLaplace
from dpcurator.numbers import Enclosure, positive, whole
from dpcurator.numbers.arb import Ball, ball, precision
from dpcurator.numbers.rational import between_0_and_1
from dpcurator.numbers.readable import readable
from dpcurator.privacy.zcdp import pure_to_rho

NAME = "laplace_threshold"


@dataclass(frozen=True, slots=True)
class LaplaceThreshold:
    """eps: Fraction > 0; delta: Fraction in (0, 1); groups: int >= 1. Raises Refusal for any other."""

    eps: Fraction
    delta: Fraction
    groups: int

    __repr__ = readable

    def __post_init__(self) -> None:
        object.__setattr__(self, "eps", positive(self.eps, name="eps"))
        object.__setattr__(self, "delta", between_0_and_1(self.delta))
        object.__setattr__(self, "groups", whole(self.groups, name="groups", least=1))

    @classmethod
    def spending(cls, eps: Fraction, delta: Fraction, *, groups: int) -> Self:
        """The rule that is (eps, delta)-DP."""
        return cls(eps, delta, groups)

    @property
    def promise(self) -> tuple[Fraction, Fraction]:
        return self.eps, self.delta

    @property
    def rho_promise(self) -> tuple[Fraction, Fraction]:
        return pure_to_rho(self.eps), self.delta

    @property
    def noise(self) -> DiscreteLaplace:
        """What is added to each count, in units."""
        return DiscreteLaplace(self.groups / self.eps)

    @property
    def threshold(self) -> int:
        """T, in units."""
        return _threshold(self.eps, self.delta, self.groups)

    def keep_chance(self, n: int) -> Enclosure:
        """P(kept | n distinct units), n >= 0; exactly 0 at 0; relative width under 2**-63."""
        n = whole(n, name="n")
        return rule.chance_at(lambda j, bits: at_least(self.noise.scale, j, bits), self.threshold, n)

    def keep(self, counts: Sequence[int], entropy: Entropy | None = None) -> list[bool]:
        """Whether each key is kept, by its number of distinct units."""
        return [value is not None for value in self.noisy_counts(counts, entropy)]

    def noisy_counts(self, counts: Sequence[int], entropy: Entropy | None = None) -> list[int | None]:
        """n + Z for the keys that are kept, None for the others: the promise is about both together."""
        return rule.draw(self.noise, self.threshold, counts, entropy)

    def half_size(self) -> int:
        """T, or 1 below it: P(Z >= 0) > 1/2 > P(Z >= 1), as Z is symmetric and 0 has mass."""
        return max(self.threshold, 1)

    def as_json(self) -> dict[str, object]:
        """The rule and its exact parameters as text."""
        parameters = {"delta": str(self.delta), "eps": str(self.eps), "groups": str(self.groups)}
        return {"rule": NAME, "parameters": parameters}


def at_least(scale: Fraction, j: int, bits: int) -> Ball:
    """P(Z >= j): p**j / (1+p) for j >= 0, 1 - p**(1-j) / (1+p) below, p = exp(-1/scale)."""
    steps = abs(j) / scale
    with precision(bits + 32 + int(steps).bit_length()):
        rest = 1 + (-ball(1 / scale)).exp()
        return (-ball(j / scale)).exp() / rest if j >= 0 else 1 - (-ball((1 - j) / scale)).exp() / rest


@lru_cache(maxsize=256)
def _threshold(eps: Fraction, delta: Fraction, groups: int) -> int:
    scale = groups / eps
    return rule.least_threshold(DiscreteLaplace(scale), lambda j, bits: at_least(scale, j, bits), delta, groups)


EXAMPLES = tuple(
    LaplaceThreshold(Fraction(eps), Fraction(delta), groups)
    for eps, delta, groups in (("1", "1e-5", 1), ("1/2", "1/50", 3), ("3", "1e-9", 20), ("1", "2/3", 2))
)  # the laws run on these
