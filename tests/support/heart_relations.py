"""Worlds of several tables for the heart law: neighbours differ in all rows of one unit, in every private table.

`world(seed)` is a catalog of private tables with one kind of unit (and public ones), with rows in which units are alike
in all but number and reach: very many rows, none in one table, values at and beyond the bounds, missing ones, keys that
collide. `questions(world)` are SQL texts over every kind of relation that is accepted, in and on top of each other.
Everything follows from the seed.
"""

from __future__ import annotations

import math
import random
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from heart import ALIKE, PRICES, Vectors, moves, priced, vectors

from dpcurator.catalog.bind import PublicFacts, catalog_of
from dpcurator.catalog.load import load
from dpcurator.catalog.model import Catalog
from dpcurator.engines.reference import Reference
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

CONDITIONS = ["age > 0", "seen", "city = 'Leeds'", "cost IS NULL", "code < 2", "city <> 'York' OR age = 7"]
INNER = ["code = 1", "kind = 'a'", "cost >= 0.5", "code IS NOT NULL", "LENGTH(kind) = 1"]


LISTED = [
    "city IN (SELECT city FROM places)", "city NOT IN (SELECT city FROM places WHERE region = 'N')",
    "city IN (SELECT p.city FROM places AS p WHERE p.code < 1 AND p.city IS NOT NULL)",
    "code + 1 IN (SELECT code FROM places WHERE region IS NOT NULL)",
    "age NOT IN (SELECT code FROM places WHERE FALSE)",
    "EXISTS (SELECT 1 FROM places WHERE places.city = visits.city AND region = 'N')",
    "NOT EXISTS (SELECT * FROM places AS p WHERE p.code = visits.age AND p.city = visits.city)",
]


def listed(luck: random.Random) -> str:
    """A question of rows by what a public table lists."""
    asked = ", ".join(luck.sample(["COUNT(*)", "COUNT(age)", "SUM(age)", "SUM(cost)", "COUNT(DISTINCT pid)"], 2))
    one, other = luck.sample(LISTED, 2)
    if luck.random() < 0.3:
        return f"SELECT {asked} FROM visits WHERE {one} GROUP BY {other}"
    if luck.random() < 0.3:
        return f"SELECT COUNT(*), SUM(CLIP(n, 0, 3)) FROM (SELECT pid, COUNT_IF({one}) AS n FROM visits GROUP BY pid)"
    more = luck.choice(["", f" AND ({other}) IS NOT NULL", f" OR {other}", f" AND {cohort(luck)}"])
    return f"SELECT {asked} FROM visits WHERE {one}{more}{luck.choice(['', ' GROUP BY city'])}"


def cohort(luck: random.Random) -> str:
    """A condition on the unit of visits."""
    where = f" WHERE {luck.choice(INNER)}" if luck.random() < 0.8 else ""
    deeper = f" {'AND' if where else 'WHERE'} who IN (SELECT pid FROM visits WHERE {luck.choice(CONDITIONS)})"
    where += deeper if luck.random() < 0.3 else ""
    also = f" AND {luck.choice(INNER)}" if luck.random() < 0.7 else ""
    return luck.choice([
        f"pid IN (SELECT who FROM diagnoses{where})",
        f"pid NOT IN (SELECT d.who FROM diagnoses AS d{where})",
        f"EXISTS (SELECT 1 FROM diagnoses WHERE who = visits.pid{also})",
        f"NOT EXISTS (SELECT * FROM diagnoses AS d WHERE pid = d.who{also})",
    ])


FOLDS = [
    "COUNT(*)", "COUNT(age)", "COUNT(DISTINCT city)", "COUNT(DISTINCT cost)", "SUM(age)", "SUM(cost)", "AVG(age)",
    "AVG(cost)", "AVG(code)", "SUM(code)", "MIN(cost)", "MAX(age)", "MAX(city)", "MIN(code)", "ARG_MIN(city, age)",
    "ARG_MAX(age, cost)", "ARG_MAX(cost, code)", "BOOL_AND(seen)", "BOOL_OR(age > 1)", "COUNT_IF(seen)",
    "SUM(cost) FILTER (WHERE age > 0)",
    "SUM(CLIP(code, -1, 1)) * 2", "MAX(age) - MIN(age)", "COUNT(*) + COUNT(code)",
]
HAVING = ["COUNT(*) > 1", "MAX(age) < 7", "SUM(code) IS NULL", "COUNT(DISTINCT city) = 2", "MIN(city) = 'Leeds'"]


