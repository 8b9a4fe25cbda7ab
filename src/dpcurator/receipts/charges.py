"""The charge of a receipt: the batch it was in, that receipts of one charge agree, and that the ledger holds it.

By itself a receipt holds its own losses to be true, and a batch's point is certified for all that it lists; whether all
receipts of a charge list the same is checked of them together, or beside the ledger. The ledger's chain of hashes is
read whole, so the charge and the answer at its place are those that were written then. Checked in
tests/receipts/test_verify.py, tests/curator/test_batching.py and tests/attacks/test_batch_as_one.py.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from hashlib import sha256
from typing import Any, Final

from dpcurator.ledger import Ledger
from dpcurator.ledger.events import Answered, Charged
from dpcurator.ledger.keys import canonical
from dpcurator.numbers import decimal_text
from dpcurator.plan.canonical import plan_of
from dpcurator.plan.facts import facts_of_batch
from dpcurator.plan.identity import rows_and_keys
from dpcurator.pricing.joint_guarantee import SLACK, point_of
from dpcurator.privacy.loss import Loss
from dpcurator.receipts.form import DIGEST, Parsed, Step, Wrong, amount_of, require, spelled
from dpcurator.receipts.loss import PRICED, losses_of
from dpcurator.receipts.receipt import batch_digest, sha
from dpcurator.receipts.stored import parts_of
from dpcurator.values import Json, read_json

MOST_LOSSES: Final = 5000  # of a batch: more do not fit in the parameters that a ledger takes
_AS_ONE: Final = {"point", "losses"}  # of a batch charged jointly, as one (epsilon, delta)


def check_batch(told: Parsed) -> str:
    """One of a batch: the batch it names holds this very plan and cost; and no less was spent by then."""
    receipt, spent = told.receipt, told.standing[0]
    batch, currency = receipt["batch"], ("epsilon", "rho").index(told.currency)
    if batch is None:
        require(spent >= told.costs[told.currency], "it says that less was spent than it cost")
        return "asked by itself"
    require("shared" not in receipt or "point" not in batch, "a question of a batch charged as one shares no reading")
    require(set(batch) - _AS_ONE - {"facts"} == {"index", "plans", "costs"} and type(batch["index"]) is int
             and len(_AS_ONE & set(batch)) != 1, "a batch has other parts")
    require(0 <= batch["index"] < len(batch["plans"]) == len(batch["costs"]), "it is not in its batch")
    costs = [receipt[name] for name in ("epsilon", "rho", "delta")]
    place, plans = batch["index"], batch["plans"]
    require(plans[place] == receipt["plan_sha256"] and batch["costs"][place] == costs, "it is not in its batch")
    require(all(len([amount_of(part) for part in one]) == 3 for one in batch["costs"]), "a cost is malformed")
    require(all(spelled(DIGEST, plan) for plan in plans), "a plan is malformed")
    if "facts" in batch:  # batches charged before are bound to the digest of the whole catalog
        held = len(batch["facts"]) == len(plans) and all(spelled(DIGEST, one) for one in batch["facts"])
        require(held and batch["facts"][place] == receipt["catalog_sha256"], "its batch rests on other facts")
    least = sum((amount_of(one[currency]) for one in batch["costs"]), Fraction(0))
    words = f"question {place + 1} of a batch of {len(batch['plans'])}, paid by one charge"
    if "point" in batch:
        apart, (least, delta) = least, _point(told)
        require(least < apart, "its batch cost less one by one")
        words += f" of epsilon {decimal_text(least)} and delta {decimal_text(delta)}, certified for all its losses"
    require(spent >= least, "it says that less was spent than its batch cost")
    return words


def _point(told: Parsed) -> tuple[Fraction, Fraction]:
    """The (epsilon, delta) that a batch was charged as one: certified again, of losses that hold this question's own.

    The losses of the others are those of their receipts, each of which is checked in this way; and of the charge.
    """
    batch, price = told.receipt["batch"], told.price
    require(set(batch["point"]) == {"epsilon", "delta"} and price.currency == "epsilon", "its point has other parts")
    epsilon, delta = amount_of(batch["point"]["epsilon"]), amount_of(batch["point"]["delta"])
    require([str(epsilon), str(delta)] == [batch["point"][name] for name in ("epsilon", "delta")],
             "its point is spelled otherwise")
    listed = [loss for one in batch["losses"] for loss in one]
    require(len(listed) <= MOST_LOSSES and all(loss["family"] in PRICED for loss in listed), "it has other losses")
    lost = [[Loss.from_json(loss) for loss in one] for one in batch["losses"]]
    require([[loss.as_json() for loss in one] for one in lost] == batch["losses"], "its losses are spelled otherwise")
    require(len(lost) == len(batch["plans"]), "its batch has losses of other questions")
    own = losses_of({"mechanisms": told.mechanisms, "selection": told.receipt["selection"]})
    require(lost[batch["index"]] == list(own), "its batch has other losses of this question")
    require(2 * len(lost) * price.delta == delta, "its price is of another delta")
    found = point_of([loss for one in lost for loss in one], delta)
    require(found is not None and found.epsilon <= epsilon, "all losses of its batch lose more than its point")
    require(found is not None and epsilon <= SLACK * found.epsilon, "its point is of more epsilon than its losses")
    return epsilon, delta


def one_charge(receipts: Sequence[Any]) -> Step:
    """Whether those that name one event of a ledger tell the same of it, and so list the same losses of their batch;
    and each of its questions has one receipt, so that no charge pays for two answers to one question.

    A receipt alone holds only its own losses to be true; each of a whole batch holds its own, and these are all.
    """
    said: dict[bytes, bytes] = {}
    each: dict[bytes, bytes] = {}
    try:
        for receipt in receipts:
            batch = {name: part for name, part in (receipt["batch"] or {}).items() if name != "index"}
            told = {name: receipt[name] for name in ("request", "analyst", "time", "ledger", "data_version")}
            event = canonical(receipt["ledger"]["head"])  # whichever of the curator's keys signed it
            if said.setdefault(event, canonical(told | {"batch": batch})) != canonical(told | {"batch": batch}):
                return Step("charges", False, "two receipts of one charge tell different things of it")
            question = event + canonical((receipt["batch"] or {}).get("index"))
            if each.setdefault(question, canonical(receipt)) != canonical(receipt):
                return Step("charges", False, "one charge has two receipts for one question: it paid for one answer")
    except (LookupError, TypeError, ValueError, AttributeError, RecursionError):
        return Step("charges", False, "a receipt is malformed")
    return Step("charges", True, "receipts of one charge tell the same of it")


def absent(receipts: Sequence[Any]) -> list[str]:
    """Of each batch that the receipts are of, which of its questions have none here, in words."""
    found: dict[str, tuple[int, set[int]]] = {}
    for receipt in receipts:
        try:
            batch, place = receipt["batch"], receipt["ledger"]["position"]
            if batch is not None:
                free = {n for n, cost in enumerate(batch["costs"], 1) if cost == ["0", "0", "0"]}
                found.setdefault(f"{place}", (len(batch["plans"]), free))[1].add(batch["index"] + 1)
        except (LookupError, TypeError, AttributeError):
            continue  # malformed: a step says so
    return [
        f"questions {', '.join(map(str, missing))} of the batch charged as event {place} (they are not in this file)"
        for place, (size, seen) in found.items() if (missing := sorted(set(range(1, size + 1)) - seen))
    ]


def check_ledger(told: Parsed, ledger: Ledger, answer: Json | None) -> str:
    receipt = told.receipt
    places = [one for one in (*told.shared[0], told.shared[1]) if one is not None]
    verdict = ledger.verify([(place["position"], place["head"]) for place in (*places, *_own_place(receipt))])
    require(verdict.sound, verdict.problem or "")
    for number, place in enumerate(told.shared[0]):
        _same_reading(receipt, number, place, ledger)
    _same_reading(receipt, None, told.shared[1], ledger)
    if not told.charged:
        return f"the chain of {verdict.position} events is whole and holds the charges that paid what it shares"
    position = receipt["ledger"]["position"]
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
    facts = receipt["catalog_sha256"] if batch is None or "facts" not in batch else facts_of_batch(batch["facts"])
    claims = (receipt["analyst"], plan, facts, receipt["data_version"])
    held = (charged.analyst, charged.plan, charged.catalog, charged.data_version)
    require(claims == held, "the ledger holds another question under this request")
    prices = [str(charged.epsilon), str(charged.rho), str(charged.delta)]
    require(prices == costs, "the ledger charged another price")
    require(receipt["parameters_sha256"] == parameters, "the ledger holds other parameters under this request")
    spent = charged.spent_rho if told.currency == "rho" else charged.spent_epsilon
    standing = (str(spent), str(ledger.budget().total - spent), time)
    said = (receipt["ledger"]["spent"], receipt["ledger"]["remaining"], receipt["time"])
    require(said == standing, "the ledger had spent another amount, or it was at another time")
    stored = ledger.stored_under(charged.request)  # whose hash is that of its event
    kept = {} if stored is None else read_json(stored.answer)
    kept = kept if batch is None else kept["batch"][batch["index"]]
    held_answer = answer is None or kept.get("answer") == answer
    require(kept.get("receipt") == receipt and held_answer, "the ledger holds another answer, or receipt of it")
    return f"the chain of {verdict.position} events is whole and holds this charge as event {position}"


def _same_reading(receipt: Json, number: int | None, place: Json | None, ledger: Ledger) -> None:
    """What is shared is what the receipt of the charge that paid it says: the same noise, of the same analyst and data.
    That it is of the same rows, keys and facts is worked out beside the catalog (readings.py)."""
    if place is None:
        return
    stored = ledger.stored_under(place["request"])
    require(stored is not None, "the ledger has no answer of a charge that paid what is shared")
    payer = parts_of(stored.answer)[place["part"]]["receipt"] if stored is not None else {}
    told = {name: payer["ledger"][name] for name in ("position", "head")}
    require(told == {name: place[name] for name in told}, "what is shared was paid by another charge")
    facts = ("analyst", "data_version", "protects", "neighbours", "reach")
    require([payer[name] for name in facts] == [receipt[name] for name in facts], "what is shared is of other data")
    named = number is not None and "top" in receipt["readings"][number]["ask"]  # among keys in the order asked for
    rows = [rows_and_keys(plan_of(one["plan"]), as_asked=named) for one in (receipt, payer)]
    require(rows[0] == rows[1], "what is shared is of other rows, keys or caps")
    keys = receipt["shared"]["keys"]
    if keys is not None and number is not None:  # the keys of the reading are those of its own selection
        own = {"request": place["request"], "part": place["part"]}
        own = payer["shared"]["keys"] or own if "shared" in payer else own
        require([own[name] for name in ("request", "part")] == [keys[name] for name in ("request", "part")],
                "a shared reading is of the keys of another selection")
    if number is None:
        require(payer["selection"] == receipt["selection"], "the keys that are shared were selected otherwise")
        return
    mine, its = receipt["readings"][number], payer["readings"][place["number"]]
    words = ("ask", "derivation")  # a question's own
    same = [{name: one[name] for name in one if name not in words} for one in (mine, its)]
    require(same[0] == same[1] and _unnamed(mine["ask"]) == _unnamed(its["ask"]), "a shared reading was another")


def _unnamed(ask: Json) -> Json:
    return {name: [*map(_nameless, part)] if name == "clamped" else _nameless(part) for name, part in ask.items()}


def _nameless(column: Any) -> Any:
    """A measured column without the name that a question gives to it."""
    return {name: column[name] for name in column if name != "name"} if isinstance(column, dict) else column


def _own_place(receipt: Json) -> list[Json]:
    return [receipt["ledger"]] if "ledger" in receipt else []


def _charged_for(receipt: Json, charged: Charged) -> tuple[str, list[str], str]:
    """The plan, the costs and the sha256 of this question's parameters that the ledger's charge should hold: those of
    the receipt, or for one of a batch those of the batch."""
    costs = [receipt[name] for name in ("epsilon", "rho", "delta")]
    batch = receipt["batch"]
    shared = read_json(charged.shared) if charged.shared else None
    if batch is None:
        require(receipt.get("shared") == shared, "the ledger says that it shares other readings")
        return receipt["plan_sha256"], costs, sha256(charged.parameters.encode()).hexdigest()
    index = batch["index"]
    require(len(batch["plans"]) == len(batch["costs"]) == len(set(batch["plans"])), "a batch has each plan once")
    free = [cost == ["0", "0", "0"] for cost in batch["costs"]]
    paid = [None] * len(free) if shared is None else shared["batch"]
    require(len(paid) == len(free) and all(one is not None for one, cost in zip(paid, free, strict=True) if cost),
            "the ledger says that other questions were paid before")
    require(paid[index] == receipt.get("shared"), "the ledger says that it shares other readings")
    totals = [str(sum(map(amount_of, column), Fraction(0))) for column in zip(*batch["costs"], strict=True)]
    held = read_json(charged.parameters)
    require(held.get("point") == batch.get("point"), "the ledger charged its batch in another way")
    if "point" in batch:
        totals = [batch["point"]["epsilon"], "0", batch["point"]["delta"]]
        lost = [[loss.as_json() for loss in losses_of(one)] for one in held["batch"]]
        each = [[one[name] for name in ("epsilon", "rho", "delta")] for one in held["batch"]]
        require(each == batch["costs"], "the questions of its batch cost otherwise, by the ledger")
        require(lost == batch["losses"], "the questions of its batch lose otherwise, by the ledger")
    return batch_digest(batch["plans"]), totals, sha(held["batch"][index])
