"""The charge of a receipt: that receipts of one charge tell the same of it, and that the ledger holds it.

The ledger's chain of hashes is read whole, so the charge and the answer at its place are those that were written then.
Checked in tests/receipts/test_verify.py, tests/curator/test_batching.py and tests/attacks/test_batch_as_one.py.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from fractions import Fraction
from hashlib import sha256
from typing import Any

from dpcurator.ledger import Ledger
from dpcurator.ledger.events import Answered, Charged
from dpcurator.ledger.keys import canonical
from dpcurator.pricing.losses import losses_of
from dpcurator.receipts.receipt import batch_digest, sha
from dpcurator.receipts.spelling import amount_of, price_of
from dpcurator.receipts.steps import Step, Wrong, require
from dpcurator.values import Json, Request


def one_charge(receipts: Sequence[Any]) -> Step:
    """Whether those that name one event of a ledger tell the same of it, and so list the same losses of their batch.

    A receipt alone holds only its own losses to be true; each of a whole batch holds its own, and these are all.
    """
    said: dict[bytes, bytes] = {}
    try:
        for receipt in receipts:
            batch = {name: part for name, part in (receipt["batch"] or {}).items() if name != "index"}
            told = {name: receipt[name] for name in ("request", "analyst", "time", "ledger", "data_version")}
            event = canonical([receipt["public_key"], receipt["ledger"]["head"]])
            if said.setdefault(event, canonical(told | {"batch": batch})) != canonical(told | {"batch": batch}):
                return Step("charges", False, "two receipts of one charge tell different things of it")
    except (LookupError, TypeError, ValueError, AttributeError, RecursionError):
        return Step("charges", False, "a receipt is malformed")
    return Step("charges", True, "receipts of one charge tell the same of it")


def check_ledger(receipt: Json, ledger: Ledger, answer: Json | None) -> str:
    position, head = receipt["ledger"]["position"], receipt["ledger"]["head"]
    verdict = ledger.verify([(position, head)])
    require(verdict.sound, verdict.problem or "")
    charged = answered = None
    time = ""
    for entry in ledger.events():
        event = entry.event
        if isinstance(event, Charged) and entry.position == position:
            charged, time = event, entry.time
        if isinstance(event, Answered) and event.request == receipt["request"]:
            answered = event
    if charged is None or answered is None:
        raise Wrong("the ledger has no such charge, or no answer to it")
    require(charged.request == receipt["request"], "the charge at this position is another request's")
    batch = receipt["batch"]
    plan, costs, parameters = _charged_for(receipt, charged)
    claims = (receipt["analyst"], plan, receipt["catalog_sha256"], receipt["data_version"])
    held = (charged.analyst, charged.plan, charged.catalog, charged.data_version)
    require(claims == held, "the ledger holds another question under this request")
    prices = [str(charged.epsilon), str(charged.rho), str(charged.delta)]
    require(prices == costs, "the ledger charged another price")
    require(receipt["parameters_sha256"] == parameters, "the ledger holds other parameters under this request")
    spent = charged.spent_rho if price_of(receipt).currency == "rho" else charged.spent_epsilon
    standing = (str(spent), str(ledger.budget().total - spent), time)
    said = (receipt["ledger"]["spent"], receipt["ledger"]["remaining"], receipt["time"])
    require(said == standing, "the ledger had spent another amount, or it was at another time")
    if answer is not None and batch is None:
        text = canonical({"answer": answer, "receipt": receipt})
        held_answer = sha256(text).hexdigest() == answered.answer
        require(held_answer, "the ledger holds another answer, or another receipt of it")
    else:  # the stored answer has its receipt beside it
        asked = (*held, charged.parameters, charged.epsilon, charged.delta, charged.request, charged.rho)
        stored = ledger.stored(Request(*asked))
        kept = {} if stored is None else json.loads(stored.answer)
        kept = kept if batch is None else kept["batch"][batch["index"]]
        held_answer = answer is None or kept.get("answer") == answer
        require(kept.get("receipt") == receipt and held_answer, "the ledger holds another answer, or receipt of it")
    return f"the chain of {verdict.position} events is whole and holds this charge as event {position}"


def _charged_for(receipt: Json, charged: Charged) -> tuple[str, list[str], str]:
    """The plan, the costs and the sha256 of this question's parameters that the ledger's charge should hold: those of
    the receipt, or for one of a batch those of the batch."""
    costs = [receipt[name] for name in ("epsilon", "rho", "delta")]
    batch = receipt["batch"]
    if batch is None:
        return receipt["plan_sha256"], costs, sha256(charged.parameters.encode()).hexdigest()
    index = batch["index"]
    require(len(batch["plans"]) == len(batch["costs"]) == len(set(batch["plans"])), "a batch has each plan once")
    totals = [str(sum(map(amount_of, column), Fraction(0))) for column in zip(*batch["costs"], strict=True)]
    held = json.loads(charged.parameters)
    require(held.get("point") == batch.get("point"), "the ledger charged its batch in another way")
    if "point" in batch:
        totals = [batch["point"]["epsilon"], "0", batch["point"]["delta"]]
        lost = [[loss.as_json() for loss in losses_of(one)] for one in held["batch"]]
        each = [[one[name] for name in ("epsilon", "rho", "delta")] for one in held["batch"]]
        require(each == batch["costs"], "the questions of its batch cost otherwise, by the ledger")
        require(lost == batch["losses"], "the questions of its batch lose otherwise, by the ledger")
    return batch_digest(batch["plans"]), totals, sha(held["batch"][index])
