"""Worlds for the heart law: a catalog, a table and questions, drawn so that one unit can matter as much as it may.

`world(seed)` is one catalog with about 25 units, some of them built to reach the bounds: very many rows in one key,
rows in every key, one key more than a unit may have, all values at the upper bound, at the lower one, beyond both,
nothing but missing values. `tables` and `pairs` are its neighbours under the catalog's relation: the table without
each unit, or with another unit, built so too, in its place. `questions(world)` are SQL texts of its one table. `moves`
compares the integer vectors of two evaluations with what the quote's readings claim. Everything follows from the seed.
"""

from __future__ import annotations

import functools
import itertools
import math
import random
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from pathlib import Path
from typing import Any

from dpcurator.aggregates import AGGREGATES
from dpcurator.break_me.questions import question as drawn
from dpcurator.break_me.sensitivity import Counts, Scores, counts_of_groups
from dpcurator.catalog.bind import catalog_of
from dpcurator.catalog.load import load
from dpcurator.catalog.model import EACH_ROW, Catalog
from dpcurator.errors import Refusal
from dpcurator.fronts.sql import parse
from dpcurator.language.question import Question
from dpcurator.plan.bind import bind
from dpcurator.plan.core import CorePlan
from dpcurator.plan.stability import selection_reach
from dpcurator.pricing.quote import Quote, price
from dpcurator.pricing.resolve import with_cut
from dpcurator.release.release import combine
from dpcurator.values import Exact

Row = tuple[Any, ...]
Key = tuple[Any, ...]
ALIKE = {"salt": "5" * 32, "protects": "people"}  # of every catalog here


@dataclass(frozen=True)
class Vectors:
    """What one evaluation gives: each reading's integers by key, and for unknown keys how many units have each key."""

    readings: list[dict[Key, Any]]  # an int; of a quantile, Scores
    votes: dict[Key, int] | None


# Column number: what is declared. The names include one that must be quoted.
NAMES = ("who", "city", "floor", "dose", "seen", "age", "net gain", "gain", "day")
TYPES = ("", "text", "integer", "float", "boolean", "integer", "float", "float", "date")
KEYED = {1: "city", 2: "floor", 3: "dose", 4: "seen", 8: "day"}
CITIES = ["Leeds", "York", "É", "", "leeds", "a b"]
DOSES = [0.0, 0.5, -1.25, 1e16, 5e-324]
FLOORS = [0, -1, 7, 2**53, 2**63 - 1]
DAYS = ["1970-01-01", "2024-02-29"]
INTEGER_BOUNDS = [(0, 10), (-5, 7), (-9, -3), (4, 4), (0, 0), (0, 1), (-1, 0), (-(2**40), 2**40), (2**53, 2**53 + 9),
                  (2**60, 2**60 + 3), (-(2**63), -(2**63) + 5), (2**63 - 4, 2**63 - 1), (-1, 2**55)]
FLOAT_BOUNDS = [(0.0, 1.0), (-2.5, 7.25), (-9.5, -3.25), (1.1, 1.1), (0.0, 0.0), (0.1, 0.3), (-0.3, 0.1), (-1e12, 1e12),
                (1e15, 1e15 + 4), (-1e-9, 1e-9), (5e-324, 1e-300), (1e300, 1.5e300), (-1.7e308, 1.7e308), (0.0, 1e-3),
                (2.0**100, 2.0**100 * 1.5), (-1e-310, 2e-310)]
PRICES = ["0.1", "1", "1/3", "1e-3", "1e-9", "1e-12", "2e-13", "1e3", "1e9", "7"]


@dataclass(frozen=True)
class World:
    """rows: one tuple per row, physical values, column 0 the unit (unused with each row).

    swaps: with replace-one, units with the rows that take the place of theirs. together: whole tables instead, of
    which any two are neighbours.
    """

    seed: int
    catalog: Catalog
    each_row: bool
    rows: tuple[Row, ...]
    swaps: tuple[tuple[Any, tuple[Row, ...]], ...] = ()
    together: tuple[tuple[Row, ...], ...] = ()

    @property
    def units(self) -> list[Any]:
        """Whose rows can be taken away: the units present, or each row's number."""
        if self.each_row:
            return list(range(len(self.rows)))
        return list(dict.fromkeys(row[0] for row in self.rows if row[0] is not None))

    @property
    def replaces(self) -> bool:
        return self.catalog.neighbours == "replace-one"

    def without(self, unit: Any) -> tuple[Row, ...]:
        if self.each_row:
            return self.rows[:unit] + self.rows[unit + 1 :]
        return tuple(row for row in self.rows if row[0] != unit)

    @cached_property
    def tables(self) -> list[tuple[Row, ...]]:
        """All tables that are compared; the first is the table itself."""
        if self.together:
            return list(self.together)
        if self.replaces:
            return [self.rows, *(self.without(unit) + other for unit, other in self.swaps)]
        return [self.rows, *map(self.without, self.units)]

    @cached_property
    def pairs(self) -> list[tuple[int, int]]:
        """Which of them are neighbours."""
        if self.together:
            return list(itertools.combinations(range(len(self.together)), 2))
        return [(0, number) for number in range(1, len(self.tables))]


