"""Every leaf of a receipt changed in turn: the signature catches each; and signed again, the recomputation does.

What no recomputation can catch, because it is consistent, is listed in `FREE`: who asked, when, and hashes of things
the receipt does not hold. The catalog, the ledger and the answer catch those; nothing tells of software versions.
"""

from __future__ import annotations

import json
from dataclasses import replace
from fractions import Fraction as F

import pytest
from questions import CATALOG, VISITS, catalog_with, with_column

from dpcurator.receipts.verification import verify
from receipts import CATALOGS, KEY, at, changed, curator, json_of, leaves, others, signed

QUESTIONS = (
    "SELECT city, COUNT(*) AS n, AVG(age) FROM visits WHERE age >= 18 AND NOT smoker GROUP BY city ORDER BY n LIMIT 3",
    "SELECT SUM(cost), COUNT(DISTINCT patient), SUM(cost) / COUNT(*) FROM visits",
    "SELECT g, SUM(x), COUNT(x) FROM rows WHERE x IN (1, 2, 3) GROUP BY g HAVING COUNT(*) > 2",
    "SELECT city, COUNT(DISTINCT patient) AS people, AVG(age) FROM visits GROUP BY city",
)
# Consistent when changed and signed again, as far as the receipt alone tells; beside each, what outside it tells.
FREE = {
    "request": "ledger", "analyst": "ledger", "time": "ledger", "protects": "catalog", "answer_sha256": "answer",
    "catalog_sha256": "catalog", "data_version": "ledger", "ledger": "ledger", "software": None,
}
# Parts of a plan that say what was asked, not how far a unit moves it: another value is another, sound, question. The
# plan's digest is changed with it here, so only the ledger, which holds the digest charged, tells.
QUESTION_PARTS = ("outputs", "having", "order", "limit", "offset", "predicate", "where", "columns", "table", "name",
"digest",
                  "unit", "index", "unit_index")


@pytest.fixture(scope="module")
def told():
    """(curator, answer) for each question, over one ledger."""
    made = curator()
    return made, [made.ask(question, epsilon=F(1, 3)) for question in QUESTIONS]


@pytest.fixture(scope="module", params=[name for name in CATALOGS if name != "pure"])
def elsewhere(request):
    """The same under a catalog of another relation, currency or kind of keys; prices at which Gaussian noise is had."""
    made = curator(CATALOGS[request.param])
    return made, [made.ask(question, spend="5%") for question in QUESTIONS]


def test_receipts_of_every_kind_hold_by_themselves_and_against_everything(elsewhere):
    made, answers = elsewhere
    for answer in answers:
        receipt = json_of(answer.receipt)
        outside = {"catalog": made.catalog, "ledger": made.ledger, "public_key": KEY.public,
                   "answer": answer.core_json()}
        assert wrong(receipt) == set()
        assert wrong(receipt, **outside) == set()
        assert "catalog" in wrong(receipt, catalog=replace(CATALOG, protects="dogs"))


def lies(answers, most=None, without=()):
    """(receipt, place, other value) for every place of the receipts and so many other values of it."""
    receipts = [json_of(answer.receipt) for answer in answers]
    return [(receipt, path, new) for receipt in receipts for path in leaves(receipt) if path[0] not in without
            for new in others(at(receipt, path))[:most]]


CONSISTENT = (*FREE, "plan", "signature", "public_key")


def test_every_claim_of_every_kind_changed_and_signed_again_is_caught(elsewhere, by_lot):
    for receipt, path, new in by_lot(lies(elsewhere[1], 3, CONSISTENT)):
        assert wrong(signed(changed(receipt, path, new))) - {"signature"}, (path, new)


def test_both_kinds_of_noise_are_among_them():
    kinds = set()
    for name, catalog in CATALOGS.items():
        quote = curator(catalog).quote(QUESTIONS[0], spend="5%")
        kinds |= {(name, one.mechanism.__class__.__name__) for one in quote.priced}
        kinds |= {(name, "selection")} if quote.selecting else set()
    assert {("pure", "DiscreteLaplace"), ("rho", "DiscreteGaussian"), ("unknown", "selection"),
            ("unknown, rho", "selection"), ("unknown, replaced", "selection")} <= kinds


