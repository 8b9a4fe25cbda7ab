"""The curator: from a question to an answer, in the one order that keeps the promise (design 2).

    plan -> quote -> checks -> paying (paying.py) -> shown

Everything that can be refused is refused before the charge, from public facts alone. What its users call is here; how a
quote is charged and answered is in `paying.py`. Checked in tests/curator/test_curator.py, tests/attacks and tests/laws.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Unpack

from dpcurator.aggregates import AGGREGATES
from dpcurator.curator.batching import Batch, batch_menu, in_question, quote_batch, without
from dpcurator.curator.disjoint import together as planned_together
from dpcurator.curator.paying import Paying
from dpcurator.engines import Engine
from dpcurator.engines.limits import check_core
from dpcurator.errors import Refusal
from dpcurator.language.question import Caps
from dpcurator.language.question import Question as Read
from dpcurator.ledger.ledger import Entry
from dpcurator.numbers import decimal_text
from dpcurator.numbers.rational import Spelled
from dpcurator.numbers.readable import part
from dpcurator.numbers.text_table import pre_html
from dpcurator.plan.bind import bind, under
from dpcurator.plan.canonical import as_json, plan_of
from dpcurator.plan.check_catalog import disagreement
from dpcurator.plan.check_outputs import misfit
from dpcurator.plan.most_common import naming
from dpcurator.plan.nodes import Plan
from dpcurator.pricing.caps_menu import CapsMenu, caps_menu
from dpcurator.pricing.held import lacks_cut_alone, sizes
from dpcurator.pricing.menu import Menu, menu
from dpcurator.pricing.offers import (
    Asking,
    BatchAsking,
    SeveralAsking,
    batch_offer_of,
    capped,
    cut_wanted,
    expected_rows,
    level_of,
    offer_of,
    rows_of,
    said_by,
    takes,
    unpriced,
)
from dpcurator.pricing.quote import CONFIDENCE, Quote, price
from dpcurator.pricing.resolve import resolve, resolved_with_cut, with_cut
from dpcurator.receipts.stored import with_stored
from dpcurator.release.answer import Answer, answer_of
from dpcurator.release.finish import finish
from dpcurator.release.release import Noisy
from dpcurator.values import Charge, Json, read_json

if TYPE_CHECKING:
    from dpcurator.curator.history import Together
    from dpcurator.curator.rows_per_unit import RowsPerUnit
    from dpcurator.curator.tables import Tables
    from dpcurator.fronts.frame import Frame
    from dpcurator.release.column_bounds import FoundBounds
    from dpcurator.release.description import Description

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


@dataclass(repr=False)
class Curator(Paying):
    """A curator: holds private tables and a budget, and answers questions with calibrated noise.

    Open one with `dp.open`. Safe to share among threads; no budget is held in this object, but in the ledger. `quote`,
    `menu`, `caps` and `rehearse` are free; `ask`, `answer`, `rows_per_unit` and `batch` are paid. report: what was read
    of the data frames given to `dp.open`, for the steward alone; None without any. Its methods raise Refusal if a
    question cannot be answered (nothing is charged), OverBudget, Misconfigured, and Fault.

    >>> import dpcurator as dp
    >>> catalog = {
    ...     "curator": {"protects": "patients"}, "ledger": {"epsilon": 4},
    ...     "tables": {"visits": {"unit": "who", "max_total": 5, "columns": {
    ...         "who": "text", "city": {"type": "text", "keys": ["Leeds", "York"]},
    ...         "age": {"type": "integer", "bounds": [0, 110]}}}},
    ... }
    >>> curator = dp.rehearsing(catalog)
    >>> float(curator.quote("SELECT COUNT(*) FROM visits", spend="5%").epsilon)
    0.2

    engine: opens the snapshot that the catalog's data version names; called before a charge. cut: whether answers tell
    how many units are cut (see `Cut`), where a question does not say; curator.cut = False leaves it out.
    """

    def __repr__(self) -> str:
        catalog = self.catalog
        delta = f" and delta {decimal_text(catalog.delta)}" if catalog.delta else ""
        tables = part([table.name for table in catalog.tables])
        budget = f"{catalog.currency} {decimal_text(catalog.budget)}{delta}"
        return f"<Curator: tables={tables}, protects={part(catalog.protects)}, budget {budget}>"

    def _repr_html_(self) -> str:
        return f"{pre_html(repr(self))}{self.tables._repr_html_()}"

    @property
    def tables(self) -> Tables:
        """What can be asked of: each table with its columns, their types, bounds and keys, and what bounds a unit."""
        from dpcurator.curator.tables import Tables

        return Tables(self.catalog)

    def table(self, name: str) -> Frame[Quote, Menu, Answer]:
        """A table by its exact name, to ask in steps: `.where(...).group_by(...).agg(...)`. Raises Refusal."""
        from dpcurator.fronts.frame import start

        return start(self, name, self.catalog.tables)

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
        rows = rows_of(assume_count) or expected_rows(plan, self.catalog)
        budget = self.budget()
        return menu(
            plan, self.catalog, budget.remaining, rows=rows, confidence=level_of(confidence),
            remaining_delta=budget.remaining_delta, assumed=rows_of(assume_count),
        )

    @takes(Asking)
    def caps(self, question: Question, **asked: Unpack[Asking]) -> CapsMenu:
        """What other contribution bounds (max_total) would do to the error bars at the same price. Free.

        The price is as for `quote`, but for `within`. No data is looked at. Raises Refusal.
        """
        syntax = read(question)
        given = said_by(syntax, asked)
        if given.get("within"):
            raise Refusal("bars under several caps need one price.", cure='Give epsilon="0.1" or spend="5%".')
        offer = offer_of(self.catalog, given)
        plan = bind(capped(syntax, asked), self.catalog, AGGREGATES)
        own = offer.quote(self._cut_told(plan, asked), self.catalog)
        wanted = cut_wanted(asked)
        cut = self.cut if wanted is None else wanted

        def quoted(caps: Caps) -> Quote:
            other = under(plan, caps, self.catalog)
            other, of = resolved_with_cut(other) if cut else (other, resolve(other))
            return offer.under(other, of, own)

        return caps_menu(own, quoted, offer.rows or expected_rows(plan, self.catalog))

    @takes(Asking)
    def rows_per_unit(
        self, table: str, *, request_id: str | None = None, analyst: str = "local", **asked: Unpack[Asking]
    ) -> RowsPerUnit:
        """How many units have how many rows in a table, noisy, and the caps that suggests: paid as any question is.

        table: its exact name. The price, request_id and analyst are as for `ask`. Raises Refusal, OverBudget,
        Misconfigured, Fault.
        """
        from dpcurator.curator.rows_per_unit import RowsPerUnit, rows_frame

        frame = rows_frame(self.table(table), self.catalog.protects)
        answer = self.ask(frame, request_id=request_id, analyst=analyst, **asked)
        return RowsPerUnit(table, self.catalog.protects, answer)

    @takes(Asking)
    def ask(
        self,
        question: Question,
        *,
        fresh: bool = False,
        request_id: str | None = None,
        analyst: str = "local",
        stored: bool = False,
        sharpen: bool = False,
        **asked: Unpack[Asking],
    ) -> Answer:
        """The answer, paid for. The same question at the same price again is free and gives the same numbers.

        What earlier answers hold of it is used again and costs nothing, as `quote` says; of several such noisy numbers
        the one with the least noise, so a free answer becomes finer where a finer one was paid.

        The price is as for `quote`. fresh: pay again for independent noise. request_id: names the request, so that a
        retry is never paid twice. stored: only if that costs nothing, as it was paid before; else Refusal.
        sharpen: pay again, and show the mean of all releases of this question that were paid at this price, with its
        own error bar; each of them has a receipt, in `answer.sharpened`, and the mean has none.
        Raises Refusal (nothing charged), OverBudget, Misconfigured, or Fault (charged, and the curator is closed).
        """
        if sharpen:
            if fresh or stored:
                raise Refusal("sharpen pays for new noise by itself.", cure="Leave out `fresh` and `stored`.")
            return self._sharpened(self._whole(question, asked), request_id=request_id, analyst=analyst,
                                   asked=words_of(read(question), asked))
        own = request_id is not None or fresh  # then nothing else is asked in its place
        syntax = read(question)
        return self._paid(
            self._whole(syntax, asked) if own else self._cheapest(syntax, asked, analyst),
            fresh=fresh, request_id=request_id, analyst=analyst,
            asked=words_of(syntax, asked), cut=cut_wanted(asked) is True, stored=stored,
        )

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

    @takes(SeveralAsking)
    def rehearse_batch(self, questions: Sequence[Question], **asked: Unpack[SeveralAsking]) -> tuple[Answer, ...]:
        """The answers of `batch` over rows made up from the catalog alone, as `rehearse` for one question. Free.

        Priced as by `quote_batch`; without a price, spend="5%". Raises Refusal.
        """
        free = unpriced(asked)
        batch = self._whole_batch(questions, False, asked | {"spend": "5%"} if free else asked)
        return tuple(self._rehearsed(quote, unpriced=free) for quote in batch.asked)

    @takes(SeveralAsking)
    def batch(
        self,
        questions: Sequence[Question],
        *,
        as_one: bool = False,
        fresh: bool = False,
        request_id: str | None = None,
        analyst: str = "local",
        **asked: Unpack[SeveralAsking],
    ) -> tuple[Answer, ...]:
        """The answers to several questions: one charge, one statement, all or nothing. Priced as by `quote_batch`.

        The same batch at the same price again is free and gives the same numbers. Raises as `ask` does.
        """
        whole = batch = self._whole_batch(questions, as_one, asked)
        if batch.paid and not fresh:
            batch = self._rest(batch, self._batch_request(batch, analyst, request_id))
        if not batch.own:
            return tuple(self._answered_before(batch, at, None, analyst) for at in range(len(batch.asked)))
        words = "; ".join(words_of(question, asked) for question in questions)
        wanted = replace(self._batch_request(batch, analyst, request_id), asked=words)

        def work(charge: Charge, engine: Engine) -> tuple[str, list[str]]:
            return self._noisy_batch(self._batch_as_charged(whole, batch, charge, analyst), charge, engine, analyst)

        text, charge, repeated = self._settled(wanted, work, fresh=fresh)
        stored: list[Json | None] = read_json(text)["batch"]
        own = self._batch_as_charged(whole, batch, charge, analyst)
        answers: list[Answer] = []
        for at, (quote, place) in enumerate(zip(own.asked, own.places, strict=True)):
            part = None if place is None else stored[place]
            answers.append(
                self._answered_before(own, at, charge, analyst) if place is None or part is None
                else self._told(own.due(place), part, quote.cost, repeated=repeated)
            )
        return tuple(answers)

    @takes(Asking)
    def bounds(self, column: str, *, share: Spelled | None = None, fresh: bool = False, analyst: str = "local",
               **asked: Unpack[Asking]) -> FoundBounds:
        """Bounds for a column of numbers, where nobody knows any: two quantiles of a public grid of all doubles, paid
        as any question is. Declared bounds are not used.

        column: with its table, as "visits.cost". share: how many of the rows may lie beyond each end, as 0.05. Caps:
        unless some are given, each unit counts as one row in all. The rest is as for `ask`, but for `within`. Raises as
        `ask` does.

        >>> import dpcurator as dp
        >>> catalog = {
        ...     "curator": {"protects": "patients"}, "ledger": {"epsilon": 4},
        ...     "tables": {"visits": {"unit": "who", "max_total": 5, "columns": {"who": "text", "cost": "float"}}},
        ... }
        >>> print(dp.rehearsing(catalog).bounds_question("visits.cost")[:34])
        SELECT COUNT("cost") AS n, QUANTIL
        """
        from dpcurator.release.column_bounds import FoundBounds, asked_of, at_one_row

        found = asked_of(self.tables, column, share)
        return FoundBounds(found, self.ask(found.sql, fresh=fresh, analyst=analyst, **at_one_row(found, asked)))

    def bounds_question(self, column: str, *, share: Spelled | None = None) -> str:
        """The question that `bounds` asks, as SQL. Free. Raises Refusal."""
        from dpcurator.release.column_bounds import asked_of

        return asked_of(self.tables, column, share).sql

    @takes(BatchAsking)
    def describe(
        self, table: str, *, rehearse: bool = False, fresh: bool = False, request_id: str | None = None,
        analyst: str = "local", **asked: Unpack[BatchAsking],
    ) -> Description:
        """Every declared column of a table, summarised by its type: one charge, for a batch of questions.

        Numbers have n, the missing share, mean, standard deviation, quartiles and median; dates their median and first
        and last twentieth; listed keys their numbers of rows; other columns how many different values they have. The
        questions divide the price so that bars are balanced. rehearse: over made-up rows, for nothing. The rest is as
        for `batch`. Raises as `batch` does.

        >>> import dpcurator as dp
        >>> catalog = {
        ...     "curator": {"protects": "patients"}, "ledger": {"epsilon": 4},
        ...     "tables": {"visits": {"unit": "who", "max_total": 5, "columns": {
        ...         "who": "text", "city": {"type": "text", "keys": ["Leeds", "York"]},
        ...         "age": {"type": "integer", "bounds": [0, 110]}}}},
        ... }
        >>> found = dp.rehearsing(catalog).describe("visits", spend="50%", rehearse=True)
        >>> list(found["age"])
        ['n', 'missing', 'mean', 'sd', 'q1', 'median', 'q3']
        """
        from dpcurator.release.description import Description, questions_of

        questions = questions_of(self.tables[table])
        own: SeveralAsking = {**asked, "shares": None if asked.get("within") else questions.shares}
        if rehearse:
            answers = self.rehearse_batch(questions.texts, **own)
        else:
            answers = self.batch(questions.texts, fresh=fresh, request_id=request_id, analyst=analyst, **own)
        return Description(table, self.catalog.protects, questions, answers)

    @takes(Asking)
    def rehearse(self, question: Question, **asked: Unpack[Asking]) -> Answer:
        """The answer over rows made up from the catalog alone: free, without a receipt, marked `made_up`.

        The price, for the noise alone, is as for `quote`; without one, spend="5%". No data and no ledger is looked at,
        and nothing is charged or stored. Raises Refusal.
        """
        free = unpriced(asked) and not read(question).price
        return self._rehearsed(self._whole(question, asked | {"spend": "5%"} if free else asked), unpriced=free)

    def _rehearsed(self, quote: Quote, *, unpriced: bool) -> Answer:
        from dpcurator.curator.rehearsal import rehearsal_notes, rehearsed

        found = rehearsed(quote, self.entropy)
        shaped = self._shaped(quote, found.cells, found.cut, noisy=found.noisy)
        told = rehearsal_notes(quote, found, unpriced=unpriced)
        return replace(shaped, made_up=True, cost=Fraction(0), notes=(*told, *shaped.notes))

    def answer(
        self, quote: Quote, *, fresh: bool = False, request_id: str | None = None, analyst: str = "local"
    ) -> Answer:
        """Pay a quote and answer it: what is paid is made anew from its plan and price. Raises as `ask` does."""
        return self._paid(
            self._own(quote), fresh=fresh, request_id=request_id, analyst=analyst, cut=lacks_cut_alone(quote)
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
            raise Refusal("this is not a quote of this curator.", cure="Ask for one with `quote`.")
        if not own.free:
            check_core(own.lowered.core)
        return own

    def recall(self, name: str, *, analyst: str = "local") -> tuple[Answer, ...]:
        """The stored answers of this name, as it is printed below an answer, for nothing: of a batch all that it paid.

        Raises Refusal where this analyst has no such answer, Misconfigured where the curator is closed.
        """
        from dpcurator.receipts.named import stored_named

        self.ledger.require_open()
        parts, _ = stored_named(self.ledger, name, analyst)
        spent, total, currency = self.budget().spent, self.catalog.budget, self.catalog.currency
        shaped = [(answer_of(part["answer"], total=total, currency=currency), part["receipt"]) for part in parts]
        return tuple(
            one.paid(cost=Fraction(signed[currency]), spent=spent, receipt=signed, repeated=True)  # as asked again
            for one, signed in shaped
        )

    def together(self, *, delta: Spelled | None = None) -> Together | None:
        """What all charges so far reveal together at a delta, had every price been fixed beforehand: for information.

        The ledger does not go by it: see `dpcurator.curator.history`. None before the first charge. Raises Refusal.
        """
        from dpcurator.curator.history import together

        return together(self.ledger, delta=delta)

    def log(self) -> Iterator[Entry]:
        """The history of this catalog's ledger. For the steward: it shows every analyst's requests."""
        return self.ledger.events()

    def verify(self, receipt: Json) -> Any:
        """Check a receipt against its own plan, this catalog and this ledger: see `dpcurator.receipts.verification`.

        Never raises Refusal: the step `form` then does not hold.
        """
        from dpcurator.receipts.verification import verify

        return verify(receipt, catalog=self.catalog, ledger=self.ledger)

    def reopen(self) -> bool:
        """The steward's, after looking into a fault: questions are taken again."""
        return self.ledger.reopen()


def _nothing(quote: Quote) -> Noisy:
    """A release in which every reading is 0; with unknown keys, of no key."""
    keys = quote.lowered.keys
    return Noisy(keys, tuple((0,) * size for size in sizes(quote, len(keys))), quote.reach.other)
