"""Geometric draws: the law by chi-square with a negative control, the split into blocks, the tape."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from laws_of_draws import FALSE_ALARM, cell_counts, chi_square_chance, geometric_cells

from dpcurator.entropy import TapeEntropy
from dpcurator.samplers import geometric
from dpcurator.samplers.geometric import blocks

SCALES = [Fraction(s) for s in ("1/2", "1", "3/2", "10", "1000", 10**6, 2**33, 2**40, 2**54)]


def edges(scale: Fraction) -> list[int]:
    return sorted({0, *(round(scale * Fraction(i, 12)) for i in range(1, 80))})[: 10 if scale < 1 else 100]


def chance(scale: Fraction, true: Fraction) -> float:
    return chi_square_chance(cell_counts(geometric(scale, 10**6), edges(true))[1:], geometric_cells(true, edges(true)))


@pytest.mark.parametrize("scale", SCALES)
def test_law(scale: Fraction) -> None:
    assert chance(scale, scale) > FALSE_ALARM


@pytest.mark.parametrize("scale", SCALES)
def test_a_scale_five_per_cent_off_is_found(scale: Fraction) -> None:
    assert chance(scale * 21 / 20, scale) < FALSE_ALARM


@pytest.mark.parametrize(
    "scale", [Fraction(s) for s in (1, 2**15, 2**15 + 1, 2**16, 2**33, 2**33 + 1, 2**54, 2**100, "1e20")]
)
def test_the_blocks_of_digits_make_up_the_scale(scale: Fraction) -> None:
    law = blocks(scale)
    low = law.low.m if law.low else 0
    middle = law.middle.m if law.middle else 0
    assert law.top.scale * 2 ** (low + middle) == scale
    assert law.middle is None or law.middle.scale * 2**low == scale
    assert law.low is None or law.low.scale == scale
    assert law.top.scale <= 2**15
    assert scale <= 2**15 or law.top.scale > 2**14


@pytest.mark.parametrize("scale", [*SCALES, Fraction(2**60), Fraction(2**130, 7)])
def test_one_draw_is_an_array_of_one(scale: Fraction) -> None:
    random = np.random.default_rng(9)
    for _ in range(200):
        words = random.integers(0, 2**64, 8, dtype=np.uint64)
        alone = geometric(scale, None, TapeEntropy.of_words(words))
        assert type(alone) is int
        assert geometric(scale, 1, TapeEntropy.of_words(words)).tolist() == [alone]
