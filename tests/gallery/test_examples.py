"""The thirteen worked examples of the notes, each with the tests that hold its numbers, and what no other test holds.

The pages of docs/gallery print the same numbers, and tests/docs holds them to the digit.
"""

from __future__ import annotations

import ast
import itertools
import math
from fractions import Fraction as F
from pathlib import Path

import pytest

import dpcurator as dp
from dpcurator.numbers import exp_neg, ln

ROOT = Path(__file__).resolve().parents[2]
HERE = "gallery/test_examples.py"
HELD = {
    1: ("drug-use", "mechanisms/test_laplace.py::test_the_drug_use_count",
        "mechanisms/test_discrete_laplace.py::test_the_drug_use_count"),
    2: ("bank-debts", "mechanisms/test_laplace.py::test_the_bank_debts",
        "sensitivity/test_bounded.py::test_the_examples_of_the_notes"),
    3: ("secret-society", "mechanisms/test_exponential.py::test_the_secret_society",
        "sensitivity/test_checking.py::test_mission_3_the_utility_of_a_distance",
        "sensitivity/test_checking.py::test_mission_3_the_utility_of_one_over_a_distance_is_infinite",
        f"{HERE}::test_3_the_mean_of_the_society"),
    4: ("favourite-star", "mechanisms/test_noisy_max.py::test_favourite_star",
        "mechanisms/test_noisy_max.py::test_loss_bounds_every_log_ratio",
        "mechanisms/test_noisy_max.py::test_monotone_noise_fails_for_scores_that_are_not",
        f"{HERE}::test_4_k_epsilon_and_epsilon"),
    5: ("auction-price", "mechanisms/test_exponential.py::test_the_auction",
        f"{HERE}::test_5_noise_on_the_price_loses_half_of_the_time"),
    6: ("accuracy", "mechanisms/test_laplace.py::test_the_accuracy_theorem",
        "mechanisms/test_exponential.py::test_the_accuracy_theorem",
        "mechanisms/test_exponential.py::test_accuracy_of_a_million_candidates",
        f"{HERE}::test_6_a_choice_from_a_million"),
    7: ("average-weight", "mechanisms/test_laplace.py::test_the_average_weight",
        "sensitivity/test_bounded.py::test_the_examples_of_the_notes",
        "sensitivity/test_checking.py::test_mission_7_weights", "mechanisms/test_quantile.py::test_accuracy_in_records",
        f"{HERE}::test_7_chebyshev_is_true_and_four_times_too_much"),
    8: ("randomised-response", "mechanisms/test_randomised_response.py::test_the_coin_of_the_notes",
        "mechanisms/test_estimates.py::test_the_coin_by_hand",
        "mechanisms/test_estimates.py::test_unbiased_and_of_that_variance_for_every_truth"),
    9: ("privacy-loss", "privacy/test_distribution.py::test_laplace_by_hand",
        "privacy/test_families.py::test_values_by_hand",
        f"{HERE}::test_9_a_tail_of_the_loss_is_more_than_delta"),
    10: ("delta", "privacy/test_explain.py::test_somebody_is_exposed_with_the_chance_of_n_coins",
         "privacy/test_explain.py::test_both_algorithms_are_0_delta_private",
         "privacy/test_explain.py::test_words_and_warning"),
    11: ("gaussian", "privacy/test_gaussian.py::test_values_of_50_digits",
         "privacy/test_gaussian.py::test_the_textbook_is_refused_from_1_on",
         "cases/test_calibration.py::test_cal_01_no_textbook_scale_where_epsilon_exceeds_1"),
    12: ("ad-ranking", "mechanisms/test_exponential.py::test_ad_ranking",
         f"{HERE}::test_12_the_top_two_hide_the_age_too"),
    13: ("pictures", "plots/test_law.py::test_a_density_of_laplace_noise_is_1_over_2b_at_0_and_falls_by_e_each_b",
         "plots/test_loss_by_output.py::test_laplace_is_level_left_of_0_and_right_of_the_shift_with_a_slope_between",
         "plots/test_loss_distribution.py::test_laplace_at_epsilon_1_has_a_half_at_1_and_e_to_the_minus_1_halves_at_minus_1"),
}


def test_there_are_thirteen() -> None:
    assert list(HELD) == list(range(1, 14))


@pytest.mark.parametrize("number", HELD)
def test_an_example_has_its_page_and_tests_that_exist(number: int) -> None:
    page, *tests = HELD[number]
    assert (ROOT / "docs" / "gallery" / f"{page}.md").exists()
    assert tests
    for test in tests:
        file, _, name = test.partition("::")
        tree = ast.parse((ROOT / "tests" / file).read_text(encoding="utf-8"))
        assert name in {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}, test


