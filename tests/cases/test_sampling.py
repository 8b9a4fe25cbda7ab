"""Cases of mechanisms on samples of the rows, which accountants price; a curator draws no samples (README.md here)."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest

import dpcurator as dp

F = Fraction


def gaussian(sigma: object) -> dp.Loss:
    return dp.Loss("gaussian", {"variance": F(str(sigma)) ** 2, "shift": 1})


def test_com_08_amplification_is_inverted() -> None:
    """(1, 1e-6) on a sample of 1 % is (5.15229794, 1e-4) on all rows, and there sigma is .776436406."""
    eps0 = math.log1p(math.expm1(1) / 0.01)
    assert eps0 == pytest.approx(5.15229794, rel=1e-8)
    back = dp.Loss("approximate", {"epsilon": eps0, "delta": "1e-4"}).sampled(poisson="0.01")
    assert dp.compose(back).epsilon(delta="1e-6") == pytest.approx(1, rel=1e-12)
    found = dp.calibrate("gaussian", epsilon=1, delta="1e-6", sensitivity=1, poisson="0.01")
    assert float(found.loss["variance"]) ** 0.5 == pytest.approx(0.776436406, rel=1e-7)
    assert found.loss["variance"] >= F("0.776436") ** 2
    for sigma, true in (("0.9366", 0.4707), ("1.2585", 0.1587)):  # both of the thread are safe, and loose
        assert float(gaussian(sigma).sampled(poisson="0.01").epsilon(F("1e-6"))) == pytest.approx(true, abs=1e-4)


def test_com_09_no_limit_theorem_under_reports() -> None:
    """50 steps, rate .2, multiplier 3: between 1.9583 and 1.9608; 1.8385 is no bound."""
    found = dp.compose((gaussian(3).sampled(poisson="0.2"), 50)).bracket(delta=F(1, 48000))
    assert F("1.9583") <= found.lower <= found.upper <= F("1.9640")


@pytest.mark.parametrize(("steps", "low", "high"), [(10, "4.983", "5.00"), (500, "38", "39")])
def test_com_11_an_everyday_epsilon_is_no_error(steps: int, low: str, high: str) -> None:
    """10 steps are within [4.98371, 4.98421] by grids of another accountant; 500 have a finite bound."""
    found = dp.compose((gaussian(1).sampled(poisson="0.2"), steps)).bracket(delta="1e-5")
    assert F(low) <= found.lower <= found.upper <= F(high)
    if steps == 10:
        assert found.lower <= F("4.98422")


def test_com_17_sampled_laplace_is_as_good_as_gaussian() -> None:
    """10 releases of scale 1 at a rate of .1: 1.17421; basic composition says 1.58564."""
    one = dp.Loss("laplace", {"scale": 1, "shift": 1}).sampled(poisson="0.1")
    assert float(one.pure_epsilon()) == pytest.approx(0.158564, rel=1e-5)
    found = dp.compose((one, 10)).bracket(delta="1e-5")
    assert F("1.1741") <= found.lower <= found.upper <= F("1.1743")
    assert found.upper < 10 * one.pure_epsilon() < F("1.5857")
