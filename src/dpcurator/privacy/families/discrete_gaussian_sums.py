"""The discrete Gaussian law in numbers: its sums, its delta at an epsilon, and the least variance for a delta.

Definition  f(k) = exp(-k**2 / (2 variance)); `upper(m)` is the sum of f over k >= m, `whole` over all.
            For a shift d >= 1, gain(m) = P(Z >= m) - e**eps P(Z >= m + d) is what the event {Z >= m} shows. The
            log-ratio of Z to Z - d at k is (2 k d + d**2) / (2 variance), rising in k, so delta(eps) is the largest
            gain, that of the first whole m above eps variance / d - d / 2 (Canonne, Kamath, Steinke 2020, theorem 7).
Promise     Every number is an enclosure of the law itself, in balls; the continuous curve is nowhere used.

Sums. Few terms are added one by one, and what is left is at most a geometric series. Else Euler-Maclaurin to 2 p terms,
whose rest is at most 2 zeta(2p) (2 pi)**-2p times the integral of |f^(2p)|; f^(2p)(x) = sigma**-2p He_2p(x / sigma)
f(x) and |He_n(y)| <= 1.0865 sqrt(n!) exp(y**2 / 4) (Cramer) make that less than 7 sqrt((2p)!) (2 pi sigma)**-2p sigma
erfc(y / 2), y = m / sigma. It is taken when y < .7 sigma and variance > bits / 1.4; the rest then falls below 2**-bits
f(m) long before it grows again (its least is about exp(-2 pi**2 variance)).

Least variance. delta(eps) is NOT monotone in the variance: at eps = 5, shift 1, it is .0066 at .1 and .0648 at .2. But
each gain(m) is simple. For -d < m <= 0 it falls. For m >= 1, 2 gain(m) is the mean of h(|Z|), where h is 0 below m, 1
below m + d, then 1 - e**eps; h - c changes sign at most twice, from - to + to -, whatever c > 0; exp(-k**2 theta) is
totally positive in k**2 and -theta; so the mean crosses c at most twice, first upwards (Karlin 1968, variation
diminishing). Hence the variances at which gain(m) > delta are one interval, and two of them with all between fail
together. From a variance below which all fail, go as far as the best m there fails, and again from there, until
delta(eps) is met: all that was passed had failed. Rounds grow with ln(1/delta).
Checked     tests/mechanisms/test_discrete_gaussian.py.
"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import lru_cache

from dpcurator.numbers import Enclosure
from dpcurator.numbers.arb import Ball, ball, precision
from dpcurator.privacy.narrow import narrow, surely_at_most

_FIGURES = 32  # binary figures of a variance on the grid of `least_variance`


def upper(variance: Fraction, m: int, bits: int) -> Ball:
    """The sum of f(k) over k >= m, any int, to a relative error of about 2**-bits."""
    if m >= 1:
        return _upper(variance, m, bits)
    everything, below = whole(variance, bits), _upper(variance, 1 - m, bits)
    with precision(bits + 64):
        return everything - below


@lru_cache(maxsize=64)  # the same for each event of one law
def whole(variance: Fraction, bits: int) -> Ball:
    """The sum of f(k) over all k."""
    half = _upper(variance, 1, bits)
    with precision(bits + 64):
        return 1 + 2 * half


def _upper(variance: Fraction, m: int, bits: int) -> Ball:
    """m >= 1."""
    terms = math.isqrt(m * m + math.ceil(variance * bits * 7 / 5)) - m + 1
    with precision(bits + 64 + int(m * m / variance).bit_length()):
        few = terms <= 400 + bits or terms <= _steps(variance, m, bits)  # where variance <= 1/40, few
        return _terms(variance, m, terms) if few else _euler_maclaurin(variance, m, bits)


def _steps(variance: Fraction, m: int, bits: int) -> int:
    """About how many Euler-Maclaurin takes: its rest begins e**(y**2 / 4) times the sum, and falls 2 pi sigma twice."""
    return int((bits + m * m / (2 * variance)) / math.log2(40 * variance))


def _terms(variance: Fraction, m: int, terms: int) -> Ball:
    value = (-ball(m * m / (2 * variance))).exp()
    ratio, faster = (-ball((2 * m + 1) / (2 * variance))).exp(), (-ball(1 / variance)).exp()
    total = value
    for _ in range(terms):
        value, ratio = value * ratio, ratio * faster
        total += value
    return total.union(total + value * ratio / (1 - ratio))


def _euler_maclaurin(variance: Fraction, m: int, bits: int) -> Ball:
    from flint import arb

    sigma = ball(variance).sqrt()
    y, turn = m / sigma, 2 * arb.pi() * sigma
    value = (-ball(m * m / (2 * variance))).exp()
    total = sigma * (arb.pi() / 2).sqrt() * (y / ball(2).sqrt()).erfc() + value / 2
    before, hermite = ball(1), y  # He of 2j - 2 and 2j - 1
    step, j, close = value / sigma, 1, value * ball(Fraction(1, 1 << bits))
    rest = 7 * sigma * (y / 2).erfc()
    while True:
        total += arb.bernoulli(2 * j) / arb(2 * j).fac() * step * hermite
        rest *= ball((2 * j) * (2 * j - 1)).sqrt() / (turn * turn)
        if rest < close:
            return (total - rest).union(total + rest)
        before, hermite = hermite, y * hermite - (2 * j - 1) * before
        before, hermite = hermite, y * hermite - 2 * j * before
        step, j = step / (sigma * sigma), j + 1


def gain(variance: Fraction, shift: int, eps: Fraction, m: int, bits: int) -> Ball:
    """P(Z >= m) - e**eps P(Z >= m + shift)."""
    one, other, all_of_it = (*(upper(variance, k, bits) for k in (m, m + shift)), whole(variance, bits))
    with precision(bits + 64 + int(eps).bit_length()):
        return (one - ball(eps).exp() * other) / all_of_it


def best(variance: Fraction, shift: int, eps: Fraction) -> int:
    """The m of the largest gain."""
    return math.floor(eps * variance / shift - Fraction(shift, 2)) + 1


def delta(variance: Fraction, shift: int, eps: Fraction) -> Enclosure:
    """The least delta of Z against Z + shift at eps >= 0; relative width under 2**-64, or below 2**-60000."""
    if shift == 0:
        return Enclosure.exactly(0)
    m = best(variance, shift, eps)
    found = narrow(lambda bits: gain(variance, shift, eps, m, bits), 128 + 2 * math.ceil(variance).bit_length())
    return Enclosure(max(found.lo, Fraction(0)), min(found.hi, Fraction(1)))


def least_variance(eps: Fraction, delta: Fraction, shift: int) -> Fraction:
    """The least variance of 32 binary figures with delta(eps) <= delta. shift >= 1, eps >= 0, 0 < delta < 1.

    A greater variance need not do: see above.
    """

    def fails(place: int, m: int) -> bool:
        variance = on_grid(place)
        bits = 96 + math.ceil(variance).bit_length()
        return not surely_at_most(lambda bits: gain(variance, shift, eps, m, bits), delta, bits)

    def best_at(place: int) -> int:
        return best(on_grid(place), shift, eps)

    start = Fraction(shift * shift) / (2 * eps) if eps else Fraction(shift * shift)  # up to here the best m is <= 0
    octave = 1 << (_FIGURES - 1)
    low = octave * (start.numerator.bit_length() - start.denominator.bit_length() - 1)
    while not fails(low, best_at(low)):
        low -= octave
    step = octave
    while True:  # delta(eps) fails at low and below
        m = best_at(low)
        if fails(low + step, m):
            low, step = low + step, 2 * step
            continue
        while step > 1 and not fails(low + step, m):
            step //= 2
        low += step
        if step == 1 and not fails(low, best_at(low)):
            return on_grid(low)


def on_grid(place: int) -> Fraction:
    """The numbers of 32 binary figures in order: place 0 is 1, place 2**31 is 2."""
    octave, figures = divmod(place, 1 << (_FIGURES - 1))
    return Fraction((1 << (_FIGURES - 1)) + figures) * Fraction(2) ** (octave - _FIGURES + 1)
