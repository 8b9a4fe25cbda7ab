"""The blocks of lower digits against ball arithmetic, at the words where an outcome changes."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

from dpcurator.entropy import TapeEntropy, TapeExhausted
from dpcurator.numbers import exp_neg
from dpcurator.samplers.geometric_digits import Low, Middle

NOTHING = TapeEntropy("")
ZEROS, ONES = [0] * 8, [2**64 - 1] * 8
MIDDLES = [Middle(Fraction(2 ** (m + 14)) * factor, m) for m in (1, 2, 9, 18) for factor in (1, Fraction(7, 5), 2)]


def boundary(block: Middle, d: int) -> int:
    """The 63-bit word whose bracket holds the U at which the digits pass from d-1 (below) to d (above)."""
    at = (1 - exp_neg(d / block.scale, 256)) / (1 - exp_neg(2**block.m / block.scale, 256)) * 2**63
    assert math.floor(at.lo) == math.floor(at.hi)
    return math.floor(at.lo)


def many(block: Middle, v: int, tape: TapeEntropy = NOTHING) -> int:
    return int(block.many(np.array([v], dtype=np.uint64), tape)[0])


def some_digits(m: int) -> list[int]:
    last = 2**m
    return list(range(1, last)) if m < 7 else sorted({*range(1, 40), *range(1, last, last // 97), last - 1, last // 2})


@pytest.mark.parametrize("block", MIDDLES)
def test_middle_words_at_each_boundary_fall_on_the_right_side(block: Middle) -> None:
    for d in some_digits(block.m):
        at = boundary(block, d)
        for draw in (block.one, lambda v, tape: many(block, v, tape)):
            assert [draw(at - 1, NOTHING), draw(at + 1, NOTHING)] == [d - 1, d]
            with pytest.raises(TapeExhausted):
                draw(at, NOTHING)
            assert [draw(at, TapeEntropy.of_words(ZEROS)), draw(at, TapeEntropy.of_words(ONES))] == [d - 1, d]


class Slow(Exception):
    """The float path passed the word on."""


class FloatOnly(Middle):
    def exact(self, v: int, entropy: object) -> int:
        raise Slow


@pytest.mark.parametrize("block", MIDDLES)
def test_middle_floats_are_right_at_every_distance_from_a_boundary(block: Middle) -> None:
    floats, decided = FloatOnly(block.scale, block.m), 0
    for d in some_digits(block.m):
        at = boundary(block, d)
        for power in range(62 - block.m):
            for v, expected in ((at - 2**power, d - 1), (at + 2**power, d)):
                try:
                    assert floats.one(v, NOTHING) == many(floats, v) == expected
                    decided += 1
                except Slow:
                    assert power <= 15  # the margin is 2**(m-50) of t, that is about 2**13 words
    assert decided > 0


@pytest.mark.parametrize("block", MIDDLES)
def test_middle_ends(block: Middle) -> None:
    assert block.one(1, NOTHING) == many(block, 1) == 0
    assert block.one(2**63 - 2, NOTHING) == many(block, 2**63 - 2) == 2**block.m - 1


def low_words(block: Low, kept: int, digits: int) -> list[int]:
    drawn = kept << block.m | digits
    return [drawn >> 64 * place & (2**64 - 1) for place in reversed(range(block.width))]


def low_both_ways(block: Low, kept: int, digits: int, tape: list[int]) -> list[int]:
    """The digits from these words and then the tape, by the scalar path and by the vectorised one."""
    words = low_words(block, kept, digits)
    drawn = sum(word << 64 * place for place, word in enumerate(reversed(words)))
    many = block.many(np.array([words], dtype=np.uint64).T, TapeEntropy.of_words(tape))
    return [block.one(drawn, TapeEntropy.of_words(tape)), int(many[0])]


@pytest.mark.parametrize(
    ("scale", "m"), [(Fraction(2**33), 1), (Fraction(2**53) * 9 / 7, 21), (Fraction(2**100, 3), 66)]
)
def test_low_digits_are_kept_exactly_below_their_chance(scale: Fraction, m: int) -> None:
    block = Low(scale, m)
    rest = 64 * block.width - m
    for digits in {0, 1, 2**m // 3, 2**m - 1}:
        chance = exp_neg(digits / scale, 256) * 2**rest
        at = math.floor(chance.lo)
        redrawn = low_words(block, 0, 0)

        for kept in (0, block._kept - 1, at - 1):
            assert low_both_ways(block, kept, digits, []) == [digits, digits]
        if digits == 0:
            assert at == 2**rest  # chance 1: every word keeps it
            continue
        assert low_both_ways(block, at, digits, ZEROS) == [digits, digits]
        assert low_both_ways(block, at, digits, ONES[:1] + redrawn) == [0, 0]
        if at + 1 < 2**rest:
            assert low_both_ways(block, at + 1, digits, redrawn) == [0, 0]


def test_blocks_refuse_scales_outside_their_proof() -> None:
    for make in (
        lambda: Middle(Fraction(2**15), 2),
        lambda: Middle(Fraction(2**40), 19),
        lambda: Low(Fraction(2**32), 1),
    ):
        with pytest.raises(ValueError, match="takes"):
            make()
