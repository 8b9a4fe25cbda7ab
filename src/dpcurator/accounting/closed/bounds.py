"""Upper bounds of many losses together, each by a formula with a proof: epsilon at a delta, and delta at an epsilon.

Definition  First the delta mass is split off: a loss of (e, d) is infinite with probability d and else that of
            e-DP (privacy/families/approximate.py). With D = 1 - product of (1-d), all of them together have
            delta(eps) = D + (1-D) delta'(eps), delta' that of the rest; so the rest must do with (delta-D)/(1-D). D is
            exact, or rounded up where it has very many digits.
            Then, where each applies:
            "sum"           pure epsilons add up. Continuous Gaussians count as one of mu**2 = sum of mu_i**2, and any
                            other loss by its own curve at an equal share of delta. The other way round: 0 from the sum
                            of pure epsilons on.
            "own curve"     a single release: the epsilon of its own distribution.
            "optimal"       all are pure: Kairouz, Oh, Viswanath for the greatest epsilon among them (pure.py).
            "advanced"      means and a deviation (advanced.py).
            "gaussian"      all are continuous Gaussian noise: one Gaussian, by its exact curve.
            "zcdp"          rho adds up, then the best order (privacy/zcdp.py); a range e has e**2/8 and e-DP has
                            e tanh(e/2) (convert.py).
            "renyi"         divergences add up at the best continuous order (renyi.py). Where they are integrals, and
                            loss distributions bound all, it is left out of whatever is to be quick.
            "bounded range" all are of one range and nothing adapts: Dong, Durfee, Rogers (bounded_range.py). Only with
                            adaptive=False.
Promise     Each epsilon is one at which all together are (eps, delta)-DP, rounded up to 12 figures, never negative; so
            is each delta, which is at most 1. The
            mechanisms may be adaptively chosen; their losses and number are fixed beforehand. (For
            losses chosen on the way, see filters.py.) So the least of all is a bound too: that choice is made before
            anything is released.
Proof       Of the split: given that no loss is infinite, which has one chance under P and Q, the laws are those of the
            rest. Of compositions of dominating pairs: Zhu, Dong, Wang 2022 (arXiv 2106.08567), theorem 10. The
            others: in the files named.
Checked     tests/accounting/test_closed.py.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from fractions import Fraction

from dpcurator.accounting.closed.advanced import advanced_delta, advanced_epsilon
from dpcurator.accounting.closed.bounded_range import MOST_SAME, range_epsilon
from dpcurator.accounting.closed.pure import optimal_delta, optimal_epsilon
from dpcurator.accounting.closed.renyi import least_renyi_delta, least_renyi_epsilon
from dpcurator.accounting.convert import pure_epsilon_of, rho_of
from dpcurator.accounting.pld.lattice import gaussian_of
from dpcurator.accounting.rounding import down
from dpcurator.errors import Refusal
from dpcurator.numbers.arb import ball, precision
from dpcurator.numbers.enclosure import bracket
from dpcurator.numbers.rational import at_least_0, from_0_below_1
from dpcurator.privacy import zcdp
from dpcurator.privacy.families import FAMILIES
from dpcurator.privacy.families.family import Slow
from dpcurator.privacy.loss import Loss

Parts = tuple[tuple[Loss, int], ...]
Bound = Callable[[Parts, Fraction], Fraction | None]
MOST_COINS = 10**7  # releases of one epsilon that "optimal" sums over
MOST_EACH = 10**30  # of that epsilon: beyond, its exponential is not written out, and the sum is as good
_DIGITS = 20_000  # bits of the exact chance of an infinite loss


@dataclass(frozen=True, slots=True)
class Method:
    """epsilon: at a delta of the finite losses; delta: at an epsilon. Each None where the method does not apply.
    orders: does it ask for divergences of many orders?"""

    epsilon: Bound
    delta: Bound
    orders: bool = False


def upper_bounds(
    parts: Parts, delta: object, *, adaptive: bool = True, quick: bool = False
) -> list[tuple[str, Fraction]]:
    """(method, epsilon) for each method that applies, in the order above. delta: in [0, 1), else a Refusal.

    Empty where no method has an epsilon at this delta. adaptive: False only if each mechanism is fixed beforehand.
    """
    return list(each_bound(parts, delta, adaptive=adaptive, quick=quick))


def each_bound(
    parts: Parts, delta: object, *, adaptive: bool = True, quick: bool = False
) -> Iterator[tuple[str, Fraction]]:
    """The same one by one, the slowest last, for whoever needs no more than one that is small enough."""
    most = from_0_below_1(delta)
    infinite, finite = split(parts)
    if infinite > most:
        return
    rest = most if infinite == 0 else (most - infinite) / (1 - infinite)
    rest = down(rest) if infinite and rest else rest
    names = ("sum", "own curve") if rest == 0 else _methods(parts, quick=quick)
    bounds = {name: METHODS[name].epsilon for name in names}
    if not adaptive:
        bounds = {**bounds, "bounded range": _range}
    for name, bound in bounds.items():
        epsilon = bound(finite, rest)
        if epsilon is not None:
            yield name, epsilon


def upper_deltas(parts: Parts, epsilon: object, *, of: Iterable[str] | None = None) -> list[tuple[str, Fraction]]:
    """(method, delta) for each quick method that applies, or of these alone. epsilon: at least 0, else a Refusal."""
    eps = at_least_0(epsilon, name="epsilon")
    infinite, finite = split(parts)
    found = ((name, METHODS[name].delta(finite, eps)) for name in (_methods(parts, quick=True) if of is None else of))
    return [(name, min(infinite + (1 - infinite) * rest, Fraction(1))) for name, rest in found if rest is not None]


def _methods(parts: Parts, *, quick: bool) -> list[str]:
    known = [FAMILIES[loss.family] for loss, _ in parts]
    slow = quick and any(isinstance(one.renyi, Slow) for one in known) and all(one.law is not None for one in known)
    return [name for name in METHODS if not (slow and METHODS[name].orders)]


def split(parts: Parts) -> tuple[Fraction, Parts]:
    """The chance of an infinite loss; and the losses else, equal ones together, free ones left out."""
    chances, kept = list[tuple[Fraction, int]](), dict[Loss, int]()
    for loss, count in parts:
        apart = FAMILIES[loss.family].apart
        if apart is not None:
            infinite, (family, given) = apart(loss.given)
            chances.append((infinite, count))
            if infinite or pure_epsilon_of(loss) is None:
                loss = Loss(family, tuple(given.items()))
        kept[loss] = kept.get(loss, 0) + count
    finite = tuple((loss, count) for loss, count in kept.items() if count and pure_epsilon_of(loss) != 0)
    return infinite_chance(chances), finite


def infinite_chance(chances: list[tuple[Fraction, int]]) -> Fraction:
    """1 less the product of (1-d)**count: exact, or rounded up where that has very many digits."""
    if sum(count * d.denominator.bit_length() for d, count in chances if d) <= _DIGITS:
        left = Fraction(1)
        for d, count in chances:
            left *= (1 - d) ** count
        return 1 - left
    with precision(192):
        logs = sum((count * bracket(-ball(1 - d).log()).hi for d, count in chances), Fraction(0))
        return min(sum((count * d for d, count in chances), Fraction(0)), bracket(-(-ball(logs)).expm1()).hi)


def _sum(parts: Parts, delta: Fraction) -> Fraction | None:
    total, square, others = Fraction(0), Fraction(0), []
    for loss, count in parts:
        epsilon = pure_epsilon_of(loss)
        if epsilon is not None:
            total += count * epsilon
            continue
        mu_squared = _mu_squared(loss)
        if mu_squared is not None:
            square += count * mu_squared
        else:
            others.append((loss, count))
    shares = sum(count for _, count in others) + (square > 0)
    if shares == 0:
        return total
    if delta == 0:
        return None
    if square:
        others.append((gaussian_of(square), 1))
    try:
        share = delta if shares == 1 else down(delta / shares)
        return total + sum((count * loss.epsilon(share) for loss, count in others), Fraction(0))
    except Refusal:  # a vector has no curve of its own
        return None


def _sum_delta(parts: Parts, eps: Fraction) -> Fraction | None:
    epsilons = [(pure_epsilon_of(loss), count) for loss, count in parts]
    known = sum((count * epsilon for epsilon, count in epsilons if epsilon is not None), Fraction(0))
    return Fraction(0) if all(epsilon is not None for epsilon, _ in epsilons) and known <= eps else None


def _of_one(value: Callable[[Loss, Fraction], Fraction], one: Callable[[Parts], Loss | None]) -> Bound:
    """By the own curve of the one loss that all are."""

    def bound(parts: Parts, at: Fraction) -> Fraction | None:
        single = one(parts)
        try:
            return None if single is None else value(single, at)
        except Refusal:  # it has no such curve
            return None

    return bound


def _only(parts: Parts) -> Loss | None:
    return parts[0][0] if len(parts) == 1 and parts[0][1] == 1 else None


def one_gaussian(parts: Parts) -> Loss | None:
    """The one Gaussian that all make, if all are Gaussian: mu**2 is the sum of theirs."""
    squares = [(_mu_squared(loss), count) for loss, count in parts]
    total = sum((count * square for square, count in squares if square is not None), Fraction(0))
    return None if not parts or any(square is None for square, _ in squares) else gaussian_of(total)


def _of_coins(value: Callable[[Fraction, int, Fraction], Fraction]) -> Bound:
    """As of so many coins of the greatest pure epsilon."""

    def bound(parts: Parts, at: Fraction) -> Fraction | None:
        epsilons = [pure_epsilon_of(loss) for loss, _ in parts]
        known = [epsilon for epsilon in epsilons if epsilon is not None]
        count = sum(count for _, count in parts)
        if not known or len(known) < len(epsilons) or count > MOST_COINS or max(known) > MOST_EACH:
            return None
        return value(max(known), count, at)

    return bound


def _of_rho(value: Callable[[Fraction, Fraction], Fraction]) -> Bound:
    def bound(parts: Parts, at: Fraction) -> Fraction | None:
        rhos = [(rho_of(loss), count) for loss, count in parts]
        total = sum((rho * count for rho, count in rhos if rho is not None), Fraction(0))
        return None if any(rho is None for rho, _ in rhos) else value(total, at)

    return bound


def _range(parts: Parts, delta: Fraction) -> Fraction | None:
    interval = FAMILIES[parts[0][0].family].interval if len(parts) == 1 and parts[0][1] <= MOST_SAME else None
    return None if interval is None else range_epsilon(interval(parts[0][0].given), parts[0][1], delta)


def _mu_squared(loss: Loss) -> Fraction | None:
    fact = FAMILIES[loss.family].mu_squared
    return None if fact is None else fact(loss.given)


def _epsilon(loss: Loss, delta: Fraction) -> Fraction:
    return loss.epsilon(delta)


def _delta(loss: Loss, eps: Fraction) -> Fraction:
    return loss.delta(eps).hi


METHODS: dict[str, Method] = {
    "sum": Method(_sum, _sum_delta),
    "own curve": Method(_of_one(_epsilon, _only), _of_one(_delta, _only)),
    "optimal": Method(_of_coins(optimal_epsilon), _of_coins(lambda *given: optimal_delta(*given).hi)),
    "advanced": Method(advanced_epsilon, advanced_delta),
    "gaussian": Method(_of_one(_epsilon, one_gaussian), _of_one(_delta, one_gaussian)),
    "zcdp": Method(_of_rho(zcdp.epsilon_of), _of_rho(zcdp.delta_of)),
    "renyi": Method(least_renyi_epsilon, least_renyi_delta, orders=True),
}
