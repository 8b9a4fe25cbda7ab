"""Where the losses of a family lie: what a grid should be anchored at, and how far apart its atoms are.

`anchor` is the largest finite loss where there is one (rounded up by under 2**-120 where it is irrational), `gap` the
distance of neighbouring atoms of a discrete law, `wide` that of its heavy ones, at the two ends. They only choose a
grid: whatever grid is chosen, accounting/discretise.py is right. Checked in tests/accounting/test_pld_cells.py.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from dpcurator.errors import Refusal
from dpcurator.privacy.families import FAMILIES
from dpcurator.privacy.families.randomised_response import two_chances
from dpcurator.privacy.loss import Loss

IRRATIONAL = Fraction(1, 2**116)
_LONG, _FINE = 10**120, 2**400


@dataclass(frozen=True, slots=True)
class Shape:
    """gap: None for a law with a continuous part. wide: None where no loss has a mass of its own at the ends."""

    anchor: Fraction | None
    gap: Fraction | None
    wide: Fraction | None


def shape(loss: Loss) -> Shape:
    """Raises Refusal for a family whose law is not known."""
    given, family = loss.given, loss.family
    if family == "gaussian":
        return Shape(None, None, None)
    if family == "discrete_gaussian":
        step = given["shift"] / given["variance"]
        return Shape(given["shift"] * step / 2, step, None)
    known = FAMILIES.get(family)
    if known is None or known.law is None or known.reach is None:
        raise Refusal(f"{family} has no law of its losses here.", cure="Account for it by its rho.")
    reach = known.reach(given)
    if family == "bounded_range":
        return Shape(reach, None, reach)
    if family == "laplace":
        return Shape(reach, None, 2 * reach)
    if family == "discrete_laplace":
        return Shape(reach, 2 / given["scale"], 2 * reach)
    if family in ("randomised_response", "unary_encoding"):
        less = reach - IRRATIONAL  # so that the points below are not below the atoms, which would share a cell
        return Shape(reach, 2 * less if sum(two_chances(given)) == 1 else less, 2 * less)
    return Shape(reach, 2 * reach, 2 * reach) if reach else Shape(reach, None, None)


def attained(parts: list[tuple[Loss, int]]) -> list[tuple[Loss, int]]:
    """Losses that releases of these families really have, all at once: what a lower bound may be read from.

    Every family here stands for one pair, but a bounded range: its law dominates all its mechanisms and is none of
    them, and many of them together are cheaper than many of it. One of them is a coin of log-ratios e/2 and -e/2.
    """
    return [
        (Loss("pure", (("epsilon", loss["epsilon"] / 2),)) if loss.family == "bounded_range" else loss, count)
        for loss, count in parts
    ]


def reduced(parts: tuple[tuple[Loss, int], ...]) -> tuple[list[tuple[Loss, int]], Fraction]:
    """The same composition with fewer parts: all Gaussians are one, and losses that are the same law are merged.

    Gaussian pairs of mu_i make one of mu**2 = sum mu_i**2: turn the axes along the shift. Where that has long digits, r
    = 2**-400 or less of it is set apart: a lower bound does without, and to an upper one it adds a delta of at most the
    root of r (its total variation is at most mu / sqrt(2 pi)). That delta, or 0, is the second thing returned.
    """
    mu_squared, counts = Fraction(0), dict[Loss, int]()
    for loss, count in parts:
        one = simplest(loss)
        if one is None:
            continue
        if one.family == "gaussian":
            mu_squared += count / one["variance"]
        else:
            counts[one] = counts.get(one, 0) + count
    spare = Fraction(0)
    if mu_squared.denominator > _LONG:
        mu_squared, spare = Fraction(int(mu_squared * _FINE), _FINE), Fraction(1, 2**200)
    if mu_squared:
        counts[Loss("gaussian", (("shift", Fraction(1)), ("variance", 1 / mu_squared)))] = 1
    return list(counts.items()), spare


def simplest(loss: Loss) -> Loss | None:
    """The loss with its parameters reduced to those that matter; None for a loss of nothing."""
    given = loss.given
    if given.get("shift") == 0 or (given.get("epsilon") == 0 and not given.get("delta")):
        return None
    if loss.family == "gaussian":
        return Loss("gaussian", (("shift", Fraction(1)), ("variance", given["variance"] / given["shift"] ** 2)))
    if loss.family == "laplace":
        return Loss("laplace", (("scale", given["scale"] / given["shift"]), ("shift", Fraction(1))))
    if loss.family == "approximate" and given["delta"] == 0:
        return Loss("pure", (("epsilon", given["epsilon"]),))
    if loss.family in ("randomised_response", "unary_encoding"):
        truth, lie = two_chances(given)
        if truth == lie:
            return None
        return Loss("randomised_response", (("lie", lie), ("truth", truth)))
    return loss
