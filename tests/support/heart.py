"""Worlds for the heart law: a catalog, a table and questions, drawn so that one unit can matter as much as it may.

`world(seed)` is one catalog with about 25 units, some of them built to reach the bounds: very many rows in one key,
rows in every key, all values at the upper bound, at the lower one, beyond both, nothing but missing values.
`questions(world)` are SQL texts over the whole accepted surface. `moves` compares the integer vectors of two
evaluations with what the quote's readings claim. Everything follows from the seed.
"""

from __future__ import annotations

import math
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

from dpcurator.aggregates import AGGREGATES
from dpcurator.catalog.bind import catalog_of
from dpcurator.catalog.load import load
from dpcurator.catalog.model import EACH_ROW, Catalog
from dpcurator.fronts.sql import parse
from dpcurator.plan.bind import bind
from dpcurator.plan.core import CorePlan
from dpcurator.pricing.quote import Quote, price
from dpcurator.pricing.release import combine

Row = tuple[Any, ...]
Vectors = list[list[int]]  # one per reading, one integer per key

# Column number: what is declared. The names include one that must be quoted.
NAMES = ("who", "city", "floor", "dose", "seen", "age", "net gain", "gain", "day")
TYPES = ("", "text", "integer", "float", "boolean", "integer", "float", "float", "date")
KEYED = {1: "city", 2: "floor", 3: "dose", 4: "seen", 8: "day"}
CITIES = ["Leeds", "York", "É", "", "leeds", "a b"]
DOSES = [0.0, 0.5, -1.25, 1e16, 5e-324]
FLOORS = [0, -1, 7, 2**53, 2**63 - 1]
DAYS = ["1970-01-01", "2024-02-29"]
INTEGER_BOUNDS = [(0, 10), (-5, 7), (-9, -3), (4, 4), (0, 0), (0, 1), (-1, 0), (-(2**40), 2**40), (2**53, 2**53 + 9),
                  (2**60, 2**60 + 3), (-(2**63), -(2**63) + 5), (2**63 - 4, 2**63 - 1), (-1, 2**55)]  # fmt: skip
FLOAT_BOUNDS = [(0.0, 1.0), (-2.5, 7.25), (-9.5, -3.25), (1.1, 1.1), (0.0, 0.0), (0.1, 0.3), (-0.3, 0.1), (-1e12, 1e12),
                (1e15, 1e15 + 4), (-1e-9, 1e-9), (5e-324, 1e-300), (1e300, 1.5e300), (-1.7e308, 1.7e308), (0.0, 1e-3),
                (2.0**100, 2.0**100 * 1.5), (-1e-310, 2e-310)]  # fmt: skip
PRICES = ["0.1", "1", "1/3", "1e-3", "1e-9", "1e-12", "2e-13", "1e3", "1e9", "7"]


@dataclass(frozen=True)
class World:
    """rows: one tuple per row, physical values, column 0 the unit (unused with each row)."""

    seed: int
    catalog: Catalog
    each_row: bool
    rows: tuple[Row, ...]

    @property
    def units(self) -> list[Any]:
        """Whose rows can be taken away: the units present, or each row's number."""
        if self.each_row:
            return list(range(len(self.rows)))
        return list(dict.fromkeys(row[0] for row in self.rows if row[0] is not None))

    def without(self, unit: Any) -> tuple[Row, ...]:
        if self.each_row:
            return self.rows[:unit] + self.rows[unit + 1 :]
        return tuple(row for row in self.rows if row[0] != unit)


def columns_of(rows: Sequence[Row]) -> dict[str, list[Any]]:
    """The rows as an engine's table."""
    return {f"c{j}": [row[j] for row in rows] for j in range(len(NAMES))}


KIND_OF = {f"c{j}": {"integer": "integer", "boolean": "integer", "date": "integer", "float": "float", "text": "text"}
           .get(kind, "") for j, kind in enumerate(TYPES)}  # fmt: skip


def kinds(world: World) -> dict[str, Any]:
    return KIND_OF | {"c0": world.catalog.tables[0].columns[0].kind}


# --- worlds ---------------------------------------------------------------------------------------------------------


