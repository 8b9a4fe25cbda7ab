"""The Renyi bound: divergences add up at every order, and the order is searched continuously.

Definition  tau(a) is the sum over all releases of their divergences of order a > 1, in closed form where there is one
            and else a rho; eps = tau(a) + ln(1-1/a) - (ln delta + ln a)/(a-1), least over a.
Promise     (eps, delta) for all together, for adaptively chosen mechanisms as long as their losses are fixed
            beforehand. The order is searched with floats and then taken as the rational that it is; the bound
            there is evaluated in balls and rounded up. A poor order costs tightness alone.
Proof       Divergences of one order add up, also adaptively (Mironov 2017, proposition 1); conversion: convert.py. For
            a fixed eps, ln delta is convex in a ((a-1) tau is, and (a-1) ln(a-1) - a ln a is), so it, and eps at a
            fixed delta too, first falls and then rises with a, and a search by sections ends at the least.
Source      Mironov 2017 (arXiv 1702.07476); Canonne, Kamath, Steinke 2020, proposition 12.
Checked     tests/accounting/test_closed.py.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from fractions import Fraction

from dpcurator.accounting.convert import delta_by_order, epsilon_by_order, renyi_of
from dpcurator.privacy.loss import Loss

MOST_LOSSES = 300  # distinct ones; beyond that, the search is not made
_STEPS = 44
_LOWEST = 1 + Fraction(1, 10**6)  # an order at which every loss that has divergences has one


def least_renyi_epsilon(parts: Iterable[tuple[Loss, int]], delta: Fraction) -> Fraction | None:
    """An epsilon at `delta` in (0, 1) by the best order; None where a loss has no divergence, or losses are many."""
    return _least(parts, lambda total, alpha: epsilon_by_order(total, alpha, delta))


def least_renyi_delta(parts: Iterable[tuple[Loss, int]], epsilon: Fraction) -> Fraction | None:
    """A delta at `epsilon` >= 0 by the best order; None where a loss has no divergence, or losses are many."""
    return _least(parts, lambda total, alpha: delta_by_order(total, alpha, epsilon).hi)


def _least(parts: Iterable[tuple[Loss, int]], bound: Callable[[Fraction, Fraction], Fraction]) -> Fraction | None:
    listed = list(parts)
    if len(listed) > MOST_LOSSES or any(renyi_of(loss, _LOWEST) is None for loss, _ in listed):
        return None
    found: dict[float, Fraction | None] = {}

    def total(alpha: Fraction) -> Fraction | None:
        """None beyond the last order of a curve."""
        divergences = [renyi_of(loss, alpha) for loss, _ in listed]
        if any(one is None for one in divergences):
            return None
        return sum((one * count for one, (_, count) in zip(divergences, listed, strict=True) if one), Fraction(0))

    def at(place: float) -> Fraction | float:
        """The bound by the order 1 + exp(place)."""
        if place not in found:
            alpha = Fraction(1) + Fraction(f"{math.exp(place):.6e}")
            sum_of_all = total(alpha)
            found[place] = None if sum_of_all is None else bound(sum_of_all, alpha)
        known = found[place]
        return math.inf if known is None else known

    low, high, part = -18.0, 36.0, (math.sqrt(5) - 1) / 2
    for _ in range(_STEPS):
        left, right = high - part * (high - low), low + part * (high - low)
        if at(left) <= at(right):
            high = right
        else:
            low = left
    return min((one for one in found.values() if one is not None), default=None)
