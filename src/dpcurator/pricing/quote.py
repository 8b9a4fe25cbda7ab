"""A quote: what a question costs at a price, which noise it would get, and why. Pure and free (design 2).

The price is shared among the question's distinct readings, and the selection of its keys when nobody listed them
(`noise.py`, `selecting.py`); each reading is measured on a grid that follows from its noise (`grids.py`). Losses add up
whatever the analyst asks next: basic composition in an (epsilon, delta) ledger, sums of rho in the other. What is not
needed of a price's delta is not charged. Nothing here can reach an engine: this room imports none, and a test holds
that. Checked in tests/pricing/test_quote.py.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final

from dpcurator.catalog.model import Catalog
from dpcurator.errors import Refusal
from dpcurator.mechanisms import DiscreteGaussian, DiscreteLaplace
from dpcurator.mechanisms.choice.top_counts import TopCounts
from dpcurator.mechanisms.choice.weighted_quantile import WeightedQuantile
from dpcurator.numbers import decimal_text
from dpcurator.numbers.rational import between_0_and_1
from dpcurator.numbers.readable import cut, readable
from dpcurator.numbers.roots import root_above, root_below, ten_to_figures
from dpcurator.numbers.text_table import pre_html, printable
from dpcurator.plan.candidates import candidates
from dpcurator.plan.canonical import as_json, digest
from dpcurator.plan.lower import Grids, Lowered, lower
from dpcurator.plan.nodes import Ask, Measured, Plan
from dpcurator.plan.reading import Reading
from dpcurator.plan.relation_facts import rows_known
from dpcurator.plan.stability import CENTRED, Reach, Steps, derivation, reading
from dpcurator.pricing.bars import bars
from dpcurator.pricing.cut import Told, part_of_cut, reason, share_of_cut, without_cut
from dpcurator.pricing.grids import grids_of, steps
from dpcurator.pricing.noise import (
    NAMES,
    OF_SELECTION,
    Mechanism,
    Noise,
    SelectionNoise,
    Shares,
    Split,
    longest,
    noise_for,
    quick_longest,
    splits,
)
from dpcurator.pricing.prices import Price, amount_of, pure_epsilon
from dpcurator.pricing.resolve import PricedCall, Resolved, resolve
from dpcurator.pricing.selecting import Selecting, selecting

if TYPE_CHECKING:
    from dpcurator.pricing.held import Held

CONFIDENCE = Fraction(95, 100)  # of the error bars, unless asked otherwise
CLEAR: Final = 1.2  # of two lengths that are each known to within a twentieth


@dataclass(frozen=True, slots=True)
class Priced:
    """One paid reading: what is asked, how far a unit moves it and why, and the noise that buys.

    epsilon: its pure loss in an epsilon ledger, 0 for Gaussian noise. rho: its share of zCDP, 0 where it has none.
    """

    ask: Ask
    steps: Steps  # the grid of the ask's column; all zero for a count
    reading: Reading
    derivation: tuple[str, ...]
    mechanism: Mechanism
    epsilon: Fraction
    rho: Fraction = Fraction(0)

    __repr__ = readable

    def error(self, beta: Fraction, *, added: int = 1) -> Fraction:
        """The noise passes this with probability at most beta, in the query's unit; the sum of so many draws does."""
        if added == 1:
            return self.mechanism.error(beta) * self.reading.unit
        from dpcurator.mechanisms.noise.sums import error_of_sum

        return error_of_sum(law_of(self), added, beta) * self.reading.unit


