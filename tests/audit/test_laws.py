"""Laws of dpcurator's own mechanisms, and of functions of random bits by running them on all bits."""

from __future__ import annotations

import math
from fractions import Fraction as F

import pytest
from worlds import worlds

import dpcurator as dp
from dpcurator.auditing.claims import claim_of
from dpcurator.auditing.exact.laws import enumerate_bits
from dpcurator.samplers import reference

WORLDS = [world for world in worlds() if claim_of(world.loss) is not None]


@pytest.mark.parametrize("world", WORLDS, ids=[f"{i}-{world}" for i, world in enumerate(WORLDS)])
def test_no_mechanism_of_ours_is_found_to_break_its_loss_and_each_breaks_less(world):
    """The control: where the loss is attained, half of it is certainly false."""
    claim = claim_of(world.loss)
    best = F(0)
    for pair in world.pairs[:4]:
        report = dp.audit(world.mechanism, pair=pair, claim=claim, shrink=False)
        assert report.layer == "exact"
        assert report.verdict == "no violation found"
        best = max(best, report.at_least)
    if world.attained and claim.measure == "epsilon" and not claim.delta:
        half = type(claim)(claim.epsilon / 2)
        reports = [dp.audit(world.mechanism, pair=pair, claim=half, shrink=False) for pair in world.pairs[:4]]
        assert any(report.verdict == "violation found (certain)" for report in reports)


def test_bits_are_enumerated_to_the_exact_law():
    found = enumerate_bits(lambda x, entropy: entropy.bits(3) < x, 5)
    assert {outcome: (mass.lo, mass.hi) for outcome, mass in found.items()} == {
        True: (F(5, 8), F(5, 8)), False: (F(3, 8), F(3, 8)),
    }


def test_what_is_not_explored_is_left_open():
    """A geometric draw of bits: every outcome's chance is bracketed, by less than what the deepest strings weigh."""

    def geometric(x, entropy):
        k = 0
        while entropy.bits(1):
            k += 1
        return k

    found = enumerate_bits(geometric, 0, seconds=0.2)
    for k in range(5):
        assert found[k].lo == F(1, 2 ** (k + 1)) <= found[k].hi
    assert found[0].width < F(1, 1000)


def test_a_fair_coin_made_unfair_is_certain_and_rejection_is_not_modulo():
    def modulo(x, entropy):
        return (entropy.bits(3) + x) % 3

    report = dp.audit(modulo, pair=(0, 1), claim=dp.Pure("0.1"))
    assert report.verdict == "violation found (certain)"
    assert float(report.epsilon) == pytest.approx(math.log(3 / 2))

    def below(x, entropy):
        while (k := entropy.bits(2)) == 3:
            pass
        return (k + x) % 3

    fair = dp.audit(below, pair=(0, 1), claim=dp.Pure("0.1"), seconds=2)
    assert fair.verdict == "no violation found"


def test_an_exception_is_an_outcome_of_bits_too():
    found = enumerate_bits(lambda x, entropy: 1 // entropy.bits(1), 0)
    assert sorted(map(repr, found)) == ["1", "raising ZeroDivisionError"]


def test_our_reference_sampler_against_its_law():
    """The scalar sampler of the Bernoulli law, run on all bits, holds its exact chance."""
    found = enumerate_bits(lambda x, entropy: reference.bernoulli(x, entropy), F(1, 3), seconds=2)
    assert all(mass.width < F(1, 1000) for mass in found.values())
    assert found[True].holds(F(1, 3))
