"""A quote: what a question costs at a price, which noise it would get, and why. Pure and free (design 2).

How a price is shared and which noise that buys is in `at_price.py`, one noisy query of it in `priced.py`. Losses add up
whatever the analyst asks next: basic composition in an (epsilon, delta) ledger, sums of rho in the other. What is not
needed of a price's delta is not charged. Nothing here can reach an engine: this room imports none, and a test holds
that. Checked in tests/pricing/test_quote.py.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from dpcurator.catalog.model import Catalog
from dpcurator.errors import Refusal
from dpcurator.numbers import decimal_text
from dpcurator.numbers.rational import between_0_and_1
from dpcurator.numbers.readable import cut
from dpcurator.numbers.text_table import pre_html, printable
from dpcurator.plan.canonical import as_json, digest
from dpcurator.plan.lower import Lowered, lower
from dpcurator.plan.nodes import Plan
from dpcurator.plan.stability import Reach
from dpcurator.pricing.at_price import Found, priced_at
from dpcurator.pricing.bars import bars, describe, told_of_names
from dpcurator.pricing.cut import Told, reason
from dpcurator.pricing.noise import SelectionNoise
from dpcurator.pricing.priced import Priced, mechanism_json, reading_json
from dpcurator.pricing.prices import Price, amount_of
from dpcurator.pricing.resolve import PricedCall, Resolved, resolve
from dpcurator.pricing.selecting import Selecting

if TYPE_CHECKING:
    from dpcurator.pricing.held import Held


CONFIDENCE = Fraction(95, 100)  # of the error bars, unless asked otherwise


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
    rows: int | None = field(default=None, compare=False)  # of a group, for averages, as the analyst assumes

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
        from dpcurator.pricing.cautions import averaged, cautions, counted

        if self.free:
            return cautions(self.plan, self.catalog, None, ())
        titles, means, found = counted(self.plan), averaged(self.plan), bars(self)
        counts = [(bar.title, describe(bar), bar.error) for bar in found
                  if bar.title in titles and bar.error is not None and bar.rows is None]
        averages = [(bar.title, describe(bar), bar.error) for bar in found if bar.title in means and bar.error]
        return cautions(self.plan, self.catalog, self.selecting, counts, averages)

    def _repr_html_(self) -> str:
        return pre_html(str(self))

    def _charged(self) -> list[str]:
        delta = [f"delta {decimal_text(self.delta)}"] if self.delta else []
        return [f"{self.catalog.currency} {decimal_text(self.cost)}", *delta]

    def _bars(self) -> list[tuple[str, str]]:
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
            "readings": [reading_json(one, self.confidence) for one in self.priced],
            "error_bars": [bar.as_json() for bar in bars(self)],
            "assumed": list(self.assumed),
            "cautions": list(self.cautions()),
            "cut": None if self.cut is None else self.cut.as_json(),
            "keys": None if self.reach.chosen else len(self.lowered.keys),
            "paid_before": None if self.held is None else self.held.as_json(),
            "plan": as_json(self.plan),
        } | ({} if self.named is None else {"named": self.named})


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


def _quote(plan: Plan, found: Found, lowered: Lowered, offered: Price, confidence: Fraction, catalog: Catalog) -> Quote:
    free = not found.priced and found.selecting is None
    costs = (found.epsilon, found.rho, found.delta)
    price = None if free else offered
    reach, calls = found.resolved.reach, found.resolved.calls
    return Quote(plan, reach, found.priced, calls, lowered, price, *costs, confidence, catalog, found.selecting)
