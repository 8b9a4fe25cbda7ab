"""Several questions as one: priced together, charged by one event, read by one statement; all or none.

The price is shared equally by the distinct questions that cost anything, or in proportion to the `shares` given, or
each has the least price that meets the errors wanted of it (`within`); each is then a quote like any other, and what a
batch is charged is their exact sum (basic composition). The same question twice is one, paid once and answered twice.
Of questions that rest on the very
same noisy readings, as those of different groups of one grouping do (`disjoint.py`), the first pays: the others are
answered from what its charge stored, each with a receipt that says so.

`as_one` has it charged as one certified (epsilon, delta) point instead (pricing/joint_guarantee.py), in a ledger of
these two: the questions have half of the price's delta for themselves, and the point is at all of it. Where that
epsilon is not below the sum, the batch is the same as without the word. Which of the two it is rests on plans, price
and catalog. Every question is bound, priced and checked before the one charge, so a question that is refused, or a
batch that cannot be paid, charges nothing. The answers are stored together before any is shown. Each has a receipt of
its own, which names the batch: the digests of its plans, of the facts they use, and what each of them cost. Checked in
tests/curator/test_batching.py and tests/curator/test_batching_as_one.py.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import partial
from typing import Final

from dpcurator.catalog.model import Catalog
from dpcurator.curator.batch import Batch, in_its_order, price_of
from dpcurator.engines.limits import check_core, weight
from dpcurator.engines.limits_rows import MAX_PARTS
from dpcurator.errors import Refusal
from dpcurator.plan.canonical import digest
from dpcurator.plan.identity import read_alike
from dpcurator.plan.limits import Finishing, check, finishing
from dpcurator.plan.merge import merged
from dpcurator.plan.nodes import Plan
from dpcurator.plan.relation_facts import table_of
from dpcurator.pricing.bars import bars, results
from dpcurator.pricing.goals import best_shared, shared_bars
from dpcurator.pricing.held import serves
from dpcurator.pricing.joint_guarantee import point_of
from dpcurator.pricing.menu import SHARES, Menu, MenuRow, titled
from dpcurator.pricing.offers import Offer
from dpcurator.pricing.prices import Price, amount_of, share_of
from dpcurator.pricing.quote import CONFIDENCE, Quote, for_bars, price
from dpcurator.pricing.resolve import resolve
from dpcurator.receipts.loss import losses_of

MOST: Final = 100  # questions: every receipt names them all


def quote_batch(plans: Sequence[Plan], offer: Offer, catalog: Catalog, *, as_one: bool = False) -> Batch:
    """The plans at an equal share each of the price; or each at the least price that meets its targets. Raises Refusal,
    saying which question.

    as_one: charged as one certified point where that is less epsilon than the sum.
    """
    if not 0 < len(plans) <= MOST:
        raise Refusal(f"a batch holds 1 to {MOST} questions.", cure='Write it as in batch(["SELECT COUNT(*) ..."]).')
    if as_one and offer.price is None:
        raise Refusal(
            "a batch charged as one has one price, and `within` gives each question its own.",
            cure="Leave out as_one (--as-one), or give the batch one price.",
        )
    if offer.price is None:
        return _by_targets(plans, offer, catalog)
    offered = offer.price
    if not as_one:
        return _shared(plans, offered, catalog, offer)
    if catalog.currency != "epsilon" or not offered.delta:
        raise Refusal(
            "a batch that is charged as one needs a delta to spend, and there is none here."
            if catalog.currency == "epsilon"
            else "a batch that is charged as one costs an epsilon and a delta, and this ledger counts in rho.",
            cure="Leave out as_one (--as-one): then the batch costs what its questions cost together.",
        )
    apart = _shared(plans, offered, catalog, offer)
    if not apart.paid:
        return apart
    halved = _shared(plans, replace(offered, delta=offered.delta / 2), catalog, offer)
    point = point_of([loss for quote in halved.paid for loss in losses_of(quote.parameters())], offered.delta)
    return apart if point is None or point.epsilon >= apart.epsilon else replace(halved, point=point)


def _shared(plans: Sequence[Plan], offered: Price, catalog: Catalog, offer: Offer) -> Batch:
    digests = [digest(plan) for plan in plans]
    whole: dict[str, Quote] = {}

    def quoted(number: int, plan: Plan, at: Price) -> Quote:
        return _quoted(number, lambda: best_shared(plan, at, catalog, confidence=offer.confidence, rows=offer.rows))

    for number, (name, plan) in enumerate(zip(digests, plans, strict=True), 1):
        if name not in whole:
            whole[name] = quoted(number, plan, offered)
    payers = _payers(whole)
    names = [name for name, payer in payers.items() if name == payer]
    if names:
        own = _parts_of(names, digests, offer.shares)
        for name in names:
            share = Price(offered.currency, offered.amount * own[name], offered.delta * own[name])
            whole[name] = quoted(digests.index(name) + 1, whole[name].plan, share)
    return _checked(digests, whole, payers, catalog, offer)


def _parts_of(names: Sequence[str], digests: Sequence[str], shares: Sequence[Fraction]) -> dict[str, Fraction]:
    """Which part of the price each paid question has: as its first place among the questions says. Raises Refusal."""
    if shares and len(shares) != len(digests):
        raise Refusal(
            f"there are {len(digests)} questions and {len(shares)} shares.", cure="Give one share for each question."
        )
    weights = {name: shares[digests.index(name)] if shares else Fraction(1) for name in names}
    total = sum(weights.values(), Fraction(0))
    return {name: weight / total for name, weight in weights.items()}


def _payers(whole: Mapping[str, Quote]) -> dict[str, str]:
    """Of each question that costs something, by the digest of its plan: the first that rests on the same readings."""
    first: dict[Hashable, str] = {}
    found: dict[str, str] = {}
    for name, quote in whole.items():
        if not quote.free:
            reads = name if quote.reach.chosen else read_alike(quote.plan, [one.ask for one in quote.priced])
            found[name] = first.setdefault(reads, name)
    return found


def _checked(
    digests: Sequence[str], whole: dict[str, Quote], payers: Mapping[str, str], catalog: Catalog, offer: Offer
) -> Batch:
    """The batch of these questions, by the digests of their plans, each at its price, or at its payer's. Raises
    Refusal."""
    for name, payer in payers.items():
        at = price_of(whole[payer], whole[name])
        if name != payer and at is not None:
            again = price(whole[name].plan, at, catalog, confidence=offer.confidence)
            bought = in_its_order(again, whole[payer], whole[payer].priced)
            if not all(map(serves, bought, again.priced)):  # shares are rounded down but for the last in the order
                raise Refusal("two questions have the same noisy queries, in orders in which these cost differently.",
                              cure="Write their columns in one order.")
            whole[name] = replace(again, assumed=whole[name].assumed, rows=whole[name].rows)
    names = tuple(name for name, payer in payers.items() if name == payer)
    places = tuple(names.index(name) if name in names else None for name in digests)
    pays = tuple(names.index(payers[name]) if payers.get(name, name) != name else None for name in digests)
    paid = tuple(whole[name] for name in names)
    batch = Batch(tuple(whole[name] for name in digests), paid, names, places, payers=pays)
    _check(batch)
    return batch


def _by_targets(plans: Sequence[Plan], offer: Offer, catalog: Catalog) -> Batch:
    """Each question at the least price that meets the errors wanted of its columns: so the least for all. "2:n" is
    column n of question 2 alone; "n" that of every question that has one. Raises Refusal."""
    digests = [digest(plan) for plan in plans]
    targets: dict[str, dict[str, Fraction]] = {name: {} for name in digests}
    parts: dict[str, dict[str, Fraction | None]] = {name: {} for name in digests}
    for given, error in offer.targets.items():
        number, colon, title = given.partition(":")
        own = int(number) if colon and number.isdecimal() and len(number) < 4 else None
        found = [at for at, plan in enumerate(plans, 1) if own in (None, at)
                 and (own is not None or _has(plan, given))]
        if not found:
            of = f"there is no question {own}" if own is not None else f"no question has a column {given!r}"
            raise Refusal(f"--within: {of}.", cure=f"Name one of questions 1 to {len(plans)}, as in --within 1:n=50.")
        for at in found:
            name = given if own is None else title
            try:
                titled(plans[at - 1], {name: error}, "within")
            except Refusal as refused:
                raise in_question(at, refused) from None
            before, size = parts[digests[at - 1]], offer.parts.get(given)
            if name in targets[digests[at - 1]] and (name in before, before.get(name)) != (given in offer.parts, size):
                raise Refusal(f"--within: {name!r} of question {at} is given errors of two kinds, as 50 and 5%.",
                              cure="Give one of them.")
            targets[digests[at - 1]][name] = min(error, targets[digests[at - 1]].get(name, error))
            if given in offer.parts:
                parts[digests[at - 1]][name] = offer.parts[given]
    whole: dict[str, Quote] = {}
    for place, (name, plan) in enumerate(zip(digests, plans, strict=True), 1):
        if name not in whole:
            delta = None if offer.delta is None else offer.delta / len(targets)
            own_offer = replace(offer, targets=targets[name], parts=parts[name], delta=delta)
            whole[name] = _quoted(place, partial(_at_least_price, plan, own_offer, catalog))
    payers = _payers(whole)
    for payer in set(payers.values()):  # whoever needs the most says the price
        dearest = max((whole[name] for name in payers if payers[name] == payer), key=lambda one: one.cost)
        same = price_of(dearest, whole[payer])
        if same is not None and dearest is not whole[payer]:
            again = price(whole[payer].plan, same, catalog, confidence=offer.confidence)
            whole[payer] = replace(again, assumed=whole[payer].assumed, rows=whole[payer].rows)
    return _checked(digests, whole, payers, catalog, offer)


def _has(plan: Plan, title: str) -> bool:
    return any(output.title.lower() == title.lower() for output in plan.outputs if results(output.part))


def _at_least_price(plan: Plan, offer: Offer, catalog: Catalog) -> Quote:
    of = resolve(plan)
    if not offer.targets and (of.asks or of.reach.chosen):
        titles = [output.title for output in plan.outputs if results(output.part)]
        raise Refusal(
            "none of its columns has a wanted error, so no price follows.",
            cure=f"Add --within {titles[0] if titles else 'n'}=50, or give the batch one price.",
        )
    return offer.quote(plan, catalog)


def batch_menu(
    plans: Sequence[Plan], catalog: Catalog, remaining: Fraction, *, rows: int | None = None,
    confidence: Fraction = CONFIDENCE, remaining_delta: Fraction | None = None,
) -> Menu:
    """What each share of the whole budget would buy for all questions together; bars are told apart by "2: title".
    Raises Refusal."""
    offer = Offer(amount_of(catalog, catalog.budget), {}, None, rows, confidence)
    first = quote_batch(plans, offer, catalog)
    left = catalog.delta if remaining_delta is None else remaining_delta
    offers: list[MenuRow] = []
    for percent in SHARES:
        whole = share_of(catalog, Fraction(percent, 100))
        each = Price(whole.currency, whole.amount / max(1, len(first.paid)), whole.delta / max(1, len(first.paid)))
        quotes = [shared_bars(quote, each, rows=rows) for quote in first.paid]
        cost, delta = (sum((getattr(one, name) for one in quotes), Fraction(0)) for name in ("cost", "delta"))
        if cost <= remaining and delta <= left:
            shown = [_at_payers_price(first, at, quotes) for at in range(len(first.asked))]
            told = tuple(
                replace(bar, title=f"{at}: {bar.title}")
                for at, quote in enumerate(shown, 1)
                for bar in bars(quote, rows)
            )
            offers.append(MenuRow(percent, catalog.budget * percent / 100, delta, remaining - cost, told))
    return Menu(tuple(offers), catalog.budget, remaining, confidence, catalog.currency)


def _at_payers_price(first: Batch, at: int, quotes: Sequence[Quote]) -> Quote:
    """A question's quote, where `quotes` are those of the paid ones at some price; for its bars only."""
    place, payer = first.places[at], first.payer(at)
    if place is not None:
        return quotes[place]
    paid = None if payer is None else price_of(quotes[payer], first.asked[at])
    return first.asked[at] if paid is None else for_bars(first.asked[at], paid)


