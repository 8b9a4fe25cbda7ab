"""Error bars against epsilon, against values worked by hand."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest

from dpcurator.errors import Refusal
from dpcurator.mechanisms import DiscreteLaplace, Laplace
from dpcurator.plots import draw_error


def laplace(eps):
    return Laplace(sensitivity=1, epsilon=eps)


def test_a_laplace_bar_is_ln_of_1_over_beta_over_epsilon():
    rows = draw_error({"Laplace": laplace}).spec["data"]["values"]
    assert (rows[0]["epsilon"], rows[-1]["epsilon"], len(rows)) == (0.1, 10, 37)
    for row in rows:
        assert row["error"] == pytest.approx(math.log(20) / row["epsilon"], rel=1e-5)


def test_the_level_and_the_epsilons_are_as_given():
    chart = draw_error({"a": laplace, "b": lambda eps: laplace(eps / 2)}, epsilons=[1, "1/2"], confidence="0.9")
    found = {(row["series"], row["epsilon"]): row["error"] for row in chart.spec["data"]["values"]}
    assert found["a", 1] == pytest.approx(math.log(10), rel=1e-5)
    assert found["b", 1] == found["a", 0.5] == pytest.approx(2 * math.log(10), rel=1e-5)
    assert chart.spec["encoding"]["y"]["scale"]["type"] == "log"


def test_a_bar_of_0_has_a_place_on_the_axis():
    chart = draw_error({"discrete": lambda eps: DiscreteLaplace(1 / eps)}, epsilons=[1, 10])
    assert [row["error"] for row in chart.spec["data"]["values"]] == [3, 0]  # 2 p**4 / (1+p) = 0.027, p = 1/e
    axis = chart.spec["encoding"]["y"]
    assert axis["scale"] == {"type": "symlog", "constant": 3, "domain": [0, 5], "nice": False}
    assert axis["axis"]["values"] == [0, 2, 5]
    none = draw_error({"discrete": lambda eps: DiscreteLaplace(1 / eps)}, epsilons=[10, 20])
    assert none.spec["encoding"]["y"]["axis"]["values"] == [0, 1]


@pytest.mark.parametrize(
    ("makers", "options", "words"),
    [
        ({}, {}, "1 to 7 series"),
        ({"a": laplace}, {"confidence": 1}, "confidence must be above 0 and below 1"),
        ({"a": laplace}, {"confidence": 0}, "confidence must be above 0"),
        ({"a": laplace}, {"epsilons": [1, 0]}, "epsilon must be above 0"),
        ({"a": laplace}, {"epsilons": [Fraction(1), "x"]}, "epsilon must be a finite number"),
    ],
)
def test_what_cannot_be_drawn_is_refused(makers, options, words):
    with pytest.raises(Refusal, match=words):
        draw_error(makers, **options)
