"""All charges together, for information: a bound had all been fixed beforehand, below the sum, and no gate."""

from __future__ import annotations

import json
from dataclasses import replace
from fractions import Fraction as F

import pytest

from dpcurator.accounting.composition import compose
from dpcurator.curator.history import KINDS, USUAL, together
from dpcurator.errors import OverBudget, Refusal
from dpcurator.ledger.events import Kind, kind_of
from dpcurator.privacy.loss import Loss
from dpcurator.privacy.zcdp import epsilon_of
from dpcurator.receipts.loss import losses_of
from dpcurator.values import Request
from receipts import CATALOGS, curator

COUNTS = [f"SELECT COUNT(*) AS n FROM visits WHERE age > {n}" for n in range(30)]
D = F(1, 10**3)


def spend(made, count, *, epsilon, delta=F(0), parameters="{}"):
    """Charges of no question: their prices are all that is known."""
    for number in range(count):
        made.ledger.charge(Request("a", f"p{number}", "c", 1, parameters, F(epsilon), F(delta)), fresh=True)


def test_before_the_first_charge_there_is_nothing_to_put_together():
    for catalog in CATALOGS.values():
        assert curator(catalog).together() is None


def test_it_is_the_certified_bound_on_the_losses_of_every_charge():
    made = curator(CATALOGS["approximate"])
    losses = []
    for text in COUNTS:
        quote = made.quote(text, epsilon="0.1", delta=0)
        made.answer(quote)
        losses += losses_of(quote.parameters())
    batch = made.quote_batch(COUNTS, epsilon=2, delta="1e-6", as_one=True)
    made.batch(COUNTS, epsilon=2, delta="1e-6", as_one=True)
    losses += [loss for quote in batch.paid for loss in losses_of(quote.parameters())]
    found = made.together()
    bracket = compose(*losses).bracket(delta=D, accuracy="1e-3")
    assert found is not None
    assert bracket.lower <= found.epsilon <= bracket.upper * F(1002, 1000)
    assert found.epsilon < made.budget().spent / 2
    assert (found.delta, found.charges, found.adaptive) == (D, 31, False)


def test_a_charge_twice_counts_twice_and_a_free_repeat_not_at_all():
    made = curator(CATALOGS["approximate"])
    for _ in range(40):
        made.ask(COUNTS[0], epsilon="0.1", delta=0, fresh=True)
    many = made.together()
    made.ask(COUNTS[0], epsilon="0.1", delta=0)
    assert made.together() == many
    made.ask(COUNTS[0], epsilon="0.1", delta=0, fresh=True)
    more = made.together()
    assert more is not None
    assert many is not None
    assert (more.charges, more.epsilon > many.epsilon) == (41, True)


def test_it_never_passes_what_was_spent_and_few_charges_are_their_sum():
    made = curator(CATALOGS["pure"])
    made.ask(COUNTS[0], epsilon="1")
    made.ask(COUNTS[1], epsilon="0.5")
    found = made.together()
    assert found is not None
    assert (found.epsilon, found.delta, found.method) == (F(3, 2), USUAL, "sum")
    assert made.together(delta="1e-3").epsilon <= F(3, 2)


def test_what_it_says_is_no_gate():
    """By the bound there would be room; the ledger goes by the sum."""
    made = curator(CATALOGS["approximate"])
    spend(made, 400, epsilon="1/10")
    found = made.together()
    assert found is not None
    assert found.epsilon < 20
    assert made.budget().remaining == 0
    with pytest.raises(OverBudget):
        made.ask(COUNTS[0], epsilon="0.1")
    assert found.as_json()["gates"] is False
    assert "fixed beforehand" in found.as_json()["holds"]


def test_in_rho_it_is_what_the_sum_means_and_holds_for_whoever_adapts():
    made = curator(CATALOGS["rho"])
    made.ask(COUNTS[0], rho="0.5")
    made.ask(COUNTS[1], rho="0.25")
    found = made.together()
    assert found is not None
    assert (found.epsilon, found.adaptive, found.method) == (epsilon_of(F(3, 4), F(1, 10**6)), True, "zcdp")
    assert found.as_json()["holds"] == "always"
    assert made.together(delta="1e-3").epsilon < found.epsilon


@pytest.mark.parametrize(
    "parameters",
    ["{}", "no json", "[]", "3", '{"batch": []}', '{"mechanisms": [], "selection": null}', '{"batch": {"a": 1}}',
     '{"mechanisms": [{"mechanism": "x"}], "selection": null}', "[" * 4000],
    ids=range(9),
)
def test_of_a_charge_with_other_parameters_the_price_is_taken(parameters):
    made = curator(CATALOGS["approximate"])
    spend(made, 60, epsilon="1/10", delta="1/1000000", parameters=parameters)
    found = made.together()
    price = compose((Loss("approximate", {"epsilon": "1/10", "delta": "1e-6"}), 60))
    bracket = price.bracket(delta=D, accuracy="1e-3")
    assert found is not None
    assert bracket.lower <= found.epsilon <= bracket.upper * F(1002, 1000)


def test_delta_that_is_spent_by_itself_leaves_no_bound():
    made = curator(CATALOGS["approximate"])
    spend(made, 3, epsilon=1, delta="1/10000")
    assert made.together(delta="3e-4") is None
    assert made.together(delta="3.1e-4").epsilon <= 3
    for wrong in (0, 1, -1, "x", 2):
        with pytest.raises(Refusal):
            made.together(delta=wrong)


def test_many_kinds_are_rounded_up_to_few():
    """More kinds than are taken apart: above the bound of all of them, and not far."""
    made = curator(replace(CATALOGS["approximate"], epsilon=F(10**4)))
    prices = [F(1, 10) + F(n, 10**6) for n in range(KINDS + 100)]
    for price in prices:
        spend(made, 1, epsilon=price)
    found = made.together()
    exact = compose(*(Loss("pure", {"epsilon": price}) for price in prices[::30] for _ in range(30)))
    bracket = exact.bracket(delta=D, accuracy="1e-2")
    assert found is not None
    assert bracket.lower * F(99, 100) <= found.epsilon <= bracket.upper * F(11, 10)


def test_the_ledger_tallies_its_charges():
    made = curator(CATALOGS["pure"])
    spend(made, 3, epsilon="1/10")
    made.ask(COUNTS[0], epsilon=1)
    tally = made.ledger.tally()
    assert sum(tally.values()) == 4
    assert tally[Kind("{}", "1/10", "0/1")] == 3
    for wrong in ("{}", "[]", "x", "3"):
        with pytest.raises(ValueError):
            kind_of(wrong)


def test_it_is_json():
    made = curator(CATALOGS["approximate"])
    spend(made, 100, epsilon="1/10")
    found = together(made.ledger)
    assert found is not None
    assert set(json.loads(json.dumps(found.as_json()))) == {"epsilon", "delta", "charges", "method", "holds", "gates"}
