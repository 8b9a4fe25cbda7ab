"""A privacy profile of one's own: what is (epsilon_i, delta_i)-DP for each of several pairs.

Definition  The pair whose delta, as a function H of E = e**eps, is the greatest convex one that is at most delta_i at
            each E_i, falls, and is the same both ways: H(E) = 1 - E + E H(1/E).
Promise     It dominates whatever keeps all these pairs, towards neighbours in either order. One pair is "approximate".
Proof       H of a release is convex (a supremum of lines), falls, is 1 at 0, and with the neighbours exchanged it is
            1 - E + E H(1/E), which is at most delta_i at E_i too; so H is at most the lower convex hull of (0, 1), of
            all (E_i, delta_i) and of (1/E_i, 1 - (1 - delta_i)/E_i), and constant after the last. That hull is the
            delta of a pair with Q(L > x) = -H'(e**x) (Zhu, Dong, Wang 2022, on profiles): atoms at its corners
            +-eps_i, of masses p = E_i q and q the change of slope, and delta_n at infinity. With s_i = -(delta_i -
            delta_i+1)/(E_i+1 - E_i) the slope after corner i, 0 after the last, the one before the first is the line to
            its mirror, s_0 = -(1 - delta_1)/(1 + E_1); at E_1 = 1 that is the mean of both sides. A point whose slopes
            do not surely rise is above the hull or on it, and is left out; fewer points make a greater hull.
Source      Kairouz, Oh, Viswanath 2015 (one pair); Doroshenko et al. 2022 (arXiv 2207.04380), connecting the dots.
Checked     tests/privacy/test_own.py.
"""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise

from dpcurator.errors import Refusal
from dpcurator.numbers.arb import Ball, ball, precision
from dpcurator.numbers.rational import at_least_0, from_0_below_1
from dpcurator.privacy.families.family import Given, Named, Pair, Tails
from dpcurator.privacy.families.finite import Finite, family, numbered, on_lattice, series

_BITS = 512  # at which slopes are compared
_MOST = 2000  # pairs
_LARGEST = 10**5  # of an epsilon
Corners = list[tuple[Fraction, Fraction]]  # epsilon and delta, epsilon rising


def _together(given: Given) -> None:
    epsilons, deltas = series(given, "epsilon"), series(given, "delta")
    if len(epsilons) != len(deltas):
        raise Refusal(
            f"There are {len(epsilons)} epsilons and {len(deltas)} deltas.", cure="Give a delta for each epsilon."
        )
    if len(epsilons) > _MOST:
        raise Refusal(f"A profile has at most {_MOST:,} pairs.", cure="Leave some out: what is left holds too.")
    if max(epsilons) > _LARGEST:
        raise Refusal(f"An epsilon is beyond {_LARGEST:,}.", cure="Leave that pair out.")
    if any(one >= other for one, other in pairwise(epsilons)):
        raise Refusal("The epsilons do not rise.", cure="Give the least epsilon first, and each once.")


def _before(found: Corners, i: int) -> Ball:
    """The slope before corner i; before the first, of the line to its mirror."""
    if i == 0:
        return -ball(1 - found[0][1]) / (1 + ball(found[0][0]).exp())
    return -ball(found[i - 1][1] - found[i][1]) / (ball(found[i][0]).exp() - ball(found[i - 1][0]).exp())


def _after(found: Corners, i: int) -> Ball:
    return _before(found, i + 1) if i + 1 < len(found) else ball(0)


def _corners(given: Given) -> Corners:
    """The corners of the hull."""
    found: Corners = []
    for eps, delta in zip(series(given, "epsilon"), series(given, "delta"), strict=True):
        if not found or delta < found[-1][1]:  # a greater epsilon of no less delta says nothing
            found.append((eps, delta))
    with precision(_BITS):
        i = 0
        while len(found) > 1 and i < len(found):
            if _after(found, i) > _before(found, i):
                i += 1
            else:  # the slopes next to it are others now
                del found[i]
                i = max(i - 1, 0)
    return found


def _make(given: Given) -> Finite:
    found = _corners(given)
    mirrored = [-eps for eps, _ in found if eps]
    losses = [eps for eps, _ in reversed(found)] + mirrored

    def rows() -> list[Tails]:
        q = [_after(found, i) - _before(found, i) for i in range(len(found))]
        p = [ball(eps).exp() * one for (eps, _), one in zip(found, q, strict=True)]
        if found[0][0] == 0:  # the change from the mirror's slope, 1 - delta + s to the left of E = 1
            q[0] = p[0] = 2 * _after(found, 0) + ball(1 - found[0][1])
        upper = list(zip(p, q, strict=True))
        return upper[::-1] + [(one, other) for other, one in upper[found[0][0] == 0 :]]

    return Finite(losses, lambda i, x: losses[i] > x, rows, found[-1][1])


def _simplest(given: Given) -> Named | None:
    found = _corners(given)
    if len(found) == 1:
        ((eps, delta),) = found
        if delta:
            return "approximate", {"epsilon": eps, "delta": delta}
        return ("pure", {"epsilon": eps}) if eps else None
    return "profile", numbered("epsilon", [eps for eps, _ in found]) | numbered("delta", [d for _, d in found])


FAMILY = family(
    ranges={"epsilon*": at_least_0, "delta*": from_0_below_1},
    together=_together,
    make=_make,
    pair=lambda given: Pair(
        "P", "Q", f"of the greatest delta that keeps the {len(series(given, 'epsilon'))} pairs that are given"
    ),
    reverse=None,
    simplest=_simplest,
    attained=None,
    lattice=on_lattice,
)
