"""A price in either currency: what it is worth, what delta goes with it, and what is refused."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction as F

import pytest
from hypothesis import given
from hypothesis import strategies as st
from power import tried
from questions import CATALOG

from dpcurator.errors import Refusal
from dpcurator.pricing.prices import PRICE_UNIT, Price, amount_of, epsilon_of, pure_epsilon, rho_of, share_of
from dpcurator.privacy import zcdp

PURE = CATALOG  # epsilon 4, delta 0
APPROXIMATE = replace(CATALOG, delta=F(1, 10**6))
RHO = replace(CATALOG, epsilon=F(0), rho=F(1, 2), delta=F(1, 10**8))


def test_delta_goes_along_in_the_same_share():
    assert amount_of(APPROXIMATE, F(1)) == Price("epsilon", F(1), F(1, 4 * 10**6))
    assert share_of(RHO, F(1, 20)) == Price("rho", F(1, 40), F(1, 20 * 10**8))
    assert amount_of(APPROXIMATE, F(400)).delta == APPROXIMATE.delta  # never more than the whole
    assert amount_of(APPROXIMATE, F(1), F(1, 10**7)).delta == F(1, 10**7)
    assert amount_of(APPROXIMATE, F(1), F(0)).delta == 0
    assert amount_of(PURE, F(1)).delta == 0


def test_shares_of_the_whole_add_up_to_the_whole_exactly():
    parts = [share_of(RHO, F(1, 10)) for _ in range(10)]
    assert sum(part.amount for part in parts) == RHO.rho
    assert sum(part.delta for part in parts) == RHO.delta


@given(st.fractions(min_value=F(1, 1000), max_value=F(20)))
@tried
def test_an_epsilon_in_a_rho_ledger_is_worth_at_most_itself(epsilon):
    """And nearly itself: a thousandth more of rho would be worth more than was asked."""
    price = epsilon_of(RHO, epsilon)
    assert price.currency == "rho"
    assert zcdp.delta_of(price.amount, epsilon) <= RHO.delta
    assert zcdp.delta_of(price.amount * F(1001, 1000), epsilon) > RHO.delta


def test_a_rho_in_an_epsilon_ledger_is_what_its_noise_costs_there():
    price = rho_of(APPROXIMATE, F(1, 100))
    assert price.currency == "epsilon"
    assert zcdp.delta_of(F(1, 100), price.amount) <= price.delta + PRICE_UNIT
    named = rho_of(APPROXIMATE, F(1, 100), F(1, 10**9))
    assert named.delta == F(1, 10**9)
    assert named.amount > price.amount
    assert rho_of(PURE, F(1, 50)).amount == F(1, 5)  # pure: epsilon**2 / 2 is that rho
    assert rho_of(RHO, F(1, 50)) == amount_of(RHO, F(1, 50))


@given(st.fractions(min_value=F(1, 10**30), max_value=10**6).filter(bool))
def test_a_pure_epsilon_of_a_rho_is_rounded_down(rho):
    epsilon = pure_epsilon(rho)
    assert epsilon**2 / 2 <= rho < (epsilon * (1 + F(1, 10**12))) ** 2 / 2


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: amount_of(PURE, F(0)), "epsilon must be above 0"),
        (lambda: amount_of(RHO, F(-1)), "rho must be above 0"),
        (lambda: amount_of(PURE, F(1), F(1, 10)), "no delta to spend"),
        (lambda: amount_of(APPROXIMATE, F(1), F(1)), "below 1"),
        (lambda: amount_of(APPROXIMATE, F(1), F(-1)), "at least 0"),
        (lambda: amount_of(RHO, F(1, 10**300)), "too small"),
        (lambda: share_of(PURE, F(2)), "at most 100%"),
    ],
)
def test_what_is_no_price_is_refused(make, words):
    with pytest.raises(Refusal, match=words) as refused:
        make()
    assert refused.value.what
