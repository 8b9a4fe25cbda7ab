"""Bad parameters of every mechanism, in one table: each is a Refusal that says the way out, and shows no traceback.

A mechanism is added by one entry of PARAMETERS in tests/support/worlds.py: keyword arguments that are valid, and for
each parameter some that are not. Beside those each parameter is tried with what is bad for any number, except the
parameters named in `other`.
"""

from __future__ import annotations

import random
from dataclasses import fields
from fractions import Fraction
from typing import Any

import pytest
from worlds import PARAMETERS

from dpcurator import mechanisms
from dpcurator.entropy import TapeEntropy
from dpcurator.errors import Refusal

KINDS = {  # of what a verb takes: data that is good, and cannot be of it
    "scores": ([3, 1, 2], [5, "12", {"a": 1}, {1, 2}, True, [True, False], [[1, 2]], ["a"]]),
    "values": ([3, 1, 2], [5, "12", {"a": 1}, True, [True, False], [[1, 2]], ["a"]]),
    "l1": ([3, 1, 2], ["12", {"a": 1}, {1, 2}, True, [True, False], [[1, 2]], ["a"]]),
    "l2": ([3, 1, 2], ["12", {"a": 1}, {1, 2}, True, [True, False], [[1, 2]], ["a"]]),
    "query": (3, ["12", {"a": 1}, {1, 2}, True, [True], range(2), [[1, 2]]]),
    "people": ([0, 1, 0], [5, "12x", None, [[0, 1]]]),
}
TAPE = f"{random.Random(5).getrandbits(60_000):060000b}"
VERBS = [
    (row.name, verb, kind)
    for row in mechanisms.ROWS
    for verb, kind in (row.run[1] if row.run else row.takes).items()
    if kind in KINDS and verb != "choose"
]
NO_NUMBER = [float("nan"), float("inf"), -float("inf"), True, "ten", "", [], object(), 1j]

TABLE = PARAMETERS
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
    made: Any = MADE[name](**TABLE[name].good)
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


@pytest.mark.parametrize(("name", "verb", "kind"), VERBS)
def test_f5_an_iterator_is_taken_once_and_what_is_no_data_is_refused(name: str, verb: str, kind: str) -> None:
    """F5: one value for a list, a tuple, a generator, a map and a view of it; never a bare TypeError or ValueError."""
    good, wrong = KINDS[kind]
    more = {"SparseVector": {"values_epsilon": 1}, "Laplace": {"coordinates": 3}, "Staircase": {"coordinates": 1}}
    made: Any = MADE[name](**TABLE[name].good | more.get(name, {} if kind != "l2" else {"coordinates": 3}))

    made = made.with_value(epsilon=1) if verb == "select_with_value" else made

    def told(data: Any) -> Any:
        if name == "SparseVector":
            return str(getattr(made.start(TapeEntropy(TAPE)), verb)(data))
        return str(getattr(made, verb)(data, *((2,) if verb == "select_many" else ()), entropy=TapeEntropy(TAPE)))

    if kind == "people":
        good = [list(made.values)[i] for i in (0, 1, 0)]
    if kind != "query":
        views = dict(enumerate(good))
        for again in (tuple(good), (x for x in good), map(views.get, range(3)), iter(good), views.values()):
            assert told(again) == told(good)
    for data in wrong:
        with pytest.raises(Refusal) as refused:
            told(data)
        assert refused.value.cure