def test_3_the_mean_of_the_society() -> None:
    members = [(34, -118), (40, -74), (38, -77), (43, -79)]
    mean = tuple(F(sum(axis), 4) for axis in zip(*members, strict=True))
    assert mean == (F("38.75"), -87)
    others = {"Ottawa": (45, -75), "Memphis": (35, -90), "La Habana": (23, -82)}
    cities = {**others, **{str(home): home for home in members}}
    assert min(cities, key=lambda city: math.dist(mean, cities[city])) == "Memphis"


def test_4_k_epsilon_and_epsilon() -> None:
    """Four noisy counts: 4 epsilon one by one, epsilon as a histogram; the name alone is epsilon as well."""
    eps, stars = F(1, 2), ["a", "b", "c", "d"]
    one_by_one = 4 * dp.DiscreteLaplace(1 / eps).loss(1).pure_epsilon()
    assert one_by_one == 4 * eps
    moved = dp.sensitivity_of(dp.Bounded.histogram(stars), neighbours="add-remove").l1
    assert dp.DiscreteLaplace(1 / eps).loss(int(moved)).pure_epsilon() == eps
    assert dp.NoisyMax(sensitivity=1, epsilon=eps, monotone=True, grid=1).loss.pure_epsilon() == eps
    changed = [0, 30], [1, 29]  # a vote is changed: one score rises as another falls
    for monotone, kept in ((True, False), (False, True)):
        rule = dp.NoisyMax(sensitivity=1, epsilon=eps, monotone=monotone, grid=1)
        here, there = map(rule.probabilities, changed)
        ratio = here[0] / there[0]
        assert (1 / ratio).surely_at_most((1 / exp_neg(eps)).lo) is kept
        assert (1 / ratio).surely_at_most((1 / exp_neg(2 * eps)).lo)


def test_5_noise_on_the_price_loses_half_of_the_time() -> None:
    bids = [F(1), F(1), F(1), F("3.01")]
    revenue = {price: F(price) * sum(bid >= F(price) for bid in bids) for price in ("1", "1.01", "3.01", "3.02")}
    assert revenue == {"1": 4, "1.01": F("1.01"), "3.01": F("3.01"), "3.02": 0}
    noise = dp.Laplace(sensitivity="3.02", epsilon=1)
    assert f"{noise.tail(0) / 2:.3f}" == "0.500"  # above 1, where the three bids of 1 are lost
    choice = dp.Exponential(sensitivity="3.02", epsilon=1, monotone=True).probabilities(list(revenue.values()))
    assert choice[0].surely_above(max(other.hi for other in choice[1:]))


def test_6_a_choice_from_a_million() -> None:
    scores = [(7 * i) % 1000 for i in range(10**6)]
    chosen = dp.Exponential(sensitivity=1, epsilon=1).select(scores)
    assert 0 <= chosen < 10**6


def test_7_chebyshev_is_true_and_four_times_too_much() -> None:
    """Of Lap(1.2): standard deviation 1.697, so the chance to pass 3.4 is at most 1/4 by Chebyshev; it is .0588."""
    scale = dp.Laplace(sensitivity="0.12", epsilon="0.1").scale
    assert round(math.sqrt(2) * scale, 3) == 1.697
    chebyshev = 2 * scale**2 / F("3.4") ** 2
    assert chebyshev < F(1, 4)
    assert f"{exp_neg(F('3.4') / scale):.4f}" == "0.0588"
    assert (4 * exp_neg(F("3.4") / scale)).surely_below(chebyshev)


def test_9_a_tail_of_the_loss_is_more_than_delta() -> None:
    """The notes call the two equivalent: P(L > eps) <= delta is enough for (eps, delta), and not needed."""
    loss = dp.Loss("gaussian", (("variance", 16), ("shift", 1)))
    tail = loss.distribution().tail(1)
    assert tail.surely_above(18 * loss.delta(1))
    assert math.isclose(float(tail.lo), math.erfc((4 - F(1, 8)) / math.sqrt(2)) / 2, rel_tol=1e-12)


def test_12_the_top_two_hide_the_age_too() -> None:
    """The best guess from the two best ads, by one who knows all others: surely right of exact counts, not of these."""
    over, under = [3, 2, 0], [2, 3, 0]
    assert sorted(range(3), key=lambda ad: -over[ad])[0] != sorted(range(3), key=lambda ad: -under[ad])[0]
    for eps, most in ((F(1, 10), "0.51"), (F(1), "0.57")):
        rule = dp.TopK(sensitivity=1, epsilon=eps, k=2)
        one, other = rule.probabilities(over), rule.probabilities(under)
        assert set(one) == set(itertools.permutations(range(3), 2))
        right = sum((max(one[order].hi, other[order].hi) for order in one), F(0)) / 2
        assert F(1, 2) < right < F(most) < (1 / (1 + exp_neg(eps))).lo
        for order in one:
            assert abs(float(ln(one[order].lo).lo - ln(other[order].lo).lo)) <= eps
