"""Decimals of so many figures in order, and the search over their places."""

from __future__ import annotations

from fractions import Fraction

import pytest

from dpcurator.numbers.decimal_search import decimal_at, least_place, place_of


@pytest.mark.parametrize(
    ("place", "value"), [(0, "1"), (1, "1.1"), (89, "9.9"), (90, "10"), (-1, ".99"), (-180, ".01")]
)
def test_decimals_of_two_figures_by_hand(place: int, value: str) -> None:
    assert decimal_at(place, 2) == Fraction(value)
    assert place_of(Fraction(value), 2) == place
    assert place_of(Fraction(value) + Fraction(1, 10**9), 2) == place


def test_the_order_has_no_gap() -> None:
    places = range(-2000, 2000)
    decimals = [decimal_at(place, 3) for place in places]
    assert decimals == sorted(set(decimals))
    assert [place_of(value, 3) for value in decimals] == list(places)


@pytest.mark.parametrize("least", [-(10**20), -7, 0, 1, 12345, 10**20])
@pytest.mark.parametrize("near", [-100, 0, 12345, 10**21])
def test_the_least_place_is_found_from_anywhere(least: int, near: int) -> None:
    asked: list[int] = []

    def true(place: int) -> bool:
        asked.append(place)
        return place >= least

    assert least_place(true, near) == least
    assert len(asked) < 160
