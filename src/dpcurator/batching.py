"""Several questions as one: priced together, charged by one event, read by one scan; all of them or none.

The price is shared equally by the distinct questions that cost anything; each is then a quote like any other, and what
a batch is charged is their exact sum (basic composition). The same question twice is one, paid once and answered twice.
Every question is bound, priced and checked before the one charge, so a question that is refused, or a batch that cannot
be paid, charges nothing. The answers are stored together before any is shown. Each has a receipt of its own, which
names the batch: the digests of its plans, and what each of them cost. Checked in tests/test_batching.py.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Final

from dpcurator.catalog.model import Catalog
from dpcurator.engines.limits import check_core
from dpcurator.errors import Refusal
from dpcurator.plan.canonical import digest
from dpcurator.plan.nodes import Plan
from dpcurator.pricing.prices import Price
from dpcurator.pricing.quote import Quote, price
from dpcurator.receipt import batch_digest
from dpcurator.values import Json

MOST: Final = 1_000  # questions


@dataclass(frozen=True, slots=True)
class Batch:
    """asked: a quote for each question, in order, at its share of the price. What is paid is `paid`, each plan once."""

    asked: tuple[Quote, ...]

    @property
    def paid(self) -> tuple[Quote, ...]:
        """The distinct questions that cost something, in order of first use."""
        return tuple({quote.plan_digest: quote for quote in self.asked if not quote.free}.values())

    @property
    def epsilon(self) -> Fraction:
        return sum((quote.epsilon for quote in self.paid), Fraction(0))

    @property
    def rho(self) -> Fraction:
        return sum((quote.rho for quote in self.paid), Fraction(0))

    @property
    def delta(self) -> Fraction:
        return sum((quote.delta for quote in self.paid), Fraction(0))

    @property
    def cost(self) -> Fraction:
        """What is charged in the ledger's currency."""
        return sum((quote.cost for quote in self.paid), Fraction(0))

    @property
    def digest(self) -> str:
        """What stands for the plan in the ledger."""
        return batch_digest([quote.plan_digest for quote in self.paid])

    def parameters(self) -> Json:
        """Everything besides plans, catalog and data that shapes the answers."""
        return {"batch": [quote.parameters() for quote in self.paid]}

    def told(self, index: int) -> Json:
        """What the receipt of the paid question number `index` says of the batch."""
        costs = [[str(quote.epsilon), str(quote.rho), str(quote.delta)] for quote in self.paid]
        return {"index": index, "plans": [quote.plan_digest for quote in self.paid], "costs": costs}

    def as_json(self) -> dict[str, Any]:
        """For machines; holds public facts only."""
        from dpcurator.numbers import decimal_text

        totals = {name: decimal_text(getattr(self, name)) for name in ("epsilon", "rho", "delta")}
        return totals | {"questions": [quote.as_json() for quote in self.asked]}


def quote_batch(plans: Sequence[Plan], offered: Price, catalog: Catalog, *, confidence: Fraction) -> Batch:
    """The plans at an equal share each of the price. Raises Refusal, saying which question."""
    if not 0 < len(plans) <= MOST:
        raise Refusal(f"a batch holds 1 to {MOST:,} questions.", cure='Write it as in batch(["SELECT COUNT(*) ..."]).')
    whole = [_quoted(number, plan, offered, catalog, confidence) for number, plan in enumerate(plans, 1)]
    paid = {digest(quote.plan) for quote in whole if not quote.free}
    if not paid:
        return Batch(tuple(whole))
    share = Price(offered.currency, offered.amount / len(paid), offered.delta / len(paid))
    made: dict[str, Quote] = {}
    for number, quote in enumerate(whole, 1):
        if quote.plan_digest not in made:
            made[quote.plan_digest] = _quoted(number, quote.plan, share, catalog, confidence)
    return Batch(tuple(made[quote.plan_digest] for quote in whole))


def _quoted(number: int, plan: Plan, offered: Price, catalog: Catalog, confidence: Fraction) -> Quote:
    try:
        quote = price(plan, offered, catalog, confidence=confidence)
        if not quote.free:
            check_core(quote.lowered.core)
    except Refusal as refused:
        raise in_question(number, refused) from None
    return quote


def in_question(number: int, refused: Refusal) -> Refusal:
    """The refusal, saying which question of the batch it is of. number: from 1."""
    place = f"question {number}, {refused.where}" if refused.where else f"question {number}"
    return Refusal(refused.what, where=place, cure=refused.cure)
