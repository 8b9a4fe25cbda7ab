"""One function that draws anything that can be drawn: `dp.plot(thing, kind)`. Checked in tests/plots/test_plot.py.

Charts stand above everything that they draw: no mechanism, loss or audit knows that there are any.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from inspect import signature
from typing import TYPE_CHECKING, Any

from dpcurator.errors import Refusal
from dpcurator.plots import noise_kinds
from dpcurator.plots.answer import draw_answer
from dpcurator.plots.chart import Chart
from dpcurator.plots.delta import draw_delta
from dpcurator.plots.labels import figure
from dpcurator.plots.loss_distribution import draw_loss_distribution
from dpcurator.plots.probabilities import draw_probabilities
from dpcurator.plots.witness import draw_witness

if TYPE_CHECKING:
    from dpcurator.numbers.rational import Spelled

_WORDS = "noise, a choice among candidates, a loss, a composition, an audit's report or an answer"


def plot(
    thing: Any,
    kind: str | None = None,
    *,
    sensitivity: int | None = None,
    data: Any = None,
    candidates: Sequence[object] | None = None,
    epsilons: Iterable[Spelled] | None = None,
    most: Spelled | None = None,
    compare: Iterable[str] | None = None,
    column: str | None = None,
) -> Chart:
    """A chart of noise, a private choice, a privacy loss, a composition, an audit's report or an answer.

    Every number in it comes from the exact distributions, as a float of nine figures; a chart claims nothing. For
    each `thing`, the kinds of chart, the first unless `kind` is given, and which options each takes:

        noise (dp.Laplace, dp.DiscreteGaussian, ...): "law", how likely each amount of noise is; "loss", the privacy
            loss of each output; "distribution", how likely each loss is; "delta" at each epsilon. `sensitivity`: int
            >= 1, of noise for whole numbers, which has none of its own; 1 unless given.
        a choice (dp.Exponential, dp.Quantile, dp.Smooth, ...): "probabilities" of its outcomes for `data`, the private
            scores or records, with names of the `candidates` where these are given. For study, and not for release.
        a dp.Loss: its "distribution"; "delta", at `epsilons` or from 0 to 4.
        a dp.Composition: "delta" between its certified ends up to epsilon `most`, beside the methods of `compare` (as
            "zcdp", "advanced"); the "distribution" of the loss, estimated; the "tradeoff" of a test's two errors.
        a report of dp.audit: "witness", the outcomes on both inputs, with the event that was found.
        an answer of a curator: "answer", the values of `column` with confidence intervals for the noise.

    Returns a Chart: shown by notebooks, saved by `.save("x.svg")` (.png, .html, .json), its Vega-Lite in `.spec`.
    Raises Refusal for another kind or option, and where the distribution is not known.

    >>> import dpcurator as dp
    >>> dp.plot(dp.Laplace(sensitivity=1, epsilon=1))
    <Chart: The law of Laplace noise>
    >>> bars = dp.plot(dp.Exponential(sensitivity=1, epsilon=2), data=[3, 2, 2], candidates=["Leeds", "York", "Hull"])
    >>> [bar["label"] for bar in bars.spec["data"]["values"]]
    ['0.576', '0.212', '0.212']
    """
    options = {
        "sensitivity": sensitivity, "data": data, "candidates": candidates, "epsilons": epsilons, "most": most,
        "compare": compare, "column": column,
    }
    given = {name: value for name, value in options.items() if value is not None}
    kinds = _kinds(thing)
    first = next(iter(kinds))
    wanted = first if kind is None else kind
    if not isinstance(wanted, str) or wanted not in kinds:
        raise Refusal(f"A plot of this is one of {', '.join(kinds)}.", cure=f'Write dp.plot(..., "{first}").')
    for name in given:
        if name not in _options(kinds[wanted]):
            others = [other for other, draw in kinds.items() if name in _options(draw)]
            cure = f'Write dp.plot(..., "{others[0]}").' if others else f"Leave {name} out."
            raise Refusal(f"A plot of this that is called {wanted} takes no {name}.", cure=cure)
    return kinds[wanted](**given)


def _options(draw: Callable[..., Chart]) -> set[str]:
    return {name for name, one in signature(draw).parameters.items() if one.kind is one.KEYWORD_ONLY}


def _kinds(thing: Any) -> Mapping[str, Callable[..., Chart]]:
    """The kinds of chart there are of it, each with the function that draws it; the first is drawn by itself."""
    from dpcurator.accounting.composition import Composition
    from dpcurator.auditing.report import Report
    from dpcurator.mechanisms import row_of
    from dpcurator.privacy.loss import Loss
    from dpcurator.release.answer import Answer

    row = row_of(thing)
    if row is not None and row.outcomes == "whole noise":
        return {kind: partial(_whole_noise, thing, kind) for kind in noise_kinds.KINDS}
    if row is not None and row.outcomes == "grid noise":
        return {kind: partial(_grid_noise, thing, kind) for kind in noise_kinds.KINDS}
    if row is not None and row.outcomes == "listed":
        return {"probabilities": partial(_choice, thing)}
    if isinstance(thing, Loss):
        return {"distribution": partial(draw_loss_distribution, thing), "delta": partial(_delta, thing)}
    if isinstance(thing, Composition):
        from dpcurator.plots import composition

        return composition.kinds(thing)
    if isinstance(thing, Report):
        return {"witness": partial(_witness, thing)}
    if isinstance(thing, Answer):
        return {"answer": partial(draw_answer, thing)}
    raise Refusal(f"There is no chart of a {type(thing).__name__}.", cure=f"Draw {_WORDS}.")


def _whole_noise(noise: Any, kind: str, *, sensitivity: int = 1) -> Chart:
    return noise_kinds.draw_noise(kind, noise, loss=noise.loss(sensitivity), shift=sensitivity)


def _grid_noise(noise: Any, kind: str) -> Chart:
    return noise_kinds.draw_noise(kind, noise, loss=noise.loss, shift=noise.sensitivity)


def _choice(made: Any, *, data: Any = None, candidates: Sequence[object] | None = None) -> Chart:
    if data is None:
        raise Refusal("The probabilities of a choice follow from its data.", cure="Write dp.plot(..., data=[3, 2, 2]).")
    found = made.probabilities(data)
    if isinstance(found, Mapping):
        names = [_outcome(one) for one in found] if candidates is None else candidates
        return draw_probabilities(list(found.values()), candidates=names)
    return draw_probabilities(found, candidates=candidates)


def _outcome(one: Any) -> str:
    """As people write it: an order of candidates, answers above or below, a value of a grid, or none."""
    if isinstance(one, tuple):
        return ", ".join({True: "above", False: "below"}[part] if isinstance(part, bool) else str(part) for part in one)
    return "no answer" if one is None else figure(one)


def _delta(loss: Any, *, epsilons: Iterable[Spelled] = ()) -> Chart:
    return draw_delta({loss.family: loss}, epsilons=epsilons)


def _witness(report: Any) -> Chart:
    if report.picture is None or report.best is None:
        raise Refusal("No event to draw.", cure="An audit that looked at draws or exact distributions has one.")
    return draw_witness(report.picture, event=report.best.event, verdict=report.verdict)
