"""One paid reading: what is asked, how far a unit moves it, and the noise that its share of a price buys.

Checked in tests/pricing/test_quote.py and tests/receipts.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from dpcurator.mechanisms import DiscreteGaussian, DiscreteLaplace
from dpcurator.mechanisms.choice.top_counts import TopCounts
from dpcurator.mechanisms.choice.weighted_quantile import WeightedQuantile
from dpcurator.mechanisms.noise.weighted import WeightedSum
from dpcurator.numbers import decimal_text
from dpcurator.numbers.readable import readable
from dpcurator.numbers.roots import root_below, ten_to_figures
from dpcurator.plan.canonical import as_json
from dpcurator.plan.nodes import Ask
from dpcurator.plan.reading import Reading
from dpcurator.plan.stability import Steps
from dpcurator.pricing.noise import NAMES, OF_SELECTION, Mechanism, SelectionNoise


@dataclass(frozen=True, slots=True)
class Priced:
    """One paid reading: what is asked, how far a unit moves it and why, and the noise that buys.

    epsilon: its pure loss in an epsilon ledger, 0 for Gaussian noise. rho: its share of zCDP, 0 where it has none.
    mean: of a mean of releases at different prices, the noise of that; `mechanism` is that of one of them.
    """

    ask: Ask
    steps: Steps  # the grid of the ask's column; all zero for a count
    reading: Reading
    derivation: tuple[str, ...]
    mechanism: Mechanism
    epsilon: Fraction
    rho: Fraction = Fraction(0)
    mean: WeightedSum | None = None

    __repr__ = readable

    def error(self, beta: Fraction, *, added: int = 1) -> Fraction:
        """The noise passes this with probability at most beta, in the query's unit; the sum of so many draws does."""
        if self.mean is not None:
            return self.mean.times(added).error(beta) * self.reading.unit
        if added == 1:
            return self.mechanism.error(beta) * self.reading.unit
        from dpcurator.mechanisms.noise.sums import error_of_sum

        return error_of_sum(law_of(self), added, beta) * self.reading.unit


def mechanism_json(one: Priced) -> dict[str, Any]:
    """One paid reading, as the ledger's parameters and the receipt hold it."""
    noise = law_of(one)
    scale = (
        {"scale": str(noise.scale)} if isinstance(noise, DiscreteLaplace)
        else {"variance": str(noise.variance)} if isinstance(noise, DiscreteGaussian)
        else {"rate": str(noise.rate), "candidates": noise.candidates}
    )
    return {
        "ask": as_json(one.ask),
        "grid": {"lower": one.steps.lower, "upper": one.steps.upper, "exponent": one.steps.exponent},
        "mechanism": mechanism_name(one.mechanism),
        "epsilon": str(one.epsilon),
        "rho": str(one.rho),
        "coordinates": one.reading.coordinates,
        "linf": one.reading.linf,
        "l1": one.reading.l1,
        "l2_squared": one.reading.l2_squared,
        "unit": str(one.reading.unit),
    } | scale


def law_of(one: Priced) -> DiscreteLaplace | DiscreteGaussian | WeightedQuantile | TopCounts:
    """Its noise, or that of the selection that it is drawn with, which is of a number of units."""
    return one.mechanism.noise if isinstance(one.mechanism, SelectionNoise) else one.mechanism


def mechanism_name(mechanism: Mechanism) -> str:
    """As receipts have it: of a count that is drawn with the selection of keys, the name of that rule."""
    if not isinstance(mechanism, SelectionNoise):
        return NAMES[type(mechanism)]
    return next(rule for rule, noise in OF_SELECTION.items() if noise == NAMES[type(mechanism.noise)])


def reading_json(one: Priced, confidence: Fraction) -> dict[str, Any]:
    return mechanism_json(one) | {
        "sensitivity": decimal_text(one.reading.l1 * one.reading.unit),
        "noise_scale": decimal_text(typical(one)),
        "error": decimal_text(one.error(1 - confidence)),
        "derivation": list(one.derivation),
    }


def typical(one: Priced) -> Fraction:
    """The noise's scale in the query's unit, for people: Laplace's b, sigma to 18 figures, or of a choice the rows
    by which a candidate misses more for being e times less likely."""
    noise, unit = law_of(one), one.reading.unit
    unit = unit * one.mechanism.one if isinstance(one.mechanism, SelectionNoise) else unit
    if isinstance(noise, DiscreteLaplace):
        return noise.scale * unit
    if isinstance(noise, WeightedQuantile | TopCounts):
        return unit / noise.rate
    variance = noise.variance * unit**2
    return root_below(variance, ten_to_figures(variance, 18))
