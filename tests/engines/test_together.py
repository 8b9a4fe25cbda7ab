"""Several core plans at once give the integers they give one by one, on both engines; what can be shared is.

Plans come from the questions of the heart law's worlds: every aggregate, grouping and condition, over one table.
"""

from __future__ import annotations

import re
from typing import Any

import heart
import pytest
from heart import columns_of, kinds, questions

from dpcurator.engines.duckdb.engine import DuckDB
from dpcurator.engines.duckdb.together import together
from dpcurator.engines.reference import Reference
from dpcurator.language.rows import Compare, Field, Not
from dpcurator.plan.core import CorePlan, Filter, Owner, Scan, Total
from dpcurator.plan.merge import kindred, merged
from dpcurator.values import Exact


def opened(exact: Exact) -> Any:
    """The rows; of chosen keys, which come in any order, by key."""
    keys = exact.keys_for_release()
    rows = exact.open_for_release()
    return rows if keys is None else sorted(zip(map(repr, keys), rows, strict=True))


def plans(world: Any, many: int) -> list[CorePlan]:
    return [quote.lowered.core for _, quote in questions(world, many)]


@pytest.mark.parametrize("seed", range(500, 540))
def test_together_is_one_by_one(seed):
    world = heart.world(seed, units=8)
    cores = plans(world, 7)
    cores += cores[:2]  # the same question twice
    table = columns_of(world.rows)
    reference = Reference({"t0": table})
    alone = [opened(reference.evaluate(core)) for core in cores]
    assert [opened(one) for one in reference.evaluate_all(cores)] == alone
    if seed % 4 == 0:
        engine = DuckDB.from_tables({"t0": table}, {"t0": kinds(world)})
        assert [opened(one) for one in engine.evaluate_all(cores)] == alone


def test_each_merged_plan_holds_each_question_once_and_each_sum_once():
    for seed in range(600, 630):
        cores = plans(heart.world(seed, units=3), 8)
        found = merged(cores)
        assert sorted(number for one in found for number, _ in one.parts) == list(range(len(cores)))
        for one in found:
            total = one.core[-1]
            assert isinstance(total, Total)
            assert len(set(total.sums)) == len(total.sums)
        assert len(found) <= len(cores)


def test_questions_of_the_same_rows_and_groups_become_one_plan():
    from questions import quoted

    texts = ["SELECT city, COUNT(*) FROM visits WHERE age > 30 GROUP BY city",
             "SELECT city, SUM(cost), AVG(age) FROM visits WHERE age > 30 GROUP BY city",
             "SELECT city, COUNT(age), COUNT(*) FROM visits WHERE age > 30 GROUP BY city",
             "SELECT COUNT(*) FROM visits"]
    cores = [quoted(text).lowered.core for text in texts]
    found = merged(cores)
    assert [[number for number, _ in one.parts] for one in found] == [[0, 1, 2], [3]]
    statement = together([one.core for one in found])
    assert re.findall(r"snapshot\.main\.\w+", statement.sql) == ["snapshot.main.t0"] * 2
    scan = found[1].core[0]
    assert isinstance(scan, Scan)
    assert len(scan.columns) == 1  # the unit: no other column is read for this one


@pytest.mark.parametrize("seed", range(700, 712))
def test_questions_under_conditions_of_their_own_are_read_and_grouped_at_once(seed):
    """With the conditions of one question in the place of another's, and none; eight at most share one reading."""
    world = heart.world(seed, units=8)
    scans: list[CorePlan] = []
    for core in plans(world, 6):
        scan, *others = core
        assert isinstance(scan, Scan)
        rest = tuple(step for step in others if not isinstance(step, Filter))
        tests = [Compare("=", Field(place, source.kind), Field(place, source.kind))
                 for place, source in enumerate(scan.columns)]
        scans += [core, (scan, *rest), *((scan, Filter(Not(test)), *rest) for test in tests[:1])]
        scans += [(scan, Filter(test), *rest) for test in tests]
    found = [one.core for one in merged(scans)]
    table = columns_of(world.rows)
    engine = DuckDB.from_tables({"t0": table}, {"t0": kinds(world)})
    assert [opened(one) for one in engine.evaluate_all(scans)] == [opened(engine.evaluate(core)) for core in scans]
    owned = any(isinstance(step, Owner) and step.column is not None for step in found[0])
    shared = [kin for kin in kindred(found, 8) if len(kin) > 1]
    assert shared
    kept = re.findall(r"\bgrouped_\d+ AS MATERIALIZED", together(found).sql)
    assert len(kept) == (len(shared) if owned else 0)
    assert max(map(len, shared)) <= 8


def test_no_question_is_none():
    assert Reference({}).evaluate_all([]) == ()
