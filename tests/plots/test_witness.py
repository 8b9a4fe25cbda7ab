"""The picture of an audit: two laws side by side, the event shaded."""

from __future__ import annotations

import pytest

import dpcurator as dp
from dpcurator.auditing.report import Bar
from dpcurator.plots.witness import draw_witness


def test_a_bar_for_each_outcome_of_each_input():
    spec = draw_witness([Bar("yes", 0.75, 0.25, 1), Bar("no", 0.25, 0.75, 0)], event="it is yes", verdict="found").spec
    rows = spec["data"]["values"]
    assert [(row["outcome"], row["series"], row["chance"], row["in the event"]) for row in rows] == [
        ("yes", "first input", 0.75, "yes"), ("yes", "second input", 0.25, "yes"),
        ("no", "first input", 0.25, "no"), ("no", "second input", 0.75, "no"),
    ]
    assert "it is yes" in spec["description"]


def test_nothing_to_draw_is_refused():
    with pytest.raises(dp.Refusal):
        draw_witness([], event="none", verdict="found")
