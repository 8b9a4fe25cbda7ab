"""In how many rows an engine finds the value that is expected of an expression."""

from __future__ import annotations

from typing import Any

from dpcurator.engines.reference import Reference
from dpcurator.language import rows
from dpcurator.plan.core import (
    Filter,
    Grid,
    Listed,
    Measure,
    Owner,
    PerUnit,
    Project,
    ScaleDown,
    Scan,
    Source,
    Sum,
    Total,
)  # fmt: skip
from dpcurator.values import Exact


def count(engine: Any, compute: rows.Compute, lines: list[tuple[list[Any], Any]]) -> int:
    """In how many rows the engine finds what is expected, which it reads from a last column."""
    names = [f"c{index}" for index in range(len(compute.parts) + 1)]
    kinds = dict(zip(names, [*(part.kind for part in compute.parts), compute.kind], strict=True))
    table = {name: [(*parts, result)[index] for parts, result in lines] for index, name in enumerate(names)}
    expected, found = rows.Field(len(compute.parts), compute.kind), rows.Field(len(names), compute.kind)
    right = rows.AnyOf((rows.Compare("=", compute, expected),
                        rows.AllOf((rows.IsMissing(compute), rows.IsMissing(expected)))))  # fmt: skip
    again = rows.Choose((rows.When(right, rows.Constant(1, "integer")),), rows.Missing("integer"), "integer")
    core: Any = (
        Scan("t0", tuple(Source(name, kind) for name, kind in kinds.items())), Project((compute, again)), Owner(None),
        Listed((found.index + 1,), ((1,),)), Measure(()), PerUnit(), ScaleDown(1, 1, 1), Total((Sum("rows"),)),
    )  # fmt: skip
    filtered = (core[0], Filter(right), Owner(None), Listed((), ((),)), *core[4:])
    made = Reference({"t0": table}) if engine is Reference else engine({"t0": table}, {"t0": kinds})
    (projected,), (kept,) = (made.evaluate(plan).open_for_release()[0] for plan in (core, filtered))
    assert projected == kept
    return int(kept)


def selected(engine: Any, conditions: list[rows.Predicate], size: int) -> list[set[int]]:
    """For each condition, on which of the rows it is true. engine: over a table t0 of so many rows, numbered in c1."""
    chosen = tuple(rows.Choose((rows.When(one, rows.Constant(1, "integer")),), rows.Missing("integer"), "integer")
                   for one in conditions)  # fmt: skip
    grids = tuple(Grid(2 + number, "integer", 0, 1, 0, 1, 0) for number in range(len(chosen)))
    core: Any = (
        Scan("t0", (Source("c0", "text"), Source("c1", "integer"))), Project(chosen), Owner(None),
        Listed((1,), tuple((number,) for number in range(size))), Measure(grids), PerUnit(), ScaleDown(1, 1, 1),
        Total(tuple(Sum("present", number) for number in range(len(chosen)))),
    )  # fmt: skip
    found = engine.evaluate(core).open_for_release()
    return [{row for row, sums in enumerate(found) if sums[which]} for which in range(len(conditions))]


def opened(exact: Exact) -> Any:
    """The rows; of chosen keys, which come in any order, a dict by key."""
    keys = exact.keys_for_release()
    if keys is None:
        return exact.open_for_release()
    found = dict(zip(keys, exact.open_for_release(), strict=True))
    assert len(found) == len(keys)
    return {tuple((type(value), value) for value in key): row for key, row in found.items()}