def folded(luck: random.Random) -> tuple[str, list[str]]:
    """A subquery by the unit, and the titles of its numbers."""
    keys = luck.choice(["", "", ", city", ", seen, city", ", age + 1"])
    folds = luck.sample(FOLDS, luck.randint(1, 3))
    titles = [f"f{n}" for n in range(len(folds))]
    made = ", ".join(f"{fold} AS {title}" for fold, title in zip(folds, titles, strict=True))
    where = f" WHERE {luck.choice([*CONDITIONS, cohort(luck)])}" if luck.random() < 0.5 else ""
    having = f" HAVING {luck.choice(HAVING)}" if luck.random() < 0.4 else ""
    shown = keys.replace("age + 1", "age + 1 AS more")
    return f"SELECT pid{shown}, {made} FROM visits{where} GROUP BY pid{keys}{having}", titles


def of_folded(luck: random.Random) -> str:
    """A question of a subquery by the unit, or of one in it."""
    inner, titles = folded(luck)
    one, text = luck.choice(titles), any(word in inner for word in ("MAX(city)", "ARG_MIN(city"))
    asked = [f"COUNT({one})", "COUNT(*)", "COUNT(DISTINCT pid)"]
    asked += [] if text or "BOOL" in inner else [f"SUM(CLIP({one}, -2, 3))", f"AVG(CLIP({one}, 0, 5.5))"]
    keys = " GROUP BY city" if ", city" in inner and luck.random() < 0.6 else ""
    where = f" WHERE {one} IS NOT NULL" if luck.random() < 0.3 else ""
    if luck.random() < 0.3:
        where += f"{' AND' if where else ' WHERE'} pid IN (SELECT who FROM diagnoses GROUP BY who HAVING COUNT(*) > 1)"
    asked = luck.sample(asked, min(2, len(asked)))
    if luck.random() < 0.3:
        given = f"WITH made AS ({inner}), again AS (SELECT * FROM made)"
        return f"{given} SELECT {', '.join(asked)} FROM again{where}{keys}"
    return f"SELECT {', '.join(asked)} FROM ({inner}) AS made{where}{keys}"


def joined(luck: random.Random) -> str:
    """A question of visits, or of a subquery of them, joined on the unit."""
    keys = luck.choice(["", "", ", code"])
    right = f"SELECT who{keys}, COUNT(*) AS n, MAX(cost) AS most, MIN(kind) AS kind FROM diagnoses GROUP BY who{keys}"
    left = luck.choice(["visits", "visits", "(SELECT pid, code, MIN(city) AS city, SUM(age) AS age FROM visits "
                        "GROUP BY pid, code) AS visits"])
    on = "pid = who" + (luck.choice([" AND visits.code = d.code", " AND visits.code + 1 = d.code"]) if keys else "")
    how = luck.choice(["JOIN", "LEFT JOIN", "INNER JOIN"])
    text = f"{left} {how} ({right}) AS d ON {on}"
    if luck.random() < 0.2:
        text = f"({right}) AS d RIGHT JOIN {left} ON {on}"
    if luck.random() < 0.3:
        text += " LEFT JOIN (SELECT pid AS p, MAX(code) AS top FROM visits GROUP BY pid) AS e ON e.p = visits.pid"
    asked = luck.sample(["COUNT(*)", "COUNT(d.kind)", "AVG(CLIP(n, 0, 3))", "SUM(most)", "COUNT(DISTINCT visits.pid)",
                         "SUM(CLIP(visits.age, -5, 7))"], 2)
    if luck.random() < 0.4:
        both = luck.choice(["visits.city = places.city", "places.code = n AND visits.city = places.city",
                            "UPPER(visits.city) = UPPER(places.city)", "visits.age = places.code - 1"])
        text += f" {luck.choice(['JOIN', 'LEFT JOIN'])} places ON {both}"
        where = luck.choice(["", " WHERE region = 'N'", " WHERE region IS NULL"])
        return f"SELECT {', '.join(asked)} FROM {text}{where}{luck.choice(['', ' GROUP BY region'])}"
    where = luck.choice(["", "", " WHERE n > 1", " WHERE most IS NULL", " WHERE d.kind = 'a' OR city = 'York'"])
    return f"SELECT {', '.join(asked)} FROM {text}{where}{luck.choice(['', ' GROUP BY city'])}"


