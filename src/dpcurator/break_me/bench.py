"""The bench of `break-me`: a declaration's questions over made-up rows, by every engine and by whole curators.

Definition  `Bench` is the probe that `search` is handed. Of one question it compares, on a made-up table and each of
            its neighbours, the exact integers of the reference engine with the sensitivity that the quote claims, some
            of them with those of the other engines, and now and then all that whole curators show.
Promise     Nothing of the steward's is read but the declaration (and the public lists that a refresh made public): no
            snapshot, no row, no ledger. The curators asked have a ledger in memory, thrown away, and tables of a few
            made-up units. Integers without noise are opened of those alone, by an entrance of their own.
Checked     tests/break_me/test_break_me.py, tests/laws/test_exact.py.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from dpcurator.auditing.replay.curators import replay_curators
from dpcurator.auditing.replay.mismatch import Mismatch
from dpcurator.break_me.questions import Question
from dpcurator.break_me.questions import Table as Described
from dpcurator.break_me.search import Broken, Rows, Tried, break_me
from dpcurator.break_me.sensitivity import Exactly, Reading, Scores, apart, counts_of_groups, disagreement
from dpcurator.catalog.declaration import Declaration
from dpcurator.curator.opening import opening_of, rehearsing
from dpcurator.engines import ENGINES, Engine
from dpcurator.engines.reference import Reference
from dpcurator.errors import DpcuratorError, Fault, Misconfigured, Refusal
from dpcurator.ledger import Ledger, MemoryStore
from dpcurator.plan.candidates import candidates
from dpcurator.plan.core import CorePlan
from dpcurator.plan.stability import selection_reach
from dpcurator.pricing.quote import Priced, Quote
from dpcurator.release.release import open_made_up_rows
from dpcurator.values import Exact

_CONFORM = 1  # neighbours of a table that all engines evaluate
_WHOLE = 3  # one question in so many goes through whole curators, receipts and all


def search(
    declaration: Declaration,
    *,
    seconds: float = math.inf,
    seed: int = 0,
    worlds: int | None = None,
    told: Callable[[Broken], None] | None = None,
) -> Broken:
    """Break a declaration's curator. Raises Misconfigured where no private table is declared fully."""
    curator = rehearsing(declaration)
    tables = [table for table in curator.catalog.tables if table.private]
    if not tables:
        raise Misconfigured("No private table is declared.", cure="Give a table its unit.")
    bench = Bench(declaration, curator)
    found = break_me(tables, curator.catalog.neighbours, bench, seconds=seconds, seed=seed, worlds=worlds, told=told)
    if found.questions and found.refused == found.questions:
        raise Misconfigured(
            f"Every question was refused, so nothing was tried; the last one: {found.refusal}",
            cure="Run `dpcurator check`.",
        )
    return found


