"""What the noise of a receipt loses at its sensitivity, what that costs, and that plan and price alone chose it.

Definition  Discrete Laplace: P(z)/P(z + s) <= exp(l1/scale), so epsilon is l1/scale. Discrete Gaussian: rho is
            l2^2/(2 variance); in a ledger of epsilon and delta it is converted by its rho, or a single number by its
            own law. A quantile: 2 rate l1, or rho rate^2 l2^2/2 (mechanisms/choice/weighted_quantile.py). Names of the
            k greatest: k rate l1, or rho k rate^2 l2^2/8 (mechanisms/choice/top_counts.py). Unknown keys: the rule's
            promise (mechanisms/key_selection). Losses add up in epsilon and in rho.
Checked     tests/receipts/test_verify.py, tests/pricing/test_joint_guarantee.py.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any, Final

from dpcurator.ledger.keys import canonical
from dpcurator.mechanisms import DiscreteGaussian, DiscreteLaplace
from dpcurator.mechanisms.choice.top_counts import TopCounts
from dpcurator.mechanisms.choice.weighted_quantile import FlippedQuantile, WeightedQuantile
from dpcurator.mechanisms.key_selection import selection_of
from dpcurator.numbers import decimal_text
from dpcurator.plan.stability import selection_reach
from dpcurator.pricing.at_price import Found, priced_at
from dpcurator.pricing.held import BETA
from dpcurator.pricing.noise import OF_SELECTION, Mechanism, SelectionNoise
from dpcurator.pricing.priced import mechanism_json
from dpcurator.pricing.resolve import with_keys
from dpcurator.pricing.selecting import Selecting, words
from dpcurator.privacy import zcdp
from dpcurator.privacy.loss import Loss
from dpcurator.receipts.form import Parsed, Wrong, amount_of, require
from dpcurator.receipts.receipt import sha
from dpcurator.values import Json

_AMOUNTS: Final = ("epsilon", "rho", "delta")
PRICED: Final = (  # all there are
    "approximate", "bounded_range", "discrete_gaussian", "discrete_gaussian_vector", "discrete_laplace", "pure",
)
CHOICES: Final = {"exponential": "the exponential mechanism", "permute_and_flip": "permute-and-flip"}


def check_noise(told: Parsed) -> str:
    lost = [_loss(claim, told.currency) for _, claim in told.claims if claim["mechanism"] not in OF_SELECTION]
    lost += [_with_keys(told, claim) for _, claim in told.claims if claim["mechanism"] in OF_SELECTION]
    if told.receipt["selection"] is not None:
        lost.append(_selection(told))
    return f"{'; '.join(lost)}: from the exact laws"


def own(told: Parsed) -> tuple[list[Json], Json]:
    """The readings that this receipt's own charge paid, and its selection of keys, or one of no price."""
    readings, keys = told.shared
    paid = [claim for (_, claim), place in zip(told.claims, readings, strict=True) if place is None]
    nothing = {"epsilon": "0", "rho": "0", "delta": "0"}
    return paid, nothing if keys is not None else told.receipt["selection"] or nothing


