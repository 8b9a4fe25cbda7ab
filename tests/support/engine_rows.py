"""The engines of the list, and the rows in which one does not find the value that is expected of an expression."""

from __future__ import annotations

from typing import Any

import pytest
from spark_session import what_is_lacking

from dpcurator.engines import ENGINES, Known
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
)
from dpcurator.values import Exact


def _marks(one: Known) -> list[pytest.MarkDecorator]:
    """Spark takes a second for a statement: the ordinary run's part of it is tests/engines/spark."""
    lacking = what_is_lacking()
    return [pytest.mark.slow, *([] if lacking is None else [pytest.mark.skip(lacking)])] if one.beside else []


EVERY = [pytest.param(one.load(), id=one.name, marks=_marks(one)) for one in ENGINES]  # classes, for `parametrize`
BESIDE = [one.load() for one in ENGINES if one.beside]  # a statement takes a second or more, so a part is tried
OTHERS = [pytest.param(one.load(), id=one.name, marks=_marks(one)) for one in ENGINES if one.load() is not Reference]


def wrong(engine: Any, compute: rows.Compute, lines: list[tuple[list[Any], Any]]) -> list[list[Any]]:
    """The rows in which an engine does not find what is expected of it, all in one statement.

    The parts, what is expected and the row's number are its columns; the keys are the numbers. Each row counts 1 where
    the condition is true of it, once as a filter and once as a computed column.
    """
    kinds: list[Any] = [*(part.kind for part in compute.parts), compute.kind, "integer"]
    names = [f"c{index}" for index in range(len(kinds))]
    numbered = [(*parts, result, n) for n, (parts, result) in enumerate(lines)]
    table = {name: [line[index] for line in numbered] for index, name in enumerate(names)}
    made = engine.from_tables({"t0": table}, {"t0": dict(zip(names, kinds, strict=True))})
    scan = Scan("t0", tuple(Source(name, kind) for name, kind in zip(names, kinds, strict=True)))
    expected, number = rows.Field(len(names) - 2, compute.kind), len(names) - 1
    right = rows.AnyOf((rows.Compare("=", compute, expected),
                        rows.AllOf((rows.IsMissing(compute), rows.IsMissing(expected)))))
    again = rows.Choose((rows.When(right, rows.Constant(1, "integer")),), rows.Missing("integer"), "integer")
    rest = (Measure(()), PerUnit(), ScaleDown(1, 1, 1), Total((Sum("rows"),)))
    numbers = tuple((n,) for n in range(len(lines)))
    filtered: Any = (scan, Filter(right), Owner(None), Listed((number,), numbers), *rest)
    projected: Any = (scan, Project((compute, again)), Owner(None),
                      Listed((number, len(names) + 1), tuple((n, 1) for (n,) in numbers)), *rest)
    kept, computed = (made.evaluate(core).open_for_release() for core in (filtered, projected))
    return [parts for (parts, _), one, other in zip(lines, kept, computed, strict=True) if one != (1,) or other != (1,)]


def selected(engine: Any, conditions: list[rows.Predicate], size: int) -> list[set[int]]:
    """For each condition, on which of the rows it is true. engine: over a table t0 of so many rows, numbered in c1."""
    chosen = tuple(rows.Choose((rows.When(one, rows.Constant(1, "integer")),), rows.Missing("integer"), "integer")
                   for one in conditions)
    grids = tuple(Grid(2 + number, "integer", 0, 1, 0, 1, 0) for number in range(len(chosen)))
    core: Any = (
        Scan("t0", (Source("c0", "text"), Source("c1", "integer"))), Project(chosen), Owner(None),
        Listed((1,), tuple((number,) for number in range(size))), Measure(grids), PerUnit(), ScaleDown(1, 1, 1),
        Total(tuple(Sum("present", number) for number in range(len(chosen)))),
    )
    found = engine.evaluate(core).open_for_release()
    return [{row for row, sums in enumerate(found) if sums[which]} for which in range(len(conditions))]


def opened(exact: Exact) -> Any:
    """The rows; of chosen keys, which come in any order, a dict by key. Beside them the tallies, if there are any."""
    tallies = exact.tallies_for_release()
    return (_opened(exact), tallies) if tallies else _opened(exact)


def _opened(exact: Exact) -> Any:
    keys = exact.keys_for_release()
    if keys is None:
        return exact.open_for_release()
    found = dict(zip(keys, exact.open_for_release(), strict=True))
    assert len(found) == len(keys)
    return {tuple((type(value), value) for value in key): row for key, row in found.items()}