@dataclass(frozen=True, slots=True)
class Quote:
    """A quote: what a question costs at a price, which noise it would get, and how wrong it might be. Free.

    Make one with `curator.quote`, pay it with `curator.answer`. `epsilon`, `rho` and `delta` are what it is charged;
    `price` is what was offered. All are 0 and `price` is None when every value is public: then nothing is read and
    nothing charged. `priced`: each noisy query with its sensitivity and its mechanism. `calls`: which of these each
    aggregate call rests on. Raises Refusal if a question cannot be answered.

    >>> import dpcurator as dp
    >>> catalog = {
    ...     "curator": {"protects": "patients"}, "ledger": {"epsilon": 4},
    ...     "tables": {"visits": {"unit": "who", "max_total": 5, "columns": {
    ...         "who": "text", "city": {"type": "text", "keys": ["Leeds", "York"]},
    ...         "age": {"type": "integer", "bounds": [0, 110]}}}},
    ... }
    >>> quote = dp.rehearsing(catalog).quote("SELECT COUNT(*) AS n FROM visits", epsilon="0.5")
    >>> float(quote.priced[0].reading.l1 * quote.priced[0].reading.unit)  # the sensitivity: five rows of one patient
    5.0
    """

    plan: Plan
    reach: Reach
    priced: tuple[Priced, ...]
    calls: tuple[PricedCall, ...]
    lowered: Lowered
    price: Price | None
    epsilon: Fraction
    rho: Fraction
    delta: Fraction
    confidence: Fraction
    catalog: Catalog
    selecting: Selecting | None = None
    held: Held | None = None  # what of it the ledger holds already: then the amounts are those of the rest
    assumed: tuple[str, ...] = field(default=(), compare=False)  # in words, what the targets rest on

    def __repr__(self) -> str:
        if self.free:
            return "Quote(free: every value is public)"
        paid = ["paid before: free"] if self.held is not None and self.held.all else self._charged()
        text = ", ".join([*paid, *(f"{title}: {bar}" for title, bar in self._bars())])
        return cut(f"Quote({text})")

    def __str__(self) -> str:
        """The price, then the error bar of each column."""
        if self.free:
            told = [f"caution: {words}" for words in self.cautions()]
            return "\n".join(["free: every value is public, no private data would be read", *told])
        percent = decimal_text(self.confidence * 100)
        bars = [f"  {title}: {bar}" for title, bar in self._bars()]
        price = f"price: {' and '.join(self._charged())}, of a budget of {decimal_text(self.catalog.budget)}"
        price += f" ({self.paid_before()})" if self.held is not None else ""
        told = [f"  {printable(str(self.cut))}"] if self.cut is not None else []
        told += [words for words in (self.named,) if words]
        told += [*self.assumed, *(f"caution: {words}" for words in self.cautions())]
        return "\n".join([price, f"error bars, with {percent} % confidence for each value:", *bars, *told])

    def cautions(self) -> tuple[str, ...]:
        """What is likely a mistake in the question, from public facts alone."""
        from dpcurator.pricing.bars import bars, describe
        from dpcurator.pricing.cautions import averaged, cautions, counted

        if self.free:
            return cautions(self.plan, self.catalog, None, ())
        titles = counted(self.plan)
        counts = [(bar.title, describe(bar), bar.error) for bar in bars(self)
                  if bar.title in titles and bar.error is not None and bar.rows is None]
        means, rows = averaged(self.plan), rows_known(self.plan, self.catalog)
        found = bars(self, rows or 10_000) if means else ()
        averages = [(bar.title, describe(bar), bar.error) for bar in found if bar.title in means and bar.error]
        return cautions(self.plan, self.catalog, self.selecting, counts, averages)

    def _repr_html_(self) -> str:
        return pre_html(str(self))

    def _charged(self) -> list[str]:
        delta = [f"delta {decimal_text(self.delta)}"] if self.delta else []
        return [f"{self.catalog.currency} {decimal_text(self.cost)}", *delta]

    def _bars(self) -> list[tuple[str, str]]:
        from dpcurator.pricing.bars import bars, describe

        return [(printable(bar.title), describe(bar)) for bar in bars(self)]

    @property
    def cut(self) -> Told | None:
        """What it buys of how many units are cut, and for how much; None where nothing."""
        cut = [(place, one) for place, one in enumerate(self.priced) if one.ask.overall]
        if not cut:
            return None
        errors = tuple(one.error(1 - self.confidence) for _, one in cut)
        before = () if self.held is None else self.held.readings
        paid = [one.epsilon + one.rho for place, one in cut if not before or before[place] is None]
        why = reason(cut[0][1].ask, self.plan)
        return Told(errors, sum(paid, Fraction(0)), self.catalog.protects, why, self.catalog.currency)

    @property
    def named(self) -> str | None:
        """How the names of the most frequent are found, and why so; None where none are asked for."""
        from dpcurator.pricing.bars import told_of_names

        return told_of_names(self)

    def paid_before(self) -> str:
        """Which of its noisy queries earlier charges paid, in words."""
        readings = () if self.held is None else self.held.readings
        count = sum(one is not None for one in readings)
        if count == len(readings):
            return "all of it was paid before: the answer is free"
        was = "was paid before, and costs" if count == 1 else "were paid before, and cost"
        return f"{count} of its {len(readings)} noisy queries {was} nothing"

    @property
    def plan_digest(self) -> str:
        return digest(self.plan)

    @property
    def with_keys(self) -> int | None:
        """Which reading is drawn with the selection of keys, if any."""
        return next((n for n, one in enumerate(self.priced) if isinstance(one.mechanism, SelectionNoise)), None)

    @property
    def free(self) -> bool:
        """Whether every value is public."""
        return not self.priced and self.selecting is None

    @property
    def cost(self) -> Fraction:
        """What is charged in the ledger's currency."""
        return self.rho if self.catalog.currency == "rho" else self.epsilon

    def parameters(self) -> dict[str, Any]:
        """Everything besides plan, catalog and data that shapes the answer, for the ledger and the receipt.

        Of the whole question, whatever of it was paid before."""
        if self.held is not None:
            return self.held.whole.parameters()
        return {
            "price": None if self.price is None else self.price.as_json(),
            "epsilon": str(self.epsilon),
            "rho": str(self.rho),
            "delta": str(self.delta),
            "confidence": str(self.confidence),
            "selection": None if self.selecting is None else self.selecting.as_json(),
            "mechanisms": [mechanism_json(one) for one in self.priced],
        }

    def as_json(self) -> dict[str, Any]:
        """The quote for machines; holds public facts only."""
        selection = self.selecting and self.selecting.as_json() | {
            "words": self.selecting.told(),
            "chances": [[n, decimal_text(chance)] for n, chance in self.selecting.chances()],
            "sizes": dict(zip(("0.5", "0.95"), self.selecting.sizes(), strict=True)),
        }
        return {
            "currency": self.catalog.currency,
            "epsilon": decimal_text(self.epsilon),
            "rho": decimal_text(self.rho),
            "delta": decimal_text(self.delta),
            "confidence": decimal_text(self.confidence),
            "selection": selection,
            "readings": [_reading_json(one, self.confidence) for one in self.priced],
            "error_bars": [bar.as_json() for bar in bars(self)],
            "assumed": list(self.assumed),
            "cautions": list(self.cautions()),
            "cut": None if self.cut is None else self.cut.as_json(),
            "keys": None if self.reach.chosen else len(self.lowered.keys),
            "paid_before": None if self.held is None else self.held.as_json(),
            "plan": as_json(self.plan),
        } | ({} if self.named is None else {"named": self.named})


