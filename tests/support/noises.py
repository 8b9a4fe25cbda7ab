"""Integers a quote could see and noise within the error boxes, for laws of error bars and finished intervals."""

from __future__ import annotations

import random
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

from questions import seen

from dpcurator.mechanisms import DiscreteGaussian, DiscreteLaplace
from dpcurator.plan.nodes import Output
from dpcurator.plan.stability import CENTRED
from dpcurator.pricing.bars import beta_of
from dpcurator.pricing.quote import Quote
from dpcurator.privacy import zcdp
from dpcurator.release.adding import with_sets
from dpcurator.release.finish import _View

Rows = tuple[tuple[int, ...], ...]


def noise_free(quote: Quote, luck: random.Random, *, least: int = 0) -> Rows:
    """Readings that some table could have: a count n of at least `least`, sums within [L n, U n], |C| <= W n; often
    the least count, and an end of the sums, where error bars are attained."""

    def among(low: int, high: int) -> int:
        return luck.choice((low, high, luck.randint(low, high), luck.randint(low, high)))

    made: list[tuple[int, ...]] = []
    counts: dict[Any, list[int]] = {}
    for one in quote.priced:
        column, steps = None if one.ask.column is None else _rows_of(one.ask.column), one.steps
        keys = range(one.reading.coordinates)
        if column not in counts:
            counts[column] = [luck.choice((least, least + luck.randint(0, 10_000))) * quote.reach.one for _ in keys]
        n = counts[column]
        if one.ask.what == "values":
            made.append(tuple(among(steps.lower * n[k], steps.upper * n[k]) for k in keys))
        elif one.ask.what in CENTRED:
            width = steps.upper - steps.lower
            made.append(tuple(among(-width * n[k], width * n[k]) for k in keys))
        else:
            made.append(tuple(n))
    return tuple(made)


def _rows_of(column: Any) -> Any:
    """What says in which rows it is present: a pair, whichever of the two is named."""
    return column.each[0] if column.beside is not None else column


def shifted(quote: Quote, true: Rows, luck: random.Random, output: Output) -> Rows:
    """The readings with noise as large as the output's error bar allows each of its readings; where totals are shown,
    in one group alone, as the bar of a total is that of a sum of independent draws."""
    beta, one_group = beta_of(quote, output.part), luck.randrange(max(1, len(quote.lowered.keys)))
    return tuple(
        tuple(value + (luck.choice((-most, most, 0, most // 2)) if not quote.plan.sets or at == one_group else 0)
              for at, value in enumerate(values))
        for one, values in zip(quote.priced, true, strict=True)
        for most in (one.mechanism.error(beta),)
    )


def views(quote: Quote, noisy: Rows, output: Output) -> list[Any]:
    """The computed value of one output, per key or total, with its interval."""
    shown = with_sets(quote, seen(quote, noisy))
    view = _View(quote, shown, beta_of(quote, output.part))
    return [view.value(output.part, number) for number in range(len(shown.keys))]


def finished_values(quote: Quote, noisy: Rows, *, shown: bool) -> Sequence[Sequence[Fraction | None]]:
    """Per key and output, the exact value, whole ones rounded when `shown`; None for NULL and what is no number."""
    from dpcurator.numbers.display import round_half_up
    from dpcurator.numbers.interval import Interval

    columns = []
    for output in quote.plan.outputs:
        computed = views(quote, noisy, output)
        plain = [value.value if isinstance(value, Interval) else None for value in computed]
        whole = shown and output.shown == "whole"
        columns.append([Fraction(round_half_up(v)) if whole and v is not None else v for v in plain])
    return list(zip(*columns, strict=True))


def covered(quote: Quote) -> bool:
    """Whether what is charged covers the losses, derived here from scales and sensitivities alone."""
    laplace = [(one, one.mechanism) for one in quote.priced if isinstance(one.mechanism, DiscreteLaplace)]
    gaussian = [(one, one.mechanism) for one in quote.priced if isinstance(one.mechanism, DiscreteGaussian)]
    pure = [Fraction(max(1, one.reading.l1)) / noise.scale for one, noise in laplace]
    rho = sum((Fraction(max(1, one.reading.l2_squared)) / (2 * noise.variance) for one, noise in gaussian), Fraction(0))
    if quote.catalog.currency == "rho":
        return rho + sum(epsilon**2 / 2 for epsilon in pure) <= quote.rho and (quote.epsilon, quote.delta) == (0, 0)
    if not gaussian:
        return sum(pure) <= quote.epsilon and (quote.rho, quote.delta) == (0, 0)
    if zcdp.delta_of(rho, quote.epsilon) <= quote.delta:
        return not laplace and quote.rho == 0
    one, noise = gaussian[0]  # alone, by its own law
    own = noise.loss(one.reading.linf).delta(quote.epsilon).hi
    return len(quote.priced) == 1 == one.reading.coordinates and own <= quote.delta
