"""A quote: what a question costs at a price, which noise it would get, and why. Pure and free (DESIGN 2).

A price is a multiple of `PRICE_UNIT`, rounded down to it (0.1 and 1/11 are such multiples, exactly): however many odd
fractions are charged, their sum keeps a short denominator, so the ledger's exact amounts cannot be made to grow.

The price is split equally over the question's distinct readings: for Laplace noise a reading's error bar divided by
its own range B is l0/eps_i times a constant, so the equal split makes the largest of these least (MEANING 5.1). Splits
are exact and sum to the whole; each reading's noise is discrete Laplace with scale l1/eps_i, whose loss is eps_i
exactly, and losses add (basic composition, valid when the analyst adapts). Nothing here can reach an engine: this room
imports none, and a test holds that. Checked in tests/pricing/test_quote.py.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from dpcurator.aggregates import rule_of
from dpcurator.catalog.model import Catalog
from dpcurator.errors import Refusal
from dpcurator.mechanisms import DiscreteLaplace
from dpcurator.numbers import decimal_text
from dpcurator.plan.canonical import as_json, digest
from dpcurator.plan.core import Grid
from dpcurator.plan.lower import Lowered, lower
from dpcurator.plan.nodes import Ask, Measured, Plan
from dpcurator.plan.stability import Reach, Steps, derivation, reading, stability
from dpcurator.pricing.grids import grid, steps
from dpcurator.privacy.reading import Reading

SUMMED = ("values", "centred")
CONFIDENCE = Fraction(95, 100)  # of the error bars, unless asked otherwise
PRICE_UNIT = Fraction(1, 10**30 * math.lcm(*range(1, 101)))


@dataclass(frozen=True, slots=True)
class Priced:
    """One paid reading: what is asked, how far a unit moves it and why, and the noise that buys."""

    ask: Ask
    steps: Steps  # the grid of the ask's column; all zero for a count
    reading: Reading
    derivation: tuple[str, ...]
    mechanism: DiscreteLaplace
    epsilon: Fraction

    def error(self, beta: Fraction) -> Fraction:
        """The noise passes this with probability at most beta, in the query's unit."""
        return self.mechanism.error(beta) * self.reading.unit


@dataclass(frozen=True, slots=True)
class Quote:
    """A plan at a price. `epsilon` is 0 when every value is public: then nothing is read and nothing charged."""

    plan: Plan
    reach: Reach
    priced: tuple[Priced, ...]
    lowered: Lowered
    epsilon: Fraction
    delta: Fraction
    confidence: Fraction
    catalog: Catalog

    @property
    def plan_digest(self) -> str:
        return digest(self.plan)

    def parameters(self) -> dict[str, Any]:
        """Everything besides plan, catalog and data that shapes the answer, for the ledger and the receipt."""
        return {
            "epsilon": str(self.epsilon),
            "delta": str(self.delta),
            "confidence": str(self.confidence),
            "mechanisms": [mechanism_json(one) for one in self.priced],
        }

    def as_json(self) -> dict[str, Any]:
        """The quote for machines; holds public facts only."""
        from dpcurator.pricing.bars import bars

        return {
            "epsilon": decimal_text(self.epsilon),
            "delta": decimal_text(self.delta),
            "confidence": decimal_text(self.confidence),
            "readings": [_reading_json(one, self.confidence) for one in self.priced],
            "error_bars": [bar.as_json() for bar in bars(self)],
            "keys": len(self.lowered.keys),
            "plan": as_json(self.plan),
        }


def mechanism_json(one: Priced) -> dict[str, Any]:
    """One paid reading, as the ledger's parameters and the receipt hold it."""
    return {
        "ask": as_json(one.ask),
        "grid": {"lower": one.steps.lower, "upper": one.steps.upper, "exponent": one.steps.exponent},
        "mechanism": "discrete_laplace",
        "scale": str(one.mechanism.scale),
        "epsilon": str(one.epsilon),
        "coordinates": one.reading.coordinates,
        "linf": one.reading.linf,
        "l1": one.reading.l1,
        "l2_squared": one.reading.l2_squared,
        "unit": str(one.reading.unit),
    }


