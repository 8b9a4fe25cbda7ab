"""The law of the loss: mass one, its mean the divergence, its delta that of the loss, its cells those of the tails."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction as F

import pytest
from losses import EPSILONS, WITH_A_LAW, loss, meet

from dpcurator.numbers import Enclosure, ln
from dpcurator.privacy.distribution import Atom
from dpcurator.privacy.loss import Loss
from dpcurator.privacy.narrow import enclosed

DISCRETE = [one for one in WITH_A_LAW if not one.distribution().continuous]
ZERO = Enclosure.exactly(0)


def middle(atom: Atom) -> F:
    return atom.loss.lo if isinstance(atom.loss, Enclosure) else atom.loss


@pytest.mark.parametrize("one", DISCRETE, ids=str)
def test_atoms_are_the_whole_law(one: Loss) -> None:
    """Their masses, what is cut off and the infinite one sum to 1; distinct, from the highest down."""
    law = one.distribution()
    total = sum((atom.mass for atom in law.atoms), law.above + law.below) + law.infinite
    assert total.holds(1)
    assert total.width < F(1, 2**50)
    assert all(middle(high) > middle(low) for high, low in itertools.pairwise(law.atoms))


@pytest.mark.parametrize("one", DISCRETE, ids=str)
def test_atoms_are_the_jumps_of_the_tail(one: Loss) -> None:
    law = one.distribution()
    step = min((middle(a) - middle(b) for a, b in itertools.pairwise(law.atoms)), default=F(1)) / 4
    for atom in law.atoms[:40]:
        first, second = law.cell(middle(atom) - step, middle(atom) + step)
        assert meet(first, atom.mass)
        ratio = F(first.lo) / second.lo if second.lo else None
        if ratio is not None:
            assert math.isclose(math.log(ratio), float(middle(atom)), rel_tol=1e-9, abs_tol=1e-9)


@pytest.mark.parametrize("one", DISCRETE, ids=str)
def test_the_mean_is_the_sum_over_atoms(one: Loss) -> None:
    law = one.distribution()
    if law.infinite:
        return
    mean = sum((atom.mass * atom.loss for atom in law.atoms), ZERO)
    assert abs(mean.lo - one.kl().lo) < F(1, 2**60)
    assert meet(law.mean(), one.kl())


@pytest.mark.parametrize("one", WITH_A_LAW, ids=str)
@pytest.mark.parametrize("eps", EPSILONS)
def test_delta_of_the_law_is_that_of_the_loss(one: Loss, eps: F) -> None:
    """By atoms where there are only those, by the two tails otherwise: each agrees with the closed form."""
    law = one.distribution()
    found = law.delta(eps)
    assert meet(found, one.delta(eps))
    assert found.width < F(1, 2**50)
    assert meet(law._delta_from_tails(eps), one.delta(eps))


@pytest.mark.parametrize("one", [one for one in WITH_A_LAW if one.distribution().continuous], ids=str)
def test_cells_of_a_continuous_law_hold_its_mean_and_its_ratio(one: Loss) -> None:
    """Mass under P lies within e**low and e**high times that under Q, cell by cell; so the mean is bracketed."""
    law = one.distribution()
    reach = float(one.pure_epsilon()) if one.family != "gaussian" else float(one.rho()) + 12 * math.sqrt(2 * one.rho())
    edges = [F(round(-reach * 1000) - 1, 1000) + F(i) * F(round(2 * reach * 1000) + 2, 1000 * 60) for i in range(61)]
    low = high = 0.0
    for left, right in itertools.pairwise(edges):
        first, second = (float(side.lo) for side in law.cell(left, right))
        assert first * math.exp(-right) <= second * (1 + 1e-9) + 1e-300
        assert second <= first * math.exp(-left) * (1 + 1e-9) + 1e-300
        low, high = low + first * float(left), high + first * float(right)
    assert low - 1e-6 <= float(law.mean().lo) <= high + 1e-6


def test_laplace_by_hand() -> None:
    """Mass 1/2 at +1, e**-1 / 2 at -1, the rest between; mean e**-1; never above 1 (the notes, C)."""
    law = loss("laplace", scale=1, shift=1).distribution()
    high, low = law.atoms
    assert (high.loss, high.mass) == (F(1), Enclosure.exactly(F(1, 2)))
    assert low.loss == -1
    assert math.isclose(float(low.mass.lo), math.exp(-1) / 2, rel_tol=1e-15)
    assert math.isclose(float(law.mean().lo), 0.36787944117144233, rel_tol=1e-15)
    assert law.tail(1) == ZERO
    assert law.cdf(1) == Enclosure.exactly(1)
    assert law.cdf("-1.001") == ZERO
    assert meet(law.cdf(-1), low.mass)
    assert meet(law.tail("0.999999999999"), Enclosure(F(1, 2), F(1, 2) + F(1, 10**11)))
    assert math.isclose(float(law.cdf(0).lo), math.exp(-0.5) / 2, rel_tol=1e-15)


def test_tails_are_narrow_where_they_are_tiny() -> None:
    """A difference of doubles would be 0 or noise there."""
    law = loss("gaussian", variance=1, shift=1).distribution()
    far = law.tail(40)
    assert far.surely_above(0)
    assert far.width * 2**60 < far.lo
    assert math.isclose(float(ln(far.lo).lo), -(39.5**2) / 2 - math.log(39.5 * math.sqrt(2 * math.pi)), rel_tol=1e-6)
    first, second = law.cell(40, 41)
    assert first.width * 2**60 < first.lo
    assert second.width * 2**60 < second.lo
    assert law.cdf(-40).surely_above(0)


def test_a_cut_is_told_and_delta_then_is_a_bracket() -> None:
    whole, few = (loss("discrete_gaussian", variance=4, shift=3).distribution(atoms=n) for n in (2000, 9))
    assert len(few.atoms) == 9
    assert few.above == few.below
    assert few.above.surely_above(F(1, 100))
    for eps in (F(0), F(1), F(3)):
        assert few.delta(eps).lo <= whole.delta(eps).hi <= few.delta(eps).hi + F(1, 2**60)
        assert few.delta(eps).width > F(1, 1000)


def test_a_formula_near_nothing_ends() -> None:
    assert enclosed(lambda bits: 0 * _one()).hi == 0
    tiny = enclosed(lambda bits: (-_one() * 10**9).exp())
    assert (tiny.lo, tiny.hi <= F(1, 2**60000)) == (0, True)


def _one():
    from flint import arb

    return arb(1)
