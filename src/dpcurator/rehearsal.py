"""A rehearsal: a question answered over rows that are made up from the catalog alone, free, and marked so everywhere.

Queries, plots and programs can be tried before there is any data, budget or ledger. The rows follow from the catalog's
digest (the same for everyone, so nothing can be learnt from them), the noise is the real noise of the quote. A
rehearsal has no receipt, is stored nowhere, and touches neither snapshot nor ledger; its answer says `made_up`.

What is made up: units as many as declared (`units`, `expected_units`, else 1,000; at most MOST_UNITS), with one to
max_rows + 1 rows a key and one to max_groups + 1 keys; listed keys, the first ones most often; numbers humped within
their bounds, now and then at an end or beyond; a few missing values. Checked in tests/test_rehearsal.py.
"""

from __future__ import annotations

import random
import uuid
from collections.abc import Callable
from fractions import Fraction
from typing import Final

from dpcurator.catalog.model import EACH_ROW, Catalog, Column, Table, Value
from dpcurator.engines.reference import Reference
from dpcurator.entropy import Entropy
from dpcurator.pricing.finish import finish
from dpcurator.pricing.quote import Quote
from dpcurator.pricing.release import release
from dpcurator.values import Cell

UNITS: Final = 1_000  # when the catalog does not say how many to expect
MOST_UNITS: Final = 4_000  # so that a rehearsal answers within a second or so
_MISSING: Final = 0.03
_OFTEN: Final = 0.05  # how often a number is at an end of its bounds, or beyond
_NAMES: Final = ("amber", "birch", "cedar", "dune", "ember", "fjord", "grove", "heath", "inlet", "juniper")
_WORDS: Final = tuple(f"made-up {name}" for name in _NAMES)
_DAYS: Final = (18_262, 20_088)  # 2020 to 2024, for dates without bounds
_DAY: Final = 86_400_000_000


def cells(quote: Quote, entropy: Entropy) -> tuple[tuple[Cell, ...], ...]:
    """The rows of an answer over made-up rows, with the quote's own noise and error bars."""
    if quote.free:
        return finish(quote, None)
    engine = Reference({f"t{number}": rows(quote.catalog, table) for number, table in enumerate(quote.catalog.tables)
                        if table.private})  # fmt: skip
    return finish(quote, release(quote, engine.evaluate(quote.lowered.core), entropy))


def rows(catalog: Catalog, table: Table) -> dict[str, list[Value]]:
    """A made-up table: {physical column: values}. A function of the catalog alone."""
    luck = random.Random(f"{catalog.digest} {table.name}")
    units = min(catalog.units or table.expected_units or UNITS, MOST_UNITS)
    owners, places = _owned(table, units, luck)
    made: dict[str, list[Value]] = {}
    for number, column in enumerate(table.columns):
        if column.name == table.unit:
            names = [_unit(column, n) for n in range(units)]
            made[f"c{number}"] = [names[owner] for owner in owners]
        else:
            draw = _drawn(column, luck)
            made[f"c{number}"] = [None if luck.random() < _MISSING else draw(place) for place in places]
    return made


def _owned(table: Table, units: int, luck: random.Random) -> tuple[list[int], list[int]]:
    """For each row its unit, and a number that its keys lean on, so that a unit's rows are in few groups."""
    if table.unit == EACH_ROW:
        return list(range(units)), [_skewed(luck) for _ in range(units)]
    owners: list[int] = []
    places: list[int] = []
    most_rows, most_groups = min(table.max_rows or 1, 8), min(table.max_groups or 1, 4)
    for unit in range(units):
        for _ in range(luck.randint(1, most_groups + (luck.random() < _OFTEN))):
            count = luck.randint(1, most_rows + (luck.random() < _OFTEN))
            owners += [unit] * count
            places += [_skewed(luck)] * count
    return owners, places


def _skewed(luck: random.Random) -> int:
    """0 most often, then 1, and so on without end."""
    return int(luck.expovariate(0.45))


def _unit(column: Column, number: int) -> Value:
    if column.type == "uuid":
        return str(uuid.UUID(int=number))
    return number if column.kind == "integer" else f"made-up {number}"


def _drawn(column: Column, luck: random.Random) -> Callable[[int], Value]:
    """How a value of this column is made; a key leans on the row's place."""
    keys = column.keys
    if keys:
        return lambda place: keys[place % len(keys)]
    match column.type:
        case "text":
            return lambda place: _WORDS[place % len(_WORDS)]
        case "uuid":
            return lambda place: str(uuid.UUID(int=place))
        case "boolean":
            return lambda place: int(luck.random() < 0.4)
    low, high = _ends(column)
    if column.kind == "float":
        return lambda place: float(_humped(low, high, luck))
    if column.unknown_keys:
        return lambda place: int(low) + place
    return lambda place: round(_humped(low, high, luck))


def _ends(column: Column) -> tuple[Fraction, Fraction]:
    if column.lower is not None and column.upper is not None:
        return column.lower, column.upper
    first, last = (Fraction(day) for day in _DAYS)
    return {"date": (first, last), "timestamp": (first * _DAY, last * _DAY)}.get(
        column.type, (Fraction(0), Fraction(100))
    )


def _humped(low: Fraction, high: Fraction, luck: random.Random) -> Fraction:
    """Mostly in the lower middle of the bounds; now and then an end, or a little beyond one."""
    if luck.random() < _OFTEN:
        width = (high - low) / 20
        return luck.choice((low, high, low - width, high + width))
    return low + (high - low) * Fraction(luck.betavariate(2, 3))
