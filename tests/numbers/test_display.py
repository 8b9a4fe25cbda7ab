"""No digit beyond the noise: a value ends at the place of its error's first figure."""

from __future__ import annotations

from fractions import Fraction as F

import pytest
from hypothesis import given
from hypothesis import strategies as st
from power import tried

from dpcurator.numbers.display import error_text, number_text, place, round_half_up, value_text


@pytest.mark.parametrize(
    ("value", "error", "shown", "bar"),
    [
        (41832, 357, "41,800", "360"), (F("43.87"), F("0.46"), "43.9", "0.46"), (47, 2, "47", "2"), (5, 5, "5", "5"),
        (F("43.87"), F("9.95"), "44", "10"), (-41832, 357, "-41,800", "360"), (3, 5000, "0", "5,000"),
        (F("0.000123"), F("0.0000456"), "0.00012", "0.000046"), (F("1.5"), F("0.1"), "1.5", "0.1"),
        (12345, 99, "12,350", "99"), (12345, F("99.1"), "12,350", "100"), (-3, 50, "0", "50"),
    ],
)
def test_a_value_and_its_error(value, error, shown, bar):
    assert (value_text(F(value), F(error)), error_text(F(error))) == (shown, bar)


@pytest.mark.parametrize(
    ("value", "shown"),
    [(F(7), "7"), (F(1, 3), "0.333333333333"), (F(0), "0"), (F(1, 10**10), "0.0000000001"), (F(1234567), "1,234,567")],
)
def test_a_value_without_noise_is_shown_to_12_figures(value, shown):
    assert value_text(value, F(0)) == shown


@pytest.mark.parametrize(
    ("value", "shown"), [(F("0.4137"), "0.41"), (F(1234567), "1,200,000"), (F(0), "0"), (F(-7), "-7")]
)
def test_a_noisy_value_without_a_bound_has_two_figures(value, shown):
    assert value_text(value, None) == shown


def test_a_whole_value_has_no_decimals():
    assert value_text(F(12), F(1, 10), whole=True) == "12"


@given(st.fractions(min_value=-(10**12), max_value=10**12), st.fractions(min_value=F(1, 10**9), max_value=10**12))
@tried
def test_no_digit_is_beyond_the_noise_and_the_error_is_rounded_up(value, error):
    text = value_text(value, error)
    shown = F(text.replace(",", ""))
    unit = F(10) ** place(error)
    assert unit <= error < 10 * unit
    assert shown % unit == 0
    assert abs(shown - value) <= unit / 2
    assert len(text.partition(".")[2]) <= max(0, -place(error))
    bar = F(error_text(error).replace(",", ""))
    assert error <= bar <= error * F(11, 10)


@given(st.fractions())
def test_halves_go_up(value):
    assert -F(1, 2) < value - round_half_up(value) + 0 < F(1, 2) or value - round_half_up(value) == -F(1, 2)


def test_fixed_point():
    assert number_text(F(-1234567, 1000), 2) == "-1,234.57"
    assert number_text(F(-1, 1000), 2) == "0.00"
    assert number_text(F(10**400)) == f"{10**400:,}"
