"""From one measure of loss to another, each rounded to the safe side; what is lost on the way is said.

  from                 to                       how                                    lost
  e-DP                 rho-zCDP                 rho = e tanh(e/2) (`pure_rho`)         nothing at order 1: it is least
  range e              rho-zCDP                 rho = e**2/8, or the above if less     a little
  mu-GDP               rho-zCDP                 rho = mu**2/2                          the curve between orders
  rho-zCDP             Renyi of order a         a rho                                  nothing for Gaussian noise
  Renyi of order a     (eps, delta)             `renyi_delta`, `renyi_epsilon`         some, always
  rho-zCDP             (eps, delta)             privacy/zcdp.py, the best order        some, always
  mu-GDP               delta at every eps       privacy/families/gaussian.py           nothing
  (eps, delta)         trade-off                tradeoff.py                            nothing
  delta at every eps   trade-off, and back      tradeoff.py                            nothing
No arrow leads from (eps, delta) with delta > 0 to rho or mu: a part of chance delta may reveal everything.
Groups of k: `Loss.for_group` (a shift of k), privacy/group.py (pure, (eps, delta), rho); mu-GDP is k mu; and for
Renyi, where k is a power of two, `group_renyi`.

Proof of `pure_rho`. No e-DP mechanism exceeds the coin of +e and -e (Kairouz, Oh, Viswanath 2015), whose divergence of
order a is [f(x + h) - f(x)] / (a-1) with f = ln cosh, x = e/2 and h = (a-1) e. As f'' = sech**2 falls for x >= 0,
f(x+h) - f(x) <= h tanh x + (h**2/2) sech**2 x; and x sech**2 x <= tanh x, because 2x <= sinh 2x. So it is at most
h tanh x + (h**2/2) (tanh x)/x = (a-1) a e tanh(e/2). At a = 1 the two are equal, so no smaller rho holds.
Proof of `renyi_delta`. Canonne, Kamath, Steinke 2020 (arXiv 2004.00010), proposition 12: with t the divergence,
    delta = exp((a-1)(t-eps)) (1 - 1/a)**(a-1) / a;      solved for eps: t + ln(1-1/a) - (ln delta + ln a)/(a-1).
Source      Mironov 2017 (arXiv 1702.07476), proposition 2 (groups); Bun, Steinke 2016; Dong, Roth, Su 2022 (mu).
Checked     tests/accounting/test_closed.py.
"""

from __future__ import annotations

from fractions import Fraction

from dpcurator.accounting.rounding import ball_up
from dpcurator.errors import Refusal
from dpcurator.numbers import Enclosure, whole
from dpcurator.numbers.arb import Ball, ball, precision
from dpcurator.numbers.enclosure import bracket
from dpcurator.numbers.rational import at_least_0, between_0_and_1
from dpcurator.privacy.families import FAMILIES
from dpcurator.privacy.families.family import order
from dpcurator.privacy.loss import Loss
from dpcurator.privacy.narrow import enclosed
from dpcurator.privacy.sampled import way_of


def pure_rho(epsilon: object) -> Fraction:
    """e tanh(e/2), rounded up by under 2**-90 of it: the least rho of all that is e-DP; below e**2/2. epsilon >= 0."""
    exact = at_least_0(epsilon, name="epsilon")
    if exact == 0:
        return exact
    with precision(128):
        high = bracket(ball(exact) * (ball(exact) / 2).tanh()).hi
    return min(_short(high), exact**2 / 2)


def renyi_delta(divergence: object, *, alpha: object, epsilon: object) -> Enclosure:
    """The delta at `epsilon` >= 0 of a Renyi divergence >= 0 of order alpha > 1, at most 1."""
    eps = at_least_0(epsilon, name="epsilon")
    return delta_by_order(at_least_0(divergence, name="divergence"), order(alpha), eps)


