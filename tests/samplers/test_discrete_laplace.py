"""Discrete Laplace draws end to end: scalar against vectorised on one tape, types, and the law by chi-square."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from laws_of_draws import FALSE_ALARM, cell_counts, chi_square_chance, laplace_cells
from numpy.typing import NDArray

from dpcurator.entropy import TapeEntropy
from dpcurator.errors import Refusal
from dpcurator.samplers import discrete_laplace, geometric

MODERATE = [Fraction(s) for s in ("1/2", "1", "3/2", "3", "10", "1000")]
LARGE = [Fraction(s) for s in (2**15 + 1, 10**6, 2**31, 2**40, 2**54)]
OBJECTS = [Fraction(2**54) + Fraction(1, 3), Fraction(2**60), Fraction(2**60, 3) * 2, Fraction(2**100)]


def edges(scale: Fraction) -> list[int]:
    """Up to 61 cell edges at quantiles of the continuous law, both sides of 0."""
    quantiles = np.linspace(0.02, 0.98, 49)
    signed = np.where(quantiles < 0.5, np.log(2 * quantiles), -np.log(2 * (1 - quantiles)))
    return sorted(
        {0, 1, *(round(Fraction(float(x)) * scale) for x in signed), *(round(x * scale) for x in (-7, -5, 5, 7))}
    )


def pooled_edges(scale: Fraction, n: int) -> list[int]:
    """The edges less those of cells where fewer than 12 of n draws are expected."""
    cuts = edges(scale)
    masses = laplace_cells(scale, cuts)
    while min(masses) * n < 12:
        cuts.pop(min(max(int(np.argmin(masses)) - 1, 0), len(cuts) - 1))
        masses = laplace_cells(scale, cuts)
    return cuts


def fits(draws: NDArray[Any], scale: Fraction) -> float:
    cuts = pooled_edges(scale, len(draws))
    return chi_square_chance(cell_counts(draws, cuts), laplace_cells(scale, cuts))


@pytest.mark.parametrize("scale", MODERATE + LARGE)
def test_law(scale: Fraction) -> None:
    assert fits(discrete_laplace(scale, 10**6), scale) > FALSE_ALARM


@pytest.mark.parametrize("scale", OBJECTS)
def test_law_of_python_ints(scale: Fraction) -> None:
    assert fits(discrete_laplace(scale, 10**5), scale) > FALSE_ALARM


@pytest.mark.parametrize("scale", [Fraction(1), Fraction(10), Fraction(10**6), Fraction(2**70)])
def test_law_of_single_draws(scale: Fraction) -> None:
    draws = np.array([discrete_laplace(scale) for _ in range(40_000)], dtype=object)
    assert fits(draws if scale > 2**54 else draws.astype(np.int64), scale) > FALSE_ALARM


@pytest.mark.slow
@pytest.mark.parametrize("scale", [*MODERATE, *LARGE])
def test_law_of_many_draws(scale: Fraction) -> None:
    cuts, counts = pooled_edges(scale, 10**8), np.zeros(1, dtype=np.int64)
    for _ in range(50):
        counts = counts + cell_counts(discrete_laplace(scale, 2 * 10**6), cuts)
    assert chi_square_chance(counts, laplace_cells(scale, cuts)) > FALSE_ALARM


def scale_off(scale: Fraction, n: int) -> NDArray[Any]:
    return discrete_laplace(scale * 21 / 20, n)


def lost_sign(scale: Fraction, n: int) -> NDArray[Any]:
    return np.abs(discrete_laplace(scale, n))


def double_zero(scale: Fraction, n: int) -> NDArray[Any]:
    return geometric(scale, n) * np.where(discrete_laplace(Fraction(1, 100), n) + np.arange(n) % 2 == 0, 1, -1)


def shifted(scale: Fraction, n: int) -> NDArray[Any]:
    return discrete_laplace(scale, n) + 1


@pytest.mark.parametrize("scale", [Fraction(1), Fraction(3, 2), Fraction(10)])
@pytest.mark.parametrize("broken", [scale_off, lost_sign, double_zero, shifted])
def test_the_chi_square_test_finds_broken_samplers(broken: Any, scale: Fraction) -> None:
    assert fits(broken(scale, 10**6), scale) < FALSE_ALARM


@pytest.mark.parametrize("broken", [scale_off, lost_sign])
def test_the_chi_square_test_finds_broken_large_scales(broken: Any) -> None:
    assert fits(broken(Fraction(2**40), 10**6), Fraction(2**40)) < FALSE_ALARM


@pytest.mark.parametrize("scale", [Fraction(2**40), Fraction(2**54), Fraction(10**12, 7)])
@pytest.mark.parametrize("lowest", [0, 3, 8, 21])
def test_low_digits_of_large_scales_are_uniform(scale: Fraction, lowest: int) -> None:
    """Six binary digits of Z: their law is uniform to 2**(lowest + 6) / scale, far below what 10**6 draws can see."""
    digits = (discrete_laplace(scale, 10**6) >> lowest) & 63
    assert chi_square_chance(np.bincount(digits, minlength=64), [1 / 64] * 64) > FALSE_ALARM
    stuck = digits | (np.arange(len(digits)) % 16 == 0)  # the lowest digit set in one draw of sixteen
    assert chi_square_chance(np.bincount(stuck, minlength=64), [1 / 64] * 64) < FALSE_ALARM


@pytest.mark.parametrize("scale", [Fraction(s) for s in ("1/1000", "1/2", "1", "3/2", "10", "1000", "32768")])
def test_one_tape_gives_the_same_draws_one_by_one_and_together(scale: Fraction) -> None:
    words = np.random.default_rng(5).integers(0, 2**64, 3000, dtype=np.uint64)
    together = discrete_laplace(scale, len(words), TapeEntropy.of_words(words))
    tape = TapeEntropy.of_words(words)
    assert together.tolist() == [discrete_laplace(scale, None, tape) for _ in words]


def test_doubtful_words_are_refined_in_the_order_they_come() -> None:
    plain = np.random.default_rng(6).integers(2**50, 2**62, 20, dtype=np.uint64).tolist()
    doubtful = {3: (0, [5 << 58]), 11: (1 << 63, [0, 9 << 50])}  # a zero word has no first guess: its draw goes on
    words = [doubtful[i][0] if i in doubtful else word for i, word in enumerate(plain)]
    further = [word for i in sorted(doubtful) for word in doubtful[i][1]]
    together = discrete_laplace(Fraction(3, 2), 20, TapeEntropy.of_words(words + further))
    singly = [
        discrete_laplace(Fraction(3, 2), None, TapeEntropy.of_words([word, *doubtful.get(i, (0, []))[1]]))
        for i, word in enumerate(words)
    ]
    assert together.tolist() == singly
    assert together[3] > 60
    assert together[11] < -120


@pytest.mark.parametrize("scale", [*MODERATE, *LARGE, *OBJECTS, Fraction(2**130, 7)])
def test_one_draw_is_an_array_of_one(scale: Fraction) -> None:
    random = np.random.default_rng(7)
    for _ in range(200):
        words = random.integers(0, 2**64, 8, dtype=np.uint64)
        alone = discrete_laplace(scale, None, TapeEntropy.of_words(words))
        assert type(alone) is int
        assert discrete_laplace(scale, 1, TapeEntropy.of_words(words)).tolist() == [alone]


@pytest.mark.parametrize(
    ("scale", "kind"),
    [("1e-9", np.int64), ("1/1000", np.int64), (1, np.int64), (2**54, np.int64), (2**54 + 1, object), (2**100, object)],
)
def test_type_follows_from_the_scale(scale: object, kind: type) -> None:
    draws = discrete_laplace(Fraction(scale), 100)  # type: ignore[call-overload]
    assert draws.dtype == kind
    assert draws.shape == (100,)
    assert discrete_laplace(Fraction(scale), 0).shape == (0,)  # type: ignore[call-overload]
    if kind is object:
        assert {type(z) for z in draws} == {int}


@pytest.mark.parametrize("scale", ["1e-4", "1e-9", "1e-300", "1/1000"])
def test_case_cal_08_tiny_scales_give_zero(scale: str) -> None:
    """P(Z != 0) is 2 e**-1000 at most: never seen; an overflow would be an error that the scale alone decides."""
    assert not discrete_laplace(Fraction(scale), 1000).any()
    assert [discrete_laplace(Fraction(scale)) for _ in range(1000)] == [0] * 1000


@pytest.mark.parametrize("scale", [0, -1, float("nan"), float("inf"), True, "ten", None])
def test_other_scales_are_refused(scale: Any) -> None:
    for size in (None, 3):
        with pytest.raises(Refusal, match="scale"):
            discrete_laplace(scale, size)
        with pytest.raises(Refusal, match="scale"):
            geometric(scale, size)


def test_finished_floats_carry_no_fingerprint() -> None:
    """attack 7, with noise of scale 1 on the grid 2**-53: S = outputs under 1/4 that are no multiple of 2**-53.

    A float sum f + noise meets S often when f = 0 and never when f = 1. Ours adds in integers and turns k into the
    float of k / 2**53 once, so what can come out is one set, the same for both neighbours, and S is not in it.
    """
    unit = 2**53

    def in_s(y: float) -> bool:
        return 0 < abs(y) < 0.25 and (Fraction(y) * unit).denominator != 1

    noise = discrete_laplace(Fraction(unit), 20_000).tolist()
    outputs = {f: [float(Fraction(f * unit + k, unit)) for k in noise] for f in (0, 1)}
    assert [sum(map(in_s, outputs[f])) for f in (0, 1)] == [0, 0]
    assert all(sum(abs(y) < 0.25 for y in outputs[f]) > 1000 for f in (0, 1))  # the event's window is visited

    reachable = {float(Fraction(k, unit)) for k in range(unit - 500, unit + 500)}  # around y = 1, from either f
    for f in (0, 1):
        assert reachable == {
            float(Fraction(f * unit + k, unit)) for k in range(unit - 500 - f * unit, unit + 500 - f * unit)
        }

    naive = np.random.default_rng(8).laplace(size=20_000)
    assert [sum(map(in_s, (f + naive).tolist())) > 0 for f in (0, 1)] == [True, False]
