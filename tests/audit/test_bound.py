"""Limits of a chance from counts: against exact tails of the binomial, and coverage by enumeration of all counts."""

from __future__ import annotations

import math
from fractions import Fraction as F

import numpy as np
import pytest

from dpcurator.auditing.draws.bound import deviations, limits, lower, upper


def tail(k: int, n: int, p: F) -> F:
    """P(X >= k), exactly."""
    return sum((math.comb(n, j) * p**j * (1 - p) ** (n - j) for j in range(k, n + 1)), F(0))


@pytest.mark.parametrize("a", [F(1, 20), F(1, 10**6), F(1, 10**12)])
@pytest.mark.parametrize(("k", "n"), [(0, 7), (1, 7), (3, 7), (7, 7), (1, 90), (10, 90), (45, 90), (89, 90), (90, 90)])
def test_each_limit_has_the_tail_it_promises_and_not_much_less(k, n, a):
    low, high = lower(k, n, a), upper(k, n, a)
    assert 0 <= low <= F(k, n) <= high <= 1
    if k:
        assert tail(k, n, low) <= a
        further = low + (F(k, n) - low) / 20
        assert tail(k, n, further) > a
    if k < n:
        assert 1 - tail(k + 1, n, high) <= a
        further = high - (high - F(k, n)) / 20
        assert 1 - tail(k + 1, n, further) > a


@pytest.mark.parametrize("p", [F(1, 50), F(1, 3), F(1, 2), F(19, 20)])
def test_coverage_over_all_counts(p):
    n, a = 40, F(1, 20)
    missed = [
        sum(math.comb(n, k) * p**k * (1 - p) ** (n - k) for k in range(n + 1) if wrong(k))
        for wrong in (lambda k: lower(k, n, a) > p, lambda k: upper(k, n, a) < p)
    ]
    assert max(missed) <= a


def test_a_limit_a_little_closer_fails_the_same_test():
    """The control: a limit moved 30 % of the way to k/n covers less often than it says."""
    n, a, p = 40, F(1, 20), F(1, 3)
    closer = {k: lower(k, n, a) + (F(k, n) - lower(k, n, a)) * F(3, 10) for k in range(n + 1)}
    assert sum(math.comb(n, k) * p**k * (1 - p) ** (n - k) for k in range(n + 1) if closer[k] > p) > a


def test_never_seen_is_the_closed_form():
    assert float(upper(0, 10**6, F(1, 40))) == pytest.approx(1 - (1 / 40) ** 1e-6, rel=1e-6)


@pytest.mark.parametrize("k", [30, 100, 5000, 500_000, 999_000])
def test_large_counts_and_the_floats_that_choose(k):
    n, a = 10**6, 1e-6
    low, high = lower(k, n, F(a)), upper(k, n, F(a))
    near = limits(np.array([float(k)]), np.array([float(k)]), n, n, deviations(a))
    assert float(near[0][0]) == pytest.approx(float(low), rel=0.3)
    assert float(near[1][0]) == pytest.approx(float(high), rel=0.3)
    z = (k / n - float(low)) / math.sqrt(k / n * (1 - k / n) / n)
    assert 1.5 < z < 6


@pytest.mark.parametrize("n", [1, 2, 1000, 10**9, 10**12, 10**18], ids=str)
def test_limits_at_the_extremes_are_outward_and_fail_at_nothing(n):
    for k in sorted({0, 1, n // 2, n - 1, n}):
        for a in (F(999999, 10**6), F(1, 20), F(1, 10**12), F(1, 10**400)):
            low, high = lower(k, n, a), upper(k, n, a)
            assert 0 <= low <= high <= 1
            assert a > F(1, 2) or low <= F(k, n) <= high
    assert (lower(0, n, F(1, 20)), upper(n, n, F(1, 20))) == (0, 1)
