"""The curator: from a question to an answer, in the one order that keeps the promise (design 2).

    plan -> quote -> checks -> charge (durable) -> exact integers -> noise -> answer (durable) -> shown

Everything that can be refused is refused before the charge, from public facts alone. After the charge nothing is
refunded, and whatever fails says one constant sentence and closes the curator: which failure it was may depend on data.
Checked in tests/curator/test_curator.py, tests/attacks and tests/laws.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Final, Unpack

from dpcurator.aggregates import AGGREGATES
from dpcurator.catalog.model import Catalog
from dpcurator.curator.batching import Batch, in_question, quote_batch, without
from dpcurator.curator.call_depth import room_for
from dpcurator.engines import Engine
from dpcurator.engines.limits import check_core
from dpcurator.entropy import Entropy, SystemEntropy
from dpcurator.errors import Fault, Misconfigured, Refusal
from dpcurator.language.question import Caps
from dpcurator.language.question import Question as Read
from dpcurator.ledger import Ledger, Stored
from dpcurator.ledger.canonical import canonical_text
from dpcurator.ledger.keys import SigningKey
from dpcurator.ledger.ledger import Entry
from dpcurator.numbers import decimal_text
from dpcurator.numbers.rational import Spelled
from dpcurator.numbers.readable import part
from dpcurator.numbers.text_table import pre_html
from dpcurator.plan.bind import bind
from dpcurator.plan.canonical import as_json, plan_of
from dpcurator.plan.check_catalog import disagreement
from dpcurator.plan.check_outputs import misfit
from dpcurator.plan.facts import facts_of, facts_of_batch
from dpcurator.plan.nodes import Plan, owners_of
from dpcurator.pricing.caps_menu import CapsMenu, caps_menu
from dpcurator.pricing.menu import Menu, menu
from dpcurator.pricing.offers import (
    Asking,
    BatchAsking,
    batch_offer_of,
    capped,
    expected_rows,
    level_of,
    offer_of,
    rows_of,
    said_by,
    takes,
    unpriced,
)
from dpcurator.pricing.quote import CONFIDENCE, Quote, price
from dpcurator.receipts import receipt as receipts
from dpcurator.receipts.stored import as_shared, kept_part, with_stored, worth_noting
from dpcurator.release.answer import Answer, answer_of
from dpcurator.release.finish import finish
from dpcurator.release.notes import notes
from dpcurator.release.release import Noisy, release, released_before
from dpcurator.values import Budget, Charge, Exact, Json, Request, read_json

if TYPE_CHECKING:
    from dpcurator.curator.history import Together
    from dpcurator.curator.tables import Tables
    from dpcurator.fronts.frame import Frame
    from dpcurator.snapshot.report import Report

    Question = str | Frame[Any, Any, Any]

ROOM: Final = 700  # calls inside one another that any answer may need: its largest expressions are 150 deep, 4 a level


def read(question: Question) -> Read:
    """A question as its front reads it, an SQL text or a frame. Raises Refusal."""
    from dpcurator.fronts.frame import Frame
    from dpcurator.fronts.sql import parse

    return question.question() if isinstance(question, Frame) else parse(question)


def words_of(question: Question, asked: BatchAsking) -> str:
    """A question, under its caps, as canonical SQL."""
    from dpcurator.language.render import render

    return render(capped(read(question), asked))


def _unpriced(question: Read) -> Read:
    """A question of a batch, which has the batch's price. Raises Refusal."""
    if question.price:
        raise Refusal("a question of a batch has no price of its own.", cure="Give the batch one price for all.")
    return question


