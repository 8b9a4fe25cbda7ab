"""Error bars before paying: worked values, and no noise within its box moves an answer further than the bar says."""

from __future__ import annotations

from fractions import Fraction as F

import pytest
from questions import CATALOG, VISITS, catalog_with, quoted, with_column

from dpcurator.pricing.bars import bars, describe


def errors(items: str, epsilon=1, rows: int = 10_000, catalog=CATALOG, **more):
    return [bar.error for bar in bars(quoted(f"SELECT {items} FROM visits", epsilon, catalog, **more), rows)]


def test_counts_and_sums():
    """COUNT(*) at epsilon 1: scale 4 rows; P(|Z| > m) <= 0.05 first at m = 4 ln 20 = 11.98 rows; and half a row."""
    (count,) = errors("COUNT(*)")
    assert F("12.48") < count < F("12.49")
    (half,) = errors("COUNT(*)", F(1, 2))
    assert F("24.46") < half < F("24.47")
    (total,) = errors("SUM(cost)")
    assert abs(total / (count - F(1, 2)) - 20_000) < 1


@pytest.mark.parametrize("confidence", ["0.5", "0.95", "0.99", "0.999999"])
def test_the_bar_follows_the_confidence(confidence):
    """ln(1/beta) scales of noise (one tool gave the same bar at every level)."""
    from math import log

    (error,) = errors("COUNT(*)", confidence=F(confidence))
    assert abs(float(error) - 0.5 - 4 * log(1 / (1 - float(confidence)))) < 0.01


def test_the_bar_of_a_group_does_not_grow_with_the_number_of_groups():
    one = bars(quoted("SELECT COUNT(*) FROM visits GROUP BY smoker"))[0].error
    many = bars(quoted("SELECT COUNT(*) FROM visits GROUP BY ward, smoker, day, city"))[0].error
    assert one == many


def test_arithmetic_on_bars():
    (a, b, both) = errors("SUM(cost), SUM(gain), SUM(cost) - SUM(gain)", 2)
    assert both > a + b  # each at half the chance of missing
    (three,) = errors("SUM(cost) * -3")
    (one,) = errors("SUM(cost)")
    assert three == 3 * one
    assert errors("SUM(cost) / 4") == [one / 4]
    assert errors("SUM(cost) / 0") == [None]
    assert errors("ABS(-SUM(cost))") == [one]
    for places, unit in ((-2, F(100)), (1, F(1, 10))):
        (rounded,) = errors(f"ROUND(SUM(cost), {places})")
        assert one < rounded <= one + unit  # 0.4 and 0.6 are 1 apart once rounded
    assert errors("SUM(cost) / COUNT(*)") == [None]
    assert errors("COALESCE(SUM(cost), 0)") == [None]


def test_keys_and_constants_have_no_noise():
    quote = quoted("SELECT ward, SUM(cost) + ward, 5 FROM visits GROUP BY ward")
    assert [bar.title for bar in bars(quote)] == ["SUM(cost) + ward"]
    assert bars(quote)[0].error == bars(quoted("SELECT SUM(cost) FROM visits GROUP BY ward"))[0].error
    constant = catalog_with(with_column(VISITS, "cost", lower=F(7), upper=F(7)))
    assert errors("AVG(cost)", catalog=constant) == [0]


def test_an_average_has_a_bar_only_for_groups_of_so_many_rows():
    small, large = (bars(quoted("SELECT AVG(age) FROM visits"), rows)[0] for rows in (10, 10**6))
    assert small.error == 110  # within its bounds whatever the noise
    assert small.rows == 10
    assert F("0.001") < large.error < F("0.1")
    assert "in a group of 1,000,000 rows" in describe(large)
    assert describe(bars(quoted("SELECT SUM(cost) / COUNT(*) FROM visits"))[0]) == "depends on the data"
    assert bars(quoted("SELECT SUM(cost) / COUNT(*) FROM visits"))[0].as_json()["exact"] is None
    assert bars(quoted("SELECT COUNT(*) FROM visits"))[0].rows is None
