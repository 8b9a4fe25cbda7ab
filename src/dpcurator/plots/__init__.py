"""Charts, one file each. Every function returns a `Chart`: one Vega-Lite specification, its data inside.

Noise, losses and chances are asked by their verbs (`pmf`, `error`, `delta`, `distribution`), so a chart knows no
mechanism. All numbers come from exact laws; what is drawn is the middle of each enclosure, as a float of nine figures
(but of a chart that says that it is an estimate). A chart claims nothing.
"""

from dpcurator.plots.answer import draw_answer
from dpcurator.plots.chart import Chart
from dpcurator.plots.composed_loss import draw_composed_loss
from dpcurator.plots.delta import draw_delta
from dpcurator.plots.delta_bracket import draw_delta_bracket
from dpcurator.plots.error import draw_error
from dpcurator.plots.law import draw_law
from dpcurator.plots.loss_by_output import draw_loss_by_output
from dpcurator.plots.loss_distribution import draw_loss_distribution
from dpcurator.plots.noise_kinds import draw_noise
from dpcurator.plots.probabilities import draw_probabilities
from dpcurator.plots.tradeoff import draw_tradeoff

__all__ = [
    "Chart",
    "draw_answer",
    "draw_composed_loss",
    "draw_delta",
    "draw_delta_bracket",
    "draw_error",
    "draw_law",
    "draw_loss_by_output",
    "draw_loss_distribution",
    "draw_noise",
    "draw_probabilities",
    "draw_tradeoff",
]
