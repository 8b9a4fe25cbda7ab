"""What anyone may draw: `dpcurator plot law`, `loss`, `distribution`, `error`, `delta`. It reads no data.

With nothing but their names the first three draw Laplace noise of three scales, what each of its outputs reveals, and
the distribution of its privacy loss at epsilon 1. Checked in tests/cli/test_plot.py.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Annotated, Any

import typer

from dpcurator.cli.frame import AsJson, app, command, show, show_json
from dpcurator.errors import Refusal
from dpcurator.numbers import Enclosure, exp_neg, positive, whole

charts = typer.Typer(
    name="plot",
    help="Draw noise, what it reveals and what it costs: .svg, .png, .html or .json files. Reads no data.",
    no_args_is_help=True,
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog="Start with: dpcurator plot law",
)
app.add_typer(charts)

_LIST = "laplace, gaussian, discrete-laplace or discrete-gaussian"
Mechanism = Annotated[str, typer.Option(help=f"The noise: {_LIST}.", metavar="NAME")]
Mechanisms = Annotated[
    list[str] | None,
    typer.Option("--mechanism", help=f"The noise: {_LIST}; default laplace and gaussian. May be repeated.",
                 metavar="NAME"),
]  # fmt: skip
Scale = Annotated[str, typer.Option(help="Of the noise, in the unit of the answer: b or sigma.", metavar="NUMBER")]
Scales = Annotated[
    list[str] | None,
    typer.Option("--scale", help="Of the noise, in the unit of the answer: b or sigma; default 1, 2 and 4. May be "
                                 "repeated.", metavar="NUMBER"),
]  # fmt: skip
Sensitivity = Annotated[str, typer.Option(help="How far neighbours move the answer at most.", metavar="NUMBER")]
Reach = Annotated[str | None, typer.Option(help="How far to draw, in the unit of the answer.", metavar="NUMBER")]
Output = Annotated[
    Path | None,
    typer.Option("--output", "-o", metavar="FILE",
                 help="Ends in .svg, .png, .html or .json; default, the chart's name and .svg, here. Replaces a file."),
]  # fmt: skip


def _finish(draw: Callable[[], Any], name: str, output: Path | None, as_json: bool) -> None:
    """Write the chart, and say where; or print its specification, written only where that was asked."""
    from dpcurator.plots.chart import ending_of

    place = Path(f"{name}.svg") if output is None else output
    ending_of(place)  # before any work
    chart = draw()
    if output is not None or not as_json:
        chart.save(place)
    show_json(chart.spec) if as_json else show(f"wrote {place}")


def _noise(mechanism: str, scales: list[str] | None, sensitivity: str) -> dict[str, Any]:
    """The mechanisms of these scales, by the names of a legend. Raises Refusal for none that is known."""
    from dpcurator.mechanisms import DiscreteGaussian, DiscreteLaplace, Gaussian, Laplace

    def made(scale: Fraction) -> Any:
        match mechanism:
            case "laplace":
                return Laplace.with_scale(scale=scale, sensitivity=sensitivity)
            case "gaussian":
                return Gaussian.with_sigma(sigma=scale, sensitivity=sensitivity)
            case "discrete-laplace":
                return DiscreteLaplace(scale)
            case "discrete-gaussian":
                return DiscreteGaussian(scale**2)
        raise _unknown(mechanism)

    word = "sigma" if mechanism.endswith("gaussian") else "scale"
    wanted = scales or ["1", "2", "4"]
    if len(set(wanted)) < len(wanted):
        raise Refusal("a scale is given twice.", cure="Give each once.")
    return {f"{word} {scale}": made(positive(scale, name="scale")) for scale in wanted}


def _losses(mechanism: str, scales: list[str] | None, sensitivity: str) -> dict[str, Any]:
    """What the noise of each scale reveals: the laws on the real line, or those on the whole numbers."""
    from dpcurator.privacy.loss import Loss

    moved = positive(sensitivity, name="sensitivity")
    found: dict[str, Any] = {}
    for name, noise in _noise(mechanism, scales, sensitivity).items():
        spread = positive(name.split()[1], name="scale")
        if mechanism == "laplace":
            found[name] = Loss("laplace", (("scale", spread), ("shift", moved)))
        elif mechanism == "gaussian":
            found[name] = Loss("gaussian", (("shift", moved), ("variance", spread**2)))
        else:
            found[name] = noise.loss(whole(sensitivity, name="sensitivity", least=1))
    return found


def _unknown(mechanism: str) -> Refusal:
    return Refusal(f"there is no noise {mechanism!r} to draw.", cure=f"Write {_LIST}.")


@command(to=charts, name="law", epilog="Example: dpcurator plot law --mechanism laplace --scale 1 --scale 4 -o law.svg")
def law(
    mechanism: Mechanism = "laplace",
    scale: Scales = None,
    reach: Reach = None,
    output: Output = None,
    as_json: AsJson = False,
) -> None:
    """How likely each amount of noise is."""
    from dpcurator.plots import draw_law

    _finish(lambda: draw_law(_noise(mechanism, scale, "1"), reach=reach), "law", output, as_json)


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
    from dpcurator.plots import draw_loss_by_output

    def draw() -> Any:
        return draw_loss_by_output(_noise(mechanism, scale, sensitivity), shift=sensitivity, reach=reach)

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
    from dpcurator.plots import draw_loss_distribution

    def draw() -> Any:
        (found,) = _losses(mechanism, [scale], sensitivity).values()
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
    from dpcurator.plots import draw_error

    def draw() -> Any:
        names = mechanism or ["laplace", "gaussian"]
        makers = {_words(name, delta): _maker(name, sensitivity, delta) for name in names}
        return draw_error(makers, epsilons=_epsilons(least, most), confidence=confidence)

    _finish(draw, "error", output, as_json)


def _words(mechanism: str, delta: str) -> str:
    words = mechanism.replace("gaussian", "Gaussian").replace("laplace", "Laplace").replace("-", " ")
    return f"{words}, delta {delta}" if "Gaussian" in words else words


def _maker(mechanism: str, sensitivity: str, delta: str) -> Callable[[Fraction], Any]:
    """The noise that an epsilon buys."""
    from dpcurator.mechanisms import DiscreteGaussian, DiscreteLaplace, Gaussian, Laplace

    makers: dict[str, Callable[[Fraction], Any]] = {
        "laplace": lambda eps: Laplace(sensitivity=sensitivity, epsilon=eps),
        "gaussian": lambda eps: Gaussian(sensitivity=sensitivity, epsilon=eps, delta=delta),
        "discrete-laplace": lambda eps: DiscreteLaplace.spending(eps, sensitivity=_whole(sensitivity)),
        "discrete-gaussian": lambda eps: DiscreteGaussian.spending(
            eps, positive(delta, name="delta"), sensitivity=_whole(sensitivity)
        ),
    }
    if mechanism not in makers:
        raise _unknown(mechanism)
    return makers[mechanism]


def _whole(sensitivity: str) -> int:
    return whole(sensitivity, name="sensitivity", least=1)


def _epsilons(least: str, most: str) -> list[Fraction]:
    """About 40 decimals of three figures, the ends among them."""
    from dpcurator.numbers.figures import decimal_at, place_of

    low, high = positive(least, name="--from"), positive(most, name="--to")
    if low >= high:
        raise Refusal("--from must be below --to.", cure="Write them as in --from 0.1 --to 10.")
    first, last = place_of(low, 3), place_of(high, 3)
    inner = {decimal_at(first + (last - first) * part // 40, 3) for part in range(41)}
    return [low, *sorted(eps for eps in inner if low < eps < high), high]


@command(to=charts, name="delta", epilog="Example: dpcurator plot delta --scale 4 --compare textbook --to 2")
def delta(
    mechanism: Mechanism = "gaussian",
    scale: Scales = None,
    sensitivity: Sensitivity = "1",
    most: Annotated[str, typer.Option("--to", help="The greatest epsilon.", metavar="NUMBER")] = "4",
    compare: Annotated[
        list[str] | None,
        typer.Option(help="A bound beside each curve: rho, or textbook (of Gaussian noise). May be repeated.",
                     metavar="BOUND"),
    ] = None,
    output: Output = None,
    as_json: AsJson = False,
) -> None:  # fmt: skip
    """The least delta at each epsilon, on a logarithmic axis."""
    from dpcurator.plots import draw_delta

    def draw() -> Any:
        high, found = positive(most, name="--to"), _losses(mechanism, scale, sensitivity)
        others = {
            f"{name}, {bound}": _bound(bound, mechanism, one) for bound in compare or [] for name, one in found.items()
        }
        return draw_delta(found, epsilons=[high * part / 100 for part in range(101)], others=others)

    _finish(draw, "delta", output, as_json)


def _bound(bound: str, mechanism: str, loss: Any) -> Callable[[Fraction], Enclosure | Fraction | None]:
    """What is often used in place of the exact curve: an upper bound on it, or None where that is not proved."""
    if bound == "rho":
        from dpcurator.privacy.zcdp import delta_of

        rho = loss.rho()
        return lambda eps: delta_of(rho, eps)
    if bound == "textbook" and mechanism.endswith("gaussian"):
        squared = loss["variance"] / loss["shift"] ** 2  # (sigma / sensitivity)**2
        return lambda eps: Fraction(5, 4) * exp_neg(eps**2 * squared / 2) if 0 < eps < 1 else None
    raise Refusal(f"there is no bound {bound!r} of this noise.", cure="Write rho or, of Gaussian noise, textbook.")
