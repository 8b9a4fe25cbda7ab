"""Randomised response: the notes' coin, every pair of values in rationals, its draw, and a million reports."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import FrozenInstanceError, replace
from fractions import Fraction
from typing import Any

import local_laws as laws
import numpy as np
import pytest

from dpcurator.errors import Refusal
from dpcurator.mechanisms import RandomisedResponse
from dpcurator.mechanisms.local.randomised_response import EXAMPLES
from dpcurator.numbers import ln
from dpcurator.privacy.loss import Loss

COIN = RandomisedResponse.with_truth(truth="3/4", values=2)


def test_the_coin_of_the_notes() -> None:
    """gallery/randomised-response: truth with probability 3/4: loss ln 3, exactly; the estimate with its error."""
    assert COIN.loss == Loss("randomised_response", (("truth", Fraction(3, 4)), ("lie", Fraction(1, 4))))
    assert COIN.loss.pure_epsilon() == ln(Fraction(3)).hi
    assert COIN.pmf(1, 1) / COIN.pmf(1, 0) == 3
    found = COIN.estimate([1] * 400 + [0] * 600)
    assert found.proportion(1) == Fraction(3, 10)  # (0.4 - 1/4) / (1/2)
    assert found.standard_error(1) / 1000 == pytest.approx(math.sqrt(3 / 16 / 1000) / 0.5)
    low, high = found.interval(1, "0.05")
    assert low < 300 < high


@pytest.mark.parametrize("mechanism", EXAMPLES)
def test_laws_over_every_report(mechanism: RandomisedResponse) -> None:
    reports = list(mechanism.values)
    laws.masses_sum_to_one(mechanism, reports)
    laws.loss_bounds_every_ratio_and_is_attained(mechanism, reports)
    laws.estimates_are_unbiased(mechanism, reports)


@pytest.mark.parametrize("mechanism", EXAMPLES)
def test_the_interval_covers_every_truth(mechanism: RandomisedResponse) -> None:
    for beta in (Fraction(1, 2), Fraction(1, 10)):
        laws.interval_covers(mechanism, list(mechanism.values), 4 if len(mechanism.values) < 5 else 3, beta)  # type: ignore[arg-type]


@pytest.mark.parametrize("epsilon", [Fraction(s) for s in ("1e-9", "1/10", "1", "20", "300")])
@pytest.mark.parametrize("k", [2, 3, 1000, 2**20])
def test_an_epsilon_is_spent_and_never_passed(epsilon: Fraction, k: int) -> None:
    mechanism = RandomisedResponse(epsilon=epsilon, values=k)
    laws.spends_at_most(mechanism, epsilon)
    assert mechanism.truth + (k - 1) * mechanism.lie == 1


def test_the_draw_word_by_word() -> None:
    """One word for the coin, one for which other value: each other one stands for equally many words."""
    mechanism = RandomisedResponse(epsilon=1, values=5)
    for own in range(5):
        assert {mechanism.respond(own, laws.tape(laws.TRUE, word)) for word in range(8)} == {own}
        lies = Counter(mechanism.respond(own, laws.tape(laws.FALSE, word)) for word in range(8))
        assert lies == dict.fromkeys(set(range(5)) - {own}, 2)


@pytest.mark.parametrize("mechanism", EXAMPLES)
def test_a_million_reports(mechanism: RandomisedResponse) -> None:
    wrong = replace(mechanism, epsilon=None, truth=mechanism.truth * Fraction(96, 100))
    laws.drawn_reports_follow(mechanism, list(mechanism.values), wrong, lambda report: report)


def test_reports_are_values_and_as_many_as_were_asked() -> None:
    colours = RandomisedResponse(epsilon=8, values=["red", "green", None])
    assert colours.respond("red") in ("red", "green", None)
    many = colours.respond_many(["red", "green"] * 500 + [None] * 1000)
    assert many.shape == (2000,)
    assert set(many.tolist()) == {"red", "green", None}
    assert colours.estimate(many).count(None) == pytest.approx(1000, abs=100)
    numbers = RandomisedResponse(epsilon=8, values=3).respond_many(np.array([0, 1, 2, 2]))
    assert numbers.dtype == np.int64
    assert RandomisedResponse(epsilon=8, values=3).respond_many([]).shape == (0,)


def test_what_was_not_declared_becomes_the_constant() -> None:
    mechanism = RandomisedResponse(truth="999999999999/1000000000000", values=["a", "other"], otherwise="other")
    held = [float("nan"), [], None, "b", {}, b"a", np.zeros(2), 3]
    assert mechanism.respond_many(held).tolist() == ["other"] * len(held)
    assert mechanism.respond_many(["a"]).tolist() == ["a"]
    with pytest.raises(Refusal, match="Report 1 "):
        mechanism.estimate(["a", "b"])  # a client maps; what reaches the aggregator is a declared value


def test_bad_input_is_told() -> None:
    laws.bad_input_is_told(COIN, 987, np.zeros((2, 2), dtype=np.int64))
    laws.bad_input_is_told(RandomisedResponse(epsilon=1, values=["a", "b"]), "987", [["a"]])


@pytest.mark.parametrize(
    ("said", "word"),
    [
        ({"values": 2}, "epsilon or truth"),
        ({"epsilon": 1}, "needs values"),
        ({"epsilon": 1, "truth": "3/4", "values": 2}, "not both"),
        ({"epsilon": 1, "values": 2, "delta": 0}, "no parameter delta"),
        ({"epsilon": 1, "values": 1}, "values"),
        ({"epsilon": 1, "values": 2, "otherwise": 2}, "otherwise"),
        *(
            ({"epsilon": bad, "values": 2}, "epsilon")
            for bad in (0, -1, float("nan"), float("inf"), True, "x", [], 1e-30)
        ),
        *(({"truth": bad, "values": 4}, "truth") for bad in (0, "1/4", 1, 2, -1, float("nan"), True, "x", [])),
    ],
)
def test_bad_parameters_are_refused(said: dict[str, Any], word: str) -> None:
    with pytest.raises(Refusal, match=word):
        RandomisedResponse(**said)


def test_it_is_frozen_data_read_as_people_write_it() -> None:
    assert RandomisedResponse(epsilon=0.1, values=2) == RandomisedResponse(epsilon="1/10", values=range(2))  # type: ignore[arg-type]
    assert hash(COIN) == hash(RandomisedResponse(truth=0.75, values=2))  # type: ignore[arg-type]
    assert replace(RandomisedResponse(epsilon=1, values=3), otherwise=2).epsilon == 1
    with pytest.raises(FrozenInstanceError):
        COIN.truth = Fraction(1)  # type: ignore[misc]
    with pytest.raises(Refusal, match="by name"):
        RandomisedResponse(1, 2)  # type: ignore[misc]


def test_the_error_can_be_planned() -> None:
    planned = COIN.error("0.05", reports=1000)
    assert planned == COIN.estimate([1] * 1000).error("0.05")
    assert COIN.error("0.05", reports=100_000) / 100_000 < planned / 1000
