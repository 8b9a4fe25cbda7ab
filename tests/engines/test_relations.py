"""Where a relation has one row of a unit under each key, as it is made, DuckDB's text needs no three caps: one on rows
in all is then one on groups, and nothing is divided by c. Same integers as the reference, in full worlds, under caps on
both sides of what units have."""

from __future__ import annotations

import random
from dataclasses import replace
from typing import Any

import pytest
from engine_rows import opened

from dpcurator.engines.duckdb.engine import DuckDB
from dpcurator.engines.duckdb.sql import joined_on_unit, statement
from dpcurator.engines.duckdb.weights import Weights, one_row_each
from dpcurator.engines.limits import check_core
from dpcurator.engines.reference import Reference
from dpcurator.language.rows import Compare, Compute, Constant, Field
from dpcurator.plan.core import (
    ONE,
    Chosen,
    CorePlan,
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
    Sum,
    Tally,
    Total,
)
from dpcurator.plan.core_relations import Columns, CoreRelation, Folded, Groups, Match, Only, Source, Stored

SOURCES = (Source("c0", "text"), Source("c1", "integer"), Source("c2", "integer"))
STORED = Stored("t0", SOURCES, 0)
TOTALS = Groups(STORED, 2, (Folded("sum_i", 2), Folded("rows")))  # a person's sum and rows under each key
SUMS = (Sum("rows"), Sum("units"), Sum("present", 0), Sum("values", 0))


def world(luck: random.Random, rows: int = 60) -> dict[str, dict[str, list[int | str | None]]]:
    """Five people of up to eight keys, one of them missing, with sums missing too and past 64 bits."""
    value = (None, None, 0, 1, -1, 7, 1000, 2**62, -(2**62), 2**63 - 1)
    return {"t0": {
        "c0": [luck.choice(("ann", "bo", "cy", "di", "ed", None)) for _ in range(rows)],
        "c1": [luck.choice((None, *range(8))) for _ in range(rows)],
        "c2": [luck.choice(value) for _ in range(rows)],
    }}


