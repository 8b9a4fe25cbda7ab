"""`dpcurator break-me`: the steward's own schema, asked everything, over rows that are made up here.

Nothing of the steward's is read but the declaration (and the public lists that a refresh made public): no snapshot, no
row, no ledger. The curators asked have a ledger in memory, thrown away, and tables of a few made-up units.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Annotated, Any

import typer

from dpcurator.cli.application import HERE, AsJson, Catalog, command, show, show_json
from dpcurator.cli.progress import progress
from dpcurator.errors import DpcuratorError, Fault, Misconfigured, Refusal

if TYPE_CHECKING:
    from dpcurator.audit.replay.replay import Mismatch
    from dpcurator.break_me.questions import Question
    from dpcurator.break_me.questions import Table as Described
    from dpcurator.break_me.search import Broken, Rows, Tried
    from dpcurator.break_me.sensitivity import Exactly
    from dpcurator.catalog.declaration import Declaration
    from dpcurator.pricing.quote import Quote
    from dpcurator.values import Exact

_CONFORM = 1  # neighbours of a table that both engines evaluate
_WHOLE = 3  # one question in so many goes through whole curators, receipts and all
FOUND = 3  # the exit code


@command(name="break-me", epilog="Example: dpcurator break-me --seconds 10")
def break_me(
    seconds: Annotated[float, typer.Option(help="How long to try.", min=0.1, max=10**6)] = 60,
    seed: Annotated[int, typer.Option(help="Another seed tries other questions and tables.", min=0)] = 0,
    catalog: Catalog = HERE,
    as_json: AsJson = False,
) -> None:
    """Try to break your own curator: generated questions over made-up extreme neighbours. Exit code 3: something was
    found."""
    from dpcurator.catalog.load import load

    with progress(_so_far, quiet=as_json) as told:
        found = search(load(catalog), seconds=seconds, seed=seed, told=told)
    show_json(found.as_json()) if as_json else show(found)
    raise typer.Exit(FOUND if found.witness else 0)


def _so_far(found: Broken) -> str:
    return f"{found.seconds:4.0f} s: {found.questions:,} questions, {found.pairs:,} pairs"


def search(
    declaration: Declaration,
    *,
    seconds: float,
    seed: int = 0,
    worlds: int | None = None,
    told: Callable[[Broken], None] | None = None,
) -> Broken:
    """Break a declaration's curator. Raises Misconfigured where no private table is declared fully."""
    from dpcurator.break_me.search import break_me as tried
    from dpcurator.curator.opening import rehearsing

    curator = rehearsing(declaration)
    tables = [table for table in curator.catalog.tables if table.private]
    if not tables:
        raise Misconfigured("No private table is declared.", cure="Give a table its unit.")
    bench = Bench(declaration, curator)
    found = tried(tables, curator.catalog.neighbours, bench, seconds=seconds, seed=seed, worlds=worlds, told=told)
    if found.questions and found.refused == found.questions:
        raise Misconfigured(
            f"Every question was refused, so nothing was tried; the last one: {found.refusal}",
            cure="Run `dpcurator check`.",
        )
    return found


