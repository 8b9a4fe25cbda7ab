"""Curves of delta, against closed forms; and bounds lie above the curve."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest

from dpcurator.errors import Refusal
from dpcurator.plots import draw_delta
from dpcurator.privacy.loss import Loss

LAPLACE = Loss("laplace", (("scale", Fraction(1)), ("shift", Fraction(1))))
GAUSSIAN = Loss("gaussian", (("variance", Fraction(1)), ("shift", Fraction(1))))


def rows(chart):
    return chart.spec["data"]["values"]


def test_laplace_is_1_less_e_to_half_of_what_is_left_and_ends_at_its_epsilon():
    found = rows(draw_delta({"Laplace": LAPLACE}))
    assert max(row["epsilon"] for row in found) == 0.96  # of the steps of 0.04 that are below 1
    for row in found:
        assert row["delta"] == pytest.approx(1 - math.exp((row["epsilon"] - 1) / 2), rel=1e-7)


def test_gaussian_is_the_analytic_curve():
    def phi(x):
        return math.erfc(-x / math.sqrt(2)) / 2

    for row in rows(draw_delta({"sigma 1": GAUSSIAN}, epsilons=[0, "0.5", 1, 2])):
        eps = row["epsilon"]
        assert row["delta"] == pytest.approx(phi(0.5 - eps) - math.exp(eps) * phi(-0.5 - eps), rel=1e-7)


def test_others_are_drawn_where_they_say_something_below_1():
    others = {"a bound": lambda eps: None if eps > 1 else Fraction(2) - eps}
    chart = draw_delta({"sigma 1": GAUSSIAN}, epsilons=[0, 1, "1.5"], others=others)
    assert [row["epsilon"] for row in rows(chart) if row["series"] == "a bound"] == []
    chart = draw_delta({"sigma 1": GAUSSIAN}, epsilons=[0, 1, "1.5"], others={"a bound": lambda eps: Fraction(1, 2)})
    assert [row["delta"] for row in rows(chart) if row["series"] == "a bound"] == [0.5] * 3
    assert "The others are bounds" in " ".join(chart.spec["title"]["subtitle"])


def test_what_is_below_the_floor_is_left_out_and_that_is_told():
    chart = draw_delta({"sigma 1": GAUSSIAN}, epsilons=[1, 4, 8], floor="1e-6")
    assert [row["epsilon"] for row in rows(chart)] == [1, 4]
    assert "A curve ends where delta is 0 or below 1e-06." in " ".join(chart.spec["title"]["subtitle"])


@pytest.mark.parametrize(
    ("losses", "options", "words"),
    [
        ({}, {}, "1 to 7 series"),
        ({"a": LAPLACE}, {"others": {"a": lambda eps: None}}, "one name"),
        ({"a": LAPLACE}, {"epsilons": [-1]}, "epsilon must be at least 0"),
        ({"a": LAPLACE}, {"epsilons": [1, 2]}, "Every delta here is 1, or below the floor"),
        ({"a": LAPLACE}, {"floor": 0}, "floor must be above 0"),
    ],
)
def test_what_cannot_be_drawn_is_refused(losses, options, words):
    with pytest.raises(Refusal, match=words):
        draw_delta(losses, **options)