def delta_by_order(found: Fraction, a: Fraction, eps: Fraction) -> Enclosure:
    """`renyi_delta` of exact numbers, however long."""
    if found == 0:
        return Enclosure.exactly(0)
    exponent = (a - 1) * (found - eps)
    if exponent > a.numerator.bit_length() + 64:
        return Enclosure.exactly(1)

    def value(bits: int) -> Ball:
        with precision(bits + int(abs(exponent)).bit_length()):
            return (ball(exponent) + ball(a - 1) * (-ball(1 / a)).log1p()).exp() / ball(a)

    return enclosed(value, most=Fraction(1))


def renyi_epsilon(divergence: object, *, alpha: object, delta: object) -> Fraction:
    """The epsilon at `delta` in (0, 1) of a Renyi divergence >= 0 of order alpha > 1; 12 figures, rounded up."""
    found, a, most = at_least_0(divergence, name="divergence"), order(alpha), between_0_and_1(delta)
    return epsilon_by_order(found, a, most)


def epsilon_by_order(found: Fraction, a: Fraction, most: Fraction) -> Fraction:
    """`renyi_epsilon` of exact numbers, however long."""
    with precision(192):
        rest = (-ball(1 / a)).log1p() - (ball(most).log() + ball(a).log()) / ball(a - 1)
        return ball_up(ball(found) + rest)


def group_renyi(divergence: object, *, alpha: object, size: int) -> tuple[Fraction, Fraction]:
    """(order, divergence) for a group of `size`, a power of two 2**c: alpha / 2**c and 3**c times the divergence.

    alpha must be at least 2 * size; else a Refusal. A loss with a shift does better: `Loss.for_group`.
    """
    found, a, k = at_least_0(divergence, name="divergence"), order(alpha), whole(size, name="size", least=1)
    if k & (k - 1) or (k > 1 and a < 2 * k):
        raise Refusal(
            "A Renyi divergence is known for groups of 2, 4, 8, ... and an order of at least twice the group.",
            cure="Round the size up to a power of two, and ask at a larger order.",
        )
    doublings = k.bit_length() - 1
    return a / k, found * 3**doublings


def rho_of(loss: Loss) -> Fraction | None:
    """The least rho known here for a loss; None where none is."""
    try:
        known = loss.rho()
    except Refusal:
        return None
    epsilon = pure_epsilon_of(loss)
    return known if epsilon is None else min(known, pure_rho(epsilon))


def pure_epsilon_of(loss: Loss) -> Fraction | None:
    """The pure epsilon; None where there is none."""
    try:
        return loss.pure_epsilon()
    except Refusal:
        return None


def alike(loss: Loss) -> bool:
    """Is the loss the same in both directions, so that formulas of P against Q say all?"""
    return FAMILIES[loss.family].backward is None


def plain(loss: Loss) -> Loss:
    """A loss on a sample as the pure one that covers it, as no mean or divergence of its own is known; else itself."""
    epsilon = None if way_of(loss) is None else pure_epsilon_of(loss)
    return loss if epsilon is None else Loss("pure", (("epsilon", epsilon),))


def renyi_of(loss: Loss, alpha: Fraction) -> Fraction | None:
    """The divergence of order alpha, rounded up: in closed form, or else alpha rho; None where neither is known."""
    found = [_own_renyi(one, alpha) for one in {loss, plain(loss)}]
    known = [one for one in found if one is not None]
    if known or FAMILIES[loss.family].renyi is not None:
        return min(known, default=None)
    rho = rho_of(loss) if alike(loss) else None
    return None if rho is None else alpha * rho


def _own_renyi(loss: Loss, alpha: Fraction) -> Fraction | None:
    """In closed form; None where it is infinite, or not known at this order."""
    try:
        return loss.renyi(alpha).hi if FAMILIES[loss.family].renyi is not None else None
    except Refusal:
        return None


def _short(value: Fraction) -> Fraction:
    """Rounded up to 96 significant bits, so that sums of many stay short."""
    unit = Fraction(2) ** (value.numerator.bit_length() - value.denominator.bit_length() - 96)
    return -(-value // unit) * unit
