"""Claims: what chances of one event prove, against values worked by hand and by brute force."""

from __future__ import annotations

import math
from fractions import Fraction as F

import numpy as np
import pytest

import dpcurator as dp
from dpcurator.auditing.claims import claim_of


def test_pure_is_the_logarithm_of_the_ratio_rounded_down():
    found = dp.Pure(1).at_least(F(3, 4), F(1, 4))
    assert found <= math.log(3) < found + F(1, 10**15) + F(2, 10**16)
    assert dp.Pure(1).contradicted(F(3, 4), F(1, 4))
    assert not dp.Pure("1.0987").contradicted(F(3, 4), F(1, 4))


def test_delta_is_taken_off_the_likelier_side():
    claim = dp.Approximate(1, "0.25")
    assert float(claim.at_least(F(3, 4), F(1, 4))) == pytest.approx(math.log(2))
    assert claim.at_least(F(1, 4), F(0)) == 0
    assert claim.at_least(F(1, 3), F(0)) == math.inf


@pytest.mark.parametrize("claim", [dp.Pure(0), dp.Approximate("0.5", "1e-3"), dp.Zcdp("0.1")])
def test_nothing_follows_from_equal_chances_and_more_from_more_distant_ones(claim):
    assert claim.at_least(F(1, 3), F(1, 3)) == 0
    assert claim.at_least(F(1, 4), F(1, 3)) == 0
    assert 0 < claim.at_least(F(1, 2), F(1, 3)) < claim.at_least(F(1, 2), F(1, 9)) < claim.at_least(F(5, 6), F(1, 9))
    assert claim.at_least(F(1, 2), F(0)) == math.inf


def coins(p, q, a):
    """The divergence of two coins over the order, in floats, for an array of orders."""
    return np.logaddexp(a * np.log(p) + (1 - a) * np.log(q), a * np.log1p(-p) + (1 - a) * np.log1p(-q)) / (a - 1) / a


@pytest.mark.parametrize(("p", "q"), [(F(3, 4), F(1, 4)), (F(1, 2), F(1, 1000)), (F(1, 100), F(1, 10**6))])
def test_rho_is_at_least_the_divergence_of_two_coins(p, q):
    """A fine search in floats over orders finds a little more, and never less."""
    a = 1 + np.geomspace(1e-4, 1e4, 4001)
    forward, backward = (float(np.max(coins(float(x), float(y), a))) for x, y in ((p, q), (q, p)))
    assert 0.98 * forward <= float(dp.Zcdp(1).at_least(p, q)) <= max(forward, backward) + 1e-9


def test_a_gaussian_of_rho_contradicts_less_and_not_its_own_rho():
    """N(0, 1) against N(1, 1) is 1/2-zCDP: no half-line proves more, and some prove more than a fifth."""
    chances = [
        (0.5 * math.erfc((t - 1) / math.sqrt(2)), 0.5 * math.erfc(t / math.sqrt(2))) for t in np.linspace(-3, 5, 33)
    ]
    proved = [float(dp.Zcdp(1).at_least(F(p), F(q))) for p, q in chances]
    assert 0.2 < max(proved) <= 0.5


def test_the_delta_of_a_claim():
    assert dp.Pure(1).delta_at(1).hi == 0
    found = dp.Pure(1).delta_at(0)  # the coin that tells the truth with chance e/(1+e)
    assert found.lo <= F((math.e - 1) / (math.e + 1)) + F(1, 10**15)
    assert float(found.hi) == pytest.approx((math.e - 1) / (math.e + 1))
    assert dp.Approximate(1, "0.1").delta_at(2).hi == F(1, 10)
    assert dp.Zcdp("0.5").delta_at(3).hi < dp.Zcdp("0.5").delta_at(1).hi < 1


def test_floats_that_choose_agree_with_what_is_proved():
    p, q = np.array([0.5, 0.75, 0.01]), np.array([0.1, 0.25, 0.001])
    for claim in (dp.Pure(0), dp.Approximate(0, "1e-4")):
        exact = [float(claim.at_least(F(a), F(b))) for a, b in zip(p, q, strict=True)]
        assert claim.scores(p, q) == pytest.approx(exact)


def test_what_a_loss_claims():
    assert claim_of(dp.Laplace(sensitivity=1, epsilon="0.5", grid="0.5").loss) == dp.Pure("0.5")
    assert claim_of(dp.Gaussian(sensitivity=1, rho="0.5", grid="0.5").loss).measure == "rho"
    assert claim_of(None) is None


@pytest.mark.parametrize(
    "made", [lambda: dp.Pure(-1), lambda: dp.Pure("nan"), lambda: dp.Approximate(1, 1), lambda: dp.Zcdp(0)],
    ids=["negative", "nan", "delta 1", "rho 0"],
)
def test_impossible_claims_are_refused(made):
    with pytest.raises(dp.Refusal):
        made()
