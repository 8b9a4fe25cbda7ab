"""Noisy max: its law over every threshold, its loss over every move of the scores, and its draws."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from choices import comes_within, holds
from laws_of_draws import FALSE_ALARM, chi_square_chance
from power import Run

from dpcurator import samplers
from dpcurator.entropy import Entropy
from dpcurator.errors import Refusal
from dpcurator.mechanisms.choice.noisy_max import EXAMPLES, NoisyMax, choice_chance
from dpcurator.mechanisms.choice.permute_and_flip import PermuteAndFlip
from dpcurator.numbers import Enclosure, exp_neg
from dpcurator.privacy.loss import Loss

ZERO = Enclosure.exactly(0)
KINDS = list(itertools.product(("laplace", "exponential"), (False, True)))


def on_integers(**named: Any) -> NoisyMax:
    return NoisyMax(**{"sensitivity": 1, "epsilon": 1, "grid": 1} | named)


BASES = [*itertools.product((-3, 0, 1), repeat=3)][:: 1 if Run.whole else 4]
BASES += [(0, 0, 9), (9, 0, 0), (0, 9, 9), (12, 0, -12)]


@pytest.mark.parametrize(("noise", "monotone"), KINDS)
def test_loss_bounds_every_log_ratio(noise: str, monotone: bool) -> None:
    """With ties, by lowest index, and every move by one step; and by two, of a sensitivity of two steps."""
    rule = on_integers(noise=noise, monotone=monotone)
    assert rule.scale == (1 if monotone else 2)
    assert holds(rule.probabilities, rule.loss.pure_epsilon(), BASES, monotone=monotone)
    wide = on_integers(noise=noise, monotone=monotone, sensitivity=2)
    assert holds(wide.probabilities, Fraction(1), [(0, 0, 0), (4, 0, 1)], monotone=monotone, s=2)


@pytest.mark.parametrize("monotone", [False, True])
def test_the_loss_is_attained_with_geometric_noise(monotone: bool) -> None:
    """Two scores, the first d behind: p**d / (1 + p), by hand; one step further each is a factor of exactly p."""
    rule = on_integers(noise="exponential", monotone=monotone)
    p = exp_neg(1 / rule.scale)
    for d in (0, 1, 5):
        here, there = rule.probabilities([0, d])[0], rule.probabilities([0, d + 1] if monotone else [-1, d + 1])[0]
        by_hand = p**d / (1 + p)
        assert here.lo <= by_hand.hi
        assert by_hand.lo <= here.hi
        assert comes_within(here, there, Fraction(1))


@pytest.mark.parametrize("monotone", [False, True])
def test_the_loss_is_approached_with_laplace_noise(monotone: bool) -> None:
    """From far behind; the tail of a difference of two has a factor that grows, so never quite."""
    rule = on_integers(monotone=monotone)
    chances = [
        [choice_chance([0, d + further], 0, rule.scale, "laplace") for further in (0, 1 if monotone else 2)]
        for d in (0, 10, 100, 10_000)
    ]
    found = [float(1 - here.lo / there.lo * exp_neg(Fraction(1)).lo) for here, there in chances]
    assert found == sorted(found, reverse=True)
    assert 0 < found[-1] < 3e-4


def test_monotone_noise_fails_for_scores_that_are_not() -> None:
    for noise in ("laplace", "exponential"):
        rule = on_integers(noise=noise, monotone=True)
        assert not holds(rule.probabilities, Fraction(3, 2), [(0, 5, 5)], monotone=False)
        assert holds(rule.probabilities, Fraction(2), BASES, monotone=False)


def test_off_the_grid_without_rounding_more_is_lost() -> None:
    """Scores that move by half a step, and noise in whole steps: ties there break for one neighbour alone. With the
    sensitivity taken as half a step the loss is passed; rounded up to a whole step it is not."""
    real = on_integers(sensitivity="1/2", noise="exponential")
    assert real.steps == 1
    here, there = real.probabilities([Fraction(0), Fraction(2)]), real.probabilities([Fraction("-0.51"), Fraction(2.5)])
    assert not (here[0] * exp_neg(Fraction(1)) - there[0]).surely_above(0)
    wrong = [
        choice_chance([0, 2], 0, Fraction(1), "exponential"),
        choice_chance([-1, 3], 0, Fraction(1), "exponential"),
    ]
    assert (wrong[0] * exp_neg(Fraction(1)) - wrong[1]).surely_above(0)


def test_favourite_star() -> None:
    """One vote each under add-remove: counts only rise, so Lap(1/eps) is enough. Under replace-one they are not
    monotone, and the scale is twice that."""
    votes = NoisyMax(sensitivity=1, epsilon="1/2", monotone=True, grid=1)
    assert votes.scale == 2
    assert NoisyMax(sensitivity=1, epsilon="1/2", grid=1).scale == 4
    for counts in ((3, 2, 2), (0, 0, 1), (5, 5, 5)):
        here = votes.probabilities(counts)
        for star in range(3):
            there = votes.probabilities([c + (i == star) for i, c in enumerate(counts)])
            for one, other in itertools.chain(zip(here, there, strict=True), zip(there, here, strict=True)):
                assert not (one * exp_neg(Fraction(1, 2)) - other).surely_above(0)


# The law


def by_hand(values: Sequence[int], j: int, scale: Fraction, noise: str) -> Enclosure:
    """The sum over the winner's noise, term by term."""
    p = exp_neg(1 / scale)

    def mass(k: int) -> Enclosure:
        if noise == "laplace":
            return (1 - p) / (1 + p) * p ** abs(k)
        return (1 - p) * p**k if k >= 0 else ZERO

    def at_most(k: int) -> Enclosure:
        if noise == "laplace":
            return p ** (-k) / (1 + p) if k < 0 else 1 - p ** (k + 1) / (1 + p)
        return ZERO if k < 0 else 1 - p ** (k + 1)

    found = ZERO
    for z in range(-60, 61):
        term = mass(z - values[j])
        for i, u in enumerate(values):
            if i != j:
                term *= at_most(z - u - (i < j))
        found += term
    return found


