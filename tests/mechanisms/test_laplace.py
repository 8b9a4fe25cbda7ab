"""The Laplace mechanism on real values: its loss by enumeration, worked examples, its law, and what is not private."""

from __future__ import annotations

import dataclasses
import math
import pickle
from dataclasses import FrozenInstanceError
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from laws_of_draws import FALSE_ALARM, chi_square_chance

import dpcurator as dp
from dpcurator.entropy import SystemEntropy, TapeEntropy
from dpcurator.errors import Refusal
from dpcurator.mechanisms.noise.laplace import EXAMPLES
from dpcurator.numbers import Enclosure, ln

F = Fraction


def log_ratio(one: Enclosure, other: Enclosure) -> Enclosure:
    return Enclosure(ln(one.lo / other.hi).lo, ln(one.hi / other.lo).hi)


@pytest.mark.parametrize("one", EXAMPLES)
def test_the_loss_is_epsilon_exactly(one: dp.Laplace) -> None:
    assert one.loss.pure_epsilon() == one.epsilon
    assert one.loss["scale"] == one.noise.scale
    assert one.scale == one.noise.scale * one.step
    assert one.scale >= one.sensitivity / one.epsilon


@pytest.mark.parametrize("sensitivity", ["1", "5/4", "2", "1/3"])
@pytest.mark.parametrize("eps", ["1/2", "1", "3"])
def test_every_log_ratio_between_neighbours_is_within_epsilon(sensitivity: str, eps: str) -> None:
    """All values on a lattice of twelfths in some steps, all neighbours at most the sensitivity apart, all outcomes."""
    one = dp.Laplace(sensitivity=sensitivity, epsilon=eps, grid=1)
    worst = F(0)
    for twelfth in range(12):
        for apart in range(int(12 * F(sensitivity)) + 1):
            x, y = F(twelfth, 12), F(twelfth + apart, 12)
            for outcome in range(-4, 6):
                ratio = log_ratio(one.pmf(outcome, x), one.pmf(outcome, y))
                assert not ratio.surely_above(F(eps))
                assert not ratio.surely_below(-F(eps))
                worst = max(worst, ratio.hi)
    assert worst >= F(eps)  # attained


def test_a_sensitivity_that_is_not_rounded_up_would_break_the_promise() -> None:
    """The negative control: noise for s/g = 5/4 steps instead of 2, and values that round two steps apart."""
    careless = dp.DiscreteLaplace(F(5, 4))
    one = dp.Laplace(sensitivity="5/4", epsilon=1, grid=1)
    assert one.noise.scale == 2
    x, y = F(1, 4), F(3, 2)
    assert [int(one.values.steps(value)) for value in (x, y)] == [0, 2]
    assert log_ratio(careless.pmf(0), careless.pmf(-2)).surely_above(1)
    assert not log_ratio(one.pmf(0, x), one.pmf(0, y)).surely_above(1)


@pytest.mark.parametrize(("coordinates", "kept"), [(2, True), (1, False)])
def test_rounding_is_counted_for_each_coordinate_that_may_move(coordinates: int, kept: bool) -> None:
    """Two coordinates move by half a step each: l1 is 1 step, and 2 after rounding. Declaring that 1 moves is false."""
    one = dp.Laplace(sensitivity=1, epsilon=1, grid=1, coordinates=coordinates)
    x, y = one.values.steps([0.25, 0.25]), one.values.steps([0.75, 0.75])
    assert (x.tolist(), y.tolist()) == ([0, 0], [1, 1])  # type: ignore[union-attr]
    ratio = log_ratio(one.pmf(0, F(1, 4)), one.pmf(0, F(3, 4)))
    both = Enclosure(2 * ratio.lo, 2 * ratio.hi)
    assert both.holds(1) if kept else both.surely_above(1)


def test_the_drug_use_count() -> None:
    """n = 100, a true count of 2, one row more or less, scale b: ratios up to e**(1/b), reached."""
    for b in ("1", "2", "1/2"):
        one = dp.Laplace.with_scale(scale=b, sensitivity=1, grid=1)
        assert one.epsilon == 1 / F(b) == one.loss.pure_epsilon()
        assert one.scale == F(b)
        for count in (2, 51):
            ratios = [log_ratio(one.pmf(out, count), one.pmf(out, count - 1)) for out in range(count - 9, count + 9)]
            assert all(not ratio.surely_above(1 / F(b)) for ratio in ratios)
            assert all(ratio.holds(1 / F(b)) for ratio in ratios[10:])


