"""A rehearsal: a question answered over rows that are made up from the catalog alone, free, and marked so everywhere.

Queries, plots and programs can be tried before there is any data, budget or ledger. The rows follow from the catalog's
digest (the same for everyone, so nothing can be learnt from them), the noise is the real noise of the quote. A
rehearsal has no receipt, is stored nowhere, and touches neither snapshot nor ledger; its answer says `made_up`.

What is made up: as many units as are declared (`units`, `expected_units`, else UNITS), fewer only where all rows would
be more than MOST_ROWS. A unit has rows in one to max_groups places, one to max_rows rows in each; now and then more, so
that scaling down is rehearsed too. What rows are grouped by is the same within a place: listed keys, or words nobody
could take for data, some far more often than others. Numbers and dates are humped within their bounds, now and then at
an end or beyond. A few values are missing. In a column with per_unit = 1 all rows of a unit are alike. A public table
has as many rows as it has values to list. Checked in
tests/curator/test_rehearsal.py.
"""

from __future__ import annotations

import random
import uuid
from collections.abc import Callable, Collection
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import accumulate
from typing import Final

from dpcurator.catalog.model import EACH_ROW, Catalog, Column, Table, Value
from dpcurator.engines import stored_engine
from dpcurator.entropy import Entropy
from dpcurator.errors import Fault, Refusal
from dpcurator.language.days import DAY, FIRST_DAY, FIRST_MOMENT, LAST_DAY, LAST_MOMENT
from dpcurator.numbers import decimal_text
from dpcurator.plan.core import Scan, scanned
from dpcurator.pricing.quote import Quote
from dpcurator.release.cut import Cut, cut_of
from dpcurator.release.finish import finish
from dpcurator.release.notes import many
from dpcurator.release.release import Noisy, release
from dpcurator.values import Cell

UNITS: Final = 1_000  # when the catalog does not say how many to expect
MOST_ROWS: Final = 100_000  # so that a rehearsal answers within a second or so
MOST_LETTERS: Final = 30_000_000  # in all rows: a rehearsal holds them in memory
_MISSING: Final = 0.03
_OFTEN: Final = 0.05  # how often a number is at an end of its bounds, or beyond
_BEYOND: Final = 0.02  # how often a unit has more rows, or groups, than count
_NAMES: Final = ("amber", "birch", "cedar", "dune", "ember", "fjord", "grove", "heath", "inlet",
                 "juniper", "kelp", "loam")
_WORDS: Final = tuple(f"made-up {name}{number}" for number in ("", " 2", " 3") for name in _NAMES)
_LISTED: Final = 12  # keys of a public table that was not read yet
_RECENT: Final = (18_262, 20_088)  # 2020 to 2024, for dates without bounds
_HUGE: Final = 1.7e308
_DOMAINS: Final = {  # what a value of the type can be
    "date": (FIRST_DAY, LAST_DAY), "timestamp": (FIRST_MOMENT, LAST_MOMENT), "integer": (-(2**63), 2**63 - 1),
}


@dataclass(frozen=True, slots=True)
class Rehearsed:
    """The cells of an answer over made-up rows, and how many rows of how many units there were (0: none needed).

    declared: as many units as the catalog says, where that was too many.
    """

    cells: tuple[tuple[Cell, ...], ...]
    rows: int = 0
    units: int = 0
    declared: int | None = None
    cut: Cut | None = None
    noisy: Noisy | None = None


def rehearsed(quote: Quote, entropy: Entropy) -> Rehearsed:
    """The quote's answer over made-up rows, with its own noise and error bars. Raises Refusal where no engine can."""
    if quote.free:
        return Rehearsed(finish(quote, None))
    scan = quote.lowered.core[0]
    assert isinstance(scan, Scan)
    read = scanned(scan)
    table = quote.catalog.tables[int(next(iter(read)).removeprefix("t"))]
    tables, kinds = {}, {}
    for name, columns in read.items():
        one = quote.catalog.tables[int(name.removeprefix("t"))]
        tables[name] = made_up(quote.catalog, one, columns or {"c0"})
        kinds[name] = {f"c{number}": column.kind for number, column in enumerate(one.columns)}
    made = tables[next(iter(read))]
    try:
        exact = stored_engine().from_tables(tables, kinds).evaluate(quote.lowered.core)
    except Fault:  # of rows that are nobody's, so this may be told
        raise Refusal("the engine fails on this question, even on made-up rows.",
                      cure="Ask it in other words, and report it: it would fail on data too.") from None
    noisy = release(quote, exact, entropy)
    cells = finish(quote, noisy)
    units, declared = _units(quote.catalog, table), _declared(quote.catalog, table)
    too_many = declared if declared > units else None
    return Rehearsed(cells, len(next(iter(made.values()))), units, too_many, cut_of(quote, noisy), noisy)


