"""Bars of the loss of many releases, which say that they are estimates."""

from __future__ import annotations

import pytest

from dpcurator.errors import Refusal
from dpcurator.plots import draw_composed_loss


def test_cells_are_bars():
    chart = draw_composed_loss([(-1.0, 0.0, 0.25), (0.0, 1.0, 0.7000001)], infinite=0.05)
    assert chart.spec["data"]["values"] == [
        {"from": -1.0, "to": 0.0, "mass": 0.25},
        {"from": 0.0, "to": 1.0, "mass": 0.7},
    ]
    words = " ".join(chart.spec["title"]["subtitle"])
    assert "they bound nothing" in words
    assert "With probability 0.05 the loss is infinite." in words
    assert "Values are estimates." in chart.spec["description"]
    assert "proved" not in chart.spec["description"]
    assert chart.svg().startswith("<svg")


@pytest.mark.parametrize("count", [0, 401])
def test_none_or_too_many_are_refused(count):
    with pytest.raises(Refusal, match="1 to 400 bars"):
        draw_composed_loss([(0.0, 1.0, 0.1)] * count)