@dataclass
class Bench:
    """Asks one question over made-up tables: exact readings by the reference engine, what is shown by whole curators,
    and the same integers from every other engine."""

    declaration: Declaration
    curator: Any  # of `rehearsing`: a catalog and nothing behind it
    _asked: int = 0
    _others: tuple[Rows, dict[str, Engine]] | None = None  # over the tables of one world, which questions share

    def __call__(self, asked: Question, table: Described, rows: Rows, others: Sequence[Rows]) -> Tried:
        try:
            quote = self.curator.quote(asked.text, spend=asked.spend)
        except Refusal as refused:
            return Tried(refused=str(refused))
        except Exception as failed:  # no question may end so, and none may end this command
            return Tried(broken=(0, (_failed("the quote", failed),)))
        self._asked += 1
        if self._asked % _WHOLE == 0 or len(others) <= 1:  # a witness that is made smaller has one neighbour
            shown = self._shown(asked, table, rows, others[0] if others else rows)
            if shown:
                return Tried(pairs=1, broken=(0, tuple(shown)))
        if quote.free:
            return Tried(pairs=1)
        name = quote.lowered.core[0].table
        tables = [rows, *others]
        columns = [{name: stored(table, one)} for one in tables]
        found: list[Exactly] = []
        largest, readings = Tried().largest, 0
        for place, one in enumerate(columns):
            try:
                found.append(exactly(quote, Reference(one).evaluate(quote.lowered.core)))
            except (Fault, ArithmeticError, TypeError, ValueError, AssertionError) as failed:
                return Tried(broken=(max(place - 1, 0), (_failed("the reference engine", failed),)))
            broken, share = apart(found[0], found[-1])
            largest, readings = max(largest, share), readings + len(quote.priced) * bool(place)
            if broken:
                return Tried(readings=readings, pairs=place, largest=largest, broken=(max(place - 1, 0), tuple(broken)))
        for name, engine in self._compared(table, tables[: 1 + _CONFORM]).items():
            for place, honest in enumerate(found[: 1 + _CONFORM]):
                if differ := _differs(quote, place, honest, name, engine):
                    return Tried(broken=(max(place - 1, 0), tuple(differ)))
        return Tried(readings=readings, pairs=len(others), engines=len(tables[: 1 + _CONFORM]), largest=largest)

    def _compared(self, table: Described, tables: Sequence[Rows]) -> dict[str, Engine]:
        """Every engine but the reference, over these rows."""
        if self._others is None or self._others[0] is not tables[0] or len(tables) < 1 + _CONFORM:
            kinds: Any = {f"c{number}": column.kind for number, column in enumerate(table.columns)}
            made = {f"t{place}": stored(table, rows) for place, rows in enumerate(tables)}
            others = [one for one in ENGINES if one.load() is not Reference]
            self._others = (
                tables[0], {one.name: one.load().from_tables(made, dict.fromkeys(made, kinds)) for one in others}
            )
        return self._others[1]

    def _shown(self, asked: Question, table: Described, rows: Rows, other: Rows) -> list[Mismatch]:
        one, two = (self._opened(table, each) for each in (rows, other))
        return replay_curators(one, two, asked.text, sorted_by_noise=bool(asked.tail), spend=asked.spend)

    def _opened(self, table: Described, rows: Rows) -> Any:
        """The steward's curator with these rows in place of data, and a new ledger in memory."""
        number = [one.name for one in self.curator.catalog.tables].index(table.name)
        engine = Reference({f"t{number}": stored(table, rows)})
        ledger = Ledger.open(MemoryStore(), opening_of(self.declaration, self.curator.key))
        return replace(self.curator, ledger=ledger, engine=lambda: engine)


def stored(table: Described, rows: Rows) -> dict[str, list[Any]]:
    """Rows as an engine's table."""
    return {f"c{number}": [row[number] for row in rows] for number in range(len(table.columns))}


def _differs(quote: Quote, place: int, honest: Exactly, name: str, engine: Engine) -> Sequence[Mismatch]:
    """Where an engine's integers over table number `place` are not those of the reference."""
    scan: Any = quote.lowered.core[0]
    core: CorePlan = (replace(scan, table=f"t{place}"), *quote.lowered.core[1:])
    try:
        again = exactly(quote, engine.evaluate(core))
    except DpcuratorError as failed:
        return [_failed(f"the engine {name}", failed)]
    return disagreement(honest, again, ("the reference engine", f"the engine {name}"))


def _failed(engine: str, failed: Exception) -> Mismatch:
    return Mismatch("error", engine, f"fails with {type(failed).__name__} on made-up rows, so it might on data")


def exactly(quote: Quote, exact: Exact) -> Exactly:
    """The readings of rows that are nobody's, as the release step forms them, with what the quote claims of them."""
    opened = open_made_up_rows(quote, exact)
    chosen = quote.selecting is not None

    def of(one: Priced, values: Sequence[Any]) -> list[Any]:
        if one.ask.q is None or one.ask.column is None:
            return list(values)
        count = candidates(one.ask.column, quote.reach.keys).count
        return [Scores(found, one.ask.q, count) for found in values]

    def keyed(one: Priced, values: Sequence[Any]) -> dict[Any, Any]:
        found = dict(zip([("all keys",)] if one.ask.overall else opened.keys, of(one, values), strict=True))
        return found if one.ask.among is None else counts_of_groups(found, one.ask.among)

    readings = tuple(
        Reading(
            one.ask.what, keyed(one, values),
            one.reading.linf, one.reading.l1, one.reading.l2_squared, one.reading.coordinates,
            not chosen or one.ask.overall,
        )
        for one, values in zip(quote.priced, opened.readings, strict=True)
    )
    if not chosen:
        return Exactly(readings)
    votes = dict(zip(opened.keys, opened.units, strict=True))
    sides = 1 if quote.reach.neighbours == "add-remove" else 2
    return Exactly(readings, votes, selection_reach(quote.reach), sides, quote.reach.other)
