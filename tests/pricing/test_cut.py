"""Which questions count the units that are cut, at which part of the price, and what that leaves of it."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest

from dpcurator.aggregates import AGGREGATES
from dpcurator.catalog.bind import catalog_of
from dpcurator.catalog.load import load
from dpcurator.errors import Refusal
from dpcurator.fronts.sql import parse
from dpcurator.mechanisms import DiscreteLaplace
from dpcurator.plan.bind import bind
from dpcurator.plan.canonical import as_json, plan_of
from dpcurator.pricing.held import cutless
from dpcurator.pricing.prices import PRICE_UNIT
from dpcurator.pricing.quote import Quote, price
from dpcurator.pricing.resolve import with_cut

BETA = Fraction(1, 20)
COUNT = "SELECT COUNT(*) FROM visits"
CITIES = "SELECT COUNT(*) FROM visits GROUP BY city"
LEDGERS: dict[str, Any] = {"pure": {"epsilon": 4}, "delta": {"epsilon": 4, "delta": "1e-6"},
                           "rho": {"rho": 1, "delta": "1e-6"}}


def world(ledger: str = "pure", *, unit: str = "who", curator: Any = None, city: Any = None, **caps: Any) -> Any:
    columns = {"who": "text", "city": {"type": "text", "keys": ["a", "b", "c"]} if city is None else city,
               "home": {"type": "text", "keys": ["x", "y"], "per_unit": 1} if unit == "who" else "text",
               "age": {"type": "integer", "bounds": [0, 110]}, "smoker": "boolean"}
    told = {"curator": {"protects": "people", "salt": "5" * 32, **(curator or {})}, "ledger": LEDGERS[ledger],
            "tables": {"visits": {"unit": unit, "columns": columns, **caps}}}
    return catalog_of(load(told))


def quoted(text: str, catalog: Any, amount: str = "1") -> Quote:
    return price(with_cut(bind(parse(text), catalog, AGGREGATES)), Fraction(amount), catalog)


def asks(text: str, catalog: Any) -> list[tuple[str, list[str]]]:
    return [(one.ask.what, [column.name for column in one.ask.clamped])
            for one in quoted(text, catalog).priced if one.ask.overall]


CUT, GROUPS, EVERYONE = ("cut", []), ("cut_groups", []), ("everyone", [])


@pytest.mark.parametrize(("text", "found"), [
    (COUNT, [CUT, EVERYONE]), (CITIES, [CUT, EVERYONE]),
    ("SELECT SUM(age), AVG(age), COUNT(age) FROM visits", [("cut", ["age"]), EVERYONE]),
    ("SELECT COUNT(age), COUNT(DISTINCT who) FROM visits", [CUT, EVERYONE]),
    ("SELECT SUM(smoker), SUM(CASE WHEN smoker THEN 1 ELSE 0 END) FROM visits", [CUT, EVERYONE]),  # no value is outside
    ("SELECT COUNT(DISTINCT who) FROM visits", []),  # each unit once: nothing can bind
    ("SELECT COUNT(DISTINCT who) FROM visits GROUP BY city", [GROUPS, EVERYONE]),
    ("SELECT COUNT(DISTINCT who) FROM visits GROUP BY home", []),  # in one of them, by declaration
    ("SELECT COUNT(*) FROM visits WHERE age > 200", [CUT, EVERYONE]),
])
def test_it_is_counted_where_something_can_bind(text, found):
    assert asks(text, world(max_total=2)) == found


def test_it_is_not_where_no_unit_can_be_in_more_groups_or_rows():
    assert asks("SELECT COUNT(DISTINCT who) FROM visits GROUP BY city", world(max_rows=5, max_groups=3)) == []
    assert asks("SELECT COUNT(DISTINCT who) FROM visits GROUP BY city", world(max_rows=5, max_groups=2)) != []
    rows = world(unit="each row")
    assert asks(CITIES, rows) == []
    assert asks("SELECT AVG(age) FROM visits", rows) == [("cut", ["age"]), EVERYONE]


def test_a_public_number_of_units_is_not_counted():
    known = world(unit="each row", curator={"neighbours": "replace-one", "units": 50})
    assert asks("SELECT SUM(age) FROM visits", known) == [("cut", ["age"])]
    assert asks("SELECT SUM(age) FROM visits WHERE smoker", known) == [("cut", ["age"]), EVERYONE]


@pytest.mark.parametrize("ledger", LEDGERS)
@pytest.mark.parametrize("caps", [{"max_total": 1}, {"max_total": 30}, {"max_rows": 4, "max_groups": 2},
                                  {"max_rows": 7, "max_groups": 3, "max_total": 10}])
@pytest.mark.parametrize("text", [COUNT, CITIES, "SELECT COUNT(*), SUM(age), AVG(age) FROM visits GROUP BY city, home"])
def test_all_of_it_costs_the_price_and_no_more(ledger, caps, text):
    quote = quoted(text, world(ledger, **caps))
    assert quote.cost == quote.price.amount
    cut = [one for one in quote.priced if one.ask.overall]
    parts = {one.epsilon + one.rho for one in cut}
    assert len(parts) == 1
    assert 0 < sum(one.epsilon + one.rho for one in cut) <= quote.cost / 10
    assert all((one.reading.coordinates, one.reading.l1, one.reading.linf, one.reading.l2_squared) == (1, 1, 1, 1)
               for one in cut)


@pytest.mark.parametrize("ledger", LEDGERS)
@pytest.mark.parametrize("caps", [{"max_total": 30}, {"max_rows": 12, "max_groups": 3}, {"max_total": 500}])
@pytest.mark.parametrize("text", [COUNT, CITIES, "SELECT COUNT(*), SUM(age) FROM visits GROUP BY city, home"])
def test_its_bar_is_about_that_of_the_widest_count(ledger, caps, text):
    """Within a half and twice it, where the part of the price is below its limit of a tenth for both."""
    quote = quoted(text, world(ledger, **caps))
    count = quote.priced[0].error(BETA)
    assert quote.priced[0].ask.what == "rows"
    for one in quote.priced:
        if one.ask.overall:
            assert count / 2 < one.error(BETA) < 2 * count, (float(count), float(one.error(BETA)))


def test_under_narrow_caps_its_part_is_a_tenth_and_its_bar_wider():
    quote = quoted(COUNT, world(max_total=1))
    assert [one.epsilon for one in quote.priced] == [Fraction(9, 10), Fraction(1, 20), Fraction(1, 20)]
    assert [one.mechanism for one in quote.priced[1:]] == [DiscreteLaplace(Fraction(20))] * 2


@pytest.mark.parametrize("ledger", LEDGERS)
def test_without_it_the_rest_has_the_same_noise(ledger):
    """So that where the rest is stored already, it serves."""
    for text in (COUNT, CITIES, "SELECT AVG(age), COUNT(DISTINCT who) FROM visits GROUP BY city"):
        quote = quoted(text, world(ledger, max_total=3))
        rest = cutless(quote)
        assert rest.priced == tuple(one for one in quote.priced if not one.ask.overall)
        assert not rest.plan.cut
        assert rest.cost < quote.cost
        assert cutless(rest) is rest


@pytest.mark.parametrize("ledger", LEDGERS)
def test_what_is_charged_keeps_a_short_denominator_whatever_the_caps(ledger):
    """k follows from caps, which a question may name: were parts of 1/k charged as they are, each such charge would
    make the ledger's exact sum longer, until it could not be written any more."""
    for rows in (1_048_573, 1_048_571, 999_983):
        quote = quoted(COUNT, world(ledger, max_rows=rows, max_groups=1), "0.01")
        assert quote.cost == Fraction("0.01")
        for one in quote.priced:
            assert (one.epsilon / PRICE_UNIT).denominator == (one.rho / PRICE_UNIT).denominator == 1
        assert cutless(quote).priced == quote.priced[:1]


