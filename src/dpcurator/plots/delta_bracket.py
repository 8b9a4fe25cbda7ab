"""The delta of many releases together at each epsilon, between its two proved ends; beside it simpler bounds, if given.

Where a delta is 0, or below the floor, nothing is drawn. Checked in tests/plots/test_delta_bracket.py.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from fractions import Fraction
from typing import Any, Protocol

from dpcurator.errors import Refusal
from dpcurator.numbers import positive
from dpcurator.plots.chart import Chart
from dpcurator.plots.delta import epsilons_of
from dpcurator.plots.drawing import chart, drawn, linear, lines, logarithmic, series

_FLOOR = Fraction(1, 10**12)
_NAMES = ("at most", "at least")


class Ends(Protocol):
    @property
    def lower(self) -> Fraction: ...

    @property
    def upper(self) -> Fraction: ...


def draw_delta_bracket(
    bracket: Callable[[Fraction], Ends],
    *,
    epsilons: Iterable[object],
    others: Mapping[str, Callable[[Fraction], Fraction | None]] | None = None,
    floor: object = _FLOOR,
) -> Chart:
    """bracket: of delta at an epsilon. epsilons: each at least 0. others: upper bounds by name, None where there is no
    such bound. floor: the least delta drawn, above 0.

    Raises Refusal for others than these, and where nothing is left to draw.
    """
    least = positive(floor, name="floor")
    names = series([*_NAMES, *(others or {})])
    rows: list[dict[str, Any]] = []
    ended = False
    for eps in epsilons_of(epsilons):
        found = bracket(eps)
        values: dict[str, Fraction | None] = dict(zip(_NAMES, (found.upper, found.lower), strict=True))
        values |= {name: other(eps) for name, other in (others or {}).items()}
        known = {name: value for name, value in values.items() if value is not None and value < 1}
        ended = ended or any(value < least for value in known.values())
        rows += [
            {"series": name, "epsilon": drawn(eps), "delta": drawn(value)}
            for name, value in known.items()
            if value >= least
        ]
    if not rows:
        raise Refusal("Every delta here is 1, or below the floor.", cure="Draw other epsilons.")
    words = (
        "The least delta for which (epsilon, delta) is a true promise of all releases together, between proved ends."
    )
    if others:
        words += f" {', '.join(others)}: what simpler methods prove."
    if ended:
        words += f" A curve ends where delta is 0 or below {drawn(least):g}."
    encoding = {
        "x": linear("epsilon", "epsilon (nats)"),
        "y": logarithmic("delta", "delta (probability)", [row["delta"] for row in rows]),
    }
    return chart("Epsilon and delta of all together", words, rows, layer=[lines(names, title="delta is")],
                 encoding=encoding)
