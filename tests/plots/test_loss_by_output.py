"""The privacy loss of each output, against values worked by hand."""

from __future__ import annotations

from fractions import Fraction

import pytest

from dpcurator.errors import Refusal
from dpcurator.mechanisms import DiscreteGaussian, DiscreteLaplace, Gaussian, Laplace
from dpcurator.plots import draw_loss_by_output


def rows(chart):
    return chart.spec["data"]["values"]


def test_laplace_is_level_left_of_0_and_right_of_the_shift_with_a_slope_between():
    noises = [Laplace.with_scale(scale=scale, sensitivity=1) for scale in (1, 2, 4)]
    chart = draw_loss_by_output(noises)
    for row in rows(chart):
        scale = int(row["series"].split()[1])
        expected = 1 - 2 * min(max(row["x"], 0), 1)
        assert row["loss"] == pytest.approx(expected / scale, abs=1e-5)  # x is drawn to nine figures
        if row["x"] <= 0:
            assert row["loss"] == 1 / scale
        if row["x"] >= 1:
            assert row["loss"] == -1 / scale
    assert {0.0, 1.0, -2.0, 3.0} <= {row["x"] for row in rows(chart)}


def test_gaussian_is_a_straight_line():
    chart = draw_loss_by_output(Gaussian.with_sigma(sigma=2, sensitivity=1))  # (s**2 - 2 s x) / (2 sigma**2)
    assert all(row["loss"] == pytest.approx((1 - 2 * row["x"]) / 8, abs=1e-6) for row in rows(chart))


def test_whole_numbers():
    chart = draw_loss_by_output(DiscreteLaplace(Fraction(1)), shift=2)
    assert {row["x"]: row["loss"] for row in rows(chart)} == dict.fromkeys(range(-4, 1), 2) | {1: 0} | dict.fromkeys(
        range(2, 7), -2
    )
    chart = draw_loss_by_output(DiscreteGaussian(Fraction(4)), shift=1)
    assert {row["x"]: row["loss"] for row in rows(chart)}[-1] == 3 / 8


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"shift": 0}, "shift must be above 0"),
        ({"shift": "1/2"}, "multiple of the grid's step"),
        ({"reach": -1}, "reach must be above 0"),
        ({"reach": 10**6}, "too small"),
    ],
)
def test_what_cannot_be_drawn_is_refused(options, words):
    with pytest.raises(Refusal, match=words):
        draw_loss_by_output(DiscreteLaplace(Fraction(1)), **options)
