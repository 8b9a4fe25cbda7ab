"""The benchmark of the known: mechanisms of audit_known.py, on which inputs, what is claimed, what is true.

`exact` is the least epsilon (for `permute and flip`, rho) that holds for the pair, by the papers or by the sums in
tests/audit/test_known.py; `at_most` where only a bound is known. `attained` says that one event of at least one in a
hundred has that very ratio, so that a good search reaches it. `published` is what DP-Sniper found by logistic
regression, by a neural network, and StatDP, in the log of Bichsel and others 2021 (confidence .9, eps .1).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import audit_known as known
import numpy as np

import dpcurator as dp
from dpcurator.numbers import Enclosure, exp_neg

LN = math.log
E = math.exp
F = Fraction
TENTH = F(1, 10)
INF = math.inf
Law = Callable[[Any], Mapping[Any, Any]]


@dataclass(frozen=True)
class Known:
    name: str
    run: known.Mechanism
    pair: tuple[list[float], list[float]]
    claim: Any
    exact: float
    broken: bool
    published: tuple[float | None, float | None, float | None] = (None, None, None)
    attained: bool = False
    at_most: bool = False
    law: Law | None = None
    bits: bool = False  # is the fault in the digits of doubles? elsewhere they stand for real numbers

    def mechanism(self, seed: int) -> Callable[[known.Data, int], known.Array]:
        """f(data, size), with a generator of its own."""
        rng = np.random.default_rng(seed)

        def drawn(data: known.Data, size: int) -> known.Array:
            return self.run(data, size, rng)

        drawn.__name__ = self.name
        return drawn


# --- laws that are small and exact -----------------------------------------------------------------------------------


def truncated_geometric_law(data: known.Data) -> Mapping[int, Fraction]:
    table = known.geometric_table(int(data[0]))
    return {z: F(high - low, table[-1]) for z, (low, high) in enumerate(zip([0, *table], table, strict=False))}


def gumbel_law(data: known.Data, rate: Fraction) -> Mapping[int, Enclosure]:
    """The exponential mechanism: exp(rate u) over the sum."""
    weights = [exp_neg(rate * F(max(data) - u)) for u in data]
    return {i: weight / sum(weights[1:], weights[0]) for i, weight in enumerate(weights)}


def permute_and_flip_law(data: known.Data) -> Mapping[int, Enclosure]:
    """Of two candidates, eps 1: the worse one's coin shows heads, and then both are as likely."""
    low = exp_neg(F(abs(data[0] - data[1])) / 2) / 2
    return {int(np.argmax(data)): 1 - low, 1 - int(np.argmax(data)): low}


def threshold_law(data: known.Data) -> Mapping[int, Enclosure]:
    kept = geometric_tail(6 - int(data[0])) if data[0] else Enclosure.exactly(F(0))
    return {1: kept, 0: 1 - kept}


def geometric_tail(least: int) -> Enclosure:
    """P(Z >= least) for discrete Laplace noise of scale 1; least >= 1."""
    return exp_neg(F(least)) / (1 + exp_neg(F(1)))


def rappor_law(data: known.Data, ones: Fraction, zeros: Fraction) -> Mapping[tuple[int, int], Fraction]:
    """How many of bits 0 to 3, and of 4 to 7, are shown as 1; given those, and of the other bits, nothing is told.
    ones, zeros: the chance that a bit that is 1, or 0, is shown as 1."""
    first, second = (zeros, ones) if data[0] else (ones, zeros)
    return {
        (i, j): math.comb(4, i) * first**i * (1 - first) ** (4 - i) * math.comb(4, j) * second**j
        * (1 - second) ** (4 - j)
        for i in range(5) for j in range(5)
    }


# --- the rows --------------------------------------------------------------------------------------------------------

ONES5, ONES10 = [1.0] * 5, [1.0] * 10
UP, DOWN = [0.0] * 5 + [1.0] * 5, [1.0] * 5 + [0.0] * 5
EDGE = [2.0] * 5 + [0.0] * 5
CLAIM = dp.Pure(TENTH)
RAPPOR_BITS = F("0.5125"), F("0.4875")  # f/2 (p + q) + (1 - f) q, and p
ONE_TIME_BITS = F("0.525"), F("0.475")

