"""Divergences of laws given exactly: worked by hand, against losses, and against trying every event."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction as F

import pytest

import dpcurator as dp
from dpcurator.auditing.exact.divergences import compare, hockey_stick, law, max_divergence, renyi
from dpcurator.auditing.pairs import Pair
from dpcurator.numbers import Enclosure

COIN = law({"yes": F(3, 4), "no": F(1, 4)}), law({"yes": F(1, 4), "no": F(3, 4)})
THREE = law({0: F(1, 2), 1: F(1, 3), 2: F(1, 6)}), law({0: F(1, 5), 1: F(3, 10), 2: F(1, 2)})


def test_a_coin_by_hand():
    p, q = COIN
    assert float(max_divergence(p, q)) == pytest.approx(math.log(3))
    assert hockey_stick(p, q, 0).lo == F(1, 2)
    assert float(hockey_stick(p, q, "0.5").hi) == pytest.approx(3 / 4 - math.exp(0.5) / 4)
    assert hockey_stick(p, q, 2).hi == 0
    found = renyi(p, q, 2)
    assert found is not None
    assert found.lo <= F(math.log(9 / 4 + 1 / 12)) + F(1, 10**12)
    assert float(found.hi) == pytest.approx(math.log(9 / 4 + 1 / 12))
    assert found.width < F(1, 10**20)


def test_a_lower_end_is_below_and_an_upper_end_above_whatever_the_rest_does():
    whole = hockey_stick(*THREE, "0.3")
    part = tuple({x: mass for x, mass in one.items() if x} for one in THREE)
    found = hockey_stick(*part, "0.3")
    assert found.lo <= whole.lo <= whole.hi <= found.hi
    less = renyi(*part, 3)
    more = renyi(*THREE, 3)
    assert less is not None
    assert more is not None
    assert less.lo <= more.lo


def test_an_outcome_that_cannot_happen_on_the_other_side():
    p, q = law({0: F(1, 100), 1: F(99, 100)}), law({1: F(1)})
    assert max_divergence(p, q) == math.inf
    assert renyi(p, q, 2) is None
    assert hockey_stick(p, q, 5).lo == F(1, 100)


@pytest.mark.parametrize("claim", [dp.Pure("0.1"), dp.Approximate("0.1", "0.05"), dp.Zcdp("0.01")])
def test_no_event_proves_more_than_the_one_found(claim):
    """All events of three outcomes, both ways round."""
    found = compare(Pair(0, 1), THREE, claim)
    every = [
        claim.at_least(sum(p[x].lo for x in event), sum(q[x].hi for x in event))
        for p, q in (THREE, THREE[::-1])
        for size in (1, 2)
        for event in itertools.combinations(range(3), size)
    ]
    assert max(one.at_least for one in found) >= max(every) * F(999_999_999, 10**9)
    if not isinstance(claim, dp.Zcdp):
        assert max(one.at_least for one in found) <= max(every)


def test_rho_of_the_whole_laws_is_more_than_that_of_an_event():
    noise = dp.DiscreteGaussian(F(4))
    report = dp.audit(noise, pair=(0, 1), claim=dp.Zcdp("1/8"))
    assert report.verdict == "no violation found"
    assert 0.1249 < report.at_least <= F(1, 8)
    less = dp.audit(noise, pair=(0, 1), claim=dp.Zcdp("0.124"))
    assert less.verdict == "violation found (certain)"


@pytest.mark.parametrize("chances", [{0: 0.5, 1: 0.5}, {0: F(2, 3), 1: F(2, 3)}, {0: -1, 1: 2}, {0: True}])
def test_what_is_no_exact_law_is_refused(chances):
    with pytest.raises(dp.Refusal) as refused:
        law(chances)
    assert refused.value.cure


def test_enclosures_are_laws_too():
    third = Enclosure(F(333, 1000), F(334, 1000))
    p, q = law({0: third, 1: 1 - third}), law({0: F(1, 10), 1: F(9, 10)})
    assert float(max_divergence(p, q)) == pytest.approx(math.log(3.33))
