"""What anyone may draw: `dpcurator plot law`, `loss`, `distribution`, `error`, `delta`, `composition`. It reads no
data.

With nothing but their names the first three draw Laplace noise of three scales, what each of its outputs reveals, and
the distribution of its privacy loss at epsilon 1. Checked in tests/cli/test_plot.py.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import typer

from dpcurator.cli.application import AsJson, app, command, show, show_json
from dpcurator.cli.noise_names import LIST

charts = typer.Typer(
    name="plot",
    help="Draw noise, what it reveals and what it costs: .svg, .png, .html or .json files. Reads no data.",
    no_args_is_help=True,
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog="Start with: dpcurator plot law",
)
app.add_typer(charts)

Mechanism = Annotated[str, typer.Option(help=f"The noise: {LIST}.", metavar="NAME")]
Mechanisms = Annotated[
    list[str] | None,
    typer.Option("--mechanism", help=f"The noise: {LIST}; default laplace and gaussian. May be repeated.",
                 metavar="NAME"),
]
Scale = Annotated[str, typer.Option(help="Of the noise, in the unit of the answer: b or sigma.", metavar="NUMBER")]
Scales = Annotated[
    list[str] | None,
    typer.Option("--scale", help="Of the noise, in the unit of the answer: b or sigma; default 1, 2 and 4. May be "
                                 "repeated.", metavar="NUMBER"),
]
Sensitivity = Annotated[str, typer.Option(help="How far neighbours move the answer at most.", metavar="NUMBER")]
Reach = Annotated[str | None, typer.Option(help="How far to draw, in the unit of the answer.", metavar="NUMBER")]
Output = Annotated[
    Path | None,
    typer.Option("--output", "-o", metavar="FILE",
                 help="Ends in .svg, .png, .html or .json; default, the chart's name and .svg, here. Replaces a file."),
]


def _finish(draw: Callable[[], Any], name: str, output: Path | None, as_json: bool) -> None:
    """Write the chart, and say where; or print its specification, written only where that was asked."""
    from dpcurator.plots.chart import ending_of

    place = Path(f"{name}.svg") if output is None else output
    ending_of(place)  # before any work
    chart = draw()
    if output is not None or not as_json:
        chart.save(place)
    show_json(chart.spec) if as_json else show(f"wrote {place}")


@command(to=charts, name="law", epilog="Example: dpcurator plot law --mechanism laplace --scale 1 --scale 4 -o law.svg")
def law(
    mechanism: Mechanism = "laplace",
    scale: Scales = None,
    reach: Reach = None,
    output: Output = None,
    as_json: AsJson = False,
) -> None:
    """How likely each amount of noise is."""
    from dpcurator.cli import plot_options
    from dpcurator.plots import draw_law

    _finish(lambda: draw_law(plot_options.noise_of(mechanism, scale, "1"), reach=reach), "law", output, as_json)


@command(to=charts, name="loss", epilog="Example: dpcurator plot loss --scale 1 --scale 2 --sensitivity 1")
def loss(
    mechanism: Mechanism = "laplace",
    scale: Scales = None,
    sensitivity: Sensitivity = "1",
    reach: Reach = None,
    output: Output = None,
    as_json: AsJson = False,
) -> None:
    """What each output reveals: the privacy loss, ln P/Q, against the output."""
    from dpcurator.cli import plot_options
    from dpcurator.plots import draw_loss_by_output

    def draw() -> Any:
        return draw_loss_by_output(plot_options.noise_of(mechanism, scale, sensitivity), shift=sensitivity, reach=reach)

    _finish(draw, "loss", output, as_json)


@command(to=charts, name="distribution", epilog="Example: dpcurator plot distribution --mechanism gaussian --scale 2")
def distribution(
    mechanism: Mechanism = "laplace",
    scale: Scale = "1",
    sensitivity: Sensitivity = "1",
    output: Output = None,
    as_json: AsJson = False,
) -> None:
    """How likely each privacy loss is: its atoms, and the mass between them."""
    from dpcurator.cli import plot_options
    from dpcurator.plots import draw_loss_distribution

    def draw() -> Any:
        (found,) = plot_options.losses_of(mechanism, [scale], sensitivity).values()
        return draw_loss_distribution(found)

    _finish(draw, "distribution", output, as_json)


@command(to=charts, name="error", epilog="Example: dpcurator plot error --mechanism laplace --mechanism gaussian")
def error(
    mechanism: Mechanisms = None,
    sensitivity: Sensitivity = "1",
    delta: Annotated[str, typer.Option(help="Of Gaussian noise.", metavar="NUMBER")] = "1e-6",
    least: Annotated[str, typer.Option("--from", help="The least epsilon.", metavar="NUMBER")] = "0.1",
    most: Annotated[str, typer.Option("--to", help="The greatest epsilon.", metavar="NUMBER")] = "10",
    confidence: Annotated[str, typer.Option(help="Of the error bars.", metavar="LEVEL")] = "0.95",
    output: Output = None,
    as_json: AsJson = False,
) -> None:
    """The error bar against epsilon, for one noise or several."""
    from dpcurator.cli import plot_options
    from dpcurator.plots import draw_error

    def draw() -> Any:
        names = mechanism or ["laplace", "gaussian"]
        makers = {plot_options.words(name, delta): plot_options.maker(name, sensitivity, delta) for name in names}
        return draw_error(makers, epsilons=plot_options.epsilons(least, most), confidence=confidence)

    _finish(draw, "error", output, as_json)


@command(to=charts, name="delta", epilog="Example: dpcurator plot delta --scale 4 --compare textbook --to 2")
def delta(
    mechanism: Mechanism = "gaussian",
    scale: Scales = None,
    sensitivity: Sensitivity = "1",
    most: Annotated[str, typer.Option("--to", help="The greatest epsilon.", metavar="NUMBER")] = "4",
    compare: Annotated[
        list[str] | None,
        typer.Option(help="A bound beside each curve: rho, or textbook (of gaussian). May be repeated.",
                     metavar="BOUND"),
    ] = None,
    output: Output = None,
    as_json: AsJson = False,
) -> None:
    """The least delta at each epsilon, on a logarithmic axis."""
    from dpcurator.cli import plot_options
    from dpcurator.plots import draw_delta

    def draw() -> Any:
        found = plot_options.losses_of(mechanism, scale, sensitivity)
        others = {
            f"{name}, {bound}": plot_options.bound_of(bound, one)
            for bound in compare or []
            for name, one in found.items()
        }
        return draw_delta(found, epsilons=plot_options.up_to(most), others=others)

    _finish(draw, "delta", output, as_json)


@command(to=charts, name="composition",
         epilog='Example: dpcurator plot composition "100 * laplace(epsilon=0.1)" --compare zcdp')
def composition(
    losses: Annotated[
        str,
        typer.Argument(help='The losses, as in "100 * laplace(epsilon=0.1) + gaussian(sigma=10)".', metavar="LOSSES"),
    ],
    kind: Annotated[
        str,
        typer.Option(help="delta at each epsilon, the distribution of the loss, or the tradeoff of a test's errors.",
                     metavar="KIND"),
    ] = "delta",
    most: Annotated[str | None, typer.Option("--to", help="The greatest epsilon, for delta.", metavar="NUMBER")] = None,
    compare: Annotated[
        list[str] | None,
        typer.Option(help="A simpler bound beside delta: zcdp, advanced, renyi, optimal. May be repeated.",
                     metavar="METHOD"),
    ] = None,
    output: Output = None,
    as_json: AsJson = False,
) -> None:
    """What many releases reveal together, between proved ends."""
    from dpcurator.accounting.parse import spelled
    from dpcurator.plots.plot import plot

    _finish(lambda: plot(spelled(losses), kind, most=most, compare=compare), "composition", output, as_json)