def mechanism_json(one: Priced) -> dict[str, Any]:
    """One paid reading, as the ledger's parameters and the receipt hold it."""
    noise = law_of(one)
    scale = (
        {"scale": str(noise.scale)} if isinstance(noise, DiscreteLaplace)
        else {"variance": str(noise.variance)} if isinstance(noise, DiscreteGaussian)
        else {"rate": str(noise.rate), "candidates": noise.candidates}
    )
    return {
        "ask": as_json(one.ask),
        "grid": {"lower": one.steps.lower, "upper": one.steps.upper, "exponent": one.steps.exponent},
        "mechanism": mechanism_name(one.mechanism),
        "epsilon": str(one.epsilon),
        "rho": str(one.rho),
        "coordinates": one.reading.coordinates,
        "linf": one.reading.linf,
        "l1": one.reading.l1,
        "l2_squared": one.reading.l2_squared,
        "unit": str(one.reading.unit),
    } | scale


def law_of(one: Priced) -> DiscreteLaplace | DiscreteGaussian | WeightedQuantile | TopCounts:
    """Its noise, or that of the selection that it is drawn with, which is of a number of units."""
    return one.mechanism.noise if isinstance(one.mechanism, SelectionNoise) else one.mechanism


def mechanism_name(mechanism: Mechanism) -> str:
    """As receipts have it: of a count that is drawn with the selection of keys, the name of that rule."""
    if not isinstance(mechanism, SelectionNoise):
        return NAMES[type(mechanism)]
    return next(rule for rule, noise in OF_SELECTION.items() if noise == NAMES[type(mechanism.noise)])


def _reading_json(one: Priced, confidence: Fraction) -> dict[str, Any]:
    return mechanism_json(one) | {
        "sensitivity": decimal_text(one.reading.l1 * one.reading.unit),
        "noise_scale": decimal_text(typical(one)),
        "error": decimal_text(one.error(1 - confidence)),
        "derivation": list(one.derivation),
    }


def typical(one: Priced) -> Fraction:
    """The noise's scale in the query's unit, for people: Laplace's b, sigma to 18 figures, or of a choice the rows
    by which a candidate misses more for being e times less likely."""
    noise, unit = law_of(one), one.reading.unit
    unit = unit * one.mechanism.one if isinstance(one.mechanism, SelectionNoise) else unit
    if isinstance(noise, DiscreteLaplace):
        return noise.scale * unit
    if isinstance(noise, WeightedQuantile | TopCounts):
        return unit / noise.rate
    variance = noise.variance * unit**2
    return root_below(variance, ten_to_figures(variance, 18))


