"""Estimates from supports: by hand, unbiased in rationals, added up over batches, refused where nothing is known."""

from __future__ import annotations

import math
from dataclasses import FrozenInstanceError
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from dpcurator.errors import Refusal
from dpcurator.mechanisms.local.estimates import Estimates, planned_error
from dpcurator.mechanisms.parameters import error_level

OWN, OTHER = Fraction(3, 4), Fraction(1, 4)


def estimates(n: int, *supports: int, own: Fraction = OWN, other: Fraction = OTHER) -> Estimates:
    return Estimates(n, own, other, range(len(supports)), np.array(supports, dtype=np.int64))


def test_the_coin_by_hand() -> None:
    """gallery/randomised-response: 400 yes of 1,000: (400 - 250)/(1/2) = 300 hold it, +- sqrt(1000 3/16)/(1/2)."""
    found = estimates(1000, 600, 400)
    assert found.count(1) == 300
    assert found.proportion(1) == Fraction(3, 10)
    assert found.counts.tolist() == [700, 300]
    assert found.proportions.tolist() == [0.7, 0.3]
    assert found.standard_error(1) == pytest.approx(27.3861278752583)
    assert found.standard_errors == pytest.approx([27.3861278752583] * 2)
    low, high = found.interval(1, "0.05")
    assert 300 - 54 <= low <= 300 - 52
    assert 300 + 52 <= high <= 300 + 54
    assert found.intervals("0.05")[1] - 300 == pytest.approx([-74.4, 74.4], abs=1.5)  # sqrt(2 ln 40) of them
    assert float(found.error("0.05")) == pytest.approx(
        76.886, abs=0.001
    )  # Bernstein: (1.2296 + sqrt(1.512 + 1383.3)) 2


def test_a_count_may_lie_below_nothing_and_above_all() -> None:
    found = estimates(10, 0, 10)
    assert (found.count(0), found.count(1)) == (-5, 15)
    assert found.interval(0, "1/2")[0] == 0
    assert found.interval(1, "1/2")[1] == 10
    assert found.standard_error(0) == pytest.approx(math.sqrt(10 * 3 / 16) * 2)


@pytest.mark.parametrize(
    ("own", "other"), [(OWN, OTHER), (Fraction(1, 2), Fraction(1, 7)), (Fraction(2, 3), Fraction(1, 2))]
)
def test_unbiased_and_of_that_variance_for_every_truth(own: Fraction, other: Fraction) -> None:
    n = 6

    def binomial(m: int, p: Fraction) -> list[Fraction]:
        return [math.comb(m, j) * p**j * (1 - p) ** (m - j) for j in range(m + 1)]

    for t in range(n + 1):
        law = {(i, j): a * b for i, a in enumerate(binomial(t, own)) for j, b in enumerate(binomial(n - t, other))}
        told = {at: estimates(n, sum(at), own=own, other=other).count(0) for at in law}
        assert sum(law[at] * told[at] for at in law) == t
        variance = sum(law[at] * (told[at] - t) ** 2 for at in law)
        assert variance == (t * own * (1 - own) + (n - t) * other * (1 - other)) / (own - other) ** 2


def test_batches_add_up() -> None:
    together = estimates(10, 3, 7) + estimates(5, 1, 4)
    assert (together.reports, together.supports.tolist()) == (15, [4, 11])
    for other in (estimates(5, 1, 4, 0), estimates(5, 1, 4, own=Fraction(4, 5))):
        with pytest.raises(Refusal, match="different"):
            estimates(10, 3, 7) + other
    with pytest.raises(TypeError):
        estimates(10, 3, 7) + 1  # type: ignore[operator]


def test_all_values_together_share_beta() -> None:
    found = estimates(1000, 600, 400, 300, 250)
    assert found.intervals("0.1", simultaneous=True).tolist() == found.intervals("0.025").tolist()
    assert (found.intervals("0.1")[:, 0] >= found.intervals("0.1", simultaneous=True)[:, 0]).all()


@pytest.mark.parametrize("bad", [0, 1, -1, 2, float("nan"), True, None, "much"])
def test_no_beta(bad: Any) -> None:
    for ask in (estimates(9, 4, 5).error, estimates(9, 4, 5).intervals, lambda beta: estimates(9, 4).interval(0, beta)):
        with pytest.raises(Refusal, match="beta"):
            ask(bad)
    with pytest.raises(Refusal, match="beta"):
        error_level(bad)


@pytest.mark.parametrize("bad", [0, -1, 2.5, float("nan"), True, None, "many"])
def test_no_number_of_reports(bad: Any) -> None:
    with pytest.raises(Refusal, match="reports"):
        planned_error(OWN, OTHER, reports=bad, beta="0.05")


def test_nothing_is_said_of_no_reports_nor_of_other_values() -> None:
    with pytest.raises(Refusal, match="no reports"):
        estimates(0, 0, 0)
    for bad in (2, -1, None, [0], float("nan"), "0"):
        with pytest.raises(Refusal, match="not among"):
            estimates(9, 4, 5).count(bad)


def test_they_are_frozen_and_small_to_show() -> None:
    found = estimates(9, *[4] * 10_000)
    with pytest.raises(FrozenInstanceError):
        found.reports = 3  # type: ignore[misc]
    assert len(repr(found)) < 200
    assert planned_error(OWN, OTHER, reports=9, beta="0.05") == found.error("0.05")