def _check(batch: Batch) -> None:
    """Raise Refusal where an engine could not run all of it at once: merged, plans have the parts of all they merge.
    Their answers are made, and stored, at once too."""
    together = merged([quote.lowered.core for quote in batch.paid])
    if len(together) > 1 and sum(weight(one.core) for one in together) > MAX_PARTS:
        raise Refusal("the expressions of these questions are too large together.", cure="Ask them in two batches.")
    work = [finishing(quote.plan, table_of(quote.plan, quote.catalog)) for quote in batch.asked]
    try:
        check(Finishing(sum(one.cells for one in work), sum(one.letters for one in work)))
    except Refusal as refused:
        raise Refusal(f"together: {refused.what}", cure="Ask them in two batches.") from None
    for one in together:
        try:
            check_core(one.core)
            continue
        except Refusal as refused:
            held = ", ".join(str(batch.places.index(number) + 1) for number, _ in one.parts)
            what = refused.what
        raise Refusal(what, where=f"questions {held}, together", cure="Ask them in two batches.")


def _quoted(number: int, made: Callable[[], Quote]) -> Quote:
    try:
        quote = made()
        if not quote.free:
            check_core(quote.lowered.core)
    except Refusal as refused:
        raise in_question(number, refused) from None
    return quote


def in_question(number: int, refused: Refusal) -> Refusal:
    """The refusal, saying which question of the batch it is of. number: from 1."""
    place = f"question {number}, {refused.where}" if refused.where else f"question {number}"
    return refused.placed(place)