def _loss(claim: Json, currency: str) -> str:
    """One reading's noise loses no more than it says."""
    epsilon, rho = amount_of(claim["epsilon"]), amount_of(claim["rho"])
    pure = (currency, claim["mechanism"]) == ("epsilon", "discrete_laplace")
    pure = pure or (claim["mechanism"] in CHOICES and currency == "epsilon" and rho == 0)
    require((rho if pure else epsilon) == 0, "a reading is said to lose in two ways")
    if claim["mechanism"] == "discrete_laplace":
        require(not is_chosen(claim["ask"]), "what is chosen has no noise added to it")
        scale = amount_of(claim["scale"])
        require(scale > 0, "a noise scale is 0")
        # ln P(z)/P(z + s) = (|z + s| - |z|)/scale <= |s|/scale for each coordinate, so l1/scale for the vector
        lost = claim["l1"] / scale
        if currency == "epsilon":
            require(lost <= epsilon, f"noise of scale {claim['scale']} loses more than {claim['epsilon']}")
            return f"discrete Laplace, epsilon {decimal_text(epsilon)}"
        require(lost * lost / 2 <= rho, f"noise of scale {claim['scale']} loses more than rho {claim['rho']}")
        return f"discrete Laplace, rho {decimal_text(rho)}"
    if claim["mechanism"] in CHOICES:
        choice, name = _noise_of(claim), CHOICES[claim["mechanism"]]
        assert isinstance(choice, WeightedQuantile | TopCounts)
        require(is_chosen(claim["ask"]), "only a quantile is chosen, or the names of the greatest")
        if epsilon:
            require(choice.epsilon(claim["l1"]) <= epsilon, f"a choice at rate {claim['rate']} loses more than it says")
            return f"{name}, epsilon {decimal_text(epsilon)}"
        require(not isinstance(choice, FlippedQuantile), "permute-and-flip is charged in epsilon alone")
        require(choice.rho(claim["l2_squared"]) <= rho, f"a choice at rate {claim['rate']} loses more than it says")
        return f"{name}, rho {decimal_text(rho)}"
    require(not is_chosen(claim["ask"]), "what is chosen has no noise added to it")
    require(claim["mechanism"] == "discrete_gaussian", "the mechanism is not one this version knows")
    variance = amount_of(claim["variance"])
    require(variance > 0, "a noise variance is 0")
    # at rho 0 it is alone, and priced by its own distribution: see the cost
    require(rho == 0 or claim["l2_squared"] / (2 * variance) <= rho, "Gaussian noise loses more than it says")
    return f"discrete Gaussian, rho {decimal_text(rho)}" if rho else "discrete Gaussian by its own law"


def _with_keys(told: Parsed, claim: Json) -> str:
    """The count that is drawn with the selection of keys is the one that it selects by, has its noise and no other
    price, and is the only one."""
    selection, place = told.receipt["selection"], with_keys(told.resolved.asks, told.reach)
    claims = [one for _, one in told.claims]
    drawn = [one for one in claims if one["mechanism"] in OF_SELECTION]
    require(drawn == [claim], "two counts are drawn with the keys")
    require(place is not None and claims[place] == claim, "it is not the count that keys are selected by")
    require(claim["epsilon"] == claim["rho"] == "0", "a count that is drawn with its keys is paid with them")
    require(selection is not None and selection["rule"]["rule"] == claim["mechanism"], "keys are selected otherwise")
    noise = Selecting(selection_of(selection["rule"]), *[Fraction(0)] * 3).noise
    require(noise == _noise_of(claim), "a count that is drawn with its keys has another noise than their selection")
    return "a count drawn with the keys, at their price"


def _selection(told: Parsed) -> str:
    """The rule for unknown keys promises what it is charged for, under the plan's neighbours."""
    selection, reach = told.receipt["selection"], told.reach
    require(set(selection) == {"rule", "epsilon", "rho", "delta"}, "the selection of keys has other parts")
    rule = selection_of(selection["rule"])
    require(reach.chosen and rule.groups == selection_reach(reach), "keys are selected for another number of groups")
    require((rule.min_units or 1) == reach.min_units, "keys are selected for another least number of units")
    epsilon, rho, delta = (amount_of(selection[name]) for name in ("epsilon", "rho", "delta"))
    if reach.neighbours == "replace-one":
        twice = zcdp.selection_under_replacement(*rule.promise)
        promised = twice if epsilon else (zcdp.pure_to_rho(twice[0]), twice[1])
    else:
        promised = rule.promise if epsilon else rule.rho_promise
    require(promised[0] <= (epsilon or rho) and promised[1] <= delta, "the selection of keys loses more than it says")
    return f"keys by {words(rule)}, delta {decimal_text(delta)}"