def price(
    plan: Plan, asked: Price | Fraction, catalog: Catalog, *, confidence: Fraction = CONFIDENCE,
    resolved: Resolved | None = None,
) -> Quote:
    """The plan at this price; a number is an amount of the ledger's currency, for all of it. Raises Refusal.

    resolved: its readings, where they are those of an earlier version."""
    between_0_and_1(confidence, name="confidence", like="0.95")
    offered = asked if isinstance(asked, Price) else amount_of(catalog, asked)
    if offered.currency != catalog.currency:
        raise Refusal(f"this ledger counts in {catalog.currency}, not {offered.currency}.")
    found = priced_at(plan, resolved or resolve(plan), offered)
    lowered = lower(plan, tuple(one.ask for one in found.priced), found.grids, catalog)
    return _quote(plan, found, lowered, offered, confidence, catalog)


def for_bars(
    quote: Quote, asked: Price | Fraction, *, plan: Plan | None = None, resolved: Resolved | None = None
) -> Quote:
    """The quote at another price, or of another plan that rests on `resolved`, for its error bars only: `lowered` is
    not made again, which many keys make slow."""
    offered = asked if isinstance(asked, Price) else amount_of(quote.catalog, asked)
    of = plan or quote.plan
    found = priced_at(of, resolved or resolved_of(quote), offered)
    return _quote(of, found, quote.lowered, offered, quote.confidence, quote.catalog)


def resolved_of(quote: Quote) -> Resolved:
    """What the quote's plan rests on."""
    return Resolved(quote.reach, tuple(one.ask for one in quote.priced), quote.calls, quote.with_keys)


@dataclass(frozen=True, slots=True)
class Found:
    """What a plan gets at a price: its grids, paid readings and selection, and what they cost."""

    resolved: Resolved
    grids: Grids
    priced: tuple[Priced, ...]
    selecting: Selecting | None
    epsilon: Fraction
    rho: Fraction
    delta: Fraction


def _quote(plan: Plan, found: Found, lowered: Lowered, offered: Price, confidence: Fraction, catalog: Catalog) -> Quote:
    free = not found.priced and found.selecting is None
    costs = (found.epsilon, found.rho, found.delta)
    price = None if free else offered
    reach, calls = found.resolved.reach, found.resolved.calls
    return Quote(plan, reach, found.priced, calls, lowered, price, *costs, confidence, catalog, found.selecting)


def priced_at(plan: Plan, resolved: Resolved, offered: Price) -> Found:
    """What the plan, which rests on these readings, gets at this price: a function of the plan and the price alone.
    Raises Refusal."""
    reach, asks = resolved.reach, resolved.asks
    cut = tuple(ask for ask in asks if ask.overall)
    if cut:
        return _with_cut(plan, resolved, cut, offered)
    if reach.chosen and not offered.delta:
        selecting(reach, epsilon=offered.amount, rho=offered.amount, delta=Fraction(0))  # says that it needs one
    if offered.goals and len(offered.goals) != len(asks):
        raise ValueError("a price with goals has one for each reading")
    ideal = tuple(at_no_price(ask, reach, plan.source.max_rows)[1] for ask in asks)
    own = replace(offered, goals=resolved.without_keys(offered.goals))
    ways = [_with_noise(plan, resolved, shares, split)
            for shares, split in splits(own, resolved.without_keys(ideal), chosen=reach.chosen)]
    if not ways:
        return Found(resolved, {}, (), None, Fraction(0), Fraction(0), Fraction(0))
    return _shortest(ways, offered)


def _shortest(ways: Sequence[Found], offered: Price) -> Found:
    """The way whose largest error bar beside its goal or its range is least, the first of equal ones. Formulas tell
    where that is clear; the distributions themselves decide the rest."""
    if len(ways) == 1:
        return ways[0]
    given = [(tuple(Noise(one.mechanism, one.epsilon, one.rho) for one in found.priced),
              tuple(one.reading for one in found.priced), offered.goals) for found in ways]
    about = [quick_longest(*one) for one in given]
    known = [one for one in about if one is not None]
    if len(known) == len(ways) and sorted(known)[1] > CLEAR * min(known):
        return ways[known.index(min(known))]
    lengths = [longest(*one) for one in given]
    return ways[lengths.index(min(lengths))]


