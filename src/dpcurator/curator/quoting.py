"""What a question means and what it would cost: reading, planning and pricing it, from public facts alone (design 2).

    question -> plan -> quote -> checks; or a price list

Nothing here charges, draws noise or looks at data. The ledger is asked for what is left of the budget, and for noisy
queries that the analyst's earlier answers hold. What is paid for is in `curator.py`. Checked in
tests/curator/test_curator.py, tests/attacks and tests/laws.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, Unpack

from dpcurator.aggregates import AGGREGATES
from dpcurator.curator.batch import Batch, without
from dpcurator.curator.batching import batch_menu, in_question, quote_batch
from dpcurator.curator.disjoint import together as planned_together
from dpcurator.curator.paying import Paying
from dpcurator.engines.limits import check_core
from dpcurator.errors import Refusal
from dpcurator.language.question import Caps
from dpcurator.language.question import Question as Read
from dpcurator.numbers.rational import Spelled
from dpcurator.plan.bind import bind, under
from dpcurator.plan.canonical import as_json, plan_of
from dpcurator.plan.check_catalog import disagreement
from dpcurator.plan.check_outputs import misfit
from dpcurator.plan.most_common import naming
from dpcurator.plan.nodes import Plan
from dpcurator.pricing.caps_menu import CapsMenu, caps_menu
from dpcurator.pricing.held import sizes
from dpcurator.pricing.menu import Menu, menu
from dpcurator.pricing.offers import (
    Asking,
    BatchAsking,
    SeveralAsking,
    batch_offer_of,
    capped,
    cut_wanted,
    level_of,
    offer_of,
    rows_of,
    said_by,
    takes,
)
from dpcurator.pricing.quote import CONFIDENCE, Quote, price
from dpcurator.pricing.resolve import resolve, resolved_with_cut, with_cut
from dpcurator.receipts.stored import with_stored
from dpcurator.release.finish import finish
from dpcurator.release.release import Noisy

if TYPE_CHECKING:
    from dpcurator.fronts.frame import Frame

    Question = str | Frame[Any, Any, Any]


def read(question: Question | Read) -> Read:
    """A question as its front reads it, an SQL text or a frame; itself where it was read before. Raises Refusal."""
    if isinstance(question, Read):
        return question
    from dpcurator.fronts.frame import Frame
    from dpcurator.fronts.sql import parse

    return question.question() if isinstance(question, Frame) else parse(question)


def words_of(question: Question | Read, asked: BatchAsking) -> str:
    """A question, under its caps, as canonical SQL."""
    from dpcurator.language.render import render

    return render(capped(read(question), asked))


def _unpriced(question: Read) -> Read:
    """A question of a batch, which has the batch's price. Raises Refusal."""
    if question.price:
        raise Refusal("a question of a batch has no price of its own.", cure="Give the batch one price for all.")
    return question