def columns_of(rows: Sequence[Row]) -> dict[str, list[Any]]:
    """The rows as an engine's table."""
    return {f"c{j}": [row[j] for row in rows] for j in range(len(NAMES))}


KIND_OF = {f"c{j}": {"integer": "integer", "boolean": "integer", "date": "integer", "float": "float", "text": "text"}
           .get(kind, "") for j, kind in enumerate(TYPES)}


def kinds(world: World) -> dict[str, Any]:
    return KIND_OF | {"c0": world.catalog.tables[0].columns[0].kind}


# --- worlds ---------------------------------------------------------------------------------------------------------


def world(seed: int, *, units: int = 25) -> World:
    luck = random.Random(f"heart {seed}")
    each_row = luck.random() < 0.2
    of_text = luck.random() < 0.5
    bounds = (luck.choice(INTEGER_BOUNDS), luck.choice(FLOAT_BOUNDS), luck.choice(FLOAT_BOUNDS))
    replaces = luck.random() < 0.5
    unknown = luck.sample(["city", "floor", "day"], luck.choice([1, 1, 2, 3])) if luck.random() < 0.4 else []
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
        table |= _total(random.Random(f"total {seed}"), table)
    for name in unknown:
        table["columns"][name] = {"type": table["columns"][name]["type"], "keys": "unknown"}
    apart = random.Random(f"per unit {seed}")
    single = [] if each_row or apart.random() < 0.5 else apart.sample([*KEYED.values(), "age"], apart.choice([1, 2, 3]))
    for name in single:
        given = table["columns"][name]
        table["columns"][name] = ({"type": given} if isinstance(given, str) else given) | {"per_unit": 1}
    curator: dict[str, Any] = dict(ALIKE)
    if replaces:
        curator |= {"neighbours": "replace-one", "units": luck.choice([1, units, units, 10**6])}
    ledger = {"epsilon": 4} | ({"delta": "1e-6"} if unknown else {})
    told = {"curator": curator, "ledger": ledger, "tables": {"visits": table}}
    catalog = catalog_of(load(told, directory=Path(".")))
    names: list[Any] = [f"u{n}" if n else "" for n in range(units)] if of_text else [n - 3 for n in range(units)]
    names[-1] = "É\u0000" if of_text else 2**63 - 1
    rows = [row for n, name in enumerate(names) for row in _rows_of(luck, name, n, catalog)]
    if not each_row:
        rows += [(None, *row[1:]) for row in _rows_of(luck, None, 0, catalog)]
    luck.shuffle(rows)
    made = World(seed, catalog, each_row, tuple(rows[: 3 * units] if each_row else rows))
    made = replace(made, swaps=tuple(_swaps(luck, made))) if replaces else made
    return alike(made) if single and apart.random() < 0.5 else made


def alike(made: World) -> World:
    """As a refresh leaves the rows: one value a unit in the columns with per_unit = 1, the smallest there is. In half
    of the worlds with such columns they are not: nothing that is promised rests on it."""
    swaps = tuple((unit, one_value(rows, made.catalog)) for unit, rows in made.swaps)
    return replace(made, rows=one_value(made.rows, made.catalog), swaps=swaps)


def one_value(rows: Sequence[Row], catalog: Catalog) -> tuple[Row, ...]:
    found = list(rows)
    for j, column in enumerate(catalog.tables[0].columns):
        if column.per_unit:
            least: dict[Any, Any] = {}
            for unit, value in ((row[0], row[j]) for row in found):
                if value is not None and value == value:
                    least[unit] = min(value, least.get(unit, value))
            found = [row if row[0] is None else (*row[:j], least.get(row[0]), *row[j + 1 :]) for row in found]
    return tuple(found)


def _total(luck: random.Random, table: dict[str, Any]) -> dict[str, Any]:
    """Half of the worlds cap rows in all as well, so that lam = max_total / max_rows is often no integer; a quarter of
    them say nothing else."""
    if luck.random() < 0.5:
        return {}
    if luck.random() < 0.5:
        table.pop("max_groups")
        if luck.random() < 0.5:
            table.pop("max_rows")
    return {"max_total": luck.randint(1, 9)}


