"""The bench of `break-me`: a declaration's questions over made-up rows, by every engine and by whole curators.

Definition  `Bench` is the probe that `search` is handed. Of one question it compares, on made-up tables and each of
            their neighbours, the exact integers of the reference engine with the sensitivity that the quote claims,
            some of them with those of the other engines, and now and then all that whole curators show.
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
from dpcurator.break_me.search import Broken, Tried, break_me
from dpcurator.break_me.sensitivity import Exactly, Reading, Scores, apart, counts_of_groups, disagreement
from dpcurator.break_me.tables import Table
from dpcurator.break_me.worst_case_tables import Rows
from dpcurator.catalog.declaration import Declaration
from dpcurator.curator.opening import opening_of, rehearsing
from dpcurator.engines import ENGINES, Engine
from dpcurator.engines.reference import Reference
from dpcurator.errors import DpcuratorError, Fault, Misconfigured, Refusal
from dpcurator.ledger import Ledger, MemoryStore
from dpcurator.plan.candidates import candidates
from dpcurator.plan.stability import selection_reach
from dpcurator.pricing.priced import Priced
from dpcurator.pricing.quote import Quote
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
    tables = curator.catalog.tables
    if not any(table.private for table in tables):
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
    _others: tuple[Rows, dict[str, list[Engine]]] | None = None  # over one world and a neighbour, which questions share

    def __call__(self, asked: Question, rows: Rows, others: Sequence[Rows]) -> Tried:
        try:
            quote = self.curator.quote(asked.text, spend=asked.spend)
        except Refusal as refused:
            return Tried(refused=str(refused))
        except Exception as failed:  # no question may end so, and none may end this command
            return Tried(broken=(0, (_failed("the quote", failed),)))
        self._asked += 1
        if self._asked % _WHOLE == 0 or len(others) <= 1:  # a witness that is made smaller has one neighbour
            shown = self._shown(asked, rows, others[0] if others else rows)
            if shown:
                return Tried(pairs=1, broken=(0, tuple(shown)))
        if quote.free:
            return Tried(pairs=1)
        worlds = [rows, *others]
        columns = [stored(self.curator.catalog.tables, one) for one in worlds]
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
        for name, engines in self._compared(worlds[: 1 + _CONFORM]).items():
            for place, (honest, engine) in enumerate(zip(found, engines, strict=False)):
                if differ := _differs(quote, honest, name, engine):
                    return Tried(broken=(max(place - 1, 0), tuple(differ)))
        return Tried(readings=readings, pairs=len(others), engines=len(worlds[: 1 + _CONFORM]), largest=largest)

    def _compared(self, worlds: Sequence[Rows]) -> dict[str, list[Engine]]:
        """Every engine of this process but the reference, over each of these worlds."""
        if self._others is None or self._others[0] is not worlds[0] or len(worlds) < 1 + _CONFORM:
            tables = self.curator.catalog.tables
            kinds: Any = {f"t{place}": {f"c{number}": column.kind for number, column in enumerate(table.columns)}
                          for place, table in enumerate(tables)}
            others = [one for one in ENGINES if not one.beside and one.load() is not Reference]
            self._others = (worlds[0], {
                one.name: [one.load().from_tables(stored(tables, rows), kinds) for rows in worlds] for one in others
            })
        return self._others[1]

    def _shown(self, asked: Question, rows: Rows, other: Rows) -> list[Mismatch]:
        one, two = (self._opened(each) for each in (rows, other))
        return replay_curators(one, two, asked.text, sorted_by_noise=asked.by_noise, spend=asked.spend)

    def _opened(self, rows: Rows) -> Any:
        """The steward's curator with these rows in place of data, and a new ledger in memory."""
        engine = Reference(stored(self.curator.catalog.tables, rows))
        ledger = Ledger.open(MemoryStore(), opening_of(self.declaration, self.curator.key))
        return replace(self.curator, ledger=ledger, engine=lambda: engine)


def stored(tables: Sequence[Table], rows: Rows) -> dict[str, dict[str, list[Any]]]:
    """Rows as an engine has them, of all tables of a catalog, in its order."""
    own: dict[str, list[Any]] = {table.name: [] for table in tables}
    for name, row in rows:
        own[name].append(row)
    return {
        f"t{place}": {f"c{number}": [row[number] for row in own[table.name]] for number in range(len(table.columns))}
        for place, table in enumerate(tables)
    }


def _differs(quote: Quote, honest: Exactly, name: str, engine: Engine) -> Sequence[Mismatch]:
    """Where an engine's integers are not those of the reference."""
    try:
        again = exactly(quote, engine.evaluate(quote.lowered.core))
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
