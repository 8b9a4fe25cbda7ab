"""The average weight of a public number of people: the recipe runs, and the noise has the scale worked by hand.

(150 - 30) / n / epsilon: 300 for four people at epsilon 0.1, 1.2 for a thousand, at each price and number.
"""

from __future__ import annotations

from fractions import Fraction

import pytest
from documents import ROOT, Run

import dpcurator as dp


def test_the_recipe(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Run(ROOT / "docs" / "recipes" / "average-weight.md").all()


def opened(place, n: int, weights: list[float | None]) -> dp.Curator:
    weight = {"type": "float", "bounds": [30, 150], "missing": 90}
    return dp.open(
        {
            "curator": {"protects": "people", "neighbours": "replace-one", "units": n},
            "ledger": {"epsilon": 10**20},
            "tables": {"people": {"unit": "each row", "columns": {"weight": weight}}},
        },
        directory=place,
        people={"weight": weights},
    )


@pytest.mark.parametrize(
    ("n", "epsilon", "scale"),
    [(4, "0.1", "300"), (1000, "0.1", "1.2"), (4, "1", "30"), (1000, "0.5", "0.24"), (3, "1/7", "280")],
)
def test_the_scale_of_the_noise_on_the_mean(tmp_path, n, epsilon, scale):
    (paid,) = opened(tmp_path, n, [61.0] * n).quote("SELECT AVG(weight) FROM people", epsilon=epsilon, cut=False).priced
    assert paid.mechanism.scale * paid.reading.unit / n == Fraction(scale)
    assert paid.epsilon == Fraction(epsilon)


def test_the_mean_itself(tmp_path):
    """The public number divides; a missing weight is what the catalog says; 200 is clamped."""
    curator = opened(tmp_path, 4, [61.25, 75.5, None, 200.0])
    answer = curator.ask("SELECT AVG(weight) AS mean FROM people", epsilon=10**16)
    assert answer.rows[0][0] == pytest.approx((61.25 + 75.5 + 90 + 150) / 4, rel=1e-12)
