"""H12: the keywords of a price are declared once, read once, and shown by name wherever they are taken."""

from __future__ import annotations

import inspect
from decimal import Decimal
from fractions import Fraction as F

import pytest
from questions import CATALOG, quoted

import dpcurator as dp
from dpcurator.errors import Refusal
from dpcurator.pricing.offers import Asking, BatchAsking, Offer, batch_offer_of, offer_of, unpriced
from dpcurator.pricing.prices import amount_of
from receipts import CATALOGS, curator

TENTH = amount_of(CATALOG, F(1, 10))


@pytest.mark.parametrize("tenth", [0.1, "0.1", "1/10", Decimal("0.1"), F(1, 10)])
def test_a_number_is_read_as_it_is_meant(tenth):
    assert offer_of(CATALOG, {"epsilon": tenth}) == Offer(TENTH, {}, None, None, F(95, 100))
    assert offer_of(CATALOG, {"within": {"n": tenth}, "assume_count": "20", "confidence": 0.9}) == Offer(
        None, {"n": F(1, 10)}, None, 20, F(9, 10)
    )
    batch = batch_offer_of(CATALOG, {"epsilon": tenth, "rho": None})
    assert (batch.price, batch.confidence) == (TENTH, F(95, 100))
    assert offer_of(CATALOG, {"spend": " 2.5 % "}).price == TENTH  # of 4
    assert offer_of(CATALOGS["approximate"], {"epsilon": tenth, "delta": "1e-9"}).price.delta == F(1, 10**9)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({}, "a quote needs a price"), ({"within": {}}, "a quote needs a price"),
        ({"epsilon": 1, "spend": "5%"}, "epsilon and spend are two prices"),
        ({"within": "n=5"}, "within names columns"), ({"within": {1: 5}}, "within names columns"),
        ({"within": {"n": 0}}, "the error of 'n'"),
        ({"epsilon": "x"}, "epsilon must be"), ({"spend": "5"}, "a share of the whole budget"),
        ({"epsilon": 1, "confidence": 1}, "confidence must be"), ({"epsilon": 1, "delta": 1}, "delta must be"),
        ({"epsilon": 1, "assume_count": 0}, "assume_count"), ({"epsilon": 1, "assume_count": "many"}, "assume_count"),
    ],
)
def test_what_is_no_offer_is_refused(given, words):
    with pytest.raises(Refusal, match=words):
        offer_of(CATALOG, given)


def test_a_batch_has_one_amount():
    for given in ({}, {"epsilon": 1, "rho": 1}, {"spend": None}):
        with pytest.raises(Refusal, match="a batch needs one price"):
            batch_offer_of(CATALOG, given)


def test_a_quote_is_the_plan_at_what_is_offered():
    quote = quoted("SELECT COUNT(*) AS n FROM visits", F(1, 10))
    assert offer_of(CATALOG, {"epsilon": 0.1}).quote(quote.plan, CATALOG) == quote
    assert unpriced({"delta": 1, "within": {}, "epsilon": None})
    assert not unpriced({"within": {"n": 5}})


METHODS = {"quote": Asking, "ask": Asking, "rehearse": Asking, "quote_batch": BatchAsking, "batch": BatchAsking,
           "rehearse_batch": BatchAsking}


@pytest.mark.parametrize("name", METHODS)
def test_each_method_shows_the_keywords_by_name_and_takes_no_other(name):
    shown = inspect.signature(getattr(dp.Curator, name)).parameters
    assert set(METHODS[name].__annotations__) <= set(shown)
    assert not [one for one in shown.values() if one.kind is inspect.Parameter.VAR_KEYWORD]
    assert all(shown[keyword].kind is inspect.Parameter.KEYWORD_ONLY for keyword in METHODS[name].__annotations__)
    assert not [one for one in shown.values() if "object" in str(one.annotation)]
    made, text = curator(CATALOGS["pure"]), "SELECT COUNT(*) AS n FROM visits"
    asked = [text] if "batch" in name else text
    with pytest.raises(TypeError, match="epsilom"):
        getattr(made, name)(asked, epsilom=1)
    assert made.ledger.life() == "new"
    if "batch" in name:
        with pytest.raises(TypeError, match="weights"):
            getattr(made, name)(asked, weights={"n": 5})
