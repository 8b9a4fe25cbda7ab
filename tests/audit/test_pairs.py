"""Pairs proposed: each is a pair of neighbours under its relation, and the ones that catch mistakes are there."""

from __future__ import annotations

import math
from collections import Counter

import pytest

import dpcurator as dp
from dpcurator.auditing.pairs import Pair, propose


def rows(data):
    return Counter(map(repr, data))


@pytest.mark.parametrize("domain", [(0, 100), (-1.5, 2.5), [1, 2, 3], ["a", "b"], [0]])
def test_add_remove_differs_in_one_row(domain):
    for pair in propose(neighbours="add-remove", domain=domain):
        first, second = rows(pair.first), rows(pair.second)
        assert sum((second - first).values()) == 1
        assert not first - second


@pytest.mark.parametrize("domain", [(0, 100), [1, 2, 3]])
def test_replace_one_differs_in_one_row_of_as_many(domain):
    for pair in propose(neighbours="replace-one", domain=domain):
        assert len(pair.first) == len(pair.second)
        assert sum(repr(a) != repr(b) for a, b in zip(pair.first, pair.second, strict=True)) == 1


def test_vectors_and_numbers_move_by_at_most_one():
    for pair in propose(neighbours="vector"):
        assert len(pair.first) == len(pair.second)
        assert max(abs(a - b) for a, b in zip(pair.first, pair.second, strict=True)) == 1
    for pair in propose(neighbours="number"):
        assert 0 < abs(pair.first - pair.second) <= 1


def test_one_unit_may_have_very_many_rows():
    pairs = propose(neighbours="add-remove", domain=(0, 1), units=True)
    assert all(len({unit for unit, _ in pair.second} - {unit for unit, _ in pair.first}) == 1 for pair in pairs)
    assert max(len(pair.second) - len(pair.first) for pair in pairs) == 1000


def test_what_has_caught_mistakes_is_tried():
    values = [row for pair in propose(neighbours="add-remove", domain=(0, 100)) for row in pair.second]
    assert any(isinstance(row, float) and math.isnan(row) for row in values)
    assert {math.inf, -math.inf, 2**63, 10**30} <= {row for row in values if row == row}
    assert any(pair.first == [] for pair in propose(neighbours="add-remove", domain=(0, 100)))


def test_a_list_of_values_is_believed_and_hostile_rows_can_be_left_out():
    for pair in (
        *propose(neighbours="add-remove", domain=[1, 2]),
        *propose(neighbours="add-remove", domain=(1, 2), hostile=False),
    ):
        assert all(1 <= row <= 2 for row in (*pair.first, *pair.second))


@pytest.mark.parametrize("neighbours", ["add-remove", "replace-one"])
@pytest.mark.parametrize("domain", [(0, 100), (0.0, 1.0), (0, 10**40), (-1, 0)])
def test_f11_rows_within_the_bounds_come_first_and_others_are_marked(neighbours, domain):
    """F11: a pair is hostile when a row of it is outside the bounds, and only then; nan is, -0.0 is 0."""
    pairs = propose(neighbours=neighbours, domain=domain)
    marks = [pair.hostile for pair in pairs]
    assert marks == sorted(marks)
    assert True in marks
    for pair in pairs:
        outside = [row for row in (*pair.first, *pair.second) if not domain[0] <= row <= domain[1]]
        assert bool(outside) == pair.hostile == ("outside the bounds" in pair.why)
    assert any(repr(row) == "-0.0" for pair in pairs if not pair.hostile for row in (*pair.first, *pair.second))


def test_no_pair_is_listed_twice_and_the_order_never_varies():
    for name, domain in (("add-remove", (0, 9)), ("replace-one", [1, 2]), ("vector", None), ("number", None)):
        pairs = propose(neighbours=name, domain=domain)
        assert len({frozenset((repr(pair.first), repr(pair.second))) for pair in pairs}) == len(pairs)
        assert [str(pair) for pair in pairs] == [str(pair) for pair in propose(neighbours=name, domain=domain)]


def test_a_long_input_is_shown_short():
    assert str(Pair([0] * 99, [1] * 99)) == "[0, 0, 0, then 96 times 0] and [1, 1, 1, then 96 times 1]"


@pytest.mark.parametrize(
    "given",
    [
        {"neighbours": "bounded"},
        {"neighbours": "add-remove"},
        {"neighbours": "add-remove", "domain": []},
        {"neighbours": "add-remove", "domain": (3, 1)},
        {"neighbours": "replace-one", "domain": 7},
    ],
)
def test_what_is_not_known_is_never_guessed(given):
    with pytest.raises(dp.Refusal) as refused:
        propose(**given)
    assert refused.value.cure