@dataclass
class Bench:
    """Asks one question over made-up tables: exact readings by the reference engine, what is shown by whole curators,
    and the same integers from DuckDB."""

    declaration: Declaration
    curator: Any  # of `rehearsing`: a catalog and nothing behind it
    _asked: int = 0
    _engine: tuple[Rows, Any] | None = None  # DuckDB over the tables of one world, which several questions share

    def __call__(self, asked: Question, table: Described, rows: Rows, others: Sequence[Rows]) -> Tried:
        from dpcurator.break_me.search import Tried
        from dpcurator.break_me.sensitivity import apart, disagreement
        from dpcurator.engines.reference import Reference

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
        engine = self._duckdb(table, tables[: 1 + _CONFORM])
        for place in range(len(tables[: 1 + _CONFORM])):
            scan: Any = quote.lowered.core[0]
            core = (replace(scan, table=f"t{place}"), *quote.lowered.core[1:])
            try:
                again = exactly(quote, engine.evaluate(core))
            except DpcuratorError as failed:
                return Tried(broken=(max(place - 1, 0), (_failed("DuckDB", failed),)))
            if differ := disagreement(found[place], again, ("the reference engine", "DuckDB")):
                return Tried(broken=(max(place - 1, 0), tuple(differ)))
        return Tried(readings=readings, pairs=len(others), engines=len(tables[: 1 + _CONFORM]), largest=largest)

    def _duckdb(self, table: Described, tables: Sequence[Rows]) -> Any:
        from dpcurator.engines.duckdb.engine import DuckDB

        if self._engine is None or self._engine[0] is not tables[0] or len(tables) < 1 + _CONFORM:
            kinds: Any = {f"c{number}": column.kind for number, column in enumerate(table.columns)}
            made = {f"t{place}": stored(table, rows) for place, rows in enumerate(tables)}
            self._engine = (tables[0], DuckDB.from_tables(made, dict.fromkeys(made, kinds)))
        return self._engine[1]

    def _shown(self, asked: Question, table: Described, rows: Rows, other: Rows) -> list[Mismatch]:
        from dpcurator.audit.replay.curators import replay_curators

        one, two = (self._opened(table, each) for each in (rows, other))
        return replay_curators(one, two, asked.text, sorted_by_noise=bool(asked.tail), spend=asked.spend)

    def _opened(self, table: Described, rows: Rows) -> Any:
        """The steward's curator with these rows in place of data, and a new ledger in memory."""
        from dpcurator.curator.opening import opening_of
        from dpcurator.engines.reference import Reference
        from dpcurator.ledger import Ledger, MemoryStore

        number = [one.name for one in self.curator.catalog.tables].index(table.name)
        engine = Reference({f"t{number}": stored(table, rows)})
        ledger = Ledger.open(MemoryStore(), opening_of(self.declaration, self.curator.key))
        return replace(self.curator, ledger=ledger, engine=lambda: engine)


def stored(table: Described, rows: Rows) -> dict[str, list[Any]]:
    """Rows as an engine's table."""
    return {f"c{number}": [row[number] for row in rows] for number in range(len(table.columns))}


def _failed(engine: str, failed: Exception) -> Mismatch:
    from dpcurator.audit.replay.replay import Mismatch

    return Mismatch("error", engine, f"fails with {type(failed).__name__} on made-up rows, so it might on data")


# --- exact integers of made-up rows ---------------------------------------------------------------------------------


class _Silent:
    """No noise. In place of a quote's mechanism, so that the one step that opens exact integers releases these."""

    def sample(self, size: int, entropy: Any = None) -> list[int]:
        return [0] * size


class _KeepsAll:
    """In place of a rule for unknown keys: all are kept, and it remembers by how many units each is held."""

    def __init__(self) -> None:
        self.counts: list[int] = []

    def keep(self, counts: Sequence[int], entropy: Any = None) -> list[bool]:
        self.counts = list(counts)
        return [True] * len(self.counts)


def exactly(quote: Quote, exact: Exact) -> Exactly:
    """The readings of rows that are nobody's, as the release step forms them, with what the quote claims of them."""
    from dpcurator.break_me.sensitivity import Exactly, Reading
    from dpcurator.plan.stability import selection_reach
    from dpcurator.release.release import release

    silent: Any = _Silent()
    no_bits: Any = None
    rule: Any = _KeepsAll()
    bare = replace(
        quote,
        priced=tuple(replace(one, mechanism=silent) for one in quote.priced),
        selecting=None if quote.selecting is None else replace(quote.selecting, rule=rule),
    )
    told = release(bare, exact, no_bits)
    chosen = quote.selecting is not None
    readings = tuple(
        Reading(
            one.ask.what, dict(zip(told.keys, values, strict=False)), one.reading.linf, one.reading.l1,
            one.reading.l2_squared, one.reading.coordinates, not chosen,
        )
        for one, values in zip(quote.priced, told.readings, strict=True)
    )  # fmt: skip
    if not chosen:
        return Exactly(readings)
    votes = dict(zip(told.keys, rule.counts, strict=True))
    sides = 1 if quote.reach.neighbours == "add-remove" else 2
    return Exactly(readings, votes, selection_reach(quote.reach), sides, quote.reach.other)
