"""Merging is invisible: totals of merged plans, taken apart, are those of each plan alone, on every engine.

Plans are those of the engines' own tests. Each comes with siblings: plans of the same rows, keys and caps that read and
compute their columns in another order, and measure and add up other things. These must all become one plan.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from engine_strategies import BY_KIND, Case, cases, cores
from hypothesis import strategies as st
from power import for_examples

from dpcurator.engines.duckdb.engine import DuckDB
from dpcurator.engines.limits import check_core
from dpcurator.engines.reference import Reference
from dpcurator.errors import Refusal
from dpcurator.language.rows import moved, moved_condition
from dpcurator.plan.core import (
    Chosen,
    CorePlan,
    Filter,
    Listed,
    Measure,
    Owner,
    Project,
    ScaleDown,
    Scan,
    Sum,
    Total,
)
from dpcurator.plan.merge import merged
from dpcurator.values import Exact


def step(core: CorePlan, kind: Any) -> Any:
    return next((one for one in core if isinstance(one, kind)), None)


@st.composite
def siblings(draw: Any, core: CorePlan) -> CorePlan:
    """The same rows, keys and caps, with columns in another order; other measures, other sums."""
    scan, project = step(core, Scan), step(core, Project)
    size = len(scan.columns)
    order = draw(st.permutations(range(size)))
    place = {old: new for new, old in enumerate(order)}
    parts = () if project is None else project.parts
    others = draw(st.permutations(range(len(parts))))
    place |= {size + old: size + new for new, old in enumerate(others)}
    grids = draw(st.lists(st.sampled_from(step(core, Measure).grids), max_size=3)) if step(core, Measure).grids else []
    at = [draw(st.sampled_from([grid.column, *BY_KIND[grid.kind]])) for grid in grids]
    grids = [replace(grid, column=place[column]) for grid, column in zip(grids, at, strict=True)]
    counted = st.builds(Sum, st.sampled_from(["present", "values"]), st.integers(0, max(0, len(grids) - 1)))
    possible = st.sampled_from([Sum("rows"), Sum("units")]) | (counted if grids else st.nothing())
    sums = draw(st.lists(possible, min_size=1, max_size=4))
    if step(core, Chosen) is not None:
        sums = [Sum("units"), *sums]
    made: list[Any] = []
    for one in core:
        match one:
            case Scan():
                made.append(replace(one, columns=tuple(scan.columns[old] for old in order)))
            case Filter(predicate):
                made.append(Filter(moved_condition(predicate, place)))
            case Project():
                made.append(Project(tuple(moved(parts[old], place) for old in others)))
            case Owner(column):
                made.append(Owner(None if column is None else place[column]))
            case Listed(columns) | Chosen(columns):
                made.append(replace(one, columns=tuple(place[column] for column in columns)))
            case Measure():
                made.append(Measure(tuple(grids)))
            case Total():
                made.append(Total(tuple(sums)))
            case _:
                made.append(one)
    check_core(tuple(made))
    return tuple(made)


@st.composite
def batches(draw: Any) -> tuple[Case, list[CorePlan], list[CorePlan]]:
    """A table, plans that are one, and others about the same table."""
    case = draw(cases())
    alike = [case.core, *draw(st.lists(siblings(case.core), min_size=1, max_size=3))]
    return case, alike, draw(st.lists(cores(), max_size=2))


def opened(exact: Exact) -> Any:
    keys, rows = exact.keys_for_release(), exact.open_for_release()
    return rows if keys is None else {repr(key): row for key, row in zip(keys, rows, strict=True)}


def totals_taken_apart_are_those_of_each_plan_alone(case: Case, alike: list[CorePlan], others: list[CorePlan]) -> None:
    plans = [*alike, *others]
    reference = Reference(case.tables)
    alone = [opened(reference.evaluate(core)) for core in plans]
    assert [opened(one) for one in reference.evaluate_all(plans)] == alone
    assert [opened(one) for one in DuckDB.from_tables(case.tables, case.kinds).evaluate_all(plans)] == alone


def plans_of_the_same_rows_keys_and_caps_become_one_and_no_others_do(
    case: Case, alike: list[CorePlan], others: list[CorePlan]
) -> None:
    found = merged([*alike, *others])
    assert {number for number, _ in found[0].parts} >= set(range(len(alike)))
    for one in found:
        for number, places in one.parts:
            own = [*alike, *others][number]
            for kind in (Filter, Listed, Chosen, ScaleDown, Scan, Owner):
                assert (step(one.core, kind) is None) == (step(own, kind) is None)
            assert step(one.core, ScaleDown) == step(own, ScaleDown)
            assert len(places) == len(step(own, Total).sums)


def a_merged_plan_reads_and_adds_up_nothing_twice(case: Case, alike: list[CorePlan], others: list[CorePlan]) -> None:
    for one in merged([*alike, *others]):
        parts = check_core(one.core)
        for things in (parts.scan.columns, parts.grids, parts.sums, parts.computed):
            assert all(thing not in things[:number] for number, thing in enumerate(things))
        used = {place for _, places in one.parts for place in places}
        assert used == set(range(len(parts.sums)))


@pytest.mark.parametrize("part", range(24))
def test_merging_is_invisible_and_reads_nothing_twice(part, tries):
    def laws(batch: tuple[Case, list[CorePlan], list[CorePlan]]) -> None:
        plans_of_the_same_rows_keys_and_caps_become_one_and_no_others_do(*batch)
        a_merged_plan_reads_and_adds_up_nothing_twice(*batch)
        totals_taken_apart_are_those_of_each_plan_alone(*batch)

    for_examples(laws, batches(), part=part, tries=tries)


def test_a_plan_that_is_none_is_said():
    with pytest.raises(TypeError, match="scan"):
        merged([(Owner(None),)])


def test_the_refusal_of_a_merged_plan_is_that_of_a_plan():
    """Why `batching` checks what was merged: a merged plan can pass a limit that its parts are within."""
    from dpcurator.language.rows import Compute, Constant, Field
    from dpcurator.plan.core import ONE, Grid, PerUnit, Source

    def plan(start: int) -> CorePlan:
        total: Any = Field(0, "integer")
        for number in range(40):
            total = Compute("add_i", (total, Constant(start + number, "integer")), "integer")
        return (Scan("t0", (Source("c0", "integer"),)), Project((total,)), Owner(None), Listed((), ((),)),
                Measure((Grid(1, "integer", 0, 9, 0, 9, 0),)), PerUnit(), ScaleDown(1, 1, ONE),
                Total((Sum("values"),)))

    plans = [plan(1000 * number) for number in range(1, 80)]
    assert [check_core(core).owner for core in plans] == [None] * len(plans)
    (one,) = merged(plans)
    with pytest.raises(Refusal, match="too many parts"):
        check_core(one.core)
