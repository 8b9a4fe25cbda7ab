"""A batch: a quote for each of several questions, what of them is paid, and what is due when some was paid before.

How one is made, and what it promises, is in `batching.py`. Checked in tests/curator/test_batching.py and
tests/curator/test_batching_as_one.py.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from dpcurator.ledger.canonical import canonical_text
from dpcurator.numbers import decimal_text
from dpcurator.numbers.text_table import pre_html
from dpcurator.plan.facts import facts_of
from dpcurator.plan.identity import places_alike
from dpcurator.plan.nodes import Ask
from dpcurator.pricing.held import HeldReading, cutless
from dpcurator.pricing.held import due as due_of
from dpcurator.pricing.joint_guarantee import Point
from dpcurator.pricing.prices import Price
from dpcurator.pricing.quote import Quote
from dpcurator.pricing.resolve import Each
from dpcurator.receipts.loss import losses_of
from dpcurator.receipts.receipt import batch_digest
from dpcurator.release.notes import of_one_group
from dpcurator.values import Json


@dataclass(frozen=True, slots=True)
class Batch:
    """A quote for each question asked, in order, at its share of the price; and what of it is paid.

    paid: the distinct questions that cost something, in order of first use; digests: of their plans. places: for each
    question asked, which of `paid` it is, or None when it is public or another pays: payers says which. point: what is
    charged, when it is charged as one.
    """

    asked: tuple[Quote, ...]
    paid: tuple[Quote, ...]
    digests: tuple[str, ...]
    places: tuple[int | None, ...]
    point: Point | None = None
    payers: tuple[int | None, ...] = ()
    before: tuple[Quote | None, ...] = ()  # of each paid one, its quote where it rests on earlier charges as well

    def __repr__(self) -> str:
        delta = f", delta {decimal_text(self.delta)}" if self.delta else ""
        how = ", as one" if self.point is not None else ""
        price = f"{self.asked[0].catalog.currency} {decimal_text(self.cost)}{delta}" if self.paid else "free"
        price = price if self.own or not self.paid else "paid before: free"
        return f"Batch({len(self.asked)} questions, {price}{how})"

    def __str__(self) -> str:
        """The price of all, then each question's share and error bars."""
        told = [
            f"question {at + 1}: {self.share(at)!r}" + (f", {words}" if (words := self.planned(at)) else "")
            for at in range(len(self.asked))
        ]
        return "\n".join([repr(self), *told])

    def _repr_html_(self) -> str:
        return pre_html(str(self))

    def payer(self, at: int) -> int | None:
        """For a question, which of `paid` pays its noisy readings, where that is another question."""
        return self.payers[at] if self.payers else None

    def share(self, at: int) -> Quote:
        """The quote of a question at what it costs: nothing where another question pays it."""
        nothing = Fraction(0)
        quote = self.asked[at]
        return quote if self.payer(at) is None else replace(quote, epsilon=nothing, rho=nothing, delta=nothing)

    def planned(self, at: int) -> str:
        """How a question is planned with others, in words; "" where it is by itself. at: from 0."""
        payer, names = self.payer(at), of_one_group(self.asked[at].plan)
        own = self.places[at] if payer is None else payer
        others = [n for n in range(len(self.asked)) if own is not None and n != at
                  and own in (self.places[n], self.payer(n))]
        if not others or (payer is None and not any(self.payer(n) is not None for n in others)):
            return ""
        numbers = ", ".join(str(n + 1) for n in others)
        whose = f"question{'s' if len(others) > 1 else ''} {numbers}"
        once = f"one grouping by {', '.join(names)} with {whose}: caps bind over their groups together" if names else (
            f"the same noisy queries as {whose}"
        )
        paid = "paid once, here" if payer is None else f"paid by question {self.places.index(payer) + 1}"
        return f"{once}; {paid}" if own in self.own else f"{once}; paid before"

    @property
    def epsilon(self) -> Fraction:
        return self.summed("epsilon") if self.point is None else self.point.epsilon

    @property
    def rho(self) -> Fraction:
        return self.summed("rho")

    @property
    def delta(self) -> Fraction:
        return self.summed("delta") if self.point is None else self.point.delta

    def summed(self, name: str) -> Fraction:
        """What the questions that this batch pays cost one by one: "epsilon", "rho", "delta", or "cost"."""
        return sum((getattr(self.due(number), name) for number in self.own), Fraction(0))

    def due(self, number: int) -> Quote:
        """Of `paid`, the quote with what earlier charges paid of it."""
        return (self.before[number] if self.before else None) or self.paid[number]

    @property
    def own(self) -> tuple[int, ...]:
        """Which of `paid` this batch pays itself: all, but for those of which everything was paid before."""
        held = [self.due(number).held for number in range(len(self.paid))]
        return tuple(number for number, one in enumerate(held) if one is None or not one.all)

    def shared(self) -> str:
        """For the ledger: what earlier charges paid of each question, as canonical JSON; "" where nothing."""
        held = [None if one is None or one.held is None else one.held.as_json() for one in self.before]
        return canonical_text({"batch": held}) if held else ""

    @property
    def cost(self) -> Fraction:
        """What is charged in the ledger's currency."""
        return self.summed("cost") if self.point is None else self.point.epsilon

    @property
    def digest(self) -> str:
        """What stands for the plan in the ledger."""
        return batch_digest(self.digests)

    @property
    def facts(self) -> tuple[str, ...]:
        """Of each paid question, the digest of the declared facts that it uses."""
        return tuple(facts_of(quote.plan, quote.catalog) for quote in self.paid)

    def parameters(self) -> Json:
        """Everything besides plans, catalog and data that shapes the answers."""
        told: Json = {"batch": [quote.parameters() for quote in self.paid]}
        return told if self.point is None else told | {"point": point_json(self.point)}

    def told(self) -> Json:
        """What each receipt says of the batch, beside which of the paid questions it is of."""
        own = set(self.own)
        costs = [[str(getattr(self.due(place), name)) if place in own else "0" for name in ("epsilon", "rho", "delta")]
                 for place in range(len(self.paid))]
        told: Json = {"plans": list(self.digests), "facts": list(self.facts), "costs": costs}
        if self.point is None:
            return told
        losses = [[loss.as_json() for loss in losses_of(quote.parameters())] for quote in self.paid]
        return told | {"point": point_json(self.point), "losses": losses}

    def as_json(self) -> dict[str, Any]:
        """For machines; holds public facts only."""
        from dpcurator.numbers import decimal_text

        totals: Json = {name: decimal_text(getattr(self, name)) for name in ("epsilon", "rho", "delta")}
        if self.point is not None:
            sums = {name: decimal_text(self.summed(name)) for name in ("epsilon", "delta")}
            totals |= {"point": point_json(self.point) | {"method": self.point.method}, "one_by_one": sums}
        told = [{"paid_by": payer if payer is None else self.places.index(payer) + 1, "planned": self.planned(at)}
                for at, payer in ((at, self.payer(at)) for at in range(len(self.asked)))]
        return totals | {"questions": [self.share(at).as_json() | one for at, one in enumerate(told)]}


