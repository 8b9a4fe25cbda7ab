"""Discrete Laplace noise: its law, loss and error against hand-worked values, the notes' examples and known cases."""

from __future__ import annotations

import math
from dataclasses import FrozenInstanceError
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from laws_of_draws import FALSE_ALARM, chi_square_chance

from dpcurator.entropy import SystemEntropy
from dpcurator.errors import Refusal
from dpcurator.mechanisms import DiscreteLaplace
from dpcurator.mechanisms.noise.discrete_laplace import EXAMPLES
from dpcurator.numbers import Enclosure, exp_neg, ln


def tail(scale: Fraction, m: int) -> Enclosure:
    """P(|Z| > m), m >= 0."""
    bits = 256 + 2 * math.ceil(scale).bit_length()
    return 2 * exp_neg((m + 1) / scale, bits) / (1 + exp_neg(1 / scale, bits))


@pytest.mark.parametrize("noise", EXAMPLES)
def test_mass_sums_to_one(noise: DiscreteLaplace) -> None:
    far = int(80 * noise.scale)
    total = sum((noise.pmf(k) for k in range(-far, far + 1)), Enclosure.exactly(0)) + tail(noise.scale, far)
    assert total.holds(1)
    assert total.width < Fraction(1, 2**90)


@pytest.mark.parametrize("noise", EXAMPLES)
@pytest.mark.parametrize("sensitivity", [1, 2, 5])
def test_loss_bounds_every_log_ratio_and_both_tails_attain_it(noise: DiscreteLaplace, sensitivity: int) -> None:
    eps = noise.loss(sensitivity).pure_epsilon()
    assert eps == sensitivity / noise.scale
    attained = set()
    for k in range(-30, 31 + sensitivity):
        ratio = noise.pmf(k) / noise.pmf(k - sensitivity)
        bracket = Enclosure(ln(ratio.lo).lo, ln(ratio.hi).hi)
        assert bracket.width < Fraction(1, 2**90)
        assert not bracket.surely_above(eps)
        assert not bracket.surely_below(-eps)
        attained |= {sign for sign in (1, -1) if bracket.holds(sign * eps)}
    assert attained == {1, -1}


def test_the_drug_use_count() -> None:
    """gallery/drug-use: counts 2 and 1, 51 and 50, scale b: ratios are e**(1/b) from the count up, else e**(-1/b)."""
    for b in (Fraction(1), Fraction(2), Fraction(1, 2)):
        noise = DiscreteLaplace(b)
        for count in (2, 51):
            for output in range(count - 8, count + 9):
                ratio = noise.pmf(output - count) / noise.pmf(output - (count - 1))
                expected = ln(ratio.lo).hi, 1 / b if output >= count else -1 / b
                assert abs(expected[0] - expected[1]) < Fraction(1, 2**90)
    assert DiscreteLaplace(Fraction(1)).loss(1).pure_epsilon() == 1


def test_the_privacy_loss_at_eps_1() -> None:
    """gallery/privacy-loss: mass 1/(1+p) at +1, p/(1+p) at -1; on a fine grid near 1/2, e**-1/2, and mean e**-1."""
    noise = DiscreteLaplace(Fraction(1))
    p = exp_neg(Fraction(1))
    at_most_0 = sum((noise.pmf(-k) for k in range(200)), Enclosure.exactly(0))
    assert abs(float(at_most_0.lo) - float((1 / (1 + p)).lo)) < 1e-15
    for g in (4, 8):
        grid = 2**g
        noise = DiscreteLaplace(Fraction(grid))
        q = float(exp_neg(Fraction(1, grid)).lo)
        top, bottom = 1 / (1 + q), math.exp(-1) / (1 + q)
        between = [(float(noise.pmf(k).lo), (grid - 2 * k) / grid) for k in range(1, grid)]
        # loss ln P(k)/Q(k) = (|k - grid| - |k|) / grid: +1 up to 0, -1 from `grid` on
        assert math.isclose(top + bottom + sum(mass for mass, _ in between), 1, rel_tol=1e-12)
        mean = top - bottom + sum(mass * loss for mass, loss in between)
        assert abs(mean - math.exp(-1)) < 0.1 / grid
        assert abs(top - 0.5) < 0.3 / grid
        assert abs(bottom - math.exp(-1) / 2) < 0.1 / grid


def test_error_bars_of_the_average_weight_come_from_the_exact_law() -> None:
    """gallery/average-weight: scale 1.2, fine grid: P(|noise| > 3.4) = exp(-3.4/1.2) = .0588; Chebyshev says 1/4."""
    grid = 10**6
    exact = tail(Fraction(12, 10) * grid, Fraction(34, 10) * grid)
    assert math.isclose(float(exact.lo), math.exp(-3.4 / 1.2), rel_tol=1e-6)
    assert round(float(exact.lo), 4) == 0.0588
    whole = tail(Fraction(12, 10), 3)  # in whole numbers: P(|Z| > 3) = 2 p**4 / (1 + p)
    p = math.exp(-1 / 1.2)
    assert math.isclose(float(whole.lo), 2 * p**4 / (1 + p))
    assert DiscreteLaplace.spending(Fraction("0.1"), sensitivity=30).scale == 300
    assert DiscreteLaplace.spending(Fraction("0.1"), sensitivity=120).scale == 1200


