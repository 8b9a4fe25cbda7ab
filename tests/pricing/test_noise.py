"""Which noise a reading gets: losses worked out again from the laws, the choice by error bar, and exact sums."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction as F
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from questions import CATALOG, planned, questions

from dpcurator.catalog.model import Catalog
from dpcurator.mechanisms import DiscreteGaussian, DiscreteLaplace
from dpcurator.plan.reading import Reading
from dpcurator.pricing.noise import Shares, Split, noise_for
from dpcurator.pricing.prices import amount_of
from dpcurator.pricing.quote import Quote, price
from dpcurator.privacy import zcdp

PURE = CATALOG
APPROXIMATE = replace(CATALOG, delta=F(1, 10**6))
RHO = replace(CATALOG, epsilon=F(0), rho=F(1, 2), delta=F(1, 10**8))
MANY = "SELECT day, city, ward, COUNT(*), AVG(age), SUM(cost), AVG(gain) FROM visits GROUP BY day, city, ward"


def lost(quote: Quote) -> bool:
    """Whether what is charged covers the losses, derived here from scales and sensitivities alone."""
    laplace = [(one, one.mechanism) for one in quote.priced if isinstance(one.mechanism, DiscreteLaplace)]
    gaussian = [(one, one.mechanism) for one in quote.priced if isinstance(one.mechanism, DiscreteGaussian)]
    pure = [F(max(1, one.reading.l1)) / noise.scale for one, noise in laplace]
    rho = sum((F(max(1, one.reading.l2_squared)) / (2 * noise.variance) for one, noise in gaussian), F(0))
    if quote.catalog.currency == "rho":
        return rho + sum(epsilon**2 / 2 for epsilon in pure) <= quote.rho and (quote.epsilon, quote.delta) == (0, 0)
    if not gaussian:
        return sum(pure) <= quote.epsilon and (quote.rho, quote.delta) == (0, 0)
    if zcdp.delta_of(rho, quote.epsilon) <= quote.delta:
        return not laplace and quote.rho == 0
    one, noise = gaussian[0]  # alone, by its own law
    own = noise.loss(one.reading.linf).delta(quote.epsilon).hi
    return len(quote.priced) == 1 == one.reading.coordinates and own <= quote.delta


@given(questions(), st.sampled_from([PURE, APPROXIMATE, RHO]), st.sampled_from([F(1, 1000), F(1, 7), F(3), F(50)]))
@settings(derandomize=True, deadline=None, max_examples=150)
def test_what_is_charged_covers_the_losses(text, catalog, amount):
    quote = price(planned(text, catalog), amount, catalog)
    assert lost(quote) or not quote.priced
    assert quote.cost <= amount
    assert quote.delta <= amount_of(catalog, amount).delta


@pytest.mark.parametrize("catalog", [APPROXIMATE, RHO])
def test_less_noise_than_quoted_would_lose_more_than_is_charged(catalog):
    """A control for the test above: a thousandth less noise in one reading is noticed."""
    quote = price(planned(MANY, catalog), F(1, 10), catalog)
    first = quote.priced[0]
    assert isinstance(first.mechanism, DiscreteGaussian)
    louder = replace(first, mechanism=DiscreteGaussian(first.mechanism.variance * F(999, 1000)))
    assert lost(quote)
    assert not lost(replace(quote, priced=(louder, *quote.priced[1:])))


def chosen(text: str, catalog: Catalog, amount: F = F(1, 10)) -> set[type]:
    return {type(one.mechanism) for one in price(planned(text, catalog), amount, catalog).priced}


def test_the_choice_is_by_error_bar():
    assert chosen("SELECT COUNT(*) FROM visits", APPROXIMATE) == {DiscreteLaplace}  # one number: Laplace is shorter
    assert chosen(MANY, APPROXIMATE) == {DiscreteGaussian}  # many readings: rho adds up more slowly
    assert chosen(MANY, PURE) == {DiscreteLaplace}
    assert chosen("SELECT COUNT(*) FROM visits", RHO) == {DiscreteGaussian}


def test_the_shorter_error_bar_wins_and_ties_go_by_name():
    reading = Reading(1, 1, 1, 1, F(1))
    split = Split(rho=F(1))
    both = noise_for(reading, Shares(F(1), F(1, 2)), split, alone=True)
    assert isinstance(both.mechanism, DiscreteGaussian)
    huge = noise_for(reading, Shares(F(200), F(20000)), split, alone=True)  # both bars are 0: the name decides
    assert huge.mechanism.error(F(1, 20)) == 0
    assert isinstance(huge.mechanism, DiscreteGaussian)


def test_one_number_is_priced_by_its_own_law_where_that_is_less():
    reading = Reading(1, 2**16, 2**16, 2**32, F(1))
    split = Split(epsilon=F(1), delta=F(1, 10**6))
    shares = Shares(None, zcdp.greatest_rho(F(1), F(1, 10**6)))
    alone, among = (noise_for(reading, shares, split, alone=alone) for alone in (True, False))
    assert isinstance(alone.mechanism, DiscreteGaussian)
    assert isinstance(among.mechanism, DiscreteGaussian)
    assert alone.mechanism.variance < among.mechanism.variance
    for shift in (1, 2**10, 2**15, 2**16):  # every shift up to the furthest
        assert alone.mechanism.loss(shift).delta(F(1)).hi <= F(1, 10**6)


def test_delta_grows_with_the_shift():
    """The argument for the scalar price: the furthest shift is the worst, also where the law is coarse."""
    for variance in (F(1, 4), F(1), F(9, 2)):
        for epsilon in (F(0), F(1), F(5)):
            deltas = [DiscreteGaussian(variance).loss(shift).delta(epsilon) for shift in range(6)]
            assert all(one.lo <= two.hi for one, two in pairwise(deltas))


def test_the_whole_price_is_shared_equally():
    quote = price(planned(MANY, RHO), F(1, 10), RHO)
    assert {one.rho for one in quote.priced} == {F(1, 60)}
    assert (quote.epsilon, quote.rho, quote.delta) == (0, F(1, 10), 0)