def wrong(receipt, **outside):
    """The names of the steps that do not hold."""
    found = verify(receipt, **outside)
    assert json.dumps(found.as_json())
    assert found.holds == (not [step for step in found.steps if not step.holds])
    assert ("does NOT hold" in str(found)) != found.holds
    return {step.name for step in found.steps if not step.holds}


def test_a_receipt_holds_by_itself_and_against_everything(told):
    made, answers = told
    for answer in answers:
        receipt = json_of(answer.receipt)
        assert wrong(receipt) == set()
        outside = {"catalog": CATALOG, "ledger": made.ledger, "public_key": KEY.public, "answer": answer.core_json()}
        found = verify(receipt, **outside)
        assert found.holds
        own = ["cost", "batch"] if "ledger" in receipt else []  # what earlier charges paid has none of its own
        names = ["form", "signature", "plan", "sensitivity", "noise", *own, "choice", "catalog", "answer", "ledger"]
        names.append("readings")
        assert [step.name for step in found.steps] == names


def test_every_changed_leaf_is_caught_by_the_signature(told, by_lot):
    for receipt, path, new in by_lot(lies(told[1], 2)):
        assert wrong(changed(receipt, path, new)) & {"form", "signature"}, path


def test_every_field_left_out_or_added_is_caught(told):
    receipt = json_of(told[1][0].receipt)
    for name in receipt:
        assert "form" in wrong({key: value for key, value in receipt.items() if key != name})
    assert "form" in wrong(receipt | {"more": 1})
    for claim in range(len(receipt["readings"])):
        for name in receipt["readings"][claim]:
            made = json_of(receipt)
            del made["readings"][claim][name]
            assert wrong(signed(made))


def test_every_claim_changed_and_signed_again_is_caught_by_deriving_it_again(told, by_lot):
    for receipt, path, new in by_lot(lies(told[1], None, CONSISTENT)):
        assert wrong(signed(changed(receipt, path, new))) - {"signature"}, (path, new)


def test_a_plan_changed_with_its_digest_is_caught_where_sensitivity_rests_on_it(told, by_lot):
    """Bounds, caps, counts of keys, kinds, calls: the readings then are not those claimed."""
    from dpcurator.plan.canonical import digest, plan_of

    caught = tried = 0
    for receipt, path, new in by_lot([lie for lie in lies(told[1]) if lie[1][0] == "plan"]):
        made = changed(receipt, path, new)
        try:
            made["plan_sha256"] = digest(plan_of(made["plan"]))
        except Exception:  # no plan at all
            assert "plan" in wrong(signed(made))
            continue
        found = wrong(signed(made))
        caught, tried = caught + bool(found), tried + 1
        reach = receipt["reach"]  # of one key, and of rows that are units, caps bound nothing
        idle = reach["one"] == 1 and path[-1].startswith("max_") if isinstance(path[-1], str) else False
        idle = idle or (path[-1] == "max_groups" and reach["keys"] == 1)
        assert found or idle or any(part in QUESTION_PARTS for part in path), (path, new)
        assert wrong(signed(made), catalog=CATALOG, ledger=told[0].ledger), (path, new)
    assert caught > tried / 6


@pytest.mark.parametrize("name", sorted(FREE))
def test_what_is_consistent_by_itself_is_caught_from_outside(told, name):
    made, answers = told
    receipt = json_of(answers[0].receipt)
    outside = {"catalog": CATALOG, "ledger": made.ledger, "answer": answers[0].core_json()}
    for path in leaves(receipt[name]) if isinstance(receipt[name], dict) else [()]:
        for new in others(at(receipt, (name, *path))):
            lie = signed(changed(receipt, (name, *path), new))
            assert wrong(lie) in (set(), {"signature"}, {"form"}, {"batch"})  # malformed, or less spent than it cost
            assert wrong(lie, **outside), (name, path, new)


