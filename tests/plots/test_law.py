"""The law that is drawn, against values worked by hand."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest

from dpcurator.errors import Refusal
from dpcurator.mechanisms import DiscreteGaussian, DiscreteLaplace, Gaussian, Laplace
from dpcurator.plots import draw_law


def values(chart):
    """(series, x) to y."""
    return {(row["series"], row["x"]): row["y"] for row in chart.spec["data"]["values"]}


def laplace(scale):
    return Laplace.with_scale(scale=scale, sensitivity=1)


def test_a_density_of_laplace_noise_is_1_over_2b_at_0_and_falls_by_e_each_b():
    found = values(draw_law([laplace(1), laplace(2), laplace(4)], reach=20))
    for scale in (1, 2, 4):
        assert found[f"scale {scale}", 0.0] == pytest.approx(1 / (2 * scale), rel=1e-8)
        assert found[f"scale {scale}", float(4)] == pytest.approx(math.exp(-4 / scale) / (2 * scale), rel=1e-8)
        assert found[f"scale {scale}", -20.0] == found[f"scale {scale}", 20.0]


def test_a_density_of_gaussian_noise_is_the_bell():
    found = values(draw_law(Gaussian.with_sigma(sigma=2, sensitivity=1), reach=10))
    for (_, x), y in found.items():
        assert y == pytest.approx(math.exp(-(x**2) / 8) / (2 * math.sqrt(2 * math.pi)), rel=1e-7)


def test_whole_numbers_are_points_with_their_probabilities():
    chart = draw_law(DiscreteLaplace(Fraction(1)), reach=3)
    p = math.exp(-1)
    assert [row["x"] for row in chart.spec["data"]["values"]] == [-3, -2, -1, 0, 1, 2, 3]
    for (_, k), y in values(chart).items():
        assert y == pytest.approx((1 - p) / (1 + p) * p ** abs(k), rel=1e-8)
    assert [layer["mark"]["type"] for layer in chart.spec["layer"]] == ["line", "point"]
    assert chart.spec["encoding"]["y"]["title"] == "probability of each whole number"


def test_masses_sum_to_nearly_1():
    far = draw_law(DiscreteGaussian(Fraction(9)), reach=40)
    assert sum(values(far).values()) == pytest.approx(1, abs=1e-6)


def test_a_wide_law_of_whole_numbers_is_a_line():
    chart = draw_law(DiscreteLaplace(Fraction(1000)))
    assert len(chart.spec["data"]["values"]) == 201
    assert chart.spec["encoding"]["y"]["title"] == "probability density (per unit)"


def test_the_axis_ends_where_1_in_100_is_left_out_at_most():
    xs = [row["x"] for row in draw_law(laplace(1)).spec["data"]["values"]]  # ln 100 = 4.6
    assert (min(xs), max(xs)) == (-5, 5)


def test_series_are_named_and_told_apart():
    chart = draw_law([DiscreteLaplace(Fraction(2)), DiscreteGaussian(Fraction(8))])
    domain = chart.spec["layer"][1]["encoding"]["shape"]["scale"]["domain"]
    assert domain == ["discrete Laplace, scale 2", "discrete Gaussian, variance 8"]
    assert chart.spec["title"]["text"] == "The law of noise"


@pytest.mark.parametrize(
    ("noises", "options", "words"),
    [
        ([], {}, "1 to 7 series, not 0"),
        ([DiscreteLaplace(Fraction(n)) for n in range(1, 9)], {}, "1 to 7 series, not 8"),
        ([DiscreteLaplace(Fraction(1))] * 2, {}, "one name"),
        ([DiscreteLaplace(Fraction(1)), laplace(2)], {}, "too different for one chart"),
        (DiscreteLaplace(Fraction(1)), {"reach": 0}, "reach must be above 0"),
        (DiscreteLaplace(Fraction(1)), {"reach": float("nan")}, "reach must be a finite number"),
    ],
)
def test_what_cannot_be_drawn_is_refused(noises, options, words):
    with pytest.raises(Refusal, match=words):
        draw_law(noises, **options)
