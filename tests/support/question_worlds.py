"""Worlds to ask random questions of: a catalog, its tables as an engine has them, and all their neighbours.

`made(seed)` goes round `KINDS`: one table of units that reach the bounds (heart), several tables of the same units
(heart_relations), and the table of visits with columns of every type (questions) under many ledgers and both relations.
`asked(made, luck)` is one question of it with its quote. The questions are those of the product's own generator,
`dpcurator/break_me`, which `break-me`, the audits and all laws of questions share: what is new is entered there.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import Any

import heart
import heart_relations
from questions import CATALOG, VISITS, bound, with_column

from dpcurator.break_me.bench import stored
from dpcurator.break_me.questions import question
from dpcurator.break_me.tables import fellows
from dpcurator.break_me.worst_case_tables import world as worst_case
from dpcurator.catalog.model import Catalog, Table
from dpcurator.engines import ENGINES
from dpcurator.engines.reference import Reference
from dpcurator.plan.nodes import Plan
from dpcurator.pricing.quote import Quote, price
from dpcurator.pricing.resolve import with_cut

F = Fraction
Tables = Mapping[str, Mapping[str, list[Any]]]
AMOUNTS = (F(1, 10), F(1), F(1, 3), F(1, 10**6), F(1, 10**12), F(2, 10**13), F(1000), F(10**9), F(7))


@dataclass(frozen=True)
class Made:
    """tables: those of the world, then those of each of its neighbours. pairs: which two are neighbours."""

    name: str
    catalog: Catalog
    tables: tuple[Tables, ...]
    kinds: Mapping[str, Mapping[str, Any]]
    pairs: tuple[tuple[int, int], ...]

    @cached_property
    def others(self) -> list[Any]:
        """Every engine of this process but the reference, over the tables of the world."""
        others = [one for one in ENGINES if not one.beside and one.load() is not Reference]
        return [one.load().from_tables(self.tables[0], self.kinds) for one in others]


def one_table(seed: int) -> Made:
    world = heart.world(seed)
    tables = tuple({"t0": heart.columns_of(rows)} for rows in world.tables)
    return Made(f"one table {seed}", world.catalog, tables, {"t0": heart.kinds(world)}, tuple(world.pairs))


def several_tables(seed: int) -> Made:
    world = heart_relations.world(seed)
    tables = tuple(world.stored(one) for one in world.every)
    pairs = tuple((0, number) for number in range(1, len(tables)))
    return Made(f"several tables {seed}", world.catalog, tables, world.kinds, pairs)


_UNKNOWN = replace(CATALOG, tables=(with_column(VISITS, "city", keys=None, unknown_keys=True), *CATALOG.tables[1:]),
                   delta=F(1, 10**3), salt="0" * 32)
CATALOGS = (
    CATALOG, replace(CATALOG, delta=F(1, 10**3)), replace(CATALOG, epsilon=F(0), rho=F(10), delta=F(1, 10**6)),
    replace(CATALOG, neighbours="replace-one", units=9), _UNKNOWN, replace(_UNKNOWN, epsilon=F(0), rho=F(40)),
    replace(_UNKNOWN, neighbours="replace-one", units=9),
)


def every_type(seed: int, catalog: Catalog | None = None) -> Made:
    luck = random.Random(f"every type {seed}")
    catalog = luck.choice(CATALOGS) if catalog is None else catalog
    world = worst_case(luck, fellows(catalog.tables[0], catalog.tables), catalog.neighbours, units=6)
    each = (world.rows, *(rows for _, rows in world.others))
    kinds = {f"t{place}": {f"c{number}": column.kind for number, column in enumerate(one.columns)}
             for place, one in enumerate(catalog.tables)}
    pairs = tuple((0, number) for number in range(1, len(each)))
    tables = tuple(stored(catalog.tables, rows) for rows in each)
    return Made(f"every type {seed}", catalog, tables, kinds, pairs)


KINDS: tuple[Callable[[int], Made], ...] = (one_table, several_tables, every_type)


def made(seed: int) -> Made:
    return KINDS[seed % len(KINDS)](seed)


@dataclass(frozen=True)
class Asked:
    """A question with something to pay for, priced once; luck: whatever else a law draws."""

    made: Made
    text: str
    plan: Plan
    amount: Fraction
    quote: Quote  # at the amount
    luck: random.Random

    @property
    def catalog(self) -> Catalog:
        return self.made.catalog

    @property
    def noised(self) -> bool:
        """Is every value that it shows made of integers with noise, for keys that are listed?"""
        chosen = [one for one in self.quote.priced if one.ask.q is not None or one.ask.top is not None]
        return not self.quote.lowered.chosen and not chosen


def asked(made: Made, luck: random.Random) -> Asked:
    """A question of the world that is not refused, of at most 400 groups so that a run stays short."""
    private: list[Table] = [table for table in made.catalog.tables if table.unit is not None]
    if not made.name.startswith("several"):
        del private[1:]
    among = [] if not made.name.startswith("several") and luck.random() < 0.6 else made.catalog.tables
    while True:
        text = question(luck, luck.choice(private), [one for one in among if one in private or one.unit is None]).text
        amount, plan = luck.choice(AMOUNTS), bound(text, made.catalog)
        if plan is None:
            continue
        quote = price(with_cut(plan) if luck.random() < 0.6 else plan, amount, made.catalog)
        if (quote.priced or quote.lowered.chosen) and len(quote.lowered.keys) <= 400:
            return Asked(made, text, plan, amount, quote, luck)
