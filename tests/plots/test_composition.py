"""What `dp.plot` of a composition draws is what its own verbs say."""

from __future__ import annotations

from fractions import Fraction

import pytest

import dpcurator as dp
from dpcurator.accounting.parse import spelled
from dpcurator.errors import Refusal
from dpcurator.plots import Chart

MANY = spelled("20 * pure(epsilon=0.1)")


def rows(chart):
    return chart.spec["data"]["values"]


def test_delta_is_between_its_bounds_and_below_the_simpler_methods():
    found = rows(dp.plot(MANY, most=1, compare=["zcdp", "advanced"]))
    by = {name: {row["epsilon"]: row["delta"] for row in found if row["series"] == name} for name in
          ("at least", "at most", "zcdp", "advanced")}
    assert len(by["at most"]) == 41
    for eps, most in by["at most"].items():
        bracket = MANY.bracket(epsilon=Fraction(str(eps)), accuracy="1e-4")
        assert by["at least"][eps] * (1 - 1e-8) <= float(bracket.upper)
        assert most * (1 + 1e-8) >= float(bracket.lower)
        assert all(most <= by[name].get(eps, 1) * (1 + 1e-8) for name in ("zcdp", "advanced"))


def test_it_ends_where_delta_is_a_millionth_unless_told():
    last = max(row["epsilon"] for row in rows(dp.plot(MANY)))
    assert last == pytest.approx(float(MANY.epsilon(delta="1e-6")), rel=0.15)


def test_the_tradeoff_is_between_its_ends():
    found = [row for row in rows(dp.plot(MANY, "tradeoff")) if row["series"] == "all releases"]
    for row in found[5:7]:
        exact = dp.tradeoff(MANY, alpha=Fraction(str(row["alpha"])))
        assert row["least"] <= float(exact.hi) + 1e-8
        assert row["most"] >= float(exact.lo) - 1e-8
        assert row["most"] - row["least"] <= 1e-3 + 1e-8


def test_the_distribution_is_drawn():
    assert sum(row["mass"] for row in rows(dp.plot(MANY, "distribution"))) == pytest.approx(1, abs=1e-3)


def test_a_vector_has_an_upper_bound_alone():
    vector = dp.compose((dp.Loss("discrete_gaussian_vector", {"variance": 100, "l2_squared": 4}), 3))
    assert {row["series"] for row in rows(dp.plot(vector, most=2))} == {"at most"}
    assert isinstance(dp.plot(vector, "tradeoff"), Chart)
    with pytest.raises(Refusal):
        dp.plot(vector, "distribution")


@pytest.mark.parametrize(
    ("kind", "options", "words"),
    [
        ("law", {}, "delta, distribution, tradeoff"),
        (3, {}, "delta, distribution, tradeoff"),
        ("tradeoff", {"most": 1}, "tradeoff takes no most"),
        ("distribution", {"compare": ["zcdp"]}, "distribution takes no compare"),
        ("delta", {"compare": ["magic"]}, "no method"),
        ("delta", {"most": -1}, "most must be above 0"),
    ],
)
def test_others_are_refused(kind, options, words):
    with pytest.raises(Refusal, match=words):
        dp.plot(MANY, kind, **options)
