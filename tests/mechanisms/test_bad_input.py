"""Bad parameters of every mechanism, in one table: each is a Refusal that says the way out, and shows no traceback.

A mechanism is added by one entry: keyword arguments that are valid, and for each parameter some that are not. Beside
those each parameter is tried with what is bad for any number, except the parameters named in `other`.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from fractions import Fraction
from typing import Any

import pytest

from dpcurator import mechanisms
from dpcurator.errors import Refusal
from dpcurator.sensitivity.windows import bounded_mean, order_statistic

NO_NUMBER = [float("nan"), float("inf"), -float("inf"), True, "ten", "", [], object(), 1j]

MEDIAN = order_statistic("1/2", lower=0, upper=9, grid=1)


@dataclass(frozen=True)
class Entry:
    """good: keyword arguments. bad: values by parameter. other: parameters that are no numbers."""

    good: dict[str, Any]
    bad: dict[str, list[Any]]
    other: frozenset[str] = frozenset()


CONSTANTS: dict[str, list[Any]] = {
    "grid": [0, -1, "1/3"],
    "bounds": [5, "ab", (1,), (1, 2, 3), (2, 1), (0, float("nan")), (float("-inf"), 0), (True, 2), "0,1"],
    "nan": [],
}
COORDINATES: dict[str, list[Any]] = {"coordinates": [0, -1, "1/2", 1.5, True]}
VALUES: dict[str, list[Any]] = {"values": [None, 1, [], ["a"]]}
SCORED: dict[str, list[Any]] = {
    "sensitivity": [0, -1, None],
    "epsilon": [0, -1, None],
    "monotone": [None, 1, "no"],
    "grid": [0, -1],
    "nan": [],
}

TABLE: dict[str, Entry] = {
    "Laplace": Entry(
        {"sensitivity": 1, "epsilon": 1},
        {"sensitivity": [0, -1, None], "epsilon": [0, -1, None]} | COORDINATES | CONSTANTS,
        frozenset({"bounds"}),
    ),
    "Gaussian": Entry(
        {"sensitivity": 1, "epsilon": 1, "delta": 1e-6},
        {
            "sensitivity": [0, -1, None],
            "epsilon": [-1, None, 20_000],
            "delta": [0, 1, -1, 2, None],
            "rho": [0, -1, 1],  # 1: beside epsilon and delta
        }
        | COORDINATES
        | CONSTANTS,
        frozenset({"bounds"}),
    ),
    "RandomisedResponse": Entry(
        {"values": ["a", "b"], "epsilon": 1},
        {"epsilon": [0, -1], "truth": [0, 1, "1/10", "3/4"]} | VALUES,
        frozenset({"values"}),
    ),
    "UnaryEncoding": Entry(
        {"values": ["a", "b", "c"], "p": "1/2", "q": "1/4"},
        {"p": [0, 1, "1/10", None], "q": [0, 1, "3/4", None]} | VALUES,
        frozenset({"values"}),
    ),
    "LocalHashing": Entry(
        {"values": ["a", "b", "c"], "epsilon": 1}, {"epsilon": [0, -1, None]} | VALUES, frozenset({"values"})
    ),
    "HadamardResponse": Entry(
        {"values": ["a", "b", "c"], "epsilon": 1}, {"epsilon": [0, -1, None]} | VALUES, frozenset({"values"})
    ),
    "SparseVector": Entry(
        {"sensitivity": 1, "epsilon": 1, "threshold": 0},
        {
            "sensitivity": [0, -1, None],
            "epsilon": [0, -1, None],
            "threshold": [None],
            "positives": [0, -1, "1/2", None],
            "values_epsilon": [0, -1],
        }
        | CONSTANTS,
        frozenset({"bounds"}),
    ),
    "NoisyMax": Entry(
        {"sensitivity": 1, "epsilon": 1},
        SCORED | {"grid": [0, -1, "1/3"], "value_epsilon": [0, -1], "noise": ["gauss", None, 1, ["laplace"]]},
        frozenset({"noise", "monotone"}),
    ),
    "Exponential": Entry({"sensitivity": 1, "epsilon": 1}, SCORED, frozenset({"monotone"})),
    "Quantile": Entry(
        {"q": "1/2", "epsilon": 1, "lower": 0, "upper": 10, "step": 1},
        {
            "q": [-1, 2, None, ["1/2", 0.5], [0.5, "ten"]],
            "epsilon": [0, -1, None],
            "lower": [11, None],
            "upper": [-1, None],
            "step": [0, -1, None, "1e-30"],
            "candidates": [[1, 2], "12", 5, []],
            "neighbours": ["both", None, 1, []],
            "nan": [],
        },
        frozenset({"candidates", "neighbours"}),
    ),
    "PermuteAndFlip": Entry({"sensitivity": 1, "epsilon": 1}, SCORED, frozenset({"monotone"})),
    "TopK": Entry(
        {"sensitivity": 1, "epsilon": 1, "k": 2},
        SCORED | {"k": [0, -1, "1/2", 1.5, None]},
        frozenset({"monotone"}),
    ),
    "Smooth": Entry(
        {"function": MEDIAN, "epsilon": 1},
        {
            "function": [None, min, 3, type(MEDIAN)],
            "epsilon": [0, -1, None],
            "delta": [-1, 1],
            "noise": ["gauss", "", 1, "laplace", ["student"]],  # laplace: without a delta
            "smoothing": [0, 1, -1, None],
        },
        frozenset({"function", "noise"}),
    ),
    "ProposeTestRelease": Entry(
        {"function": MEDIAN, "bound": 1, "epsilon": 1, "delta": 1e-6},
        {
            "function": [None, min, 3, type(MEDIAN)],
            "bound": [0, -1, None],
            "epsilon": [0, -1, None],
            "delta": [0, 1, -1, None],
            "test_share": [0, 1, -1, None],
        },
        frozenset({"function"}),
    ),
    "InverseSensitivity": Entry(
        {"function": MEDIAN, "epsilon": 1},
        {"function": [None, min, 3, bounded_mean(lower=0, upper=9, grid=1)], "epsilon": [0, -1, None]},
        frozenset({"function"}),
    ),
}
PLAIN_LAWS = {"DiscreteLaplace", "DiscreteGaussian"}  # one parameter, by position too: tested in files of their own
MADE = {one.__name__: one for one in mechanisms.MECHANISMS if one.__name__ not in PLAIN_LAWS}
CASES = [
    (name, parameter, value)
    for name, entry in TABLE.items()
    for parameter, values in entry.bad.items()
    for value in [*values, *([] if parameter in entry.other else NO_NUMBER)]
]


def test_every_mechanism_has_an_entry_or_is_a_plain_law() -> None:
    assert set(TABLE) == set(MADE)
    assert {one.__name__ for one in mechanisms.MECHANISMS} >= PLAIN_LAWS


@pytest.mark.parametrize("name", TABLE)
def test_an_entry_tries_parameters_that_there_are_and_begins_from_a_good_call(name: str) -> None:
    made = MADE[name](**TABLE[name].good)
    known = {one.name for one in fields(made) if one.init}
    assert set(TABLE[name].bad) <= known
    assert set(TABLE[name].good) <= known


@pytest.mark.parametrize(("name", "parameter", "value"), CASES, ids=lambda one: repr(one)[:30].partition(" at 0x")[0])
def test_a_bad_parameter_is_refused_in_words(name: str, parameter: str, value: Any) -> None:
    with pytest.raises(Refusal) as caught:
        MADE[name](**TABLE[name].good | {parameter: value})
    assert str(caught.value).strip()
    assert len(str(caught.value)) < 400
    assert "Traceback" not in str(caught.value)


@pytest.mark.parametrize("name", TABLE)
def test_unknown_missing_and_unnamed_parameters_are_refused(name: str) -> None:
    good = TABLE[name].good
    with pytest.raises(Refusal, match="no parameter sensitivty"):
        MADE[name](**good, sensitivty=1)
    with pytest.raises(Refusal, match="by name"):
        MADE[name](*good.values())
    with pytest.raises(Refusal):
        MADE[name]()


@pytest.mark.parametrize(("name", "number"), [(name, key) for name in TABLE for key in TABLE[name].good])
def test_a_number_may_be_spelled_in_every_way(name: str, number: str) -> None:
    """1, 1.0, "1" and Fraction(1) are one number, whatever the parameter."""
    entry = TABLE[name]
    if number in entry.other:
        return
    exact = getattr(MADE[name](**entry.good), number)
    assert isinstance(exact, Fraction | int)
    spelled = [exact, str(exact)] + ([float(exact)] if Fraction(str(float(exact))) == exact else [])
    assert len({MADE[name](**entry.good | {number: one}) for one in spelled}) == 1


def test_another_way_to_say_it_is_pointed_to() -> None:
    with pytest.raises(Refusal, match=r"no parameter scale\. Write Laplace\.with_scale\(scale=\.\.\., \.\.\.\)\."):
        mechanisms.Laplace(scale=1, sensitivity=1)  # type: ignore[call-arg]
    with pytest.raises(Refusal, match=r"with_sigma\(sigma=\.\.\."):
        mechanisms.Gaussian(sigma=1, sensitivity=1)  # type: ignore[call-arg]
