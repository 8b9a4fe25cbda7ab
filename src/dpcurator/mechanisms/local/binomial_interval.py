"""How many of n reports support a value when t people hold it, and what a count of supports says of t.

Definition  Holders support their own value with probability p, the others with probability q < p, independently, so the
            count is C = Bin(t, p) + Bin(n - t, q). n, p and q are public; t is asked for.
Promise     For every t, the interval of `interval` misses t with probability at most beta, over the randomness of the
            reports alone: t is a number of people, not a share of some population they were drawn from.
Proof       C grows with t (exchanging a q-coin for a p-coin only adds), so P_t(C >= c) does. The t with P_t(C >= c) >
            beta/2 reach up from some least one; the true t is below it only if C is so high that P_t(C >= C) <= beta/2,
            which has probability at most beta/2 (the ordinary argument of Clopper and Pearson). The other end is the
            same statement of the n - t others, n - C and the probabilities 1-q > 1-p. A t is left out only when an
            upper bound of its tail is at most beta/2, so whatever is unsure stays in.
            `exact`: the tail is the sum over j of P(Bin(t, p) = j) P(Bin(n-t, q) >= c - j), over windows of j and of
            the other count, in balls; what lies outside a window is 1 less the mass inside, and is added whole.
            `chernoff`: E exp(sC) = (1-p+p e**s)**t (1-q+q e**s)**(n-t), so P_t(C >= c) <= exp(A + tB) with A = n
            ln(1-q+q e**s) - sc and B = ln((1-p+p e**s)/(1-q+q e**s)) > 0, for every s > 0. This is at most beta/2
            for t <= (ln(beta/2) - A)/B: floats choose s, and one ball gives the bound for it.
            `radius`: Hoeffding's exp(-2 r**2/n) and Bernstein's exp(-r**2/(2 (V + r/3))), V >= Var C, bound each tail
            of C - E C for every t; r is the lesser of the two solutions for beta/2, and r/(p - q) is in people.
Source      Clopper, Pearson 1934; Chernoff 1952; Hoeffding, JASA 1963; Bernstein as in Boucheron, Lugosi, Massart 2013,
            theorem 2.10.
Checked     tests/mechanisms/test_binomial_interval.py: coverage, exactly, for every t.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from itertools import accumulate

from dpcurator.numbers.arb import Ball, ball, precision
from dpcurator.numbers.enclosure import bracket

_BITS = 192
_WIDEST = 2**15  # terms of a window; past it the tail is bounded, not summed
Least = Callable[[int, int, Fraction, Fraction, Fraction], int]


def interval(n: int, c: int, p: Fraction, q: Fraction, beta: Fraction, least: Least) -> tuple[int, int]:
    """The t that c supports of n leave possible, from and to. least: `exact` or `chernoff`; beta: in (0, 1)."""
    low = least(n, c, p, q, beta / 2)
    return low, n - least(n, n - c, 1 - q, 1 - p, beta / 2)


def radius(n: int, p: Fraction, q: Fraction, beta: Fraction) -> Fraction:
    """r with P(|C - E C| > r (p - q)) <= beta for every t, in people, rounded up."""
    spread = n * max(p * (1 - p), q * (1 - q))
    with precision(_BITS):
        log = (2 / ball(beta)).log()
        hoeffding = (ball(n) * log / 2).sqrt()
        bernstein = log / 3 + (log * log / 9 + 2 * ball(spread) * log).sqrt()
        return min(bracket(hoeffding / ball(p - q)).hi, bracket(bernstein / ball(p - q)).hi)


def chernoff(n: int, c: int, p: Fraction, q: Fraction, chance: Fraction) -> int:
    """A t, 0 <= t <= n, below which every t has P_t(C >= c) <= probability."""
    if c <= n * q:
        return 0
    log, gap, below = _log(chance), float(p - q), float(q)

    def reached(power: float) -> float:
        s = math.exp(power)
        one = math.expm1(s)
        return (log + s * c - n * math.log1p(below * one)) / math.log1p(gap * one / (1 + below * one))

    low, high, part = -40.0, 5.0, (math.sqrt(5) - 1) / 2
    for _ in range(30):  # golden section: the s that exclude a given t are an interval
        left, right = high - part * (high - low), low + part * (high - low)
        low, high = (left, high) if reached(left) < reached(right) else (low, right)
    s = Fraction(math.exp((low + high) / 2))
    with precision(_BITS):
        one = ball(s).exp() - 1
        base = ball(q) * one
        most = ((ball(chance)).log() + ball(s) * c - n * (1 + base).log()) / (
            (1 + ball(p - q) * one / (1 + base)).log()
        )
        return min(max(math.floor(bracket(most).lo) + 1, 0), n)


def exact(n: int, c: int, p: Fraction, q: Fraction, chance: Fraction) -> int:
    """The least t with P_t(C >= c) > probability, but for ties within 2**-100; that of `chernoff` past ten million or
    so."""
    low = chernoff(n, c, p, q, chance)  # every t below `low` is left out
    reach = _reach(n, max(float(p * (1 - p)), float(q * (1 - q))), chance)
    if c <= 0 or 2 * min(reach, n) > _WIDEST:
        return low

    def stays(t: int) -> bool:
        return not _tail_at_most(n, t, c, p, q, chance, reach)

    high, step, t = n, 1, min(max(_guess(n, c, p, q, chance), low), n)
    if stays(t):
        high = t
        while low < high and stays(t := max(low, high - step)):
            high, step = t, 2 * step
        low = t + 1 if low < high else low
    else:
        low = t + 1
        while low < high and not stays(t := min(high, low + step)):
            low, step = t + 1, 2 * step
        high = t if low < high else high
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if stays(middle) else (middle + 1, high)
    return min(low, n)


def _tail_at_most(n: int, t: int, c: int, p: Fraction, q: Fraction, chance: Fraction, reach: int) -> bool:
    """Is P_t(C >= c) <= probability, surely?"""
    with precision(_BITS):
        start, holders = _masses(t, p, reach)
        first, others = _masses(n - t, q, reach)
        above = [*reversed(list(accumulate(reversed(others)))), ball(0)]  # P(others >= first + i), within the window
        total = sum(
            (mass * above[min(max(c - start - j - first, 0), len(others))] for j, mass in enumerate(holders)), ball(0)
        )
        missed = (1 - sum(holders, ball(0))) + (1 - above[0])
        return bool(total + missed <= ball(chance))


def _masses(n: int, p: Fraction, reach: int) -> tuple[int, list[Ball]]:
    """P(Bin(n, p) = j) for j within `reach` of the middle, and the first j."""
    from flint import arb

    middle = min(int((n + 1) * p), n)
    first, last = max(middle - reach, 0), min(middle + reach, n)
    odds, size = ball(p / (1 - p)), arb(n + 1)
    log = size.lgamma() - arb(middle + 1).lgamma() - arb(n - middle + 1).lgamma()
    centre = (log + middle * ball(p).log() + (n - middle) * ball(1 - p).log()).exp()
    below, above = [centre], [centre]
    for j in range(middle, first, -1):  # P(j-1) = P(j) j / ((n-j+1) odds)
        below.append(below[-1] * j / ((n - j + 1) * odds))
    for j in range(middle, last):
        above.append(above[-1] * (n - j) * odds / (j + 1))
    return first, [*reversed(below), *above[1:]]


def _log(chance: Fraction) -> float:
    return math.log(chance.numerator) - math.log(chance.denominator)


def _reach(n: int, variance: float, chance: Fraction) -> int:
    """Far enough that by Bernstein about exp(-50) of the probability lies beyond; what does lie there is added
    anyway."""
    log = 50 - _log(chance)
    return math.ceil(math.sqrt(2 * n * variance * log) + log)


def _guess(n: int, c: int, p: Fraction, q: Fraction, chance: Fraction) -> int:
    """About where a normal distribution has this tail; only where the search begins."""
    x = math.sqrt(max(-2 * _log(chance), 0.0))
    away = (2.30753 + 0.27061 * x) / (1 + x * (0.99229 + 0.04481 * x)) - x  # Abramowitz, Stegun 26.2.22
    gap, above, one, other = float(p - q), float(c - n * q) - 0.5, float(p * (1 - p)), float(q * (1 - q))
    t = above / gap
    for _ in range(3):
        inside = min(max(t, 0.0), float(n))
        t = (above + away * math.sqrt(inside * one + (n - inside) * other)) / gap
    return round(min(max(t, 0.0), float(n)))
