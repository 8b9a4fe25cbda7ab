"""The error bar against epsilon: how wrong an answer may be, for what it reveals.

Checked in tests/plots/test_error.py."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from fractions import Fraction
from typing import Any, Protocol

from dpcurator.numbers import positive
from dpcurator.numbers.decimal_search import decimal_at
from dpcurator.numbers.rational import between_0_and_1
from dpcurator.plots.chart import Chart
from dpcurator.plots.drawing import chart, drawn, lines, logarithmic, logarithmic_from_0, series
from dpcurator.plots.labels import figure

_PLACES = range(-90, 91)  # of two figures: 0.1 to 10
_EVERY = 5


class Barred(Protocol):
    def error(self, beta: Fraction, /) -> Fraction | int: ...


def draw_error(
    makers: Mapping[str, Callable[[Fraction], Barred]], *, epsilons: Iterable[object] = (), confidence: object = "0.95"
) -> Chart:
    """makers: for each name, what makes the mechanism of an epsilon. epsilons: each above 0; unless given, decimals
    from 0.1 to 10. confidence: of the error bars, above 0 and below 1. Raises Refusal for others, and what a maker
    raises.
    """
    level = between_0_and_1(confidence, name="confidence", like="0.95")
    names = series(list(makers))
    spread = [positive(eps, name="epsilon") for eps in epsilons] or [decimal_at(p, 2) for p in _PLACES[::_EVERY]]
    rows: list[dict[str, Any]] = [
        {"series": name, "epsilon": drawn(eps), "error": drawn(Fraction(makers[name](eps).error(1 - level)))}
        for name in names
        for eps in sorted(set(spread))
    ]
    errors = [row["error"] for row in rows]
    height = logarithmic if min(errors) > 0 else logarithmic_from_0
    encoding = {
        "x": logarithmic("epsilon", "epsilon (nats)", [row["epsilon"] for row in rows]),
        "y": height("error", "error bar (in the unit of the answer)", errors),
    }
    return chart(
        "What privacy costs in accuracy",
        f"With {figure(100 * level)} % confidence the noise is within the error bar; less epsilon, more error.",
        rows,
        layer=[lines(names, title="noise" if len(names) > 1 else None)],
        encoding=encoding,
    )
