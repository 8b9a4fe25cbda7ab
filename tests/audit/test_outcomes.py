"""Outcomes as columns: whatever an outcome is, something tells it from any other."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

import dpcurator as dp
from dpcurator.auditing.draws.features import say_whole, whole
from dpcurator.auditing.outcomes import Labels, Raised, encode

DIFFERENT = [
    0, 1, -1, 0.5, 2**40, None, True, False, "", "a", "b", math.nan, math.inf, -math.inf, -0.0, [], [0], [0, 0], (1, 2),
    [1, None], ["a", 1], {"k": 1}, {"k": 2}, Raised("ValueError"), Raised("TypeError"), "raising ValueError",
    [math.nan], [[1], [2, 3]], np.array([1.0, 4.0]), Fraction(1, 3), "None",
]


def test_outcomes_that_differ_have_different_keys():
    drawn = encode(DIFFERENT, Labels(), len(DIFFERENT))
    keys = [int(key) for key in whole(drawn)]
    same = [(DIFFERENT[i], DIFFERENT[j]) for i in range(len(keys)) for j in range(i) if keys[i] == keys[j]]
    assert same == [([0], 0), ([math.nan], math.nan)]  # one number, and a list of it alone


def test_equal_outcomes_have_equal_keys_in_every_lot_and_form():
    labels = Labels()
    lists = encode([[1.0, math.nan], [2.0, 3.0]], labels, 2)
    arrays = encode(np.array([[1.0, math.nan], [2.0, 3.0]]), labels, 2)
    assert list(whole(lists)) == list(whole(arrays))
    again = encode([None, "a", True], labels, 3)
    assert list(whole(again)) == [list(whole(encode(["a", None, True], labels, 3)))[i] for i in (1, 0, 2)]
    assert list(whole(encode(np.array([True, False]), labels, 2))) == list(whole(encode([True, False], labels, 2)))


def test_outcomes_are_said_in_words():
    drawn = encode([[1, None], ["a", math.inf], []], Labels(), 3)
    assert [say_whole(drawn, row) for row in range(3)] == ["(1, None)", "('a', infinity)", "()"]


@pytest.mark.parametrize("outcomes", [[1, 2], np.zeros(4), np.zeros((2, 3)), 7, "abc"])
def test_another_number_of_outcomes_than_asked_for_is_refused(outcomes):
    with pytest.raises(dp.Refusal):
        encode(outcomes, Labels(), 3)
