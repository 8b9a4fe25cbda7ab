"""What check_core refuses, and the largest plan it lets through, whose integers the engines still hold exactly."""

from __future__ import annotations

import random
from dataclasses import replace
from typing import Any

import pytest

from dpcurator.engines.duckdb import weights
from dpcurator.engines.duckdb.engine import DuckDB
from dpcurator.engines.limits import check_core
from dpcurator.engines.reference import Reference
from dpcurator.errors import Refusal
from dpcurator.language import rows
from dpcurator.plan.core import (
    ONE,
    Chosen,
    Filter,
    Grid,
    Histogram,
    Listed,
    Measure,
    Owner,
    PerUnit,
    Product,
    Project,
    ScaleDown,
    Scan,
    Source,
    Sum,
    Total,
)

GRID = Grid(1, "float", 0.0, 1.0, 0, 2**10, 10)
STEPS: dict[str, Any] = {
    "scan": Scan("t0", (Source("c0", "integer"), Source("c1", "float"), Source("c2", "text"))),
    "owner": Owner(0), "listed": Listed((2,), (("a",), (None,))), "measure": Measure((GRID,)), "per_unit": PerUnit(),
    "scale": ScaleDown(4, 2, ONE), "total": Total((Sum("rows"), Sum("values"))),
}
DEEP = rows.Truth(True)
for _ in range(200):
    DEEP = rows.Not(DEEP)  # type: ignore[assignment]

X, F, T = rows.Field(0, "integer"), rows.Field(1, "float"), rows.Field(2, "text")

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
    "max_groups past 2**62": {"scale": ScaleDown(1, 2**62 + 1, ONE)},
    "a step past 2**62": {"total": Total((Sum("rows"),), (), (Histogram(0, 2**62 + 1),))},
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
    "a chosen key that is a float": {"listed": Chosen((1,), 2, "s"), "total": Total((Sum("units"),))},
    "a chosen key of nothing": {"listed": Chosen((), 2, "s"), "total": Total((Sum("units"),))},
    "more keys kept than are whole": {"listed": Chosen((2,), 3, "s"), "total": Total((Sum("units"),))},
    "no units beside chosen keys": {"listed": Chosen((2,), 2, "s")},
    "a salt that is half a surrogate": {"listed": Chosen((2,), 2, "\ud800"), "total": Total((Sum("units"),))},
    "a unit that is computed": {"project": (X,), "owner": Owner(3)},
    "a function that is not one": {"project": (rows.Compute("md5", (T,), "text"),)},
    "a part too few": {"project": (rows.Compute("add_i", (X,), "integer"),)},
    "no parts": {"project": (rows.Compute("concat", (), "text"),)},
    "a part of another kind": {"project": (rows.Compute("add_i", (X, F), "integer"),)},
    "parts of two kinds": {"project": (rows.Compute("coalesce", (X, F), "integer"),)},
    "a result of another kind": {"project": (rows.Compute("add_i", (X, X), "float"),)},
    "a parameter too many": {"project": (rows.Compute("neg_i", (X,), "integer", (1,)),)},
    "division by a literal 0": {"project": (rows.Compute("floordiv_i", (X,), "integer", (0,)),)},
    "a parameter that is a bool": {"project": (rows.Compute("floordiv_i", (X,), "integer", (True,)),)},
    "a part of a date that is not one": {"project": (rows.Compute("date_part", (X,), "integer", ("epoch') --",)),)},
    "a zone that is not one": {"project": (rows.Compute("local_of_time", (X,), "integer", ("Mars/Base",)),)},
    "a zone that is a path": {"project": (rows.Compute("local_of_time", (X,), "integer", ("../UTC",)),)},
    "bounds in reverse": {"project": (rows.Compute("clip", (X,), "integer", (2, 1)),)},
    "bounds of another kind": {"project": (rows.Compute("clip", (X,), "integer", (0.5, 1)),)},
    "a bound that is infinite": {"project": (rows.Compute("clip", (F,), "float", (0.0, float("inf"))),)},
    "nothing to replace": {"project": (rows.Compute("replace", (T,), "text", ("", "a")),)},
    "a substring from 0": {"project": (rows.Compute("substring", (T,), "text", (0, 1)),)},
    "a choice of two kinds": {"project": (rows.Choose((rows.When(rows.Truth(True), X),), T, "integer"),)},
    "a choice without a branch": {"project": (rows.Choose((), X, "integer"),)},
    "a pattern that ends in its escape": {"filter": rows.Like(T, "a$", "$")},
    "an escape of two letters": {"filter": rows.Like(T, "a", "$$")},
    "a pattern for a number": {"filter": rows.Like(X, "a", "")},
    "more zones than allowed": {"project": (rows.Compute("local_of_time", (X,), "integer", ("UTC",)),) * 51},
}


def build(changes: dict[str, Any]) -> Any:
    steps = STEPS | {name: step for name, step in changes.items() if name not in ("filter", "project")}
    core = list(steps.values())
    if "project" in changes:
        core.insert(1, Project(changes["project"]))
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
            ScaleDown(2**20, 1, ONE), Total((Sum("values"), Sum("rows"))))
    tables = {"t0": {"c0": [2.0**126] * 1000}}
    expected = ((ONE * 1000 * 2**42, ONE * 1000),)
    for engine in (Reference(tables), DuckDB.from_tables(tables)):
        assert engine.evaluate(core).open_for_release() == expected


@pytest.mark.parametrize("few", [1, 3, 2**26])
@pytest.mark.parametrize("total", [None, 5])
def test_every_way_of_dividing_a_sum_gives_the_same_integers(few: int, total: int | None, monkeypatch: Any) -> None:
    """S n' / c in 64 bits, by a long division, and in 128 bits, which else only groups of more than 2**26 rows take:
    widths from 1 to the largest, in groups that each cap binds, and squares of them."""
    monkeypatch.setattr(weights, "_FEW", few)
    luck = random.Random(few)
    for width in (1, 1000, 2**31, 2**46, 2**60 - 1):
        grid = Grid(2, "integer", 0, width, 0, width, 0)
        shift = max(0, 2 * width.bit_length() - 60)
        product = Product(0, 0, shift, 0, min(2**60, width**2 + (2**shift >> 1) >> shift))
        core = (Scan("t0", tuple(Source(f"c{n}", "integer") for n in range(3))), Owner(0),
                Listed((1,), ((0,), (1,), (2,))), Measure((grid,), (product,)), PerUnit(), ScaleDown(3, 2, ONE, total),
                Total((Sum("values"), Sum("values", 1), Sum("present"), Sum("rows"))))
        values = [luck.choice([None, 0, 1, width, width - 1, luck.randint(0, width)]) for _ in range(300)]
        tables = {"t0": {"c0": [luck.randrange(12) for _ in values], "c1": [luck.choice((0, 0, 1, 2)) for _ in values],
                         "c2": values}}
        found = [engine.evaluate(core).open_for_release() for engine in (Reference(tables), DuckDB.from_tables(tables))]
        assert found[0] == found[1]
        assert any(map(any, found[0]))