@pytest.mark.parametrize(
    ("changes", "step"),
    [
        ({"l1": 1}, "sensitivity"), ({"linf": 1}, "sensitivity"), ({"l2_squared": 1}, "sensitivity"),
        ({"coordinates": 1}, "sensitivity"),
        ({"unit": "1/131072"}, "sensitivity"), ({"derivation": []}, "sensitivity"), ({"scale": "1"}, "noise"),
        ({"scale": "0"}, "noise"), ({"scale": "-1"}, "noise"), ({"scale": "1e999999999"}, "noise"),
        ({"epsilon": "1/1000"}, "noise"),
        ({"epsilon": "9"}, "cost"), ({"mechanism": "none"}, "noise"), ({"mechanism": "discrete_gaussian"}, "noise"),
        ({"grid": {"lower": 0, "upper": 1, "exponent": 0}}, "sensitivity"),
        ({"grid": {"lower": 0, "upper": 0}}, "sensitivity"),
        ({"grid": {"lower": 0, "upper": 0, "exponent": 10**9}}, "sensitivity"),
        ({"ask": {"node": "Ask"}}, "sensitivity"),
    ],
)
def test_the_failing_step_is_named(told, changes, step):
    receipt = json_of(told[1][0].receipt)
    receipt["readings"][0] |= changes
    assert step in wrong(signed(receipt))


def test_other_lies_are_named(told):
    _, answers = told
    receipt = json_of(answers[1].receipt)
    fewer = changed(receipt, ("readings",), receipt["readings"][:-1])
    assert {"sensitivity", "noise", "cost"} <= wrong(signed(fewer))
    assert "cost" in wrong(signed(receipt | {"epsilon": "1/1000"}))
    assert "cost" in wrong(signed(receipt | {"delta": "1/1000"}))
    assert "cost" in wrong(signed(receipt | {"confidence": "0.99"}))
    assert "sensitivity" in wrong(signed(receipt | {"neighbours": "replace-one"}))
    assert "signature" in wrong(receipt, public_key="00" * 32)
    assert "form" in wrong(receipt | {"format": "dpcurator receipt 1"})
    doubled = json_of(receipt)  # more noise than the price buys: consistent in its loss, but not what the plan gets
    doubled["readings"][0]["scale"] = str(F(doubled["readings"][0]["scale"]) * 2)
    mechanisms = [{k: v for k, v in one.items() if k != "derivation"} for one in doubled["readings"]]
    from dpcurator.receipts.receipt import sha

    named = ("price", "epsilon", "rho", "delta", "confidence", "selection")
    parameters = {name: doubled[name] for name in named} | {"mechanisms": mechanisms}
    assert wrong(signed(doubled | {"parameters_sha256": sha(parameters)})) == {"choice"}


@pytest.mark.parametrize(
    "facts",
    [("age", {"lower": F(-1)}), ("age", {"upper": F(111)}), ("city", {"keys": ("Hull", "Leeds")}),
    ("city", {"type": "date"}),
     ("city", {"keys": ("Hull", "Leeds", "Bath")}), ("age", {"type": "float"}), ("age", {"name": "years"})],
)
def test_a_catalog_that_declares_otherwise_is_told(told, facts):
    rows = next(table for table in CATALOG.tables if table.name == "rows")
    other = catalog_with(with_column(VISITS, facts[0], **facts[1]), rows)
    assert "catalog" in wrong(json_of(told[1][0].receipt), catalog=other)


def test_another_ledger_does_not_hold_the_charge(told):
    assert "ledger" in wrong(json_of(told[1][0].receipt), ledger=curator().ledger)


@pytest.mark.parametrize("value", [None, 5, "x", [], {}, {"format": "dpcurator receipt 2"}, [[]], float("nan")])
def test_what_is_no_receipt_is_said(value):
    assert wrong(value) == {"form"}


def test_a_hostile_receipt_raises_nothing(told):
    receipt = json_of(told[1][0].receipt)
    deep: object = []
    for _ in range(5_000):
        deep = [deep]
    for name in receipt:
        for new in (None, [], {}, "", 0, -1, 1e308, "9" * 10_000, deep, True, float("nan"), "\ud800", {"a": {}}):
            if new is not None or receipt[name] is not None:  # as it is
                assert wrong(receipt | {name: new})
    for name in receipt["readings"][0]:
        for new in (None, [], {}, "", "9" * 10_000, deep, float("nan"), "1e99999999", {"lower": "x"}, 10**5000):
            assert wrong(changed(receipt, ("readings", 0, name), new))
