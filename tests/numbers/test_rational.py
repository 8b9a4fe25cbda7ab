"""Parameters read as the exact rational their author meant, or refused in the same words everywhere."""

from __future__ import annotations

import math
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpcurator.errors import Refusal
from dpcurator.numbers import decimal_text, positive, rational, whole
from dpcurator.numbers.decimals import leading
from dpcurator.numbers.rational import at_least_0, between_0_and_1, from_0_below_1

TENTH = Fraction(1, 10)


@pytest.mark.parametrize(
    ("spelled", "meant"),
    [
        (0.1, TENTH), ("0.1", TENTH), ("1/10", TENTH), (" 1 / 10 ", TENTH), (Decimal("0.1"), TENTH), (TENTH, TENTH),
        ("1e-1", TENTH), (".1", TENTH), ("+0.10", TENTH), (np.float64(0.1), TENTH), (np.float32(0.1), TENTH),
        (np.float16(0.1), TENTH), (np.array(0.1, dtype=np.float32), TENTH), (np.int8(3), 3), (3, 3), ("-3", -3),
        (1e300, 10**300), ("1e-300", Fraction(1, 10**300)), (5e-324, Fraction(5, 10**324)), (0, 0), (-0.0, 0),
        (10**1000, 10**1000), (Decimal("1e-1000"), Fraction(1, 10**1000)), (np.uint64(2**64 - 1), 2**64 - 1),
    ],
)
def test_what_a_spelling_means(spelled, meant):
    assert rational(spelled, name="epsilon") == meant


@pytest.mark.parametrize(
    "spelled",
    [
        math.nan, math.inf, -math.inf, True, False, np.True_, "abc", "", " ", "nan", "inf", "1/0", "0x10", "1_000",
        "1,5", "٣", "1e99999", "1e", "--1", "1//2", None, [], {}, object(), 1j, b"1", Decimal("nan"), Decimal("inf"),
        Decimal("sNaN"), Decimal("1e99999"), np.float64("nan"), np.float32("inf"), np.array([1, 2]), np.array("1"),
        "1" * 5000, "\ud800", 10**1001, Fraction(1, 10**1001), Decimal("1" * 1500), "1e1001",
        np.datetime64("2024-01-01"),
    ],
    ids=lambda value: repr(value)[:30].split(" at ")[0],
)
def test_what_is_no_number_is_refused(spelled):
    with pytest.raises(Refusal, match="epsilon") as refused:
        rational(spelled, name="epsilon")
    assert refused.value.cure
    assert len(str(refused.value)) < 200
    str(refused.value).encode()


def test_an_object_that_pretends_to_be_a_numpy_scalar_is_refused():
    with pytest.raises(Refusal):
        rational(type("Odd", (), {"shape": (), "item": 5})(), name="x")


def test_positive_and_whole():
    assert positive("1e-300", name="x") > 0
    assert whole(3.0, name="x") == whole("3", name="x") == 3
    for spelled in (0, -1, "-1e-9", -0.0):
        with pytest.raises(Refusal, match="above 0"):
            positive(spelled, name="x")
    for spelled in (2.5, -1, "1/2", 10**500 + Fraction(1, 2)):
        with pytest.raises(Refusal, match="whole number"):
            whole(spelled, name="x")
    with pytest.raises(Refusal, match="at least 2"):
        whole(1, name="x", least=2)


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_a_float_parameter_is_read_by_its_spelling(value):
    assert rational(value, name="x") == Fraction(repr(value))
    assert float(rational(value, name="x")) == value


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (Fraction(1, 4), "0.25"), (Fraction(-1, 4), "-0.25"), (Fraction(3), "3"), (Fraction(0), "0"),
        (Fraction(1, 3), "0.333333..."), (Fraction(2, 3), "0.666667..."), (Fraction(1, 10**12), "0.000000000001"),
        (Fraction(1, 10**13), "1e-13..."), (Fraction(10) ** 39, "1" + "0" * 39), (Fraction(10) ** 300, "1e+300"),
        (Fraction(10) ** 300 + 1, "1e+300..."), (Fraction(1, 10**400), "1e-400..."),
        (-Fraction(15) * 10**400, "-1.5e+401"),
        (Fraction(10**400, 3), "3.33333e+399..."), (Fraction(9999999, 10) * 10**60, "1e+66..."),
        (Fraction(11, 8), "1.375"),
    ],
)
def test_a_number_as_people_write_it(value, text):
    assert decimal_text(value) == text


@given(st.fractions(), st.integers(-600, 600))
def test_a_text_is_always_made_and_exact_unless_it_says_so(value, power):
    value *= Fraction(10) ** power
    text = decimal_text(value)
    if not text.endswith("..."):
        assert Fraction(text) == value
    elif value:
        assert abs(Fraction(text[:-3]) - value) <= abs(value) / 10**5
    assert len(text) <= 60


@given(st.fractions(min_value=Fraction(1, 10**9)), st.integers(-400, 400))
def test_the_leading_power_of_ten(value, power):
    value *= Fraction(10) ** power
    assert Fraction(10) ** leading(value) <= value < Fraction(10) ** (leading(value) + 1)


@pytest.mark.parametrize(
    ("check", "taken", "refused"),
    [
        (positive, ["1e-9", 1, 7], [0, -1]),
        (at_least_0, [0, "1/2", 7], [-1, "-1e-9"]),
        (from_0_below_1, [0, "0.999"], [-1, 1, "1.5"]),
        (between_0_and_1, ["1e-9", "0.999"], [0, -1, 1, "1.5"]),
    ],
)
def test_each_range_is_checked_in_one_place(check, taken, refused):
    """What is refused is named, with what was given; a number it takes comes back exactly; the cure it names works."""
    for value in taken:
        assert check(value, name="rate") == Fraction(value)
    for value in refused:
        with pytest.raises(Refusal, match=rf"rate must be .*, not {decimal_text(Fraction(value))}\.") as told:
            check(value, name="rate")
        assert check(told.value.cure.removeprefix("Write rate as in ").removesuffix("."), name="rate") > 0
    for odd in (float("nan"), True, None, "much"):
        with pytest.raises(Refusal, match="rate must be a finite number"):
            check(odd, name="rate")
