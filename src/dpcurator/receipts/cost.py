"""What a receipt's question cost: the sum of its losses, and what plan and price alone come to.

Losses add up in epsilon and in rho; Gaussian readings in a ledger of epsilon and delta are converted by their rho, or a
single one by its own law. Checked in tests/receipts/test_verify.py.
"""

from __future__ import annotations

from fractions import Fraction

from dpcurator.ledger.keys import canonical
from dpcurator.mechanisms import DiscreteGaussian
from dpcurator.numbers import decimal_text
from dpcurator.plan.canonical import plan_of
from dpcurator.pricing.quote import mechanism_json, priced_at
from dpcurator.pricing.resolve import resolve
from dpcurator.privacy import zcdp
from dpcurator.receipts.plans import claims_of
from dpcurator.receipts.receipt import sha
from dpcurator.receipts.spelling import amount_of, price_of
from dpcurator.receipts.steps import require
from dpcurator.values import Json


def check_cost(receipt: Json) -> str:
    claims = [claim for _, claim in claims_of(receipt)]
    charged = {name: amount_of(receipt[name]) for name in ("epsilon", "rho", "delta")}
    selection = receipt["selection"] or {"epsilon": "0", "rho": "0", "delta": "0"}
    left = {name: charged[name] - amount_of(selection[name]) for name in charged}  # what the readings were charged
    sums = {name: sum((amount_of(claim[name]) for claim in claims), Fraction(0)) for name in ("epsilon", "rho")}
    gaussian = [claim for claim in claims if claim["mechanism"] == "discrete_gaussian"]
    if price_of(receipt).currency == "rho":
        right = left == {"epsilon": 0, "rho": sums["rho"], "delta": 0} and sums["epsilon"] == 0
    elif not gaussian:
        right = left == {"epsilon": sums["epsilon"], "rho": 0, "delta": 0}
    else:
        right = left["rho"] == 0 == sums["epsilon"] and len(gaussian) == len(claims) and _worth(claims, sums, left)
    require(right, "the cost is not the sum of the losses")
    mechanisms = [{k: v for k, v in claim.items() if k != "derivation"} for claim in receipt["readings"]]
    named = ("price", "epsilon", "rho", "delta", "confidence", "selection")
    require(sha({name: receipt[name] for name in named} | {"mechanisms": mechanisms}) == receipt["parameters_sha256"],
             "the parameters' digest is another")  # fmt: skip
    amounts = [f"{name} {decimal_text(amount)}" for name, amount in charged.items() if amount]
    return f"{', '.join(amounts)} in all"


def _worth(claims: list[Json], sums: dict[str, Fraction], left: dict[str, Fraction]) -> bool:
    """Whether Gaussian readings are (epsilon, delta)-DP together: by their rho, or one number by its own law."""
    if all(amount_of(claim["rho"]) for claim in claims):
        return zcdp.delta_of(sums["rho"], left["epsilon"]) <= left["delta"]
    claim = claims[0]
    loss = DiscreteGaussian(amount_of(claim["variance"])).loss(claim["linf"])
    return len(claims) == 1 and claim["coordinates"] == 1 and loss.delta(left["epsilon"]).hi <= left["delta"]


def check_choice(receipt: Json) -> str:
    """Grid, split and noise follow from plan and price alone (semantics 2.4, 5.1): none was picked from data."""
    claims = [{k: v for k, v in claim.items() if k != "derivation"} for claim in receipt["readings"]]
    plan = plan_of(receipt["plan"])
    found = priced_at(plan, resolve(plan), price_of(receipt))
    require(canonical([mechanism_json(one) for one in found.priced]) == canonical(claims),
             "the plan at this price gets another grid, split or noise")  # fmt: skip
    keys = None if found.selecting is None else found.selecting.as_json()
    require(canonical(keys) == canonical(receipt["selection"]), "the plan at this price selects keys otherwise")
    costs = [str(found.epsilon), str(found.rho), str(found.delta)]
    require(costs == [receipt[name] for name in ("epsilon", "rho", "delta")], "the plan costs another amount")
    require(0 < amount_of(receipt["confidence"]) < 1, "the confidence is out of range")
    return "grid, split and noise are those the plan gets at this price"
