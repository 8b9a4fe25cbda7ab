"""Intervals from two binomials: coverage added up exactly, for every true count; tails against exact rationals."""

from __future__ import annotations

import math
import time
from fractions import Fraction
from functools import cache

import pytest

from dpcurator.mechanisms.local import binomial_interval
from dpcurator.mechanisms.local.binomial_interval import chernoff, exact, interval, radius

COINS = [
    tuple(map(Fraction, pair.split()))
    for pair in ("3/4 1/4", "1/2 1/4", "9/10 1/2", "99/100 1/1000", "51/100 1/2", "1/2 1/1000")
]


def binomial(n: int, p: Fraction) -> list[Fraction]:
    return [math.comb(n, j) * p**j * (1 - p) ** (n - j) for j in range(n + 1)]


@cache
def law(n: int, t: int, p: Fraction, q: Fraction) -> list[Fraction]:
    """P_t(C = c) for c from 0 to n, exactly."""
    masses = [Fraction(0)] * (n + 1)
    for i, one in enumerate(binomial(t, p)):
        for j, other in enumerate(binomial(n - t, q)):
            masses[i + j] += one * other
    return masses


def coverage(n: int, t: int, p: Fraction, q: Fraction, found: dict[int, tuple[int, int]]) -> Fraction:
    return sum((mass for c, mass in enumerate(law(n, t, p, q)) if found[c][0] <= t <= found[c][1]), Fraction(0))


@pytest.mark.parametrize(("p", "q"), COINS)
@pytest.mark.parametrize("n", [1, 2, 7, 24])
@pytest.mark.parametrize("beta", [Fraction(s) for s in ("1/2", "1/10", "1/20", "1/1000")])
def test_every_true_count_is_covered(n: int, p: Fraction, q: Fraction, beta: Fraction) -> None:
    for least in (exact, chernoff):
        found = {c: interval(n, c, p, q, beta, least) for c in range(n + 1)}
        assert all(0 <= low <= high <= n for low, high in found.values())
        for t in range(n + 1):
            assert coverage(n, t, p, q, found) >= 1 - beta


def test_an_interval_of_other_coins_does_not_cover() -> None:
    """The negative control: the same sum finds intervals made for a truth of 9/10 where it is 3/4."""
    n, beta = 24, Fraction(1, 20)
    found = {c: interval(n, c, Fraction(9, 10), Fraction(1, 10), beta, exact) for c in range(n + 1)}
    assert min(coverage(n, t, Fraction(3, 4), Fraction(1, 4), found) for t in range(n + 1)) < Fraction(4, 5)


@pytest.mark.parametrize(("p", "q"), COINS)
def test_the_ends_are_those_of_the_exact_tails(p: Fraction, q: Fraction) -> None:
    """No narrower interval has both tails below beta/2: the end is the first t whose tail, in rationals, is more."""
    n, chance = 20, Fraction(1, 40)
    for c in range(n + 1):
        tails = [sum(law(n, t, p, q)[c:], Fraction(0)) for t in range(n + 1)]
        assert tails == sorted(tails)
        least = next((t for t, tail in enumerate(tails) if tail > chance), n)
        assert exact(n, c, p, q, chance) == least
        assert chernoff(n, c, p, q, chance) <= least


def test_the_coin_by_hand() -> None:
    """One report, truth 3/4. "Yes" leaves 0 possible where its chance 1/4 exceeds beta/2, and "no" leaves 1."""
    p, q = Fraction(3, 4), Fraction(1, 4)
    assert interval(1, 1, p, q, Fraction(2, 5), exact) == (0, 1)
    assert interval(1, 1, p, q, Fraction(3, 5), exact) == (1, 1)
    assert interval(1, 0, p, q, Fraction(3, 5), exact) == (0, 0)
    # two reports, both "yes": 1/16, 3/16, 9/16 for t = 0, 1, 2
    assert [interval(2, 2, p, q, Fraction(s), exact)[0] for s in ("1/9", "1/7", "2/5", "1/2")] == [0, 1, 2, 2]


