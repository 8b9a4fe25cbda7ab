"""Bernoulli draws: the exact word where True ends, found against rationals and balls, and both continuations of it."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from laws_of_draws import FALSE_ALARM, chi_square_chance

from dpcurator.entropy import TapeEntropy, TapeExhausted
from dpcurator.errors import Refusal
from dpcurator.numbers import exp_neg
from dpcurator.samplers import bernoulli, bernoulli_exp

ZEROS, ONES = [0] * 8, [2**64 - 1] * 8
NEAR = Fraction(5, 2**64) + Fraction(1, 3 * 2**200)  # within 2**-200 of a word's edge


def rational_both(chance: Fraction, words: list[int]) -> list[bool]:
    one = bernoulli(chance, None, TapeEntropy.of_words(words))
    assert type(one) is bool
    return [one, bool(bernoulli(chance, 1, TapeEntropy.of_words(words))[0])]


def exp_both(x: Fraction, words: list[int]) -> list[bool]:
    one = bernoulli_exp(x, None, TapeEntropy.of_words(words))
    return [one, bool(bernoulli_exp(x, 1, TapeEntropy.of_words(words))[0])]


@pytest.mark.parametrize(
    "chance", [Fraction(c) for c in ("1/3", "2/3", "3/7", "1e-30", "999999/1000000")] + [NEAR, 1 - NEAR]
)
def test_true_ends_at_the_exact_word(chance: Fraction) -> None:
    at = math.floor(chance * 2**64)
    if at > 0:
        assert rational_both(chance, [at - 1, *ONES]) == [True, True]
    if at < 2**64 - 1:
        assert rational_both(chance, [at + 1, 2**63]) == [False, False]
    assert rational_both(chance, [at, *ZEROS]) == [True, True]
    assert rational_both(chance, [at, *ONES]) == [False, False]


@pytest.mark.parametrize("numerator", [0, 1, 2**63, 2**64 - 1, 2**64])
def test_chances_that_are_whole_words_need_no_second_word(numerator: int) -> None:
    for word in {0, max(numerator - 1, 0), min(numerator, 2**64 - 1), 2**64 - 1}:
        assert rational_both(Fraction(numerator, 2**64), [word]) == [word < numerator] * 2


@pytest.mark.parametrize("x", [Fraction(x) for x in ("1/10", "1/2", "1", "3/2", "40", "1e-25")])
def test_exp_true_ends_at_the_exact_word(x: Fraction) -> None:
    chance = exp_neg(x, 256) * 2**64
    at = math.floor(chance.lo)
    assert at == math.floor(chance.hi)
    if at > 0:
        assert exp_both(x, [at - 1]) == [True, True]
    if at < 2**64 - 1:
        assert exp_both(x, [at + 1]) == [False, False]
    assert exp_both(x, [at, *ZEROS]) == [True, True]
    assert exp_both(x, [at, *ONES]) == [False, False]
    with pytest.raises(TapeExhausted):
        exp_both(x, [at])


def test_certain_and_nearly_impossible() -> None:
    assert bernoulli_exp(Fraction(0), 1000).all()
    assert not bernoulli_exp(Fraction(10**9), 1000).any()
    assert not bernoulli_exp(Fraction(10**400))
    assert bernoulli(Fraction(1), 1000).all()
    assert not bernoulli(Fraction(0), 1000).any()


@pytest.mark.parametrize("off", [False, True])
def test_law(off: bool) -> None:
    """A chance two per cent off is found."""
    for draws, chance in (
        (bernoulli(Fraction(1, 3), 10**6), 1 / 3),
        (bernoulli_exp(Fraction(1, 2), 10**6), math.exp(-0.5)),
    ):
        chance = chance * 1.02 if off else chance
        fit = chi_square_chance(np.bincount(draws, minlength=2), [1 - chance, chance])
        assert (fit < FALSE_ALARM) == off


@pytest.mark.parametrize("bad", [-1, "1.01", float("nan"), True])
def test_other_chances_are_refused(bad: object) -> None:
    with pytest.raises(Refusal, match="chance"):
        bernoulli(bad)  # type: ignore[call-overload]


def test_negative_exponents_are_refused() -> None:
    with pytest.raises(Refusal, match="at least 0"):
        bernoulli_exp(Fraction(-1))