def without(batch: Batch, due: Sequence[Quote]) -> Batch:
    """The batch, of which readings cost nothing that were paid before. due: of each paid one, the
    quote with what the ledger holds of it. Of what it is asked, of plans and parameters, it stays the same batch."""
    before = tuple(quote if quote.held is not None else None for quote in due)
    if not any(before):
        return batch
    asked = list(batch.asked)
    for at, place in enumerate(batch.places):
        payer = batch.payer(at) if place is None else place
        paid = None if payer is None else before[payer]
        if paid is not None and paid.held is not None:
            asked[at] = paid if place is not None else _as_paid(asked[at], paid, paid.held.readings)
    return replace(batch, asked=tuple(asked), before=before)


def _as_paid(quote: Quote, payer: Quote, held: Sequence[HeldReading | None]) -> Quote:
    """The quote of a question whose noisy queries are those of another that pays them, with what of that is stored.

    The stored numbers are in that one's order of keys: they are shown by none, and found again for the answer."""
    own = quote if len(held) == len(quote.priced) else cutless(quote)
    return due_of(own, in_its_order(own, payer, held))


def in_its_order(quote: Quote, payer: Quote, each: Sequence[Each]) -> list[Each]:
    """What there is for each noisy query of the payer, in the order in which a question that shares them names them."""
    return [each[place] for place in places_alike(_asks(quote), _asks(payer)[: len(each)])]


def _asks(quote: Quote) -> list[Ask]:
    return [one.ask for one in quote.priced]


def price_of(payer: Quote, quote: Quote) -> Price | None:
    """What the payer's noisy queries are paid with, as said of a question that shares them."""
    if payer.price is None or not payer.price.goals:
        return payer.price
    own, its = ([ask for ask in _asks(one) if not ask.overall] for one in (quote, payer))
    return replace(payer.price, goals=tuple(payer.price.goals[place] for place in places_alike(own, its)))


def point_json(point: Point) -> Json:
    """For the ledger's parameters and the receipts: exact text."""
    return {"epsilon": str(point.epsilon), "delta": str(point.delta)}
