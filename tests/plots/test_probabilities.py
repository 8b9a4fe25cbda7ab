"""Chances of candidates as bars."""

from __future__ import annotations

import pytest

from dpcurator.errors import Refusal
from dpcurator.mechanisms import Exponential
from dpcurator.numbers import Enclosure
from dpcurator.plots import draw_probabilities

ODDS = Exponential(sensitivity=1, epsilon=2)  # weights e**score


def rows(chart):
    return chart.spec["data"]["values"]


def test_bars_are_the_chances_in_the_order_of_the_candidates():
    chart = draw_probabilities(ODDS.probabilities([0, 1]), candidates=["York", "Leeds"])
    assert [row["candidate"] for row in rows(chart)] == ["York", "Leeds"]
    assert [row["probability"] for row in rows(chart)] == pytest.approx([0.268941421, 0.731058579], abs=1e-9)
    assert [row["label"] for row in rows(chart)] == ["0.269", "0.731"]
    assert "not for release" in chart.spec["title"]["subtitle"][0]


def test_many_are_the_likeliest_and_one_bar_for_the_rest():
    found = rows(draw_probabilities(ODDS.probabilities(list(range(50)))))
    assert [row["candidate"] for row in found] == [*map(str, range(30, 50)), "30 others"]
    assert sum(row["probability"] for row in found) == pytest.approx(1, abs=1e-7)


@pytest.mark.parametrize(
    ("chances", "candidates", "words"),
    [
        ([], None, "no probabilities"),
        ([Enclosure.exactly(1)], ["a", "b"], "2 candidates and 1 scores"),
        ([Enclosure.exactly(0), Enclosure.exactly(1)], ["a", "a"], "one name"),
    ],
)
def test_what_cannot_be_drawn_is_refused(chances, candidates, words):
    with pytest.raises(Refusal, match=words):
        draw_probabilities(chances, candidates=candidates)