def rehearsal_notes(quote: Quote, found: Rehearsed, *, unpriced: bool) -> tuple[str, ...]:
    """What was made up, and what the question would cost."""
    if quote.free:
        return ("free; asked for real it is free too: every value is public",)
    catalog = quote.catalog
    price = f"{catalog.currency} {decimal_text(quote.cost)}"
    price += f" and delta {decimal_text(quote.delta)}" if quote.delta else ""
    price += ", 5 % of the budget, as no price was given" if unpriced else ""
    whose = f"{many(found.rows, 'row')} of {found.units:,} {catalog.protects}"
    if found.declared is not None:
        whose += f", not {found.declared:,}: what grows with them is smaller here, and the noise looks larger beside it"
    return (f"free; asked for real at this price it costs {price}", f"made up from the catalog alone: {whose}")


def made_up(catalog: Catalog, table: Table, only: Collection[str] | None = None) -> dict[str, list[Value]]:
    """A made-up table: {physical column: values}, of these columns or of all. A function of the catalog alone."""
    wanted = [(number, column, _luck(catalog, table, column.name)) for number, column in enumerate(table.columns)
              if only is None or f"c{number}" in only]
    if not table.private:
        size = max((len(column.keys or ()) for column in table.columns), default=0) or _LISTED
        size = min(size, _most_rows(table))
        return {f"c{number}": _listed_values(column, luck, size) for number, column, luck in wanted}
    places = _Places.of(catalog, table)
    return {f"c{number}": places.values(column, luck, owner=column.name == table.unit)
            for number, column, luck in wanted}


