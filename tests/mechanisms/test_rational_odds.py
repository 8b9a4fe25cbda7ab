"""The rational odds below e**epsilon: never above, and within 2**-64 of what was asked for."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest

from dpcurator.errors import Refusal
from dpcurator.mechanisms.local.rational_odds import LEAST, MOST, _power, epsilon_of, odds
from dpcurator.numbers import exp_neg, ln

ASKED = [
    Fraction(s) for s in ("1/1099511627776", "1e-9", "1/1000", "1/10", "1/2", "1", "2", "10/3", "20", "300", "1024")
]


@pytest.mark.parametrize("epsilon", ASKED)
def test_odds_are_below_and_close(epsilon: Fraction) -> None:
    ratio = odds(epsilon)
    power = 1 / exp_neg(epsilon, 400)
    assert power.surely_above(ratio)
    assert (power - 1).surely_at_most((ratio - 1) * (1 + Fraction(1, 2**64)))
    assert ln(ratio).hi <= epsilon
    assert ratio.denominator & (ratio.denominator - 1) == 0
    assert len(str(ratio.numerator)) < 500


def test_hardly_any_epsilon_is_lost() -> None:
    for epsilon in ASKED:
        assert ln(odds(epsilon), 256).lo > epsilon * (1 - Fraction(1, 2**50))


def test_past_the_largest_it_is_the_largest() -> None:
    assert odds(Fraction(10**9)) == odds(MOST)


@pytest.mark.parametrize("bad", [0, -1, float("nan"), float("inf"), True, None, "one", [1], "1e-13"])
def test_no_epsilon(bad: Any) -> None:
    with pytest.raises(Refusal, match="epsilon"):
        epsilon_of(bad)


@pytest.mark.parametrize("good", [0.1, "0.1", "1/10", Fraction(1, 10)])
def test_a_tenth_is_a_tenth(good: Any) -> None:
    assert epsilon_of(good) == Fraction(1, 10)


def test_the_least_epsilon_is_taken() -> None:
    assert epsilon_of(LEAST) == LEAST
    with pytest.raises(Refusal, match="says nothing"):
        epsilon_of(LEAST - Fraction(1, 2**200))


@pytest.mark.parametrize("power", [-90, -1, 0, 1, 77])
def test_the_power_of_two_at_or_below(power: int) -> None:
    least = Fraction(2) ** power
    for value in (least, least * Fraction(3, 2), 2 * least - Fraction(1, 2**300)):
        assert _power(value) == power
    assert _power(least - Fraction(1, 2**300)) == power - 1
