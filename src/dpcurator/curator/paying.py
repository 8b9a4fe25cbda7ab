"""Paying and answering: from a priced question to a stored answer, in the one order that keeps the promise (design 2).

    charge (durable) -> exact integers -> noise -> answer (durable) -> shown

With a tick the answer, or the fault, waits for a whole number of ticks since the charge before the ledger is told:
whoever asks for it elsewhere, or counts events by charges of his own, learns as little of how long the data took as
from the reply (semantics 10.3). What the ledger holds of a question is used as it is, and neither charged nor drawn
(`pricing/held.py`). After the charge nothing is refunded, and whatever fails says one constant sentence and closes the
curator: which failure it was may depend on data. Checked in tests/curator/test_curator.py,
tests/curator/test_readings.py, tests/server/test_limits.py, tests/attacks, tests/laws.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Final

from dpcurator.catalog.model import Catalog
from dpcurator.curator.batch import Batch, in_its_order, without
from dpcurator.curator.call_depth import room_for
from dpcurator.engines import Engine, check_on
from dpcurator.entropy import Entropy, SystemEntropy
from dpcurator.errors import Fault, Misconfigured, Refusal
from dpcurator.ledger import Ledger, Stored
from dpcurator.ledger.canonical import canonical_text
from dpcurator.ledger.keys import SigningKey
from dpcurator.plan.core import CorePlan
from dpcurator.plan.facts import facts_of, facts_of_batch
from dpcurator.plan.nodes import owners_of
from dpcurator.pricing.held import cutless
from dpcurator.pricing.quote import Quote
from dpcurator.receipts import receipt as receipts
from dpcurator.receipts.readings import noisy_of
from dpcurator.receipts.stored import as_shared, kept_part, releases_of, with_stored, worth_noting
from dpcurator.release.answer import Answer, answer_of
from dpcurator.release.cut import MISSING, Cut, cut_of
from dpcurator.release.finish import finish
from dpcurator.release.notes import notes
from dpcurator.release.release import Noisy, Parts, release, released_before
from dpcurator.release.sharpened import check_sharpening, sharpened
from dpcurator.values import Budget, Charge, Exact, Json, Request, read_json

if TYPE_CHECKING:
    from dpcurator.snapshot.report import Report


ROOM: Final = 700  # calls inside one another that any answer may need: its largest expressions are 150 deep, 4 a level


def to_tick(began: float, tick: float) -> float:
    """Seconds until the next whole number of ticks since `began`, a time of time.monotonic(); 0 without a tick."""
    if tick <= 0:
        return 0.0
    passed = time.monotonic() - began
    return (passed // tick + 1) * tick - passed


@dataclass(repr=False)
class Paying:
    """What a curator answers with, and how it is paid. See `Curator`, which is what its users see of it."""

    catalog: Catalog
    ledger: Ledger
    key: SigningKey
    engine: Callable[[], Engine]
    entropy: Entropy = field(default_factory=SystemEntropy)
    report: Report | None = field(default=None, repr=False, compare=False)
    cut: bool = True
    tick: float = field(default=0.0, repr=False, compare=False)  # seconds; 0: an answer is stored when it is there

    def _paid(
        self, whole: Quote, *, fresh: bool, request_id: str | None, analyst: str, asked: str = "", cut: bool = False,
        stored: bool = False, every: bool = False,
    ) -> Answer:
        """cut: where all but the cut was paid before, that is paid too. stored: nothing is charged. every: all of its
        readings are noted, so that a mean of several releases can be made."""
        if stored and fresh and request_id is None:
            raise Refusal("`fresh` pays for new noise, and `stored` shows what was paid before.",
                          cure="Leave out one of them.")
        if whole.free:
            return self._public(whole)
        request = self.request(whole, request_id=request_id, analyst=analyst, asked=asked)
        quote = whole if fresh else self._due(whole, request, cut=cut)
        if quote.held is not None and quote.held.all:
            return self._released_before(quote, analyst)
        if stored and self.ledger.stored(request) is None:
            raise Refusal("this answer is not stored for the data in force, and `stored` pays for no other.",
                          cure="Ask without `stored`, at its price.")
        if quote.held is not None:
            shared = canonical_text(quote.held.as_json())
            request = replace(request, shared=shared, epsilon=quote.epsilon, rho=quote.rho, delta=quote.delta)

        def work(charge: Charge, engine: Engine) -> tuple[str, list[str]]:
            own = self._as_charged(whole, quote, charge, analyst)
            return self._noisy(own, charge, engine, analyst, every=every)

        text, charge, repeated = self._settled(request, work, [quote.lowered.core], fresh=fresh)
        cost = charge.rho if self.catalog.currency == "rho" else charge.epsilon
        own = self._as_charged(whole, quote, charge, analyst)
        return self._told(own, read_json(text), cost, repeated=repeated)

    def _due(self, whole: Quote, request: Request, *, cut: bool) -> Quote:
        """The quote with what the ledger holds of it; the whole one where the ledger knows this very request."""
        if self.ledger.knows(request):
            return whole
        due = with_stored(whole, self.ledger, request.analyst, cut=cut)
        # What is stored may be of this very request, asked elsewhere at once: then it is that answer, with its receipt.
        return whole if due.held is not None and due.held.all and self.ledger.knows(request) else due

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
        noisy = released_before(quote)
        shaped = self._shaped(quote, finish(quote, noisy), cut_of(quote, noisy), noisy=noisy)
        signed = receipts.write_shared(quote, shaped.core_json(), analyst=analyst, key=self.key)
        left_out = quote.held is not None and quote.held.cutless is not None
        hints = (MISSING.format(self.catalog.protects),) if left_out else ()
        paid = shaped.paid(cost=Fraction(0), spent=self.budget().spent, receipt=signed, repeated=True)
        return replace(paid, hints=hints)

    def _settled(
        self, asked: Request, work: Callable[[Charge, Engine], tuple[str, list[str]]], cores: Sequence[CorePlan], *,
        fresh: bool,
    ) -> tuple[str, Charge, bool]:
        """Charge, evaluate, store: the stored text of the answer, its charge, and whether it was there already. cores:
        what is evaluated, unless it is stored."""
        engine = self.engine()
        try:
            check_on(engine, cores)
        except Refusal:
            if fresh or not self.ledger.knows(asked):  # an answer that is stored needs no engine
                raise
        if not self.entropy.releasable:
            raise Misconfigured("this curator's entropy is for tests: its answers must not be released.")
        if not room_for(ROOM):
            raise Refusal("this was called from too many functions inside one another.",
                          cure="Call it from fewer: answering may need several hundred calls more.")
        charged, began = self.ledger.charge(asked, fresh=fresh), time.monotonic()
        if isinstance(charged, Stored):
            return charged.answer, charged.charge, True
        text, readings = self._evaluate(lambda: work(charged, engine), began)
        stored = self.ledger.answer(charged, text, readings)
        return stored, charged, stored != text

    def request(
        self, quote: Quote, *, request_id: str | None = None, analyst: str = "local", asked: str = ""
    ) -> Request:
        """What the ledger is asked to charge for a quote. asked: the question as SQL, for the log.

        Raises Refusal for an id that is no text.
        """
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

    def _evaluate(self, work: Callable[[], tuple[str, list[str]]], began: float) -> tuple[str, list[str]]:
        """Data is touched below here and nowhere else. Any failure is a Fault without a cause, and an interruption is
        raised anew: the frames that held exact integers are gone, so no traceback can reach them. began: when it was
        charged, as time.monotonic() told it."""
        stopped: type[BaseException] | None = None
        found = None
        try:
            found = work()
        except Exception:
            pass
        except BaseException as interruption:  # the user's own Ctrl-C: nothing was released, and asking again resumes
            stopped = type(interruption)
        if stopped is not None:
            raise stopped
        time.sleep(to_tick(began, self.tick))
        if found is not None:
            return found
        self._close()
        raise Fault

    def _noisy(
        self, quote: Quote, charge: Charge, engine: Engine, analyst: str, *, every: bool = False
    ) -> tuple[str, list[str]]:
        """The text to store, and the names of the readings in it to be found again."""
        part = self._noisy_part(quote, engine.evaluate(quote.lowered.core), charge, analyst, None)
        return canonical_text(part), worth_noting(
            quote, self.ledger, analyst, charge.request_id, 0, every=every)

    def _sharpened(self, whole: Quote, *, request_id: str | None, analyst: str, asked: str) -> Answer:
        """Pays for one more release, and shows the mean of all that are stored, at whatever price."""
        check_sharpening(whole)
        paid = self._paid(whole, fresh=True, request_id=request_id, analyst=analyst, asked=asked, every=True)
        own = [] if paid.receipt is None else [paid.receipt["request"]]  # which, repeated, may be noted nowhere
        releases = releases_of(whole, self.ledger, analyst, known=own)
        quote, noisy = sharpened(whole, [parts for _, parts in releases])
        shaped = self._shaped(quote, finish(quote, noisy), noisy=noisy)
        made = shaped.paid(cost=paid.cost, spent=paid.spent, receipt=None, repeated=paid.repeated)
        return replace(made, adds_up=paid, sharpened=tuple(receipt for receipt, _ in releases))

    def _noisy_part(self, quote: Quote, exact: Exact, charge: Charge, analyst: str, batch: Json | None) -> Json:
        """An answer and its receipt, from exact integers."""
        noisy = release(quote, exact, self.entropy)
        core = self._shaped(quote, finish(quote, noisy), cut_of(quote, noisy)).core_json()
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

    def _told(self, quote: Quote, stored: Json, cost: Fraction, *, repeated: bool) -> Answer:
        """A stored answer. quote: as it was charged."""
        receipt: Json = stored["receipt"]
        spent = self.budget().spent if repeated else Fraction(receipt["ledger"]["spent"])
        shaped = answer_of(stored["answer"], total=self.catalog.budget, currency=self.catalog.currency)
        parts = Parts(quote, noisy_of(quote, stored["noisy"])) if "noisy" in stored else None
        return replace(shaped.paid(cost=cost, spent=spent, receipt=receipt, repeated=repeated), parts=parts)

    def _shaped(self, quote: Quote, cells: Any, cut: Cut | None = None, *, noisy: Noisy | None = None) -> Answer:
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
            cut=cut,
            parts=Parts(quote, noisy or Noisy(quote.lowered.keys, ())) if noisy or quote.free else None,
        )

    def budget(self) -> Budget:
        """Where the ledger stands."""
        return self.ledger.budget()

    def _batch_request(self, batch: Batch, analyst: str, request_id: str | None = None) -> Request:
        """Bound to the whole batch, whatever of it was paid before; its price is that of the rest."""
        return replace(
            self.request(batch.paid[0], request_id=request_id, analyst=analyst),
            plan=batch.digest, catalog=facts_of_batch(batch.facts), parameters=canonical_text(batch.parameters()),
            epsilon=batch.epsilon, rho=batch.rho, delta=batch.delta, shared=batch.shared(),
            owners=tuple(dict.fromkeys(pair for quote in batch.paid for pair in owners_of(quote.plan))),
        )

    def _rest(self, batch: Batch, request: Request) -> Batch:
        """The batch without the readings that are stored. One that the ledger knows, or that is charged as one, is left
        as it is."""
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

    def _answered_before(self, batch: Batch, at: int, charge: Charge | None, analyst: str) -> Answer:
        """An answer of a batch that costs nothing: of public values, or of readings that were paid before, or that the
        charge of another question of the batch has stored. charge: the batch's own, where it has one."""
        quote, payer = batch.asked[at], batch.payer(at)
        if payer is not None:
            due = batch.due(payer)
            places = [None] * len(due.priced) if due.held is None else due.held.as_json()["readings"]
            if charge is not None:
                own = {"position": charge.position, "head": charge.head, "request": charge.request_id, "part": payer}
                places = [own | {"number": at} if place is None else place for at, place in enumerate(places)]
            whole = quote if quote.held is None else quote.held.whole
            if len(places) < len(whole.priced):  # its cut alone was missing, and is left out
                whole = cutless(whole)
            places = in_its_order(whole, due, places)
            quote = as_shared(whole, self.ledger, analyst, {"readings": places, "keys": None})
        return self._public(quote) if quote.held is None else self._released_before(quote, analyst)

    def _noisy_batch(self, batch: Batch, charge: Charge, engine: Engine, analyst: str) -> tuple[str, list[str]]:
        paid = [batch.due(number) for number in batch.own]
        exact = engine.evaluate_all([quote.lowered.core for quote in paid])
        parts: list[Json | None] = [None] * len(batch.paid)
        told = batch.told()
        for number, quote, one in zip(batch.own, paid, exact, strict=True):
            parts[number] = self._noisy_part(quote, one, charge, analyst, {"index": number} | told)
        names = [name for number, quote in zip(batch.own, paid, strict=True)
                 for name in worth_noting(quote, self.ledger, analyst, charge.request_id, number)]
        return canonical_text({"batch": parts}), list(dict.fromkeys(names))