def test_the_bank_debts() -> None:
    """Noise of scale 1/eps on a sum of debts loses 2,800,798 eps; the data's own maximum is no bound; 10,000,000 is."""
    eps = F(1, 10)
    whole, without = F("2807799.56"), F("7001.56")
    assert whole - without == 2_800_798
    naive = dp.Laplace.with_scale(scale=1 / eps, sensitivity=2_800_798, grid="0.01")
    assert naive.loss.pure_epsilon() == 2_800_798 * eps
    shown = naive.pmf(whole, whole), naive.pmf(whole, without)
    assert shown[0].surely_above(F(1, 10**5))
    assert shown[1].hi < F(1, 10**15000)  # e**-280079.8 would be 10**-121637
    assert dp.Laplace.with_scale(scale=1 / eps, sensitivity=10_000_000).epsilon == 10_000_000 * eps
    own_maximum = dp.Laplace(sensitivity=2_800_798, epsilon=eps, grid="0.01")  # someone who owes 10,000,000 joins
    assert dp.Laplace.with_scale(scale=own_maximum.scale, sensitivity=10_000_000).epsilon > F("3.57") * eps
    right = dp.Laplace(sensitivity=10_000_000, epsilon=eps, grid="0.01")
    assert right.scale == 10_000_000 / eps
    assert right.loss.pure_epsilon() == eps
    ratio = log_ratio(right.pmf(whole, whole), right.pmf(whole, without))
    assert ratio.holds(F(2_800_798, 10_000_000) * eps)


def test_a_sum_of_debts_is_released_in_cents() -> None:
    one = dp.Laplace(sensitivity=10_000_000, epsilon=1, grid="0.01")
    answer = one.release(2807799.56)
    assert isinstance(answer, float)
    assert answer == float(f"{answer:.2f}")
    exact = one.release_exact(2807799.56)
    assert exact * 100 == int(exact * 100)
    assert one.values.steps(2807799.56) == 280779956


def test_the_accuracy_theorem() -> None:
    """P(|noise| >= (s/eps) ln(1/beta)) = beta for the continuous law; the grid comes within a step of it."""
    for s, eps in ((1, "1"), (30, "0.1"), (10_000_000, "2")):
        one = dp.Laplace(sensitivity=s, epsilon=eps)
        for beta in ("1/2", "1/20", "1e-6"):
            bar = F(s) / F(eps) * ln(1 / F(beta)).lo
            assert abs(one.error(beta) - bar) <= one.step
            assert one.tail(one.error(beta)).surely_at_most(F(beta))
            assert one.tail(one.error(beta) - one.step).surely_above(F(beta))


def test_the_average_weight() -> None:
    """Weights 30 to 150, n public: n = 1000 gives sensitivity .12 and scale 1.2; P(|noise| > 3.4) is .0588, not 1/4."""
    one = dp.Laplace(sensitivity="0.12", epsilon="0.1")
    assert one.scale == F("1.2")
    assert round(float(one.tail("3.4").hi), 4) == 0.0588
    assert math.isclose(float(one.tail("3.4").lo), math.exp(-3.4 / 1.2), rel_tol=1e-6)
    assert dp.Laplace(sensitivity=30, epsilon="0.1").scale == 300
    draws = one.sample(200_000)  # standard deviation 1.697; the mean of squares errs by .25 % once
    assert abs(float(np.sqrt(np.mean(draws**2))) - 1.697) < 0.05


def test_mass_sums_to_one_and_is_on_the_grid_alone() -> None:
    one = dp.Laplace(sensitivity="0.3", epsilon=1, grid="0.1")
    total = sum((one.pmf(F(k, 10), F(1, 4)) for k in range(-400, 400)), Enclosure.exactly(0))
    assert abs(1 - total.lo) < F(1, 10**30)
    assert one.pmf("0.05") == Enclosure.exactly(0)
    assert one.pmf(0.30000000000000004) == Enclosure.exactly(0)  # the double next to the one shown for 3 steps
    assert one.pmf(0.3) == one.pmf("0.3") == one.noise.pmf(3)
    with pytest.raises(Refusal, match="vector"):
        one.pmf(0, [1.0, 2.0])


def test_releases_follow_the_pmf() -> None:
    """Chi-square, false alarm 1e-9; a value half a step elsewhere must fail."""
    one = dp.Laplace(sensitivity=1, epsilon="1/3", grid="0.5", coordinates=1)
    reach = 20
    for value, as_if, good in ((7.3, F("7.3"), True), (7.3, F("7.8"), False)):
        draws = one.release(np.full(300_000, value), SystemEntropy())
        steps = np.rint(draws * 2).astype(int) - 15
        assert (draws * 2 == np.rint(draws * 2)).all()
        cells = [float(one.pmf(F(15 + k, 2), as_if).lo) for k in range(-reach, reach + 1)]
        below = float(sum(one.pmf(F(15 - k, 2), as_if).lo for k in range(reach + 1, 400)))
        counts = np.bincount(np.clip(steps, -reach - 1, reach + 1) + reach + 1, minlength=2 * reach + 3)
        chance = chi_square_chance(counts, [below, *cells, 1 - below - sum(cells)])
        assert (chance > FALSE_ALARM) is good


def test_a_value_and_a_vector_of_any_size() -> None:
    one = dp.Laplace(sensitivity=1, epsilon=1, coordinates=1)
    for value in (10**400, -(10**400), 1.7e308, 5e-324, F(1, 3), 2**63):
        exact = one.release_exact(value)
        assert abs(exact - F(value)) < 200
        answer = one.release(value)
        assert math.isinf(answer) if abs(F(value)) > 2**1024 else abs(F(answer) - F(value)) <= 200 + abs(value) / 2**53
    answers = one.release([1.5, 10**30, F(1, 3), -(10**400)])
    assert answers.dtype == np.float64
    assert answers[3] == -math.inf
    assert abs(answers[1] - 1e30) < 1e20
    assert one.release(np.zeros((3, 4))).shape == (3, 4)
    assert one.release_exact([0.5, 2]).shape == (2,)
    assert isinstance(one.release_exact([0.5, 2])[0], Fraction)
    assert one.release([]).shape == (0,)


