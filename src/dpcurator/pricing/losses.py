"""The losses of a priced question, from the parameters that its receipt and its charge hold.

Definition  A reading with discrete Laplace noise loses "discrete_laplace" at its l1 sensitivity; with discrete Gaussian
            noise "discrete_gaussian" where one number moves, else "discrete_gaussian_vector". The selection of unknown
            keys loses "approximate", (epsilon, delta) as it is charged. A reading that cannot move has noise as if it
            could move by 1 (semantics 3), and loses that here.
Promise     Together these dominate what the question releases, for one unit of the plan's neighbours: each sensitivity
            is that of the reading under the plan's own relation, and the selection's price is its promise under it.
Why data    A quote, a receipt and an old charge hold the same words, so all three are accounted for by one function.
Checked     tests/pricing/test_joint_guarantee.py.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any, Final

from dpcurator.privacy.loss import Loss

PRICED: Final = ("approximate", "discrete_gaussian", "discrete_gaussian_vector", "discrete_laplace")  # all there are


def losses_of(parameters: Mapping[str, Any]) -> tuple[Loss, ...]:
    """Of `Quote.parameters()`, or anything with its "mechanisms" and "selection", in an (epsilon, delta) ledger.

    Raises Refusal, ValueError, LookupError or TypeError where they are no such parameters.
    """
    found = [_reading(one) for one in parameters["mechanisms"]]
    selection = parameters["selection"]
    if selection is not None:
        promise = (("epsilon", Fraction(selection["epsilon"])), ("delta", Fraction(selection["delta"])))
        found.append(Loss("approximate", promise))
    return tuple(found)


def _reading(one: Mapping[str, Any]) -> Loss:
    if one["mechanism"] == "discrete_laplace":
        return Loss("discrete_laplace", (("scale", Fraction(one["scale"])), ("shift", max(1, one["l1"]))))
    if one["mechanism"] != "discrete_gaussian":
        raise ValueError("no mechanism of this version")
    variance = ("variance", Fraction(one["variance"]))
    if one["coordinates"] == 1:
        return Loss("discrete_gaussian", (variance, ("shift", max(1, one["linf"]))))
    return Loss("discrete_gaussian_vector", (variance, ("l2_squared", max(1, one["l2_squared"]))))
