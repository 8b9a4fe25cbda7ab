"""k mechanisms of one pure epsilon together: the least delta at every epsilon, and the least epsilon at every delta.

Definition  Each of k mechanisms is e-DP. At worst their losses are those of k coins that give +e with chance
            p = 1/(1+exp(-e)) and -e otherwise. With m heads the loss is (2m-k) e, and at eps >= 0 the best event is
            "more than (eps/e + k)/2 heads", so for the least such m
                delta(eps) = P(heads >= m) - exp(eps) Q(heads >= m),     P binomial(k, p), Q binomial(k, 1-p).
Promise     `optimal_delta` brackets that, at any eps, not at whole multiples of e alone. `optimal_epsilon` is the least
            epsilon of 12 figures, rounded up. No smaller number holds for all e-DP mechanisms. Valid when each
            mechanism is adaptively chosen, as long as e and k are fixed before the first.
Proof       Kairouz, Oh, Viswanath: an e-DP mechanism is a post-processing of the coin, whoever chooses it. Between two
            losses delta is A - exp(eps) B with one m, so eps = ln((A - delta)/B) solves it there. A binomial tail is
            summed from its greatest term outwards, each next one by a ratio that only falls, so that what is left out
            is at most a geometric series, which is added to the bracket.
Cost        About 20 sqrt(k) terms a tail, whatever e is.
Source      Kairouz, Oh, Viswanath, ICML 2015 (arXiv 1311.0776), theorem 3.3.
Checked     tests/accounting/test_closed.py.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction

from dpcurator.accounting.rounding import ball_up
from dpcurator.numbers import Enclosure
from dpcurator.numbers.arb import Ball, ball, precision
from dpcurator.numbers.enclosure import bracket
from dpcurator.privacy.narrow import enclosed

_ZERO = Fraction(0)


def optimal_delta(epsilon: Fraction, count: int, eps: Fraction) -> Enclosure:
    """The least delta at eps >= 0 of `count` >= 1 mechanisms that are epsilon-DP, epsilon >= 0."""
    if eps >= count * epsilon:
        return Enclosure.exactly(0)
    m = math.floor((eps / epsilon + count) / 2) + 1

    def gap(bits: int) -> Ball:
        above, other = (binomial_tail(count, odds_of(way), m, bits) for way in (epsilon, -epsilon))
        with precision(bits + 32 + int(eps).bit_length()):
            return above - ball(eps).exp() * other

    return enclosed(gap, bits=160, most=Fraction(1))


def optimal_epsilon(epsilon: Fraction, count: int, delta: Fraction) -> Fraction:
    """The least eps at `delta` in [0, 1) of `count` >= 1 mechanisms that are epsilon-DP; 12 figures, rounded up."""
    if epsilon == 0 or optimal_delta(epsilon, count, _ZERO).hi <= delta:
        return _ZERO
    if delta == 0:
        return count * epsilon
    low, high = count // 2, count  # heads; at (2 low - count) epsilon, or at 0, delta is passed; at the other not
    while high - low > 1:
        middle = (low + high) // 2
        if optimal_delta(epsilon, count, (2 * middle - count) * epsilon).hi <= delta:
            high = middle
        else:
            low = middle
    least, most = max((2 * low - count) * epsilon, _ZERO), (2 * high - count) * epsilon
    above, other = (binomial_tail(count, odds_of(way), high, 256) for way in (epsilon, -epsilon))
    with precision(256):
        inside = above - ball(delta)
        found = ball_up((inside / other).log()) if inside > 0 else most
    return min(max(found, least), most)


def binomial_tail(count: int, odds: Callable[[], Ball], least: int, bits: int) -> Ball:
    """P(heads >= least) among `count` coins, to a relative error of about 2**-bits; 0 <= least. `odds` makes
    P(heads)/P(tails) > 0 at the working precision."""
    from flint import arb

    if least > count:
        return arb(0)
    with precision(bits + 48 + 2 * count.bit_length()):
        chosen = odds()
        chance = float(bracket((chosen / (1 + chosen)).mid()).lo)
        scale = int(bracket(abs(chosen.log())).hi) + count.bit_length() + 8
    start = min(max(least, math.floor((count + 1) * chance)), count)
    with precision(bits + 48 + (count * scale).bit_length()):
        choices, log_odds = arb(count + 1).lgamma() - arb(start + 1).lgamma() - arb(count - start + 1).lgamma(), odds()
        peak = (choices + start * log_odds.log() - count * log_odds.log1p()).exp()
    with precision(bits + 32 + 2 * count.bit_length()):
        fair, small = odds(), ball(Fraction(1, 1 << bits))
        total = term = +peak
        for place in range(start, count):  # upwards
            term = term * (count - place) * fair / (place + 1)
            total += term
            if place & 15 == 0 and term < total * small:
                total = _with_rest(total, term, (count - place - 1) * fair / (place + 2))
                break
        term = peak
        for place in range(start, least, -1):
            term = term * place / ((count - place + 1) * fair)
            total += term
            if place & 15 == 0 and term < total * small:
                total = _with_rest(total, term, (place - 1) / ((count - place + 2) * fair))
                break
        return total


def odds_of(log_odds: Fraction) -> Callable[[], Ball]:
    return lambda: ball(log_odds).exp()


def _with_rest(total: Ball, term: Ball, ratio: Ball) -> Ball:
    """The total with what follows `term`, each further one being at most `ratio` < 1 times the one before."""
    return total.union(total + term * ratio / (1 - ratio))
