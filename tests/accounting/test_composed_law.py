"""The law of the loss of many releases: coins and Gaussians by their formulas, and all of it is there."""

from __future__ import annotations

import math

import pytest

from dpcurator.accounting.estimate.composed_law import cells
from dpcurator.accounting.parse import spelled
from dpcurator.errors import Refusal


def test_coins_are_the_binomial_law():
    found, infinite = cells(spelled("10 * pure(epsilon=0.5)").parts)
    p = math.exp(0.5) / (1 + math.exp(0.5))
    assert infinite == 0
    expected = {k: math.comb(10, k) * p**k * (1 - p) ** (10 - k) for k in range(11)}
    for low, high, mass in found:
        k = round((low + high) / 2 + 5)
        assert (low, high) == pytest.approx((k - 5.5, k - 4.5))
        assert mass == pytest.approx(expected[k], rel=1e-9)
    assert sum(mass for _, _, mass in found) == pytest.approx(1, abs=1e-5)


def test_gaussians_are_one_gaussian():
    found, _ = cells(spelled("4 * gaussian(sigma=2)").parts)

    def below(x):
        return math.erfc((0.5 - x) / math.sqrt(2)) / 2

    assert 20 <= len(found) <= 60
    for low, high, mass in found:
        assert mass == pytest.approx(below(high) - below(low), abs=1e-4)


@pytest.mark.parametrize(
    "text",
    [
        "3 * laplace(epsilon=1)",
        "100 * laplace(epsilon=0.1) + 20 * gaussian(sigma=10)",
        "1000000 * laplace(epsilon=0.1)",
        "7 * discrete_laplace(scale=100000, sensitivity=9000) + pure(epsilon=0.3)",
        "9 * discrete_gaussian(sigma=2)",
        "50 * randomised_response(truth=0.6, lie=0.3) + bounded_range(epsilon=1)",
        "3 * pure(epsilon=40)",
    ],
)
def test_all_of_it_is_drawn_and_its_mean_is_the_sum(text):
    one = spelled(text)
    found, infinite = cells(one.parts)
    assert len(found) <= 60
    assert infinite == 0
    assert sum(mass for _, _, mass in found) == pytest.approx(1, abs=1e-4)
    mean = sum(mass * (low + high) / 2 for low, high, mass in found)
    if "range" not in text:  # its law is that of the pair that dominates, of another mean than kl
        spread = max(high for _, high, _ in found) - min(low for low, _, _ in found)
        assert mean == pytest.approx(sum(count * float(loss.kl().hi) for loss, count in one.parts), abs=0.01 * spread)


def test_what_may_be_infinite_is_told():
    found, infinite = cells(spelled("2 * approximate(epsilon=1, delta=0.1)").parts)
    assert infinite == pytest.approx(0.19)
    assert sum(mass for _, _, mass in found) == pytest.approx(0.81)


@pytest.mark.parametrize("text", ["pure(epsilon=0)", "discrete_gaussian_vector(variance=9, l2_squared=2)"])
def test_what_has_no_law_or_loses_nothing_is_refused(text):
    with pytest.raises(Refusal):
        cells(spelled(text).parts)
