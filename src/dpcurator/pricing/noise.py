"""Which noise each paid reading gets at a price, and what all of it costs: parameters alone decide (semantics 5.1).

The price is split equally over a question's readings (and the selection of its keys, when nobody listed them): a
reading's error bar divided by its own range B is then the same for all, which makes the largest of these least. A price
with goals t_i has what equal shares give to all readings split among them so that error bar i divided by t_i is the
same for all: epsilon_i in proportion to l1_i / t_i, rho_i to l2_i**2 / t_i**2. Which goals make least what the analyst
sees is worked out before (`goals.py`); shares are exact, and the last takes what rounding down left over.

In an (epsilon, delta) ledger all readings get discrete Laplace noise, of scale l1/eps_i, whose loss is eps_i exactly,
with no delta; or, when the price has a delta, all get discrete Gaussian noise where that makes the largest error bar
shorter. Gaussian readings share one rho: rho_i = l2**2 / (2 variance) add up (zCDP composes), and the whole is worth
(epsilon, delta) by `zcdp.delta_of`; a single number alone is priced by its own distribution (Canonne, Kamath, Steinke
2020, theorem 7), where that is less. Its delta at a shift is the largest gain over events {Z >= m}, and P(Z >= m) -
e**eps P(Z >= m + d) grows with d, so the furthest shift is the worst.

In a (rho, delta) ledger each reading takes the noise with the shorter error bar at its share of rho: Gaussian, or
Laplace with eps**2 / 2 at most the share for its whole l1 vector (semantics 5.2).

A quantile is chosen by the exponential mechanism at its share, of epsilon or of rho, whichever the others have; or,
where the price is an epsilon without a delta, by permute-and-flip, which is never further off at the same epsilon
(mechanisms/choice/weighted_quantile.py). That has no bounded range, which is worth more in rho, and where a batch is
charged as one point of epsilon and delta. The names of the greatest are chosen by the exponential mechanism, too
(mechanisms/choice/top_counts.py).

Error bars are compared at 95 %, ties go by name. Checked in tests/pricing/test_noise.py.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache
from typing import Final

from dpcurator.errors import Refusal
from dpcurator.mechanisms import DiscreteGaussian, DiscreteLaplace
from dpcurator.mechanisms.choice.top_counts import TopCounts
from dpcurator.mechanisms.choice.weighted_quantile import FlippedQuantile, WeightedQuantile
from dpcurator.plan.reading import Reading
from dpcurator.pricing.prices import Price, pure_epsilon, whole_units
from dpcurator.privacy import zcdp


@dataclass(frozen=True, slots=True)
class SelectionNoise:
    """The noise of a threshold that selects keys, where the count that it selects by is released: one draw for both.

    noise: of that number of units. one: what a unit counts in the reading. Proof that the pair (selected or not, noisy
    number) is what the selection promises: mechanisms/key_selection/rule.py.

    The error is one for the keys that are shown. Let e be passed by |Z| with probability at most beta/2, T the
    threshold, n the true number and y = n + Z >= T what is shown. If n >= T then P(y >= T) >= 1/2, so that |Z| > e has
    probability at most beta, given that it is shown. If n < T, then Z > 0, and y <= T + e fails with probability
    P(Z > T + e - n | Z >= T - n) <= P(Z > e | Z >= 0) <= 2 P(Z > e) <= beta/2, as Z is log-concave and symmetric. So
    with probability 1 - beta, given that it is shown, n is within e of y, or else y <= T + e and n < T: an interval
    reaches from y + e down to y - e, and to the smallest group that may be shown where y <= T + e.
    """

    noise: DiscreteLaplace | DiscreteGaussian
    one: int

    def error(self, beta: Fraction) -> int:
        return self.one * self.noise.error(beta / 2)


Mechanism = DiscreteLaplace | DiscreteGaussian | SelectionNoise | WeightedQuantile | TopCounts
NAMES: Final[dict[type, str]] = {
    DiscreteGaussian: "discrete_gaussian", DiscreteLaplace: "discrete_laplace", WeightedQuantile: "exponential",
    TopCounts: "exponential", FlippedQuantile: "permute_and_flip",
}
OF_SELECTION: Final = {  # the names of the rules whose noise a count has, and of that noise
    "gaussian_threshold": "discrete_gaussian", "laplace_threshold": "discrete_laplace",
}
FAR: Final = 40  # an epsilon beyond which a law of its own is not searched: it is slow there, and Laplace is shorter
_BETA: Final = Fraction(5, 100)
_OF_LAPLACE: Final = 2.995732273553991  # ln(1 / beta)
_OF_GAUSS: Final = 1.959963984540054  # what a standard Gaussian passes, up or down, with probability beta


@dataclass(frozen=True, slots=True)
class Noise:
    """One reading's noise. epsilon: its pure loss, 0 for a Gaussian. rho: its share of a zCDP price, else 0."""

    mechanism: Mechanism
    epsilon: Fraction
    rho: Fraction


