"""What releases on samples reveal with no noise at all: less is asked for by every target that noise is searched for.

Definition  t = 1 - (1 - q)**k: the probability that a row is in any of k samples of rate q.
Promise     Whatever the releases are, towards a row that is added, removed or replaced delta is at most t at every
            epsilon, so the advantage is at most t; and a false negative rate of at least `least_missed` is left to
            every test of a false positive rate alpha.
Proof       Given the samples of all other rows, a release on a sample without the row is the same on both tables, so
            each pair is (1-q) M + q N against M, or against (1-q) M + q O: total variation at most q. Products of k
            such, also where one depends on those before, agree on a part of (1-q)**k = 1 - t. Replaced: a test misses
            at least 1 - t - alpha. Added or removed: the law P with the row is at least (1-t) times the law Q without.
            So alpha = P(S) leaves 1 - Q(S) >= 1 - alpha/(1-t), and alpha = Q(S) leaves 1 - P(S) >= (1-t)(1-alpha).
Checked     tests/accounting/test_noise_targets.py.
"""

from __future__ import annotations

import math
from fractions import Fraction

from dpcurator.numbers import Enclosure, decimal_text
from dpcurator.numbers.arb import ball, precision
from dpcurator.numbers.decimal_search import decimal_at, place_of
from dpcurator.numbers.enclosure import bracket


def drawn(rate: Fraction, count: int) -> Enclosure:
    """t. rate: in (0, 1]; count: int >= 1."""
    if rate == 1:
        return Enclosure.exactly(1)
    with precision(128 + 2 * count.bit_length()):
        found = bracket(-(count * (-ball(rate)).log1p()).expm1())
    return Enclosure(max(found.lo, Fraction(0)), min(found.hi, Fraction(1)))


def least_missed(rate: Fraction, count: int, alpha: Fraction, *, replaced: bool) -> Fraction:
    """A false negative rate that every test has, rounded down."""
    rest = 1 - drawn(rate, count).hi
    if replaced or not rest:
        return max(rest - alpha, Fraction(0))
    return max(min(rest * (1 - alpha), 1 - alpha / rest), Fraction(0))


def any_noise(rate: Fraction, count: int) -> str:
    """Why any noise meets a target."""
    rest = float(1 - drawn(rate, count).hi)
    shown = decimal_text(Fraction(math.floor(rest * 10**4), 10**4))
    return f"Any noise meets this target: a row is in none of the samples with probability {shown} or more."


def below(value: Fraction) -> Fraction:
    """Half of it, to two figures."""
    return decimal_at(place_of(value / 2, 2), 2)
