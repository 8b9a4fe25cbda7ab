"""Ticks, ends of axes, and series that differ without colour."""

from __future__ import annotations

from fractions import Fraction

import pytest

from dpcurator.errors import Refusal
from dpcurator.numbers import Enclosure
from dpcurator.plots.drawing import COLOURS, DASHES, SHAPES, by_series, drawn, logarithmic, round_up


@pytest.mark.parametrize(
    ("low", "high", "ticks"),
    [
        (0.1, 10, [0.1, 0.2, 0.5, 1, 2, 5, 10]),
        (0.3, 30, [0.2, 0.5, 1, 2, 5, 10, 20, 50]),
        (7, 7, [5, 10]),
        (1, 1, [1]),
        (1e-6, 1, [1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 1e-1, 1]),
        (2e-12, 0.4, [1e-12, 1e-10, 1e-8, 1e-6, 1e-4, 1e-2, 1]),
    ],
)
def test_ticks_cover_what_is_drawn(low, high, ticks):
    axis = logarithmic("x", "title", [high, low])
    assert axis["axis"]["values"] == pytest.approx(ticks)
    assert axis["scale"]["domain"] == [min(low, ticks[0]), max(high, ticks[-1])]


def test_any_span_has_few_ticks_that_cover_it():
    for bottom in range(-40, 6):
        for span in range(0, 40, 3):
            low, high = 3 * 10.0**bottom, 3 * 10.0 ** (bottom + span)
            ticks = logarithmic("x", "", [low, high])["axis"]["values"]
            assert 1 <= len(ticks) <= 12
            assert ticks[0] <= low <= high <= ticks[-1]


def test_the_end_of_an_axis():
    ends = {"4.6": 5, "5": 5, "18.4": 20, "0.0123": Fraction(2, 100), "9.5": 10}
    assert {text: round_up(Fraction(text)) for text in ends} == ends


def test_what_is_drawn_is_the_middle_to_nine_figures():
    assert drawn(Enclosure(Fraction(0), Fraction(2, 3))) == 0.333333333
    assert drawn(Fraction(1, 8)) == 0.125
    assert drawn(Fraction(1, 10**400)) == 0
    with pytest.raises(Refusal, match="too large to draw"):
        drawn(Fraction(10**400))


def test_series_differ_without_colour():
    names = [str(number) for number in range(len(COLOURS))]
    for points, channel in ((True, "shape"), (False, "strokeDash")):
        encoding = by_series(names, title="noise", points=points)
        marks = encoding[channel]["scale"]["range"]
        assert len({str(mark) for mark in marks}) == len(set(encoding["color"]["scale"]["range"])) == len(names)
    assert len(COLOURS) == len(DASHES) == len(SHAPES)
