"""Declared values and what lies outside them: found as a dict finds, mapped or refused, positions for reports alone."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd
import pytest

from dpcurator.errors import Refusal
from dpcurator.mechanisms.local import public_values
from dpcurator.mechanisms.local.public_values import REFUSED, declared, held, place, places, whole_reports

NAN = float("nan")


@pytest.mark.parametrize(
    ("given", "read"),
    [
        (2, range(2)),
        (range(4), range(4)),
        (range(1, 4), (1, 2, 3)),
        (["no", "yes"], ("no", "yes")),
        ((None, True), (None, True)),
        (np.array([5, 7]), (5, 7)),
        (np.array(["a", "b"]), ("a", "b")),
        ([("a", 1), ("a", 2)], (("a", 1), ("a", 2))),
    ],
)
def test_declarations(given: Any, read: Any) -> None:
    assert declared(given, most=10) == read


@pytest.mark.parametrize(
    "bad",
    [0, 1, -2, 11, 2.5, NAN, True, None, "no", "3", b"no", [], ["one"], {"a", "b"}, {"a": 1, "b": 2}, ["a", "a"],
     [1, True], [0, 0.0], [NAN, 1], [[1], [2]], [np.array([1, 2]), 1], np.zeros((2, 2)), range(12), object()],
)
def test_no_declarations(bad: Any) -> None:
    with pytest.raises(Refusal):
        declared(bad, most=10)


@pytest.mark.parametrize("value", [2, 2.0, True + 1, np.int8(2), np.float32(2), Fraction(2), Decimal(2)])
def test_equal_numbers_are_one_value(value: Any) -> None:
    assert place(range(3), value) == 2
    assert place((0, 1, 2), value) == 2


@pytest.mark.parametrize(
    "value",
    [3, -1, 2.5, NAN, float("inf"), None, "2", b"2", [2], {2}, {}, np.array([2]), Decimal("nan"),
     Decimal("snan"), Decimal("inf"), pd.NA, pd.NaT, np.float64(NAN), 10**400, 2 + 1j, object(), ...],
)
def test_outside(value: Any) -> None:
    for values in (range(3), (0, 1, "two")):
        assert place(values, value) == -1
        assert held(values, [value, 1], 1).tolist() == [1, 1]
        with pytest.raises(Refusal, match="not among"):
            public_values.named(values, value)
        with pytest.raises(Refusal, match="own device") as told:
            held(values, [1, value], REFUSED)
        assert not any(digit in str(told.value) for digit in "0123456789")


@pytest.mark.parametrize(
    ("given", "found"),
    [
        ([0, 2, 3, -1], [0, 2, -1, -1]),
        (np.array([0, 2, 3, -1], dtype=np.int8), [0, 2, -1, -1]),
        (np.array([2, 2**64 - 1], dtype=np.uint64), [2, -1]),
        (np.array([True, False]), [1, 0]),
        (np.array([1.0, NAN, 1.5]), [1, -1, -1]),
        ([1, "1", None], [1, -1, -1]),
        ([1, 2**70], [1, -1]),
        ([[1], 2, [1, 2]], [-1, 2, -1]),
        ((), []),
        (pd.Series([2, 1]), [2, 1]),
        (iter([2, 1]), [2, 1]),
    ],
)
def test_places_of_many(given: Any, found: list[int]) -> None:
    assert places(range(3), given).tolist() == found


@pytest.mark.parametrize("bad", ["yes", b"yes", 3, None, {1, 2}, {1: 2}, np.zeros((2, 2)), np.array(3)])
def test_not_a_list(bad: Any) -> None:
    for values in (range(3), ("yes", "no")):
        with pytest.raises(Refusal):
            places(values, bad)


def test_the_constant_must_be_declared() -> None:
    assert public_values.otherwise_of(("a", None), None) is None
    for bad in ("c", NAN, []):
        with pytest.raises(Refusal, match="otherwise"):
            public_values.otherwise_of(("a", "b"), bad)


@pytest.mark.parametrize(
    "bad", [NAN, "a", [[1, 2]], [1.0], [None], ["1"], np.zeros((2, 3)), 5, [2**70], [[1], [1, 2]], {1}, {1: 2}]
)
def test_no_whole_reports(bad: Any) -> None:
    with pytest.raises(Refusal, match=r"shape|list"):
        whole_reports(bad, columns=None)


def test_whole_reports_past_int64_are_outside() -> None:
    assert whole_reports(np.array([1, 2**64 - 1], dtype=np.uint64), columns=None).tolist() == [1, -1]
    assert whole_reports([[1, 2]], columns=2).tolist() == [[1, 2]]
    assert whole_reports([], columns=2).shape == (0, 2)
    with pytest.raises(Refusal, match="n, 2"):
        whole_reports([[1, 2, 3]], columns=2)


def test_a_wrong_report_is_named_by_its_position() -> None:
    assert "Report 2 " in str(public_values.wrong_report(np.array([False, False, True, True])))