def test_a_price_of_which_a_part_is_nothing_is_refused():
    with pytest.raises(Refusal, match="too small to be shared"):
        quoted(COUNT, world(max_rows=10**6), str(PRICE_UNIT))
    text = str(PRICE_UNIT * 3)
    assert price(bind(parse(COUNT), world(max_rows=10**6), AGGREGATES), Fraction(text), world()).cost == Fraction(text)


def test_a_gaussian_count_keeps_its_own_law_beside_laplace_noise():
    """In a ledger of epsilon and delta: what the cut costs adds to what the count does, by basic composition."""
    quote = quoted(COUNT, world("delta", max_total=30), "2")
    kinds = [type(one.mechanism).__name__ for one in quote.priced]
    assert kinds[1:] == ["DiscreteLaplace"] * 2
    plain = price(replace(quote.plan, cut=False), quote.cost - sum(one.epsilon for one in quote.priced[1:]),
                  quote.catalog)
    assert kinds[0] == type(plain.priced[0].mechanism).__name__


def test_plans_without_it_are_spelled_as_before_and_with_it_are_read_back():
    plan = bind(parse(CITIES), world(max_total=2), AGGREGATES)
    assert "cut" not in as_json(plan)
    assert as_json(with_cut(plan))["cut"] is True
    assert plan_of(as_json(with_cut(plan))) == with_cut(plan)
    assert with_cut(with_cut(plan)) == with_cut(plan)


def test_a_plan_that_counts_a_cut_that_cannot_be_is_refused():
    catalog = world(unit="each row")
    plan = replace(bind(parse(COUNT), catalog, AGGREGATES), cut=True)
    with pytest.raises(Refusal, match="nothing of it can cut one"):
        price(plan, Fraction(1), catalog)


def test_with_unknown_keys_it_has_its_part_beside_their_selection():
    catalog = world("delta", city={"type": "text", "keys": "unknown"}, max_rows=10, max_groups=2)
    quote = quoted(CITIES, catalog)
    assert [one.ask.what for one in quote.priced] == ["rows", "cut", "everyone"]
    assert quote.cost == 1
    assert quote.selecting is not None
    assert asks("SELECT COUNT(DISTINCT who) FROM visits GROUP BY city", catalog) == [GROUPS, EVERYONE]


def test_the_quote_says_its_bar_and_its_price():
    quote = quoted(COUNT, world(max_total=5))
    assert "people that are over a cap: ±60, of all people ±60, for epsilon 0.1" in str(quote)
    assert quote.as_json()["cut"]["epsilon"] == "0.1"
    assert quoted(COUNT, world(unit="each row")).as_json()["cut"] is None
