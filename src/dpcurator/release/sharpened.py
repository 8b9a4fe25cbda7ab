"""Several releases of one question as one: the mean of their noisy numbers, with the error bar of that mean.

Definition  k releases of the same readings, each with noise of the same distribution, drawn independently: of each
            group the sum of the k noisy integers over k. All have one variance, so equal weights are those of inverse
            variance, and no other mean of them has less.
Promise     Post-processing: nothing is read, drawn or charged. The bar is that of the sum of k independent draws, over
            k (mechanisms/noise/sums.py), and what is made of the readings (averages, variances, expressions) has the
            interval that it has for any readings within their bars. In rho nothing is lost by paying in parts: k
            releases at rho each have the variance of one at k rho.
Refused     What is chosen (quantiles, names of the most frequent) has no noise to average; unknown groups are selected
            by each release anew.
Checked     tests/curator/test_sharpen.py.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from dpcurator.errors import Refusal
from dpcurator.mechanisms import DiscreteGaussian, DiscreteLaplace
from dpcurator.pricing.quote import Quote
from dpcurator.release.release import Noisy


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


def sharpened(quote: Quote, releases: Sequence[Sequence[tuple[int, ...]]]) -> tuple[Quote, Noisy]:
    """The question and the noisy numbers of the mean. releases: of each, the integers of the quote's readings in their
    order, but for those of its cut. How many units are cut is no part of it."""
    count, own = len(releases), [one for one in quote.priced if not one.ask.overall]
    sums = tuple(
        tuple(map(sum, zip(*(values[number] for values in releases), strict=True))) for number in range(len(own))
    )
    parts = tuple(replace(one, reading=replace(one.reading, unit=one.reading.unit / count)) for one in own)
    made = replace(quote, plan=replace(quote.plan, cut=False), priced=parts)
    return made, Noisy(quote.lowered.keys, sums, added=(count,) * len(quote.lowered.keys))