def check_cost(told: Parsed) -> str:
    receipt, charged = told.receipt, told.costs
    every, selection = own(told)
    claims = [claim for claim in every if claim["mechanism"] not in OF_SELECTION]  # which the selection pays
    left = {name: charged[name] - amount_of(selection[name]) for name in charged}  # what the readings were charged
    sums = {name: sum((amount_of(claim[name]) for claim in claims), Fraction(0)) for name in ("epsilon", "rho")}
    gaussian = [claim for claim in claims if claim["mechanism"] == "discrete_gaussian"
                or (claim["mechanism"] == "exponential" and amount_of(claim["rho"]))]  # converted by their rho
    if told.currency == "rho":
        right = left == {"epsilon": 0, "rho": sums["rho"], "delta": 0} and sums["epsilon"] == 0
    elif not gaussian:
        right = left == {"epsilon": sums["epsilon"], "rho": 0, "delta": 0}
    else:  # beside it Laplace noise, whose epsilon adds to that of the Gaussian (basic composition)
        left["epsilon"] -= sums["epsilon"]
        right = left["rho"] == 0 <= left["epsilon"] and _worth(gaussian, sums, left)
    require(right, "the cost is not the sum of the losses")
    if "shared" not in receipt:  # else its parameters are those of all that it rests on at its price: see the choice
        named = ("price", "epsilon", "rho", "delta", "confidence", "selection")
        parameters = {name: receipt[name] for name in named} | {"mechanisms": told.mechanisms}
        require(sha(parameters) == receipt["parameters_sha256"], "the parameters' digest is another")
    amounts = [f"{name} {decimal_text(amount)}" for name, amount in charged.items() if amount]
    return f"{', '.join(amounts)} in all"


def _worth(claims: list[Json], sums: dict[str, Fraction], left: dict[str, Fraction]) -> bool:
    """Whether Gaussian readings are (epsilon, delta)-DP together: by their rho, or one by its own distribution."""
    if all(amount_of(claim["rho"]) for claim in claims):
        return zcdp.delta_of(sums["rho"], left["epsilon"]) <= left["delta"]
    claim = claims[0]
    require(claim["mechanism"] == "discrete_gaussian", "a choice by rank is priced by its rho")
    loss = DiscreteGaussian(amount_of(claim["variance"])).loss(claim["linf"])
    return len(claims) == 1 and claim["coordinates"] == 1 and loss.delta(left["epsilon"]).hi <= left["delta"]


def check_choice(told: Parsed) -> str:
    """Grid, split and noise follow from plan and price alone (semantics 2.4, 5.1): none was picked from data."""
    receipt, found = told.receipt, priced_at(told.plan, told.resolved, told.price)
    if "shared" in receipt:
        return _choice_of_the_rest(told, found)
    require(canonical([mechanism_json(one) for one in found.priced]) == canonical(told.mechanisms),
             "the plan at this price gets another grid, split or noise")
    keys = None if found.selecting is None else found.selecting.as_json()
    require(canonical(keys) == canonical(receipt["selection"]), "the plan at this price selects keys otherwise")
    costs = [str(found.epsilon), str(found.rho), str(found.delta)]
    require(costs == [receipt[name] for name in ("epsilon", "rho", "delta")], "the plan costs another amount")
    require(0 < amount_of(receipt["confidence"]) < 1, "the confidence is out of range")
    return "grid, split and noise are those the plan gets at this price"


def _choice_of_the_rest(told: Parsed, found: Found) -> str:
    """Of what earlier charges did not pay: its grid and noise are those of the whole question at its price. Each stored
    reading has noise no wider than that price would buy, and stored keys a rule of no less price."""
    receipt, (places, keys) = told.receipt, told.shared
    for one, claim, place in zip(found.priced, told.mechanisms, places, strict=True):
        if place is None:
            require(canonical(mechanism_json(one)) == canonical(claim), "the plan at this price gets another noise")
        else:
            wide = law_of(claim).error(BETA) * amount_of(claim["unit"])
            require(wide <= one.error(BETA), "a shared reading has wider noise than this price buys")
    if keys is not None:
        wanted = None if found.selecting is None else found.selecting.as_json()
        if wanted is None or wanted["rule"]["rule"] != receipt["selection"]["rule"]["rule"]:
            raise Wrong("its keys were selected by another rule")
        less = [name for name in _AMOUNTS if amount_of(receipt["selection"][name]) < amount_of(wanted[name])]
        require(not less, "its keys were selected at a lower price")
    require(0 < amount_of(receipt["confidence"]) < 1, "the confidence is out of range")
    if not told.charged:
        return "every reading was paid before, with noise no wider than this price buys"
    whole: Json = {
        "price": receipt["price"], "epsilon": str(found.epsilon), "rho": str(found.rho), "delta": str(found.delta),
        "confidence": receipt["confidence"], "mechanisms": [mechanism_json(one) for one in found.priced],
        "selection": None if found.selecting is None else found.selecting.as_json(),
    }
    require(sha(whole) == receipt["parameters_sha256"], "the parameters' digest is another")
    require(all(told.costs[name] <= getattr(found, name) for name in _AMOUNTS), "the rest costs more than all")
    return "the rest has the grid and noise that the plan gets at this price; what is shared has no wider noise"