def test_the_type_of_an_answer_follows_from_no_draw() -> None:
    wide = dp.Laplace(sensitivity=2**40, epsilon=F(1, 2**40), grid=1, coordinates=1)  # the noise is Python ints
    assert wide.sample(3).dtype == wide.release([0.0, 1.0]).dtype == np.float64
    assert isinstance(wide.release(1), float)


@pytest.mark.parametrize(
    "one", [dp.Laplace(sensitivity=1, epsilon=1), dp.Gaussian(sensitivity=1, rho=1)], ids=lambda one: type(one).__name__
)
def test_a_vector_is_refused_until_somebody_says_how_many_coordinates_may_differ(one) -> None:
    """Rounding may part neighbours by one more step in each: counted for one, it would be too little for several."""
    for several in ([1.5, 2.5], np.zeros((2, 1)), np.zeros(10**6)):
        for release in (one.release, one.release_exact):
            with pytest.raises(Refusal, match="in how many coordinates"):
                release(several)
    assert one.release([1.5]).shape == (1,)
    assert dataclasses.replace(one, coordinates=2).release([1.5, 2.5]).shape == (2,)


def test_entropy_is_an_argument() -> None:
    one = dp.Laplace(sensitivity=1, epsilon=1, grid=1)
    tape = "0" + "1" * 63  # the least distance, to the right
    assert one.release_exact(F(22, 10), TapeEntropy(tape)) == 2
    assert one.release(F(22, 10), TapeEntropy(tape)) == 2.0


def test_it_is_frozen_data_read_as_people_write_it() -> None:
    one = dp.Laplace(sensitivity="0.12", epsilon=0.1)
    assert one == dp.Laplace(sensitivity=F(12, 100), epsilon="1/10", grid="1e-7")
    assert hash(one) == hash(pickle.loads(pickle.dumps(one)))
    with pytest.raises(FrozenInstanceError):
        one.epsilon = F(2)  # type: ignore[misc]
    with pytest.raises(Refusal, match="by name"):
        dp.Laplace(1, 1)  # type: ignore[misc]


# --- ranges: the answer may be clamped, the noise may not ----------------------------------------------------------

LOW, HIGH = 0, 6


def outcomes(laws: tuple[dict[int, float], dict[int, float]]) -> float:
    """The greatest log-ratio between two laws."""
    return max(
        math.inf if (p == 0) != (q == 0) else abs(math.log(p / q))
        for p, q in ((laws[0].get(k, 0.0), laws[1].get(k, 0.0)) for k in {**laws[0], **laws[1]})
        if p or q
    )


def plain(one: dp.Laplace, truth: int) -> dict[int, float]:
    return {k: float(one.pmf(k, truth).lo) for k in range(-60, 67)}


def test_a_clamped_answer_loses_no_more() -> None:
    one = dp.Laplace(sensitivity=1, epsilon="1/2", grid=1)
    for truth in range(LOW, HIGH):
        clamped: list[dict[int, float]] = []
        for value in (truth, truth + 1):
            law: dict[int, float] = {}
            for k, mass in plain(one, value).items():
                end = int(dp.clamp(k, LOW, HIGH))
                law[end] = law.get(end, 0.0) + mass
            clamped.append(law)
        assert set(clamped[0]) == set(range(LOW, HIGH + 1))
        assert outcomes((clamped[0], clamped[1])) < 0.5 + 1e-9


def test_noise_that_is_cut_off_loses_infinitely_much() -> None:
    """|noise| at most 3: truth 0 never gives 4, its neighbour 1 does."""
    one = dp.Laplace(sensitivity=1, epsilon="1/2", grid=1)

    def cut(truth: int) -> dict[int, float]:
        kept = {k: mass for k, mass in plain(one, truth).items() if abs(k - truth) <= 3}
        return {k: mass / sum(kept.values()) for k, mass in kept.items()}

    assert outcomes((cut(0), cut(1))) == math.inf


def test_drawing_again_until_it_fits_loses_more_than_epsilon() -> None:
    one = dp.Laplace(sensitivity=1, epsilon="1/2", grid=1)

    def again(truth: int) -> dict[int, float]:
        kept = {k: mass for k, mass in plain(one, truth).items() if LOW <= k <= HIGH}
        return {k: mass / sum(kept.values()) for k, mass in kept.items()}

    assert outcomes((again(0), again(1))) > 0.6


@pytest.mark.parametrize("call", [lambda one, bad: one.tail(bad), lambda one, bad: one.error(bad)])
@pytest.mark.parametrize("bad", [-1, float("nan"), True, "x", None])
def test_bad_arguments_are_refused(call: Any, bad: Any) -> None:
    with pytest.raises(Refusal):
        call(EXAMPLES[0], bad)