def _reading_json(one: Priced, confidence: Fraction) -> dict[str, Any]:
    return mechanism_json(one) | {
        "sensitivity": decimal_text(one.reading.l1 * one.reading.unit),
        "noise_scale": decimal_text(one.mechanism.scale * one.reading.unit),
        "error": decimal_text(one.error(1 - confidence)),
        "derivation": list(one.derivation),
    }


def asks_of(plan: Plan) -> tuple[Ask, ...]:
    """The distinct readings of a plan, in order of first use: the same one twice is computed and paid once."""
    return tuple(dict.fromkeys(ask for call in plan.calls for ask in rule_of(call).asks(call.column)))


def price(plan: Plan, epsilon: Fraction, catalog: Catalog, *, confidence: Fraction = CONFIDENCE) -> Quote:
    """The plan at this price. epsilon: Fraction > 0, for the whole question. Raises Refusal."""
    if catalog.neighbours != "add-remove":
        raise Refusal(
            f"neighbours = {catalog.neighbours!r} is not available: sensitivities are of add-remove.",
            cure='The steward writes neighbours = "add-remove" in the catalog.',
        )
    if not 0 < confidence < 1:
        raise Refusal("confidence must be above 0 and below 1.", cure="Write it as in 0.95.")
    grids, priced = priced_at(plan, epsilon)
    lowered = lower(plan, tuple(one.ask for one in priced), grids, catalog)
    cost = sum((one.epsilon for one in priced), Fraction(0))
    return Quote(plan, stability(plan.source), priced, lowered, cost, Fraction(0), confidence, catalog)


def priced_at(plan: Plan, epsilon: Fraction) -> tuple[dict[Measured, Grid], tuple[Priced, ...]]:
    """The grids and paid readings of a plan at a price: a function of these two alone. Raises Refusal."""
    epsilon = charged(epsilon)
    reach = stability(plan.source)
    asks = asks_of(plan) if plan.source.source.keys else ()
    share = epsilon / len(asks) if asks else Fraction(0)
    grids = _grids(asks, reach, share, plan.source.max_rows)
    priced: list[Priced] = []
    for ask in asks:
        measured = _steps(ask, grids)
        found = reading(ask, reach, measured)
        # a column may be constant on its grid: then 0 is noised as if it could move by 1 (MEANING 3)
        mechanism = DiscreteLaplace.spending(share, sensitivity=max(1, found.l1))
        priced.append(Priced(ask, measured, found, derivation(ask, reach, found), mechanism, share))
    return grids, tuple(priced)


def charged(epsilon: Fraction) -> Fraction:
    """The price that is charged when `epsilon` is asked for. Raises Refusal when that is nothing."""
    if epsilon <= 0:
        raise Refusal(f"epsilon must be above 0, not {decimal_text(epsilon)}.", cure="Write it as in 0.1.")
    units = math.floor(epsilon / PRICE_UNIT)
    if units == 0:
        raise Refusal(f"epsilon {decimal_text(epsilon)} is too small to be charged.", cure="Write it as in 0.1.")
    return units * PRICE_UNIT


def for_bars(quote: Quote, epsilon: Fraction) -> Quote:
    """The quote at another price, for its error bars only: `lowered` is not made again, which many keys make slow."""
    priced = priced_at(quote.plan, epsilon)[1]
    return replace(quote, priced=priced, epsilon=sum((one.epsilon for one in priced), Fraction(0)))


def _steps(ask: Ask, grids: dict[Measured, Grid]) -> Steps:
    return steps(grids[ask.column]) if ask.column is not None and ask.what in SUMMED else Steps()


def _grids(asks: tuple[Ask, ...], reach: Reach, share: Fraction, max_rows: int) -> dict[Measured, Grid]:
    """One grid per summed column, from the scales its readings will have."""
    scales: dict[Measured, list[Fraction]] = {}
    for ask in asks:
        column = ask.column
        if column is None or ask.what not in SUMMED or column.lower is None or column.upper is None:
            continue
        most = max(abs(column.lower), abs(column.upper)) if ask.what == "values" else column.upper - column.lower
        groups = min(reach.groups or 1, reach.keys)
        scales.setdefault(column, []).append(groups * max_rows * most / share)
    return {column: grid(column, found, max_rows) for column, found in scales.items()}
