"""Real-world cases about the loss of one mechanism, named by id."""

from __future__ import annotations

from fractions import Fraction as F

import pytest

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
