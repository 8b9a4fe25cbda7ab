"""The curator: from a question to an answer, in the one order that keeps the promise (design 2).

    plan -> quote -> checks (quoting.py) -> charge -> noise -> stored (paying.py) -> shown

Everything that can be refused is refused before the charge, from public facts alone. Here is what is paid for and what
is shown; what is free until then is in `quoting.py`, and how a quote is charged and answered in `paying.py`. Checked in
tests/curator/test_curator.py, tests/attacks and tests/laws.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Unpack

from dpcurator.curator.quoting import Quoting, read, words_of
from dpcurator.engines import Engine
from dpcurator.errors import Refusal
from dpcurator.ledger.history import Entry
from dpcurator.numbers import decimal_text
from dpcurator.numbers.rational import Spelled
from dpcurator.numbers.readable import part
from dpcurator.numbers.text_table import pre_html
from dpcurator.pricing.held import lacks_cut_alone
from dpcurator.pricing.menu import Menu
from dpcurator.pricing.offers import Asking, BatchAsking, PricedAsking, SeveralAsking, cut_wanted, takes, unpriced
from dpcurator.pricing.quote import Quote
from dpcurator.release.answer import Answer, answer_of
from dpcurator.values import Charge, Json, read_json

if TYPE_CHECKING:
    from dpcurator.curator.history import Together
    from dpcurator.curator.quoting import Question
    from dpcurator.curator.rows_per_unit import RowsPerUnit
    from dpcurator.curator.tables import Tables
    from dpcurator.fronts.frame import Frame
    from dpcurator.release.column_bounds import FoundBounds
    from dpcurator.release.description import Description


@dataclass(repr=False)
class Curator(Quoting):
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
        sharpen: pay again, and show the mean of all releases of this question, those at other prices weighted by
        inverse variance, with its own error bar; each has a receipt, in `answer.sharpened`, and the mean has none.
        Raises Refusal (nothing charged), OverBudget, Misconfigured, or Fault (charged, and the curator is closed).
        """
        if sharpen:
            if fresh or stored:
                raise Refusal("`sharpen` pays for new noise already.", cure="Leave out `fresh` and `stored`.")
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

        cores = [batch.due(number).lowered.core for number in batch.own]
        text, charge, repeated = self._settled(wanted, work, cores, fresh=fresh)
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

    @takes(PricedAsking)
    def bounds(self, column: str, *, share: Spelled | None = None, fresh: bool = False, analyst: str = "local",
               **asked: Unpack[PricedAsking]) -> FoundBounds:
        """Bounds for a column of numbers, where nobody knows any: two quantiles of a public grid of all doubles, paid
        as any question is. Declared bounds are not used.

        column: with its table, as "visits.cost". share: how many of the rows may lie beyond each end, as 0.05. Caps:
        unless some are given, each unit counts as one row in all. The rest is as for `ask`. Raises as `ask` does.

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


