"""The privacy loss of each output: ln P(x) / Q(x), P the noise about one value, Q the same about its neighbour's.

The first value is at 0, the neighbour's at `shift`, both on the grid (a fine one rounds the shift up to it). Of Laplace
noise of scale b: shift/b left of 0, -shift/b right of the shift, a slope between.
Checked in tests/plots/test_loss_by_output.py.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from fractions import Fraction

from dpcurator.errors import Refusal
from dpcurator.numbers import Enclosure, ln, positive
from dpcurator.plots.chart import Chart
from dpcurator.plots.drawing import chart, dots, drawn, linear, lines
from dpcurator.plots.labels import figure, named, noise_of
from dpcurator.plots.noise import Noise, is_fine, mass, points, step_of


def draw_loss_by_output(
    noises: Mapping[str, Noise] | Iterable[Noise] | Noise, *, shift: object = 1, reach: object = None
) -> Chart:
    """noises: one, several, or a dict by name. shift: how far the neighbour's value is, in the unit of the answer.

    reach: how far beyond the two values to draw; twice the shift, and three steps of the grid, unless given. Raises
    Refusal for none, for more than 7, for grids too different for one chart, and where a chance is too small to know.
    """
    shown, moved = named(noises), positive(shift, name="shift")
    widest = max(step_of(noise) for noise in shown.values())
    far = max(2 * moved, 3 * widest) if reach is None else positive(reach, name="reach")
    low, high = -far, moved + far
    fine = is_fine(shown.values(), low, high)
    if not fine and moved % widest:
        raise Refusal("The shift must be a multiple of the grid's step.", cure=f"Here that is {figure(widest)}.")
    rows = [
        {"series": name, "x": drawn(x), "loss": drawn(_loss(noise, x, moved))}
        for name, noise in shown.items()
        for x in points(noise, low, high, fine=fine, besides=[Fraction(0), moved])
    ]
    subtitle = (
        f"ln P/Q of {noise_of(shown.values())} about 0 (P) against the same about {figure(moved)} (Q): "
        "above 0 the output speaks for P, below 0 for Q."
    )
    encoding = {
        "x": linear("x", "output (in the unit of the answer)"),
        "y": linear("loss", "privacy loss ln P/Q (nats)"),
    }
    names, legend = list(shown), "noise" if len(shown) > 1 else None
    layer = [lines(names, title=legend)] if fine else dots(names, title=legend)
    return chart("What each output reveals", subtitle, rows, layer=layer, encoding=encoding)


def _loss(noise: Noise, x: Fraction, moved: Fraction) -> Enclosure:
    step = step_of(noise)
    first, second = mass(noise, x), mass(noise, x - math.ceil(moved / step) * step)
    if first.lo <= 0 or second.lo <= 0:
        raise Refusal("A probability is too small here to know its logarithm.", cure="Draw a smaller reach.")
    return Enclosure(ln(first.lo).lo - ln(second.hi).hi, ln(first.hi).hi - ln(second.lo).lo)