class Quoting(Paying):
    """What a curator says of a question for nothing. See `Curator`, which is what its users see of it."""

    def plan(self, question: Question) -> Plan:
        """What a question means: an SQL text, or a frame that `table` began. Raises Refusal."""
        return self._bound(read(question), {})

    def _bound(self, question: Read, asked: BatchAsking, *, by_counts: bool = False) -> Plan:
        return self._cut_told(bind(capped(question, asked), self.catalog, AGGREGATES, by_counts=by_counts), asked)

    def _cut_told(self, plan: Plan, asked: BatchAsking) -> Plan:
        """The plan, with how many units are cut where that is wanted."""
        wanted = cut_wanted(asked)
        return with_cut(plan) if wanted or (wanted is None and self.cut) else plan

    @takes(Asking)
    def quote(self, question: Question, *, analyst: str = "local", **asked: Unpack[Asking]) -> Quote:
        """What a question would cost and how wrong its answer might be. Free; no data is looked at.

        Noisy queries that this analyst's earlier answers hold, with no wider noise than the price would buy, are used
        again: they cost nothing, and the quote says which.

        One price: epsilon or rho (a number above 0; the ledger's other currency is converted), spend (a share of the
        whole budget, as "5%"), or within (a wanted error for each named column). delta: at most this much of the
        ledger's delta, by default the same share of it. assume_count: how many rows a group has, for `within` a mean.
        weights: how much the error bar of each named column counts where the price is shared, as {"n": 2}; 1 otherwise.
        confidence: of the error bars. Numbers may be written 0.1, "0.1" or "1/10". max_total, max_rows, max_groups:
        contribution bounding for this question, instead of the catalog's. min_units: of fewer units no group that
        nobody listed is shown; at least the catalog's. cut: whether a small part of the price buys how many units those
        caps and clamps change (see `Cut`); False: not; True: also where all else is paid for already, which None leaves
        free. Raises Refusal.
        """
        whole = self._cheapest(question, asked, analyst)
        return whole if whole.free else with_stored(whole, self.ledger, analyst, cut=cut_wanted(asked) is True)

    def _cheapest(self, question: Question | Read, asked: Asking, analyst: str) -> Quote:
        """As `_whole`; where names are asked for, and stored counts are as good as this price buys, the names that
        these give for nothing."""
        question = read(question)
        whole = self._whole(question, asked)
        if naming(whole.plan) is None or whole.free:
            return whole
        counted = self._whole(question, asked, by_counts=True)
        found = with_stored(counted, self.ledger, analyst, cut=cut_wanted(asked) is True)
        return counted if found.held is not None and found.held.all and naming(counted.plan) is None else whole

    def _whole(self, question: Question | Read, asked: Asking, *, by_counts: bool = False) -> Quote:
        """The quote of a question as if nothing of it had been paid before."""
        syntax = read(question)
        offer = offer_of(self.catalog, said_by(syntax, asked))
        quote = offer.quote(self._bound(syntax, asked, by_counts=by_counts), self.catalog)
        if not quote.free:
            check_core(quote.lowered.core)
        return quote

    def menu(
        self,
        question: Question,
        *,
        assume_count: int | str | None = None,
        confidence: Spelled = CONFIDENCE,
        max_total: int | str | None = None,
        max_rows: int | str | None = None,
        max_groups: int | str | None = None,
        min_units: int | str | None = None,
        cut: bool | None = None,
    ) -> Menu:
        """What each share of the budget would buy. Free; no data is looked at. Caps and cut are as for `quote`.

        Raises Refusal.
        """
        plan = self._bound(read(question), {
            "max_total": max_total, "max_rows": max_rows, "max_groups": max_groups, "min_units": min_units, "cut": cut,
        })
        budget = self.budget()
        return menu(
            plan, self.catalog, budget.remaining, rows=rows_of(assume_count), confidence=level_of(confidence),
            remaining_delta=budget.remaining_delta,
        )

    @takes(Asking)
    def caps(self, question: Question, **asked: Unpack[Asking]) -> CapsMenu:
        """What other contribution bounds (max_total) would do to the error bars at the same price. Free.

        The price is as for `quote`, but for `within`. No data is looked at. Raises Refusal.
        """
        syntax = read(question)
        given = said_by(syntax, asked)
        if given.get("within"):
            raise Refusal("`caps` compares error bars at one price, and `within` asks for a price.",
                          cure='Give epsilon="0.1" or spend="5%".')
        offer = offer_of(self.catalog, given)
        plan = bind(capped(syntax, asked), self.catalog, AGGREGATES)
        own = offer.quote(self._cut_told(plan, asked), self.catalog)
        wanted = cut_wanted(asked)
        cut = self.cut if wanted is None else wanted

        def quoted(caps: Caps) -> Quote:
            other = under(plan, caps, self.catalog)
            other, of = resolved_with_cut(other) if cut else (other, resolve(other))
            return offer.under(other, of, own)

        return caps_menu(own, quoted, offer.rows)

    @takes(SeveralAsking)
    def quote_batch(
        self, questions: Sequence[Question], *, as_one: bool = False, analyst: str = "local",
        **asked: Unpack[SeveralAsking],
    ) -> Batch:
        """What several questions cost together: one price for all, shared equally. Free. Raises Refusal.

        shares: how much of the price each question has, in proportion, as [3, 1, 1]; equal shares unless given.

        within: in place of a price, errors of columns: each question gets the least price that meets its own, so all
        have the least there is. {"n": 50} is of every question with a column n, {"2:n": 50} of question 2 alone.

        A question that rests on noisy queries of this analyst's earlier answers alone costs nothing, as by `quote`.

        as_one: in a ledger of epsilon and delta, charge them as one certified point at `delta` (by default, the price's
        share of the ledger's), where its epsilon is below the sum of the questions'.
        """
        batch = self._whole_batch(questions, as_one, asked)
        if batch.point is not None or not batch.paid:
            return batch
        return without(batch, [with_stored(quote, self.ledger, analyst) for quote in batch.paid])

    def _whole_batch(self, questions: Sequence[Question], as_one: bool, asked: SeveralAsking) -> Batch:
        """The quote of a batch as if nothing of it had been paid before."""
        offer = batch_offer_of(self.catalog, asked)
        return quote_batch(self._plans(questions, asked), offer, self.catalog, as_one=as_one)

    def _plans(self, questions: Sequence[Question], asked: BatchAsking) -> list[Plan]:
        """What the questions of a batch mean. Raises Refusal, saying which question.

        Those that are planned as one grouping tell of no cut: that of the grouping would be of other units."""
        if isinstance(questions, str) or not isinstance(questions, Iterable):
            raise Refusal("a batch is a list of questions.", cure='Write it as in batch(["SELECT COUNT(*) ..."]).')
        every: list[Read] = []
        plans: list[Plan] = []
        for number, question in enumerate(questions, 1):
            try:
                every.append(capped(_unpriced(read(question)), asked))
                plans.append(bind(every[-1], self.catalog, AGGREGATES))
            except Refusal as refused:
                raise in_question(number, refused) from None
        together = planned_together(every, plans, self.catalog)
        return [self._cut_told(one, asked) if one == plan else one for one, plan in zip(together, plans, strict=True)]

    def menu_batch(
        self,
        questions: Sequence[Question],
        *,
        assume_count: int | str | None = None,
        confidence: Spelled = CONFIDENCE,
        max_total: int | str | None = None,
        max_rows: int | str | None = None,
        max_groups: int | str | None = None,
        min_units: int | str | None = None,
        cut: bool | None = None,
    ) -> Menu:
        """What each share of the budget would buy for several questions together, as `menu` for one. Free.

        Columns are titled by question, as "2: n". Raises Refusal.
        """
        plans = self._plans(questions, {
            "max_total": max_total, "max_rows": max_rows, "max_groups": max_groups, "min_units": min_units, "cut": cut,
        })
        budget = self.budget()
        return batch_menu(
            plans, self.catalog, budget.remaining, rows=rows_of(assume_count), confidence=level_of(confidence),
            remaining_delta=budget.remaining_delta,
        )

    def _own(self, quote: Quote) -> Quote:
        """The quote as this curator makes it: nothing that a quote says of itself is believed. Raises Refusal."""
        if quote.catalog != self.catalog:
            raise Refusal("this quote was made under another catalog or data version.", cure="Ask for a new quote.")
        own, given = None, quote
        try:
            quote = quote if quote.held is None else quote.held.whole
            same = ("plan", "reach", "price", "confidence", "catalog")
            if given.held is not None and any(getattr(given, name) != getattr(quote, name) for name in same):
                raise ValueError("it is of another question than the one it was made of")
            if (
                quote.plan == plan_of(as_json(quote.plan))
                and (misfit(quote.plan) or disagreement(quote.plan, self.catalog)) is None
            ):
                own = price(quote.plan, quote.price or self.catalog.budget, self.catalog, confidence=quote.confidence)
                finish(own, _nothing(own))  # its outputs can be computed
        except Exception:  # a plan that is no plan can fail anywhere; no data has been looked at
            own = None
        if own is None or own != quote:
            raise Refusal("this quote was not made by this curator, or was changed.", cure="Ask for one with `quote`.")
        if not own.free:
            check_core(own.lowered.core)
        return own


def _nothing(quote: Quote) -> Noisy:
    """A release in which every reading is 0; with unknown keys, of no key."""
    keys = quote.lowered.keys
    return Noisy(keys, tuple((0,) * size for size in sizes(quote, len(keys))), quote.reach.other)