def law_of(claim: Json) -> Mechanism:
    """The noise of a reading, as its receipt says it."""
    if claim["mechanism"] not in OF_SELECTION:
        return _noise_of(claim)
    one = 1 / amount_of(claim["unit"])
    require(one.denominator == 1, "a count is in parts that are none")
    noise = _noise_of(claim)
    if isinstance(noise, WeightedQuantile | TopCounts):
        raise Wrong("keys are selected by a count, and by no choice")
    return SelectionNoise(noise, int(one))


def is_chosen(ask: Json) -> bool:
    """Whether a reading is a choice, by the exponential mechanism: a quantile, or names of the greatest."""
    return ask["what"] == "quantile" or "top" in ask


def _noise_of(claim: Json) -> DiscreteLaplace | DiscreteGaussian | WeightedQuantile | TopCounts:
    if claim["mechanism"] == "exponential" and "top" in claim["ask"]:
        return TopCounts(amount_of(claim["rate"]), claim["candidates"], claim["ask"]["top"], claim["coordinates"])
    if claim["mechanism"] in CHOICES:
        kind = WeightedQuantile if claim["mechanism"] == "exponential" else FlippedQuantile
        return kind(amount_of(claim["rate"]), claim["candidates"])
    noise = OF_SELECTION.get(claim["mechanism"], claim["mechanism"])
    if noise == "discrete_laplace":
        return DiscreteLaplace(amount_of(claim["scale"]))
    require(noise == "discrete_gaussian", "the mechanism is not one this version knows")
    return DiscreteGaussian(amount_of(claim["variance"]))


def losses_of(parameters: Mapping[str, Any]) -> tuple[Loss, ...]:
    """The losses of a priced question in an (epsilon, delta) ledger, from the parameters that its quote, its receipt
    and its charge all hold: `Quote.parameters()`, or anything with its "mechanisms" and "selection".

    A reading with discrete Laplace noise loses "discrete_laplace" at its l1 sensitivity; with discrete Gaussian noise
    "discrete_gaussian" where one number moves, else "discrete_gaussian_vector"; a quantile "bounded_range", or "pure"
    by permute-and-flip; "bounded_range" each of the names of the greatest, chosen one after another (adaptive
    composition, which the product of dominating pairs covers: Zhu, Dong, Wang 2022, theorem 10); a selection of keys
    "approximate", as it is charged, and with it the count that is drawn with them. A reading that cannot move has noise
    as if it could move by 1 (semantics 3), and loses that here.
    Together these dominate what the question releases, for one unit of the plan's neighbours. Raises Refusal,
    ValueError, LookupError or TypeError where they are no such parameters.
    """
    found = [loss for one in parameters["mechanisms"] if one["mechanism"] not in OF_SELECTION
             for loss in [_reading(one)] * one["ask"].get("top", 1)]
    selection = parameters["selection"]
    if selection is not None:
        promise = (("epsilon", Fraction(selection["epsilon"])), ("delta", Fraction(selection["delta"])))
        found.append(Loss("approximate", promise))
    return tuple(found)


def _reading(one: Mapping[str, Any]) -> Loss:
    if one["mechanism"] == "discrete_laplace":
        return Loss("discrete_laplace", (("scale", Fraction(one["scale"])), ("shift", max(1, one["l1"]))))
    if one["mechanism"] == "exponential":
        ways = 1 if "top" in one["ask"] else 2  # ranges are of differences, and a score's is of either direction
        return Loss("bounded_range", (("epsilon", ways * Fraction(one["rate"]) * max(1, one["l1"])),))
    if one["mechanism"] == "permute_and_flip":
        return Loss("pure", (("epsilon", 2 * Fraction(one["rate"]) * max(1, one["l1"])),))
    if one["mechanism"] != "discrete_gaussian":
        raise ValueError("no mechanism of this version")
    variance = ("variance", Fraction(one["variance"]))
    if one["coordinates"] == 1:
        return Loss("discrete_gaussian", (variance, ("shift", max(1, one["linf"]))))
    return Loss("discrete_gaussian_vector", (variance, ("l2_squared", max(1, one["l2_squared"]))))