def together(luck: random.Random) -> str:
    """A question of rows of both tables, by UNION ALL."""
    second = luck.choice(["SELECT who, cost, kind FROM diagnoses", "SELECT pid, cost, city FROM visits WHERE seen",
                          "SELECT who, most, kind FROM (SELECT who, MAX(cost) AS most, MIN(kind) AS kind "
                          "FROM diagnoses GROUP BY who)"])
    text = f"SELECT pid, cost, city FROM visits UNION ALL {second}"
    text += luck.choice(["", "", " UNION ALL SELECT pid, cost, city FROM visits"])
    if luck.random() < 0.3:
        return f"SELECT SUM(CLIP(n, 0, 4)) FROM (SELECT pid, COUNT(*) AS n FROM ({text}) GROUP BY pid)"
    if luck.random() < 0.2:
        return f"SELECT COUNT(*) FROM visits WHERE pid IN (SELECT pid FROM ({text}) WHERE cost > 0)"
    asked = luck.sample(["COUNT(*)", "COUNT(DISTINCT pid)", "SUM(CLIP(cost, -1, 2))", "COUNT(city)"], 2)
    return f"SELECT {', '.join(asked)} FROM ({text}){luck.choice(['', ' WHERE cost IS NOT NULL'])}"


def numbered(luck: random.Random) -> str:
    """A question of rows that are numbered within each unit."""
    keys = luck.choice(["", "", ", city", ", age + 1"])
    along = luck.choice(["age", "cost DESC", "code NULLS FIRST", "seen DESC NULLS LAST, city", "age * 2 DESC, cost"])
    number = f"ROW_NUMBER() OVER (PARTITION BY pid{keys} ORDER BY {along})"
    which = luck.choice(["= 1", "= 1", "<= 2", "> 1", "= 2"])
    where = luck.choice(["", f" WHERE {luck.choice(CONDITIONS)}"])
    asked = luck.sample(["COUNT(*)", "COUNT(DISTINCT pid)", "SUM(age)", "AVG(cost)", "SUM(cost)"], 2)
    group = luck.choice(["", " GROUP BY city"])
    if luck.random() < 0.4:
        inner = f"SELECT * FROM visits{where} QUALIFY {number} {which}"
        return f"SELECT {', '.join(asked)} FROM ({inner}){group}"
    if luck.random() < 0.3:
        most = "ROW_NUMBER() OVER (PARTITION BY pid ORDER BY COUNT(*) DESC)"
        inner = f"SELECT pid, city, COUNT(*) AS m, {most} AS n"
        return f"SELECT COUNT(*) FROM ({inner} FROM visits{where} GROUP BY pid, city) WHERE n {which}{group}"
    inner = f"SELECT *, {number} AS n FROM visits{where}"
    return f"SELECT {', '.join(asked)} FROM ({inner}) WHERE n {which}{group}"


def question(luck: random.Random) -> str:
    kind = luck.random()
    if kind > 0.75:
        return listed(luck) if kind < 0.8 else together(luck) if kind < 0.9 else numbered(luck)
    if kind < 0.6:
        return of_folded(luck) if kind < 0.3 else joined(luck)
    asked = luck.sample(["COUNT(*)", "COUNT(age)", "SUM(age)", "AVG(cost)", "SUM(cost)", "COUNT(DISTINCT pid)"], 2)
    conditions = [cohort(luck)] + ([luck.choice(CONDITIONS)] if luck.random() < 0.5 else [])
    where = luck.choice([" AND ", " OR "]).join(conditions)
    keys = luck.choice(["", "", " GROUP BY city", " GROUP BY seen, city"])
    if luck.random() < 0.2:
        one = cohort(luck)
        return f"SELECT {', '.join(asked)} FROM visits WHERE {where} GROUP BY {one}"
    return f"SELECT {', '.join(asked)} FROM visits WHERE {where}{keys}"


def questions(made: World, count: int) -> Iterator[tuple[str, Quote]]:
    """Questions with something to pay for."""
    luck = random.Random(f"questions {made.seed}")
    while count:
        text, epsilon = question(luck), luck.choice(PRICES)
        quote = priced(text, made.catalog, epsilon)
        if quote.priced or quote.lowered.chosen:
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
