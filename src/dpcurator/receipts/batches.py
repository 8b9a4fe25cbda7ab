"""One question of a batch: the batch that its receipt names holds it, and what the batch was charged.

By itself a receipt holds its own losses to be true, and the point is certified for all that it lists. Whether all
receipts of a charge list the same is checked in charges.py, of them together or beside the ledger.
Checked in tests/curator/test_batching.py, tests/curator/test_batching_as_one.py and tests/attacks/test_batch_as_one.py.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Final

from dpcurator.numbers import decimal_text
from dpcurator.pricing.joint_guarantee import SLACK, point_of
from dpcurator.pricing.losses import PRICED, losses_of
from dpcurator.privacy.loss import Loss
from dpcurator.receipts.spelling import DIGEST, amount_of, price_of
from dpcurator.receipts.steps import require
from dpcurator.values import Json

MOST_LOSSES: Final = 5000  # of a batch: more do not fit in the parameters that a ledger takes
_AS_ONE: Final = {"point", "losses"}  # of a batch that was charged as one point


def check_batch(receipt: Json) -> str:
    """One of a batch: the batch it names holds this very plan and cost; and no less was spent by then."""
    batch = receipt["batch"]
    currency = ("epsilon", "rho").index(price_of(receipt).currency)
    spent, _ = (amount_of(receipt["ledger"][name]) for name in ("spent", "remaining"))
    if batch is None:
        require(spent >= amount_of(receipt[price_of(receipt).currency]), "it says that less was spent than it cost")
        return "asked by itself"
    require(set(batch) - _AS_ONE == {"index", "plans", "costs"} and type(batch["index"]) is int
             and len(_AS_ONE & set(batch)) != 1, "a batch has other parts")  # fmt: skip
    require(0 <= batch["index"] < len(batch["plans"]) == len(batch["costs"]), "it is not in its batch")
    costs = [receipt[name] for name in ("epsilon", "rho", "delta")]
    place, plans = batch["index"], batch["plans"]
    require(plans[place] == receipt["plan_sha256"] and batch["costs"][place] == costs, "it is not in its batch")
    require(all(len([amount_of(part) for part in one]) == 3 for one in batch["costs"]), "a cost is malformed")
    require(all(isinstance(plan, str) and DIGEST.fullmatch(plan) for plan in plans), "a plan is malformed")
    least = sum((amount_of(one[currency]) for one in batch["costs"]), Fraction(0))
    told = f"question {place + 1} of a batch of {len(batch['plans'])}, paid by one charge"
    if "point" in batch:
        apart, (least, delta) = least, _point(receipt)
        require(least < apart, "its batch cost less one by one")
        told += f" of epsilon {decimal_text(least)} and delta {decimal_text(delta)}, certified for all its losses"
    require(spent >= least, "it says that less was spent than its batch cost")
    return told


def _point(receipt: Json) -> tuple[Fraction, Fraction]:
    """The (epsilon, delta) that a batch was charged as one: certified again, of losses that hold this question's own.

    The losses of the others are those of their receipts, each of which is checked in this way; and of the charge.
    """
    batch, price = receipt["batch"], price_of(receipt)
    require(set(batch["point"]) == {"epsilon", "delta"} and price.currency == "epsilon", "its point has other parts")
    epsilon, delta = amount_of(batch["point"]["epsilon"]), amount_of(batch["point"]["delta"])
    require([str(epsilon), str(delta)] == [batch["point"][name] for name in ("epsilon", "delta")],
             "its point is spelled otherwise")  # fmt: skip
    told = [loss for one in batch["losses"] for loss in one]
    require(len(told) <= MOST_LOSSES and all(loss["family"] in PRICED for loss in told), "it has other losses")
    lost = [[Loss.from_json(loss) for loss in one] for one in batch["losses"]]
    require([[loss.as_json() for loss in one] for one in lost] == batch["losses"], "its losses are spelled otherwise")
    require(len(lost) == len(batch["plans"]), "its batch has losses of other questions")
    own = losses_of({"mechanisms": receipt["readings"], "selection": receipt["selection"]})
    require(lost[batch["index"]] == list(own), "its batch has other losses of this question")
    require(2 * len(lost) * price.delta == delta, "its price is of another delta")
    found = point_of([loss for one in lost for loss in one], delta)
    require(found is not None and found.epsilon <= epsilon, "all losses of its batch lose more than its point")
    require(found is not None and epsilon <= SLACK * found.epsilon, "its point is of more epsilon than its losses")
    return epsilon, delta
