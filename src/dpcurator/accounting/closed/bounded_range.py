"""k mechanisms of one bounded range together, none adapting: the least epsilon, as for exponential mechanisms.

Definition  Each has log-ratios in an interval of length e. Its worst pairs are coins with losses t (chance p under P,
            exp(-t) p under Q) and t - e, p = (exp(e) - exp(t))/(exp(e) - 1), for some t in [0, e]. With I the number of
            coins that give t - e, the best event at eps is "I <= l" for some l, and its gain
                F_l(t) = P(I <= l) - exp(eps) Q(I <= l)      is greatest at t_l = (eps + (l+1) e)/(k+1), or at t = e if
            that is less, where it is 0. delta(eps) is the greatest F_l(t_l).
Promise     `range_epsilon_below` is below the epsilon of k such mechanisms, adapting or not: some of them are coins.
            The epsilon that `range_epsilon` returns was proved for every l, and is about the least. **Only where every
            mechanism is fixed beforehand**: one that adapts may change its t, and then more is lost; e**2/8 in rho
            holds for those.
Proof       Coins of one t are the worst. With the sum of all t kept, and so the weights w(I) = max(exp(sum t - I e) -
            exp(eps), 0), move two of them, t and s, together: with u = exp(-t) + exp(-s) and c = 1/(1 - exp(-e)), the
            mean of w under Q changes by c (w(r) - w(r+1)) - c**2 (w(r) - 2 w(r+1) + w(r+2)) for each u, over the number
            r among the others. Where all three are positive that is 0; where w(r+2), or w(r+1) too, is cut off at 0 the
            second part is larger; so it is never above 0, and u is least at t = s. Then, of equal t, dF_l/dt has the
            sign of exp(eps + e - t) - exp(k t - l e), which falls through 0 at t_l. That coins are the worst pairs, one
            t each: log-ratios within the interval and a mean ratio of 1 make every divergence at most that of the two
            ends.
Search      The epsilon is sought where F is greatest, climbing from the last l; then every l is checked. Most by
            F_l(t) <= P(I < (k t - eps)/e) <= exp(-k KL), Chernoff's bound; the others in full.
Source      Dong, Durfee, Rogers, ICML 2020 (arXiv 1909.13830), which has also why adapting loses more.
Checked     tests/accounting/test_closed.py.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

from dpcurator.accounting.closed.pure import binomial_tail
from dpcurator.accounting.rounding import FIGURES
from dpcurator.numbers.arb import Ball, ball, precision
from dpcurator.numbers.decimal_search import decimal_at, place_of
from dpcurator.numbers.enclosure import bracket

MOST_SAME = 2000
_BITS = 96


def range_epsilon(epsilon: Fraction, count: int, delta: Fraction) -> Fraction | None:
    """An epsilon at `delta` in [0, 1) of `count` >= 1 mechanisms of range epsilon >= 0, all fixed beforehand."""
    most = count * epsilon
    if delta == 0 or epsilon == 0:
        return most
    low, high, best = Fraction(0), most, count // 2
    if _passes(epsilon, count, low, delta, best)[0] is False and proved(epsilon, count, low, delta):
        return low
    for _ in range(44):
        middle = (low + high) / 2
        passed, best = _passes(epsilon, count, middle, delta, best)
        low, high = (middle, high) if passed else (low, middle)
    for slack in (10**11, 10**9, 10**7, 10**5, 10**3):
        eps = decimal_at(place_of(high * (1 + Fraction(1, slack)), FIGURES) + 1, FIGURES)
        if proved(epsilon, count, eps, delta):
            return min(eps, most)
    return most


def range_epsilon_below(epsilon: Fraction, count: int, delta: Fraction) -> Fraction:
    """An epsilon below which `count` coins of one t have a delta above `delta`; so have mechanisms that adapt. 0 where
    none was found. delta: in (0, 1)."""
    low, high, best = Fraction(0), count * epsilon, count // 2
    for _ in range(40):
        middle = (low + high) / 2
        passed, best = _passes(epsilon, count, middle, delta, best)
        low, high = (middle, high) if passed else (low, middle)
    for slack in (10**11, 10**9, 10**7, 10**5):
        eps = decimal_at(place_of(low * (1 - Fraction(1, slack)), FIGURES), FIGURES) if low else low
        for events in range(max(best - 2, 0), min(best + 3, _events(epsilon, count, eps))):
            t = (eps + (events + 1) * epsilon) / (count + 1)
            if eps and 0 < t < epsilon and gain(epsilon, count, eps, t, events) > delta_ball(delta):
                return eps
    return Fraction(0)


def range_delta_below(epsilon: Fraction, count: int, eps: Fraction) -> Fraction:
    """A delta at eps of `count` coins of one t, rounded down: at least 0."""
    _, best = _passes(epsilon, count, eps, Fraction(1), count // 2)
    t = (eps + (best + 1) * epsilon) / (count + 1)
    return max(bracket(gain(epsilon, count, eps, t, best)).lo, Fraction(0)) if 0 < t < epsilon else Fraction(0)


def proved(epsilon: Fraction, count: int, eps: Fraction, delta: Fraction) -> bool:
    """Is F_l(t_l) <= delta for every l?"""
    for events in range(_events(epsilon, count, eps)):
        t = (eps + (events + 1) * epsilon) / (count + 1)
        if not (_far(epsilon, count, eps, t, delta) or gain(epsilon, count, eps, t, events) <= delta_ball(delta)):
            return False
    return True


def gain(epsilon: Fraction, count: int, eps: Fraction, t: Fraction, events: int) -> Ball:
    """F_l(t), for 0 < t < epsilon."""

    def odds(by: Fraction) -> Callable[[], Ball]:  # of the loss t: exp(by) (exp(epsilon - t) - 1)/(1 - exp(-t))
        return lambda: ball(by).exp() * ball(epsilon - t).expm1() / -(-ball(t)).expm1()

    # under P: p/(1-p) = (exp(e) - exp(t))/(exp(t) - 1); under Q it is exp(-e) times that
    first, second = (binomial_tail(count, odds(by), count - events, _BITS) for by in (Fraction(0), -epsilon))
    with precision(_BITS + 32 + int(eps).bit_length()):
        return first - ball(eps).exp() * second


def delta_ball(delta: Fraction) -> Ball:
    with precision(2 * _BITS):
        return ball(delta)


def _events(epsilon: Fraction, count: int, eps: Fraction) -> int:
    """How many l have t_l below epsilon."""
    return max(0, min(count + 1, -((eps - count * epsilon) // epsilon)))


def _far(epsilon: Fraction, count: int, eps: Fraction, t: Fraction, delta: Fraction) -> bool:
    """Is P(I < (k t - eps)/e) <= delta by Chernoff's bound?"""
    part = (count * t - eps) / (count * epsilon)
    if part <= 0:
        return True  # no outcome loses more than eps
    with precision(_BITS):
        x, flips = ball(part), ball(t).expm1() / ball(epsilon).expm1()  # 1 - p
        if not x < flips:
            return False
        rate = x * (x / flips).log() + (1 - x) * ((1 - x) / (1 - flips)).log()
        return bool((-count * rate).exp() <= ball(delta))


def _passes(epsilon: Fraction, count: int, eps: Fraction, delta: Fraction, near: int) -> tuple[bool, int]:
    """Whether some F_l(t_l), as found by climbing from `near`, is above delta; and the l."""
    last = _events(epsilon, count, eps) - 1
    if last < 0:
        return False, near
    known: dict[int, Ball] = {}

    def at(events: int) -> Ball:
        if events not in known:
            t = (eps + (events + 1) * epsilon) / (count + 1)
            known[events] = gain(epsilon, count, eps, t, events).mid()
        return known[events]

    place, step = min(near, last), max(1, count // 16)
    while step:
        better = [to for to in (place - step, place + step) if 0 <= to <= last and at(to) > at(place)]
        if better:
            place = max(better, key=at)
        else:
            step //= 2
    return bool(at(place) > delta_ball(delta)), place
