"""What all charts look like: size, type, colours, dashes and shapes, ticks, and numbers as they are drawn.

Colours are Okabe and Ito's, told apart by colour-blind readers; each series has its own dash or shape too, so that
a copy in black and white can be read. Checked in tests/plots/test_drawing.py.
"""

from __future__ import annotations

import math
import textwrap
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

from dpcurator.errors import Refusal
from dpcurator.numbers import Enclosure
from dpcurator.numbers.decimals import leading
from dpcurator.plots.chart import Chart

SCHEMA = "https://vega.github.io/schema/vega-lite/v5.json"  # a name; nothing is loaded from there
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
DASHES = ([1, 0], [8, 3], [2, 2], [10, 3, 2, 3], [5, 2], [1, 4], [12, 4, 2, 4, 2, 4])
SHAPES = ("circle", "square", "triangle-up", "diamond", "cross", "triangle-down", "triangle-right")
_FONT = "sans-serif"
_LINE = 100  # characters of a subtitle beside a chart of this width
_FIGURES = 9
_PLAIN = "format(datum.value, '.6~g')"
_POWER = "datum.value == 0 || datum.value == 1 ? datum.value : format(datum.value, '.0e')"


def drawn(value: Enclosure | Fraction | int) -> float:
    """The float that is drawn: the middle of an enclosure, to nine figures. Raises Refusal for one too large."""
    exact = (value.lo + value.hi) / 2 if isinstance(value, Enclosure) else Fraction(value)
    try:
        return float(f"{float(exact):.{_FIGURES}g}")
    except OverflowError:
        raise Refusal("A number here is too large to draw.", cure="Draw in a larger unit.") from None


def chart(
    title: str, subtitle: str, rows: Sequence[Mapping[str, Any]], *, proved: bool | None = True, **content: Any
) -> Chart:
    """A chart in the house's looks. proved: do the values come from enclosures? None: they are an answer's.
    content: `layer`, or `mark`, and `encoding`."""
    lines = textwrap.wrap(subtitle, _LINE)
    middles = f" Values are the middles of proved enclosures, to {_FIGURES} figures."
    told = "" if proved is None else middles if proved else " Values are estimates."
    return Chart(
        {
            "$schema": SCHEMA,
            "description": f"{title}. {subtitle}{told}",
            "title": {"text": title, "subtitle": lines, "anchor": "start", "offset": 14},
            "width": 560,
            "height": 320,
            "padding": 12,
            "background": "white",
            "data": {"values": [dict(row) for row in rows]},
            **content,
            "config": {
                "font": _FONT,
                "title": {"fontSize": 16, "subtitleFontSize": 12, "subtitleColor": "#444444", "subtitlePadding": 5},
                "axis": {"labelFontSize": 12, "titleFontSize": 12, "titleFontWeight": "normal", "gridColor": "#e6e6e6"},
                "legend": {"labelFontSize": 12, "titleFontSize": 12, "titleFontWeight": "normal"},
                "view": {"stroke": None},
                "line": {"strokeWidth": 2},
            },
        }
    )


def by_series(names: Sequence[str], *, title: str | None, points: bool = False) -> dict[str, Any]:
    """The encodings that tell series apart; none are needed, and no legend, for a single one without a title."""
    order, many = list(names), len(names)
    second = ("shape", SHAPES) if points else ("strokeDash", DASHES)
    symbol = {"symbolSize": 90} if points else {"symbolSize": 1200, "symbolStrokeWidth": 2}
    legend = {"legend": None} if title is None else {"title": title, "legend": symbol}
    return {
        "color": {"field": "series", "type": "nominal", "scale": {"domain": order, "range": list(COLOURS[:many])}}
        | legend,
        second[0]: {"field": "series", "type": "nominal", "scale": {"domain": order, "range": list(second[1][:many])}}
        | legend,
    }


def lines(names: Sequence[str], *, title: str | None) -> dict[str, Any]:
    """A line for each series: the mark and how they differ."""
    return {"mark": {"type": "line", "tooltip": True}, "encoding": by_series(names, title=title)}


