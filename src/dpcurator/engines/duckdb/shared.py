"""Core plans that group the same rows' units by the same keys, each under a condition of its own, from one reading.

The rows are read, computed and grouped once. Plan i has in `per_unit` its own count of rows r_i, and its own counts and
sums of what it measures, over the rows where its condition f_i is true; what follows for it begins from the groups with
r_i >= 1. That is right since the groups of plan i are those that have a row with f_i true, and its c and S are counts
and sums over such rows (plan/core.py); a condition that is unknown is not true, to WHERE and to FILTER alike. From
there on the text is that of a plan by itself. Checked in tests/engines/test_together.py.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Final

from dpcurator.engines import allowance
from dpcurator.engines.duckdb import rows
from dpcurator.engines.duckdb.levels import Parameters
from dpcurator.engines.duckdb.relations import NOTHING, Given
from dpcurator.engines.duckdb.sql import (
    Query,
    clamped_of,
    grid_text,
    key_columns,
    keyed,
    measures_of,
    of_units,
    outside_text,
    query_of,
    scan_text,
    summed_text,
    with_products,
)
from dpcurator.engines.levels import Levels
from dpcurator.engines.limits import Parts, check_core
from dpcurator.engines.limits_rows import Rows
from dpcurator.errors import Refusal
from dpcurator.language.rows import Operand
from dpcurator.plan.core import CorePlan, Grid, Product

MOST: Final = 8  # plans at once: each adds some 50 bytes to every group that is held


def can_share(cores: Sequence[CorePlan]) -> bool:
    """Whether it pays and an engine may: units own rows, and together the expressions are within a plan's limits."""
    parts = [check_core(core) for core in cores]
    if any(one.histograms or one.distinct for one in parts):  # which look at rows, and not at a unit's groups alone
        return False
    together = Rows(tuple(source.kind for source in parts[0].scan.columns))
    try:
        for one in parts:
            if one.predicate is not None:
                together.predicate(one.predicate)
            for operand in one.computed:
                together.operand(operand)
    except Refusal:
        return False
    every = [expression for core in cores for expression in allowance.expressions_of(core)]
    if not allowance.fits(allowance.needed(parts[0].scan.columns, every)):
        return False
    return len(cores) > 1 and parts[0].owner is not None


def shared(
    cores: Sequence[CorePlan], name: str, parameters: Parameters, stored: Callable[[str], str], given: Given = NOTHING
) -> tuple[str, tuple[Query, ...]]:
    """The text of the common table `name`, and each plan's query of it. cores: of `plan.merge.kindred`."""
    plans = [check_core(core) for core in cores]
    first, key = plans[0], key_columns(plans[0])
    computed = list(dict.fromkeys(part for parts in plans for part in parts.computed))
    grids = list(dict.fromkeys(_moved(parts, grid, computed) for parts in plans for grid in parts.grids))
    levels = Levels(parameters)
    truths = [None if one.predicate is None else rows.truth(one.predicate, levels) for one in plans]
    columns = [f"x{index}" for index in range(len(first.scan.columns))]
    terms = [rows.operand(part, levels) for part in computed]
    made = [f"{term.text} AS x{len(columns) + index}" for index, term in enumerate(terms)]
    made += [f"{'true' if truth is None else truth.text} AS f{index}" for index, truth in enumerate(truths)]
    source, steps = levels.expressions("scanned", "p", [*terms, *(truth for truth in truths if truth is not None)])
    steps = [("scanned", scan_text(first.scan, stored, parameters, given)), *steps]
    steps.append(("projected", f"SELECT {', '.join([*columns, *made])} FROM {source}"))
    steps += keyed(first, "projected", parameters)
    conditions = "".join(f", f{index}" for index in range(len(plans)))
    values = "".join(f", {grid_text(grid, parameters)} AS v{index}" for index, grid in enumerate(grids))
    k = ", ".join(key)
    outside = sorted({grids.index(_moved(parts, parts.grids[measure], computed))
                      for parts in plans for measure in clamped_of(parts)})
    values += "".join(f", {outside_text(grids[index], parameters)} AS o{index}" for index in outside)
    products = list(dict.fromkeys(one for parts in plans for one in _products(parts, grids, computed)))
    measured = f"SELECT {k}, x{first.owner} AS u{conditions}{values} FROM keyed"
    steps += with_products(products, grids, measured)
    sums, queries = "", []
    for index, parts in enumerate(plans):
        own = f"FILTER (WHERE f{index})"
        taken = f"r{index} AS r"
        sums += f", count(*) {own} AS r{index}"
        present, summed = measures_of(parts)
        place = [grids.index(_moved(parts, grid, computed)) for grid in parts.grids]
        place += [len(grids) + products.index(one) for one in _products(parts, grids, computed)]
        for measure in present:
            sums += f", count(v{place[measure]}) {own} AS c{index}_{measure}"
            taken += f", c{index}_{measure} AS c{measure}"
        for measure in summed:
            sums += f", {summed_text(parts, measure, f'sum(v{place[measure]}) {own}')} AS s{index}_{measure}"
            taken += f", s{index}_{measure} AS s{measure}"
        for measure in clamped_of(parts):
            sums += f", coalesce(bool_or(o{place[measure]}) {own}, false) AS o{index}_{measure}"
            taken += f", o{index}_{measure} AS o{measure}"
        per_unit = ("per_unit", f"SELECT u, {k}, {taken} FROM {name} WHERE r{index} > 0")
        queries.append(query_of(parts, [per_unit, *of_units(parts, key, parameters)]))
    head = ", ".join(f"{step} AS ({text})" for step, text in steps)
    return f"WITH {head} SELECT u, {k}{sums} FROM measured GROUP BY u, {k}", tuple(queries)


def _products(parts: Parts, grids: list[Grid], computed: list[Operand]) -> list[Product]:
    """The plan's products, of the numbers that its measured columns have among all."""
    place = [grids.index(_moved(parts, grid, computed)) for grid in parts.grids]
    return [replace(one, first=place[one.first], second=place[one.second]) for one in parts.products]


def _moved(parts: Parts, grid: Grid, computed: list[Operand]) -> Grid:
    """The grid over the scan's columns and all computed ones."""
    size = len(parts.scan.columns)
    return (
        grid if grid.column < size else replace(grid, column=size + computed.index(parts.computed[grid.column - size]))
    )
