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
        return Shape(reach, None, None)
    if family == "laplace":
        return Shape(reach, None, 2 * reach)
    if family == "discrete_laplace":
        return Shape(reach, 2 / given["scale"], 2 * reach)
    if family in ("randomised_response", "unary_encoding"):
        less = reach - IRRATIONAL  # so that the points below are not below the atoms, which would share a cell
        return Shape(reach, 2 * less if sum(two_chances(given)) == 1 else less, 2 * less)
    return Shape(reach, 2 * reach, 2 * reach)


def reduced(parts: tuple[tuple[Loss, int], ...]) -> list[tuple[Loss, int]]:
    """The same composition with fewer parts: Gaussians are one, and losses that are the same law are merged.

    Gaussian pairs of mu_i make one of mu**2 = sum mu_i**2: turn the axes along the shift. A new one is begun where that
    sum, which is exact, would have more than 100 digits. A loss of nothing drops out.
    """
    mu_squared, squares, counts = Fraction(0), list[Fraction](), dict[Loss, int]()
    for loss, count in parts:
        one = simplest(loss)
        if one is None:
            continue
        if one.family == "gaussian":
            more = mu_squared + count / one["variance"]
            if more.denominator > 10**100:
                squares.append(mu_squared)
                more = count / one["variance"]
            mu_squared = more
        else:
            counts[one] = counts.get(one, 0) + count
    for square in (*squares, mu_squared):
        if square:
            loss = Loss("gaussian", (("shift", Fraction(1)), ("variance", 1 / square)))
            counts[loss] = counts.get(loss, 0) + 1
    return list(counts.items())


def simplest(loss: Loss) -> Loss | None:
    """The loss with its parameters reduced to those that matter; None for a loss of nothing."""
    given = loss.given
    if given.get("shift") == 0 or loss.parameters in ((("epsilon", 0),), (("delta", 0), ("epsilon", 0))):
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
