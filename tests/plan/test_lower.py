"""Lowering: the core plan reads only what it needs, and each reading is the stated combination of its sums."""

from __future__ import annotations

from dataclasses import replace

import pytest
from questions import CATALOG, VISITS, catalog_with, planned, quoted, with_column

from dpcurator.errors import Misconfigured, Refusal
from dpcurator.language.rows import AllOf, Among, AnyOf, Compare, Constant, Field, IsMissing, Truth
from dpcurator.plan.core import ONE, Chosen, Filter, Listed, Measure, Owner, ScaleDown, Scan, Source, Sum, Total
from dpcurator.plan.lower import Combination, lower
from dpcurator.plan.nodes import Ask


def steps(text: str, catalog=CATALOG):
    core = quoted(text, 1, catalog).lowered.core
    return {type(step).__name__: step for step in core}


def test_a_whole_core_plan():
    quote = quoted("SELECT city, AVG(age), COUNT(*), SUM(age) FROM visits WHERE age > 3 GROUP BY city")
    scan, where, owner, listed, measure, _, scale, total = quote.lowered.core
    assert scan == Scan("t0", (Source("c0", "text"), Source("c1", "text"), Source("c2", "integer")))
    assert where == Filter(Compare(">", Field(2, "integer"), Constant(3, "integer")))
    assert owner == Owner(0)
    assert listed == Listed((1,), (("Hull",), ("Leeds",), ("York",)))
    assert [(grid.column, grid.lower, grid.upper) for grid in measure.grids] == [(2, 0, 110)]
    assert scale == ScaleDown(4, 2, ONE)
    assert total == Total((Sum("present", 0), Sum("values", 0), Sum("rows")))
    assert quote.lowered.combinations == (
        Combination(((1, 2), (0, -110))),  # centred = 2 S' - W n'
        Combination(((0, 1),)),
        Combination(((2, 1),)),
        Combination(((1, 1), (0, 0))),  # values = S' + L n'
    )


def test_each_row_is_a_unit_without_scaling():
    made = steps("SELECT SUM(x) FROM rows")
    assert made["Scan"] == Scan("t1", (Source("c0", "integer"),))
    assert made["Owner"] == Owner(None)
    assert made["ScaleDown"] == ScaleDown(1, 1, 1)
    assert made["Listed"] == Listed((), ((),))


def test_keys_are_all_tuples_in_canonical_order_and_an_empty_list_gives_none():
    quote = quoted("SELECT COUNT(*) FROM visits GROUP BY ward, smoker")
    assert quote.lowered.keys == ((None, 0), (None, 1), (1, 0), (1, 1), (2, 0), (2, 1))
    empty = catalog_with(with_column(VISITS, "city", keys=()))
    none = quoted("SELECT city, COUNT(*) FROM visits GROUP BY city", 1, empty)
    assert none.lowered.keys == ()
    assert none.priced == ()
    assert none.epsilon == 0


def test_a_fill_is_read_in_the_scan_but_never_gives_a_row_an_owner():
    filled = with_column(with_column(VISITS, "age", missing=40), "patient", missing="nobody")
    scan = steps("SELECT SUM(age) FROM visits WHERE patient <> 'x'", catalog_with(filled))["Scan"]
    assert scan.columns == (Source("c0", "text", None), Source("c2", "integer", 40))


def test_a_fill_beyond_the_bounds_is_clamped_like_any_value():
    filled = catalog_with(with_column(VISITS, "age", missing=1000))
    grid = steps("SELECT SUM(age) FROM visits", filled)["Measure"].grids[0]
    assert (grid.clamp_lower, grid.clamp_upper) == (0, 110)


def test_a_column_that_is_only_counted_gets_no_values():
    grids = steps("SELECT COUNT(note), COUNT(age), SUM(cost) FROM visits")["Measure"].grids
    assert [(grid.kind, grid.lower, grid.upper) for grid in grids[:2]] == [("text", 0, 0), ("integer", 0, 0)]
    assert grids[2].upper > 0


