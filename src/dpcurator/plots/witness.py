"""What an audit saw: the chance of each outcome, or each bin of them, on two neighbouring inputs, the event shaded.

The numbers are frequencies (or exact chances) of a feature of the outcomes; the picture claims nothing.
Checked in tests/plots/test_witness.py.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from dpcurator.errors import Refusal
from dpcurator.plots.chart import Chart
from dpcurator.plots.drawing import COLOURS, chart, drawn, linear

if TYPE_CHECKING:
    from dpcurator.auditing.report import Bar


def draw_witness(bars: Sequence[Bar], *, event: str, verdict: str, feature: str = "outcome") -> Chart:
    """bars: in the order they are drawn. Raises Refusal for none."""
    if not bars:
        raise Refusal("There is nothing to draw.", cure="Audit something that has outcomes.")
    names = ("first input", "second input")
    rows: list[dict[str, Any]] = [
        {
            "outcome": bar.label,
            "series": name,
            "chance": drawn(Fraction(chance)),
            "in the event": "yes" if bar.share >= 0.5 else "no",
        }
        for bar in bars
        for name, chance in zip(names, (bar.first, bar.second), strict=True)
    ]
    encoding = {
        "x": {"field": "outcome", "type": "nominal", "sort": None, "title": feature,
              "axis": {"labelLimit": 120, "labelAngle": -45, "labelOverlap": True}},
        "xOffset": {"field": "series", "sort": None},
        "y": linear("chance", "share of draws"),
        "color": {"field": "series", "type": "nominal", "scale": {"domain": list(names), "range": list(COLOURS[:2])},
                  "legend": {"title": "on"}},
        "opacity": {"field": "in the event", "type": "nominal", "scale": {"domain": ["yes", "no"], "range": [1, 0.3]},
                    "legend": {"title": "in the event"}},
    }
    said = f"How often each outcome was seen on two neighbouring inputs. The event: {event}."
    return chart(f"Audit: {verdict}", said, rows, mark={"type": "bar", "tooltip": True}, encoding=encoding)
