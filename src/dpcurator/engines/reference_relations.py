"""Relations of the core plan in plain Python: what `plan/core_relations.py` says, a rule a node, and nothing else.

Slow and obvious. Checked against tables worked by hand in tests/plan/test_bind_relations.py.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

from dpcurator.catalog.model import Value
from dpcurator.engines.engine import Tables
from dpcurator.language.evaluate import Row, truth, value
from dpcurator.numbers.rational import INT64
from dpcurator.plan import core_relations as physical


def stored(table: str, sources: Sequence[physical.Source], tables: Tables) -> list[Row]:
    """The rows of a stored table, read canonically."""
    held = tables[table]
    size = len(next(iter(held.values()), ()))
    columns = [[canonical(source, value) for value in held[source.name]] for source in sources]
    return list(zip(*columns, strict=True)) if columns else [()] * size


def canonical(source: physical.Source, value: Value) -> Value:
    """NaN and a text that is too long are missing, -0.0 is 0.0, then missing becomes the fill."""
    if source.kind == "float" and value is not None:
        assert not isinstance(value, str)
        value = float(value)
        value = None if math.isnan(value) else value + 0.0  # -0.0 + 0.0 is 0.0
    if isinstance(value, str) and len(value) > source.letters:
        value = None
    return source.fill if value is None else value


def relation(node: physical.CoreRelation, tables: Tables) -> list[Row]:
    """The rows of a relation."""
    match node:
        case physical.Stored(table, columns, unit):
            rows = stored(table, columns, tables)
            return rows if unit is None else [row for row in rows if row[unit] is not None]
        case physical.Only(source, predicate):
            return [row for row in relation(source, tables) if truth(predicate, row) is True]
        case physical.Columns(source, parts):
            return [tuple(value(part, row) for part in parts) for row in relation(source, tables)]
        case physical.Groups(source):
            return _groups(node, relation(source, tables))
        case physical.Match(source, other):
            return _match(node, relation(source, tables), relation(other, tables), len(physical.columns_of(other)))
        case physical.Both(source, other):
            return [*relation(source, tables), *relation(other, tables)]
        case physical.Ranked(source):
            return _ranked(node, relation(source, tables))
        case physical.Flag(source, _, among):
            return _flag(node, relation(source, tables), relation(among, tables))
        case physical.Found(source, _, other):
            return _found(node, relation(source, tables), relation(other, tables))
    raise AssertionError("unreachable: check_core knows every relation")


def _groups(node: physical.Groups, rows: list[Row]) -> list[Row]:
    groups: dict[Row, list[Row]] = {}
    for row in rows:
        groups.setdefault(row[: node.keys], []).append(row)
    return [(*key, *(fold(one, own) for one in node.folds)) for key, own in groups.items()]


def fold(one: physical.Folded, rows: list[Row]) -> Value:
    """What a fold makes of the rows of a group."""
    if one.function == "rows":
        return len(rows)
    if one.function.startswith("arg_"):
        pairs = [(row[one.by], row[one.column]) for row in rows if row[one.by] is not None]
        found: list[Any] = [pair for pair in pairs if pair[1] is not None]
        if not found:
            return None
        best = (min if one.function == "arg_least" else max)(by for by, _ in found)
        return min(of for by, of in found if by == best)  # type: ignore[no-any-return]
    present: list[Any] = [row[one.column] for row in rows if row[one.column] is not None]
    if one.function == "present":
        return len(present)
    if one.function == "distinct":
        return len(set(present))
    if not present:
        return None
    if one.function in ("least", "greatest"):
        return (min if one.function == "least" else max)(present)  # type: ignore[no-any-return]
    if one.function == "sum_i":
        return total if (total := sum(present)) in INT64 else None
    if one.function == "avg_i":
        return finite(Fraction(sum(present), len(present)), 0)
    steps = sum(on_grid(one, held) for held in present)
    return finite(Fraction(steps, len(present) if one.function == "avg_f" else 1), one.exponent)


def on_grid(one: physical.Folded, held: float) -> int:
    """A float as it is measured: clamped, in steps of 2**-exponent, clamped again."""
    clamped = min(max(held, one.ends[0]), one.ends[1])
    return min(max(math.floor(clamped * 2.0**one.exponent + 0.5), one.steps[0]), one.steps[1])


def finite(exact: Fraction, exponent: int) -> float | None:
    """The nearest double, times 2**-exponent as doubles; missing where that is infinite."""
    found = exact.numerator / exact.denominator * 2.0**-exponent
    return found if math.isfinite(found) else None


def _match(node: physical.Match, rows: list[Row], others: list[Row], width: int) -> list[Row]:
    found: dict[Row, list[Row]] = {}
    for other in others:
        found.setdefault(tuple(other[index] for index in node.other_on), []).append(other)
    made: list[Row] = []
    for row in rows:
        key = tuple(row[index] for index in node.on)
        met = [] if None in key else found.get(key, [])
        made += [(*row, *other) for other in met] or ([(*row, *(None,) * width)] if node.left else [])
    return made


def _ranked(node: physical.Ranked, rows: list[Row]) -> list[Row]:
    """Put in order by the last column first, each time keeping what was equal as it was."""
    for one in reversed(node.order):
        present = [row for row in rows if row[one.column] is not None]
        missing = [row for row in rows if row[one.column] is None]
        present.sort(key=lambda row: row[one.column], reverse=one.descending)  # type: ignore[return-value, arg-type]
        rows = [*missing, *present] if one.missing_first else [*present, *missing]
    counts: dict[Row, int] = {}
    made: list[Row] = []
    for row in rows:
        key = tuple(row[index] for index in node.keys)
        counts[key] = counts.get(key, 0) + 1
        made.append((*row, counts[key]))
    return made


def _flag(node: physical.Flag, rows: list[Row], among: list[Row]) -> list[Row]:
    cohort = {row[node.among_unit] for row in among}
    return [(*row, int(row[node.unit] in cohort)) for row in rows]


def _found(node: physical.Found, rows: list[Row], others: list[Row]) -> list[Row]:
    listed = set(others)
    gap = any(None in other for other in others)

    def mark(values: Row) -> Value:
        if None not in values and values in listed:
            return 1
        return None if node.unknown and others and (gap or None in values) else 0

    return [(*row, mark(tuple(row[index] for index in node.on))) for row in rows]
