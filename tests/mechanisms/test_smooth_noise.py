"""Smooth noise: the output law of every dataset of small worlds against that of every neighbour."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction as F
from itertools import combinations_with_replacement
from typing import Any

import numpy as np
import pytest
from laws_of_draws import FALSE_ALARM, chi_square_chance

from dpcurator.entropy import SystemEntropy, TapeEntropy
from dpcurator.errors import Refusal
from dpcurator.mechanisms import Smooth
from dpcurator.mechanisms.smooth.smooth_noise import EXAMPLES, _Cells
from dpcurator.numbers import Enclosure, exp_neg
from dpcurator.numbers.arb import ball, precision
from dpcurator.privacy.loss import Loss
from dpcurator.sensitivity.admissible import Admissible
from dpcurator.sensitivity.enumerated import enumerated
from dpcurator.sensitivity.function import Function
from dpcurator.sensitivity.windows import Window, bounded_mean, order_statistic, trimmed_mean

BOUNDS: dict[str, Any] = {"lower": 0, "upper": 4, "grid": 1}
MEDIAN = order_statistic("1/2", **BOUNDS)
FUNCTIONS: list[Function] = [
    MEDIAN, order_statistic(1, **BOUNDS), trimmed_mean("1/3", **BOUNDS), bounded_mean(**BOUNDS),
    order_statistic(0, **BOUNDS, neighbours="add-remove"),
    enumerated(lambda x: sorted(x)[1], domain=range(5), n=3, **BOUNDS),
]
Law = dict[Any, Enclosure]


def pairs(function: Function) -> list[tuple[tuple[int, ...], tuple[int, ...]]]:
    """All neighbours of three rows of {0..4}, unordered."""
    every = list(combinations_with_replacement(range(5), 3))
    if function.neighbours == "replace-one":
        return [(x, tuple(sorted((*x[:i], v, *x[i + 1 :])))) for x in every for i in range(3) for v in range(5)]
    return [pair for x in every for i in range(3) for y in [x[:i] + x[i + 1 :]] for pair in ((x, y), (y, x))]


def surely_private(one: Law, other: Law, epsilon: F, delta: F) -> bool:
    """Is sum over outcomes of (P - e**eps Q)+ surely at most delta (or, with delta 0, every P at most e**eps Q)?"""
    ratio = 1 / exp_neg(epsilon, 200)
    gaps = [mass - ratio * other[outcome] for outcome, mass in one.items()]
    if delta == 0:
        return all(gap.surely_at_most(0) for gap in gaps)
    return sum((max(gap.hi, F(0)) for gap in gaps), F(0)) <= delta


def holds(mechanism: Any) -> bool:
    function = mechanism.function
    laws = {x: mechanism.probabilities(x) for x in {x for pair in pairs(function) for x in pair}}
    loss = dict(mechanism.loss.parameters)
    return all(
        surely_private(laws[x], laws[y], loss["epsilon"], loss.get("delta", F(0))) for x, y in pairs(function) if x != y
    )


@pytest.mark.parametrize("function", FUNCTIONS)
@pytest.mark.parametrize("how", [{}, {"noise": "cauchy"}, {"delta": "1/100"}, {"delta": "1e-9", "smoothing": "3/4"}])
@pytest.mark.parametrize("epsilon", [F(1, 2), F(3)])
def test_every_pair_of_neighbours_is_within_the_loss(function: Function, how: dict[str, Any], epsilon: F) -> None:
    assert holds(Smooth(function=function, epsilon=epsilon, **how))


WIDE = order_statistic("1/2", lower=0, upper=60, grid=1)


class Unsmoothed:
    """The median as if its local sensitivity were that of every dataset around: what must not be done."""

    def __getattr__(self, name: str) -> Any:
        return getattr(WIDE, name)

    def local_sensitivity_at(self, rows: Any, k: int) -> int:
        return max(1, WIDE.local_sensitivity_at(rows, 0))


@pytest.mark.parametrize("delta", [0, "1e-9"])
def test_noise_scaled_by_local_sensitivity_is_found_out(delta: Any) -> None:
    """The negative control: local sensitivities 0 and 30, one row apart; kept from being 0 it fails all the same."""
    one, other = (30, 30, 30), (0, 30, 30)
    for function, private in ((WIDE, True), (Unsmoothed(), False)):
        mechanism = Smooth(function=function, epsilon=3, delta=delta)
        laws = mechanism.probabilities(one), mechanism.probabilities(other)
        found = [surely_private(a, b, F(3), F(delta)) for a, b in (laws, laws[::-1])]
        assert all(found) is private


@pytest.mark.parametrize("law", ["student", "cauchy", "laplace"])
def test_noise_four_times_too_small_is_found_out(law: str) -> None:
    delta = F(1, 10**9) if law == "laplace" else F(0)
    mechanism = Smooth(function=WIDE, epsilon=3, delta=delta, noise=law)
    for right in (True, False):
        if not right:
            how = mechanism.scaling
            object.__setattr__(mechanism, "scaling", Admissible(law, 4 * how.alpha, how.beta))
        one, other = mechanism.probabilities([0, 0, 60]), mechanism.probabilities([0, 60, 60])
        assert surely_private(one, other, F(3), delta) is right


def test_loss() -> None:
    assert Smooth(function=MEDIAN, epsilon="0.5").loss == Loss("pure", (("epsilon", F(1, 2)),))
    assert Smooth(function=MEDIAN, epsilon=1, delta="1e-6").loss == Loss(
        "approximate", (("epsilon", F(1)), ("delta", F(1, 10**6)))
    )
    assert Smooth(function=MEDIAN, epsilon=1).loss.pure_epsilon() == 1


@pytest.mark.parametrize("mechanism", EXAMPLES)
def test_laws_sum_to_one_and_cells_are_decided_exactly(mechanism: Smooth) -> None:
    data = [3, 3, 4, 9]
    law = mechanism.probabilities(data)
    total = sum(law.values(), Enclosure.exactly(0))
    assert total.holds(1)
    assert total.width < F(1, 2**150)
    assert list(law) == list(range(11))
    # A word on either side of each edge falls on its side; one that straddles it is refined.
    cells, below = _Cells(mechanism, mechanism.function.rows(data)), F(0)
    for place in range(10):
        with precision(300):
            word = int((cells.chance(place) * 2**64).floor().unique_fmpz())
            assert ball(F(word, 2**64)) < cells.chance(place)
        assert cells.of(word, 64) is None
        assert cells.of(word - 1, 64) == place
        assert cells.of(word + 1, 64) == place + 1
        below = F(word, 2**64)
        refined = mechanism.release(data, TapeEntropy.of_words([word, 0]))
        assert refined == place
        assert mechanism.release(data, TapeEntropy.of_words([word, 2**64 - 1])) == place + 1
    assert below < 1
    assert mechanism.release(data, TapeEntropy.of_words([0, 1])) == 0


@pytest.mark.parametrize("mechanism", EXAMPLES)
def test_releases_follow_the_law(mechanism: Smooth) -> None:
    """FALSE_ALARM is the chance that a right sampler fails; the law of other data must fail."""
    data, size = [1, 2, 9, 9, 9], 1500
    entropy = SystemEntropy()
    draws = np.bincount([int(mechanism.release(data, entropy)) for _ in range(size)], minlength=11)
    assert chi_square_chance(draws, [float(mass.lo) for mass in mechanism.probabilities(data).values()]) > FALSE_ALARM
    wrong = [float(mass.lo) for mass in mechanism.probabilities([0, 0, 1, 1, 5]).values()]
    assert chi_square_chance(draws, wrong) < FALSE_ALARM


def test_data_that_agree_get_little_noise() -> None:
    mechanism = Smooth(function=order_statistic("1/2", lower=0, upper=1000, grid=1), epsilon=1)
    law = mechanism.probabilities([500] * 400)
    assert law[F(500)].lo > F(99, 100)
    assert mechanism.error("0.05") == 1000  # from public bounds alone


def test_error_is_from_public_facts_and_is_kept() -> None:
    mean = Smooth(function=bounded_mean(lower=0, upper=100, grid="0.1"), epsilon=4)
    error = mean.error("0.1", n=1000)
    assert 0 < error < mean.error("0.1") <= 100
    law = mean.probabilities([0] * 500 + [100] * 500)
    assert sum((mass.hi for value, mass in law.items() if abs(value - 50) > error), F(0)) <= F(1, 10)
    constant = Smooth(function=order_statistic("1/2", lower=7, upper=7, grid=1), epsilon=1)
    assert constant.release([1, 2, 3]) == 7
    assert constant.error("0.05") == 0


def test_nothing_shows_what_depends_on_data() -> None:
    mechanism = Smooth(function=order_statistic("1/2", lower=0, upper=10**6, grid=1), epsilon=1)
    before = repr(mechanism), str(mechanism.loss), mechanism.error("0.05")
    mechanism.release([123_456] * 9)
    assert (repr(mechanism), str(mechanism.loss), mechanism.error("0.05")) == before
    assert "123456" not in repr(vars(mechanism))


def test_values_are_never_refused() -> None:
    assert (
        0 <= Smooth(function=MEDIAN, epsilon=1).release([float("nan"), float("inf"), -1e300, "x", None, F(1, 3)]) <= 4
    )


@pytest.mark.parametrize(
    "bad",
    [
        {"epsilon": 0},
        {"epsilon": float("nan")},
        {"epsilon": True},
        {"delta": 1},
        {"delta": -1},
        {"noise": "gaussian"},
        {"delta": "1e-6", "noise": "student"},
        {"noise": "laplace"},
        {"smoothing": 0},
        {"smoothing": 1},
        {"function": min},
        {"function": Window},
        {"other": 1},
        {"function": None},
    ],
)
def test_bad_parameters_are_refused(bad: dict[str, Any]) -> None:
    with pytest.raises(Refusal):
        Smooth(**{"function": MEDIAN, "epsilon": 1, **bad})


@pytest.mark.parametrize(
    "use", [lambda: Smooth(MEDIAN, 1), lambda: Smooth(function=MEDIAN), lambda: EXAMPLES[0].error(1)]
)
def test_bad_calls_are_refused(use: Callable[[], object]) -> None:
    with pytest.raises(Refusal):
        use()
