"""What the best test between two neighbours misses, against how often it accuses wrongly; beside it, that of no test.

Of a curve that is known between two ends, the middle is drawn, and the band between them. The lower the curve, the more
is revealed; alpha + beta = 1 is a test that looks at nothing. Checked in tests/plots/test_tradeoff.py.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from fractions import Fraction
from typing import Any

from dpcurator.errors import Refusal
from dpcurator.numbers import Enclosure
from dpcurator.numbers.rational import from_0_to_1
from dpcurator.plots.chart import Chart
from dpcurator.plots.drawing import chart, drawn, linear, lines, series

_ALPHAS = tuple(Fraction(part, 40) for part in (0, *(Fraction(k, 5) for k in range(1, 10)), *range(2, 41, 2)))
_NOTHING = "no release"


def draw_tradeoff(curves: Mapping[str, Callable[[Fraction], Enclosure]], *, alphas: Iterable[object] = ()) -> Chart:
    """curves: by name, each a function of alpha. alphas: each in [0, 1]; unless given, some 30, closer near 0.

    Raises Refusal for others than these.
    """
    names = series(list(curves))
    if _NOTHING in names:
        raise Refusal(f"A curve cannot be called {_NOTHING!r}.", cure="Give it another name.")
    spread = sorted({_chance(alpha) for alpha in alphas} or set(_ALPHAS))
    rows: list[dict[str, Any]] = []
    for name, curve in curves.items():
        for alpha in spread:
            beta = curve(alpha)
            rows.append({"series": name, "alpha": drawn(alpha), "beta": drawn(beta), "least": drawn(beta.lo),
                         "most": drawn(beta.hi)})
    rows += [{"series": _NOTHING, "alpha": alpha, "beta": 1 - alpha} for alpha in (0.0, 1.0)]
    unit = {"scale": {"domain": [0, 1]}}
    across, up = linear("alpha", "accuses wrongly (alpha, probability)", **unit), "misses (beta, probability)"
    band = {
        "transform": [{"filter": f"datum.series != '{_NOTHING}'"}],
        "mark": {"type": "area", "opacity": 0.3, "color": "#888888"},
        "encoding": {"x": across, "y": linear("least", up, **unit), "y2": {"field": "most"},
                     "detail": {"field": "series", "type": "nominal"}},
    }
    line = lines([*names, _NOTHING], title="after seeing")
    line["encoding"] |= {"x": across, "y": linear("beta", up, **unit)}
    words = (
        "For each chance of a wrong accusation, the least chance of a miss, of all tests whether the release came from "
        "one table or from its neighbour. Shaded: between its two proved ends."
    )
    return chart("What the best test misses", words, rows, layer=[band, line])


def _chance(alpha: object) -> Fraction:
    return from_0_to_1(alpha, name="alpha", like="0.05")
