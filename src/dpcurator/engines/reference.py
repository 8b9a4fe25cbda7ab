"""The core plan in plain Python: slow, obvious, and what the other engines are held to.

It is right because it says what `plan/core.py` says, step by step, in unbounded integers and IEEE doubles and nothing
else. Tables are `{table: {column: values}}`, values None, int, float or str; floats may be NaN, infinite or -0.0.
Checked against tables worked by hand in tests/engines/test_by_hand.py.
"""

from __future__ import annotations

import hashlib
import math
from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, Self

from dpcurator.catalog.model import Value
from dpcurator.engines.engine import Kinds, Tables
from dpcurator.engines.limits import check_core
from dpcurator.engines.reference_relations import relation, stored
from dpcurator.language.evaluate import Row, truth, value
from dpcurator.plan import core as steps
from dpcurator.plan.merge import apart, merged
from dpcurator.values import Exact

Key = tuple[Value, ...]
Scaled = tuple[Key, Callable[[steps.Sum], int], list[list[int | None]]]  # of a unit in a key: what a sum adds; its rows

__all__ = ["Reference", "measure", "truth"]


class Reference:
    """An engine over Python lists. tables: {physical table: {physical column: values}}, columns of equal length."""

    def __init__(self, tables: Tables) -> None:
        self._tables = tables

    @classmethod
    def from_tables(cls, tables: Tables, kinds: Kinds | None = None) -> Self:
        """The same; a value is of the kind it has."""
        return cls(tables)

    def evaluate(self, core: steps.CorePlan) -> Exact:
        """Python ints, one row a key, one column a sum; chosen keys in the order found. Raises Refusal where
        `check_core` does."""
        keys = check_core(core).keys
        state: Any = self._tables
        for step in core:
            state = _step(step, state)
        table, tallies, lying = state
        return Exact(list(table.values()), list(table) if isinstance(keys, steps.Chosen) else None, tallies, lying)

    def evaluate_all(self, cores: Sequence[steps.CorePlan]) -> tuple[Exact, ...]:
        return apart(cores, [self.evaluate(one.core) for one in merged(cores)])


def _step(step: object, state: Any) -> Any:
    """One step: what the steps before it made, to what it makes."""
    match step:
        case steps.Scan():
            return scan(step, state)
        case steps.Filter(predicate):
            return [row for row in state if truth(predicate, row) is True]
        case steps.Project(parts):
            return [(*row, *(value(part, row) for part in parts)) for row in state]
        case steps.Owner(column):
            owned = [(number if column is None else row[column], row) for number, row in enumerate(state)]
            return [(unit, row) for unit, row in owned if unit is not None]
        case steps.Listed(columns, keys):
            keyed = [(unit, tuple(row[column] for column in columns), row) for unit, row in state]
            listed = set(keys)
            kept = [(unit, key, row) for unit, key, row in keyed if key in listed]
            return keys, kept, Units({unit for unit, _, _ in kept}, listed=True)
        case steps.Chosen(columns):
            keyed = [(unit, tuple(row[column] for column in columns), row) for unit, row in state]
            kept = choose(step, keyed)
            lost = {(unit, key) for unit, key, _ in keyed} - {(unit, key) for unit, key, _ in kept}
            units = Units({unit for unit, _, _ in keyed}, {unit for unit, _ in lost})
            return tuple(dict.fromkeys(key for _, key, _ in kept)), kept, units
        case steps.Measure(grids, products, distinct):
            keys, keyed, units = state
            units.of_key = {key: (number,) for number, key in enumerate(keys)} if units.listed else {}
            units.values = [(one, [(unit, key, row[one.column]) for unit, key, row in keyed]) for one in distinct]
            units.outside = [{unit for unit, _, row in keyed if outside(grid, row[grid.column])} for grid in grids]
            rows = [(unit, key, [measure(grid, row[grid.column]) for grid in grids]) for unit, key, row in keyed]
            for _, _, own in rows:
                own += [product(one, grids, own) for one in products]
            return keys, rows, units
        case steps.PerUnit():
            keys, measured, units = state
            return keys, per_unit(measured), units
        case steps.ScaleDown():
            keys, grouped, units = state
            units.look(step, grouped)
            units.kept = [keep(one, step, rows, units) for one, rows in units.values]
            return keys, scale_down(step, grouped), units
        case steps.Total(sums, tallies, histograms):
            keys, scaled, units = state
            lying = [lie(one, keys, scaled) for one in histograms]
            return total(sums, keys, scaled, units), [units.count(tally) for tally in tallies], lying
    raise AssertionError("unreachable: check_core knows every step")


