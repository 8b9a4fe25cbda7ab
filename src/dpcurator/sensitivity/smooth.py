"""Smooth sensitivity, exactly.

Definition  S(x) = max over k >= 0 of q**k A_k(x), with A_k the local sensitivity at distance k (`function`) and q a
            rational, e**-beta <= q <= 1, of 64 figures or more.
Promise     S(x) >= LS(x), and S(x) <= e**beta S(y) for neighbours x, y. S is held as (A_k, k, q), never rounded.
Proof       A_k(x) <= A_{k+1}(y), so q**k A_k(x) <= (1/q) q**{k+1} A_{k+1}(y) <= (1/q) S(y) <= e**beta S(y). The
            maximum is found by halving ranges of k: A_k never falls in k, so within (a, b) it is at most q**{a+1} A_b,
            and a range whose bound is no more than what was found is left out. Two products are compared by logarithms
            in balls, and where these leave a doubt, as whole numbers.
Source      Nissim, Raskhodnikova, Smith, STOC 2007, sections 2 and 3.
Checked     tests/sensitivity/test_smooth.py.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from functools import lru_cache
from itertools import pairwise
from typing import Any

from dpcurator.numbers import exp_neg, positive
from dpcurator.numbers.arb import Ball, ball, precision
from dpcurator.numbers.rational import Spelled
from dpcurator.sensitivity.function import Function, function_of
from dpcurator.sensitivity.sealed import SmoothSensitivity

_BITS = 160


@lru_cache(maxsize=64)
def shrink(beta: Fraction) -> Fraction:
    """q: e**-beta rounded up to 64 binary places and as many more as 1/beta and beta have."""
    places = 64 + math.ceil(1 / beta).bit_length() + 2 * math.ceil(min(beta, Fraction(30_000)))
    return min(Fraction(math.ceil(exp_neg(beta, places + 8).hi * 2**places), 2**places), Fraction(1))


def smooth_sensitivity(function: Function, data: Sequence[Any], beta: Spelled) -> SmoothSensitivity:
    """The beta-smooth sensitivity of a function at the data: sealed.

    S(x) = max over k >= 0 of exp(-beta k) A_k(x), A_k the local sensitivity within k changed rows: the least bound on
    it that neighbours change by a factor of at most e**beta. As private as the data: what is returned shows no number,
    and dp.Smooth uses it.

    Parameters:
        function: as made by dp.order_statistic, dp.trimmed_mean, dp.bounded_mean or dp.enumerated.
        data: a list of rows. beta: number > 0.

    Raises Refusal for anything else.

    >>> import dpcurator as dp
    >>> median = dp.order_statistic("1/2", lower=0, upper=100, grid=1)
    >>> dp.smooth_sensitivity(median, [20, 40, 53], beta="0.1")
    <SmoothSensitivity: sealed>

    Source: Nissim, Raskhodnikova, Smith 2007.
    """
    known, rate = function_of(function), positive(beta, name="beta")
    return of_rows(known, known.rows(data), rate)


def of_rows(function: Function, rows: Any, beta: Fraction) -> SmoothSensitivity:
    """The same for rows that are read already."""
    q = shrink(beta)
    weigh, last = _Weigh(q), function.farthest(rows)
    probes = sorted({0, last, *(2**i for i in range(last.bit_length()) if 2**i < last)})
    local = {k: function.local_sensitivity_at(rows, k) for k in probes}
    best = (0, local[0])
    for k in probes[1:]:
        if weigh.less(best, (k, local[k])):
            best = (k, local[k])
    left = [(a, b) for a, b in pairwise(probes) if b - a > 1]
    while left:
        a, b = left.pop()
        if not weigh.less(best, (a + 1, local[b])):
            continue
        middle = (a + b) // 2
        local[middle] = function.local_sensitivity_at(rows, middle)
        if weigh.less(best, (middle, local[middle])):
            best = (middle, local[middle])
        left += [(one, other) for one, other in ((a, middle), (middle, b)) if other - one > 1]
    return SmoothSensitivity(best[1], best[0], q, function.unit(rows))


class _Weigh:
    """Which of q**k A is the larger."""

    def __init__(self, q: Fraction) -> None:
        self.q = q
        with precision(_BITS):
            self.log: Ball = ball(q).log()

    def less(self, one: tuple[int, int], other: tuple[int, int]) -> bool:
        """Is q**k A of `one` below that of `other`?"""
        (k, a), (j, b) = one, other
        if b <= 0 or a <= 0:
            return a < b
        if k <= j and a >= b:
            return False
        if k >= j and a < b:
            return True
        with precision(_BITS):
            gap = ball(a).log() - ball(b).log() + (k - j) * self.log
            if gap < 0:
                return True
            if gap > 0:
                return False
        top: int = self.q.numerator ** abs(k - j)
        bottom: int = self.q.denominator ** abs(k - j)
        return a * top < b * bottom if k >= j else a * bottom < b * top
