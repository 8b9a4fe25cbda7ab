"""Staircase noise: by hand, by enumeration, against the papers' formulas, and its draws by every string of bits."""

from __future__ import annotations

import math
from collections import Counter
from fractions import Fraction

import numpy as np
import pytest
from laws_of_draws import FALSE_ALARM, chi_square_chance

import dpcurator as dp
from dpcurator.entropy import SystemEntropy
from dpcurator.errors import Refusal
from dpcurator.mechanisms.noise.staircase import EXAMPLES, Stairs, _coins, best_width
from dpcurator.numbers.arb import precision
from dpcurator.numbers.enclosure import bracket

F = Fraction
RATIOS = (F(3, 2), F(3), F(20))
SMALL = [Stairs(d, r, ratio) for ratio in RATIOS for d in (1, 2, 3, 6) for r in range(1, d + 1)]


def exact(noise: Stairs, k: int) -> Fraction:
    """By the definition: a high step of its stair, or a low one."""
    j, i = divmod(abs(k), noise.stair)
    b = 1 / noise.ratio
    total = 2 * (noise.high + (noise.stair - noise.high) * b) / (1 - b) - 1
    return b ** (j + (i >= noise.high)) / total


def test_by_hand() -> None:
    """Stairs of 2 steps, one high, ratio 3: P(0) = a, P(1) = a/3, P(2) = a/3, P(3) = a/9, ...; S = (1 + 1/3)/(2/3)."""
    noise = Stairs(2, 1, F(3))
    assert noise.top == F(1, 3)
    assert [exact(noise, k) for k in range(5)] == [F(1, 3), F(1, 9), F(1, 9), F(1, 27), F(1, 27)]
    assert all(noise.pmf(k).holds(exact(noise, k)) for k in range(-9, 10))
    assert abs(noise.mean - 2 * sum(k * exact(noise, k) for k in range(400))) < F(1, 10**60)


@pytest.mark.parametrize("noise", SMALL, ids=str)
def test_masses_tails_and_means_are_those_of_the_definition(noise: Stairs) -> None:
    far = 60 * noise.stair
    inside = sum(exact(noise, k) for k in range(-far, far + 1))
    assert noise.tail(far).holds(1 - inside)
    assert all(noise.pmf(k).holds(exact(noise, k)) for k in range(-3 * noise.stair, 3 * noise.stair + 1))
    for m in range(2 * noise.stair + 1):
        assert noise.tail(m).holds(1 - sum(exact(noise, k) for k in range(-m, m + 1)))
    beyond = F(1, 10**3) if noise.ratio < 2 else F(1, 10**9)
    assert 0 <= noise.mean - 2 * sum(k * exact(noise, k) for k in range(far)) < beyond


@pytest.mark.parametrize("noise", SMALL, ids=str)
def test_the_loss_is_the_worst_of_all_shifts_exactly(noise: Stairs) -> None:
    """Each log-ratio is ln R, 0 or -ln R; the mass of ln R grows with the shift, and at a whole stair is `truth`."""
    far, masses = 40 * noise.stair, []
    for shift in range(noise.stair + 1):
        up = F(0)
        for k in range(-far, far + 1):
            ratio = exact(noise, k) / exact(noise, k - shift)
            assert ratio in (noise.ratio, 1, 1 / noise.ratio)
            up += exact(noise, k) if ratio == noise.ratio else 0
        masses.append(up)
    assert masses == sorted(masses)
    loss = noise.loss()
    assert loss["lie"] == loss["truth"] / noise.ratio
    rest = 1 - sum(exact(noise, k) for k in range(-far, far + 1))
    assert masses[-1] <= loss["truth"] <= masses[-1] + rest


def test_two_coordinates_could_lose_it_twice() -> None:
    """Why a vector of which several coordinates move is refused: two shifts of 1, sensitivity 2, lose it twice."""
    noise = Stairs(2, 1, F(3))
    twice = exact(noise, 0) ** 2 / exact(noise, 1) ** 2
    assert twice == noise.ratio**2
    with pytest.raises(Refusal, match="one coordinate"):
        dp.Staircase(sensitivity=2, epsilon=1, coordinates=2)
    with pytest.raises(Refusal, match="coordinates"):
        dp.Staircase(sensitivity=2, epsilon=1).release([1, 2])


@pytest.mark.parametrize("ratio", [*RATIOS, F(1001, 1000), F(10**9)])
@pytest.mark.parametrize("stair", [1, 2, 5, 17, 40])
def test_the_width_by_itself_is_the_best(stair: int, ratio: Fraction) -> None:
    assert best_width(stair, ratio) == min(range(1, stair + 1), key=lambda r: (Stairs(stair, r, ratio).mean, r))


@pytest.mark.parametrize("epsilon", ["1/2", "1", "3", "8"])
def test_a_fine_grid_has_the_mean_and_width_of_the_continuous_mechanism(epsilon: str) -> None:
    """Geng, Viswanath: gamma = 1 / (1 + e**(eps/2)), E|noise| = sensitivity e**(eps/2) / (e**eps - 1)."""
    noise, eps = dp.Staircase(sensitivity=2, epsilon=epsilon), float(F(epsilon))
    assert noise.gamma is not None
    assert float(noise.gamma) == pytest.approx(1 / (1 + math.exp(eps / 2)), abs=1e-5)
    assert float(noise.mean_error) == pytest.approx(2 * math.exp(eps / 2) / math.expm1(eps), rel=1e-5)
    assert noise.mean_error < 2 / F(epsilon)  # that of Laplace noise on the real line


