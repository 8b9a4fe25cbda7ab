"""A price is split exactly, rounded down to its unit, and decided by the plan and nothing else."""

from __future__ import annotations

import json
import time
from fractions import Fraction as F

import pytest
from hypothesis import given
from hypothesis import strategies as st
from questions import CATALOG, VISITS, catalog_with, planned, quoted, with_column

from dpcurator.errors import Refusal
from dpcurator.pricing.at_price import priced_at
from dpcurator.pricing.prices import PRICE_UNIT, amount_of
from dpcurator.pricing.quote import price
from dpcurator.pricing.resolve import resolve


def charged(epsilon: F) -> F:
    return amount_of(CATALOG, epsilon).amount


prices = st.one_of(
    st.fractions(min_value=F(1, 10**6), max_value=10**6),
    st.builds(lambda n, d: F(n, d), st.integers(1, 10**40), st.integers(1, 10**60)).filter(lambda x: x > F(1, 10**20)),
    st.sampled_from([F(1, 10), F(1, 11), F(10) ** 300, F(1, 10**30)]),
)


@given(prices)
def test_a_price_is_rounded_down_to_its_unit_by_less_than_anyone_sees(epsilon):
    assert 0 <= epsilon - charged(epsilon) < PRICE_UNIT < F(1, 10**60)


@pytest.mark.parametrize("epsilon", ["0.1", "1/3", "1/11", "1/97", "0.123456789", "1e300", "1e-30", "4"])
def test_prices_as_people_write_them_are_charged_as_they_are(epsilon):
    assert charged(F(epsilon)) == F(epsilon)


def test_many_odd_prices_keep_a_sum_of_short_denominator():
    """Fractions over different primes, each charged exactly, would make the ledger's total grow without end."""
    primes = [n for n in range(101, 8000) if all(n % d for d in range(2, 90))]
    total = sum((charged(F(1, prime)) for prime in primes), F(0))
    assert len(str(total.denominator)) < 80
    assert len(str(charged(F(1, 10**500 + 7) + 1).denominator)) < 80


@pytest.mark.parametrize("epsilon", [F(0), F(-1), F(1, 10**300), F(1, 10**999)])
def test_a_price_of_nothing_is_refused(epsilon):
    with pytest.raises(Refusal, match="epsilon") as refused:
        price(planned("SELECT COUNT(*) FROM visits"), epsilon, CATALOG)
    assert refused.value.cure


@pytest.mark.parametrize(
    ("text", "asks"),
    [
        ("COUNT(*)", ["rows"]), ("AVG(age)", ["centred", "present"]), ("AVG(age), COUNT(age)", ["centred", "present"]),
        ("COUNT(age), AVG(age)", ["present", "centred"]), ("AVG(age), SUM(age), COUNT(*)", ["centred", "present",
        "values", "rows"]),
        ("COUNT(*), COUNT(*) * 2, COUNT(1)", ["rows"]), ("COUNT(DISTINCT patient)", ["units"]),
        ("AVG(age) + AVG(cost)", ["centred", "present", "centred", "present"]), ("SUM(age) / COUNT(age)", ["values",
        "present"]),
    ],
)
def test_the_same_reading_twice_is_paid_once(text, asks):
    assert [ask.what for ask in resolve(planned(f"SELECT {text} FROM visits")).asks] == asks


def test_a_call_in_having_or_order_by_is_paid_too():
    assert len(quoted("SELECT COUNT(*) FROM visits HAVING AVG(age) > 3 ORDER BY SUM(cost)").priced) == 4


@pytest.mark.parametrize(
    "text", ["SELECT SUM(age) FROM visits", "SELECT city, AVG(cost), SUM(age) FROM visits GROUP BY city"]
)
def test_what_is_public_costs_nothing(text):
    table = with_column(with_column(VISITS, "age", lower=F(0), upper=F(0)), "cost", lower=F(7), upper=F(7))
    quote = quoted(text, 1, catalog_with(table))
    assert quote.priced == ()
    assert quote.epsilon == 0
    assert quoted("SELECT SUM(cost) FROM visits", 1, catalog_with(table)).epsilon == 1  # 7 times a private count


def test_a_quote_depends_on_plan_and_price_alone():
    one, other = quoted("SELECT AVG(cost) FROM visits", "0.3"), quoted("SELECT AVG(cost) FROM visits", F(3, 10))
    assert one == other
    assert one.parameters() == other.parameters()
    assert one.price is not None
    assert priced_at(one.plan, resolve(one.plan), one.price).priced == one.priced


@pytest.mark.parametrize(
    ("bounds", "refused"), [((-(10**25), 10**25), False), ((F(-17) * 10**307, F(17) * 10**307), False)]
)
def test_wide_bounds_are_quoted_without_overflow(bounds, refused):
    catalog = catalog_with(with_column(VISITS, "cost", lower=F(bounds[0]), upper=F(bounds[1])))
    quote = quoted("SELECT SUM(cost), AVG(cost) FROM visits", F(1, 10**20), catalog)
    json.dumps(quote.as_json(), allow_nan=False)


def test_a_quote_takes_no_time():
    text = "SELECT city, COUNT(*), AVG(age), SUM(cost), AVG(gain) FROM visits WHERE age > 3 GROUP BY city"
    quoted(text)
    plan = planned(text)
    best = min(_timed(lambda: price(plan, F(1, 7), CATALOG)) for _ in range(5))
    assert best < 0.02


def _timed(work) -> float:
    started = time.perf_counter()
    work()
    return time.perf_counter() - started
