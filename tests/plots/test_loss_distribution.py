"""The distribution of the privacy loss: pins and bars, against values worked by hand; together they are 1."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest

from dpcurator.errors import Refusal
from dpcurator.mechanisms import DiscreteGaussian, DiscreteLaplace, Laplace
from dpcurator.plots import draw_loss_distribution
from dpcurator.privacy.loss import Loss

LAPLACE = Loss("laplace", (("scale", Fraction(1)), ("shift", Fraction(1))))
E = math.exp


def parts(chart):
    rows = chart.spec["data"]["values"]
    pins = {row["loss"]: row["mass"] for row in rows if row["part"] == "atom"}
    return pins, [(row["from"], row["to"], row["mass"]) for row in rows if row["part"] == "cell"]


def total(chart):
    return sum(row["mass"] for row in chart.spec["data"]["values"])


def test_laplace_at_epsilon_1_has_a_half_at_1_and_e_to_the_minus_1_halves_at_minus_1():
    chart = draw_loss_distribution(LAPLACE)
    pins, cells = parts(chart)
    assert pins == {1.0: 0.5, -1.0: pytest.approx(E(-1) / 2, rel=1e-8)}
    assert (cells[0][0], cells[-1][1], len(cells)) == (-1, 1, 20)
    for low, high, mass in cells:  # P(L <= x) = e**((x - 1)/2) / 2 between
        assert mass == pytest.approx((E((high - 1) / 2) - E((low - 1) / 2)) / 2, rel=1e-7)
    assert total(chart) == pytest.approx(1, abs=1e-8)


def test_a_fine_grid_looks_the_same_though_it_has_a_million_atoms():
    fine = draw_loss_distribution(Laplace(sensitivity=1, epsilon=1).loss)
    pins, cells = parts(fine)
    assert pins == {1.0: pytest.approx(0.5, abs=1e-6), -1.0: pytest.approx(E(-1) / 2, abs=1e-6)}
    assert [mass for *_, mass in cells] == pytest.approx([m for *_, m in parts(draw_loss_distribution(LAPLACE))[1]],
                                                         abs=1e-6)
    assert total(fine) == pytest.approx(1, abs=1e-8)


def test_few_atoms_are_all_pins():
    pins, cells = parts(draw_loss_distribution(DiscreteLaplace(Fraction(2)).loss(2)))
    p = E(-1 / 2)
    assert cells == []
    assert pins == {  # k <= 0, k = 1, k >= 2
        1.0: pytest.approx(1 / (1 + p), rel=1e-8),
        0.0: pytest.approx((1 - p) / (1 + p) * p, rel=1e-8),
        -1.0: pytest.approx(p**2 / (1 + p), rel=1e-8),
    }
    pins, cells = parts(draw_loss_distribution(DiscreteGaussian(Fraction(4)).loss(1)))
    assert (cells, sum(pins.values())) == ([], pytest.approx(1, abs=1e-5))


def test_gaussian_is_a_bell_of_bars_about_its_mean():
    chart = draw_loss_distribution(Loss("gaussian", (("variance", Fraction(4)), ("shift", Fraction(1)))), cells=60)
    pins, cells = parts(chart)
    assert (pins, len(cells)) == ({}, 60)
    assert total(chart) == pytest.approx(1, abs=2e-3)
    for low, high, mass in cells:  # normal, mean 1/8, variance 1/4
        z = [(x - 1 / 8) / (1 / 2) / math.sqrt(2) for x in (low, high)]
        assert mass == pytest.approx((math.erf(z[1]) - math.erf(z[0])) / 2, abs=1e-8)


@pytest.mark.parametrize("mean", [40, 0])
def test_the_window_finds_a_bell_that_is_far_or_narrow(mean):
    variance = Fraction(1, 2 * mean) if mean else Fraction(10**8)
    assert total(draw_loss_distribution(Loss("gaussian", (("variance", variance), ("shift", Fraction(1)))))) > 0.99


def test_an_infinite_loss_is_told():
    chart = draw_loss_distribution(Loss("approximate", (("epsilon", Fraction(1)), ("delta", Fraction(1, 1000)))))
    assert "With probability 0.001 the loss is infinite." in " ".join(chart.spec["title"]["subtitle"])
    assert total(chart) == pytest.approx(0.999, abs=1e-8)


def test_what_is_not_known_is_refused():
    vector = DiscreteGaussian(Fraction(4)).vector_loss(2)
    with pytest.raises(Refusal, match="no distribution"):
        draw_loss_distribution(vector)
    with pytest.raises(Refusal, match="cells must be a whole number"):
        draw_loss_distribution(LAPLACE, cells=0)
    with pytest.raises(Refusal, match="cells must be at most 400"):
        draw_loss_distribution(LAPLACE, cells=401)
