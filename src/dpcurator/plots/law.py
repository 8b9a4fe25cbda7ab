"""The law of noise: the probability of each outcome or, where the grid is too fine to see, per unit of the answer.

A density at x is P(noise = x) / step, at points x of the grid: of Laplace noise of scale b, 1/(2b) at 0.
Checked in tests/plots/test_law.py.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from fractions import Fraction

from dpcurator.numbers import positive
from dpcurator.plots.chart import Chart
from dpcurator.plots.drawing import chart, dots, drawn, linear, lines, round_up
from dpcurator.plots.labels import named, noise_of
from dpcurator.plots.noise import Noise, is_fine, mass, points, step_of

_MISSED = Fraction(1, 100)  # of the widest noise, left out at both ends


def draw_law(noises: Mapping[str, Noise] | Iterable[Noise] | Noise, *, reach: object = None) -> Chart:
    """noises: one, several, or a dict by name. reach: how far from 0 to draw, in the unit of the answer.

    Raises Refusal for none, for more than 7, and for grids too different for one chart.
    """
    shown = named(noises)
    far = _reach(shown.values()) if reach is None else positive(reach, name="reach")
    fine = is_fine(shown.values(), -far, far)
    rows = [
        {"series": name, "x": drawn(x), "y": drawn(mass(noise, x) / (step_of(noise) if fine else 1))}
        for name, noise in shown.items()
        for x in points(noise, -far, far, fine=fine, besides=[Fraction(0)])
    ]
    what = noise_of(shown.values())
    unit = {step_of(noise) for noise in shown.values()} == {Fraction(1)}
    chance = "probability of each whole number" if unit else "probability of each point of the grid"
    encoding = {
        "x": linear("x", "noise (in the unit of the answer)"),
        "y": linear("y", "probability density (per unit)" if fine else chance),
    }
    said = (
        "How likely each amount of noise is; a wider law hides more and blurs more."
        if len(shown) > 1
        else "How likely each amount of noise is."
    )
    title, legend, names = f"The law of {what}", "noise" if len(shown) > 1 else None, list(shown)
    if fine:
        return chart(title, said, rows, layer=[lines(names, title=legend)], encoding=encoding)
    said += " The lines only guide the eye."
    return chart(title, said, rows, layer=dots(names, title=legend), encoding=encoding)


def _reach(noises: Iterable[Noise]) -> Fraction:
    return round_up(max(max(Fraction(noise.error(_MISSED)), 5 * step_of(noise)) for noise in noises))