def dots(names: Sequence[str], *, title: str | None) -> list[dict[str, Any]]:
    """Layers: a point for each outcome of each series, on thin grey lines that only guide the eye."""
    return [
        {
            "mark": {"type": "line", "strokeWidth": 1, "color": "#aaaaaa"},
            "encoding": {"detail": {"field": "series", "type": "nominal"}},
        },
        {
            "mark": {"type": "point", "filled": True, "size": 46, "opacity": 1, "tooltip": True},
            "encoding": by_series(names, title=title, points=True),
        },
    ]


def linear(field: str, title: str, **more: Any) -> dict[str, Any]:
    """A quantity on a plain axis, numbers written short."""
    axis = {"format": ".6~g", "labelOverlap": True, "labelFlush": False, "tickCount": 8, **more.pop("axis", {})}
    return {"field": field, "type": "quantitative", "title": title, "axis": axis, **more}


def from_0(field: str, title: str, values: Sequence[float]) -> dict[str, Any]:
    """A quantity of at least 0, with room above the largest for a label."""
    return linear(field, title, scale={"domain": [0, 1.08 * max(values)], "nice": False})


def logarithmic(field: str, title: str, values: Sequence[float]) -> dict[str, Any]:
    """A quantity above 0 on a logarithmic axis, its ticks at 1, 2 and 5 or, over a long span, at powers of ten."""
    low, high = min(values), max(values)
    ticks, form = _ticks(low, high)
    return _ticked(field, title, {"type": "log"}, [min(low, ticks[0]), max(high, ticks[-1])], ticks, form)


def logarithmic_from_0(field: str, title: str, values: Sequence[float]) -> dict[str, Any]:
    """The same for values of which some are 0: it has a place below the least of the others."""
    above = [value for value in values if value > 0] or [1.0]
    ticks, form = _ticks(min(above), max(above))
    scale = {"type": "symlog", "constant": min(above)}
    return _ticked(field, title, scale, [0, max(*above, ticks[-1])], [0, *ticks], form)


def _ticked(
    field: str, title: str, scale: dict[str, Any], domain: list[float], ticks: list[float], form: str
) -> dict[str, Any]:
    return {
        "field": field,
        "type": "quantitative",
        "title": title,
        "scale": {**scale, "domain": domain, "nice": False},
        "axis": {"values": ticks, "labelFlush": False, "labelExpr": form},
    }


def _ticks(low: float, high: float) -> tuple[list[float], str]:
    """At most ten ticks that cover low to high, both above 0."""
    first, last = math.floor(math.log10(low) + 1e-9), math.ceil(math.log10(high) - 1e-9)
    last = max(last, first + 1)
    if last - first <= 3:
        fine = [float(f"{digit}e{power}") for power in range(first, last + 1) for digit in (1, 2, 5)]
        below, above = [t for t in fine if t <= low * (1 + 1e-9)], [t for t in fine if t >= high * (1 - 1e-9)]
        return [t for t in fine if below[-1] <= t <= above[0]], _PLAIN
    stride = -(-(last - first) // 9)
    powers = range(last, first - stride, -stride)
    return [float(f"1e{power}") for power in reversed(powers)], _PLAIN if first >= -4 and last <= 4 else _POWER


def round_up(value: Fraction) -> Fraction:
    """The least of 1, 2, 3, ..., 9 times a power of ten that is at least `value` > 0: where an axis ends."""
    unit = Fraction(10) ** leading(value)
    return math.ceil(value / unit) * unit


def series(names: Sequence[str]) -> list[str]:
    """The names, one for each series. Raises Refusal for none, for more than can be told apart, and for equal ones."""
    known = list(names)
    if not 1 <= len(known) <= len(COLOURS):
        raise Refusal(f"A chart shows 1 to {len(COLOURS)} series, not {len(known)}.", cure="Draw several charts.")
    if len(set(known)) < len(known):
        raise Refusal("Two series of the chart have one name.", cure='Name them, as in {"first": ..., "second": ...}.')
    return known
