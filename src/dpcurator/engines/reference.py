"""The core plan in plain Python: slow, obvious, and what the other engines are held to.

It is right because it says what `plan/core.py` says, step by step, in unbounded integers and IEEE doubles and nothing
else. Tables are `{table: {column: values}}`, values None, int, float or str; floats may be NaN, infinite or -0.0.
Checked against tables worked by hand in tests/engines/test_by_hand.py.
"""

from __future__ import annotations

import math
import operator
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from dpcurator.catalog.model import Value
from dpcurator.engines.limits import check_core
from dpcurator.plan import rows
from dpcurator.plan.core import (
    CorePlan,
    Filter,
    Grid,
    Listed,
    Measure,
    Owner,
    PerUnit,
    ScaleDown,
    Scan,
    Source,
    Sum,
    Total,
)
from dpcurator.values import Exact

Tables = Mapping[str, Mapping[str, Sequence[Value]]]
Row = tuple[Value, ...]

COMPARE: Final[dict[str, Callable[[Any, Any], bool]]] = {
    "=": operator.eq, "<>": operator.ne, "<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge,
}  # fmt: skip


class Reference:
    """An engine over Python lists. tables: {physical table: {physical column: values}}, columns of equal length."""

    def __init__(self, tables: Tables) -> None:
        self._tables = tables

    def evaluate(self, core: CorePlan) -> Exact:
        """Python ints, one row a listed key, one column a sum. Raises Refusal where `check_core` does."""
        check_core(core)
        state: Any = self._tables
        for step in core:
            state = _step(step, state)
        return Exact(state)


def _step(step: object, state: Any) -> Any:
    """One step: what the steps before it made, to what it makes."""
    match step:
        case Scan():
            return scan(step, state)
        case Filter(predicate):
            return [row for row in state if truth(predicate, row) is True]
        case Owner(column):
            owned = [(number if column is None else row[column], row) for number, row in enumerate(state)]
            return [(unit, row) for unit, row in owned if unit is not None]
        case Listed(columns, keys):
            number = {key: index for index, key in enumerate(keys)}
            keyed = [(unit, number.get(tuple(row[column] for column in columns)), row) for unit, row in state]
            return len(keys), [(unit, key, row) for unit, key, row in keyed if key is not None]
        case Measure(grids):
            size, keyed = state
            return size, [(unit, key, [measure(grid, row[grid.column]) for grid in grids]) for unit, key, row in keyed]
        case PerUnit():
            size, measured = state
            return size, per_unit(measured)
        case ScaleDown():
            size, units = state
            return size, scale_down(step, units)
        case Total(sums):
            size, scaled = state
            return total(sums, size, scaled)
    raise AssertionError("unreachable: check_core knows every step")


def scan(step: Scan, tables: Tables) -> list[Row]:
    table = tables[step.table]
    size = len(next(iter(table.values()), ()))
    columns = [[canonical(source, value) for value in table[source.name]] for source in step.columns]
    return list(zip(*columns, strict=True)) if columns else [()] * size


def canonical(source: Source, value: Value) -> Value:
    """NaN is missing, -0.0 is 0.0, then missing becomes the fill."""
    if source.kind == "float" and value is not None:
        assert not isinstance(value, str)
        value = float(value)
        value = None if math.isnan(value) else value + 0.0  # -0.0 + 0.0 is 0.0
    return source.fill if value is None else value


def operand(part: rows.Operand, row: Row) -> Value:
    return row[part.index] if isinstance(part, rows.Field) else part.value


def truth(predicate: rows.Predicate, row: Row) -> bool | None:
    """True, False, or None for unknown."""
    match predicate:
        case rows.Truth(value):
            return value
        case rows.Compare(op, left, right):
            return compare(op, left, right, row)
        case rows.Among(part, values):
            found = operand(part, row)
            return None if found is None else any(found == value.value for value in values)
        case rows.IsMissing(part):
            return operand(part, row) is None
        case rows.Not(part):
            inner = truth(part, row)
            return None if inner is None else not inner
        case rows.AllOf(parts):
            found_parts = [truth(part, row) for part in parts]
            return False if False in found_parts else None if None in found_parts else True
        case rows.AnyOf(parts):
            found_parts = [truth(part, row) for part in parts]
            return True if True in found_parts else None if None in found_parts else False


def compare(op: str, left: rows.Operand, right: rows.Operand, row: Row) -> bool | None:
    a, b = operand(left, row), operand(right, row)
    if a is None or b is None:
        return None
    if "float" in (left.kind, right.kind):  # an integer meets a double as a double, rounded to even
        assert not isinstance(a, str)
        assert not isinstance(b, str)
        a, b = float(a), float(b)
    return COMPARE[op](a, b)


def measure(grid: Grid, value: Value) -> int | None:
    """From 0 to upper - lower, or missing."""
    if value is None:
        return None
    if grid.kind == "text" or isinstance(value, str):
        return 0
    if grid.kind == "integer":
        return int(min(max(value, grid.clamp_lower), grid.clamp_upper)) - grid.lower
    clamped = min(max(float(value), float(grid.clamp_lower)), float(grid.clamp_upper))
    steps = math.floor(clamped * 2.0**grid.exponent + 0.5)
    return min(max(steps, grid.lower), grid.upper) - grid.lower


def per_unit(measured: list[tuple[Any, int, list[int | None]]]) -> dict[Any, dict[int, list[list[int | None]]]]:
    """unit -> key -> its rows."""
    units: dict[Any, dict[int, list[list[int | None]]]] = defaultdict(lambda: defaultdict(list))
    for unit, key, values in measured:
        units[unit][key].append(values)
    return units


def scale_down(
    step: ScaleDown, units: dict[Any, dict[int, list[list[int | None]]]]
) -> list[tuple[int, Callable[[Sum], int]]]:
    """For each (unit, key): the key, and what each sum adds for it."""
    return [
        (key, _share(step, len(keys), values)) for keys in units.values() for key, values in keys.items()
    ]


def _share(step: ScaleDown, g: int, values: list[list[int | None]]) -> Callable[[Sum], int]:
    h = min(g, step.max_groups)

    def scaled_count(c: int) -> int:
        return step.one * min(c, step.max_rows) * h // g

    def share(sum_: Sum) -> int:
        if sum_.what == "rows":
            return scaled_count(len(values))
        if sum_.what == "units":
            return step.one * h // g
        present = [value for row in values if (value := row[sum_.measure]) is not None]
        c = len(present)
        if sum_.what == "present" or c == 0:
            return scaled_count(c)
        return sum(present) * scaled_count(c) // c

    return share


def total(sums: tuple[Sum, ...], size: int, scaled: list[tuple[int, Callable[[Sum], int]]]) -> list[list[int]]:
    table = [[0] * len(sums) for _ in range(size)]
    for key, share in scaled:
        for column, sum_ in enumerate(sums):
            table[key][column] += share(sum_)
    return table
