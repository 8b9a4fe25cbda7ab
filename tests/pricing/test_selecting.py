"""Selecting unknown keys: the promise is within what is charged, under both relations and in both currencies.

And release: only kept keys are answered, in canonical order, whatever order the engine gave.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction as F
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from power import tried
from questions import VISITS, catalog_with, planned, with_column

from dpcurator.catalog.model import Catalog
from dpcurator.entropy import SystemEntropy
from dpcurator.errors import Refusal
from dpcurator.mechanisms.key_selection import selection_of
from dpcurator.plan.stability import selection_reach
from dpcurator.pricing.prices import amount_of
from dpcurator.pricing.quote import Quote, price
from dpcurator.pricing.selecting import selecting
from dpcurator.privacy import zcdp
from dpcurator.release.finish import finish
from dpcurator.release.release import release
from dpcurator.values import Exact

TABLE = with_column(with_column(VISITS, "note", unknown_keys=True), "city", keys=None, unknown_keys=True)
APPROXIMATE = replace(catalog_with(TABLE), delta=F(1, 10**5), salt="0" * 32)
RHO = replace(APPROXIMATE, epsilon=F(0), rho=F(1))
REPLACED = replace(APPROXIMATE, neighbours="replace-one", units=1000)
RHO_REPLACED = replace(RHO, neighbours="replace-one", units=1000)
ALL = [APPROXIMATE, RHO, REPLACED, RHO_REPLACED]
QUESTION = "SELECT city, COUNT(*) AS n, AVG(age) FROM visits GROUP BY city"


def quoted(catalog: Catalog, text: str = QUESTION, amount: F = F(1)) -> Quote:
    return price(planned(text, catalog), amount, catalog)


@given(
    st.sampled_from(ALL),
    st.fractions(min_value=F(1, 10**4), max_value=F(20)),
    st.fractions(min_value=F(1, 10**12), max_value=F(1, 10**2)),
)
@tried
def test_the_rules_promise_is_within_what_is_charged(catalog, amount, delta):
    quote = quoted(catalog)
    paid = {"epsilon": amount, "rho": F(0)} if catalog.currency == "epsilon" else {"epsilon": F(0), "rho": amount}
    found = selecting(quote.reach, **paid, delta=delta)
    promised = found.rule.promise if catalog.currency == "epsilon" else found.rule.rho_promise
    if catalog.neighbours == "replace-one":
        epsilon, twice = zcdp.selection_under_replacement(*found.rule.promise)
        promised = (epsilon, twice) if catalog.currency == "epsilon" else (epsilon**2 / 2, twice)
    assert promised[0] <= amount
    assert promised[1] <= delta
    assert found.rule.groups == selection_reach(quote.reach) == 2
    assert selection_of(found.as_json()["rule"]) == found.rule


@pytest.mark.parametrize("catalog", ALL)
def test_selection_and_readings_share_the_price(catalog):
    quote = quoted(catalog)
    assert quote.selecting is not None
    assert quote.cost == 1
    assert (quote.selecting.epsilon or quote.selecting.rho) == F(1, 4)  # three readings and the selection
    assert 0 < quote.delta <= amount_of(catalog, F(1)).delta
    assert quote.as_json()["keys"] is None
    assert [n for n, _ in quote.selecting.chances()] == [1, 2, 5, 10, 20, 50]
    chances = [chance for _, chance in quote.selecting.chances()]
    assert chances == sorted(chances)


def test_without_a_delta_unknown_keys_are_refused():
    with pytest.raises(Refusal, match="delta") as refused:
        price(planned(QUESTION, APPROXIMATE), amount_of(APPROXIMATE, F(1), F(0)), APPROXIMATE)
    assert "lists the keys" in refused.value.cure


def exact(quote: Quote, counts: dict[Any, int]) -> Exact:
    """What an engine gives for keys with so many units, one row each; values are all 0."""
    core = quote.lowered.core[-1]
    one = quote.reach.one
    rows = [[n * one for _ in core.sums] for n in counts.values()]
    return Exact(rows, [(key,) for key in counts])


@pytest.mark.parametrize("catalog", [APPROXIMATE, RHO])
def test_large_keys_are_kept_small_ones_are_not_and_the_engines_order_is_not_seen(catalog):
    """At epsilon or rho 4 with delta 1e-5, keys of 10**6 units are kept and of none lost, but for 2**-1000."""
    quote = quoted(catalog, amount=F(4) if catalog is APPROXIMATE else F(1))
    counts = {"b": 10**6, None: 10**6, "a": 10**6, "é": 10**6, "B": 10**6}
    rows = finish(quote, release(quote, exact(quote, counts), SystemEntropy()))
    assert [row[0].value for row in rows] == [None, "B", "a", "b", "é"]
    assert all(abs(row[1].value - 10**6) < 10**5 for row in rows)


def test_keys_of_one_unit_are_shown_with_chance_at_most_delta():
    """10,000 keys of one unit at delta 10**-15 for each unit: one is shown with a chance below 10**-10."""
    quote = price(planned(QUESTION, APPROXIMATE), amount_of(APPROXIMATE, F(1), F(1, 10**15)), APPROXIMATE)
    noisy = release(quote, exact(quote, {f"k{n}": 1 for n in range(10_000)}), SystemEntropy())
    assert noisy.keys == ()
    assert finish(quote, noisy) == ()


@pytest.mark.parametrize(
    "wrong",
    [
        lambda quote: Exact([[2**16] * 4], None),
        lambda quote: Exact([[2**16] * 3], [("a",)]),
        lambda quote: Exact([[2**16] * 4] * 2, [("a",), ("a",)]),
        lambda quote: Exact([[0] * 4], [("a",)]),
        lambda quote: Exact([[2**16 + 1] * 4], [("a",)]),
    ],
    ids=["no keys", "another shape", "a key twice", "a key of no unit", "half a unit"],
)
def test_an_engines_answer_of_another_shape_is_an_error(wrong):
    quote = quoted(APPROXIMATE)
    with pytest.raises(TypeError, match="shape"):
        release(quote, wrong(quote), SystemEntropy())


def test_a_question_for_keys_alone_pays_for_their_selection_alone():
    quote = quoted(APPROXIMATE, "SELECT city FROM visits GROUP BY city")
    assert quote.priced == ()
    assert not quote.free
    assert quote.cost == 1
    rows = finish(quote, release(quote, exact(quote, {"York": 10**6, "Hull": 10**6}), SystemEntropy()))
    assert [row[0].value for row in rows] == ["Hull", "York"]
