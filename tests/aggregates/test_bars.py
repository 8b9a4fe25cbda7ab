"""H2: every aggregate owns its error bar, and the bar covers what the noise does to the value and to its interval.

A new entry of AGGREGATES is in these questions without a word here: they are made of all entries.
"""

from __future__ import annotations

import random
from dataclasses import replace
from fractions import Fraction as F
from itertools import product

import pytest
from noises import finished_values, noise_free, shifted, views
from power import Run
from questions import VISITS, catalog_with, drawn, quoted

import dpcurator.aggregates as room
from dpcurator.aggregates import AGGREGATES, Aggregate
from dpcurator.aggregates.average import AVERAGE
from dpcurator.catalog.model import EACH_ROW, Catalog, Column, Table
from dpcurator.numbers.interval import Interval
from dpcurator.plan.nodes import SUMMED
from dpcurator.plan.stability import CENTRED
from dpcurator.pricing.bars import bars, beta_of
from dpcurator.release.cells import shown_cell

PEOPLE = Table(
    "people",
    (Column("w", "float", F(30), F(150), missing=30.0), Column("v", "integer", F(-5), F(9)),
     Column("g", "text", keys=("a", "b"))),
    EACH_ROW,
)
CATALOGS = (
    catalog_with(VISITS, PEOPLE), replace(catalog_with(VISITS, PEOPLE), neighbours="replace-one", units=700),
)
MEASURED = [rule for rule in AGGREGATES if not rule.ranked and not rule.names]  # of quantiles and of names:
# tests/curator/test_quantiles.py, tests/mechanisms/test_top_counts.py


def hold(text: str, catalog: Catalog, epsilon: F, rows: int, luck: random.Random) -> int:
    """Check both laws for one question; the number of bars that were checked."""
    quote = quoted(text, epsilon, catalog)
    checked = 0
    each = {bar.title: bar for bar in bars(quote, rows)}
    for output in quote.plan.outputs:
        bar = each.get(output.title)
        if bar is None or bar.error is None:
            continue
        checked += 1
        number = quote.plan.outputs.index(output)
        true = noise_free(quote, luck, least=rows)
        exact = finished_values(quote, true, shown=False)
        told = finished_values(quote, shifted(quote, true, luck, output), shown=True)
        for one, other in zip(exact, told, strict=True):
            if one[number] is not None and other[number] is not None:
                assert abs(one[number] - other[number]) <= bar.error, "noise moves the value further than the bar"
        seen = tuple(  # noisy readings, whose counts are at least `rows`: sums may be anything
            tuple(value * luck.choice((1, 1, 0, -3)) if one.ask.what in SUMMED else value
                  for value in values)
            for one, values in zip(quote.priced, noise_free(quote, luck, least=rows), strict=True)
        )
        for value, plain in zip(views(quote, shifted(quote, true, luck, output), output), exact, strict=True):
            if isinstance(value, Interval) and value.value is not None and plain[number] is not None:
                assert value.low is None or value.low <= plain[number] or output.shown == "whole"
                assert value.high is None or value.high >= plain[number] or output.shown == "whole"
        for value in views(quote, seen, output):
            if isinstance(value, Interval) and value.value is not None:
                assert value.error() is not None, "a bar, and no interval"
                assert value.error() <= bar.error, "half the interval is wider than the bar"
                shown = shown_cell(output, value).error
                assert shown <= float(bar.error) * (1 + 1e-9) + 1e-9 * (1 + abs(float(value.value)))
    return checked


def test_h2_the_quoted_bar_covers_the_noise_and_the_finished_interval(tries):
    checked = 0
    for seed in range(tries):
        luck = random.Random(seed)
        catalog, epsilon, rows = luck.choice(CATALOGS), luck.choice((F(1, 3), F(20))), luck.choice((1, 50, 10**4))
        checked += hold(drawn(seed, catalog), catalog, epsilon, rows, luck)
    assert checked > tries / 2


def at_the_corners(rule: Aggregate, catalog: Catalog, rows: int) -> None:
    """Of a group of so many rows, with sums at an end and noise at its errors: the value moves by at most the bar, and
    by a quarter of it somewhere; and so does half the interval where the noisy count is as large."""
    column = {"star": "*", "unit": "DISTINCT patient", "pair": "cost, age"}.get(rule.argument, "cost")
    quote = quoted(f"SELECT {rule.function}({column}) FROM visits", 1, catalog)
    (bar,), (output,) = bars(quote, rows), quote.plan.outputs
    if bar.error is None:  # its readings are divided by a variance
        assert rule.function in ("CORR", "REGR_SLOPE", "REGR_INTERCEPT", "REGR_R2")
        return
    beta, count = beta_of(quote, output.part), rows * quote.reach.one
    ends = {"values": lambda one: (one.lower, one.upper),
            **dict.fromkeys(CENTRED, lambda one: (one.lower - one.upper, 0, one.upper - one.lower))}
    moved = []
    each = [ends[one.ask.what](one.steps) if one.ask.what in ends else (1,) for one in quote.priced]
    for sums in product(*each):
        true = [count * one for one in sums]
        for signs in product((-1, 0, 1) if Run.whole else (-1, 1), repeat=len(true)):
            noise = [sign * one.mechanism.error(beta) for sign, one in zip(signs, quote.priced, strict=True)]
            noisy = tuple((value + more,) for value, more in zip(true, noise, strict=True))
            (exact,), (told,) = (views(quote, seen, output) for seen in (tuple((one,) for one in true), noisy))
            moved.append(abs(exact.value - told.value))
            if all(sign >= 0 or one.ask.what in ends for sign, one in zip(signs, quote.priced, strict=True)):
                assert told.error() <= bar.error, "the bar is narrower than half the interval"
    assert max(moved) <= bar.error, "the bar is narrower than the noise"
    assert bar.error <= 4 * max(moved), "the bar is far wider than the noise"


@pytest.mark.parametrize("rows", [7, 10**4])
@pytest.mark.parametrize("catalog", CATALOGS, ids=lambda catalog: catalog.neighbours)
@pytest.mark.parametrize("rule", MEASURED, ids=lambda rule: f"{rule.function}-{rule.argument}")
def test_h2_each_aggregate_alone_has_a_bar_that_covers_and_is_attained(rule, catalog, rows):
    at_the_corners(rule, catalog, rows)


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        (lambda errors, *more: sum(errors, F(0)), "far wider than the noise"),
        (lambda *given: AVERAGE.bar(*given) and AVERAGE.bar(*given) / 3, "narrower than half the interval"),
    ],
)
def test_h2_a_wrong_bar_fails_the_law(wrong, words, monkeypatch):
    """The sum of the readings' errors was the bar of whatever was not called AVG: for an average of 10,000 rows it is
    20,000 times too wide. A third of the right bar is too narrow."""
    rules = tuple(replace(rule, bar=wrong) if rule is AVERAGE else rule for rule in AGGREGATES)
    monkeypatch.setattr(room, "AGGREGATES", rules)
    with pytest.raises(AssertionError, match=words):
        at_the_corners(AVERAGE, CATALOGS[0], 10**4)


def test_h2_an_aggregate_without_a_bar_cannot_be_made():
    known = {name: getattr(AGGREGATES[0], name) for name in AGGREGATES[0].__slots__}
    assert Aggregate(**known) == AGGREGATES[0]
    for name in ("bar", "beside_bar"):
        with pytest.raises(TypeError, match=name):
            Aggregate(**{other: value for other, value in known.items() if other != name})
