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


@pytest.mark.parametrize(
    ("sigma", "rate", "steps", "true"),
    [
        ("4", "0.01", 10_000, "0.94687"),
        pytest.param("4", "0.01", 40_000, "2.03307", marks=pytest.mark.slow),
        pytest.param("1.1", F(256, 60_000), 14_063, "2.38169", marks=pytest.mark.slow),
    ],
)
def test_hunt_41_the_numbers_beside_a_well_known_figure(sigma: str, rate: object, steps: int, true: str) -> None:
    """Figure and text disagree (1.26, 2.55); these are by another loss distribution, in the worse direction."""
    found = dp.compose((gaussian(sigma).sampled(poisson=rate), steps)).bracket(delta="1e-5")
    assert F(true) - F("1e-3") < found.lower <= F(true) + F("5e-6")
    assert F(true) - F("5e-6") <= found.upper < F(true) + F("1e-3")


def test_hunt_38_replacing_a_clipped_row_moves_a_sum_by_twice_the_clip() -> None:
    rows = dp.Bounded.sum(lower=-1, upper=1)
    assert dp.sensitivity_of(rows, neighbours="add-remove").l1 == 1
    assert dp.sensitivity_of(rows, neighbours="replace-one", n=10_000).l1 == 2


@pytest.mark.slow
def test_hunt_38_and_so_does_the_loss_of_a_sample_of_a_fixed_size() -> None:
    """Sigma 2, 100 of 10,000 rows, 100 steps, 1e-5: at least .71804; with the wrong shift of 1, at most .21."""
    right, wrong = (
        dp.compose((dp.Loss("gaussian", {"variance": 4, "shift": shift}).sampled(fixed_size="100/10000"), 100))
        .bracket(delta="1e-5") for shift in (2, 1)
    )  # fmt: skip
    assert right.upper >= F("0.71804")
    assert F("0.718") < right.lower <= F("0.72")
    assert wrong.upper < F("0.21")


def test_hunt_39_two_kinds_of_samples_are_for_two_kinds_of_neighbours() -> None:
    """A Poisson sample beside one of a fixed size: refused by name of both relations, not added up."""
    with pytest.raises(dp.Refusal, match=r"add or remove a row.*replace one"):
        dp.compose(gaussian(1).sampled(fixed_size="100/10000"), gaussian(1).sampled(poisson="0.01"))