def test_one_column_counted_and_summed_is_measured_once():
    made = steps("SELECT COUNT(age), SUM(age), AVG(age) FROM visits")
    assert len(made["Measure"].grids) == 1
    assert made["Total"] == Total((Sum("present", 0), Sum("values", 0)))
    assert made["Measure"] == Measure(made["Measure"].grids)


def unknown(text: str, table=VISITS, *names: str):
    """A plan of the text, and its catalog, in which these columns' keys are not listed."""
    listed = catalog_with(table)
    columns = tuple(replace(c, keys=None, unknown_keys=True) if c.name in names else c for c in table.columns)
    catalog = replace(catalog_with(replace(table, columns=columns)), salt="salt")
    plan = planned(text, listed)
    grouped = plan.source.source
    keys = tuple(replace(key, count=None, digest="") if key.name in names else key for key in grouped.columns)
    return replace(plan, source=replace(plan.source, source=replace(grouped, columns=keys))), catalog


def test_unknown_keys_are_chosen_and_counted_in_units_first():
    plan, catalog = unknown("SELECT city, COUNT(*) FROM visits WHERE age > 3 GROUP BY city", VISITS, "city")
    asks = (Ask("rows"), Ask("units"))
    found = lower(plan, asks, {}, catalog)
    kinds = [type(step).__name__ for step in found.core]
    assert kinds == ["Scan", "Filter", "Owner", "Chosen", "Measure", "PerUnit", "ScaleDown", "Total"]
    assert found.core[3] == Chosen((1,), 2, "salt")
    assert found.core[-1] == Total((Sum("units"), Sum("rows")))
    assert found.combinations == (Combination(((1, 1),)), Combination(((0, 1),)))
    assert (found.keys, found.chosen) == ((), True)
    assert lower(plan, (), {}, catalog).core[-1] == Total((Sum("units"),))


def test_a_listed_part_of_unknown_keys_drops_the_rows_that_are_not_listed():
    text = "SELECT COUNT(*) FROM visits WHERE age > 3 GROUP BY city, ward, smoker"
    plan, catalog = unknown(text, VISITS, "city")
    found = lower(plan, (), {}, catalog)
    place = {"city": 1, "age": 2, "smoker": 3, "ward": 4}
    smoker, ward = Field(place["smoker"], "integer"), Field(place["ward"], "integer")
    one, two, no, yes = (Constant(value, "integer") for value in (1, 2, 0, 1))
    assert found.core[1] == Filter(AllOf((
        Compare(">", Field(place["age"], "integer"), Constant(3, "integer")),
        AnyOf((IsMissing(ward), Among(ward, (one, two)))),
        Among(smoker, (no, yes)),
    )))
    assert found.core[3] == Chosen((1, 4, 3), 2, "salt")
    text = "SELECT COUNT(*) FROM visits GROUP BY city, ward"
    empty, catalog = unknown(text, with_column(VISITS, "ward", keys=()), "city")
    assert lower(empty, (), {}, catalog).core[1] == Filter(Truth(False))
    missing, catalog = unknown(text, with_column(VISITS, "ward", keys=(None,)), "city")
    assert lower(missing, (), {}, catalog).core[1] == Filter(AnyOf((IsMissing(Field(2, "integer")), Truth(False))))


def test_unknown_keys_are_never_floats():
    table = with_column(VISITS, "cost", keys=(1.0,))
    plan, catalog = unknown("SELECT COUNT(*) FROM visits GROUP BY cost", table, "cost")
    with pytest.raises(Refusal, match="never of floats"):
        lower(plan, (), {}, catalog)


def test_a_plan_of_another_catalog_is_refused():
    with pytest.raises(Misconfigured, match="no table"):
        lower(planned("SELECT COUNT(*) FROM visits"), (), {}, catalog_with())
