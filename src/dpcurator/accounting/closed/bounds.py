"""Upper bounds of many losses together, each by a formula with a proof: an epsilon at a delta, by the method's name.

Definition  First what may reveal everything is set apart: a loss of (e, d) is infinite with chance d and else that of
            e-DP (privacy/families/approximate.py). With D = 1 - product of (1-d), all of them together have
            delta(eps) = D + (1-D) delta'(eps), delta' that of the rest; so the rest must do with (delta-D)/(1-D).
            Then, where each applies:
            "sum"           pure epsilons add up. Continuous Gaussians count as one of mu**2 = sum of mu_i**2, and any
                            other loss by its own curve at an equal share of delta.
            "own curve"     a single release: the epsilon of its own law.
            "optimal"       all are pure: Kairouz, Oh, Viswanath for the greatest epsilon among them (pure.py).
            "advanced"      means and a deviation (advanced.py).
            "gaussian"      all are continuous Gaussian noise: one Gaussian, by its exact curve.
            "zcdp"          rho adds up, then the best order (privacy/zcdp.py); a range e has e**2/8 and e-DP has
                            e tanh(e/2) (convert.py).
            "renyi"         divergences add up at the best continuous order (renyi.py).
            "bounded range" all are of one range and nothing adapts: Dong, Durfee, Rogers (bounded_range.py). Only with
                            adaptive=False.
Promise     Each epsilon is one at which all together are (eps, delta)-DP, rounded up to 12 figures, never negative. The
            mechanisms may be chosen in the light of earlier answers; their losses and number are fixed beforehand. (For
            losses chosen on the way, see filters.py.) So the least of all is a bound too: that choice is made before
            anything is released.
Proof       Of the split: given that no loss is infinite, which has one chance under P and Q, the laws are those of the
            rest. Of compositions of dominating pairs: Zhu, Dong, Wang 2022 (arXiv 2106.08567), theorem 10. The
            others: in the files named.
Checked     tests/accounting/test_closed.py.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from fractions import Fraction
from typing import TYPE_CHECKING

from dpcurator.accounting.closed.advanced import advanced_epsilon
from dpcurator.accounting.closed.bounded_range import MOST_SAME, range_epsilon
from dpcurator.accounting.closed.pure import optimal_epsilon
from dpcurator.accounting.closed.renyi import least_renyi_epsilon
from dpcurator.accounting.convert import pure_epsilon_of, rho_of
from dpcurator.accounting.rounding import down
from dpcurator.errors import Refusal
from dpcurator.numbers import rational
from dpcurator.numbers.arb import ball, precision
from dpcurator.numbers.enclosure import bracket
from dpcurator.privacy import zcdp
from dpcurator.privacy.families.poisson import amplified
from dpcurator.privacy.loss import Loss
from dpcurator.privacy.sampled import on_all_rows, rate_of

if TYPE_CHECKING:
    from dpcurator.accounting.composition import Composition

Parts = tuple[tuple[Loss, int], ...]
Method = Callable[[Parts, Fraction], Fraction | None]
MOST_COINS = 10**7  # releases of one epsilon that "optimal" sums over
MOST_EACH = 10**30  # of that epsilon: beyond, its exponential is not written out, and the sum is as good


def upper_bounds(composition: Composition, delta: object, *, adaptive: bool = True) -> list[tuple[str, Fraction]]:
    """(method, epsilon) for each method that applies, in the order above. delta: in [0, 1), else a Refusal.

    Empty where no method has an epsilon at this delta. adaptive: False only if each mechanism is fixed beforehand.
    """
    return list(each_bound(composition, delta, adaptive=adaptive))


def each_bound(composition: Composition, delta: object, *, adaptive: bool = True) -> Iterator[tuple[str, Fraction]]:
    """The same one by one, the slowest last, for whoever needs no more than one that is small enough."""
    most = rational(delta, name="delta")
    if not 0 <= most < 1:
        raise Refusal("delta must be at least 0 and below 1.", cure="Write delta as in 1e-6.")
    infinite, parts = split(composition.parts)
    if infinite > most:
        return
    rest = most if infinite == 0 else (most - infinite) / (1 - infinite)
    rest = down(rest) if infinite and rest else rest
    methods = {"sum": _sum, "own curve": _own} if rest == 0 else METHODS
    if not adaptive:
        methods = {**methods, "bounded range": _range}
    for name, method in methods.items():
        epsilon = method(parts, rest)
        if epsilon is not None:
            yield name, epsilon


def split(parts: Parts) -> tuple[Fraction, Parts]:
    """The chance of an infinite loss, rounded up; and the losses else, equal ones together, free ones left out."""
    total, finite, kept = Fraction(0), Fraction(0), dict[Loss, int]()
    with precision(192):
        for loss, count in parts:
            loss = as_approximate(loss)
            if loss.family == "approximate":
                total += count * loss["delta"]
                finite += count * _minus_ln(1 - loss["delta"])
                loss = Loss("pure", (("epsilon", loss["epsilon"]),))
            kept[loss] = kept.get(loss, 0) + count
        infinite = min(total, bracket(-(-ball(finite)).expm1()).hi) if total else total
    return infinite, tuple((loss, count) for loss, count in kept.items() if count and pure_epsilon_of(loss) != 0)


def as_approximate(loss: Loss) -> Loss:
    """What a sample of an (e, d)-DP mechanism is: (ln(1 + q (e**e - 1)), q d)-DP, either way; any other loss itself.

    Balle, Barthe, Gaboardi 2018, theorems 8 and 9; of the formulas in privacy/families/poisson.py: at that epsilon the
    threshold is e forward; backward it is at least e, by the product there, and 1 - (1-q) E is at most q.
    """
    base = on_all_rows(loss)
    if base.family != "approximate" or base == loss:
        return loss
    rate = rate_of(loss)
    grown = amplified(base["epsilon"], rate) if base["epsilon"] else Fraction(0)
    return Loss("approximate", (("delta", rate * base["delta"]), ("epsilon", grown)))


def _minus_ln(value: Fraction) -> Fraction:
    return bracket(-ball(value).log()).hi


def _sum(parts: Parts, delta: Fraction) -> Fraction | None:
    total, square, others = Fraction(0), Fraction(0), []
    for loss, count in parts:
        epsilon = pure_epsilon_of(loss)
        if epsilon is not None:
            total += count * epsilon
        elif loss.family == "gaussian":
            square += count * _mu_squared(loss)
        else:
            others.append((loss, count))
    shares = sum(count for _, count in others) + (square > 0)
    if shares == 0:
        return total
    if delta == 0:
        return None
    if square:
        others.append((_of_mu_squared(square), 1))
    try:
        share = delta if shares == 1 else down(delta / shares)
        return total + sum((count * loss.epsilon(share) for loss, count in others), Fraction(0))
    except Refusal:  # a vector has no curve of its own
        return None


def _own(parts: Parts, delta: Fraction) -> Fraction | None:
    if len(parts) != 1 or parts[0][1] != 1:
        return None
    try:
        return parts[0][0].epsilon(delta)
    except Refusal:
        return None


def _optimal(parts: Parts, delta: Fraction) -> Fraction | None:
    epsilons = [pure_epsilon_of(loss) for loss, _ in parts]
    known = [epsilon for epsilon in epsilons if epsilon is not None]
    count = sum(count for _, count in parts)
    if not known or len(known) < len(epsilons) or count > MOST_COINS or max(known) > MOST_EACH:
        return None
    return optimal_epsilon(max(known), count, delta)


def _gaussian(parts: Parts, delta: Fraction) -> Fraction | None:
    together = one_gaussian(parts)
    return None if together is None else together.epsilon(delta)


def one_gaussian(parts: Parts) -> Loss | None:
    """The one Gaussian that all make, if all are Gaussian: mu**2 is the sum of theirs."""
    if not parts or any(loss.family != "gaussian" for loss, _ in parts):
        return None
    return _of_mu_squared(sum((count * _mu_squared(loss) for loss, count in parts), Fraction(0)))


def _zcdp(parts: Parts, delta: Fraction) -> Fraction | None:
    rhos = [(rho_of(loss), count) for loss, count in parts]
    total = sum((rho * count for rho, count in rhos if rho is not None), Fraction(0))
    return None if any(rho is None for rho, _ in rhos) else zcdp.epsilon_of(total, delta)


def _range(parts: Parts, delta: Fraction) -> Fraction | None:
    if len(parts) != 1 or parts[0][0].family != "bounded_range" or parts[0][1] > MOST_SAME:
        return None
    return range_epsilon(parts[0][0]["epsilon"], parts[0][1], delta)


def _mu_squared(loss: Loss) -> Fraction:
    return loss["shift"] ** 2 / loss["variance"]


def _of_mu_squared(mu_squared: Fraction) -> Loss:
    shift, variance = (Fraction(1), 1 / mu_squared) if mu_squared else (Fraction(0), Fraction(1))
    return Loss("gaussian", (("shift", shift), ("variance", variance)))


METHODS: dict[str, Method] = {
    "sum": _sum,
    "own curve": _own,
    "optimal": _optimal,
    "advanced": advanced_epsilon,
    "gaussian": _gaussian,
    "zcdp": _zcdp,
    "renyi": least_renyi_epsilon,
}
