"""How a price is shared: the largest bar beside its column's size is least, and what is found is shared exactly."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction as F
from itertools import product

import pytest
from noises import covered
from questions import CATALOG, VISITS, catalog_with, planned

from dpcurator.errors import Refusal
from dpcurator.mechanisms import DiscreteGaussian, DiscreteLaplace
from dpcurator.plan.relation_facts import rows_known
from dpcurator.pricing.bars import bars
from dpcurator.pricing.goals import best_shared, goals_of
from dpcurator.pricing.menu import least_amount, price_for
from dpcurator.pricing.offers import offer_of
from dpcurator.pricing.prices import amount_of
from dpcurator.pricing.quote import price

RHO = replace(CATALOG, epsilon=F(0), rho=F(1, 2), delta=F(1, 10**8))
APPROXIMATE = replace(CATALOG, delta=F(1, 10**6))
CATALOGS = {"pure": CATALOG, "approximate": APPROXIMATE, "rho": RHO}
MIXED = "SELECT COUNT(*) AS n, AVG(age) AS a, COUNT(DISTINCT patient) AS u, SUM(cost) - SUM(gain) AS s FROM visits"


@pytest.mark.parametrize("catalog", CATALOGS.values(), ids=CATALOGS)
def test_shares_are_exact_and_sum_to_the_price(catalog):
    offered = amount_of(catalog, F(1, 7))
    plan = planned(MIXED, catalog)
    for more in ({"rows": 500}, {"weights": {"u": F(3)}}, {"rows": 9, "weights": {"n": F(8)}}):
        quote = best_shared(plan, offered, catalog, **more)
        assert quote.price.goals, more
        assert all(isinstance(one.epsilon + one.rho, F) for one in quote.priced)
        assert quote.cost == offered.amount
        if catalog is RHO:
            assert sum(one.rho for one in quote.priced) == offered.amount
        elif isinstance(quote.priced[0].mechanism, DiscreteLaplace):
            assert sum(one.epsilon for one in quote.priced) == offered.amount
        assert len({one.epsilon + one.rho for one in quote.priced}) > 1
        assert covered(quote)
        assert quote == best_shared(plan, offered, catalog, **more)


def test_a_louder_reading_than_its_share_is_noticed():
    """A control for the test above."""
    quote = best_shared(planned(MIXED, RHO), amount_of(RHO, F(1, 7)), RHO, rows=500)
    first = quote.priced[0]
    assert isinstance(first.mechanism, DiscreteGaussian)
    louder = replace(first, mechanism=DiscreteGaussian(first.mechanism.variance * F(999, 1000)))
    assert not covered(replace(quote, priced=(louder, *quote.priced[1:])))


def largest(quote, sizes, rows) -> F:
    return max(bar.error / size for bar, size in zip(bars(quote, rows), sizes, strict=True))


@pytest.mark.parametrize("catalog", CATALOGS.values(), ids=CATALOGS)
def test_no_split_of_a_grid_has_a_smaller_largest_bar(catalog):
    """Counts beside the rows of a group, a sum beside its largest values, an average beside its range."""
    plan = planned("SELECT COUNT(*) AS n, COUNT(DISTINCT patient) AS u, SUM(cost) AS s FROM visits", catalog)
    offered, rows = amount_of(catalog, F(1, 2)), 10**5
    sizes = (F(rows), F(rows), F(rows) * 20000)
    found = largest(best_shared(plan, offered, catalog, rows=rows), sizes, rows)
    factors = product((F(1, 2), F(4, 5), 1, F(5, 4), 3), repeat=2)
    goals = [(F(rows) / a, F(rows) / b, F(rows) * 20000) for a, b in factors]
    least = min(largest(price(plan, replace(offered, goals=one), catalog), sizes, rows) for one in goals)
    assert found <= least * F(102, 100)
    assert found < F(95, 100) * largest(price(plan, offered, catalog), sizes, rows)


def test_without_a_size_or_a_weight_shares_are_equal_as_they_were():
    quote = best_shared(planned(MIXED), amount_of(CATALOG, F(1, 10)), CATALOG)
    assert quote == price(planned(MIXED), amount_of(CATALOG, F(1, 10)), CATALOG)
    assert quote.price.goals == ()
    assert "goals" not in quote.price.as_json()


def test_a_size_the_catalog_says_is_used_and_no_confidence_changes_the_split():
    sized = catalog_with(replace(VISITS, expected_units=3000))
    plan = planned("SELECT city, COUNT(*) AS n, COUNT(DISTINCT patient) AS s FROM visits GROUP BY city", sized)
    assert rows_known(plan, sized) == 1000
    assert rows_known(planned(MIXED), CATALOG) is None
    offered = amount_of(sized, F(1, 10))
    assert best_shared(plan, offered, sized).price.goals == goals_of(plan, offered, rows=1000) != ()
    one, other = (best_shared(plan, offered, sized, confidence=level) for level in (F(1, 2), F(999, 1000)))
    assert one.priced == other.priced


def test_a_weight_of_two_halves_a_bar_beside_the_others():
    plan = planned("SELECT COUNT(*) AS n, COUNT(age) AS k FROM visits")
    quote = best_shared(plan, amount_of(CATALOG, F(1, 10)), CATALOG, weights={"n": F(2)})
    n, k = (bar.error for bar in bars(quote))
    assert k / n == pytest.approx(2, rel=0.01)
    assert [one.epsilon for one in quote.priced] == [F(1, 15), F(1, 10) - F(1, 15)]


@pytest.mark.parametrize("catalog", CATALOGS.values(), ids=CATALOGS)
def test_several_targets_are_met_together_at_the_least_price(catalog):
    plan = planned("SELECT COUNT(*) AS n, AVG(age) AS mean FROM visits", catalog)
    targets = {"n": F(200), "mean": F(1)}
    quote = price_for(plan, catalog, targets, rows=2000)
    found = {bar.title: bar.error for bar in bars(quote, 2000)}
    assert all(F(96, 100) * most <= found[title] <= most for title, most in targets.items())  # nearly exactly
    equal = least_amount(
        lambda amount: max(bar.error / targets[bar.title] for bar in bars(price(plan, amount, catalog), 2000)),
        F(1), power=1,
    )
    assert quote.cost < F(97, 100) * equal


def test_the_least_amount_is_the_least_of_three_figures():
    for wanted in (F(1, 10**12), F(123, 10**5), F(999), F(1000), F(10**6) + 1):
        found = least_amount(lambda amount, wanted=wanted: wanted / amount, F(4), power=1)
        assert wanted <= found < wanted * F(101, 100)
    with pytest.raises(Refusal, match="no price reaches that error"):
        least_amount(lambda amount: F(3, 2) + 1 / amount, F(4), power=1)
    assert least_amount(lambda amount: F(0), F(4), power=2) == F(1, 10**12)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"epsilon": 1, "weights": {"n": 0}}, "the weight of 'n'"),
        ({"epsilon": 1, "weights": "n=2"}, "weights names columns"),
        ({"within": {"n": 50}, "weights": {"n": 2}}, "both say how the price is split"),
    ],
)
def test_weights_that_are_none_are_refused(given, said):
    with pytest.raises(Refusal, match=said) as refused:
        offer_of(CATALOG, given)
    assert refused.value.cure


def test_what_weights_cannot_do_is_refused():
    offer = offer_of(CATALOG, {"epsilon": 1, "weights": {"m": 2}})
    with pytest.raises(Refusal, match="--weight: there is no single column 'm'"):
        offer.quote(planned("SELECT COUNT(*) AS n, COUNT(age) AS k FROM visits"), CATALOG)
    with pytest.raises(Refusal, match="too far apart"):
        price(planned(MIXED), replace(amount_of(CATALOG, F(1)), goals=(F(10**90), *[F(1)] * 5)), CATALOG)


def test_bounds_beyond_what_doubles_hold_are_shared_equally():
    huge = replace(VISITS, columns=tuple(
        replace(one, upper=F(10) ** 307, lower=-(F(10) ** 307)) if one.name == "cost" else one for one in VISITS.columns
    ), max_rows=1)
    catalog = catalog_with(huge)
    plan = planned("SELECT SUM(cost) AS s, COUNT(*) AS n FROM visits", catalog)
    assert best_shared(plan, amount_of(catalog, F(1, 10)), catalog, rows=10).priced
    plan = planned("SELECT AVG(cost) AS a, SUM(age) AS s FROM visits", catalog)
    for weights in (None, {"s": F(10) ** 300}, {"a": F(10) ** 300}, {"a": F(1, 10**300)}):
        assert best_shared(plan, amount_of(catalog, F(1, 10)), catalog, rows=30, weights=weights).priced
