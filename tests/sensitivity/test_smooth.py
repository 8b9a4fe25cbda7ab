"""Smooth sensitivity: by the definition, smooth between all neighbours of small worlds, and quick."""

from __future__ import annotations

from fractions import Fraction as F
from itertools import combinations_with_replacement
from typing import Any

import numpy as np
import pytest

from dpcurator.errors import Refusal
from dpcurator.numbers import exp_neg
from dpcurator.sensitivity.smooth import _Weigh, shrink, smooth_sensitivity
from dpcurator.sensitivity.windows import Window, bounded_mean, order_statistic, trimmed_mean

BOUNDS: dict[str, Any] = {"lower": 0, "upper": 4, "grid": 1}
FUNCTIONS = [
    *(order_statistic(at, **BOUNDS) for at in (0, "1/2", 1)),
    trimmed_mean("1/4", **BOUNDS), bounded_mean(**BOUNDS),
    *(order_statistic(at, **BOUNDS, neighbours="add-remove") for at in (0, 1)),
]
BETAS = [F(1, 1000), F(1, 10), F(1, 2), F(1), F(7)]


def value(window: Window, data: Any, beta: F) -> F:
    """S, exactly: tests may open it."""
    s = smooth_sensitivity(window, data, beta)
    return s._steps * s._shrink**s._power * s._unit


@pytest.mark.parametrize("beta", BETAS)
def test_q_is_at_least_the_exponential_and_close(beta: F) -> None:
    q = shrink(beta)
    assert exp_neg(beta, 256).surely_at_most(q)
    assert exp_neg(beta, 256).surely_at_least(q * (1 - F(1, 2**60)))
    assert q <= 1
    assert shrink(F(10**6)) > 0


@pytest.mark.parametrize("window", FUNCTIONS, ids=lambda window: f"{window.kind}-{window.share}-{window.neighbours}")
@pytest.mark.parametrize("beta", BETAS)
def test_it_is_the_maximum_and_it_is_smooth(window: Window, beta: F) -> None:
    q, n = shrink(beta), 4
    sizes = [n] if window.neighbours == "replace-one" else [3, 4]
    found: dict[tuple[int, ...], F] = {}
    for x in (x for size in sizes for x in combinations_with_replacement(range(5), size)):
        rows = window.rows(x)
        every = [q**k * window.local_sensitivity_at(rows, k) for k in range(n + 3)]
        found[x] = value(window, x, beta)
        assert found[x] == max(every) * window.unit(rows)
        assert found[x] >= window.local_sensitivity_at(rows, 0) * window.unit(rows)
    for x, s in found.items():
        if window.neighbours == "replace-one":
            near = {tuple(sorted((*x[:i], v, *x[i + 1 :]))) for i in range(n) for v in range(5)}
        else:
            near = {x[:i] + x[i + 1 :] for i in range(len(x))}
        for y in near & found.keys():
            assert q * s <= found[y]
            assert q * found[y] <= s


def test_a_sensitivity_without_smoothing_is_not_smooth() -> None:
    """The negative control: local sensitivity itself fails the same law."""
    median = order_statistic("1/2", lower=0, upper=1, grid=1)
    one, other = [0, 0, 0, 0, 0, 1, 1], [0, 0, 0, 0, 1, 1, 1]
    local = [median.local_sensitivity_at(median.rows(x), 0) for x in (one, other)]
    assert shrink(F(1)) * local[1] > local[0]
    assert shrink(F(1)) * value(median, other, F(1)) <= value(median, one, F(1))


def test_a_median_of_a_hundred_thousand() -> None:
    median = order_statistic("1/2", lower=0, upper=10**6, grid=1)
    spread = np.arange(100_001) * 10 % 1_000_003
    ties = np.full(100_001, 5)
    for data in (spread, ties):
        for beta in (F(1, 10), F(1, 10**4)):
            rows, q = median.rows(data), float(shrink(beta))
            s = smooth_sensitivity(median, data, beta)
            for k in (0, 1, 10, 100, 1000, 9999, 10_000, 10_001, 50_000):
                local = median.local_sensitivity_at(rows, k)
                assert float(s._steps) * q**s._power >= local * q**k * (1 - 1e-9)


def test_products_are_compared_exactly_where_logarithms_leave_a_doubt() -> None:
    weigh = _Weigh(F(1, 2))
    assert not weigh.less((0, 1), (3, 8))
    assert not weigh.less((3, 8), (0, 1))
    assert weigh.less((3, 8), (0, 2))
    assert weigh.less((0, 2**400), (1, 2**401 + 1))
    assert not weigh.less((1, 2**401 + 1), (0, 2**400))
    assert weigh.less((5, 0), (9, 1))


@pytest.mark.parametrize("bad", [0, -1, float("nan"), True, "much"])
def test_bad_input_is_refused(bad: Any) -> None:
    with pytest.raises(Refusal, match="beta"):
        smooth_sensitivity(FUNCTIONS[0], [1], bad)
    with pytest.raises(Refusal, match="function"):
        smooth_sensitivity(bad, [1], 1)
