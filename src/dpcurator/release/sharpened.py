"""Several releases of one question as one: the mean of their noisy numbers, with the error bar of that mean.

Definition  k releases of the same readings, drawn independently. Of noise of one distribution the mean is the sum of
            the k noisy integers of each group over k. Of releases at different prices it has weights of inverse
            variance, of which no mean has less: of variances V_j, 2^20 least V / V_j rounded down, over their sum.
            These are public: a price says how wide its noise is.
Promise     Post-processing: nothing is read, drawn or charged. The bar is that of the sum of k independent draws, over
            k (mechanisms/noise/sums.py), or of the weighted sum (mechanisms/noise/weighted.py), and what is made of the
            readings (averages, variances, expressions) has the interval that it has for any readings within their
            bars. In rho nothing is lost by paying in parts: releases at rho_1, rho_2, ... have the variance of one at
            their sum.
Refused     What is chosen (quantiles, names of the most frequent) has no noise to average; unknown groups are selected
            by each release anew.
Checked     tests/curator/test_sharpen.py.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction

from dpcurator.errors import Refusal
from dpcurator.mechanisms import DiscreteGaussian, DiscreteLaplace
from dpcurator.mechanisms.noise.weighted import WeightedSum
from dpcurator.pricing.priced import Priced
from dpcurator.pricing.quote import Quote
from dpcurator.release.release import Noisy

Release = Sequence[tuple[Priced, tuple[int, ...]]]


def check_sharpening(quote: Quote) -> None:
    """That a mean of several releases can be made of it. Raises Refusal."""
    if quote.free:
        raise Refusal("every value is public: there is no noise to make less.", cure="Leave out sharpen (--sharpen).")
    if quote.selecting is not None:
        raise Refusal(
            "each release selects its own groups where nobody listed them, so there is no mean of them.",
            cure="Ask once at a higher price; or list the keys in the catalog.",
        )
    if not all(isinstance(one.mechanism, DiscreteLaplace | DiscreteGaussian) for one in quote.priced):
        raise Refusal("what is chosen, as quantiles are, has no noise to average.", cure="Ask once at a higher price.")


def sharpened(quote: Quote, releases: Sequence[Release]) -> tuple[Quote, Noisy]:
    """The question and the noisy numbers of the mean. releases: of each, the quote's readings in their order, but for
    those of its cut, as they were paid, and their integers. How many units are cut is no part of it."""
    count, keys = len(releases), quote.lowered.keys
    each = list(zip(*releases, strict=True))  # of each reading, its releases
    alike = all(len({(one.mechanism, one.steps) for one, _ in some}) == 1 for some in each)
    made = [_equally(some) if alike else _by_variance(some) for some in each]
    found = replace(quote, plan=replace(quote.plan, cut=False), priced=tuple(one for one, _ in made))
    return found, Noisy(keys, tuple(values for _, values in made), added=(count if alike else 1,) * len(keys))


def _equally(releases: Sequence[tuple[Priced, tuple[int, ...]]]) -> tuple[Priced, tuple[int, ...]]:
    """The sum of the integers, and the reading whose unit is so much smaller."""
    one, count = releases[0][0], len(releases)
    unit = replace(one.reading, unit=one.reading.unit / count)
    return replace(one, reading=unit), tuple(map(sum, zip(*(values for _, values in releases), strict=True)))


def _by_variance(releases: Sequence[tuple[Priced, tuple[int, ...]]]) -> tuple[Priced, tuple[int, ...]]:
    """The mean with weights of inverse variance, as whole multiples of one unit."""
    variances = [_variance(one) for one, _ in releases]
    weights = [max(1, 2**20 * min(variances) // variance) for variance in variances]
    shares = [weight * one.reading.unit / sum(weights) for weight, (one, _) in zip(weights, releases, strict=True)]
    unit = Fraction(1, math.lcm(*(share.denominator for share in shares)))
    wholes = [int(share / unit) for share in shares]
    noises = tuple((one.mechanism, whole, 1) for whole, (one, _) in zip(wholes, releases, strict=True)
                   if isinstance(one.mechanism, DiscreteLaplace | DiscreteGaussian))
    values = tuple(sum(whole * value for whole, value in zip(wholes, own, strict=True))
                   for own in zip(*(values for _, values in releases), strict=True))
    first = releases[0][0]
    return replace(first, reading=replace(first.reading, unit=unit), mean=WeightedSum(noises)), values


def _variance(one: Priced) -> Fraction:
    """Of its noise in the query's unit; of discrete Laplace noise that of the continuous one, a little more."""
    noise = one.mechanism
    assert isinstance(noise, DiscreteLaplace | DiscreteGaussian)
    own = noise.variance if isinstance(noise, DiscreteGaussian) else 2 * noise.scale**2
    return own * one.reading.unit**2