def _swaps(luck: random.Random, made: World) -> Iterator[tuple[Any, tuple[Row, ...]]]:
    """For each unit another, drawn by archetype, or its mirror image: the same keys, every value at the other end."""
    for unit in made.units:
        own = (made.rows[unit],) if made.each_row else tuple(row for row in made.rows if row[0] == unit)
        name = own[0][0] if made.each_row or luck.random() < 0.5 else ("new" if isinstance(unit, str) else 77)
        drawn = [] if luck.random() < 0.1 else _rows_of(luck, name, luck.randrange(8), made.catalog)
        if luck.random() < 0.4:
            drawn = [_mirrored(row, name, made.catalog) for row in own]
        if made.each_row:  # a row is replaced by a row
            drawn = drawn[:1] or [_mirrored(own[0], name, made.catalog)]
        yield unit, tuple(drawn)


def _mirrored(row: Row, name: Any, catalog: Catalog) -> Row:
    found = list(row)
    for j, column in enumerate(catalog.tables[0].columns):
        if j and column.lower is not None and column.upper is not None and j not in KEYED:
            low, top = (float(end) if column.kind == "float" else int(end) for end in (column.lower, column.upper))
            found[j] = low if row[j] is not None and row[j] == top else top
    return (name, *found[1:])


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
    if luck.random() < 0.4:
        found["missing"] = bounds[luck.randint(0, 1)]
    return found


def _rows_of(luck: random.Random, name: Any, number: int, catalog: Catalog) -> list[Row]:
    """A unit's rows, by its archetype."""
    kind = number % 8
    if kind == 0:  # very many rows, few keys
        size = luck.choice([1, 7, 40]) if number else 60
        keys = [_keys(luck, catalog) for _ in range(luck.randint(1, 2))]
        return [(name, *_with(luck, luck.choice(keys), luck.choice(["top", "bottom", "any"]), catalog))
                for _ in range(size)]
    if kind in (1, 2, 3):  # in many keys, all values at one end
        end = ("top", "bottom", "beyond")[kind - 1]
        return [(name, *_with(luck, _keys(luck, catalog), end, catalog)) for _ in range(luck.randint(3, 9))]
    if kind == 4:  # one key, one row or just as many as allowed
        size, keys_ = catalog.tables[0].max_rows or catalog.tables[0].max_total or 1, _keys(luck, catalog)
        return [(name, *_with(luck, keys_, "top", catalog))] * luck.choice([1, size, size + 1])
    if kind == 5:
        return [(name, *_with(luck, _keys(luck, catalog), "missing", catalog)) for _ in range(luck.randint(1, 3))]
    if kind == 7:  # one city more than a unit may be in
        over, keys_ = (catalog.tables[0].max_groups or catalog.tables[0].max_total or 1) + 1, _keys(luck, catalog)
        return [(name, *_with(luck, keys_ | {1: f"k{n}", 2: n}, "top", catalog)) for n in range(over)]
    return [(name, *_with(luck, _keys(luck, catalog), "any", catalog)) for _ in range(luck.randint(1, 4))]


def _keys(luck: random.Random, catalog: Catalog) -> dict[int, Any]:
    """A value for each key column: usually a listed one, sometimes missing, unlisted or spelled oddly."""
    found: dict[int, Any] = {}
    for j in KEYED:
        column = catalog.tables[0].columns[j]
        odd: dict[str, list[Any]] = {
            "text": ["nowhere", "LEEDS", "\uffff"], "integer": [3, -(2**63)], "boolean": [0, 1], "date": [-10, 0],
            "float": [math.nan, -0.0, math.inf, -math.inf, 0.25],
        }
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


def question(luck: random.Random, world: World) -> str:
    """A question of the world's one table, by the generator of `dpcurator/break_me`."""
    return drawn(luck, world.catalog.tables[0]).text


@functools.cache
def parsed(text: str) -> Question:
    """The question of a text; most tests of the law ask the same again."""
    return parse(text)


def priced(text: str, catalog: Catalog, epsilon: str, *, cut: bool = False) -> Quote:
    plan = bind(parsed(text), catalog, AGGREGATES)
    return price(with_cut(plan) if cut else plan, Fraction(epsilon), catalog)


def questions(world: World, count: int) -> Iterator[tuple[str, Quote]]:
    """Questions with something to pay for, of at most 400 keys so that a run stays short; those refused are passed
    over."""
    luck = random.Random(f"questions {world.seed}")
    while count:
        text, epsilon = question(luck, world), luck.choice(PRICES)
        with suppress(Refusal):
            quote = priced(text, world.catalog, epsilon, cut=bool(world.seed % 3))
            if (quote.priced or quote.lowered.chosen) and len(quote.lowered.keys) <= 400:
                count -= 1
                yield f"{text} [{epsilon}]", quote


# --- the law --------------------------------------------------------------------------------------------------------


