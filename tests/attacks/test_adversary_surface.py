"""Attacks on the surface: prices, unknown keys, batches, receipts and rehearsals, as one who wants a person's row."""

from __future__ import annotations

import json
from dataclasses import replace
from fractions import Fraction as F

import pytest
from receipts import CATALOGS, KEY, curator, json_of, signed

from dpcurator.errors import Refusal
from dpcurator.plan.canonical import digest, plan_of
from dpcurator.plan.nodes import Apply, Given, Output, Result
from dpcurator.pricing.prices import amount_of
from dpcurator.pricing.quote import price
from dpcurator.verification import verify

HUGE = " * ".join(["1e300"] * 20)


@pytest.mark.parametrize("name", ["pure", "unknown", "rho"])
@pytest.mark.parametrize("sign", ["", "-"])
def test_a_whole_number_of_any_length_is_shown(name, sign):
    """Whole numbers longer than Python spells (4,300 digits) made the answer fail after the charge, and closed."""
    made = curator(CATALOGS[name])
    text = f"SELECT city, CAST({sign}(COUNT(*) * {HUGE}) AS INTEGER) AS n FROM visits GROUP BY city"
    answer = made.ask(text, spend="60%")
    assert made.ledger.life() == "open"
    assert all(abs(n) < 10**1000 for _, n in answer.rows)
    assert json.loads(json.dumps(answer.core_json()))["rows"]
    assert str(answer)


@pytest.mark.parametrize(("told", "catalog"), [("rho", "pure"), ("pure", "rho"), ("rho", "approximate")])
def test_a_receipt_in_another_currency_than_the_catalogs_does_not_hold(told, catalog):
    """What is charged in rho costs a ledger in epsilon nothing."""
    receipt = json_of(curator(CATALOGS[told]).ask("SELECT COUNT(*) FROM visits", spend="10%").receipt)
    lies = signed(receipt | {"catalog_sha256": CATALOGS[catalog].digest})
    assert verify(lies, public_key=KEY.public).holds
    assert not verify(lies, catalog=CATALOGS[catalog], public_key=KEY.public).holds


def test_a_receipt_with_a_delta_under_a_catalog_without_one_does_not_hold():
    made = curator(CATALOGS["approximate"])
    asked = "SELECT " + ", ".join(f"COUNT(*) FILTER (WHERE age > {n})" for n in range(60)) + " FROM visits"
    receipt = json_of(made.ask(asked, epsilon="0.1", delta="1e-4").receipt)
    assert receipt["delta"] != "0"
    assert verify(receipt, catalog=made.catalog).holds
    assert not verify(receipt, catalog=replace(made.catalog, delta=F(0))).holds


BEYOND = Output("x", Result(7), "number")
MIXED = Output("x", Apply("<", (Apply("NULLIF", (Result(0), Given(F(0)))), Given("a"))), "truth")


@pytest.mark.xfail(reason="the outputs of a quote built by hand are tried on readings of 0, or on no key", strict=True)
@pytest.mark.parametrize(("name", "output"), [("unknown", BEYOND), ("pure", MIXED)])
def test_a_quote_built_by_hand_cannot_fail_after_the_charge(name, output):
    made = curator(CATALOGS[name])
    grouped = "SELECT city, COUNT(*) FROM visits GROUP BY city" if name == "unknown" else "SELECT COUNT(*) FROM visits"
    plan = replace(made.plan(grouped), outputs=(output,))
    quote = price(plan, amount_of(made.catalog, made.catalog.budget * 3 / 4), made.catalog)
    with pytest.raises(Refusal):
        made.answer(quote)
    assert made.ledger.life() == "new"


@pytest.mark.xfail(reason="conditions and outputs are not checked again: no sensitivity rests on them", strict=True)
@pytest.mark.parametrize("lie", ["condition", "output"])
def test_a_receipt_of_a_plan_that_no_engine_runs_does_not_hold(lie):
    made = curator(CATALOGS["pure"])
    receipt = json_of(made.ask("SELECT COUNT(*) FROM visits WHERE age + 1 > 3", spend="10%").receipt)
    plan = receipt["plan"]
    if lie == "condition":
        plan["source"]["source"]["source"]["predicate"]["left"]["function"] = "nope"
    else:
        plan["outputs"][0]["part"] = {"node": "Result", "index": 7}
    lies = signed(receipt | {"plan_sha256": digest(plan_of(plan))})
    assert not verify(lies, catalog=made.catalog, public_key=KEY.public).holds
