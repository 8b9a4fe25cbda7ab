"""Outcomes that are shown alike are one outcome, and no run sees what another did to its input."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest

import dpcurator as dp
from dpcurator.auditing.copies import canonical, fresh, kept, printed
from dpcurator.errors import Refusal


class Answer:
    """It knows its address alone."""


ALIKE = [
    lambda: math.nan * 1,
    lambda: float("nan"),
    lambda: (1, float("nan")),
    lambda: [np.float64("nan"), None],
    lambda: {"sum": float("nan"), "seen": {8, 0}},
    Answer,
    lambda: (Answer(), frozenset({1, 9})),
    lambda: (part for part in (1, 2)),
]


@pytest.mark.parametrize("made", ALIKE, ids=range(len(ALIKE)))
def test_two_outcomes_that_are_shown_alike_have_one_key(made):
    assert {canonical(made()): 1} == {canonical(made()): 1}


def test_sets_have_one_key_in_whatever_order_they_were_filled():
    assert repr({8, 0}) != repr({0, 8})
    assert canonical({8, 0}) == canonical({0, 8})


def test_outcomes_that_differ_have_different_keys():
    outcomes = (1, 2.5, "nan", math.nan, None, (1,), (1, 2), {"a": 1}, {"a": 2}, {3}, b"x", math.inf, 10**5000)
    assert len({canonical(one) for one in outcomes}) == len(outcomes)
    assert "16,610 bits" in printed(10**5000)


@pytest.mark.parametrize(
    "data",
    [[1, 2], [[1], [2]], {"a": 1}, {"a": [1]}, np.array([1.0, 2.0])],
    ids=("list", "rows", "dict", "deep", "array"),
)
def test_what_a_run_changes_in_its_input_is_gone_in_the_next(data):
    before, own = repr(data), fresh(data)
    for value in (own(), own()):
        assert repr(value) == before
        inner = value["a"] if isinstance(value, dict) and isinstance(value["a"], list) else value
        inner = value[0] if isinstance(value, list) and isinstance(value[0], list) else inner
        if isinstance(inner, dict):
            inner["a"] = 7
        else:
            inner[0] = 7
    assert repr(data) == before


def test_an_outcome_stays_as_it_was():
    buffer = [1]
    first = kept(buffer)
    buffer[0] = 2
    assert first == [1]
    assert kept(iter((1, 2))) == [1, 2]
    assert len(kept(itertools.count())) == 513


# --- what an audit said of such outcomes ----------------------------------------------------------------------------

NOTHING = "no violation found"


@pytest.mark.parametrize("made", ALIKE, ids=range(len(ALIKE)))
def test_nothing_is_certain_of_outcomes_that_are_shown_alike(made):
    report = dp.audit(lambda data, entropy: made(), pair=(0, 1), claim=dp.Pure("0.1"))
    assert (report.verdict, report.at_least) == (NOTHING, 0)


@pytest.mark.parametrize("made", ALIKE[:3], ids=range(3))
def test_nor_of_keys_of_a_given_law(made):
    report = dp.audit(dp.exact_law(lambda data: {made(): 1}), pair=(0, 1), claim=dp.Pure("0.1"))
    assert (report.verdict, report.at_least) == (NOTHING, 0)


def test_keys_that_are_shown_alike_add_up():
    def law(data):
        half = Fraction(1, 2)
        return {float("nan"): half, float("nan"): half} if data else {float("nan"): 1}

    assert dp.audit(dp.exact_law(law), pair=(0, 1), claim=dp.Pure("0.1")).at_least == 0


def test_nothing_is_certain_of_a_function_that_has_no_law():
    counter, rng = itertools.count(), np.random.default_rng(1)
    for function in (lambda data, entropy: next(counter) % 7, lambda data, entropy: float(rng.laplace())):
        report = dp.audit(function, pair=(0, 1), claim=dp.Pure("0.5"), samples=5000, bits=False)
        assert report.layer == "black box"
        assert any("did something else" in note for note in report.notes)
    with pytest.raises(Refusal, match="came out in two ways"):
        dp.audit(dp.exact_law(lambda data: {next(counter): 1}), pair=(0, 1), claim=dp.Pure(1))


def test_a_law_that_is_none_is_refused():
    for given in ([1, 0], None, 0.5):
        with pytest.raises(Refusal, match="An exact distribution was given as a"):
            dp.audit(dp.exact_law(lambda data, given=given: given), pair=(0, 1), claim=dp.Pure(1))


def test_a_law_that_could_not_be_computed_is_no_violation():
    with pytest.raises(Refusal, match="raised ZeroDivisionError"):
        dp.audit(dp.exact_law(lambda data: {0: 1 // data}), pair=(1, 0), claim=dp.Pure(1))


def test_an_input_that_is_changed_in_place_is_no_state():
    rng = np.random.default_rng(2)

    def noisy(counts):
        counts["a"] += rng.laplace(0, 1)
        return counts

    report = dp.audit(noisy, pair=({"a": 0}, {"a": 1}), claim=dp.Pure("1.1"), samples=20_000, bits=False)
    assert report.verdict == NOTHING


def test_an_array_that_is_filled_anew_is_no_state():
    rng, into = np.random.default_rng(3), np.zeros(20_000)

    def broken(value, size):
        into[:size] = value + rng.laplace(0, 0.2, size)
        return into[:size]

    assert dp.audit(broken, pair=(0, 1), claim=dp.Pure(1), samples=20_000, bits=False).violated


def test_draws_that_share_their_noise_are_refused_or_say_nothing():
    rng = np.random.default_rng(4)
    refused = 0
    for _ in range(12):
        try:
            report = dp.audit(
                lambda value, size: np.full(size, value + rng.laplace(0, 1)),
                pair=(0, 1), claim=dp.Pure("1.1"), samples=5000, bits=False,
            )
        except Refusal as error:
            refused += "not independent" in str(error)
        else:
            assert report.verdict == NOTHING
    assert refused


def test_long_texts_and_generators_are_told_apart():
    for function in (lambda value: "x" * 200 + str(value), lambda value: (part for part in [value])):
        assert dp.audit(function, pair=(0, 1), claim=dp.Pure(1), samples=2000).violated


def test_a_function_that_only_raises_is_refused():
    def leaves(value):
        raise SystemExit(0)

    for function in (lambda value, other: 1, leaves, lambda value, entropy: 1 / 0):
        with pytest.raises(Refusal, match="On every input tried it does nothing but raise"):
            dp.audit(function, pair=(0, 1), claim=dp.Pure(1), samples=500)


def test_one_that_ends_the_program_on_one_input_is_found():
    def leaves(value):
        if value:
            raise SystemExit(0)
        return 1

    assert dp.audit(leaves, pair=(0, 1), claim=dp.Pure(1), samples=2000).violated


def test_a_slow_function_is_left_where_the_time_ends():
    import time

    report = dp.audit(lambda value: time.sleep(0.02) or value, pair=(0, 1), claim=dp.Pure(1), seconds="0.5")
    assert report.samples == 0
    assert any("too slow" in note for note in report.notes)


class Unfriendly:
    """It can be neither printed nor compared."""

    def __repr__(self):
        raise ValueError("no")

    def __eq__(self, other):
        raise ValueError("no")

    def __hash__(self):
        return 1


def test_an_outcome_that_can_be_neither_printed_nor_compared_is_one_outcome():
    for function in (lambda value: Unfriendly(), lambda value, entropy: Unfriendly()):
        report = dp.audit(function, pair=(0, 1), claim=dp.Pure("0.1"), samples=500)
        assert (report.verdict, report.at_least) == (NOTHING, 0)