def _listed_values(column: Column, luck: random.Random, size: int) -> list[Value]:
    """Of a public table: each of its values as often as the others, or as often as a refresh has read, if less. So a
    join makes about as many rows of one as it does for real."""
    values = list(column.keys or _distinct(column)[:_LISTED])
    luck.shuffle(values)
    most = 1 if column.unique else column.most or size
    return [values[at % len(values)] if at // len(values) < most else None for at in range(size)]


def made_up_keys(column: Column) -> tuple[Value, ...]:
    """Keys for a column whose list is in a public table that was not read yet; in canonical order."""
    return tuple(sorted(dict.fromkeys(_distinct(column)[:_LISTED])))  # type: ignore[type-var]


def _luck(catalog: Catalog, table: Table, what: str) -> random.Random:
    return random.Random(f"{catalog.digest} {table.name} {what}")


def _declared(catalog: Catalog, table: Table) -> int:
    return catalog.units_expected(table) or UNITS


def _most_rows(table: Table) -> int:
    """MOST_ROWS, and fewer where listed keys are so long that all rows would be more than MOST_LETTERS."""
    longest = sum(
        max((len(key) for key in column.keys or () if isinstance(key, str)), default=0) for column in table.columns
    )
    return max(1, min(MOST_ROWS, MOST_LETTERS // max(1, longest)))


def _units(catalog: Catalog, table: Table) -> int:
    return min(_declared(catalog, table), _most_rows(table))


@dataclass(frozen=True, slots=True)
class _Places:
    """Whose each place is (a unit's part of a group; those of a unit are consecutive), and where each row is."""

    owners: list[int]
    rows: list[int]

    @classmethod
    def of(cls, catalog: Catalog, table: Table) -> _Places:
        units = _units(catalog, table)
        if table.unit == EACH_ROW:
            return cls(list(range(units)), list(range(units)))
        luck = _luck(catalog, table, "")
        most = _most_rows(table)
        each = most * 0.7 / units  # rows that a unit may have, on average
        most_groups = max(1, min(table.max_groups or table.max_total or 1, int(4 * (each**0.5 - 1))))
        most_rows = max(1, min(table.max_rows or table.max_total or 1, int(4 * (each / (1 + most_groups / 4) - 1))))
        spare = min(most // 4, most - units)  # rows for units with more than count
        owners: list[int] = []
        rows: list[int] = []
        for unit in range(units):
            groups, beyond = _few(most_groups, luck), (table.max_groups or table.max_total or 1) + 1
            if (unit == 0 or luck.random() < _BEYOND) and beyond * 10 <= spare:
                groups, spare = beyond, spare - beyond
            for _ in range(groups):
                count, beyond = _few(most_rows, luck), (table.max_rows or table.max_total or 1) + _few(4, luck)
                if (unit == 0 or luck.random() < _BEYOND) and beyond * 10 <= spare:
                    count, spare = beyond, spare - beyond
                rows += [len(owners)] * count
                owners.append(unit)
        return cls(owners, rows[:most])

    def values(self, column: Column, luck: random.Random, *, owner: bool) -> list[Value]:
        """A column's value in each row."""
        if owner:
            names = [_name(column, number) for number in range(self.owners[-1] + 1)]
            return [names[self.owners[place]] for place in self.rows]
        if column.per_unit:
            first: dict[int, Value] = {}
            drawn = self.values(replace(column, per_unit=False), luck, owner=False)
            return [first.setdefault(self.owners[at], value) for at, value in zip(self.rows, drawn, strict=True)]
        chance = luck.random
        if column.keys or column.unknown_keys or column.kind == "text":
            at = self._picks(list(column.keys or _distinct(column)), luck)
            return [None if chance() < _MISSING else at[place] for place in self.rows]
        draw = _number(column, luck)
        return [None if chance() < _MISSING else draw() for _ in self.rows]

    def _picks(self, choices: list[Value], luck: random.Random) -> list[Value]:
        """One of the choices for each place, by Zipf's law in an order of its own; a unit's are distinct if they can
        be."""
        luck.shuffle(choices)
        weights = list(accumulate(1 / (rank + 1) for rank in range(len(choices))))
        picks = luck.choices(range(len(choices)), cum_weights=weights, k=len(self.owners))
        taken: set[int] = set()
        for place, pick in enumerate(picks):
            if place == 0 or self.owners[place] != self.owners[place - 1] or len(taken) == len(choices):
                taken = set()
            while pick in taken:
                pick = (pick + 1) % len(choices)
            taken.add(pick)
            picks[place] = pick
        return [choices[pick] for pick in picks]


def _few(most: int, luck: random.Random) -> int:
    """From 1 to `most`, few most often; a quarter of the way on average."""
    return 1 + int(most * luck.random() * luck.random())


def _name(column: Column, number: int) -> Value:
    """A unit's."""
    if column.type == "uuid":
        return str(uuid.UUID(int=number))
    return number if column.kind == "integer" else f"made-up {number}"


def _distinct(column: Column) -> list[Value]:
    """A few dozen values to group by."""
    if column.type == "text":
        return list(_WORDS)
    if column.type == "uuid":
        return [str(uuid.UUID(int=number)) for number in range(len(_WORDS))]
    if column.type == "boolean":
        return [0, 1]
    low, high = _ends(column)
    step = DAY if column.type == "timestamp" else 1
    found = [low + step * number for number in range(len(_WORDS)) if low + step * number <= high]
    return [float(value) if column.kind == "float" else int(value) for value in found]


def _ends(column: Column) -> tuple[Fraction, Fraction]:
    if column.lower is not None and column.upper is not None:
        return column.lower, column.upper
    first, last = (Fraction(day) for day in _RECENT)
    recent = {"date": (first, last), "timestamp": (first * DAY, last * DAY)}
    return recent.get(column.type, (Fraction(0), Fraction(100)))


def _number(column: Column, luck: random.Random) -> Callable[[], Value]:
    """How a value is drawn: mostly in the lower middle of the bounds; now and then an end, or a little beyond one."""
    if column.type == "boolean":
        return lambda: int(luck.random() < 0.4)
    low, high = _ends(column)
    beyond = (high - low) / 20 or 1
    outer: list[Value]
    if column.kind == "float":
        ends = [min(max(end, -Fraction(_HUGE)), Fraction(_HUGE)) for end in (low, high, low - beyond, high + beyond)]
        outer = [float(end) for end in ends]
        a, b = float(ends[0]), float(ends[1])

        def between() -> Value:
            part = luck.triangular(0, 1, 0.3)
            return a * (1 - part) + b * part

    else:
        first, last = _DOMAINS[column.type]
        c, d = -(-low // 1), high // 1
        outer = [min(max(end, first), last) for end in (c, d, (low - beyond) // 1, -(-(high + beyond) // 1))]
        width = max(0, d - c)

        def between() -> Value:
            return min(c + int(width * luck.triangular(0, 1, 0.3) + 0.5), d)

    return lambda: luck.choice(outer) if luck.random() < _OFTEN else between()