def world(seed: int, *, units: int = 25) -> World:
    luck = random.Random(f"heart {seed}")
    each_row = luck.random() < 0.2
    of_text = luck.random() < 0.5
    bounds = (luck.choice(INTEGER_BOUNDS), luck.choice(FLOAT_BOUNDS), luck.choice(FLOAT_BOUNDS))
    table: dict[str, Any] = {
        "unit": EACH_ROW if each_row else "who",
        "columns": {
            "who": "text" if of_text else "integer",
            "city": _keyed(luck, "text", CITIES),
            "floor": _keyed(luck, "integer", FLOORS),
            "dose": _keyed(luck, "float", DOSES),
            "seen": "boolean",
            "age": _measured(luck, "integer", bounds[0]),
            "net gain": _measured(luck, "float", bounds[1]),
            "gain": _measured(luck, "float", bounds[2]),
            "day": _keyed(luck, "date", DAYS),
        },
    }
    if not each_row:
        table |= {"max_rows": luck.randint(1, 5), "max_groups": luck.randint(1, 4)}
    declared = load(
        {"curator": {"protects": "people"}, "ledger": {"epsilon": 4}, "tables": {"visits": table}}, directory=Path(".")
    )
    catalog = catalog_of(declared)
    names: list[Any] = [f"u{n}" if n else "" for n in range(units)] if of_text else [n - 3 for n in range(units)]
    names[-1] = "É\u0000" if of_text else 2**63 - 1
    rows = [row for n, name in enumerate(names) for row in _rows_of(luck, name, n, catalog)]
    if not each_row:
        rows += [(None, *row[1:]) for row in _rows_of(luck, None, 0, catalog)]
    luck.shuffle(rows)
    return World(seed, catalog, each_row, tuple(rows[: 3 * units] if each_row else rows))


def _keyed(luck: random.Random, kind: str, keys: list[Any]) -> dict[str, Any]:
    chosen = luck.sample(keys, luck.randint(1, len(keys)))
    found: dict[str, Any] = {"type": kind, "keys": chosen}
    if luck.random() < 0.5:
        found["keys_include_missing"] = True
    elif luck.random() < 0.3:
        found["missing"] = {"value": chosen[0]}
    return found


def _measured(luck: random.Random, kind: str, bounds: tuple[Any, Any]) -> dict[str, Any]:
    found: dict[str, Any] = {"type": kind, "bounds": list(bounds)}
    if luck.random() < 0.25:
        found["missing"] = bounds[luck.randint(0, 1)]
    return found


def _rows_of(luck: random.Random, name: Any, number: int, catalog: Catalog) -> list[Row]:
    """A unit's rows, by its archetype."""
    kind = number % 8
    if kind == 0:  # very many rows, few keys
        size = luck.choice([1, 7, 40]) if number else 60
        keys = [_keys(luck, catalog) for _ in range(luck.randint(1, 2))]
        return [(name, *_with(luck, luck.choice(keys), luck.choice(["top", "bottom", "any"]), catalog))
                for _ in range(size)]  # fmt: skip
    if kind in (1, 2, 3):  # in many keys, all values at one end
        end = ("top", "bottom", "beyond")[kind - 1]
        return [(name, *_with(luck, _keys(luck, catalog), end, catalog)) for _ in range(luck.randint(3, 9))]
    if kind == 4:  # one key, one row or just as many as allowed
        size, keys_ = catalog.tables[0].max_rows or 1, _keys(luck, catalog)
        return [(name, *_with(luck, keys_, "top", catalog))] * luck.choice([1, size, size + 1])
    if kind == 5:
        return [(name, *_with(luck, _keys(luck, catalog), "missing", catalog)) for _ in range(luck.randint(1, 3))]
    return [(name, *_with(luck, _keys(luck, catalog), "any", catalog)) for _ in range(luck.randint(1, 4))]


def _keys(luck: random.Random, catalog: Catalog) -> dict[int, Any]:
    """A value for each key column: usually a listed one, sometimes missing, unlisted or spelled oddly."""
    found: dict[int, Any] = {}
    for j in KEYED:
        column = catalog.tables[0].columns[j]
        odd: dict[str, list[Any]] = {
            "text": ["nowhere", "LEEDS", "\uffff"], "integer": [3, -(2**63)], "boolean": [0, 1], "date": [-10, 0],
            "float": [math.nan, -0.0, math.inf, -math.inf, 0.25],
        }  # fmt: skip
        options = [*(column.keys or ()), *(column.keys or ()), None, luck.choice(odd[column.type])]
        found[j] = luck.choice(options)
    return found


def _with(luck: random.Random, keys: dict[int, Any], end: str, catalog: Catalog) -> list[Any]:
    row: list[Any] = []
    for j, column in enumerate(catalog.tables[0].columns):
        if j == 0:
            continue
        row.append(keys[j] if j in keys else _value(luck, column, end))
    return row


def _value(luck: random.Random, column: Any, end: str) -> Any:
    lower, upper = column.lower, column.upper
    real = column.kind == "float"
    make: Any = float if real else int
    if end == "missing":
        return luck.choice([None, math.nan]) if real else None
    if end in ("top", "bottom"):
        return make(upper if end == "top" else lower)
    if end == "beyond":
        return luck.choice([math.inf, -math.inf, 1.7976931348623157e308] if real else [2**63 - 1, -(2**63), 2**62])
    middle = (lower + upper) / 2
    options: list[Any] = [make(lower), make(upper), make(middle), None, 0]
    if real:
        options += [
            math.nan,
            math.inf,
            -math.inf,
            -0.0,
            5e-324,
            math.nextafter(float(lower), math.inf),
            math.nextafter(float(upper), -math.inf),
            float(lower + (upper - lower) * Fraction(luck.random())),
        ]
        found = luck.choice(options)
        return None if found is None else float(found)
    options += [luck.randint(int(lower), int(upper)), -(2**63), 2**63 - 1, 2**53 + 1]
    return luck.choice(options)