@pytest.mark.parametrize("noise", ["laplace", "exponential"])
def test_probabilities_are_the_sums_over_thresholds(noise: str) -> None:
    for values in ((0, 0), (2, 0, 0), (1, 3, 3, -2)):
        rule = on_integers(noise=noise, epsilon=3)
        for j, p in enumerate(rule.probabilities(values)):
            direct = by_hand(values, j, rule.scale, noise)
            assert abs(p.lo - direct.lo) < Fraction(1, 10**12)


@pytest.mark.parametrize("rule", EXAMPLES)
def test_mass_sums_to_one(rule: NoisyMax) -> None:
    for scores in ([0], [1, 1], [0, 3, -2, 3, 0.3], list(range(8))):
        total = sum(rule.probabilities(scores), ZERO)
        assert total.holds(1)
        assert total.width < Fraction(1, 2**60)


@pytest.mark.parametrize("monotone", [False, True])
def test_exponential_noise_on_a_fine_grid_is_permute_and_flip(monotone: bool) -> None:
    scores = [0, 1, 1, Fraction(5, 2)]
    fine = NoisyMax(sensitivity=1, epsilon=1, noise="exponential", monotone=monotone).probabilities(scores)
    limit = PermuteAndFlip(sensitivity=1, epsilon=1, monotone=monotone).probabilities(scores)
    assert all(abs(one.lo - other.lo) < Fraction(1, 10**6) for one, other in zip(fine, limit, strict=True))


def test_error_is_the_least_for_two_and_enough_for_more() -> None:
    for noise, beta in itertools.product(("laplace", "exponential"), (Fraction(1, 20), Fraction(2, 5))):
        rule = on_integers(noise=noise, grid="0.5")
        m = int(rule.error(beta, candidates=2) / rule.step)
        assert choice_chance([0, m + 1], 0, rule.scale, noise).surely_at_most(beta)
        assert m == 0 or choice_chance([0, m], 0, rule.scale, noise).surely_above(beta)
        far = rule.error(beta, candidates=5)
        miss = 1 - rule.probabilities([0, 0, 0, 0, far + rule.step])[4]
        assert miss.surely_at_most(beta)
    assert on_integers().error("0.9", candidates=1) == 0
    assert on_integers(epsilon=1000).error("0.9", candidates=2) == 0


# Draws and parameters


