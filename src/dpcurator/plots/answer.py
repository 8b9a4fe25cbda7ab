"""One column of an answer, a bar for each row, with the interval of the noise. Checked in tests/plots/test_answer.py.

It is drawn from what the analyst was given, so it costs nothing and reveals nothing more.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Any, Protocol

from dpcurator.errors import Refusal
from dpcurator.numbers.display import error_text, value_text
from dpcurator.plots.chart import Chart
from dpcurator.plots.drawing import COLOURS, chart, drawn, linear
from dpcurator.plots.labels import figure
from dpcurator.values import Cell

_MOST = 40  # bars
_EACH, _LEAST = 36, 72  # height, of a bar and of a chart


class Answered(Protocol):
    """What an answer shows of itself."""

    @property
    def columns(self) -> tuple[str, ...]: ...
    @property
    def shown(self) -> tuple[str, ...]: ...
    @property
    def cells(self) -> tuple[tuple[Cell, ...], ...]: ...
    @property
    def confidence(self) -> Fraction: ...


def draw_answer(answer: Answered, *, column: str | None = None) -> Chart:
    """A bar for each row of an answer, with a confidence interval for the noise.

    answer: what `curator.ask` returns. column: the one to draw; unless given, the first with noise. Of more than 40
    rows the first 40 are drawn. Raises Refusal for a column that is not there or has no numbers.
    """
    index = _noisy(answer, column)
    keys = [other for other in range(len(answer.columns)) if answer.shown[other] not in ("whole", "number", "truth")]
    rows: list[dict[str, Any]] = []
    for number, cells in enumerate(answer.cells[:_MOST], 1):
        cell = cells[index]
        name = ", ".join(_name(cells[key]) for key in keys) or answer.columns[index]
        if isinstance(cell.value, (int, float)):
            rows.append({"place": number, "row": name, **_bar(cell, whole=answer.shown[index] == "whole")})
    names = ", ".join(answer.columns[key] for key in keys)
    down: dict[str, Any] = {"field": "place", "type": "ordinal", "title": names or None}
    label = "{" + ", ".join(f"'{row['place']}': {_quoted(row['row'])}" for row in rows) + "}[datum.value]"
    down["axis"] = {"labelExpr": label, "labelLimit": 200, "ticks": False}
    low, high = linear("low", answer.columns[index]), {"field": "high"}
    edge = {"field": "end", "type": "quantitative"}
    level = figure(100 * answer.confidence)
    return chart(
        f"{answer.columns[index]} by {names}" if names else answer.columns[index],
        f"Noisy values; the lines are {level} % confidence intervals for the noise alone, each by itself.",
        rows,
        proved=None,
        height=max(_LEAST, _EACH * len(rows)),
        layer=[
            {
                "mark": {"type": "bar", "color": COLOURS[5], "tooltip": True},
                "encoding": {"y": down, "x": {**low, "field": "value"}},
            },
            {
                "mark": {"type": "rule", "color": COLOURS[6], "strokeWidth": 2},
                "encoding": {"y": down, "x": low, "x2": high},
            },
            {
                "mark": {"type": "text", "align": "left", "dx": 6, "fontSize": 12},
                "encoding": {"y": down, "x": edge, "text": {"field": "label"}},
            },
        ],
    )


def _noisy(answer: Answered, column: str | None) -> int:
    found = [i for i, title in enumerate(answer.columns) if column in (None, title) and _has_numbers(answer, i)]
    if found:
        return found[0]
    what = "The answer has no column of noisy numbers." if column is None else f"No noisy numbers in {column!r}."
    raise Refusal(what, cure=f"The columns are {', '.join(answer.columns)}.")


def _has_numbers(answer: Answered, index: int) -> bool:
    return answer.shown[index] in ("whole", "number") and any(
        isinstance(cells[index].value, (int, float)) for cells in answer.cells
    )


def _name(cell: Cell) -> str:
    return "(other)" if cell.other else "NULL" if cell.value is None else str(cell.value)


def _quoted(text: str) -> str:
    """As an expression of Vega writes it."""
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'").replace("\n", " ") + "'"


def _bar(cell: Cell, *, whole: bool) -> dict[str, Any]:
    """The value, the ends of its interval (itself, where it has none), and how both are written."""
    value = Fraction(cell.value)  # type: ignore[arg-type]
    ends: Sequence[float | None] = (cell.low, cell.high)
    low, high = (value if end is None or math.isinf(end) else Fraction(end) for end in ends)
    error = None if cell.error is None else Fraction(cell.error)
    text, bar = value_text(value, error, whole=whole), f"±{'?' if error is None else error_text(error)}"
    if cell.rank is not None:  # a quantile is one of its candidates, and its bar is no interval of values
        text = str(cell.value) if whole else value_text(value, abs(value) / 10**5)
        bar = f"(rank ±{error_text(Fraction(cell.rank))})"
    shown = {"value": drawn(value), "low": drawn(low), "high": drawn(high), "end": drawn(max(high, value, Fraction(0)))}
    return {**shown, "label": f"{text} {bar}"}
