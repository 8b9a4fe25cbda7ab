"""Where the losses of a family lie: what a grid should be anchored at, and how far apart its atoms are.

`anchor` is the largest finite loss where there is one (rounded up by under 2**-120 where it is irrational), `gap` the
distance of neighbouring atoms of a discrete law, `wide` that of its heavy ones, at the two ends, and `lowest` the least
loss where it is not minus the anchor. They only choose a grid: whatever grid is chosen, accounting/pld/discretise.py is
right. Checked in tests/accounting/test_pld_cells.py and, for samples, test_sampled_pld.py.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from dpcurator.errors import Refusal
from dpcurator.privacy.families import FAMILIES
from dpcurator.privacy.families.poisson import RATE
from dpcurator.privacy.families.randomised_response import two_chances
from dpcurator.privacy.loss import Loss
from dpcurator.privacy.sampled import on_all_rows, rate_of, way_of, with_base

IRRATIONAL = Fraction(1, 2**116)
_LONG, _FINE = 10**120, 2**400
_FAR, _FAR_SAMPLED = 10**9, 2000  # losses beyond grids; samples pile up at 0 and at the far end


@dataclass(frozen=True, slots=True)
class Shape:
    """gap: None for a law with a continuous part. wide: None where no loss has a mass of its own at the ends."""

    anchor: Fraction | None
    gap: Fraction | None
    wide: Fraction | None
    lowest: Fraction | None = None


def shape(loss: Loss) -> Shape:
    """Raises Refusal for a family whose law is not known."""
    given, family = loss.given, loss.family
    if way_of(loss) is not None:
        return _sampled(loss)
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


def _sampled(loss: Loss) -> Shape:
    """The two ends are irrational: the anchor is a little above, and so is the point that is to hold the lower one."""
    base = on_all_rows(loss)
    whole = shape(base)
    ends = loss.distribution(atoms=1).ends
    if FAMILIES[loss.family].reach is None:
        return Shape(None, None, None)
    top, bottom = ends[0].hi, ends[-1].hi
    wide = top - bottom - IRRATIONAL
    if wide <= IRRATIONAL:
        return Shape(top, None, None)
    two = whole.gap is not None and whole.gap == whole.wide and not base.given.get("delta")
    if way_of(loss) == "fixed_size":
        less = top - IRRATIONAL  # there is an atom at 0
        return Shape(top, less if two else None, less)
    return Shape(top, wide if two else None, wide, ends[-1].lo)


def beyond_grids(loss: Loss) -> bool:
    """Are its losses so large that a grid of doubles is of no use? Bounds in closed form say all that matters there."""
    base = on_all_rows(loss)
    reach = FAMILIES[base.family].reach
    largest = base["shift"] ** 2 / (2 * base["variance"]) if reach is None else reach(base.given)
    return largest > (_FAR if way_of(loss) is None else _FAR_SAMPLED)


def infinite_of(loss: Loss) -> Fraction:
    """The chance of an infinite loss, forward."""
    if loss.family.endswith("_reversed"):
        return Fraction(0)
    return rate_of(loss) * loss.given.get("delta", Fraction(0))


def both_ways(parts: list[tuple[Loss, int]]) -> list[list[tuple[Loss, int]]]:
    """The composition forward and, where it is another, backward. Each way is composed by itself."""
    back = [(loss.reversed, count) for loss, count in parts]
    return [parts] if back == parts else [parts, back]


def attained(parts: list[tuple[Loss, int]]) -> list[tuple[Loss, int]]:
    """Losses that releases of these families really have, all at once: what a lower bound may be read from.

    Every family here stands for one pair, but a bounded range: its law dominates all its mechanisms and is none of
    them, and many of them together are cheaper than many of it. One of them is a coin of log-ratios e/2 and -e/2.
    Nor is that of a sample of fixed size: but a row that counts, where no other does, against one that does not, has
    the pair of a Poisson sample of the same rate, forward.
    """
    return [(_attained(loss), count) for loss, count in parts]


def _attained(loss: Loss) -> Loss:
    base, way = on_all_rows(loss), way_of(loss)
    if base.family == "bounded_range":
        base = Loss("pure", (("epsilon", base["epsilon"] / 2),))
    if way is None:
        return base
    return (
        with_base(loss, base)
        if way == "poisson"
        else Loss(f"poisson_{base.family}", (*base.parameters, (RATE, loss[RATE])))
    )


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
    if way_of(loss) is not None:
        base = simplest(on_all_rows(loss))
        return None if base is None else with_base(loss, base)
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