@dataclass
class Units:
    """Who is counted by a tally. lost: who has keys that were not chosen; outside: by measure, who has such a value;
    over: who is over a cap on rows or keys; spread: over one on keys. Beside them, of each column whose different
    values are counted, its values (unit, key, value), and those that are `kept`; of a listed key, what stands for it.
    """

    everyone: set[Value]
    lost: set[Value] = field(default_factory=set)
    outside: list[set[Value]] = field(default_factory=list)
    over: set[Value] = field(default_factory=set)
    spread: set[Value] = field(default_factory=set)
    listed: bool = False
    of_key: dict[Key, Key] = field(default_factory=dict)
    values: list[tuple[steps.Distinct, list[tuple[Value, Key, Value]]]] = field(default_factory=list)
    kept: list[set[tuple[Key, Value]]] = field(default_factory=list)

    def look(self, step: steps.ScaleDown, grouped: dict[Any, dict[Key, list[list[int | None]]]]) -> None:
        for unit, keys in grouped.items():
            rows = [len(own) for own in keys.values()]
            total = math.inf if step.max_total is None else step.max_total
            if len(rows) > min(step.max_groups, total):
                self.spread.add(unit)
            bounded = sum(min(r, step.max_rows) for r in rows)
            if len(rows) > step.max_groups or max(rows) > step.max_rows or bounded > total:
                self.over.add(unit)

    def count(self, tally: steps.Tally) -> int:
        if tally.what == "everyone":
            return len(self.everyone)
        caps = self.over if tally.what == "cut" else self.spread
        return len(set().union(self.lost, caps, *(self.outside[measure] for measure in tally.measures)))


def keep(
    step: steps.Distinct, caps: steps.ScaleDown, rows: list[tuple[Value, Key, Value]], units: Units
) -> set[tuple[Key, Value]]:
    """The pairs (key, value) that some unit keeps."""
    found: dict[Value, set[tuple[Key, Value]]] = defaultdict(set)
    for unit, key, one in rows:
        if one is not None:
            found[unit].add((key, one))
    kept: set[tuple[Key, Value]] = set()
    for unit, pairs in found.items():
        a = {key: _md5(step.salt, unit, units.of_key.get(key, key)) for key, _ in pairs}
        b = {(key, one): _md5(step.salt, unit, (*units.of_key.get(key, key), one)) for key, one in pairs}
        keys = _first(a, caps.max_groups)
        own: dict[Key, dict[tuple[Key, Value], bytes]] = defaultdict(dict)
        for pair in pairs:
            if pair[0] in keys:
                own[pair[0]][pair] = b[pair]
        chosen = {pair: b[pair] for some in own.values() for pair in _first(some, caps.max_rows)}
        kept |= _first(chosen, len(chosen) if caps.max_total is None else caps.max_total)
    return kept


def _md5(salt: str, unit: Value, parts: tuple[Value, ...]) -> bytes:
    return hashlib.md5(steps.key_bytes(salt, unit, parts), usedforsecurity=False).digest()


def _first(digests: dict[Any, bytes], most: int) -> set[Any]:
    """Those up to whose digest there are at most so many."""
    order = sorted(digests.values())
    return {one for one, digest in digests.items() if bisect_right(order, digest) <= most}


def scan(step: steps.Scan, tables: Tables) -> list[Row]:
    if isinstance(step.table, str):
        return stored(step.table, step.columns, tables)
    places = [int(source.name.removeprefix("c")) for source in step.columns]
    return [tuple(row[place] for place in places) for row in relation(step.table, tables)]


def choose(step: steps.Chosen, keyed: list[tuple[Value, Key, Row]]) -> list[tuple[Value, Key, Row]]:
    """The rows of each unit's first keys by md5: of the keys up to whose own the unit has at most max_groups."""
    found: dict[Value, set[Key]] = defaultdict(set)
    for unit, key, _ in keyed:
        found[unit].add(key)

    def first(unit: Value, keys: set[Key]) -> set[Key]:
        return _first({key: _md5(step.salt, unit, key) for key in keys}, step.max_groups)

    kept = {unit: first(unit, keys) for unit, keys in found.items()}
    return [(unit, key, row) for unit, key, row in keyed if key in kept[unit]]


