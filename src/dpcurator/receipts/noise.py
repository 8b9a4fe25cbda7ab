"""What the noise of a receipt loses at its sensitivity: no reading, and no rule for unknown keys, more than it says.

Discrete Laplace: P(z)/P(z + s) <= exp(l1/scale), so epsilon is l1/scale. Discrete Gaussian: rho is l2^2/(2 variance),
or its own law, which cost.py checks. Unknown keys: the rule's promise (mechanisms/key_selection).
Checked in tests/receipts/test_verify.py.
"""

from __future__ import annotations

from dpcurator.mechanisms.key_selection import selection_of
from dpcurator.numbers import decimal_text
from dpcurator.plan.canonical import plan_of
from dpcurator.plan.nodes import Plan
from dpcurator.plan.stability import selection_reach, stability
from dpcurator.pricing.selecting import words
from dpcurator.privacy import zcdp
from dpcurator.receipts.plans import claims_of
from dpcurator.receipts.spelling import amount_of, price_of
from dpcurator.receipts.steps import require
from dpcurator.values import Json


def check_noise(receipt: Json) -> str:
    told = [_loss(claim, price_of(receipt).currency) for _, claim in claims_of(receipt)]
    selection = receipt["selection"]
    if selection is not None:
        told.append(_selection(plan_of(receipt["plan"]), selection))
    return f"{'; '.join(told)}: from the exact laws"


def _loss(claim: Json, currency: str) -> str:
    """One reading's noise loses no more than it says."""
    epsilon, rho = amount_of(claim["epsilon"]), amount_of(claim["rho"])
    if claim["mechanism"] == "discrete_laplace":
        scale = amount_of(claim["scale"])
        require(scale > 0, "a noise scale is 0")
        # ln P(z)/P(z + s) = (|z + s| - |z|)/scale <= |s|/scale for each coordinate, so l1/scale for the vector
        lost = claim["l1"] / scale
        if currency == "epsilon":
            require(lost <= epsilon, f"noise of scale {claim['scale']} loses more than {claim['epsilon']}")
            return f"discrete Laplace, epsilon {decimal_text(epsilon)}"
        require(lost * lost / 2 <= rho, f"noise of scale {claim['scale']} loses more than rho {claim['rho']}")
        return f"discrete Laplace, rho {decimal_text(rho)}"
    require(claim["mechanism"] == "discrete_gaussian", "the mechanism is not one this version knows")
    variance = amount_of(claim["variance"])
    require(variance > 0, "a noise variance is 0")
    # at rho 0 it is alone, and priced by its own law: see the cost
    require(rho == 0 or claim["l2_squared"] / (2 * variance) <= rho, "Gaussian noise loses more than it says")
    return f"discrete Gaussian, rho {decimal_text(rho)}" if rho else "discrete Gaussian by its own law"


def _selection(plan: Plan, selection: Json) -> str:
    """The rule for unknown keys promises what it is charged for, under the plan's neighbours."""
    rule = selection_of(selection["rule"])
    reach = stability(plan.source)
    require(reach.chosen and rule.groups == selection_reach(reach), "keys are selected for another number of groups")
    epsilon, rho, delta = (amount_of(selection[name]) for name in ("epsilon", "rho", "delta"))
    if reach.neighbours == "replace-one":
        twice = zcdp.selection_under_replacement(*rule.promise)
        promised = twice if epsilon else (zcdp.pure_to_rho(twice[0]), twice[1])
    else:
        promised = rule.promise if epsilon else rule.rho_promise
    require(promised[0] <= (epsilon or rho) and promised[1] <= delta, "the selection of keys loses more than it says")
    return f"keys by {words(rule)}, delta {decimal_text(delta)}"
