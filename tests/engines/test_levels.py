"""The text of a deep expression stays small, and a query over it stays fast: nothing is written out twice."""

from __future__ import annotations

from typing import Any

import pytest

from dpcurator.engines.duckdb.engine import DuckDB
from dpcurator.engines.duckdb.levels import Parameters
from dpcurator.engines.duckdb.sql import statement
from dpcurator.engines.levels import Levels, Term
from dpcurator.engines.reference import Reference
from dpcurator.language import rows
from dpcurator.plan.core import Filter, Listed, Measure, Owner, PerUnit, Project, ScaleDown, Scan, Source, Sum, Total

X = rows.Field(0, "float")
DAY = rows.Field(1, "integer")
TEXT = rows.Field(2, "text")
HALF = rows.Constant(0.5, "float")


def deep(step: Any, part: rows.Operand, depth: int = 30) -> rows.Operand:
    for _ in range(depth):
        part = step(part)
    return part


def chosen(part: rows.Operand) -> rows.Operand:
    condition = rows.Compare("<", part, HALF)
    return rows.Choose((rows.When(condition, rows.Compute("add_f", (part, part), "float")),), part, "float")


def cycle(part: rows.Operand) -> rows.Operand:
    power = rows.Compute("power", (part, HALF), "float")
    return rows.Compute("ln", (rows.Compute("abs_f", (power,), "float"),), "float")


DEEP = {
    "sums": deep(lambda part: rows.Compute("add_f", (part, part), "float"), X, 13),
    "exp": deep(lambda part: rows.Compute("exp", (part,), "float"), X),
    "power and ln": deep(cycle, X, 10),
    "powers": deep(lambda part: rows.Compute("power", (part, HALF), "float"), X, 37),
    "choices": deep(chosen, X, 10),
    "days": deep(lambda part: rows.Compute("date_add", (part,), "integer", (1, 1)), DAY),
    "texts": deep(
        lambda part: rows.Compute(
            "substring", (rows.Compute("replace", (part,), "text", ("a", "aa")),), "text", (1, 20)
        ),
        TEXT,
        15,
    ),
    "a zone": rows.Compute("local_of_time", (DAY,), "integer", ("Europe/Berlin",)),
}


def plans(part: rows.Operand) -> list[Any]:
    scan = Scan("t0", (Source("c0", "float"), Source("c1", "integer"), Source("c2", "text")))
    rest = (Listed((), ((),)), Measure(()), PerUnit(), ScaleDown(1, 1, 1), Total((Sum("rows"),)))
    missing = rows.IsMissing(part)
    return [(scan, Filter(rows.Not(missing)), Owner(None), *rest),
            (scan, Project((part,)), Owner(None), Listed((3,), ((None,),)), *rest[1:]),
            (scan, Project((part,)), Owner(None), Listed((3,), (("" if part.kind == "text" else 1,),)), *rest[1:])]


@pytest.mark.parametrize("name", ["exp", "power and ln", "powers", "days", "texts", "a zone"])
def test_thirty_deep_is_short_and_runs(name: str) -> None:
    tables = {"t0": {"c0": [0.5, 1.0, -3.0, None], "c1": [1, 10**17, -5, None], "c2": ["a", "b", "", None]}}
    kinds: Any = {"t0": {"c0": "float", "c1": "integer", "c2": "text"}}
    for plan in plans(DEEP[name]):
        assert len(statement(plan).sql) < 400_000
        found = DuckDB.from_tables(tables, kinds).evaluate(plan).open_for_release()
        assert found == Reference(tables).evaluate(plan).open_for_release()


@pytest.mark.parametrize(("name", "parts"), [("sums", 5000), ("choices", 5000)])
def test_a_tree_with_more_parts_than_allowed_is_refused_before_it_is_written(name: str, parts: int) -> None:
    from dpcurator.errors import Refusal

    assert len(list(rows.walk(DEEP[name]))) > parts
    with pytest.raises(Refusal, match="too many parts"):
        statement(plans(DEEP[name])[0])


def test_a_column_is_carried_no_further_than_it_is_mentioned() -> None:
    levels = Levels(Parameters())
    part = Term("x0")
    for _ in range(4):
        part = levels.let("abs({})", part)
    assert levels.expressions("t", "p", [part])[1] == [
        ("p0", "SELECT *, abs(x0) AS e0 FROM t"),
        ("p1", "SELECT * EXCLUDE (e0), abs(e0) AS e1 FROM p0"),
        ("p2", "SELECT * EXCLUDE (e1), abs(e1) AS e2 FROM p1"),
        ("p3", "SELECT * EXCLUDE (e2), abs(e2) AS e3 FROM p2"),
    ]


def test_equal_parts_are_one_column() -> None:
    twelve = deep(lambda part: rows.Compute("add_f", (part, part), "float"), X, 11)
    assert len(statement(plans(twelve)[0]).sql) < 5000
