"""The charts of one noise, by name: what `dp.plot` draws of it. Checked in tests/plots/test_plot.py."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from dpcurator.errors import Refusal
from dpcurator.plots.chart import Chart
from dpcurator.plots.delta import draw_delta
from dpcurator.plots.labels import named
from dpcurator.plots.law import draw_law
from dpcurator.plots.loss_by_output import draw_loss_by_output
from dpcurator.plots.loss_distribution import draw_loss_distribution
from dpcurator.plots.noise import Noise

KINDS = ("law", "loss", "distribution", "delta")


def draw_noise(kind: object, noise: Noise, *, loss: Any, shift: Fraction | int) -> Chart:
    """kind: "law" of the noise, "loss" of each output, "distribution" of the loss, or "delta" at each epsilon.

    loss: that of the noise when the answer moves by `shift`. Raises Refusal for another kind, and where the loss is not
    known in whole, as for a vector.
    """
    if kind == "law":
        return draw_law(noise)
    if kind == "loss":
        return draw_loss_by_output(noise, shift=shift)
    if kind == "distribution":
        return draw_loss_distribution(loss)
    if kind == "delta":
        return draw_delta(dict.fromkeys(named(noise), loss))
    raise Refusal(f"A plot of noise is one of {', '.join(KINDS)}.", cure='Write it as in plot("law").')