def measure(grid: steps.Grid, value: Value) -> int | None:
    """From 0 to upper - lower, or missing."""
    if value is None:
        return None
    if grid.kind == "text" or isinstance(value, str):
        return 0
    if grid.kind == "integer":
        return int(min(max(value, grid.clamp_lower), grid.clamp_upper)) - grid.lower
    clamped = min(max(float(value), float(grid.clamp_lower)), float(grid.clamp_upper))
    rounded = math.floor(clamped * 2.0**grid.exponent + 0.5)
    return min(max(rounded, grid.lower), grid.upper) - grid.lower


def product(step: steps.Product, grids: tuple[steps.Grid, ...], own: list[int | None]) -> int | None:
    """From 0 to upper - lower, or missing."""
    a, b = own[step.first], own[step.second]
    if a is None or b is None:
        return None
    one, other = grids[step.first], grids[step.second]
    found = (2 * a - (one.upper - one.lower)) * (2 * b - (other.upper - other.lower))
    nearest = math.floor(Fraction(found, 2**step.shift) + Fraction(1, 2))
    return min(max(nearest, step.lower), step.upper) - step.lower


def outside(grid: steps.Grid, value: Value) -> bool:
    """Whether it is present and beyond what it is clamped to."""
    if value is None or isinstance(value, str):
        return False
    return value < grid.clamp_lower or value > grid.clamp_upper


def per_unit(measured: list[tuple[Any, Key, list[int | None]]]) -> dict[Any, dict[Key, list[list[int | None]]]]:
    """unit -> key -> its rows."""
    units: dict[Any, dict[Key, list[list[int | None]]]] = defaultdict(lambda: defaultdict(list))
    for unit, key, values in measured:
        units[unit][key].append(values)
    return units


def scale_down(
    step: steps.ScaleDown, units: dict[Any, dict[Key, list[list[int | None]]]]
) -> list[Scaled]:
    """For each (unit, key): the key, what each sum adds for it, and its rows."""
    return [
        (key, _share(step, [len(rows) for rows in keys.values()], values), values)
        for keys in units.values()
        for key, values in keys.items()
    ]


def _share(step: steps.ScaleDown, rows: list[int], values: list[list[int | None]]) -> Callable[[steps.Sum], int]:
    """rows: how many the unit has in each of its keys; values: those of one of them."""
    g, t = len(rows), sum(min(r, step.max_rows) for r in rows)
    factor = min(Fraction(1), Fraction(step.max_groups, g))
    whole = factor
    if step.max_total is not None:
        factor, whole = min(factor, Fraction(step.max_total, t)), min(factor, Fraction(step.max_total, g))

    def scaled_count(c: int) -> int:
        return step.one * min(c, step.max_rows) * factor.numerator // factor.denominator

    def share(sum_: steps.Sum) -> int:
        if sum_.what == "rows":
            return scaled_count(len(values))
        if sum_.what == "units":
            return math.floor(step.one * whole)
        present = [value for row in values if (value := row[sum_.measure]) is not None]
        c = len(present)
        if sum_.what == "present" or c == 0:
            return scaled_count(c)
        return sum(present) * scaled_count(c) // c

    return share


def total(
    sums: tuple[steps.Sum, ...], keys: tuple[Key, ...], scaled: list[Scaled], units: Units
) -> dict[Key, list[int]]:
    table = {key: [0] * len(sums) for key in keys}
    for column, sum_ in enumerate(sums):
        if sum_.what == "distinct":
            for key, _ in units.kept[sum_.measure]:
                table[key][column] += 1
        else:
            for key, share, _ in scaled:
                table[key][column] += share(sum_)
    return table


def lie(histogram: steps.Histogram, keys: tuple[Key, ...], scaled: list[Scaled]) -> list[dict[int, int]]:
    """Per key, what lies at each candidate, where it is not 0."""
    table: dict[Key, Counter[int]] = {key: Counter() for key in keys}
    for key, share, rows in scaled:
        present = [value for row in rows if (value := row[histogram.measure]) is not None]
        bounded = share(steps.Sum("present", histogram.measure))
        for place, d in Counter(value // histogram.step for value in present).items():
            table[key][place] += d * bounded // len(present)
    return [{place: weight for place, weight in found.items() if weight} for found in table.values()]
