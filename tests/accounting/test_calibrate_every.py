"""Every mechanism is calibrated for every target, one release and several, and at the ends; a new one cannot be left
out."""

from __future__ import annotations

from fractions import Fraction as F

import pytest
from worlds import CALIBRATED

import dpcurator as dp
from dpcurator.accounting.calibrate import calibrate
from dpcurator.accounting.closed.bounds import upper_bounds
from dpcurator.accounting.composition import Composition
from dpcurator.mechanisms import MECHANISMS
from dpcurator.privacy import zcdp

NAMED = {cls.__name__: cls for cls in MECHANISMS}
HOW = CALIBRATED
NOT_PURE = {"DiscreteGaussian", "Gaussian", "ProposeTestRelease"}
WITHOUT_RHO = {"ProposeTestRelease"}


def test_every_mechanism_is_here():
    assert set(HOW) == set(NAMED)


def kept(made):
    """Is it proved by a bound of its own, or the sum of shares, each by its own curve?"""
    epsilon, delta = made.proved["epsilon"], made.proved["delta"]
    count = made.releases
    if made.by == "sum" and count > 1 and made.loss.family.startswith("discrete_gaussian"):
        return made.loss.delta(epsilon / count).hi <= delta / count
    if made.by == "own curve":
        return made.loss.delta(epsilon).hi <= delta
    if made.by == "pld":
        return Composition(((made.loss, count),)).epsilon(delta) <= epsilon
    if made.by == "zcdp" and made.loss.family.startswith("discrete_gaussian"):
        return zcdp.epsilon_of(count * made.loss.rho(), delta) <= epsilon
    return min(bound for _, bound in upper_bounds(((made.loss, count),), delta)) <= epsilon


@pytest.mark.parametrize(
    ("count", "epsilon", "delta"), [(1, "0.5", "1e-7"), (3, "0.5", "1e-7"), (2, 0, "1e-6"), (3, 10**4, "1e-300")]
)
@pytest.mark.parametrize("name", HOW)
def test_an_epsilon_and_a_delta(name, count, epsilon, delta):
    made = calibrate(NAMED[name], epsilon=epsilon, delta=delta, releases=count, **HOW[name][0])
    assert made.proved["epsilon"] <= F(epsilon)
    assert made.proved["delta"] == F(delta)
    assert isinstance(made.mechanism, NAMED[name])
    if epsilon or not name.endswith("Gaussian"):  # a curve at so much noise is a long sum
        assert kept(made)


@pytest.mark.parametrize("count", [1, 3])
@pytest.mark.parametrize("name", HOW)
def test_an_epsilon_alone(name, count):
    if name in NOT_PURE:
        with pytest.raises(dp.Refusal, match="delta"):
            calibrate(NAMED[name], epsilon=1, releases=count, **HOW[name][0])
        return
    made = calibrate(NAMED[name], epsilon=1, releases=count, **HOW[name][0])
    assert 1 - F(1, 10**6) <= made.proved["epsilon"] <= 1
    assert count * made.loss.pure_epsilon() == made.proved["epsilon"]


@pytest.mark.parametrize("count", [1, 3])
@pytest.mark.parametrize("name", HOW)
def test_a_rho(name, count):
    if name in WITHOUT_RHO:
        with pytest.raises(dp.Refusal):
            calibrate(NAMED[name], rho="0.1", releases=count, **HOW[name][0])
        return
    made = calibrate(NAMED[name], rho="0.1", releases=count, **HOW[name][0])
    assert F("0.1") * (1 - F(1, 10**5)) <= count * made.loss.rho() == made.proved["rho"] <= F("0.1")


@pytest.mark.parametrize("name", [name for name in HOW if HOW[name][2]])
def test_an_error(name):
    how, asked, error = HOW[name]
    made = calibrate(NAMED[name], error=error, error_given=asked, releases=3, **how)
    assert made.mechanism.error(beta="0.05", **asked) <= error
    assert made.proved["error"] <= error
    assert {"rho", "epsilon"} & set(made.proved)


def test_an_error_that_every_noise_has_is_refused():
    how, asked, _ = HOW["Smooth"]
    with pytest.raises(dp.Refusal, match="Any noise"):
        calibrate(dp.Smooth, error=1000, error_given=asked, **how)


@pytest.mark.parametrize("count", [2, 30])
def test_d10_several_discrete_gaussians_cost_what_continuous_ones_do(count, monkeypatch):
    """D10: sigma sqrt(k) to a thousandth, by one or two loss distributions, certified from above."""
    tried, honest = [], Composition.bracket
    monkeypatch.setattr(Composition, "bracket", lambda self, **how: tried.append(self) or honest(self, **how))
    made = calibrate(dp.DiscreteGaussian, epsilon=1, delta="1e-6", releases=count, sensitivity=1)
    assert len(tried) <= 2
    bracket = honest(Composition(((made.loss, count),)), delta="1e-6")
    assert F("0.999") <= bracket.lower <= bracket.upper <= 1
    assert bracket.upper <= made.proved["epsilon"] <= 1
    least = dict(calibrate("gaussian", epsilon=1, delta="1e-6", releases=count, sensitivity=1).loss.parameters)
    assert made.mechanism.variance <= least["variance"] * F(1001, 1000) ** 2
    alone = dp.DiscreteGaussian.spending(F(1) / count, F("1e-6") / count, sensitivity=1)
    assert made.mechanism.variance <= alone.variance


def test_d10_of_more_releases_than_are_composed_the_closed_bound_stands():
    made = calibrate(dp.DiscreteGaussian, epsilon=1, delta="1e-6", releases=10**6, sensitivity=1)
    assert made.by == "zcdp"
    assert kept(made)
