"""The cut in words, and where it stands among the notes."""

from __future__ import annotations

import pytest

import dpcurator as dp

OVER = dp.Cut(1170, 90, 9950, 90, "patients", "are over a cap")


@pytest.mark.parametrize(("cut", "words"), [
    (OVER, "about 1,170 ±90 of 9,950 ±90 patients are over a cap"),
    (dp.Cut(1174, 60, 9951, 60, "people", "are over a cap"), "about 1,170 ±60 of 9,950 ±60 people are over a cap"),
    (dp.Cut(12, 60, 40, 60, "people", "are over a cap"), "about 10 ±60 of 40 ±60 people are over a cap"),
    (dp.Cut(-31, 60, -5, 60, "people", "are over a cap"), "about 0 ±60 of 0 ±60 people are over a cap"),
    (dp.Cut(31, 60, 5000, 0, "rows", "have a value outside its bounds"),
     "about 30 ±60 of 5,000 rows have a value outside its bounds"),
])
def test_it_is_told_with_no_digit_beyond_the_noise(cut, words):
    assert str(cut) == words


@pytest.mark.parametrize(("over", "units", "share"), [
    (1170, 9950, 1170 / 9950), (-4, 100, 0.0), (120, 100, 1.0), (5, 0, None), (5, -3, None),
])
def test_its_share_is_one_of_the_units_where_there_are_any(over, units, share):
    assert dp.Cut(over, 9, units, 9, "people", "are over a cap").share == share


@pytest.mark.parametrize(("over", "units", "place"), [(6, 100, 0), (5, 100, 1), (0, 100, 1), (9, 0, 1)])
def test_it_is_said_first_where_it_is_above_a_twentieth(over, units, place):
    cut = dp.Cut(over, 1, units, 1, "people", "are over a cap")
    found = cut.among(("a note",))
    assert len(found) == 2
    assert found[place] == str(cut)


def test_what_json_has_makes_it_again():
    assert dp.Cut(**OVER.as_json()) == OVER