def vectors(quote: Quote, exact: Exact) -> Vectors:
    """The readings of one evaluation, by key."""
    rows, keys = exact.open_for_release(), exact.keys_for_release()
    lowered = quote.lowered
    assert (keys is None) != lowered.chosen
    known = lowered.keys if keys is None else keys
    assert len(known) == len(rows) == len(set(known))
    tallies = exact.tallies_for_release()
    readings: list[dict[Key, Any]] = []
    for priced_, one in zip(quote.priced, lowered.combinations, strict=True):
        if one.histogram is not None:
            lying, q = exact.histograms_for_release()[one.histogram], priced_.ask.q or Fraction(0)
            count = priced_.mechanism.candidates  # type: ignore[union-attr]
            readings.append({key: Scores(dict(found), q, count) for key, found in zip(known, lying, strict=True)})
        else:
            keyed = [("all keys",)] if one.overall else known
            found = dict(zip(keyed, combine(rows, one, tallies), strict=True))
            among = priced_.ask.among
            readings.append(found if among is None else counts_of_groups(found, among))
    return Vectors(readings, {key: row[0] for key, row in zip(known, rows, strict=True)} if lowered.chosen else None)


def steps_between(one: dict[Key, Any], other: dict[Key, Any]) -> list[int]:
    """How far each coordinate moves. A key that only one side has counts 0 in the other; so does a quantile's score."""
    every = {**one, **other}
    made = (found for found in every.values() if isinstance(found, Scores | Counts))
    nothing: Any = next((replace(found, weights={}) for found in made), 0)
    return [_apart(one.get(key, nothing), other.get(key, nothing)) for key in every]


def _apart(one: Any, other: Any) -> int:
    return one.furthest(other) if isinstance(one, Scores | Counts) else abs(one - other)


def shown_keys(quote: Quote, one: dict[Key, int], other: dict[Key, int]) -> list[set[Key] | None]:
    """Sets of keys that a selection may show, where the others are answered too: none, all, and seven by lot."""
    if not quote.reach.other:
        return [None]
    keys = list({**one, **other})
    luck = random.Random(len(keys))
    return [set(), set(keys), *({key for key in keys if luck.random() < 0.5} for _ in range(7))]


def gathered(readings: dict[Key, int], shown: set[Key] | None) -> dict[Key, int]:
    """A reading's integers by key, those of keys that are not shown added up."""
    if shown is None:
        return readings
    rest = sum(value for key, value in readings.items() if key not in shown)
    return {key: value for key, value in readings.items() if key in shown} | {("all others", len(shown)): rest}


def moves(quote: Quote, one: Vectors, other: Vectors) -> list[str]:
    """What the readings claim and the two evaluations break; empty when the law holds."""
    broken: list[str] = []
    for priced_, left, right in zip(quote.priced, one.readings, other.readings, strict=True):
        claim = priced_.reading
        for shown in [None] if priced_.ask.overall else shown_keys(quote, left, right):
            steps = steps_between(gathered(left, shown), gathered(right, shown))
            found = {
                "linf": max(steps, default=0), "l1": sum(steps), "l2_squared": sum(step * step for step in steps),
            }
            moved = sum(step > 0 for step in steps)
            if moved > claim.coordinates or (
                (not quote.lowered.chosen or priced_.ask.overall) and len(steps) != claim.coordinates
            ):
                broken.append(f"{priced_.ask.what}: {moved} of {len(steps)} coordinates, not {claim.coordinates}")
            for name, distance in found.items():
                if distance > getattr(claim, name):
                    broken.append(f"{priced_.ask.what}: {name} {distance} > {getattr(claim, name)}")
    if one.votes is not None and other.votes is not None:
        broken += _votes_moved(quote, one.votes, other.votes)
    return broken


def _votes_moved(quote: Quote, one: dict[Key, int], other: dict[Key, int]) -> list[str]:
    """A unit votes once, wholly, for at most l0 keys: what the selection of unknown keys rests on."""
    reach = quote.reach
    steps = [step for step in steps_between(one, other) if step]
    sides = 1 if reach.neighbours == "add-remove" else 2
    broken = [f"a unit votes {step} in one key, not {reach.one}" for step in steps if step != reach.one]
    if any(vote < reach.one or vote % reach.one for vote in (*one.values(), *other.values())):
        broken.append("a candidate has no whole number of votes")
    if len(steps) > sides * selection_reach(reach):
        broken.append(f"{len(steps)} votes, not {sides} times {selection_reach(reach)}")
    return broken


def on_table(core: CorePlan, number: int) -> CorePlan:
    """The same plan over stored table number `number`."""
    scan, *rest = core
    return (replace(scan, table=f"t{number}"), *rest)  # type: ignore[type-var]
