"""The curve of a loss: the least delta at each epsilon, on a logarithmic axis; beside it other curves, where given.

Where a delta is 0, or below the floor, nothing is drawn: the curve ends. Checked in tests/plots/test_delta.py.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from fractions import Fraction
from typing import Any, Protocol

from dpcurator.errors import Refusal
from dpcurator.numbers import Enclosure, positive
from dpcurator.numbers.rational import at_least_0
from dpcurator.plots.chart import Chart
from dpcurator.plots.drawing import chart, drawn, linear, lines, logarithmic, series

Other = Callable[[Fraction], Enclosure | Fraction | None]
_PARTS = 100
_FLOOR = Fraction(1, 10**12)


class Curved(Protocol):
    def delta(self, eps: Any, /) -> Enclosure: ...


def draw_delta(
    losses: Mapping[str, Curved],
    *,
    epsilons: Iterable[object] = (),
    others: Mapping[str, Other] | None = None,
    floor: object = _FLOOR,
) -> Chart:
    """losses: by name. epsilons: each at least 0; unless given, from 0 to 4. others: upper bounds by name, each a
    function of epsilon, None where it is not proved. floor: the least delta drawn, above 0; the greatest is below 1.

    Raises Refusal for others than these, and where nothing is left to draw.
    """
    least = positive(floor, name="floor")
    names = series([*losses, *(others or {})])
    spread = epsilons_of(epsilons) or [Fraction(4 * p, _PARTS) for p in range(_PARTS + 1)]
    curves: dict[str, Other] = {**{name: loss.delta for name, loss in losses.items()}, **(others or {})}
    rows: list[dict[str, Any]] = []
    ended = False
    for name in names:
        for eps in spread:
            found = curves[name](eps)
            if found is None or (found.hi if isinstance(found, Enclosure) else found) >= 1:
                continue  # a delta of 1 promises nothing
            if (found.lo if isinstance(found, Enclosure) else found) < least:
                ended = True
                continue
            rows.append({"series": name, "epsilon": drawn(eps), "delta": drawn(found)})
    if not rows:
        raise Refusal("Every delta here is 1, or below the floor.", cure="Draw other epsilons.")
    words = "The least delta for which (epsilon, delta) is a true promise, at each epsilon."
    if others:
        words += " The others are bounds on it, drawn where they are proved."
    if ended:
        words += f" A curve ends where delta is 0 or below {drawn(least):g}."
    encoding = {
        "x": linear("epsilon", "epsilon (nats)"),
        "y": logarithmic("delta", "delta (probability)", [row["delta"] for row in rows]),
    }
    return chart(
        "Epsilon and delta",
        words,
        rows,
        layer=[lines(names, title="curve" if len(names) > 1 else None)],
        encoding=encoding,
    )


def epsilons_of(epsilons: Iterable[object]) -> list[Fraction]:
    """Rising, each once. Raises Refusal for one that is below 0, or no number."""
    return sorted({at_least_0(eps, name="epsilon") for eps in epsilons})