# --- questions ------------------------------------------------------------------------------------------------------

AGGREGATE_TEXTS = [
    "COUNT(*)", "COUNT(1)", "COUNT(age)", 'COUNT("net gain")', "COUNT(city)", "COUNT(dose)", "COUNT(day)", "SUM(age)",
    "AVG(age)", 'SUM("net gain")', 'AVG("net gain")', "SUM(gain)", "AVG(gain)", "SUM(seen)", "AVG(seen)",
]  # fmt: skip
LEAVES = [
    "age > 3", "age <= 4.5", "age = 5", "age <> 5", "age IS NULL", "NOT age > 3", '"net gain" >= 0',
    '"net gain" < gain', "gain = gain", "gain IS NOT NULL", "age > gain", "city = 'Leeds'", "city <> 'York'",
    "city >= 'M'", "city IS NULL", "city IN ('Leeds', '', NULL)", "city NOT IN ('York')", "dose IN (0, 0.5)",
    "dose = 0", "dose < 1e16", "floor > 0", "floor BETWEEN -1 AND 9007199254740993", "seen", "NOT seen",
    "seen = FALSE", "day = '2024-02-29'", "day > DATE '2000-01-01'", "day IS NOT NULL", "TRUE", "FALSE", "NULL",
    "age = 99999999999999999999", "age IN (1, 2.5, 3)", "age < dose",
]  # fmt: skip
TAILS = ["", "", " HAVING COUNT(*) > 10", " ORDER BY 1 DESC", " LIMIT 2", " ORDER BY COUNT(*) LIMIT 3 OFFSET 1"]


def question(luck: random.Random, world: World) -> str:
    texts = [*AGGREGATE_TEXTS, *([] if world.each_row else ["COUNT(DISTINCT who)", "COUNT(who)"])]
    items = luck.sample(texts, luck.choice([1, 2, 2, 3, 4]))
    if len(items) > 1 and luck.random() < 0.2:
        items[0] = f"ROUND({items[0]} / (1 + {items[1]}), 2) AS r"
    keys = [KEYED[j] for j in luck.sample(list(KEYED), luck.choice([0, 1, 1, 2, 2, 3]))]
    where = ""
    if luck.random() < 0.6:
        parts = luck.sample(LEAVES, luck.choice([1, 1, 2, 3]))
        if not world.each_row and luck.random() < 0.1:
            parts[0] = "who IS NOT NULL"
        where = f" WHERE {_joined(luck, parts)}"
    group = f" GROUP BY {', '.join(keys)}" if keys else ""
    tail = luck.choice(TAILS)
    return f"SELECT {', '.join([*keys, *items])} FROM visits{where}{group}{tail}"


def _joined(luck: random.Random, parts: list[str]) -> str:
    text = parts[0]
    for part in parts[1:]:
        text = f"({text} {luck.choice(['AND', 'OR', 'AND NOT', 'OR NOT'])} ({part}))"
    return text


def priced(text: str, catalog: Catalog, epsilon: str) -> Quote:
    return price(bind(parse(text), catalog, AGGREGATES), Fraction(epsilon), catalog)


def questions(world: World, count: int) -> Iterator[tuple[str, Quote]]:
    """Questions with something to pay for, of at most 400 keys so that a run stays short. Refusals are not caught."""
    luck = random.Random(f"questions {world.seed}")
    while count:
        text, epsilon = question(luck, world), luck.choice(PRICES)
        quote = priced(text, world.catalog, epsilon)
        if quote.priced and len(quote.lowered.keys) <= 400:
            count -= 1
            yield f"{text} [{epsilon}]", quote


# --- the law --------------------------------------------------------------------------------------------------------


def vectors(quote: Quote, rows: tuple[tuple[int, ...], ...]) -> Vectors:
    return [combine(rows, combination) for combination in quote.lowered.combinations]


def moves(quote: Quote, one: Vectors, other: Vectors) -> list[str]:
    """What the readings claim and the two evaluations break; empty when the law holds."""
    broken: list[str] = []
    for priced_, left, right in zip(quote.priced, one, other, strict=True):
        claim = priced_.reading
        steps = [abs(a - b) for a, b in zip(left, right, strict=True)]
        found = {
            "linf": max(steps, default=0), "l1": sum(steps), "l2_squared": sum(step * step for step in steps),
        }  # fmt: skip
        if len(steps) != claim.coordinates:
            broken.append(f"{priced_.ask.what}: {len(steps)} coordinates, not {claim.coordinates}")
        for name, distance in found.items():
            if distance > getattr(claim, name):
                broken.append(f"{priced_.ask.what}: {name} {distance} > {getattr(claim, name)}")
    return broken


def on_table(core: CorePlan, number: int) -> CorePlan:
    """The same plan over stored table number `number`."""
    from dataclasses import replace

    scan, *rest = core
    return (replace(scan, table=f"t{number}"), *rest)  # type: ignore[type-var]
