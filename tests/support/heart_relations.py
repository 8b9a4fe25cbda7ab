"""Worlds of several tables for the heart law: neighbours differ in all rows of one unit, in every private table.

`world(seed)` is a catalog of private tables with one kind of unit (and public ones), with rows in which units are alike
in all but number and reach: very many rows, none in one table, values at and beyond the bounds, missing ones, keys that
collide. `questions(world)` are SQL texts over every kind of relation that is accepted, one upon another.
Everything follows from the seed.
"""

from __future__ import annotations

import math
import random
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from heart import ALIKE, PRICES, Vectors, moves, priced, vectors

from dpcurator.break_me.questions import question as drawn
from dpcurator.catalog.bind import PublicFacts, catalog_of
from dpcurator.catalog.load import load
from dpcurator.catalog.model import Catalog
from dpcurator.engines.reference import Reference
from dpcurator.errors import Refusal
from dpcurator.pricing.quote import Quote

Rows = tuple[tuple[Any, ...], ...]
CITIES = ["Leeds", "York", ""]
COLUMNS = {  # name: (type, what is declared of it)
    "visits": {
        "pid": {}, "city": {"type": "text", "keys": CITIES}, "age": {"type": "integer", "bounds": [-5, 7]},
        "cost": {"type": "float", "bounds": [-2.5, 7.25]}, "code": {"type": "integer"}, "seen": {"type": "boolean"},
    },
    "diagnoses": {
        "who": {}, "code": {"type": "integer", "bounds": [0, 3]}, "kind": {"type": "text", "max_length": 3},
        "cost": {"type": "float", "bounds": [0, 1]},
    },
}


PLACES = [("Leeds", 1, "N"), ("Leeds", 2, "S"), ("York", 1, "N"), ("York", 1, "N"), (None, 0, "S"), ("", None, None)]


@dataclass(frozen=True)
class World:
    """tables: the rows of each private table, a unit in column 0; swaps: what takes the place of a unit's rows."""

    seed: int
    catalog: Catalog
    tables: Mapping[str, Rows]
    swaps: tuple[tuple[Any, Mapping[str, Rows]], ...]

    @cached_property
    def every(self) -> list[Mapping[str, Rows]]:
        """The tables themselves, then each of their neighbours."""
        return [self.tables, *(
            {name: tuple(row for row in rows if row[0] != unit or name == "places") + tuple(others.get(name, ()))
             for name, rows in self.tables.items()}
            for unit, others in self.swaps
        )]

    def stored(self, tables: Mapping[str, Rows]) -> dict[str, dict[str, list[Any]]]:
        """As an engine has them."""
        return {f"t{n}": {f"c{j}": [row[j] for row in tables[table.name]] for j in range(len(table.columns))}
                for n, table in enumerate(self.catalog.tables)}

    @property
    def kinds(self) -> dict[str, dict[str, Any]]:
        return {f"t{n}": {f"c{j}": column.kind for j, column in enumerate(table.columns)}
                for n, table in enumerate(self.catalog.tables)}


def world(seed: int, *, units: int = 8) -> World:
    luck = random.Random(f"relations {seed}")
    of_text = luck.random() < 0.5
    tables: dict[str, Any] = {}
    for name, columns in COLUMNS.items():
        first = next(iter(columns))
        tables[name] = {"unit": first, "columns": {**columns, first: {"type": "text" if of_text else "integer"}}}
        rows, groups = luck.randint(1, 3), luck.randint(1, 3)
        tables[name] |= luck.choice([{"max_total": luck.randint(1, 6)}, {"max_rows": rows, "max_groups": groups},
                                     {"max_rows": rows, "max_groups": groups, "max_total": 4}])
    tables["places"] = {"public": True, "columns": {"city": "text", "code": "integer", "region": "text"}}
    replaces = luck.random() < 0.4
    curator = ALIKE | ({"neighbours": "replace-one", "units": units} if replaces else {})
    told = load({"curator": curator, "ledger": {"epsilon": 4, "delta": "1e-6"}, "tables": tables})
    catalog = catalog_of(told, PublicFacts(1, (
        (("places", "region"), ("N", "S")), (("places", "city"), ("", "Leeds", "York")),
        (("places", "code"), (0, 1, 2)),
    ), most=tuple(
        (("places", name), len(PLACES)) for name in ("city", "code", "region"))))
    names: list[Any] = [f"u{n}" if n else "" for n in range(units)] if of_text else list(range(-1, units - 1))
    rows: dict[str, list[Any]] = {name: [] for name in tables}
    for number, name in enumerate([*names, None]):
        for table, own in unit(luck, name, number).items():
            rows[table] += own
    for own in rows.values():
        luck.shuffle(own)
    rows["places"] = PLACES
    swaps = [(name, unit(luck, name if luck.random() < 0.5 else ("new" if of_text else 99), luck.randrange(9))
              if replaces else {}) for name in names]
    return World(seed, catalog, {name: tuple(own) for name, own in rows.items()}, tuple(swaps))


def unit(luck: random.Random, name: Any, number: int) -> dict[str, Rows]:
    """A unit's rows in each table."""
    return {
        table: tuple((name, *(value(luck, column) for column in list(columns.values())[1:]))
                     for _ in range(luck.choice([0, 1, 1, 2, 3, 5, 12 if number == 0 else 2])))
        for table, columns in COLUMNS.items()
    }


def value(luck: random.Random, column: Mapping[str, Any]) -> Any:
    kind, ends = column["type"], column.get("bounds", [-1, 3])
    if kind == "text":
        return luck.choice([*column.get("keys", ["a", "b", "É"]), None, "nowhere"])
    if kind == "boolean":
        return luck.choice([0, 1, None])
    if kind == "integer":
        return luck.choice([ends[0], ends[1], ends[1], 0, 1, 2, None, 2**63 - 1, -(2**63)])
    return luck.choice([float(ends[0]), float(ends[1]), 0.5, -0.0, None, math.nan, math.inf, -math.inf, 1e300, 5e-324])


# --- questions ------------------------------------------------------------------------------------------------------


def question(luck: random.Random, made: World) -> str:
    """A question of some of the tables, by the generator of `dpcurator/break_me`."""
    tables = made.catalog.tables
    return drawn(luck, luck.choice([table for table in tables if table.unit is not None]), tables).text


def questions(made: World, count: int) -> Iterator[tuple[str, Quote]]:
    """Questions with something to pay for; those refused are passed over."""
    luck = random.Random(f"questions {made.seed}")
    while count:
        text, epsilon = question(luck, made), luck.choice(PRICES)
        with suppress(Refusal):
            quote = priced(text, made.catalog, epsilon)
            if (quote.priced or quote.lowered.chosen) and len(quote.lowered.keys) <= 400:
                count -= 1
                yield f"{text} [{epsilon}]", quote


# --- the law --------------------------------------------------------------------------------------------------------


def evaluated(made: World, quote: Quote, engine: Any = Reference) -> list[Vectors]:
    """The vectors over each of the world's tables."""
    return [vectors(quote, engine.from_tables(made.stored(one), made.kinds).evaluate(quote.lowered.core))
            for one in made.every]


def broken(made: World, text: str, quote: Quote, found: list[Vectors]) -> list[str]:
    return [f"world {made.seed}, unit {made.swaps[number][0]!r}: {text}: {words}"
            for number, one in enumerate(found[1:]) for words in moves(quote, found[0], one)]
