"""Curves of a test's two errors, with their bands, against values worked by hand."""

from __future__ import annotations

from fractions import Fraction

import pytest

from dpcurator.errors import Refusal
from dpcurator.numbers import Enclosure
from dpcurator.plots import draw_tradeoff


def halved(alpha):
    return Enclosure((1 - alpha) / 4, (1 - alpha) / 2)


def test_the_middle_and_both_ends_are_drawn_beside_no_release():
    chart = draw_tradeoff({"one": halved}, alphas=["0.2", 0, 1])
    assert chart.spec["data"]["values"] == [
        {"series": "one", "alpha": 0.0, "beta": 0.375, "least": 0.25, "most": 0.5},
        {"series": "one", "alpha": 0.2, "beta": 0.3, "least": 0.2, "most": 0.4},
        {"series": "one", "alpha": 1.0, "beta": 0.0, "least": 0.0, "most": 0.0},
        {"series": "no release", "alpha": 0.0, "beta": 1.0},
        {"series": "no release", "alpha": 1.0, "beta": 0.0},
    ]
    assert chart.svg().startswith("<svg")


def test_more_are_drawn_near_0():
    found = [row["alpha"] for row in draw_tradeoff({"one": halved}).spec["data"]["values"] if row["series"] == "one"]
    assert found[:3] == [0.0, 0.005, 0.01]
    assert found[-1] == 1.0


@pytest.mark.parametrize(
    ("curves", "alphas", "words"),
    [
        ({}, [], "1 to 7 series"),
        ({"no release": halved}, [], "cannot be called"),
        ({"one": halved}, ["1.5"], "alpha must be between"),
        ({"one": halved}, [Fraction(-1, 2)], "alpha must be between"),
    ],
)
def test_others_are_refused(curves, alphas, words):
    with pytest.raises(Refusal, match=words):
        draw_tradeoff(curves, alphas=alphas)
