"""Reports: short in words, whole in JSON, and a picture."""

from __future__ import annotations

import json
import math
from fractions import Fraction as F

import numpy as np
import pytest

import dpcurator as dp
from dpcurator.auditing.report import figure


def coin(x):
    return {"yes": F(3, 4) if x else F(1, 4), "no": F(1, 4) if x else F(3, 4)}


def test_an_exact_report_in_full():
    report = dp.audit(dp.exact_law(coin), pair=(0, 1), claim=dp.Pure(1))
    assert str(report).splitlines() == [
        "coin: violation found (certain)",
        "  claimed  epsilon 1",
        "  epsilon  at least 1.098",
        "  inputs   0",
        "           1",
        "  where    given",
        "  event    the outcome is 'no'",
        "  chances  at least 0.75 on the first input, at most 0.25 on the second",
        "  tried    1 pair of inputs, by exact distributions",
    ]
    assert report.as_json()["alpha"] == 0
    assert "<table>" in report._repr_html_()


def test_what_was_never_seen_is_said_apart_with_its_bound():
    report = dp.audit(lambda x: x, pair=(0, 1), claim=dp.Pure(1), samples=2000)
    assert report.counts == (2000, 0)
    assert report.unseen
    assert "2,000 draws can show no more" in str(report)
    assert report.epsilon < math.log(2000)
    told = report.as_json()
    assert told["findings"][0]["never_on_the_other"]
    assert told["unseen"] == [one.event for one in report.unseen]


def test_json_is_json_and_has_what_the_report_has():
    rng = np.random.default_rng(6)
    report = dp.audit(
        lambda x, size: np.round(x + rng.laplace(0, 1, size)), pair=(0, 1), claim=dp.Pure("0.5"), samples=20_000
    )
    told = json.loads(json.dumps(report.as_json()))
    assert told["verdict"] == report.verdict == "violation found"
    assert told["samples"] == 20_000
    assert told["findings"][0]["counts"] == list(report.counts)
    assert told["claim"] == {"epsilon": "1/2", "delta": "0"}


def test_bounds_are_rounded_to_the_safe_side():
    assert figure(F(2, 3)) == "0.6666"
    assert figure(F(2, 3), up=True) == "0.6667"
    assert figure(F(1, 10**7)) == "1e-7"
    assert figure(math.inf) == "infinity"
    assert figure(F(0)) == "0"


@pytest.mark.parametrize(("confidence", "chance"), [("0.999999", "1e-06"), ("0.9986", "2e-03"), ("0.95", "5e-02")])
def test_the_chance_to_be_wrong_is_rounded_up(confidence, chance):
    report = dp.audit(lambda x: 0, pair=(0, 1), claim=dp.Pure(1), samples=200, confidence=confidence)
    assert f"wrong with probability at most {chance}" in str(report)


@pytest.mark.parametrize(
    "outcome",
    [lambda rng, x: rng.normal(x), lambda rng, x: rng.choice(["a", "b"], p=[0.4 + x / 5, 0.6 - x / 5])],
    ids=["number", "text"],
)
def test_both_laws_are_drawn_with_the_event_shaded(outcome):
    rng = np.random.default_rng(7)
    spec = dp.plot(dp.audit(lambda x: outcome(rng, x), pair=(0, 1), samples=2000, bits=False)).spec
    values = spec["data"]["values"]
    assert {row["series"] for row in values} == {"first input", "second input"}
    assert {row["in the event"] for row in values} == {"yes", "no"}
    for name in ("first input", "second input"):
        assert sum(row["chance"] for row in values if row["series"] == name) == pytest.approx(1)


def test_exact_laws_are_drawn_too():
    values = dp.plot(dp.audit(dp.exact_law(coin), pair=(0, 1))).spec["data"]["values"]
    assert [row["chance"] for row in values] == [0.25, 0.75, 0.75, 0.25]


def test_numbers_are_drawn_in_their_order_and_words_as_they_come():
    said = {9: F(9, 20), 10: F(1, 4), -2: F(3, 10)}
    bars = dp.plot(dp.audit(dp.exact_law(lambda x: said), pair=(0, 1))).spec["data"]["values"]
    assert list(dict.fromkeys(bar["outcome"] for bar in bars)) == ["-2", "9", "10"]
    told = {"yes": F(3, 4), "no": F(1, 4)}
    bars = dp.plot(dp.audit(dp.exact_law(lambda x: told), pair=(0, 1))).spec["data"]["values"]
    assert [bar["outcome"] for bar in bars if bar["series"] == "first input"] == ["'yes'", "'no'"]
