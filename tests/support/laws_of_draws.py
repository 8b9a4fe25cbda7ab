"""Oracles for samplers: enumeration of their entropy, and the chi-square test where nothing exact is left."""

from __future__ import annotations

import heapq
import itertools
from collections import defaultdict
from collections.abc import Callable, Hashable, Mapping, Sequence
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpcurator.numbers import Enclosure, exp_neg

FALSE_ALARM = 1e-9


class Unwritten(Exception):
    """The choices ran out; the next one falls among outcomes of these weights."""

    def __init__(self, weights: Sequence[Fraction]) -> None:
        self.weights = weights
        super().__init__()


class Choices:
    """Entropy that replays given choices; a choice beyond them raises Unwritten."""

    releasable = False

    def __init__(self, made: tuple[int, ...]) -> None:
        self._rest = iter(made)

    def choose(self, weights: Sequence[Fraction]) -> int:
        """Which of the outcomes; the weights may be lower bounds, and sum to less than 1."""
        for choice in self._rest:
            return choice
        raise Unwritten(weights)

    def bits(self, k: int) -> int:
        return self.choose([Fraction(1, 2**k)] * 2**k)


def enumerate_law(
    draw: Callable[[Any], Hashable], *, unexplored: Fraction, most_runs: int = 30_000
) -> tuple[Mapping[Any, Fraction], Fraction]:
    """Run `draw` on every sequence of choices, heaviest first, until at most `unexplored` is not run to an end.

    Returns the mass found for each outcome (exact, or a lower bound where weights are), and the mass still unexplored.
    """
    found: dict[Any, Fraction] = defaultdict(Fraction)
    rest, order = Fraction(1), itertools.count()
    heap = [(-1.0, next(order), Fraction(1), ())]
    for _ in range(most_runs):
        if rest <= unexplored:
            return found, rest
        _, _, weight, made = heapq.heappop(heap)
        try:
            found[draw(Choices(made))] += weight
            rest -= weight
        except Unwritten as end:
            for choice, share in enumerate(end.weights):
                heapq.heappush(heap, (-float(weight * share), next(order), weight * share, (*made, choice)))
    raise AssertionError(f"{most_runs} runs left {float(rest)} unexplored")


def law_holds(found: Mapping[Any, Fraction], unexplored: Fraction, pmf: Callable[[Any], Enclosure]) -> bool:
    """Mass found <= pmf <= mass found + mass unexplored, for each outcome met."""
    return all(
        pmf(outcome).surely_at_least(mass) and pmf(outcome).surely_at_most(mass + unexplored)
        for outcome, mass in found.items()
    )


def chi_square_chance(observed: Sequence[int] | NDArray[Any], masses: Sequence[float]) -> float:
    """The chance of a worse fit than this one, if draws fall in the cells with these masses (which sum to 1)."""
    from flint import arb

    counts = np.asarray(observed, dtype=np.float64)
    expected = np.asarray(masses, dtype=np.float64) * counts.sum()
    assert abs(sum(masses) - 1) < 1e-9
    assert expected.min() >= 10
    statistic = float(((counts - expected) ** 2 / expected).sum())
    return float(arb(statistic / 2).gamma_upper(arb(len(counts) - 1) / 2, regularized=1))


def geometric_cells(scale: Fraction, edges: Sequence[int]) -> list[float]:
    """Masses of a geometric in [e0, e1), ..., [elast, infinity); e0 = 0."""
    above = [exp_neg(edge / scale).lo for edge in edges] + [Fraction(0)]
    return [float(high - low) for high, low in itertools.pairwise(above)]


def laplace_cells(scale: Fraction, edges: Sequence[int]) -> list[float]:
    """Masses of a discrete Laplace in (-inf, e0), [e0, e1), ..., [elast, inf)."""

    def at_least(k: int) -> Fraction:
        p = exp_neg(1 / scale, 192)
        half = (exp_neg(k / scale, 192) if k > 0 else exp_neg((1 - k) / scale, 192)) / (1 + p)
        return half.lo if k > 0 else (1 - half).lo

    above = [Fraction(1), *(at_least(edge) for edge in edges), Fraction(0)]
    return [float(high - low) for high, low in itertools.pairwise(above)]


def cell_counts(draws: NDArray[Any], edges: Sequence[int]) -> NDArray[np.int64]:
    """How many draws fall in (-inf, e0), [e0, e1), ..., [elast, inf)."""
    return np.bincount(
        np.searchsorted(np.array(edges, dtype=draws.dtype), draws, side="right"), minlength=len(edges) + 1
    )