@dataclass(frozen=True, slots=True)
class Split:
    """What the noise of all readings costs together, and what is left for the selection of keys."""

    epsilon: Fraction = Fraction(0)
    rho: Fraction = Fraction(0)
    delta: Fraction = Fraction(0)
    selection_epsilon: Fraction = Fraction(0)
    selection_rho: Fraction = Fraction(0)
    selection_delta: Fraction = Fraction(0)


@dataclass(frozen=True, slots=True)
class Shares:
    """One reading's share: epsilon for Laplace noise, rho for Gaussian; None where that noise is not in question.
    pure: whether nothing but the epsilon will be asked of its loss."""

    epsilon: Fraction | None
    rho: Fraction | None
    pure: bool = False


def splits(
    price: Price, readings: Sequence[Reading], *, chosen: bool
) -> tuple[tuple[tuple[Shares, ...], Split], ...]:
    """Ways to share a price among these readings, which have noise of their own, and, when keys are chosen, their
    selection.

    readings: only their sensitivities are looked at, and only where the price has goals. Raises Refusal.
    """
    count = len(readings)
    parts = count + chosen
    if not parts:
        return ()
    share, delta = price.amount / parts, price.delta if chosen else Fraction(0)
    l1, l2_squared = (
        [(max(1, getattr(one, name)) * one.unit**power) / goal**power
         for one, goal in zip(readings, price.goals, strict=True)] if price.goals else [Fraction(1)] * count
        for name, power in (("l1", 1), ("l2_squared", 2))
    )
    if price.currency == "rho":
        whole = Split(rho=share * count, selection_rho=share * chosen, selection_delta=delta)
        return ((tuple(Shares(pure_epsilon(own), own) for own in _shared(share * count, l2_squared)), whole),)
    plain = Split(epsilon=share * count, selection_epsilon=share * chosen, selection_delta=delta)
    pure = not price.delta
    found = [(tuple(Shares(own, None, pure) for own in _shared(share * count, l1)), plain)]
    noise_delta = price.delta / 2 if chosen else price.delta
    if count and noise_delta:
        rho = zcdp.greatest_rho(share * count, noise_delta)
        if rho:
            own = tuple(Shares(None, one) for one in _shared(rho, l2_squared))
            found.append((own, replace(plain, delta=noise_delta, selection_delta=delta / 2)))
    return tuple(found)


def _shared(whole: Fraction, weights: Sequence[Fraction]) -> tuple[Fraction, ...]:
    """The whole in proportion to the weights; equally where they are equal. Raises Refusal where a part is nothing."""
    if len(set(weights)) < 2:
        return tuple(whole / len(weights) for _ in weights)
    total = sum(weights, Fraction(0))
    parts = [whole_units(whole * weight / total) for weight in weights[:-1]]
    parts.append(whole - sum(parts, Fraction(0)))
    if min(parts) <= 0:
        raise Refusal("the errors or weights are too far apart to share one price.", cure="Ask in two questions.")
    return tuple(parts)