def test_no_other_width_and_no_laplace_noise_has_a_smaller_mean() -> None:
    best = dp.Staircase(sensitivity=1, epsilon=2, grid="0.05")
    for part in range(1, 21):
        assert dp.Staircase(sensitivity=1, epsilon=2, grid="0.05", gamma=F(part, 20)).mean_error >= best.mean_error


@pytest.mark.parametrize("one", EXAMPLES, ids=str)
def test_what_is_declared_is_kept(one: dp.Staircase) -> None:
    assert one.epsilon - F(1, 2**60) <= one.loss.pure_epsilon() <= one.epsilon
    assert dp.Staircase(sensitivity=one.sensitivity, epsilon=one.epsilon, gamma=one.gamma, grid=one.grid,
                        coordinates=one.coordinates, bounds=one.bounds, nan=one.nan) == one
    assert one.loss.delta(F(0)).hi < 1
    assert one.pmf(one.step / 2).hi == 0


@pytest.mark.parametrize("noise", [*SMALL[:6], Stairs(7, 3, F(20))], ids=str)
@pytest.mark.parametrize("beta", ["1/2", "1/20", "1/1000", "1e-30"])
def test_the_error_is_the_smallest(noise: Stairs, beta: str) -> None:
    m = noise.error(F(beta))
    outside = lambda m: 1 - sum(exact(noise, k) for k in range(-m, m + 1))  # noqa: E731
    assert outside(m) <= F(beta)
    assert m == 0 or outside(m - 1) > F(beta)


def test_an_error_at_a_tie_and_at_very_little_noise() -> None:
    noise = Stairs(2, 1, F(3))
    for m in range(1, 12):
        tie = 1 - sum(exact(noise, k) for k in range(-m, m + 1))
        assert noise.error(tie) == m
        assert noise.error(tie * (1 - F(1, 10**40))) == m + 1
    tiny = dp.Staircase(sensitivity=1, epsilon="1e-9", grid=1)
    assert float(tiny.error("0.05")) == pytest.approx(math.log(20) * 1e9, rel=1e-6)
    for beta in (0, 1, "1.5", "nan"):
        with pytest.raises(Refusal):
            tiny.error(beta)


@pytest.mark.parametrize("ratio", [F(101, 100), F(5, 4), F(3)])
def test_the_digits_of_a_level_are_independent(ratio: Fraction) -> None:
    """The coins' probabilities multiply to (1 - b) b**j, exactly, for the number of digits that is drawn."""
    digits, rest = _coins(ratio)
    assert ratio ** (2 ** len(digits)) >= 2
    with precision(256):
        assert all(bracket(c.chance()).holds(1 / (1 + ratio ** (2**i))) for i, c in enumerate(digits))
        assert bracket(rest.chance()).holds(1 / ratio ** (2 ** len(digits)))
    b, n = 1 / ratio, len(digits)
    for j in (0, 1, 2, 5, 2**n, 2**n + 1, 3 * 2**n + 1):
        found = b ** (2**n * (j >> n)) * (1 - b ** (2**n))
        for i in range(n):
            one = 1 / (1 + ratio ** (2**i))
            found *= one if j >> i & 1 else 1 - one
        assert found == (1 - b) * b**j


def test_draws_have_the_probabilities() -> None:
    """Chi-square over 30 cells, at a false alarm of 1e-9 each; the control, one width off, is found out."""
    n = 100_000
    for noise in (Stairs(5, 2, F(3)), Stairs(3, 1, F(101, 100)), Stairs(1, 1, F(5, 4)), Stairs(4, 4, F(50))):
        draws = Counter(noise.sample(n, SystemEntropy()).tolist())
        cells = list(range(-8, 9))
        seen = [draws[k] for k in cells] + [n - sum(draws[k] for k in cells)]
        for other, right in ((noise, True), (Stairs(noise.stair + 1, noise.high, noise.ratio), False)):
            masses = [float(exact(other, k)) for k in cells]
            masses.append(1 - sum(masses))
            assert (chi_square_chance(*pooled(seen, masses, n)) > FALSE_ALARM) == right


def pooled(seen: list[int], masses: list[float], n: int) -> tuple[list[int], list[float]]:
    """Cells of which fewer than 12 draws are expected, put together with the last."""
    kept = [i for i, mass in enumerate(masses[:-1]) if mass * n >= 12]
    return (
        [seen[i] for i in kept] + [sum(seen) - sum(seen[i] for i in kept)],
        [masses[i] for i in kept] + [1 - sum(masses[i] for i in kept)],
    )


def test_draws_of_any_width_are_whole_and_of_a_type_that_the_width_decides() -> None:
    for noise in (Stairs(2**50, 2**49, F(3)), Stairs(2**70, 2**69, F(3)), Stairs(3, 1, 1 + F(1, 2**60))):
        drawn = noise.sample(50)
        assert drawn.dtype == (object if noise.stair * (1 + 1 / (noise.ratio - 1)) >= 2**54 else np.int64)
        assert len(set(drawn.tolist())) > 25
    assert Stairs(3, 1, F(3)).sample(0).shape == (0,)


def test_a_release_is_a_point_of_the_grid_in_the_query_s_unit() -> None:
    noise = dp.Staircase(sensitivity="5/2", epsilon=3, grid="0.5", bounds=(0, 10), nan=4)
    assert isinstance(noise.release(3.3), float)
    assert noise.release_exact(3.3) % F(1, 2) == 0
    assert dp.Staircase(sensitivity=1, epsilon=900, grid=1, bounds=(0, 10)).release(math.inf) == 10
    histogram = dp.Staircase(sensitivity=1, epsilon=900, grid=1, coordinates=1)
    assert histogram.release([3, 1, 2]).tolist() == [3, 1, 2]
    assert noise.pmf(3.5, 3.3) == noise.pmf(0)
    assert noise.pmf("3.3", 3.3).hi == 0
