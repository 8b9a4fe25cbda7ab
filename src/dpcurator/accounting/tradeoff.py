"""What an attacker can do: the errors of the best test between two neighbours, and how often the best guess is right.

Definition  A test looks at the release and says "P" or "Q". alpha: the probability that it says Q under P;
            beta(alpha): the least probability that it says P under Q. `advantage`: the most by which 1 - alpha - beta
            can pass 0, the total variation. `bayes_risk`: the least probability of a wrong guess at a prior of P.
Promise     `tradeoff` and `bayes_risk` bracket the value for the dominating pair; the lower end holds for everything
            that the loss stands for, with either neighbour as P. So it is for a composition, by certified deltas
            (composed_tradeoff.py). Where the pair is another one backwards, the value is that of the better of both.
            Where the distribution of a loss is not known (a vector of discrete Gaussian noise) or is not attained, the
            lower end is by its rho, or by deltas in closed form at some epsilons, and the upper end is that of no test.
Proof       "Q where the loss is at most x" is a best test for each x (Neyman, Pearson), with alpha = P(L <= x) and
            beta = Q(L > x). A line of slope -exp(-x) through that point is below the curve, as
            beta + exp(-x) alpha is least there; and the curve is convex, so between two such points it is below the
            chord (tests mixed by a coin). Bisection of x narrows both; at an atom they meet. Where delta(eps) is known,
            P(S) <= exp(eps) Q(S) + delta and the same with P and Q exchanged give
                beta >= 1 - delta - exp(eps) alpha,     beta >= exp(-eps) (1 - delta - alpha)      at every eps >= 0,
            and their supremum over eps is the curve (convex duality). rho: a test makes two coins of
            the two distributions, and their divergence of order a is at most a rho at every a > 1, both ways; where it
            is not at some beta and a, no test has so small a beta, as it grows while beta falls. advantage: delta(0).
            Risk with prior p <= 1/2 of one neighbour: p (1 - delta(ln((1-p)/p))), the least of p P(S) + (1-p) Q(not S).
Source      Wasserman, Zhou 2010; Dong, Roth, Su, JRSS B 2022 (arXiv 1905.02383), propositions 2.4 and 2.12; Kairouz,
            Oh, Viswanath 2015.
Checked     tests/accounting/test_tradeoff.py.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from fractions import Fraction
from functools import cache
from typing import TYPE_CHECKING, NamedTuple

from dpcurator.accounting.bracket import pure_sum
from dpcurator.accounting.closed.bounds import one_gaussian, upper_deltas
from dpcurator.accounting.composed_tradeoff import both_ends
from dpcurator.accounting.composition import Releases, compose
from dpcurator.accounting.convert import alike, rho_of
from dpcurator.errors import Refusal
from dpcurator.numbers import Enclosure, exp_neg, ln, positive
from dpcurator.numbers.arb import ball, precision
from dpcurator.numbers.enclosure import bracket
from dpcurator.numbers.rational import at_least_0, from_0_to_1
from dpcurator.privacy.distribution import Distribution
from dpcurator.privacy.families import FAMILIES
from dpcurator.privacy.loss import Loss
from dpcurator.privacy.narrow import enclosed

if TYPE_CHECKING:
    from dpcurator.numbers.rational import Spelled

_STEPS = 90  # bisections of x
_ONE = Fraction(1)
_ORDERS = tuple(1 + Fraction(6, 5) ** k / 50 for k in range(48))  # of divergences, from 1.02 to about 100
Point = tuple[Enclosure, Enclosure]  # alpha and beta of the test at one x


def tradeoff(loss: Releases, *, alpha: Spelled, accuracy: Spelled = Fraction(1, 1000)) -> Enclosure:
    """The trade-off function of a release: the least false negative rate of a test with false positive rate alpha.

    A test tells from the release on which of two neighbours it was made. beta(alpha) is the least probability that it
    misses the second, where it accuses the first with probability alpha (f-DP).

    Promise: an enclosure, rounded outward. Its lower end holds for every attacker who knows everything else; the upper
    end is attained by a test on the dominating pair, or is the trivial 1 - alpha.

    Parameters:
        loss: a dp.Loss, a mechanism that has one, or a dp.Composition.
        alpha: number in [0, 1], the false positive rate.
        accuracy: number > 0, how wide the enclosure of a composition may stay.

    Raises Refusal if a parameter is out of its range, or nothing has a loss.

    >>> import dpcurator as dp
    >>> noise = dp.Laplace(sensitivity=1, epsilon=1)
    >>> round(float(dp.tradeoff(noise, alpha="0.05").lo), 3)  # with 5 % false alarms 86 % are missed
    0.864

    Source: Dong, Roth, Su 2022; Wasserman, Zhou 2010.
    """
    at, wide = _chance(alpha, name="alpha"), positive(accuracy, name="accuracy")
    one = _single(loss)
    if one is None:
        together = compose(loss)
        if at == 0:
            return Enclosure(1 - together.delta(epsilon=pure_sum(together.parts) or 64), _ONE)
        found = both_ends(together.parts, at, accuracy=wide) if at < 1 else None
        return by_deltas(loss)(at) if found is None else found
    if _only_rho(one):
        return by_deltas(one)(at)
    closed = FAMILIES[one.family].tradeoff
    if closed is not None:
        return closed(one.given, at)
    try:
        law = one.distribution(atoms=1)
    except Refusal:
        return by_deltas(one)(at)
    found = _by_law(law, at)
    if alike(one):
        return found
    back = _by_law(one.reversed.distribution(atoms=1), at)  # an attacker has either
    return Enclosure(min(found.lo, back.lo), min(found.hi, back.hi))


def by_deltas(loss: Releases) -> Callable[[Fraction], Enclosure]:
    """beta at each alpha where only a lower end is known: by the sum of rho, if that is all there is, else by deltas in
    closed form, which all alphas share. The upper end is that of no test."""
    parts = compose(loss).parts
    rhos = [(rho_of(part) if _only_rho(part) else None, count) for part, count in parts]
    if all(one is not None for one, _ in rhos):
        rho = sum((count * one for one, count in rhos if one is not None), Fraction(0))
        return lambda alpha: Enclosure(_by_rho(alpha, rho), 1 - alpha)
    delta = cache(_curve(loss))
    return lambda alpha: Enclosure(_by_delta(alpha, delta), 1 - alpha)


def advantage(loss: Releases) -> Enclosure:
    """The advantage of the best membership test: how far the sum of its two error rates is below 1.

    It is the total variation distance of the dominating pair, delta at epsilon 0; of guesses at even odds,
    (1 + advantage) / 2 are right.

    Promise: an enclosure, rounded outward, whose upper end holds for every attacker.

    Parameters:
        loss: a dp.Loss, a mechanism that has one, or a dp.Composition.

    Raises Refusal if nothing has a loss.

    >>> import dpcurator as dp
    >>> round(float(dp.advantage(dp.Loss("pure", epsilon=1)).hi), 6)  # (e - 1) / (e + 1)
    0.462117

    Source: Yeom, Giacomelli, Fredrikson, Jha 2018; Kairouz, Oh, Viswanath 2015.
    """
    one = _single(loss)
    if one is not None and not _only_rho(one):
        return one.delta(Fraction(0))
    return compose(loss).bracket(epsilon=0).enclosure


def bayes_risk(loss: Releases, *, prior: Spelled) -> Enclosure:
    """The Bayes risk of an attacker: the least probability of guessing wrong which of two neighbours was used.

    With p the lesser of prior and 1 - prior it is p (1 - delta(ln((1 - p) / p))).

    Promise: an enclosure, rounded outward; no attacker with this prior is wrong less often than its lower end.

    Parameters:
        loss: a dp.Loss, a mechanism that has one, or a dp.Composition.
        prior: number in [0, 1], the prior probability of one of the neighbours.

    Raises Refusal if the prior is out of its range, or nothing has a loss.

    >>> import dpcurator as dp
    >>> noise = dp.Laplace(sensitivity=1, epsilon=1)
    >>> round(float(dp.bayes_risk(noise, prior="0.5").lo), 3)  # 0.5 without the release
    0.303

    Source: Kairouz, Oh, Viswanath 2015.
    """
    p = _chance(prior, name="prior")
    p = min(p, 1 - p)
    if p == 0:
        return Enclosure.exactly(0)
    odds = ln((1 - p) / p) if p != Fraction(1, 2) else Enclosure.exactly(0)
    low, high = (max(end, Fraction(0)) for end in (odds.lo, odds.hi))
    one = _single(loss)
    if one is not None and not _only_rho(one):
        most, least = one.delta(low).hi, one.delta(high).lo
    else:
        found = compose(loss).bracket(epsilon=low)
        most, least = found.upper, max(found.lower - (high - low), Fraction(0))  # delta falls no faster than by 1
    return Enclosure(p * (1 - most), p * (1 - least))


class Posterior(NamedTuple):
    """What a belief can become: at least `least`, at most `greatest`; both exact, and shown to ten figures."""

    least: Fraction
    greatest: Fraction

    def __repr__(self) -> str:
        return f"Posterior(least={float(self.least):.10g}, greatest={float(self.greatest):.10g})"


def posterior(prior: Spelled, *, epsilon: Spelled) -> Posterior:
    """The least and greatest posterior probability after an epsilon-DP release, by Bayes' rule.

    Odds are multiplied by at least exp(-epsilon) and at most exp(epsilon), for whoever knows everything else.

    Promise: both are rounded outward.

    Parameters:
        prior: number in [0, 1], what was believed before.
        epsilon: number >= 0, the pure privacy loss.

    Returns two Fractions. Raises Refusal if a parameter is out of its range.

    >>> import dpcurator as dp
    >>> [round(float(end), 4) for end in dp.posterior("0.01", epsilon=1)]
    [0.0037, 0.0267]

    Source: Kifer, Machanavajjhala 2014.
    """
    p, eps = _chance(prior, name="prior"), at_least_0(epsilon, name="epsilon")
    if p in (0, 1):
        return Posterior(p, p)
    less = exp_neg(eps)
    low = p * less.lo / (p * less.lo + 1 - p)
    high = p / (p + (1 - p) * less.lo)
    return Posterior(max(low, Fraction(0)), min(high, _ONE))


def _by_law(law: Distribution, alpha: Fraction) -> Enclosure:
    if alpha == 0:  # the part that is never under P: Q(L = -infinity), which no law here has but for `infinite`
        return Enclosure(1 - law.infinite, _ONE) if law.infinite else Enclosure.exactly(1)
    if alpha == 1:
        return Enclosure.exactly(0)
    known: dict[Hashable, Point] = {}

    def at(x: Fraction) -> Point:
        place = law.place(x)
        if place not in known:
            known[place] = law.cdf(x), enclosed(lambda bits: law.survival(place, bits)[1], most=_ONE)
        return known[place]

    low, high = _ends(at, alpha)
    below, above = at(low), at(high)  # alpha of the first is at most ours, that of the second at least
    for _ in range(_STEPS):
        if law.place(low) == law.place(high):
            break
        middle = (low + high) / 2
        point = at(middle)
        if point[0].hi <= alpha:
            low, below = middle, point
        elif point[0].lo >= alpha:
            high, above = middle, point
        else:  # on it, as near as is known
            low = high = middle
            below = above = point
    lower = max(_line(low, below, alpha), _line(high, above, alpha), Fraction(0))
    if below is above:
        upper = below[1].hi
    else:
        width = above[0].lo - below[0].hi
        share = _ONE if width <= 0 else min(max((above[0].hi - alpha) / width, Fraction(0)), _ONE)
        upper = above[1].hi + share * max(below[1].hi - above[1].hi, Fraction(0))
    return Enclosure(min(lower, upper), min(upper, 1 - alpha))


def _ends(at: Callable[[Fraction], Point], alpha: Fraction) -> tuple[Fraction, Fraction]:
    """Losses with P(L <= low) <= alpha and P(L <= high) >= alpha, or as near as 2**40 comes."""
    low, high = Fraction(-1), Fraction(1)
    for _ in range(40):
        if at(low)[0].hi <= alpha:
            break
        low *= 2
    for _ in range(40):
        if at(high)[0].lo >= alpha:
            break
        high *= 2
    return low, high


def _line(x: Fraction, point: Point, alpha: Fraction) -> Fraction:
    """The line of slope -exp(-x) through the point, at alpha; rounded down."""
    gap = Enclosure.exactly(alpha) - point[0]
    with precision(160 + int(abs(x)).bit_length()):
        slope = bracket((-ball(x)).exp()) if x > -60000 else None
    return Fraction(0) if slope is None else (point[1] - slope * gap).lo


def _by_delta(alpha: Fraction, delta: Callable[[Fraction], Fraction]) -> Fraction:
    """The greatest of the two lines over some epsilons, refined around the best; any epsilon is right."""
    found: dict[Fraction, Fraction] = {}

    def at(eps: Fraction) -> Fraction:
        if eps not in found:
            room, less = 1 - delta(eps), exp_neg(eps)
            steep = room - alpha / less.lo if less.lo else Fraction(-1)
            found[eps] = max(steep, less.lo * (room - alpha), Fraction(0))
        return found[eps]

    best = max((Fraction(k * k, 16) for k in range(20)), key=at)
    step = Fraction(1, 2)
    for _ in range(12):
        near = [eps for eps in (best - step, best + step) if eps >= 0 and at(eps) > at(best)]
        if near:
            best = max(near, key=at)
        else:
            step /= 2
    return at(best)


def _by_rho(alpha: Fraction, rho: Fraction) -> Fraction:
    """Nearly the greatest beta that is ruled out by the divergences of two coins."""
    if alpha in (0, 1) or rho == 0:
        return 1 - alpha
    low, high, best = Fraction(0), 1 - alpha, Fraction(2)
    for _ in range(40):
        middle = (low + high) / 2
        ruled = [order for order in (best, *_ORDERS) if _too_far(middle, alpha, order, rho)]
        if ruled:
            low, best = middle, ruled[0]
        else:
            high = middle
    return low


def _too_far(beta: Fraction, alpha: Fraction, order: Fraction, rho: Fraction) -> bool:
    """Is the divergence of the coins (1 - beta, beta) and (alpha, 1 - alpha) surely above order * rho, either way?"""
    with precision(96):
        limit = ball((order - 1) * order * rho)
        found = [ball(part).log() for part in (1 - beta, beta, alpha, 1 - alpha)]
        a = ball(order)
        for p, q, s, t in ((0, 1, 2, 3), (2, 3, 0, 1)):
            total = (a * found[p] + (1 - a) * found[s]).exp() + (a * found[q] + (1 - a) * found[t]).exp()
            if total.log() > limit:
                return True
    return False


def _curve(loss: Releases) -> Callable[[Fraction], Fraction]:
    """A valid delta at each epsilon."""
    one = _single(loss)
    if one is not None and not _only_rho(one):
        return lambda eps: one.delta(eps).hi
    together = compose(loss)
    return lambda eps: min((delta for _, delta in upper_deltas(together.parts, eps)), default=_ONE)


def _only_rho(loss: Loss) -> bool:
    return FAMILIES[loss.family].delta is None


def _single(loss: Releases) -> Loss | None:
    """The one loss there is, also of several Gaussians, which are one; or None where there are more."""
    if isinstance(loss, Loss):
        return loss
    parts = compose(loss).parts
    together = one_gaussian(parts)
    if together is not None:
        return together
    return parts[0][0] if len(parts) == 1 and parts[0][1] == 1 else None


def _chance(value: object, *, name: str) -> Fraction:
    return from_0_to_1(value, name=name, like="0.05")