@lru_cache(maxsize=256)  # the questions of a batch often have the same
def noise_for(
    reading: Reading, shares: Shares, split: Split, *, alone: bool, candidates: int = 0, top: int | None = None
) -> Noise:
    """The shorter of the noises in question for one reading. alone: the question's only reading, of one number.
    candidates: of a quantile, from how many it is chosen, and of names; top: how many are named.

    A column may be constant on its grid: then 0 is noised as if it could move by 1 (semantics 3).
    """
    if top is not None:
        of = {"candidates": candidates, "top": top, "sets": reading.coordinates}
        if shares.rho is not None:
            named = TopCounts.spending_rho(shares.rho, squared=reading.l2_squared, **of)
            return Noise(named, Fraction(0), shares.rho)
        assert shares.epsilon is not None
        return Noise(TopCounts.spending(shares.epsilon, ranges=reading.l1, **of), shares.epsilon, Fraction(0))
    if candidates and shares.rho is not None:
        chosen = WeightedQuantile.spending_rho(shares.rho, squared=reading.l2_squared, candidates=candidates)
        return Noise(chosen, Fraction(0), shares.rho)
    if candidates and shares.epsilon is not None:
        kind = FlippedQuantile if shares.pure else WeightedQuantile
        chosen = kind.spending(shares.epsilon, moves=reading.l1, candidates=candidates)
        return Noise(chosen, shares.epsilon, Fraction(0))
    found: list[Noise] = []
    if shares.epsilon is not None:
        rho = shares.rho or Fraction(0)
        epsilon = Fraction(0) if shares.rho is not None else shares.epsilon
        found.append(Noise(DiscreteLaplace.spending(shares.epsilon, sensitivity=max(1, reading.l1)), epsilon, rho))
    if shares.rho is not None:
        gaussian = DiscreteGaussian.spending_rho(shares.rho, l2_squared=max(1, reading.l2_squared))
        found.append(Noise(gaussian, Fraction(0), shares.rho))
        if alone and shares.epsilon is None and 0 < split.epsilon <= FAR:
            exact = _by_its_own_law(split.epsilon, split.delta, max(1, reading.linf))
            found.append(Noise(exact, Fraction(0), Fraction(0)))
    if len(found) == 1:
        return found[0]
    return min(found, key=lambda one: (one.mechanism.error(_BETA), NAMES[type(one.mechanism)]))


@lru_cache(maxsize=256)  # a search
def _by_its_own_law(epsilon: Fraction, delta: Fraction, sensitivity: int) -> DiscreteGaussian:
    return DiscreteGaussian.spending(epsilon, delta, sensitivity=sensitivity)


def quick_longest(noises: Sequence[Noise], readings: Sequence[Reading], goals: Sequence[Fraction] = ()) -> float | None:
    """`longest` by formulas, within a twentieth of it on either side; None where these do not hold, of small noise.

    Of scale b >= 50 the error is b ln(1 / beta) to within 2, as ln(2 / (1 + p)) < 1 / b; of variance v >= 2500 it is
    the continuous one to within 1: each within a fiftieth."""
    found = 0.0
    try:
        for at, (noise, reading) in enumerate(zip(noises, readings, strict=True)):
            one = noise.mechanism
            if isinstance(one, DiscreteLaplace) and one.scale >= 50:
                error = float(one.scale) * _OF_LAPLACE
            elif isinstance(one, DiscreteGaussian) and one.variance >= 2500:
                error = math.sqrt(one.variance) * _OF_GAUSS
            else:
                return None
            found = max(found, error / float(goals[at] / reading.unit if goals else max(1, reading.linf)))
    except ArithmeticError:  # beyond what doubles hold
        return None
    return found


def longest(noises: Sequence[Noise], readings: Sequence[Reading], goals: Sequence[Fraction] = ()) -> Fraction:
    """The largest error bar divided by its goal, or where there is none by its reading's own range."""
    sizes = [goal / one.unit for one, goal in zip(readings, goals, strict=True)] if goals else [
        Fraction(max(1, one.linf)) for one in readings
    ]
    return max((noise.mechanism.error(_BETA) / size for noise, size in zip(noises, sizes, strict=True)),
               default=Fraction(0))
