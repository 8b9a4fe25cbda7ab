"""The distribution of the privacy loss of many releases together, as bars: masses of cells, or of single losses.

The masses come from doubles, not from enclosures, and the chart says so. Checked in tests/plots/test_composed_loss.py.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dpcurator.errors import Refusal
from dpcurator.plots.chart import Chart
from dpcurator.plots.drawing import COLOURS, chart, from_0, linear

_MOST = 400  # bars


def draw_composed_loss(cells: Sequence[tuple[float, float, float]], *, infinite: float = 0.0) -> Chart:
    """cells: low, high and mass of each, rising; infinite: the chance of an infinite loss.

    Raises Refusal for none or more than 400.
    """
    if not 1 <= len(cells) <= _MOST:
        raise Refusal(f"A chart has 1 to {_MOST} bars.", cure="Use wider cells.")
    rows: list[dict[str, Any]] = [
        {"from": float(f"{low:.9g}"), "to": float(f"{high:.9g}"), "mass": float(f"{mass:.5g}")}
        for low, high, mass in cells
    ]
    words = "Bars are the chance of a loss in each cell, estimated in doubles: they bound nothing."
    if infinite:
        words += f" With probability {infinite:.3g} the loss is infinite."
    up = from_0("mass", "probability", [row["mass"] for row in rows])
    axis = linear("from", "privacy loss ln P/Q of all together (nats)", scale={"zero": False, "nice": False})
    bar = {
        "mark": {"type": "rect", "fill": COLOURS[5], "stroke": "white", "strokeWidth": 0.5, "tooltip": True},
        "encoding": {"x": axis, "x2": {"field": "to"}, "y": up, "y2": {"datum": 0}},
    }
    return chart("The distribution of the privacy loss of all together", words, rows, proved=False, layer=[bar])
