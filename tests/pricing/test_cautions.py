"""What is said before a charge: comparisons with no key or beyond bounds, bars wider than groups, sizes of groups."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import pytest
from questions import CATALOG, VISITS, catalog_with, with_column

from dpcurator.aggregates import AGGREGATES
from dpcurator.curator.batching import batch_menu, quote_batch
from dpcurator.fronts.sql import parse
from dpcurator.plan.bind import bind
from dpcurator.pricing.bars import bars
from dpcurator.pricing.cautions import MOST
from dpcurator.pricing.menu import menu
from dpcurator.pricing.offers import batch_offer_of, offer_of
from dpcurator.pricing.quote import price

FEW = catalog_with(replace(VISITS, expected_units=300, max_total=1))
UNKNOWN = replace(catalog_with(replace(with_column(VISITS, "city", keys=None, unknown_keys=True), expected_units=300)),
                  delta=Fraction(1, 10**6), salt="0" * 32)


def quoted(text, catalog=CATALOG, epsilon="1"):
    return price(bind(parse(text), catalog, AGGREGATES), Fraction(epsilon), catalog)


@pytest.mark.parametrize(("where", "told"), [
    ("city = 'leeds'", "'leeds' is no key of city, so perhaps no row has it; did you mean 'Leeds'?"),
    ("'Lead' = city", "'Lead' is no key of city, so perhaps no row has it; did you mean 'Leeds'?"),
    ("city IN ('York', 'Paris')", "'Paris' is no key of city, so perhaps no row has it"),
    ("NOT (ward = 3 OR age > 3)", "3 is no key of ward, so perhaps no row has it"),
    ("age > 120", "age is compared with 120, and its bounds are 0 to 110"),
    ("-1 < age", "age is compared with -1, and its bounds are 0 to 110"),
    ("city = 'Leeds' AND ward IN (1, 2) AND age <= 110 AND cost >= 0 AND smoker", ""),
    ("city LIKE 'l%' AND UPPER(city) = 'LEEDS' AND note = 'x' AND city > 'M'", ""),
])
def test_d4_values_that_are_no_keys_and_numbers_beyond_bounds_are_named(where, told):
    for text in (f"SELECT COUNT(*) FROM visits WHERE {where}", f"SELECT COUNT_IF({where}) FROM visits"):
        quote = quoted(text)
        assert quote.cautions() == ((told,) if told else ())
        assert (f"caution: {told}" in str(quote)) == bool(told)
        assert quote.as_json()["cautions"] == list(quote.cautions())


def test_d7_a_bar_wider_than_an_average_group_is_told():
    wide = quoted("SELECT city, COUNT(*) AS n, AVG(age) FROM visits GROUP BY city", FEW, "0.02")
    mean, told = wide.cautions()
    assert " of AVG(age) is as wide as its bounds" in mean
    assert told.endswith("of n is wider than an average group: 300 people in 3 groups are 100 each")
    assert quoted("SELECT city, COUNT(*) AS n FROM visits GROUP BY city", FEW).cautions() == ()
    assert quoted("SELECT COUNT(*) AS n FROM visits", FEW, "0.01").cautions() == ()
    assert quoted("SELECT city, COUNT(*) AS n FROM visits GROUP BY city", CATALOG, "0.01").cautions() == ()


def test_one_number_of_rows_stands_behind_every_bar_of_an_average():
    """What the analyst assumes, else what the catalog says to expect, else 10,000: in a menu, of one question and of a
    batch, in a quote, its JSON and its cautions."""
    plan = bind(parse("SELECT city, AVG(age) AS a FROM visits GROUP BY city"), FEW, AGGREGATES)
    for asked, rows in ({}, 100), ({"assume_count": 5000}, 5000):
        quote = offer_of(FEW, {"epsilon": "0.2", **asked}).quote(plan, FEW)
        assert bars(quote)[0].rows == rows == quote.as_json()["error_bars"][0]["group_of"]
        assert f"in a group of {rows:,} rows" in str(quote)
        own, several = menu(plan, FEW, Fraction(4), rows=asked.get("assume_count")), batch_menu(
            [plan], FEW, Fraction(4), rows=asked.get("assume_count"))
        assert {bar.rows for one in (own, several) for offer in one.offers for bar in offer.bars} == {rows}
        assert own.offers[2].bars == bars(quote)
        batch = quote_batch([plan], batch_offer_of(FEW, {"epsilon": "0.2", **asked}), FEW)
        assert bars(batch.paid[0]) == bars(quote)
    assert bars(quoted("SELECT AVG(age) AS a FROM visits"))[0].rows == 10_000


def test_d4_a_question_of_no_group_at_all_is_free_and_says_why():
    quote = quoted("SELECT COUNT(*) FROM visits WHERE city = 'Lead' GROUP BY city")
    assert quote.free
    assert quote.cautions() == ("'Lead' is no key of city, so perhaps no row has it; did you mean 'Leeds'?",)
    assert "caution: 'Lead' is no key" in str(quote)


def test_d7_an_average_that_may_be_anything_between_its_bounds_is_told():
    (told,) = quoted("SELECT AVG(age) AS mean FROM visits GROUP BY city", FEW, "0.2").cautions()
    assert told.startswith("±")
    assert " in a group of 100 rows of mean is as wide as its bounds, 0 to 110: it would tell next to nothing" in told
    assert quoted("SELECT AVG(age) FROM visits GROUP BY city", FEW, "10").cautions() == ()
    assert quoted("SELECT AVG(age) FROM visits GROUP BY city", CATALOG, "0.2").cautions() == ()
    (told,) = quoted("SELECT AVG(age) FROM visits", CATALOG, "0.00001").cautions()
    assert " in a group of 10,000 rows of AVG(age) is as wide as its bounds" in told


@pytest.mark.parametrize("epsilon", ["0.01", "0.1", "1", "10"])
def test_d5_the_sizes_of_groups_that_are_shown_are_told(epsilon):
    quote = quoted("SELECT city, COUNT(*) AS n FROM visits GROUP BY city", UNKNOWN, epsilon)
    half, most = quote.selecting.sizes()
    chance = quote.selecting.rule.keep_chance
    for size, wanted in ((half, Fraction(1, 2)), (most, Fraction(95, 100))):
        assert chance(size).lo >= wanted > chance(size - 1).lo
    assert f"with probability 0.5 from {half:,} units on, and with 0.95 from {most:,}" in quote.selecting.told()[-1]
    assert quote.as_json()["selection"]["sizes"] == {"0.5": half, "0.95": most}
    assert bool(quote.cautions()) == (half > 300)


def test_of_very_many_values_that_are_no_keys_the_first_are_named():
    """Looking for the nearest key takes longer with every key, so it is not done for every value of a long list."""
    values = ", ".join(f"'no {n}'" for n in range(300))
    told = quoted(f"SELECT COUNT(*) FROM visits WHERE city IN ({values})").cautions()
    assert len(told) == MOST
    assert all("is no key of city" in one for one in told)