@dataclass(repr=False)
class Curator:
    """A curator: holds private tables and a budget, and answers questions with calibrated noise.

    Open one with `dp.open`. Safe to share among threads; no budget is held in this object, but in the ledger. `quote`,
    `menu`, `caps` and `rehearse` are free; `ask`, `answer` and `batch` are paid. report: what was read of the data
    frames given to `dp.open`, for the steward alone; None without any. Its methods raise Refusal if a question cannot
    be answered (nothing is charged), OverBudget, Misconfigured, and Fault.

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

    engine: opens the snapshot that the catalog's data version names; called before a charge.
    """

    catalog: Catalog
    ledger: Ledger
    key: SigningKey
    engine: Callable[[], Engine]
    entropy: Entropy = field(default_factory=SystemEntropy)
    report: Report | None = field(default=None, repr=False, compare=False)

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

    def _bound(self, question: Read, asked: BatchAsking) -> Plan:
        return bind(capped(question, asked), self.catalog, AGGREGATES)

    @takes(Asking)
    def quote(self, question: Question, *, analyst: str = "local", **asked: Unpack[Asking]) -> Quote:
        """What a question would cost and how wrong its answer might be. Free; no data is looked at.

        Noisy queries that this analyst's earlier answers hold, with no wider noise than the price would buy, are used
        again: they cost nothing, and the quote says which.

        One price: epsilon or rho (a number above 0; the ledger's other currency is converted), spend (a share of the
        whole budget, as "5%"), or within (a wanted error for each named column). delta: at most this much of the
        ledger's delta, by default the same share of it. assume_count: how many rows a group has, for `within` a mean.
        confidence: of the error bars. Numbers may be written 0.1, "0.1" or "1/10". max_total, max_rows, max_groups:
        contribution bounding for this question, instead of the catalog's. Raises Refusal.
        """
        whole = self._whole(question, asked)
        return whole if whole.free else with_stored(whole, self.ledger, analyst)

    def _whole(self, question: Question, asked: Asking) -> Quote:
        """The quote of a question as if nothing of it had been paid before."""
        syntax = read(question)
        offer = offer_of(self.catalog, said_by(syntax, asked))
        quote = offer.quote(self._bound(syntax, asked), self.catalog)
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
    ) -> Menu:
        """What each share of the budget would buy. Free; no data is looked at. The caps are as for `quote`."""
        plan = self._bound(read(question), {"max_total": max_total, "max_rows": max_rows, "max_groups": max_groups})
        rows = rows_of(assume_count) or expected_rows(plan, self.catalog)
        budget = self.budget()
        return menu(
            plan, self.catalog, budget.remaining, rows=rows, confidence=level_of(confidence),
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
            raise Refusal("bars under several caps need one price.", cure='Give epsilon="0.1" or spend="5%".')
        offer = offer_of(self.catalog, given)

        def quoted(caps: Caps | None) -> Quote:
            plan = self._bound(syntax, asked) if caps is None else bind(
                replace(syntax, caps=caps), self.catalog, AGGREGATES
            )
            return offer.quote(plan, self.catalog)

        own = self._bound(syntax, asked)
        return caps_menu(quoted, offer.rows or expected_rows(own, self.catalog))

    @takes(Asking)
    def ask(
        self,
        question: Question,
        *,
        fresh: bool = False,
        request_id: str | None = None,
        analyst: str = "local",
        **asked: Unpack[Asking],
    ) -> Answer:
        """The answer, paid for. The same question at the same price again is free and gives the same numbers.

        What earlier answers hold of it is used again and costs nothing, as `quote` says; of several such noisy numbers
        the one with the least noise, so a free answer becomes finer where a finer one was paid.

        The price is as for `quote`. fresh: pay again for independent noise. request_id: names the request, so that a
        retry is never paid twice.
        Raises Refusal (nothing charged), OverBudget, Misconfigured, or Fault (charged, and the curator is closed).
        """
        return self._paid(
            self._whole(question, asked), fresh=fresh, request_id=request_id, analyst=analyst,
            asked=words_of(question, asked),
        )

    @takes(BatchAsking)
    def quote_batch(
        self, questions: Sequence[Question], *, as_one: bool = False, analyst: str = "local",
        **asked: Unpack[BatchAsking],
    ) -> Batch:
        """What several questions cost together: one price for all, shared equally. Free. Raises Refusal.

        A question that rests on noisy queries of this analyst's earlier answers alone costs nothing, as by `quote`.

        as_one: in a ledger of epsilon and delta, charge them as one certified point at `delta` (by default, the price's
        share of the ledger's), where its epsilon is below the sum of the questions'.
        """
        batch = self._whole_batch(questions, as_one, asked)
        if batch.point is not None or not batch.paid:
            return batch
        return without(batch, [with_stored(quote, self.ledger, analyst) for quote in batch.paid])

    def _whole_batch(self, questions: Sequence[Question], as_one: bool, asked: BatchAsking) -> Batch:
        """The quote of a batch as if nothing of it had been paid before."""
        shared, level = batch_offer_of(self.catalog, asked)
        if isinstance(questions, str) or not isinstance(questions, Iterable):
            raise Refusal("a batch is a list of questions.", cure='Write it as in batch(["SELECT COUNT(*) ..."]).')
        plans: list[Plan] = []
        for number, question in enumerate(questions, 1):
            try:
                plans.append(self._bound(_unpriced(read(question)), asked))
            except Refusal as refused:
                raise in_question(number, refused) from None
        return quote_batch(plans, shared, self.catalog, confidence=level, as_one=as_one)

    @takes(BatchAsking)
    def batch(
        self,
        questions: Sequence[Question],
        *,
        as_one: bool = False,
        fresh: bool = False,
        request_id: str | None = None,
        analyst: str = "local",
        **asked: Unpack[BatchAsking],
    ) -> tuple[Answer, ...]:
        """The answers to several questions: one charge, one statement, all or nothing. Priced as by `quote_batch`.

        The same batch at the same price again is free and gives the same numbers. Raises as `ask` does.
        """
        whole = batch = self._whole_batch(questions, as_one, asked)
        if batch.paid and not fresh:
            batch = self._rest(batch, self._batch_request(batch, analyst, request_id))
        if not batch.own:
            return tuple(self._unpaid(quote, analyst) for quote in batch.asked)
        words = "; ".join(words_of(question, asked) for question in questions)
        wanted = replace(self._batch_request(batch, analyst, request_id), asked=words)

        def work(charge: Charge, engine: Engine) -> tuple[str, list[str]]:
            return self._noisy_batch(self._batch_as_charged(whole, batch, charge, analyst), charge, engine, analyst)

        text, charge, repeated = self._settled(wanted, work, fresh=fresh)
        stored: list[Json | None] = read_json(text)["batch"]
        own = self._batch_as_charged(whole, batch, charge, analyst)
        answers: list[Answer] = []
        for quote, place in zip(own.asked, own.places, strict=True):
            part = None if place is None else stored[place]
            told = self._unpaid(quote, analyst) if part is None else self._told(part, quote.cost, repeated=repeated)
            answers.append(told)
        return tuple(answers)

    def _batch_request(self, batch: Batch, analyst: str, request_id: str | None = None) -> Request:
        """Bound to the whole batch, whatever of it was paid before; its price is that of the rest."""
        return replace(
            self.request(batch.paid[0], request_id=request_id, analyst=analyst),
            plan=batch.digest, catalog=facts_of_batch(batch.facts), parameters=canonical_text(batch.parameters()),
            epsilon=batch.epsilon, rho=batch.rho, delta=batch.delta, shared=batch.shared(),
            owners=tuple(dict.fromkeys(pair for quote in batch.paid for pair in owners_of(quote.plan))),
        )

    def _rest(self, batch: Batch, request: Request) -> Batch:
        """The batch without the questions all of whose readings are stored. One that the ledger knows, or that is
        charged as one, is left as it is; a question of which some is missing is paid whole."""
        if batch.point is not None or self.ledger.knows(request):
            return batch
        return without(batch, [with_stored(quote, self.ledger, request.analyst) for quote in batch.paid])

    def _batch_as_charged(self, whole: Batch, batch: Batch, charge: Charge, analyst: str) -> Batch:
        """The batch that was charged: one that is resumed or repeated may have been when the ledger held less."""
        if charge.shared == batch.shared():
            return batch
        places: list[Json | None] = read_json(charge.shared)["batch"] if charge.shared else [None] * len(whole.paid)
        due = [quote if place is None else as_shared(quote, self.ledger, analyst, place)
               for quote, place in zip(whole.paid, places, strict=True)]
        return without(whole, due)

    def _unpaid(self, quote: Quote, analyst: str) -> Answer:
        """An answer that costs nothing: of public values, or of readings that were paid before."""
        return self._public(quote) if quote.held is None else self._released_before(quote, analyst)

    def _noisy_batch(self, batch: Batch, charge: Charge, engine: Engine, analyst: str) -> tuple[str, list[str]]:
        paid = [batch.paid[number] for number in batch.own]
        exact = engine.evaluate_all([quote.lowered.core for quote in paid])
        parts: list[Json | None] = [None] * len(batch.paid)
        for number, quote, one in zip(batch.own, paid, exact, strict=True):
            parts[number] = self._noisy_part(quote, one, charge, analyst, batch.told(number))
        names = [name for number, quote in zip(batch.own, paid, strict=True)
                 for name in worth_noting(quote, self.ledger, analyst, charge.request_id, number)]
        return canonical_text({"batch": parts}), list(dict.fromkeys(names))

    @takes(Asking)
    def rehearse(self, question: Question, **asked: Unpack[Asking]) -> Answer:
        """The answer over rows made up from the catalog alone: free, without a receipt, marked `made_up`.

        The price, for the noise alone, is as for `quote`; without one, spend="5%". No data and no ledger is looked at,
        and nothing is charged or stored. Raises Refusal.
        """
        from dpcurator.curator.rehearsal import rehearsal_notes, rehearsed

        free = unpriced(asked) and not read(question).price
        quote = self._whole(question, asked | {"spend": "5%"} if free else asked)
        found = rehearsed(quote, self.entropy)
        shaped = self._shaped(quote, found.cells)
        told = rehearsal_notes(quote, found, unpriced=free)
        return replace(shaped, made_up=True, cost=Fraction(0), notes=(*told, *shaped.notes))

    def answer(
        self, quote: Quote, *, fresh: bool = False, request_id: str | None = None, analyst: str = "local"
    ) -> Answer:
        """Pay a quote and answer it: what is paid is made anew from its plan and price. Raises as `ask` does."""
        return self._paid(self._own(quote), fresh=fresh, request_id=request_id, analyst=analyst)

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

    def _paid(self, whole: Quote, *, fresh: bool, request_id: str | None, analyst: str, asked: str = "") -> Answer:
        if whole.free:
            return self._public(whole)
        request = self.request(whole, request_id=request_id, analyst=analyst, asked=asked)
        quote = whole if fresh else self._due(whole, request)
        if quote.held is not None and quote.held.all:
            return self._released_before(quote, analyst)
        if quote.held is not None:
            shared = canonical_text(quote.held.as_json())
            request = replace(request, shared=shared, epsilon=quote.epsilon, rho=quote.rho, delta=quote.delta)

        def work(charge: Charge, engine: Engine) -> tuple[str, list[str]]:
            own = self._as_charged(whole, quote, charge, analyst)
            return self._noisy(own, charge, engine, analyst)

        text, charge, repeated = self._settled(request, work, fresh=fresh)
        cost = charge.rho if self.catalog.currency == "rho" else charge.epsilon
        return self._told(read_json(text), cost, repeated=repeated)

    def _due(self, whole: Quote, request: Request) -> Quote:
        """The quote with what the ledger holds of it; the whole one where the ledger knows this very request."""
        if self.ledger.knows(request):
            return whole
        return with_stored(whole, self.ledger, request.analyst)

    def _as_charged(self, whole: Quote, quote: Quote, charge: Charge, analyst: str) -> Quote:
        """The quote that was charged. A request that is resumed may have been charged when the ledger held less."""
        if charge.shared == ("" if quote.held is None else canonical_text(quote.held.as_json())):
            return quote
        if not charge.shared:
            return whole
        return as_shared(whole, self.ledger, analyst, read_json(charge.shared))

    def _released_before(self, quote: Quote, analyst: str) -> Answer:
        """An answer whose readings were all paid and released before: nothing is charged, drawn, read or stored."""
        self.ledger.require_open()
        shaped = self._shaped(quote, finish(quote, released_before(quote)))
        signed = receipts.write_shared(quote, shaped.core_json(), analyst=analyst, key=self.key)
        return shaped.paid(cost=Fraction(0), spent=self.budget().spent, receipt=signed, repeated=True)

    def _settled(
        self, asked: Request, work: Callable[[Charge, Engine], tuple[str, list[str]]], *, fresh: bool
    ) -> tuple[str, Charge, bool]:
        """Charge, evaluate, store: the stored text of the answer, its charge, and whether it was there already."""
        engine = self.engine()
        if not self.entropy.releasable:
            raise Misconfigured("this curator's entropy is for tests: its answers must not be released.")
        if not room_for(ROOM):
            raise Refusal("this was called from too deep a stack of calls.", cure="Ask from nearer the top.")
        charged = self.ledger.charge(asked, fresh=fresh)
        if isinstance(charged, Stored):
            return charged.answer, charged.charge, True
        text, readings = self._evaluate(lambda: work(charged, engine))
        stored = self.ledger.answer(charged, text, readings)
        return stored, charged, stored != text

    def request(
        self, quote: Quote, *, request_id: str | None = None, analyst: str = "local", asked: str = ""
    ) -> Request:
        """What the ledger is asked to charge for a quote. asked: the question as SQL, for the log."""
        return Request(
            analyst=analyst,
            plan=quote.plan_digest,
            catalog=facts_of(quote.plan, self.catalog),
            data_version=self.catalog.data_version,
            parameters=canonical_text(quote.parameters()),
            epsilon=quote.epsilon,
            delta=quote.delta,
            rho=quote.rho,
            request_id=request_id,
            owners=owners_of(quote.plan),
            asked=asked,
        )

    def _evaluate(self, work: Callable[[], tuple[str, list[str]]]) -> tuple[str, list[str]]:
        """Data is touched below here and nowhere else. Any failure is a Fault without a cause, and an interruption is
        raised anew: the frames that held exact integers are gone, so no traceback can reach them."""
        stopped: type[BaseException] | None = None
        try:
            return work()
        except Exception:
            pass
        except BaseException as interruption:  # the user's own Ctrl-C: nothing was released, and asking again resumes
            stopped = type(interruption)
        if stopped is not None:
            raise stopped
        self._close()
        raise Fault

    def _noisy(self, quote: Quote, charge: Charge, engine: Engine, analyst: str) -> tuple[str, list[str]]:
        """The text to store, and the names of the readings in it to be found again."""
        part = self._noisy_part(quote, engine.evaluate(quote.lowered.core), charge, analyst, None)
        return canonical_text(part), worth_noting(quote, self.ledger, analyst, charge.request_id, 0)

    def _noisy_part(self, quote: Quote, exact: Exact, charge: Charge, analyst: str, batch: Json | None) -> Json:
        """An answer and its receipt, from exact integers."""
        noisy = release(quote, exact, self.entropy)
        core = self._shaped(quote, finish(quote, noisy)).core_json()
        signed = receipts.write(quote, charge, core, analyst=analyst, key=self.key, batch=batch)
        place = (charge.request_id, 0 if batch is None else batch["index"])
        return kept_part(quote, noisy, analyst, place, core, signed)

    def _close(self) -> None:
        """Where the ledger cannot be written either, it takes no charge: the Fault is raised all the same."""
        with suppress(Exception):
            self.ledger.close_after_fault()

    def _public(self, quote: Quote) -> Answer:
        """Every value is a public constant: nothing is read or charged. It is signed, at no price."""
        shaped = self._shaped(quote, finish(quote, None))
        signed = receipts.write_public(quote, shaped.core_json(), key=self.key)
        return shaped.paid(cost=Fraction(0), spent=self.budget().spent, receipt=signed, repeated=False)

    def _told(self, stored: Json, cost: Fraction, *, repeated: bool) -> Answer:
        receipt: Json = stored["receipt"]
        spent = self.budget().spent if repeated else Fraction(receipt["ledger"]["spent"])
        shaped = answer_of(stored["answer"], total=self.catalog.budget, currency=self.catalog.currency)
        return shaped.paid(cost=cost, spent=spent, receipt=receipt, repeated=repeated)

    def _shaped(self, quote: Quote, cells: Any) -> Answer:
        return Answer(
            columns=tuple(output.title for output in quote.plan.outputs),
            shown=tuple(output.shown for output in quote.plan.outputs),
            cells=cells,
            confidence=quote.confidence,
            notes=notes(quote.plan, quote.reach, quote.confidence, self.catalog.protects),
            cost=quote.cost,
            spent=Fraction(0),
            total=self.catalog.budget,
            currency=self.catalog.currency,
        )

    def budget(self) -> Budget:
        """Where the ledger stands."""
        return self.ledger.budget()

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
        """Check a receipt against its own plan, this catalog and this ledger: see `dpcurator.receipts.verification`."""
        from dpcurator.receipts.verification import verify

        return verify(receipt, catalog=self.catalog, ledger=self.ledger)

    def reopen(self) -> bool:
        """The steward's, after looking into a fault: questions are taken again."""
        return self.ledger.reopen()


def _nothing(quote: Quote) -> Noisy:
    """A release in which every reading is 0; with unknown keys, of no key."""
    groups = len(quote.lowered.keys) + quote.reach.other
    return Noisy(quote.lowered.keys, tuple((0,) * groups for _ in quote.priced), quote.reach.other)
