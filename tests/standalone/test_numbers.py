"""Its numbers around e^x, the discrete Gaussian's sums and the deltas, against certified balls and the product."""

from __future__ import annotations

import random
from fractions import Fraction as F

import pytest

from dpcurator.numbers import decimal_text, exp_neg
from dpcurator.numbers.enclosure import bracket
from dpcurator.privacy import zcdp
from dpcurator.privacy.families import discrete_gaussian_sums as law
from dpcurator.standalone import verify as alone

TINY = F(1, 2**200)


@pytest.mark.parametrize(
    "x", ["0", "1", "-1", "1/3", "-1/1000000", "17/16", "40", "-40", "700", "-700", "-99999", "1e-40"]
)
def test_e_to_the_x_lies_between(x):
    low, high = alone.exp_between(F(x))
    ball = exp_neg(abs(F(x)), 512)
    least, most = (ball.lo, ball.hi) if F(x) <= 0 else (1 / ball.hi, 1 / ball.lo)
    assert low <= most
    assert least <= high
    assert 0 < low <= high <= low * (1 + TINY)


def test_e_to_the_x_far_away_is_still_bounded():
    assert alone.exp_between(F(-(10**1400))) == (0, alone.exp_between(F(-(10**5)))[1])
    with pytest.raises(alone.No):
        alone.exp_between(F(10**5 + 1))


@pytest.mark.parametrize("variance", ["1/100", "1/4", "1", "50", "16777216", "1e9", "3e20", "7e60"])
def test_sums_of_a_gaussian_lie_between(variance):
    v = F(variance)
    sigma = max(1, int(float(v) ** 0.5))
    for m in (1, 2, sigma, 3 * sigma + 1, 9 * sigma):
        low, high = alone.gaussian_sum(v, m)
        with law.precision(600):
            ball = bracket(law.upper(v, m, 400))
        assert low <= ball.hi
        assert ball.lo <= high
        assert 0 < low <= high <= low * (1 + F(1, 10**17))


@pytest.mark.parametrize("variance", ["1/4", "50", "16777216", "3e20"])
def test_a_sum_from_below_the_middle_is_all_but_what_is_further_out(variance):
    v = F(variance)
    sigma = max(1, int(float(v) ** 0.5))
    for m in (0, -1, -3 * sigma, -12 * sigma):
        if m * m <= 400 * v:
            low, high = alone.gaussian_sum(v, m)
            half, rest = alone.gaussian_sum(v, 1), alone.gaussian_sum(v, 1 - m)
            assert low <= 1 + 2 * half[1] - rest[0]
            assert 1 + 2 * half[0] - rest[1] <= high <= low * (1 + F(1, 10**17))


EPSILONS = ("1e-6", "0.1", "5", "40")


@pytest.mark.parametrize("shift", [1, 7, 2**16, 5 * 2**62])
def test_the_least_variance_that_the_product_finds_is_accepted_with_hardly_any_room(shift):
    for eps in map(F, EPSILONS):
        for delta in map(F, ("1e-12", "0.01")):
            variance = law.least_variance(eps, delta, shift)
            found, true = alone.gaussian_delta(variance, shift, eps), law.delta(variance, shift, eps)
            assert true.lo <= found <= delta
            assert found <= true.hi * (1 + F(1, 10**12))


def test_a_gaussian_that_hides_less_is_refused():
    luck = random.Random("less")
    for _ in range(6):
        eps, delta = F(luck.randrange(1, 300), 100), F(1, 10 ** luck.randrange(1, 10))
        shift = luck.choice([1, 3, 1000, 2**40])
        variance = law.least_variance(eps, delta, shift) * F(9, 10)
        exact = law.delta(variance, shift, eps)
        assert (alone.gaussian_delta(variance, shift, eps) > delta) == (exact.hi > delta)


@pytest.mark.parametrize("delta", ["1e-30", "1e-9", "1e-5", "0.01", "0.4"])
def test_the_greatest_rho_that_the_product_finds_is_accepted_and_a_little_more_is_not(delta):
    for eps in ("0", "1e-9", "1e-3", "0.3", "1", "8", "100", "1e6"):
        rho = zcdp.greatest_rho(F(eps), F(delta))
        assert alone.zcdp_delta(rho, F(eps)) <= F(delta), (eps, delta)
        assert alone.zcdp_delta(rho * (1 + F(1, 10**6)), F(eps)) > F(delta), (eps, delta)
        bound = zcdp.delta_of(rho, F(eps))
        assert abs(alone.zcdp_delta(rho, F(eps)) - bound) <= bound / 10**12


@pytest.mark.parametrize("text", ["0", "2200", "1/3", "1/131072", "0.5", "123456789/1000", "1e39", "1e40", "1.5e300",
                                  "1e-13", "3e-310", "2/3", "1e-320", "123456.5e50", "9999995/3e45"])
def test_numbers_are_shown_as_the_product_shows_them(text):
    top, _, bottom = text.partition("/")
    value = F(top) / F(bottom or 1)
    assert alone.shown(value) == decimal_text(value)


def test_numbers_are_shown_as_the_product_shows_them_at_random():
    luck = random.Random("shown")
    for _ in range(500):
        value = F(luck.randrange(10**12), luck.randrange(1, 10**6)) * F(10) ** luck.randrange(-350, 350)
        assert alone.shown(value) == decimal_text(value)
