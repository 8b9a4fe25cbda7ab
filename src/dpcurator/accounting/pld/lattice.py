"""What the certificate reads of a composition's losses: where they lie, which are attained, and how few they can be.

The facts are the families' own (privacy/families/family.py); here they are asked for, and added up where that is a
rule of composition: Gaussian pairs of mu_i make one of mu**2 = sum mu_i**2. Checked in
tests/accounting/test_pld_cells.py and, for samples, test_sampled_pld.py.
"""

from __future__ import annotations

from fractions import Fraction

from dpcurator.errors import Refusal
from dpcurator.privacy.families import FAMILIES, Family
from dpcurator.privacy.families.family import Lattice, Named, Points
from dpcurator.privacy.loss import Loss
from dpcurator.privacy.sampled import on_all_rows, way_of

_LONG, _FINE = 10**120, 2**400
_FAR, _FAR_SAMPLED = 10**9, 2000  # losses beyond grids; samples pile up at 0 and at the far end


def with_law(loss: Loss) -> Family:
    """The record of its family. Raises Refusal where the law of its losses is not known."""
    known = FAMILIES[loss.family]
    if known.law is None:
        raise Refusal(f"{loss.family} has no privacy loss distribution here.", cure="Account for it by its rho.")
    return known


def shape(loss: Loss) -> Lattice:
    """Where its losses lie. Raises Refusal for a family whose law is not known."""
    known = with_law(loss)
    assert known.lattice is not None
    return known.lattice(loss.given)


def own_points(loss: Loss) -> Points | None:
    """Where its losses lie, for families that say so."""
    fact = FAMILIES[loss.family].points
    return None if fact is None else fact(loss.given)


def beyond_grids(loss: Loss) -> bool:
    """Are its losses so large that a grid of doubles is of no use? Bounds in closed form say all that matters there."""
    base = on_all_rows(loss)
    reach = FAMILIES[base.family].reach
    largest = base.rho() if reach is None else reach(base.given)  # of a bell: the mean
    return largest > (_FAR if way_of(loss) is None else _FAR_SAMPLED)


def infinite_of(loss: Loss) -> Fraction:
    """The chance of an infinite loss, forward."""
    return loss.distribution(atoms=1).infinite if FAMILIES[loss.family].apart is not None else Fraction(0)


def both_ways(parts: list[tuple[Loss, int]]) -> list[list[tuple[Loss, int]]]:
    """The composition forward and, where it is another, backward. Each way is composed by itself."""
    back = [(loss.reversed, count) for loss, count in parts]
    return [parts] if back == parts else [parts, back]


def attained(parts: list[tuple[Loss, int]]) -> list[tuple[Loss, int]]:
    """Losses that releases of these families really have, all at once: what a lower bound may be read from. Those that
    may be of nothing are left out."""
    found = [(_attained(loss), count) for loss, count in parts]
    return [(loss, count) for loss, count in found if loss is not None]


def _attained(loss: Loss) -> Loss | None:
    fact = FAMILIES[loss.family].attained
    return loss if fact is None else simplest(_named(fact(loss.given)))


def only_above(loss: Loss) -> bool:
    """Is its law a bound from above, of which one Gaussian release is attained and not the curve itself?"""
    found = _attained(loss)
    return found is not None and FAMILIES[found.family].mu_squared is not None and not _is_gaussian(loss)


def _is_gaussian(loss: Loss) -> bool:
    return FAMILIES[loss.family].mu_squared is not None


def _named(found: Named) -> Loss:
    return Loss(found[0], tuple(found[1].items()))


def reduced(parts: tuple[tuple[Loss, int], ...]) -> tuple[list[tuple[Loss, int]], Fraction]:
    """The same composition with fewer parts: all Gaussians are one, and losses that are the same law are merged.

    Gaussian pairs of mu_i make one of mu**2 = sum mu_i**2: turn the axes along the shift. Where that has long digits, r
    = 2**-400 or less of it is left out: a lower bound does without, and to an upper one it adds a delta of at most the
    root of r (its total variation is at most mu / sqrt(2 pi)). That delta, or 0, is the second thing returned.
    """
    mu_squared, counts = Fraction(0), dict[Loss, int]()
    for loss, count in parts:
        one = simplest(loss)
        if one is None:
            continue
        mu_squared_of = FAMILIES[one.family].mu_squared
        if mu_squared_of is None:
            counts[one] = counts.get(one, 0) + count
        else:
            mu_squared += count * mu_squared_of(one.given)
    spare = Fraction(0)
    if mu_squared.denominator > _LONG:
        mu_squared, spare = Fraction(int(mu_squared * _FINE), _FINE), Fraction(1, 2**200)
    if mu_squared:
        counts[gaussian_of(mu_squared)] = 1
    return list(counts.items()), spare


def gaussian_of(mu_squared: Fraction) -> Loss:
    """The Gaussian pair of this mu**2, which may be 0."""
    shift, variance = (Fraction(1), 1 / mu_squared) if mu_squared else (Fraction(0), Fraction(1))
    return Loss("gaussian", (("shift", shift), ("variance", variance)))


def simplest(loss: Loss) -> Loss | None:
    """The loss with its parameters reduced to those that matter; None for a loss of nothing."""
    fact = FAMILIES[loss.family].simplest
    if fact is None:
        return loss
    found = fact(loss.given)
    return None if found is None else _named(found)