KNOWN = (
    Known("Laplace", known.laplace, ([0], [1]), CLAIM, 0.1, False, (0.0968, 0.0976, 0.0998), attained=True),
    Known("histogram", known.histogram, ([0, 1, 1, 1, 1], ONES5), CLAIM, 0.1, False, (0.0978, 0.0977, 0.0994),
          attained=True),
    Known("histogram, scale eps", known.histogram_scaled_wrongly, ([0, 1, 1, 1, 1], ONES5), CLAIM, 10, True,
          (4.602, 4.602, 10.002)),
    Known("noisy max, Laplace", known.noisy_max, (ONES5, [0, 2, 2, 2, 2]), CLAIM, 0.0946, False,
          (0.0923, 0.0925, 0.0921), attained=True),
    Known("noisy max, exponential", known.noisy_max_exponential, (ONES5, [0, 2, 2, 2, 2]), CLAIM, 0.1, False,
          (0.0975, 0.0979, 0.0997), attained=True),
    Known("noisy max, value, Laplace", known.noisy_max_value, ([0] * 5, ONES5), CLAIM, 0.25, True,
          (0.2478, 0.2488, 0.1991), attained=True),  # all five below 0: .5**5
    Known("noisy max, value, exponential", known.noisy_max_exponential_value, (ONES5, [2.0] * 5), CLAIM, INF, True,
          (0.3463, 0.3534, 0.1988)),
    Known("SVT1", known.svt1, (UP, DOWN), CLAIM, 0.0878, False, (0.0858, 0.0858, 0.0298), attained=True),
    Known("SVT2", known.svt2, (UP, DOWN), CLAIM, 0.0875, False, (0.0859, 0.0852, 0.0407), attained=True),
    Known("SVT3", known.svt3, (ONES10, EDGE), CLAIM, INF, True, (0.1716, 0.1822, 0.1793)),
    Known("SVT4", known.svt4, (ONES10, EDGE), CLAIM, 0.1725, True, (0.1687, 0.1696, 0.1719), attained=True),
    Known("SVT5", known.svt5, (EDGE, ONES10), CLAIM, INF, True, (1.761, 1.761, 14.31)),
    Known("SVT6", known.svt6, (DOWN, UP), CLAIM, 0.4145, True, (0.2720, 0.2698, 0.3220)),
    Known("numerical SVT", known.numerical_svt, ([2.0] * 10, ONES10), CLAIM, 0.1, False, (0.0343, 0.0345, None),
          at_most=True),
    Known("prefix sums, sold as .1", known.prefix_sums, (ONES10, [0.0] * 10), CLAIM, 1, True, (0.5040, 0.5774, 0.3516)),
    Known("RAPPOR", known.rappor, ([1], [0]), dp.Pure("0.4001"), 8 * LN(41 / 39), False, (0.2930, 0.3008, 0.2416),
          law=lambda data: rappor_law(data, *RAPPOR_BITS)),
    Known("one-time RAPPOR", known.one_time_rappor, ([1], [0]), dp.Pure("0.8007"), 8 * LN(21 / 19), False,
          (0.5978, 0.5999, 0.4706), law=lambda data: rappor_law(data, *ONE_TIME_BITS)),
    Known("Laplace, 20 in parallel", known.parallel_laplace, ([1], [0]), CLAIM, 0.1, False, (0.0350, 0.0299, 0.0135)),
    Known("SVT3 and SVT4 in parallel", known.svt3_and_svt4, (ONES10, EDGE), CLAIM, INF, True, (0.2610, 0.2616, 0.1963)),
    Known("truncated geometric", known.truncated_geometric, ([2], [1]), CLAIM, LN(9 / 8), True,
          (0.1156, 0.1155, 0.1169), attained=True, law=truncated_geometric_law),
    Known("Laplace in floats", known.float_laplace, ([1], [0]), CLAIM, INF, True, (None, 0.2521, None),
          bits=True),
    Known("snapped Laplace", known.snapped_laplace, ([0], [1]), dp.Pure("0.1001"), 0.1, False, (None, 0.0979, None),
          attained=True),
    Known("mean, noisy sum and count", known.mean, ([0.0], [0.0, 1.0]), CLAIM, 0.1, False, at_most=True),
    Known("mean, all by the noisy count", known.mean_noise_by_noisy_count, ([0.0], [0.0, 1.0]), CLAIM, 0.1, False,
          at_most=True),
    Known("mean, exact count", known.mean_exact_count, ([0.0], [0.0, 1.0]), CLAIM, INF, True),
    Known("mean, noise by exact count", known.mean_noise_by_exact_count, ([0.0], [0.0, 1.0]), CLAIM, INF, True),
    Known("Gumbel, scale 2/eps", known.gumbel_max, ([0] * 10, [1] + [-1] * 9), CLAIM, LN(10 / (1 + 9 * E(-0.1))),
          False, law=lambda data: gumbel_law(data, TENTH / 2)),
    Known("Gumbel, scale 1/eps", known.gumbel_max_without_two, ([0] * 10, [1] + [-1] * 9), CLAIM,
          LN(10 / (1 + 9 * E(-0.2))), True, attained=True, law=lambda data: gumbel_law(data, TENTH)),
    Known("permute and flip, rho eps^2/8", known.permute_and_flip, ([0, 0], [1, -1]), dp.Zcdp(F(1, 8)), 0.2605, True,
          attained=True, law=permute_and_flip_law),
    Known("one-sided noise", known.one_sided, ([0], [1]), CLAIM, INF, True),
    Known("threshold >=, delta of >", known.threshold_kept, ([0], [1]), dp.Approximate(1, geometric_tail(6).hi), INF,
          True, law=threshold_law),
)
