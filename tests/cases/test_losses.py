"""Real-world cases about the loss of one mechanism, named by id."""

from __future__ import annotations

from fractions import Fraction as F

import numpy as np
import pytest
from power import NO_CLOCK

import dpcurator as dp


def test_com_13_one_gaussian_by_its_exact_curve():
    """Sigma 4, delta 1e-5: .926341504 by the curve; by Renyi 1.01228664 at best, and once 1.23088."""
    loss = dp.Loss("gaussian", (("variance", 16), ("shift", 1)))
    found = loss.epsilon("1e-5")
    assert float(found) == pytest.approx(0.926341504, rel=1e-8)
    assert loss.delta(found).hi <= F("1e-5")
    assert loss.rho() == F(1, 32)


def test_com_18_no_noise_has_no_loss_to_state():
    with pytest.raises(dp.Refusal, match="variance must be above 0"):
        dp.Loss("gaussian", (("variance", 0), ("shift", 1)))
    with pytest.raises(dp.Refusal, match="scale must be above 0"):
        dp.Loss("laplace", (("scale", 0), ("shift", 1)))


def test_com_01_advanced_composition_keeps_its_logarithm():
    """1000 releases of pure .1 at 1e-6: 4.99584 + 16.62258 by that bound (not 4477); the optimum is in (19.2, 19.4]."""
    from dpcurator.accounting.closed.bounds import upper_bounds

    found = dict(upper_bounds(((dp.Loss("pure", (("epsilon", F("0.1")),)), 1000),), "1e-6"))
    assert float(found["advanced"]) == pytest.approx(21.618419, abs=1e-6)
    assert found["sum"] == 100
    assert F("19.2") < min(found.values()) <= F("19.4")


def test_hunt_45_rho_to_epsilon_at_a_small_delta():
    """rho 2.56, .07 and 2.63 at 1e-10, by the best order; rho + 2 sqrt(rho ln(1/delta)) says 17.915, 2.609, 18.194."""
    from dpcurator.privacy.zcdp import epsilon_of

    for rho, wanted in (("2.56", "17.158309"), ("0.07", "2.387275"), ("2.63", "17.430584")):
        assert abs(epsilon_of(F(rho), F("1e-10")) - F(wanted)) < F("1e-6")
    exact = dp.Loss("gaussian", {"variance": 1 / (2 * F("2.56")), "shift": 1})
    assert exact.rho() == F("2.56")
    assert abs(exact.epsilon("1e-10") - F("16.479388")) < F("1e-6")


def test_hunt_46_rounded_laplace_is_not_discrete_laplace():
    """(1 - 1/e) / (1 + 1/e) at 0, not .393 and not twice that of 1; and rounding is post-processing all the same."""
    noise = dp.DiscreteLaplace(1)
    for point, wanted in ((0, 0.46211716), (1, 0.1700034), (-1, 0.1700034)):
        assert float(noise.pmf(point)) == pytest.approx(wanted, abs=1e-7)
    rng = np.random.default_rng(46)
    report = dp.audit(lambda rows, size: np.rint(len(rows) + rng.laplace(0, 1, size)), claim=dp.Pure(1),
                      neighbours="add-remove", domain=[0], samples=100_000, confidence="0.999999999", seconds=NO_CLOCK)
    assert not report.violated
