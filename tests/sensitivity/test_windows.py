"""Local sensitivities of order statistics and means, against their definition on every dataset of small worlds."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction as F
from itertools import combinations_with_replacement
from typing import Any

import numpy as np
import pytest

from dpcurator.errors import Refusal
from dpcurator.sensitivity.function import Grid
from dpcurator.sensitivity.windows import Window, bounded_mean, order_statistic, trimmed_mean

BOUNDS: dict[str, Any] = {"lower": 0, "upper": 4, "grid": 1}
Data = tuple[int, ...]


def worlds(sizes: range) -> list[Data]:
    return [x for size in sizes for x in combinations_with_replacement(range(5), size)]


def replaced(x: Data) -> set[Data]:
    return {tuple(sorted((*x[:i], v, *x[i + 1 :]))) for i in range(len(x)) for v in range(5)}


def resized(x: Data, largest: int) -> set[Data]:
    fewer = {x[:i] + x[i + 1 :] for i in range(len(x))}
    more = {tuple(sorted((*x, v))) for v in range(5)} if len(x) < largest else set()
    return fewer | more


def local(
    f: Callable[[Data], F], every: list[Data], near: Callable[[Data], set[Data]], most: int
) -> list[dict[Data, F]]:
    """A_0, A_1, ..., by the definition."""
    found = [{x: max(abs(f(x) - f(y)) for y in near(x)) for x in every}]
    for _ in range(most):
        found.append({x: max([found[-1][x], *(found[-1][y] for y in near(x))]) for x in every})
    return found


def by_hand(window: Window, x: Data) -> F:
    n = len(x)
    if window.kind == "order statistic":
        return F(x[max(1, -(-window.share.numerator * n // window.share.denominator)) - 1])
    cut = int(window.share * n)
    return F(sum(x[cut : n - cut]), n - 2 * cut)


FUNCTIONS = [
    *(order_statistic(at, **BOUNDS) for at in (0, "1/4", "1/2", "2/3", 1)),
    *(trimmed_mean(cut, **BOUNDS) for cut in ("1/4", "0.4")),
    bounded_mean(**BOUNDS),
]


@pytest.mark.parametrize("n", [1, 2, 3, 4, 5])
@pytest.mark.parametrize("window", FUNCTIONS, ids=lambda window: f"{window.kind}-{window.share}")
def test_local_sensitivity_at_every_distance(window: Window, n: int) -> None:
    every = worlds(range(n, n + 1))
    found = local(lambda x: by_hand(window, x), every, replaced, n + 1)
    for x in every:
        rows = window.rows(list(reversed(x)))
        assert window.answer(rows) * window.unit(rows) == by_hand(window, x)
        for k in range(n + 2):
            assert window.local_sensitivity_at(rows, k) * window.unit(rows) == found[k][x], (x, k)
        assert window.local_sensitivity_at(rows, window.farthest(rows)) == window.greatest(rows)


@pytest.mark.parametrize("at", [0, 1])
def test_smallest_and_largest_under_add_remove(at: int) -> None:
    window, largest = order_statistic(at, **BOUNDS, neighbours="add-remove"), 7

    def f(x: Data) -> F:
        return F((min(x, default=4), max(x, default=0))[at])

    found = local(f, worlds(range(largest + 1)), lambda x: resized(x, largest), 3)
    for x in worlds(range(4)):
        rows = window.rows(x)
        assert window.answer(rows) == f(x)
        for k in range(4):  # paths of up to 4 steps from 3 rows stay below `largest`
            assert window.local_sensitivity_at(rows, k) == found[k][x], (x, k)
        assert window.local_sensitivity_at(rows, window.farthest(rows)) == window.greatest(rows)


def test_the_median_of_seven_has_local_sensitivity_0_or_1() -> None:
    """One row apart: noise scaled by local sensitivity alone would tell these two datasets apart."""
    median = order_statistic("1/2", lower=0, upper=1, grid=1)
    assert [median.local_sensitivity_at(median.rows(x), 0) for x in ([0, 0, 0, 0, 0, 1, 1], [0, 0, 0, 0, 1, 1, 1])] == [
        0,
        1,
    ]


def test_values_are_rounded_clamped_and_never_refused() -> None:
    grid = Grid(F(0), F(1), F(1, 10))
    values = [0.05, F(1, 20), 0.04, -3, 2, float("nan"), float("inf"), float("-inf"), None, "x", np.float64(0.26)]
    assert [grid.place(value) for value in values] == [1, 1, 0, 0, 10, 0, 10, 0, 0, 0, 3]
    assert [grid.place(Decimal(text)) for text in ("NaN", "Infinity", "-Infinity", "0.3")] == [0, 10, 0, 3]
    assert [grid.place(value) for value in (np.array([1, 2]), 1j, True, np.inf, [1])] == [0, 0, 10, 10, 0]
    median = order_statistic("1/2", lower=0, upper=10**30, grid=1)
    rows = median.rows([10**29, 10**40, 5])
    assert median.answer(rows) == 10**29
    assert median.local_sensitivity_at(rows, 0) == 10**30 - 10**29
    median = order_statistic("1/2", lower=0, upper=10, grid=1)
    assert median.rows(np.array([3, 99, -4])).tolist() == [0, 0, 3, 10, 10]


@pytest.mark.parametrize(
    "make",
    [
        lambda: order_statistic(2, **BOUNDS),
        lambda: order_statistic(-1, **BOUNDS),
        lambda: trimmed_mean("1/2", **BOUNDS),
        lambda: order_statistic("1/2", **BOUNDS, neighbours="add-remove"),
        lambda: order_statistic(0, **BOUNDS, neighbours=""),
        lambda: order_statistic("1/2", lower=3, upper=2, grid=1),
        lambda: order_statistic("1/2", lower=0, upper=1, grid=0),
        lambda: order_statistic("1/2", lower=0, upper=1, grid="2/3"),
        lambda: bounded_mean(lower=0, upper=float("inf"), grid=1),
        lambda: order_statistic("1/2", **BOUNDS).rows([]),
        lambda: order_statistic("1/2", **BOUNDS).rows(None),
        lambda: order_statistic(True, **BOUNDS),
    ],
)
def test_bad_input_is_refused(make: Callable[[], object]) -> None:
    with pytest.raises(Refusal):
        make()