def test_many_reports_are_as_wide_as_the_normal_law_says() -> None:
    """A million reports of the coin, half of them yes: 1.96 standard errors; Chernoff's sqrt(2 ln 40) of them."""
    n, p, q = 10**6, Fraction(3, 4), Fraction(1, 4)
    start = time.process_time()
    low, high = interval(n, n // 2, p, q, Fraction(1, 20), exact)
    assert time.process_time() - start < 10
    spread = math.sqrt(n * 3 / 16) / 0.5
    assert low + high == n
    assert (high - low) / 2 == pytest.approx(1.959964 * spread, rel=2e-3)
    low, high = interval(n, n // 2, p, q, Fraction(1, 20), chernoff)
    assert (high - low) / 2 == pytest.approx(math.sqrt(2 * math.log(40)) * spread, rel=2e-3)


def test_past_its_window_the_exact_one_is_chernoff() -> None:
    n, p, q = 10**10, Fraction(3, 4), Fraction(1, 4)
    assert exact(n, n // 2, p, q, Fraction(1, 40)) == chernoff(n, n // 2, p, q, Fraction(1, 40)) > n * 4 / 10


def test_tiny_chances_are_summed_too() -> None:
    n, p, q, chance = 40, Fraction(3, 4), Fraction(1, 4), Fraction(1, 10**20)
    tails = [sum(law(n, t, p, q)[38:], Fraction(0)) for t in range(n + 1)]
    assert exact(n, 38, p, q, chance) == next(t for t, tail in enumerate(tails) if tail > chance)
    assert exact(n, 40, p, q, Fraction(1, 10**900)) == 0


@pytest.mark.parametrize(("p", "q"), COINS)
@pytest.mark.parametrize("n", [1, 10, 30])
@pytest.mark.parametrize("beta", [Fraction(s) for s in ("1/2", "1/20", "1/1000")])
def test_the_radius_covers_every_count(n: int, p: Fraction, q: Fraction, beta: Fraction) -> None:
    r = radius(n, p, q, beta)
    for t in range(n + 1):
        missed = [mass for c, mass in enumerate(law(n, t, p, q)) if abs((c - n * q) / (p - q) - t) > r]
        assert sum(missed, Fraction(0)) <= beta


def test_the_radius_by_hand() -> None:
    """Hoeffding at 800 reports with a fair coin: sqrt(400 ln 40) = 38.412..., over 1/4. Bernstein at rare ones."""
    hoeffding = radius(800, Fraction(1, 2), Fraction(1, 4), Fraction(1, 20))
    assert float(hoeffding) == pytest.approx(4 * math.sqrt(400 * math.log(40)))
    v, log = 10**6 * 0.001 * 0.999, math.log(40)
    expected = (log / 3 + math.sqrt(log**2 / 9 + 2 * v * log)) / 0.998
    found = radius(10**6, Fraction(999, 1000), Fraction(1, 1000), Fraction(1, 20))
    assert float(found) == pytest.approx(expected)


def test_the_window_changes_no_tail() -> None:
    """A narrow window only adds what it misses, so it refuses to leave out what a wide one would."""
    n, t, c, p, q = 60, 20, 40, Fraction(3, 4), Fraction(1, 4)
    tail = sum(law(n, t, p, q)[c:], Fraction(0))
    for reach in (1, 5, 20, 60):
        assert not binomial_interval._tail_at_most(n, t, c, p, q, tail * Fraction(999, 1000), reach)
    assert binomial_interval._tail_at_most(n, t, c, p, q, tail * Fraction(1001, 1000), 60)
    assert not binomial_interval._tail_at_most(n, t, c, p, q, tail * Fraction(1001, 1000), 5)


@pytest.mark.parametrize(
    ("p", "gap"), [("1/2", 2.0**-60), ("1/2", 2.0**-30), ("1/1000000000", 1e-10), ("1/2", 0.4999999)]
)
def test_far_parameters_leave_an_interval(p: str, gap: float) -> None:
    """Chances closer than doubles can tell, counts past any sum, chances of missing past any double."""
    own = Fraction(p)
    other = own - Fraction(gap)
    for n in (1, 1000, 10**18):
        for c in (0, n // 3, n):
            for beta in (Fraction(1, 20), Fraction(1, 10**400), Fraction(999_999, 10**6)):
                for least in (exact, chernoff):
                    low, high = interval(n, c, own, other, beta, least)
                    assert 0 <= low <= high <= n
        assert radius(n, own, other, Fraction(1, 20)) > 0