def test_loss_is_pure_and_its_rho_is_half_the_square() -> None:
    rule = on_integers(epsilon="1/2")
    assert rule.loss == Loss("pure", (("epsilon", Fraction(1, 2)),))
    assert rule.loss.rho() == Fraction(1, 8)
    assert rule.with_value(epsilon="0.25").loss.pure_epsilon() == Fraction(3, 4)
    assert rule.with_value(epsilon="0.25").value_noise.scale == 4  # type: ignore[union-attr]


def test_the_value_is_paid_for_and_measured_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(Refusal, match="index alone"):
        on_integers().select_with_value([1, 2])
    drawn: list[tuple[Fraction, int]] = []

    def draws(scale: Fraction, size: int, entropy: Entropy | None = None) -> Any:
        drawn.append((scale, size))
        return np.array([8, 1, 2] if size == 3 else [-5], dtype=np.int64)

    monkeypatch.setattr(samplers, "discrete_laplace", draws)
    rule = on_integers(grid="1/2").with_value(epsilon="1/4")
    assert rule.select_with_value([10, 14, 13.5]) == (1, Fraction(23, 2))  # half steps: 28, 29, 29; and then 28 - 5
    assert drawn == [(Fraction(4), 3), (Fraction(8), 1)]


def test_ties_go_to_the_lowest_index(monkeypatch: pytest.MonkeyPatch) -> None:
    for big in (0, 10**30):
        monkeypatch.setattr(samplers, "discrete_laplace", lambda scale, n, entropy=None: np.array([0, 3, 1, -2]))
        assert on_integers().select([big + v for v in (1, 0, 2, 5)]) == 1


def test_scores_of_any_size_are_exact() -> None:
    rule = NoisyMax(sensitivity=1, epsilon=100)
    assert rule.select([2**62, 2**62 + 50, 0]) == 1
    assert rule.select([10**300, 10**300 + 50, -(10**300)]) == 1
    assert rule.select(np.array([-(2**63), 2**63 - 1])) == 1
    assert rule.select([1e300, 0.0]) == 0


@pytest.mark.parametrize("noise", ["laplace", "exponential"])
def test_draws_follow_the_law(noise: str) -> None:
    """Chi-square, false alarm 1e-9; an epsilon a third off is found."""
    rule, scores = on_integers(noise=noise, epsilon=2), np.array([1, 0, 2, 2])
    seen = np.bincount([rule.select(scores) for _ in range(10_000)], minlength=4)

    def fit(rule: NoisyMax) -> float:
        return chi_square_chance(seen, [float(p.lo) for p in rule.probabilities(scores)])

    assert fit(rule) > FALSE_ALARM
    assert fit(on_integers(noise=noise, epsilon="1.3")) < FALSE_ALARM


def test_what_is_no_number_has_its_constant_or_is_refused() -> None:
    rule = on_integers(epsilon=1000, nan=-50)
    assert rule.select([float("nan"), 0, float("inf"), None]) == 1
    for bad in ([float("nan")], [], ["1"], [True], 3, [[1, 2]], None):
        with pytest.raises(Refusal):
            on_integers().select(bad)


@pytest.mark.parametrize(
    ("named", "match"),
    [
        *[({name: bad}, name) for name in ("sensitivity", "epsilon", "grid", "value_epsilon")
          for bad in (0, -1, float("nan"), float("inf"), True, "ten")],
        *[({"noise": bad}, "noise") for bad in ("gauss", None, 1, ["laplace"])],
        *[({"monotone": bad}, "monotone") for bad in (None, 1, "no")],
        ({"grid": "1/3"}, "grid"),
        ({"nan": float("inf")}, "nan"),
        ({"k": 1}, "no parameter k"),
    ],
)
def test_bad_parameters_are_refused(named: dict[str, Any], match: str) -> None:
    with pytest.raises(Refusal, match=match):
        on_integers(**named)


def test_bad_calls_are_refused() -> None:
    for beta, n in ((0, 2), (1, 2), ("x", 2), ("0.1", 0), ("0.1", True)):
        with pytest.raises(Refusal):
            on_integers().error(beta, candidates=n)
    with pytest.raises(Refusal, match="at most 32"):
        on_integers().probabilities(range(33))
