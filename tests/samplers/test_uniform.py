"""Uniform draws below any bound: equally many words for each outcome, rejection at the exact word, long bounds."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from laws_of_draws import FALSE_ALARM, chi_square_chance

from dpcurator.entropy import TapeEntropy
from dpcurator.errors import Refusal
from dpcurator.samplers import uniform_below

BOUNDS = [1, 2, 3, 10, 2**32, 2**63 - 1, 2**63, 2**63 + 1, 2**64 - 1, 2**64, 2**64 + 1, 2**127, 3 * 2**100 + 1]


def both(m: int, words: list[int]) -> list[int]:
    return [uniform_below(m, None, TapeEntropy.of_words(words)), uniform_below(m, 1, TapeEntropy.of_words(words))[0]]


@pytest.mark.parametrize("m", [m for m in BOUNDS if m <= 2**64])
def test_every_outcome_has_equally_many_words(m: int) -> None:
    """Words below the largest multiple of m give w mod m, a fair share each; words from there on are drawn again."""
    kept = 2**64 // m * m
    for word in {0, 1, m - 1, m, kept // 2, kept - 2, kept - 1}:
        if word < kept:
            assert both(m, [word]) == [word % m] * 2
    for word in {kept, kept + 1, 2**64 - 1}:
        if kept <= word < 2**64:
            assert both(m, [word, word, m // 2]) == [m // 2] * 2


@pytest.mark.parametrize(("m", "head"), [(2**64 + 1, 63), (2**127, 1), (3 * 2**100 + 1, 26)])
def test_long_bounds_take_the_bits_they_need(m: int, head: int) -> None:
    for k in (0, 1, m - 1, m // 3):
        words = [k >> 64 << head, k & (2**64 - 1)]
        assert uniform_below(m, 1, TapeEntropy.of_words(words))[0] == k
        bits = (m - 1).bit_length()
        assert uniform_below(m, None, TapeEntropy(format(k, f"0{bits}b"))) == k
    top = 2**128 - 1
    if m < 2**127:
        assert uniform_below(m, 1, TapeEntropy.of_words([top >> 64, top & (2**64 - 1), 0, 0])).tolist() == [0]


@pytest.mark.parametrize("m", BOUNDS)
def test_type_and_range(m: int) -> None:
    draws = uniform_below(m, 3000)
    assert draws.dtype == (np.int64 if m <= 2**63 else object)
    assert 0 <= min(draws) <= max(draws) < m
    alone = uniform_below(m)
    assert type(alone) is int
    assert 0 <= alone < m


@pytest.mark.parametrize("m", [3, 10, 2**63 - 1, 3 * 2**62, 2**64 - 1, 2**64 + 1, 3 * 2**100 + 1])
def test_law(m: int) -> None:
    cells = min(m, 9)
    n = 200_000 if m <= 2**63 else 40_000
    counts = Counter(k * cells // m for k in uniform_below(m, n).tolist())
    masses = [(-(-(i + 1) * m // cells) + (-i * m // cells)) / m for i in range(cells)]
    assert chi_square_chance([counts[i] for i in range(cells)], masses) > FALSE_ALARM


def test_the_chi_square_test_finds_the_bias_of_a_remainder() -> None:
    """The low 4 bits modulo 10: outcomes 0 to 5 have twice the mass."""
    draws = uniform_below(16, 200_000) % 10
    assert chi_square_chance(np.bincount(draws, minlength=10), [0.1] * 10) < FALSE_ALARM


@pytest.mark.parametrize("m", [0, -1, "1/2", float("nan"), True])
def test_other_bounds_are_refused(m: object) -> None:
    with pytest.raises(Refusal, match="m must"):
        uniform_below(m)  # type: ignore[call-overload]
