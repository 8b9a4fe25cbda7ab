"""Interval arithmetic holds what it claims: points inside give results inside, and NULL stays NULL."""

from __future__ import annotations

from fractions import Fraction as F

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from power import tried

from dpcurator.numbers.interval import Interval, replace_value

ends = st.fractions(min_value=-20, max_value=20, max_denominator=6)


@st.composite
def boxed(draw):
    """An interval, perhaps open on a side, and a point inside it."""
    low, point, high = sorted(draw(st.lists(ends, min_size=3, max_size=3)))
    shown = draw(st.sampled_from((low, point, high)))
    keep = draw(st.sampled_from(((low, high), (None, high), (low, None), (None, None), (point, point))))
    return Interval(shown if keep != (point, point) else point, *keep), point


def holds(interval: Interval, point: F) -> bool:
    above = interval.low is None or interval.low <= point
    return above and (interval.high is None or point <= interval.high)


@given(boxed(), boxed())
@tried
def test_a_point_of_each_gives_a_point_of_the_result(one, other):
    (a, x), (b, y) = one, other
    assert holds(a + b, x + y)
    assert holds(a - b, x - y)
    assert holds(a * b, x * y)
    assert holds(-a, -x)
    assert holds(abs(a), abs(x))
    if y:
        assert holds(a / b, x / y)


@given(boxed(), ends, ends)
def test_clamping_keeps_what_lies_in_the_clamp(one, first, second):
    (a, x), least, most = one, min(first, second), max(first, second)
    clamped = a.clamped(least, most)
    assert holds(clamped, min(max(x, least), most))
    assert least <= clamped.low <= clamped.high <= most


@given(boxed())
def test_the_error_reaches_the_farther_end(one):
    a, x = one
    error = a.error()
    assume(error is not None)
    assert abs(x - a.value) <= error


NULL = Interval(None, None, None)
FIVE = Interval.around(F(5), F(2))


@pytest.mark.parametrize("made", [NULL + FIVE, FIVE - NULL, NULL * FIVE, FIVE / NULL, NULL / FIVE, -NULL, abs(NULL)])
def test_arithmetic_with_null_is_null(made):
    assert made.value is None
    assert made.error() is None


def test_worked_values():
    assert Interval(F(5), F(3), F(7)) == FIVE
    assert FIVE / Interval.exactly(F(0)) == Interval(None, None, None)  # x / 0 is NULL
    assert FIVE / Interval.around(F(1), F(2)) == Interval(F(5), None, None)  # the divisor may be 0 without the noise
    assert FIVE / Interval.around(F(4), F(2)) == Interval(F(5, 4), F(1, 2), F(7, 2))
    assert Interval.exactly(F(0)) * FIVE == Interval.exactly(F(0))
    assert Interval.exactly(F(0)) * Interval(F(5), None, None) == Interval(F(0), None, None)  # x may be NULL: so is 0 x
    assert abs(Interval(F(-1), F(-3), F(1))) == Interval(F(1), F(0), F(3))
    assert replace_value(FIVE, F(6)).error() == 3


def test_what_might_be_null_without_the_noise_stays_so_when_it_is_clamped():
    """As a correlation in a group that might have no row: its ends are public, and it might be NULL all the same."""
    count, total = Interval.around(F(1), F(2)), Interval.around(F(3), F(1))
    mean = (total / count).clamped(F(-1), F(1))
    assert (mean.value, mean.low, mean.high, mean.missing) == (1, -1, 1, True)
    for made in (-mean, mean + total, total - mean, total * mean, abs(mean), mean / total, mean.clamped(F(0), F(9))):
        assert made.missing
    sure = total / Interval.around(F(9), F(2))
    assert not any(made.missing for made in (sure, sure + total, sure.root(), abs(-sure), total))
    assert Interval.around(F(1), F(2)).root().missing
