"""What check_core refuses, and the largest plan it lets through, whose integers the engines still hold exactly."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from dpcurator.engines.duckdb import DuckDB
from dpcurator.engines.limits import check_core
from dpcurator.engines.reference import Reference
from dpcurator.errors import Refusal
from dpcurator.plan import rows
from dpcurator.plan.core import ONE, Filter, Grid, Listed, Measure, Owner, PerUnit, ScaleDown, Scan, Source, Sum, Total

GRID = Grid(1, "float", 0.0, 1.0, 0, 2**10, 10)
STEPS: dict[str, Any] = {
    "scan": Scan("t0", (Source("c0", "integer"), Source("c1", "float"), Source("c2", "text"))),
    "owner": Owner(0), "listed": Listed((2,), (("a",), (None,))), "measure": Measure((GRID,)), "per_unit": PerUnit(),
    "scale": ScaleDown(4, 2, ONE), "total": Total((Sum("rows"), Sum("values"))),
}  # fmt: skip
DEEP = rows.Truth(True)
for _ in range(200):
    DEEP = rows.Not(DEEP)  # type: ignore[assignment]

REFUSED = {
    "a table by a user's name": {"scan": Scan('t0" --', ())},
    "a table name and a line": {"scan": Scan("t0\n", ())},
    "a column by a user's name": {"scan": Scan("t0", (Source("income", "integer"),) * 3)},
    "a fill of another kind": {"scan": Scan("t0", (Source("c0", "integer", "x"),) * 3)},
    "a fill past 64 bits": {"scan": Scan("t0", (Source("c0", "integer", 2**63),) * 3)},
    "a fill that is a bool": {"scan": Scan("t0", (Source("c0", "integer", True),) * 3)},
    "a unit that is a float": {"owner": Owner(1)},
    "a unit out of reach": {"owner": Owner(3)},
    "keys twice": {"listed": Listed((2,), (("a",), ("a",)))},
    "zeros of two signs": {"listed": Listed((1,), ((0.0,), (-0.0,)))},
    "a key too short": {"listed": Listed((2,), ((),))},
    "a key that is nan": {"listed": Listed((1,), ((float("nan"),),))},
    "half a surrogate": {"listed": Listed((2,), (("\ud800",),))},
    "a grid too fine": {"measure": Measure((replace(GRID, upper=2**60 + 1),))},
    "a grid past 126 bits": {"measure": Measure((replace(GRID, lower=2**126, upper=2**126),))},
    "a clamp past 126 bits": {"measure": Measure((replace(GRID, clamp_upper=1e300),))},
    "a clamp that is infinite": {"measure": Measure((replace(GRID, clamp_upper=float("inf")),))},
    "an exponent past 1000": {"measure": Measure((replace(GRID, exponent=1001),))},
    "a grid of another kind": {"measure": Measure((replace(GRID, column=0),))},
    "max_rows past 2**20": {"scale": ScaleDown(2**20 + 1, 1, ONE)},
    "no groups": {"scale": ScaleDown(1, 0, ONE)},
    "one past 2**16": {"scale": ScaleDown(1, 1, 2**17)},
    "no sums": {"total": Total(())},
    "a measure that is not there": {"total": Total((Sum("values", 1),))},
    "steps out of order": {"owner": PerUnit(), "per_unit": Owner(0)},
    "text against number": {"per_unit": PerUnit(), "filter": rows.Compare(
        "=", rows.Field(0, "integer"), rows.Constant("1", "text"))},
    "an operator that is not one": {"filter": rows.Compare(
        "= 1 OR 1 =", rows.Field(0, "integer"), rows.Constant(1, "integer"))},  # type: ignore[arg-type]
    "nothing to be among": {"filter": rows.Among(rows.Field(0, "integer"), ())},
    "nested too deeply": {"filter": DEEP},
}  # fmt: skip


def build(changes: dict[str, Any]) -> Any:
    steps = STEPS | {name: step for name, step in changes.items() if name != "filter"}
    core = list(steps.values())
    if "filter" in changes:
        core.insert(1, Filter(changes["filter"]))
    return tuple(core)


def test_the_plan_that_the_table_changes_is_let_through() -> None:
    assert check_core(build({})).listed.keys == (("a",), (None,))
    assert check_core(build({"filter": rows.Truth(None)})).predicate == rows.Truth(None)


@pytest.mark.parametrize("why", REFUSED)
@pytest.mark.parametrize("engine", [Reference({}), DuckDB.from_tables({})])
def test_refused_before_data_is_touched(why: str, engine: Any) -> None:
    """Both engines hold no table at all, so anything but a Refusal would be a look at data."""
    with pytest.raises(Refusal):
        engine.evaluate(build(REFUSED[why]))


def test_the_largest_integers_are_exact_on_both_engines() -> None:
    """W m = 2**62 with m = 2**20, one unit with more than m rows at the upper bound, near 2**126 both ways."""
    grid = Grid(0, "float", 2.0**125, 2.0**126, 2**126 - 2**42 - 1, 2**126 - 1, 0)
    core = (Scan("t0", (Source("c0", "float"),)), Owner(None), Listed((), ((),)), Measure((grid,)), PerUnit(),
            ScaleDown(2**20, 1, ONE), Total((Sum("values"), Sum("rows"))))  # fmt: skip
    tables = {"t0": {"c0": [2.0**126] * 1000}}
    expected = ((ONE * 1000 * 2**42, ONE * 1000),)
    for engine in (Reference(tables), DuckDB.from_tables(tables)):
        assert engine.evaluate(core).open_for_release() == expected
