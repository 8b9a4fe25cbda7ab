"""Roots bracket, by squaring alone; they are as near as they say; the decimals reach the figures they promise."""

from __future__ import annotations

import random
from fractions import Fraction

import pytest

from dpcurator.numbers.roots import exact_root, root_above, root_below, ten_to_figures

_PICK = random.Random(7)
_SIZES = [(_PICK.randint(1, 300), _PICK.randint(1, 300)) for _ in range(400)]
SQUARES = [Fraction(a, b) for a in range(30) for b in range(1, 12)]
SQUARES += [Fraction(_PICK.getrandbits(a) + 1, _PICK.getrandbits(b) + 1) for a, b in _SIZES]


@pytest.mark.parametrize("n", [1, 7, 10**15, 1 << 90])
def test_roots_bracket_with_one_step_between(n):
    for square in SQUARES:
        below, above = root_below(square, n), root_above(square, n)
        assert below**2 <= square < above**2
        assert above - below == Fraction(1, n)
        assert n % below.denominator == 0


def test_a_root_is_exact_exactly_where_it_is_rational():
    for square in SQUARES:
        assert exact_root(square**2) == square
        found = exact_root(square)
        assert found is None or found**2 == square
    assert exact_root(Fraction(8, 2)) == 2
    assert [exact_root(Fraction(n)) for n in (2, 3, 8)] == [None] * 3
    assert exact_root(Fraction(4, 3)) is None
    assert exact_root(Fraction(3, 4)) is None


@pytest.mark.parametrize("figures", [1, 15, 18, 30])
def test_small_roots_have_the_figures_asked_for(figures):
    for square in SQUARES:
        n = ten_to_figures(square, figures)
        assert str(n).strip("0") == "1"
        if 0 < square <= 1:
            assert root_below(square, n) * n >= 10 ** (figures - 1)
    assert ten_to_figures(Fraction(10) ** 400, 15) == 1
