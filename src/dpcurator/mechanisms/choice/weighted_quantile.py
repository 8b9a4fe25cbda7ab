"""A private quantile from exact weights: one of finitely many ordered public candidates, scored by the rank it misses.

Definition  For q = p/d, a candidate with weight `below` it, `at` it and N in all has the score
                u = -max(d below - p N, p N - d (below + at), 0),
            whole numbers, 0 exactly where it is a q-quantile; -u/d is by how much weight it misses. It is chosen with
            probability proportional to exp(rate u), the exponential mechanism, or by permute-and-flip
            (`FlippedQuantile`): each candidate's coin comes up heads with probability exp(rate (u - best)), and one of
            the heads is taken, all equally likely.
Promise     If neighbours move every score by at most s, the choice has bounded range 2 rate s. Choices for several
            groups, whose scores move by at most s_1, s_2, ..., together have bounded range 2 rate (s_1 + s_2 + ...):
            that is their epsilon, and they are rho-zCDP with rho = rate^2 (s_1^2 + s_2^2 + ...) / 2. By
            permute-and-flip they have the same epsilon, and no bounded range, so a rho four times as large.
Accuracy    P(-u > t) <= (C - 1) exp(-rate (t + 1)) for C candidates and whole t >= 0, since one candidate at least has
            u = 0: the first at which d (below + at) >= p N, or, with N = 0, every one. By permute-and-flip it is at
            most (1 - (1 - (1 - w)^C) / (C w)), w = exp(-rate (t + 1)), about half of that.

Proof of the promise. ln P(i) - ln P'(i) = rate (u_i - u'_i) - ln(Z / Z') with one Z / Z' for all i, and u_i - u'_i in
[-s, s]: an interval of length 2 rate s. Given the data the choices are independent, so log-ratios add, and so do the
lengths of their intervals. A bounded range of length a is a^2/8-zCDP, and zCDP adds over independent choices:
(2 rate s_k)^2 / 8 each. Proof of the accuracy. The first candidate with d (below + at) >= p N exists, as the last has
below + at = N, and has d below < p N, or below = 0 = p N: both differences are at most 0. Candidates of a score below
-t have one of at most -(t + 1), scores being whole; each has at most exp(-rate (t + 1)) of the weight of that one.
Permute-and-flip: |ln P(i)/P'(i)| <= 2 rate s_k for group k, and its accuracy, by mechanisms/choice/permute_and_flip.py;
given the data the choices are independent, so the log-ratios add up to at most 2 rate (s_1 + s_2 + ...).
Source      McSherry, Talwar, FOCS 2007; Smith, STOC 2011; bounded range: Durfee, Rogers, NeurIPS 2019; rho: Cesar,
            Rogers, ALT 2021; permute-and-flip: McKenna, Sheldon, NeurIPS 2020.
Checked     tests/mechanisms/test_weighted_quantile.py; how far scores move: plan/stability.py.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Self

from dpcurator.entropy import Entropy
from dpcurator.mechanisms.choice.permute_and_flip import chances, flipped, furthest
from dpcurator.numbers import Enclosure, ln
from dpcurator.numbers.roots import root_below, ten_to_figures

if TYPE_CHECKING:
    from numpy.typing import NDArray


@dataclass(frozen=True, slots=True)
class WeightedQuantile:
    """rate: Fraction > 0, for each whole step of a score. candidates: how many there are."""

    rate: Fraction
    candidates: int

    def __post_init__(self) -> None:
        if self.rate <= 0 or self.candidates < 1:
            raise ValueError("a quantile is chosen at a rate above 0 from at least one candidate")

    @classmethod
    def spending(cls, epsilon: Fraction, *, moves: int, candidates: int) -> Self:
        """For all groups together. moves: of all groups' scores in sum (their s_k added up)."""
        return cls(epsilon / (2 * max(1, moves)), candidates)

    @classmethod
    def spending_rho(cls, rho: Fraction, *, squared: int, candidates: int) -> WeightedQuantile:
        """The same of a rho. squared: the sum of the squares of the s_k. The rate is rounded down."""
        square = 2 * rho / max(1, squared)
        return cls(root_below(square, ten_to_figures(square, 30)), candidates)

    def epsilon(self, moves: int) -> Fraction:
        return 2 * self.rate * max(1, moves)

    def rho(self, squared: int) -> Fraction:
        return self.rate**2 * max(1, squared) / 2

    def error(self, beta: Fraction) -> int:
        """By how much of a score the choice misses: P(-u > error) <= beta. The least whole number, or one above it."""
        if self.candidates == 1:
            return 0
        reach = self._reach(beta) / self.rate
        return max(0, -(-reach.numerator // reach.denominator) - 1)

    def _reach(self, beta: Fraction) -> Fraction:
        """An x such that one at least so far below the best, in scores times the rate, has probability <= beta."""
        return ln(Fraction(self.candidates - 1) / beta).hi  # (C - 1) exp(-x) <= beta

    def select(self, weights: Mapping[int, int], q: Fraction, entropy: Entropy) -> int:
        """The number of one candidate. weights: what lies at each candidate, whole numbers, 0 where none is given.

        As many random words are drawn whatever the weights are, but for the few that `samplers.race` may add."""
        from dpcurator import samplers

        return int(samplers.race(self._scores(weights, q), self.rate, entropy)[0])

    def probabilities(self, weights: Mapping[int, int], q: Fraction) -> list[Enclosure]:
        """P(candidate) in rising order. Not to be released."""
        from dpcurator.mechanisms.choice.exponential import shares
        from dpcurator.mechanisms.choice.scores import Scores

        return shares(Scores(self._scores(weights, q), Fraction(1)), self.rate)

    def _scores(self, weights: Mapping[int, int], q: Fraction) -> NDArray[Any]:
        import numpy as np

        p, d, total = q.numerator, q.denominator, sum(weights.values())
        small = 2 * d * total < 2**62
        at = np.zeros(self.candidates, dtype=np.int64 if small else object)
        for place, weight in weights.items():
            if not 0 <= place < self.candidates or weight < 0:
                raise ValueError("a weight lies at no candidate, or is below 0")
            at[place] = weight
        upto = np.cumsum(at)
        missed: NDArray[Any] = np.maximum(d * (upto - at) - p * total, p * total - d * upto)
        return np.asarray(-np.maximum(missed, 0))


@dataclass(frozen=True, slots=True)
class FlippedQuantile(WeightedQuantile):
    """The same by permute-and-flip: never further from the quantile, of the same epsilon, and of no rho to speak of."""

    @classmethod
    def spending_rho(cls, rho: Fraction, *, squared: int, candidates: int) -> WeightedQuantile:
        raise TypeError("permute-and-flip has no bounded range: in rho the exponential mechanism is chosen by")

    def rho(self, squared: int) -> Fraction:
        return 4 * WeightedQuantile.rho(self, squared)

    def _reach(self, beta: Fraction) -> Fraction:
        return furthest(self.candidates, beta)

    def select(self, weights: Mapping[int, int], q: Fraction, entropy: Entropy) -> int:
        """As above, by as many words whatever the weights are, but for the few that settle a coin or draw a head."""
        return flipped(self._scores(weights, q), self.rate, entropy)

    def probabilities(self, weights: Mapping[int, int], q: Fraction) -> list[Enclosure]:
        """P(candidate) in rising order, of at most 200. Not to be released."""
        from dpcurator.mechanisms.choice.scores import Scores

        return chances(Scores(self._scores(weights, q), Fraction(1)).exact(), self.rate)