@lru_cache(maxsize=256)  # the split of a price and its noise ask for the same
def at_no_price(ask: Ask, reach: Reach, max_rows: int) -> tuple[Steps, Reading]:
    """How far one unit moves a reading, on a grid that rests on its column's bounds alone: its noise has a grid of its
    own, and the shares of a price cannot wait for it."""
    measured = _steps(ask, grids_of((ask,), {}, max_rows))
    return measured, reading(ask, reach, measured)


def _with_cut(plan: Plan, resolved: Resolved, cut: tuple[Ask, ...], offered: Price) -> Found:
    """The question at what the cut's readings leave of the price, and these at their part of it. In a ledger of epsilon
    they have Laplace noise, whose loss adds to the others' whichever noise these have (basic composition)."""
    reach, others = resolved.reach, resolved.without_cut
    part = part_of_cut(others.asks, reach, offered)
    found = priced_at(plan, others, without_cut(offered, len(cut), part))
    share = share_of_cut(offered, part)
    shares = Shares(pure_epsilon(share), share) if offered.currency == "rho" else Shares(share, None)
    more: list[Priced] = []
    for ask in cut:
        moved = reading(ask, reach, Steps())
        noise = noise_for(moved, shares, Split(), alone=False)
        why = derivation(ask, reach, moved)
        more.append(Priced(ask, Steps(), moved, why, noise.mechanism, noise.epsilon, noise.rho))
    return replace(
        found, resolved=resolved, priced=(*found.priced, *more),
        epsilon=found.epsilon + sum(one.epsilon for one in more), rho=found.rho + sum(one.rho for one in more),
    )


def _with_noise(plan: Plan, resolved: Resolved, shares: Sequence[Shares], split: Split) -> Found:
    reach, asks = resolved.reach, resolved.asks
    each, at = list(shares), resolved.with_keys
    if at is not None:
        each.insert(at, Shares(None, None))  # its share is that of the selection
    grids = _grids(asks, reach, each, plan.source.max_rows)
    alone = len(asks) == 1 and not reach.chosen and reach.keys == 1
    priced: list[Priced] = []
    keys = None
    if reach.chosen:
        paid = {"epsilon": split.selection_epsilon, "rho": split.selection_rho, "delta": split.selection_delta}
        keys = selecting(reach, **paid, counted=resolved.with_keys is not None)
    for number, (ask, own) in enumerate(zip(asks, each, strict=True)):
        measured, count = _steps(ask, grids), ask.among or 0
        if ask.q is not None and ask.column is not None:
            found = candidates(ask.column, reach.keys)
            measured, count = steps(found.grid), found.count
        moved = reading(ask, reach, measured)
        why = derivation(ask, reach, moved)
        if number == resolved.with_keys and keys is not None and keys.noise is not None:
            noise = Noise(SelectionNoise(keys.noise, reach.one), Fraction(0), Fraction(0))
        else:
            noise = noise_for(moved, own, split, alone=alone, candidates=count, top=ask.top)
        priced.append(Priced(ask, measured, moved, why, noise.mechanism, noise.epsilon, noise.rho))
    epsilon, rho, delta = split.epsilon, split.rho, split.delta
    if keys is not None:
        epsilon, rho, delta = epsilon + keys.epsilon, rho + keys.rho, delta + keys.delta
    return Found(resolved, grids, tuple(priced), keys, epsilon, rho, delta)


def _steps(ask: Ask, grids: Grids) -> Steps:
    return Steps() if ask.on_grid is None else steps(grids[ask.on_grid])


def _grids(asks: Sequence[Ask], reach: Reach, shares: Sequence[Shares], max_rows: int) -> Grids:
    """One grid for each column, square and product that is summed, from a size that the noise of its readings is at
    least: for Laplace noise l1/eps with l1 >= min(groups * max_rows, total) * most, for Gaussian noise sigma >=
    most / sqrt(2 rho)."""
    sizes: dict[Measured | Ask, list[Fraction]] = {}
    groups = min(reach.groups or 1, reach.keys if reach.keys is not None else reach.groups or 1)
    rows = groups * max_rows if reach.total is None else reach.total
    for ask, own in zip(asks, shares, strict=True):
        if ask.ends is None or ask.on_grid is None:
            continue
        lower, upper = ask.ends
        largest = max(abs(lower), abs(upper))
        most = (upper - lower if ask.what in CENTRED or reach.whole else largest) or largest or Fraction(1)
        least = []
        if own.epsilon is not None:
            least.append(rows * most / own.epsilon)
        if own.rho is not None:
            least.append(max_rows * most / root_above(2 * own.rho, ten_to_figures(2 * own.rho, 15)))
        sizes.setdefault(ask.on_grid, []).append(min(least))
    return grids_of(asks, sizes, max_rows)