@pytest.mark.parametrize(
    "beta", [Fraction(1, 2), Fraction(1, 10), Fraction(1, 20), Fraction(1, 10**6), Fraction(1, 10**40)]
)
@pytest.mark.parametrize(
    "scale", [Fraction(s) for s in ("1e-9", "1/10", "1/2", 1, "3/2", 300, 10**9, 2**60)] + [Fraction(2**100)]
)
def test_error_is_the_smallest_that_the_law_allows(scale: Fraction, beta: Fraction) -> None:
    m = DiscreteLaplace(scale).error(beta)
    assert m >= 0
    assert tail(scale, m).surely_at_most(beta)
    assert m == 0 or tail(scale, m - 1).surely_above(beta)


def test_error_follows_the_accuracy_theorem() -> None:
    """gallery/accuracy: P(|noise| >= scale ln(1/beta)) = beta, continuous; a fine grid comes within its step."""
    for beta in (Fraction(1, 2), Fraction(1, 20), Fraction(1, 1000)):
        scaled = DiscreteLaplace(Fraction(10**12)).error(beta) / 10**12
        assert math.isclose(scaled, math.log(1 / beta), rel_tol=1e-11)


def test_case_acc_01_accuracy_two_at_the_boundary() -> None:
    """Accuracy a: P(|Z| >= a) <= .1, so a = error + 1. 2 p**2/(1+p) = .1 at scale .721347520444, the case's digits."""
    at = 0.721347520444
    for scale, accuracy in ((at * (1 - 1e-9), 2), (at * (1 + 1e-9), 3), (at / 2, 2), (1 / 3, 1)):
        assert DiscreteLaplace(Fraction(scale)).error(Fraction(1, 10)) + 1 == accuracy


def test_case_acc_03_accuracy_changes_with_the_level() -> None:
    grid = 10**9
    errors = [DiscreteLaplace(Fraction(grid)).error(Fraction(beta)) / grid for beta in ("0.5", "0.05", "0.01")]
    assert [round(error, 8) for error in errors] == [0.69314718, 2.99573227, 4.60517019]


def test_case_acc_04_per_cell_accuracy_is_one_cell_s() -> None:
    """Scale 1 at .05: the continuous 2.9957 is 3 in whole numbers, whatever the number of cells."""
    assert DiscreteLaplace(Fraction(1)).error(Fraction(1, 20)) == 3
    assert DiscreteLaplace(Fraction(10**9)).error(Fraction(1, 200)) / 10**9 == pytest.approx(5.2983174, rel=1e-7)


def test_case_cal_06_scale_is_sensitivity_over_eps() -> None:
    noise = DiscreteLaplace.spending(Fraction(10), sensitivity=65536)
    assert noise.scale == Fraction("6553.6")
    assert noise.loss(65536).pure_epsilon() == 10
    p = math.exp(-1 / 6553.6)
    assert math.sqrt(2 * p) / (1 - p) == pytest.approx(9268.19, rel=1e-6)


def test_case_cal_08_tiny_scale() -> None:
    noise = DiscreteLaplace(Fraction("1e-4"))
    assert (1000 + noise.sample(1000)).tolist() == [1000] * 1000
    assert noise.error(Fraction(1, 10**9)) == 0
    assert noise.pmf(0).surely_above(1 - Fraction(1, 2**250))
    assert noise.pmf(1).surely_below(Fraction(1, 2**14000))


@pytest.mark.parametrize("noise", EXAMPLES)
def test_samples_follow_the_pmf(noise: DiscreteLaplace) -> None:
    draws = noise.sample(200_000, SystemEntropy())
    reach = int(4 * noise.scale) + 1
    cells = [float(noise.pmf(k).lo) for k in range(-reach, reach + 1)]
    beyond = (1 - sum(cells)) / 2
    counts = np.bincount(np.clip(draws, -reach - 1, reach + 1) + reach + 1, minlength=2 * reach + 3)
    assert chi_square_chance(counts, [beyond, *cells, beyond]) > FALSE_ALARM
    wrong = DiscreteLaplace(noise.scale * Fraction(21, 20)).sample(200_000)
    counts = np.bincount(np.clip(wrong, -reach - 1, reach + 1) + reach + 1, minlength=2 * reach + 3)
    assert chi_square_chance(counts, [beyond, *cells, beyond]) < FALSE_ALARM


@pytest.mark.parametrize("bad", [0, -1, float("nan"), float("inf"), True, None, "ten"])
def test_bad_parameters_are_refused(bad: Any) -> None:
    with pytest.raises(Refusal, match="scale"):
        DiscreteLaplace(bad)
    with pytest.raises(Refusal, match="eps"):
        DiscreteLaplace.spending(bad, sensitivity=1)
    with pytest.raises(Refusal, match="sensitivity"):
        DiscreteLaplace.spending(Fraction(1), sensitivity=0.5 if bad is None else bad)  # type: ignore[arg-type]
    with pytest.raises(Refusal, match="beta"):
        DiscreteLaplace(Fraction(1)).error(1 if bad == "ten" else bad)  # type: ignore[arg-type]


def test_a_mechanism_is_frozen_data_read_as_people_write_it() -> None:
    noise = DiscreteLaplace("0.1")  # type: ignore[arg-type]
    assert noise == DiscreteLaplace(Fraction(1, 10))
    assert type(noise.scale) is Fraction
    with pytest.raises(FrozenInstanceError):
        noise.scale = Fraction(1)  # type: ignore[misc]
