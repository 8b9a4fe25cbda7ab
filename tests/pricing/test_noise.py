"""Which noise a reading gets: losses worked out again from the laws, the choice by error bar, and exact sums."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction as F
from itertools import pairwise

import pytest
from noises import covered
from questions import CATALOG, planned

from dpcurator.catalog.model import Catalog
from dpcurator.mechanisms import DiscreteGaussian, DiscreteLaplace
from dpcurator.plan.reading import Reading
from dpcurator.pricing.noise import Noise, Shares, Split, longest, noise_for, quick_longest
from dpcurator.pricing.quote import price
from dpcurator.privacy import zcdp

PURE = CATALOG
APPROXIMATE = replace(CATALOG, delta=F(1, 10**6))
RHO = replace(CATALOG, epsilon=F(0), rho=F(1, 2), delta=F(1, 10**8))
MANY = "SELECT day, city, ward, COUNT(*), AVG(age), SUM(cost), AVG(gain) FROM visits GROUP BY day, city, ward"


@pytest.mark.parametrize("catalog", [APPROXIMATE, RHO])
def test_less_noise_than_quoted_would_lose_more_than_is_charged(catalog):
    """A control for the test above: a thousandth less noise in one reading is noticed."""
    quote = price(planned(MANY, catalog), F(1, 10), catalog)
    first = quote.priced[0]
    assert isinstance(first.mechanism, DiscreteGaussian)
    louder = replace(first, mechanism=DiscreteGaussian(first.mechanism.variance * F(999, 1000)))
    assert covered(quote)
    assert not covered(replace(quote, priced=(louder, *quote.priced[1:])))


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


def test_formulas_tell_the_longest_bar_within_a_twentieth_or_do_not_tell():
    reading = Reading(1, 3, 3, 9, F(1, 4))
    for k in range(-6, 60, 3):
        size = F(3, 2) ** k
        for law in (DiscreteLaplace(size), DiscreteGaussian(size**2)):
            one = ([Noise(law, F(0), F(0))] * 2, [reading] * 2)
            for given in (one, (*one, (F(1, 3), F(7)))):
                about, found = quick_longest(*given), longest(*given)
                assert (about is None) == (size < 50)
                assert about is None or abs(about / float(found) - 1) < 1 / 20
    assert quick_longest([Noise(DiscreteGaussian(F(10) ** 700), F(0), F(0))], [reading]) is None
