"""The same methods the other way round: for many losses together, a delta at an epsilon, by the method's name.

Definition  With D the chance of an infinite loss and the rest as in closed.py, delta = D + (1-D) delta'(eps), and
            "sum"       0 from the sum of the pure epsilons on;
            "own curve" the delta of a single release;
            "optimal"   that of k coins of the greatest epsilon (pure.py);
            "advanced"  exp(-(eps-m)**2 / (2 v)) above the sum m of means (advanced.py);
            "gaussian"  the curve of one Gaussian;
            "zcdp"      by the best order (privacy/zcdp.py);
            "renyi"     by the best continuous order (renyi.py).
Promise     With each of them all together are (eps, delta)-DP; none is above 1. As in closed.py for the rest.
Checked     tests/accounting/test_closed.py.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import TYPE_CHECKING

from dpcurator.accounting.closed.advanced import moments
from dpcurator.accounting.closed.bounds import MOST_COINS, MOST_EACH, Parts, one_gaussian, split
from dpcurator.accounting.closed.pure import optimal_delta
from dpcurator.accounting.closed.renyi import least_renyi_delta
from dpcurator.accounting.convert import pure_epsilon_of, rho_of
from dpcurator.errors import Refusal
from dpcurator.numbers import rational
from dpcurator.numbers.arb import ball, precision
from dpcurator.numbers.enclosure import bracket
from dpcurator.privacy import zcdp

if TYPE_CHECKING:
    from dpcurator.accounting.composition import Composition

Method = Callable[[Parts, Fraction], Fraction | None]


def upper_deltas(composition: Composition, epsilon: object) -> list[tuple[str, Fraction]]:
    """(method, delta) for each method that applies. epsilon: at least 0, else a Refusal."""
    eps = rational(epsilon, name="epsilon")
    if eps < 0:
        raise Refusal("epsilon must be at least 0.", cure="Write epsilon as in 0.5.")
    infinite, parts = split(composition.parts)
    found = ((name, method(parts, eps)) for name, method in DELTAS.items())
    return [(name, min(infinite + (1 - infinite) * rest, Fraction(1))) for name, rest in found if rest is not None]


def _sum(parts: Parts, eps: Fraction) -> Fraction | None:
    epsilons = [(pure_epsilon_of(loss), count) for loss, count in parts]
    known = sum((count * epsilon for epsilon, count in epsilons if epsilon is not None), Fraction(0))
    return Fraction(0) if all(epsilon is not None for epsilon, _ in epsilons) and known <= eps else None


def _own(parts: Parts, eps: Fraction) -> Fraction | None:
    if len(parts) != 1 or parts[0][1] != 1:
        return None
    try:
        return parts[0][0].delta(eps).hi
    except Refusal:
        return None


def _optimal(parts: Parts, eps: Fraction) -> Fraction | None:
    epsilons = [pure_epsilon_of(loss) for loss, _ in parts]
    known = [epsilon for epsilon in epsilons if epsilon is not None]
    count = sum(count for _, count in parts)
    if not known or len(known) < len(epsilons) or count > MOST_COINS or max(known) > MOST_EACH:
        return None
    return optimal_delta(max(known), count, eps).hi


def _advanced(parts: Parts, eps: Fraction) -> Fraction | None:
    found = moments(parts)
    if found is None or eps <= found[0] or not found[1]:
        return None
    mean, spread = found
    with precision(160 + int((eps - mean) ** 2 / spread).bit_length()):
        return bracket((-ball((eps - mean) ** 2 / (2 * spread))).exp()).hi


def _gaussian(parts: Parts, eps: Fraction) -> Fraction | None:
    together = one_gaussian(parts)
    return None if together is None else together.delta(eps).hi


def _zcdp(parts: Parts, eps: Fraction) -> Fraction | None:
    rhos = [(rho_of(loss), count) for loss, count in parts]
    total = sum((rho * count for rho, count in rhos if rho is not None), Fraction(0))
    return None if any(rho is None for rho, _ in rhos) else zcdp.delta_of(total, eps)


DELTAS: dict[str, Method] = {
    "sum": _sum,
    "own curve": _own,
    "optimal": _optimal,
    "advanced": _advanced,
    "gaussian": _gaussian,
    "zcdp": _zcdp,
    "renyi": least_renyi_delta,
}
