"""Renyi divergences of mixtures, samples of a fixed size, and pairs that are not symmetric: against sums in doubles,
exact sums, and every small table."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from fractions import Fraction as F
from typing import Any

import numpy as np
import pytest

import dpcurator as dp
from dpcurator.numbers.arb import ball, precision
from dpcurator.privacy.families import divergence_integrals as integrals
from dpcurator.privacy.families import sampled_moments as moments

GAUSSIAN, LAPLACE = dp.Loss("gaussian", sigma=1), dp.Loss("laplace", scale=1, shift=1)
PAIR = dp.two_pmfs(["1/2", "1/4", "1/4"], ["1/4", "1/8", "5/8"])
Density = Callable[[Any], Any]


def around(centres: list[tuple[float, float]], sigma: float = 1.0) -> Density:
    return lambda x: sum(c * np.exp(-(((x - s) / sigma) ** 2) / 2) for s, c in centres) / sigma / math.sqrt(2 * math.pi)


def divergence(p: Density, q: Density, a: float, *, low: float = -60.0, high: float = 100.0) -> float:
    """By a fine sum in doubles: of smooth densities it has all their digits."""
    x = np.linspace(low, high, 4_001)
    with np.errstate(all="ignore"):
        one, other = np.log(p(x)), np.log(q(x))
        f = np.where(np.isfinite(one) & np.isfinite(other), np.exp(a * one + (1 - a) * other), 0.0)
    return math.log(float(f.sum()) * (x[1] - x[0])) / (a - 1)


def meets(found: Any, right: float, rel: float = 1e-9) -> None:
    assert found.lo <= found.hi
    assert found.width <= found.hi / 10**18
    assert float(found.hi) == pytest.approx(right, rel=rel)


@pytest.mark.parametrize("order", ["1.25", "2", "3.7", "9"])
def test_a_group_on_a_poisson_sample_has_the_greater_divergence_of_both_ways(order: str) -> None:
    q, a = 0.1, float(order)
    mixed = around([(j, math.comb(3, j) * q**j * (1 - q) ** (3 - j)) for j in range(4)])
    alone = around([(0, 1.0)])
    both = divergence(mixed, alone, a), divergence(alone, mixed, a)
    one = GAUSSIAN.sampled(poisson="0.1").for_group(3)
    meets(one.renyi(order), max(both))
    assert one.reversed.renyi(order).lo <= one.renyi(order).hi
    assert one.reversed.renyi(order).hi >= one.renyi(order).lo


@pytest.mark.parametrize("order", ["1.25", "2", "7.5"])
def test_a_row_replaced_on_a_poisson_sample(order: str) -> None:
    one = GAUSSIAN.sampled(poisson="0.1", neighbours="replace-one")
    meets(one.renyi(order), divergence(around([(0, 0.9), (1, 0.1)]), around([(0, 0.9), (-1, 0.1)]), float(order)))


def symmetric(q: float, a: float, base: Density, moved: Density) -> float:
    """Of the pair of a sample of a fixed size: its densities where b > 1, the same exchanged, and what is left."""
    x = np.linspace(-30, 40, 200_001)
    h, lower = x[1] - x[0], base(x)
    b = 1 - q + q * moved(x) / lower
    up = b > 1
    grown = np.where(up, (b**a + b ** (1 - a) - b - 1) * lower, 0.0)
    return math.log1p(float(grown.sum()) * h) / (a - 1)


@pytest.mark.parametrize("order", ["1.5", "4", "8.25"])
def test_samples_of_a_fixed_size_have_the_divergence_of_their_pair(order: str) -> None:
    laplace = lambda x: np.exp(-np.abs(x)) / 2  # noqa: E731
    for one, base, moved in (
        (dp.Loss("gaussian", sigma=2), around([(0, 1.0)], 2.0), around([(1, 1.0)], 2.0)),
        (LAPLACE, laplace, lambda x: laplace(x - 1)),
    ):
        found = one.sampled(fixed_size="1/8").renyi(order)
        meets(found, symmetric(0.125, float(order), base, moved), 1e-4)
        forward = one.sampled(poisson="1/8").renyi(order)
        assert forward.hi <= found.lo  # which a row that counts alone attains
        assert found.hi <= integrals.twice(forward.hi, F(order))


@pytest.mark.parametrize(("p", "q"), [
    ([F(1, 2), F(1, 4), F(1, 4)], [F(1, 4), F(1, 8), F(5, 8)]),
    ([F(1, 3), F(2, 3)], [F(1, 7), F(6, 7)]),  # of no power of two
    ([F(1, 3), F(2, 3), F(0)], [F(1, 7), F(5, 7), F(1, 7)]),  # and with an outcome that P never has
])  # fmt: skip
def test_atoms_are_added_up_exactly_and_both_ways(p: list[F], q: list[F]) -> None:
    """Of order 2 the sums are rational."""
    r = F(1, 10)
    mixed = [(1 - r) * two + r * one for one, two in zip(p, q, strict=True)]
    removing = sum((m * m / two for m, two in zip(mixed, q, strict=True)), F(0))
    adding = sum((two * two / m for m, two in zip(mixed, q, strict=True)), F(0))
    found = dp.two_pmfs(p, q).sampled(poisson=r).renyi(2)
    meets(found, math.log(max(removing, adding)), 1e-12)
    with precision(256):
        assert ball(found.lo) <= ball(max(removing, adding)).log() <= ball(found.hi)


def test_a_coin_on_half_of_the_rows_by_hand() -> None:
    coin = dp.Loss("randomised_response", truth="3/4", lie="1/4").sampled(fixed_size="1/2")
    # 1/2 under P is 1/4 under Q, then the same two exchanged, and what is left: p**2/q are 1, 1/8 and 1/4
    assert float(coin.renyi(2).hi) == pytest.approx(math.log(1 + 1 / 8 + 1 / 4))


GRADIENTS = [-1, 0, 1]


def sums(rows: tuple[int, ...], size: int) -> Density:
    sets = list(itertools.combinations(rows, size))
    return around([(float(sum(one)), 1 / len(sets)) for one in sets])


def test_no_small_table_does_worse_on_a_sample_of_a_fixed_size() -> None:
    """Every table of three rows and every row in place of one, sums of one and of two rows with noise of 1."""
    bound = {m: float(dp.Loss("gaussian", sigma="1/2").sampled(fixed_size=F(m, 3)).renyi(3).hi) for m in (1, 2)}
    worst = dict.fromkeys(bound, 0.0)
    for rows in itertools.combinations_with_replacement(GRADIENTS, 2):
        for one, other in itertools.permutations(GRADIENTS, 2):
            for m in bound:
                found = divergence(sums((*rows, one), m), sums((*rows, other), m), 3.0)
                worst[m] = max(worst[m], found)
                assert found <= bound[m] * (1 + 1e-9)
    assert all(worst[m] > bound[m] / 2 for m in bound)


def test_no_small_table_does_worse_for_two_rows_on_a_poisson_sample() -> None:
    q = 0.3
    bound = float(GAUSSIAN.sampled(poisson="0.3").for_group(2).renyi(3).hi)

    def drawn(rows: tuple[int, ...]) -> Density:
        subsets = [one for k in range(len(rows) + 1) for one in itertools.combinations(range(len(rows)), k)]
        return around([(sum(rows[i] for i in one), q ** len(one) * (1 - q) ** (len(rows) - len(one)))
                       for one in subsets])  # fmt: skip

    worst = 0.0
    for rest, pair in itertools.product(GRADIENTS, itertools.combinations_with_replacement(GRADIENTS, 2)):
        with_them, without = drawn((rest, *pair)), drawn((rest,))
        worst = max(worst, divergence(with_them, without, 3.0), divergence(without, with_them, 3.0))
        assert worst <= bound * (1 + 1e-9)
    assert worst > bound * 0.9


MIXED = ((F(0), F(81, 100)), (F(1), F(18, 100)), (F(2), F(1, 100)))
STILL = ((F(0), F(1)),)


@pytest.mark.parametrize(("first", "second"), [(MIXED, STILL), (STILL, MIXED)])
def test_points_that_are_few_are_made_up_for_and_a_bound_turned_over_is_found(
    first: integrals.Parts, second: integrals.Parts, monkeypatch: pytest.MonkeyPatch
) -> None:
    points = integrals._points

    def made(*, strip: int = 1, step: int = 1, ends: int = 1) -> Any:
        def some(*given: Any) -> Any:
            w, h, start, stop = points(*given)
            return w * strip, h * step, start // (step * ends), -(-stop // (step * ends))

        monkeypatch.setattr(integrals, "_points", some)
        return integrals.trapezoid(F(1), first, second, F(5, 2), 100)

    with precision(300):
        right = integrals.trapezoid(F(1), first, second, F(5, 2), 200).mid()
        assert made().contains(right)
        assert made(step=8).contains(right)
        assert not made(step=8, strip=8).contains(right)  # a strip in which p has zeros
        assert made(ends=3).contains(right)
        monkeypatch.setattr(integrals, "_beyond", lambda *given: ball(0))
        assert not made(ends=3).contains(right)  # nothing beyond the points


def test_an_integral_that_ends_early_is_made_up_for(monkeypatch: pytest.MonkeyPatch) -> None:
    def made() -> Any:
        return integrals.half_line(F(1), F(1, 10), F(5, 2), 100)

    with precision(300):
        right = made().mid()
        monkeypatch.setattr(integrals, "_up", lambda x: F(5))
        assert made().contains(right)
        monkeypatch.setattr(integrals, "_normal_tail", lambda x: ball(0))
        assert not made().contains(right)


@pytest.mark.parametrize("order", ["1.25", "4.5"])
def test_a_series_that_ends_early_is_made_up_for_and_by_little(order: str) -> None:
    a = F(order)
    with precision(300):
        moment = moments._truncated(F(1), F(2, 5), a)
        right = moments._series(a, moment, 250)
        early = [moments._series(a, moment, bits) for bits in (2, 10, 20, 40)]
        assert all(one.contains(right.mid()) for one in early)
        assert any(abs(one.mid() - right.mid()) > one.rad() / 10**3 for one in early)  # it is needed


def test_a_filter_and_a_composition_take_them() -> None:
    group, batch = GAUSSIAN.sampled(poisson="0.01").for_group(3), GAUSSIAN.sampled(fixed_size="0.01")
    for one in (group, batch, PAIR.sampled(poisson="0.1")):
        budget = dp.RenyiFilter(alpha="2.5", epsilon=1)
        budget.spend((one, 4))
        assert budget.spent["divergence"] == dp.compose((one, 4)).renyi("2.5").hi


@pytest.mark.parametrize("order", [10**6, 10**400])
def test_orders_beyond_all_integrals_have_a_bound(order: int) -> None:
    for one, whole in (
        (GAUSSIAN.sampled(poisson="0.01").for_group(2), dp.Loss("gaussian", sigma=1, sensitivity=2)),
        (GAUSSIAN.sampled(fixed_size="0.01"), GAUSSIAN),
        (LAPLACE.sampled(fixed_size="0.01"), LAPLACE),
        (dp.Loss("discrete_gaussian", sigma=2).sampled(fixed_size="0.01"), dp.Loss("discrete_gaussian", sigma=2)),
    ):
        assert 0 <= one.renyi(order).lo <= one.renyi(order).hi <= whole.renyi(order).hi


def test_chances_too_small_for_doubles_and_large_groups_have_a_bound() -> None:
    rare = GAUSSIAN.sampled(poisson="1e-9").for_group(64)  # all 64 of them with 1e-576
    assert 0 <= rare.renyi(2).lo <= rare.renyi(2).hi <= dp.Loss("gaussian", sigma=1, sensitivity=64).renyi(2).hi
    assert 0 < GAUSSIAN.sampled(fixed_size=F(1, 10**400)).renyi(2).hi < F(1, 10**300)
    assert 0 < GAUSSIAN.sampled(poisson=F(1, 10**400)).renyi("2.5").hi < F(1, 10**300)


def test_noise_too_small_or_large_for_doubles_has_a_bound() -> None:
    for variance in (F(10) ** -700, F(10) ** 700):
        one = dp.Loss("gaussian", variance=variance, shift=1).sampled(poisson="0.01")
        assert 0 <= one.for_group(2).renyi(2).hi <= dp.Loss("gaussian", variance=variance, shift=2).renyi(2).hi
        assert one.renyi("2.5").hi <= dp.Loss("gaussian", variance=variance, shift=1).renyi("2.5").hi