def plan(relation: CoreRelation, scale: ScaleDown, *, upper: int = 2**40, most: int | None = None) -> CorePlan:
    """most: of chosen keys; None: keys are listed."""
    columns = (replace(SOURCES[0], name="c0"), replace(SOURCES[1], name="c1"), Source("c2", "integer"))
    listed = (*((key,) for key in range(7)), (None,))
    keys = Listed((1,), listed) if most is None else Chosen((1,), most, "salt")
    tallies = (Tally("everyone"), Tally("cut", (0,)), Tally("cut_groups"))
    histograms = (Histogram(0, (upper + 5) // 3),)
    return (
        Scan(relation, columns), Owner(0), keys, Measure((Grid(2, "integer", -5, upper, -5, upper, 0),)), PerUnit(),
        scale,
        Total(SUMS if most is None else (Sum("units"), *SUMS), tallies, histograms),
    )


def scale(luck: random.Random, least: int = 1) -> ScaleDown:
    rows = luck.choice((1, 1, 2, 5))
    total = luck.choice((None, *(most for most in (1, 2, 3, 4, 6, 30) if most >= max(rows, least))))
    return ScaleDown(rows, luck.choice((least, 3, 4, 8)), ONE, total)


@pytest.mark.parametrize("seed", range(24))
def test_caps_of_groups_of_one_row_are_one_cap(seed: int) -> None:
    luck = random.Random(seed)
    data, kinds = world(luck), {"t0": {"c0": "text", "c1": "integer", "c2": "integer"}}
    duckdb = DuckDB.from_tables(data, kinds)
    few = Only(TOTALS, Compare(">", Field(3, "integer"), Constant(1, "integer")))  # HAVING COUNT(*) > 1
    for relation in (TOTALS, few, Columns(TOTALS, tuple(Field(index, kind) for index, kind in enumerate(
            ("text", "integer", "integer"))))):
        for most in (None, luck.choice((1, 2, 3))):
            core = plan(relation, scale(luck, most or 1), upper=luck.choice((3, 2**40)), most=most)
            assert one_row_each(check_core(core))
            assert opened(duckdb.evaluate(core)) == opened(Reference.from_tables(data).evaluate(core))


def test_no_cap_is_on_rows_where_there_is_one() -> None:
    """The control of the table above: rows that are not grouped keep all three caps."""
    for relation, both in ((TOTALS, True), (STORED, False)):
        core = plan(relation, ScaleDown(2, 3, ONE, 4))
        weights = Weights.of(check_core(core))
        assert (weights.h, weights.groups, weights.total) == (3, True, not both)
        assert ("AS BIGINT) AS t" in statement(core).sql) is not both
    wider = Weights.of(check_core(plan(TOTALS, ScaleDown(2, 6, ONE, 4))))
    assert (wider.h, wider.groups, wider.total) == (4, True, False)  # rows in all bind before groups do


def test_questions_of_one_relation_under_conditions_of_their_own_read_it_once() -> None:
    """Together they are grouped again, so a group may have no row: c is 0 or 1 still."""
    luck = random.Random(3)
    data = world(luck, 80)
    duckdb = DuckDB.from_tables(data, {"t0": {"c0": "text", "c1": "integer", "c2": "integer"}})
    cores = []
    for bound in (0, 2, 5):
        first, *others = plan(TOTALS, ScaleDown(1, 2, ONE, 2), upper=9)
        others[-1] = replace(others[-1], histograms=())
        cores.append((first, Filter(Compare("<", Field(2, "integer"), Constant(bound, "integer"))), *others))
    together = duckdb.evaluate_all(cores)
    assert [opened(one) for one in together] == [opened(Reference.from_tables(data).evaluate(core)) for core in cores]


OTHERS = (Source("c0", "text"), Source("c1", "integer"), Source("c2", "text"))
KINDS: Any = {"t0": {"c0": "text", "c1": "integer", "c2": "integer"},
              "t1": {"c0": "text", "c1": "integer", "c2": "text"}}


def joined(luck: random.Random, *, once: bool, left: bool) -> CoreRelation:
    """Rows of people beside those of another table, at most one each, or however many there are."""
    other: CoreRelation = Stored("t1", OTHERS, 0)
    if once:
        other = Groups(other, 1, (Folded("least", 1), Folded("greatest", 2)))
    source: CoreRelation = STORED if luck.random() < 0.7 else Groups(STORED, 2, (Folded("least", 2),))
    return Match(source, other, (0,), (0,), left)


@pytest.mark.parametrize("seed", range(24))
def test_rows_are_added_up_by_the_unit_before_they_are_joined_on_it(seed: int) -> None:
    """Keys of the right side, columns and expressions of the left; one row or several of a unit on the right; with and
    without rows there."""
    luck = random.Random(1_000 + seed)
    names = ("ann", "bo", "cy", "di", "ed", "fay", None)
    data = world(luck, 50) | {"t1": {
        "c0": (who := [luck.choice(names) for _ in range(luck.choice((0, 4, 9)))]),
        "c1": [luck.choice((None, 0, 1, 2)) for _ in who], "c2": [luck.choice((None, "a", "b")) for _ in who],
    }}
    duckdb = DuckDB.from_tables(data, KINDS)
    columns = (Source("c0", "text"), Source("c2", "integer"), Source("c4", "integer"), Source("c5", "text"))
    computed = (Compute("add_i", (Field(1, "integer"), Constant(1, "integer")), "integer"),
                Compute("add_i", (Field(2, "integer"), Constant(1, "integer")), "integer"))
    listed = tuple((number, name) for number in (None, 1, 2) for name in (None, "a"))
    grids = (Grid(1, "integer", -5, 9, -5, 9, 0), Grid(4, "integer", -5, 2**40, -5, 2**40, 0))
    sums = (Sum("rows"), Sum("units"), Sum("present", 1), Sum("values", 0), Sum("values", 1), Sum("values", 2))
    for keys in (Listed((5, 3), listed), Listed((), ((),)), Chosen((2, 3), 2, "salt")):
        chosen = isinstance(keys, Chosen)
        relation = joined(luck, once=luck.random() < 0.5, left=luck.random() < 0.5)
        tallies = (Tally("everyone"), Tally("cut", (0, 1)), Tally("cut_groups"))
        core: CorePlan = (
            Scan(relation, columns), Project(computed), Owner(0), keys, Measure(grids, (Product(0, 0, 1, 0, 99),)),
            PerUnit(), scale(luck, 2 if chosen else 1), Total((Sum("units"), *sums) if chosen else sums, tallies),
        )
        assert joined_on_unit(check_core(core)) is not None
        assert opened(duckdb.evaluate(core)) == opened(Reference.from_tables(data).evaluate(core))


def test_what_looks_at_both_sides_is_joined_first() -> None:
    relation = Match(STORED, Stored("t1", OTHERS, 0), (0,), (0,), False)
    columns = (Source("c0", "text"), Source("c2", "integer"), Source("c4", "integer"), Source("c1", "integer"))
    rest = (Owner(0), Listed((2,), ((1,),)), Measure((Grid(1, "integer", 0, 9, 0, 9, 0),)), PerUnit(),
            ScaleDown(1, 1, ONE), Total((Sum("values", 0),)))
    plain: CorePlan = (Scan(relation, columns), *rest)
    assert joined_on_unit(check_core(plain)) is relation
    both = Compute("add_i", (Field(1, "integer"), Field(2, "integer")), "integer")
    above = Compare(">", Field(2, "integer"), Constant(1, "integer"))
    others: list[CorePlan] = [
        (Scan(relation, columns), Filter(above), *rest), (Scan(relation, columns), Project((both,)), *rest),
        (Scan(relation, columns), rest[0], Listed((3,), ((1,),)), *rest[2:]),
        (Scan(Match(STORED, relation.other, (0, 1), (0, 1), False), columns), *rest),
        (Scan(Match(STORED, relation.other, (1,), (1,), False), columns), *rest),
        (Scan(replace(relation, source=Groups(STORED, 1, (Folded("rows"), Folded("least", 2)))), columns), *rest),
    ]
    assert [joined_on_unit(check_core(core)) for core in others] == [None] * len(others)


def test_nothing_is_added_up_before_it_meets_several_rows_of_a_public_table() -> None:
    """2**28 rows of a unit that meet 2**21 public rows each would count as more than the 2**48 that `limits.py` takes
    for the most. Joined row by row they are gone through one by one; of a public table that is unique there each row
    meets one, and they may be added up before."""
    columns = (Source("c0", "text"), Source("c2", "integer"), Source("c4", "integer"))
    rest = (Owner(0), Listed((2,), ((1,),)), Measure((Grid(1, "integer", 0, 9, 0, 9, 0),)), PerUnit(),
            ScaleDown(3, 3, ONE), Total((Sum("values", 0),)))
    public = Stored("t1", OTHERS, None)
    unique, above = Groups(public, 1, (Folded("least", 1),)), Compare(">", Field(1, "integer"), Constant(0, "integer"))
    for other, early in ((public, False), (unique, True), (Only(public, above), False), (Groups(public, 2, ()), False)):
        core: CorePlan = (Scan(Match(STORED, other, (0,), (0,), False), columns), *rest)
        assert (joined_on_unit(check_core(core)) is not None) == early
