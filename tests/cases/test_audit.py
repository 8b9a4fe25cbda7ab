"""Cases of releases that somebody took for private, or for unsafe: what the audit says of them (README.md here).

The audited functions draw from seeded generators, so each run is the same; a stated fault is wrong with probability at
most 1e-9, but where the case itself asks for confidence .9.
"""

from __future__ import annotations

import math
from fractions import Fraction as F

import numpy as np
import pytest
from power import NO_CLOCK

import dpcurator as dp

SURE = {"confidence": "0.999999999", "seconds": 120}


def noise():
    return np.random.default_rng(48)


def mean_by_its_own_count():
    rng = noise()
    return lambda rows, size: np.round(sum(rows) / max(1, len(rows)) + rng.laplace(0, 100 / max(1, len(rows)), size), 3)


def average_at(rows, ends):
    """An average within [0, 1]: each end listed with probability e^-.5 / 2, else even over a grid; as it is quoted it
    takes only the end at which the average is."""
    tail = F(math.exp(-0.5)) / 2
    average = F(sum(rows), len(rows)) if rows else F(0)
    law = {step: F(0) for step in range(9)}
    for end in (0, 8) if ends == "both" else (0,) if average < 1 else (8,):
        law[end] += tail
    rest = 1 - sum(law.values())
    for step in law:
        law[step] += rest / 9
    return law


def rounded_up_to_eights(scale):
    rng = noise()
    return lambda rows, size: np.round(-(-len(rows) // 8) * 8 + rng.laplace(0, scale, size), 3)


@pytest.mark.parametrize(
    ("made", "how"),
    [
        (mean_by_its_own_count(), {"domain": (0.0, 100.0), "samples": 200_000}),
        (dp.exact_law(lambda rows: average_at(rows, "one")), {"pair": ([], [1])}),
    ],
    ids=["noise by the number of rows", "as quoted"],
)
def test_hunt_48_an_average_by_the_private_count(made, how):
    """Noise of 100/N for N rows; an algorithm that was copied with one end left out."""
    report = dp.audit(made, claim=dp.Pure(1), **({"neighbours": "add-remove"} | how), **SURE)
    assert report.violated


def test_hunt_48_the_algorithm_as_it_was_proved():
    report = dp.audit(dp.exact_law(lambda rows: average_at(rows, "both")), claim=dp.Pure(1), neighbours="add-remove",
                      domain=[0, 1], **SURE)
    assert not report.violated


@pytest.mark.parametrize(("scale", "wrong"), [(8 / 0.3, False), (1 / 0.3, True)])
def test_hunt_50_rounding_up_comes_before_the_noise(scale, wrong):
    """A count rounded up to a multiple of 8 moves by 8, from 8 to 9 rows."""
    report = dp.audit(rounded_up_to_eights(scale), claim=dp.Pure("0.3"), pair=([0] * 8, [0] * 9),
                      neighbours="add-remove", samples=50_000, **SURE)
    assert report.violated is wrong


@pytest.mark.parametrize("claim", [dp.Pure(1), dp.Approximate(1, "1e-5")], ids=["pure", "approximate"])
def test_hunt_51_an_attack_that_is_never_wrong(claim):
    """No draw of 200 is ever on the wrong side: a finite lower bound below ln(1/q), q = 1 - .05**(1/200)."""
    report = dp.audit(lambda rows, size: np.full(size, float(len(rows))), claim=claim, neighbours="add-remove",
                      domain=[0], samples=200, confidence="0.9", seconds=NO_CLOCK)
    assert report.violated
    assert 1 < report.epsilon <= F("4.2")
