"""The chance of each candidate of a selection, as bars. Checked in tests/plots/test_probabilities.py.

They follow from private scores: such a chart is for study, and not for release.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dpcurator.errors import Refusal
from dpcurator.numbers import Enclosure
from dpcurator.plots.chart import Chart
from dpcurator.plots.drawing import COLOURS, chart, drawn, from_0

_MOST = 20  # bars


def draw_probabilities(chances: Sequence[Enclosure], *, candidates: Sequence[object] | None = None) -> Chart:
    """chances: in the order of the candidates. candidates: their names; unless given, they are numbered from 0.

    Of more than 20 the likeliest 20 are drawn, and one bar for all others. Raises Refusal for none, or for other names
    than chances.
    """
    if not chances:
        raise Refusal("There are no probabilities to draw.", cure="Give the scores of one candidate or more.")
    names = [str(index) for index in range(len(chances))] if candidates is None else [str(one) for one in candidates]
    if len(names) != len(chances):
        raise Refusal(f"There are {len(names)} candidates and {len(chances)} scores.", cure="Give each its score.")
    if len(set(names)) < len(names):
        raise Refusal("Two candidates have one name.", cure="Name each candidate once.")
    kept = sorted(range(len(chances)), key=lambda index: (-chances[index].lo, index))[:_MOST]
    rows: list[dict[str, Any]] = [
        {"candidate": names[index], "probability": drawn(chances[index])} for index in sorted(kept)
    ]
    if len(kept) < len(chances):
        rest = sum((chances[index] for index in set(range(len(chances))) - set(kept)), Enclosure.exactly(0))
        rows.append({"candidate": f"{len(chances) - len(kept)} others", "probability": drawn(rest)})
    rows = [row | {"label": f"{row['probability']:.3g}"} for row in rows]
    down = {"field": "candidate", "type": "nominal", "sort": None, "title": "candidate", "axis": {"labelLimit": 200}}
    along = from_0("probability", "probability", [row["probability"] for row in rows])
    layers = [
        {"mark": {"type": "bar", "color": COLOURS[0], "tooltip": True}, "encoding": {"y": down, "x": along}},
        {
            "mark": {"type": "text", "align": "left", "dx": 5, "fontSize": 11},
            "encoding": {"y": down, "x": along, "text": {"field": "label"}},
        },
    ]
    return chart(
        "The chance of each candidate",
        "By the exact law of the selection, for these scores. They are private: not for release.",
        rows,
        layer=layers,
    )
