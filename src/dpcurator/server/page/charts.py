"""Pictures of answers and of what was spent, as numbers that a template draws as SVG.

The picture is made here and not in the browser: what is drawn is a handful of bars, and a script that can draw
anything is ten times larger than all else on the page (docs/decisions/0028). Lengths are in percent of the width, so
letters keep their size on any screen. What a bar is, with its interval and its words, is said in `plots/answer.py`.
Checked in tests/server/test_page.py.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from fractions import Fraction
from typing import Any, Final

from dpcurator.errors import Refusal
from dpcurator.numbers import decimal_text
from dpcurator.numbers.text_table import printable
from dpcurator.plots.answer import draw_answer
from dpcurator.release.answer import Answer
from dpcurator.release.frames import NOISY

_MOST: Final = 6  # charts of one answer
_MARGIN: Final = 2.0  # percent of the width on either side
_WIDE, _HIGH = 1000, 100  # the box of the line of what was spent


@dataclass(frozen=True, slots=True)
class Bar:
    """A row of a chart: its name, the value in words, and in percent of the width where its bar and interval are."""

    name: str
    words: str
    start: float
    width: float
    low: float
    high: float
    interval: bool


@dataclass(frozen=True, slots=True)
class Bars:
    """A chart of one column. zero: where 0 is; ticks: (where, words)."""

    title: str
    rows: tuple[Bar, ...]
    zero: float
    ticks: tuple[tuple[float, str], ...]


def bars_of(answer: Answer) -> list[Bars]:
    """A chart for each noisy column that has numbers, at most `_MOST`."""
    found = []
    titles = dict.fromkeys(t for t, shown in zip(answer.columns, answer.shown, strict=True) if shown in NOISY)
    for title in list(titles)[:_MOST]:
        try:
            rows = draw_answer(answer, column=title).spec["data"]["values"]
        except Refusal:  # no numbers in it, or one too large to draw
            continue
        if rows:
            found.append(_bars(title, rows))
    return found


def _bars(title: str, rows: Sequence[dict[str, Any]]) -> Bars:
    first = min(0.0, *(min(row["low"], row["value"]) for row in rows))
    last = max(0.0, *(max(row["high"], row["value"]) for row in rows))
    if not 0 < last - first < math.inf:
        first, last = (0.0, 1.0) if first == last else (first / 4, last / 4)

    def at(value: float) -> float:
        part = (min(max(value, first), last) - first) / (last - first)
        return float(round(_MARGIN + (100 - 2 * _MARGIN) * part, 3))

    bars = tuple(
        Bar(printable(row["row"]), row["label"], at(min(0.0, row["value"])),
            round(abs(at(row["value"]) - at(0.0)), 3), at(row["low"]), at(row["high"]), row["low"] < row["high"])
        for row in rows
    )
    return Bars(printable(title), bars, at(0.0), tuple((at(tick), _written(tick)) for tick in ticks(first, last)))


def ticks(first: float, last: float) -> list[float]:
    """Two to five round numbers between, 0 among them where it is."""
    step = 10.0 ** math.floor(math.log10((last - first) / 2))
    step = next(step * more for more in (1, 2, 5, 10) if (last - first) / (step * more) <= 4)
    return [number * step for number in range(math.ceil(first / step), math.floor(last / step) + 1)]


def _written(tick: float) -> str:
    return f"{tick:,.10g}" if 1e-4 <= abs(tick) < 1e7 or tick == 0 else f"{tick:.0e}"


@dataclass(frozen=True, slots=True)
class Spent:
    """What was spent over time, of what may be: a line in a box of 1000 by 100, as SVG writes it, and the words at its
    ends. part: of the limit, in percent."""

    line: str
    area: str
    first: str
    last: str
    part: float
    charges: int


def spending(
    charges: Sequence[tuple[str, Fraction]], limit: Fraction, spent: Fraction, *, since: str | None = None
) -> Spent | None:
    """charges: (time, amount), in order; what was spent before them is the rest of `spent`. since: where the line
    begins, if not at the first. None where there are none."""
    if not charges or limit <= 0:
        return None
    times = [datetime.fromisoformat(time) for time, _ in charges]
    first = times[0] if since is None else datetime.fromisoformat(since)
    whole = (max(datetime.now(UTC), times[-1]) - first).total_seconds() or 1.0
    total = spent - sum((amount for _, amount in charges), Fraction(0))
    line = f"M0 {_down(total, limit)}"
    for time, (_, amount) in zip(times, charges, strict=True):
        total += amount
        line += f"H{round(_WIDE * (time - first).total_seconds() / whole, 1)}V{_down(total, limit)}"
    line += f"H{_WIDE}"
    part = round(float(min(total / limit, Fraction(1))) * 100, 1)
    return Spent(line, f"{line}V{_HIGH}H0Z", f"{first:%d %b %Y}", "now", part, len(charges))


def _down(total: Fraction, limit: Fraction) -> float:
    return round(_HIGH * (1 - float(min(total / limit, Fraction(1)))), 2)


def share(part: str, whole: str) -> str:
    """A share in percent, for people."""
    of = Fraction(whole.removesuffix("..."))
    return "0" if of == 0 else decimal_text(round(Fraction(part.removesuffix("...")) / of * 100, 1))
