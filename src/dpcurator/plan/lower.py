"""From a plan to the core plan an engine runs, with each ask as an integer combination of the engine's sums.

    rows = n'(r)   units   present = n'(c)   values = S' + L n'(c)   centred, square, product = 2 S' - W n'(c)

A quantile is chosen from a histogram of its column, which is measured on the grid of its candidates.

Size. The grid is chosen so that W max_rows <= 2**62 and |L|, |U| <= 2**100 (`pricing/grids.py`); with at most 2**48
rows in a table, n' sums to at most 2**64, S n' is at most W c * 2**16 max_rows <= 2**126, and sums of S' are at most
W * 2**64 <= 2**126. `engines/limits.py` checks this again before data is touched.

Unknown keys. The keys are chosen in the engine (`Chosen`), and its first sum is the count of distinct units of each,
which selects them. A listed part of such a key drops the rows whose value is not listed, as a condition on rows.
Checked in tests/plan/test_lower.py and by the heart law.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from dataclasses import dataclass, replace

from dpcurator.catalog.model import Catalog, Table, Value
from dpcurator.errors import Misconfigured, Refusal
from dpcurator.language import rows
from dpcurator.plan import core as steps
from dpcurator.plan.candidates import candidates
from dpcurator.plan.core_relations import columns_of
from dpcurator.plan.lower_relations import lowered_relation, sources, stored_name
from dpcurator.plan.nodes import Ask, Grouped, Measured, Plan, Rows, Where
from dpcurator.plan.relation_facts import Facts, facts
from dpcurator.plan.relations import Relation, base
from dpcurator.plan.ruled_out import keys_meant


@dataclass(frozen=True, slots=True)
class Combination:
    """An ask as sum of weight * (the core plan's sum number i), over (i, weight) pairs; overall: of its tallies.
    histogram: its histogram of this number instead, from which the ask's quantile is chosen."""

    terms: tuple[tuple[int, int], ...]
    overall: bool = False
    histogram: int | None = None


@dataclass(frozen=True, slots=True)
class Lowered:
    """`core` for the engine; `keys` in the order of its rows; one combination per ask.

    chosen: the keys are unknown. Then `keys` is empty, the engine says which occur, and its first sum is `units`.
    """

    core: steps.CorePlan
    keys: tuple[tuple[Value, ...], ...]
    combinations: tuple[Combination, ...]
    chosen: bool = False


def keys_of(plan: Plan, table: Table) -> tuple[tuple[Value, ...], ...]:
    """The public keys of a plan in canonical order: all tuples of its columns' lists."""
    grouped = plan.source.source
    lists = [keys_meant(column, table, grouped.source) or () for column in grouped.columns]
    return tuple(itertools.product(*lists))


Grids = Mapping[Measured | Ask, steps.Grid]  # of each column or expression that is summed, and each square and product


def lower(plan: Plan, asks: tuple[Ask, ...], grids: Grids, catalog: Catalog) -> Lowered:
    """The core plan for `asks`."""
    source = plan.source.source.source
    grouped = plan.source.source
    found = known(source, catalog)
    table, unit = found.table, found.unit
    condition = _condition(source.predicate if isinstance(source, Where) else None, grouped, table)
    scanned = source.source if isinstance(source, Where) else source
    grouping = grouped.columns
    measured = _measured(asks)
    ranked = tuple(dict.fromkeys(ask.column for ask in asks if ask.q is not None and ask.column is not None))
    valued = tuple(dict.fromkeys(ask.column for ask in asks if ask.what == "distinct" and ask.column is not None))
    read = [key.part for key in grouping] + [column.part for column in (*measured, *ranked, *valued)]
    used = sorted(
        set().union(*(rows.fields(part) for part in read))
        | (rows.fields(condition) if condition is not None else set())
        | ({unit} if unit is not None else set())
    )
    place = {index: position for position, index in enumerate(used)}
    computed = tuple(dict.fromkeys(part for part in read if not isinstance(part, rows.Field)))
    places: dict[rows.Operand, int] = {part: len(used) + position for position, part in enumerate(computed)}
    places |= {part: place[part.index] for part in read if isinstance(part, rows.Field)}
    keys = keys_of(plan, table) if grouped.listed else ()
    made: list[steps.Step] = [_scan(scanned, used, catalog)]
    if condition is not None:
        made.append(steps.Filter(rows.moved_condition(condition, place)))
    if computed:
        made.append(steps.Project(tuple(rows.moved(part, place) for part in computed)))
    made.append(steps.Owner(None if unit is None else place[unit]))
    keyed = tuple(places[key.part] for key in grouping)
    chosen = steps.Chosen(keyed, plan.source.max_groups, catalog.salt)
    made.append(steps.Listed(keyed, keys) if grouped.listed else chosen)
    products = tuple(dict.fromkeys(ask for ask in asks if ask.on_grid == ask))
    listed = grouped.keys if grouped.listed else None
    found_at = [candidates(column, listed) for column in ranked]
    made.append(steps.Measure(
        (*(_grid(column, grids, places[column.part]) for column in measured),
         *(replace(one.grid, column=places[column.part]) for one, column in zip(found_at, ranked, strict=True))),
        tuple(_product(ask, measured, grids) for ask in products),
        tuple(steps.Distinct(places[column.part], catalog.salt) for column in valued),
    ))
    histograms = tuple(steps.Histogram(len(measured) + number, one.step) for number, one in enumerate(found_at))
    made.append(steps.PerUnit())
    one = 1 if unit is None else steps.ONE
    made.append(steps.ScaleDown(plan.source.max_rows, plan.source.max_groups, one, plan.source.max_total))
    sums: list[steps.Sum] = [] if grouped.listed else [steps.Sum("units")]
    tallies: list[steps.Tally] = []
    combinations = tuple(
        _overall(ask, measured, tallies) if ask.overall
        else Combination((), histogram=ranked.index(ask.column)) if ask.q is not None and ask.column is not None
        else _of_values(valued.index(ask.column), sums) if ask.what == "distinct" and ask.column is not None
        else _combination(ask, (*measured, *(None for _ in ranked), *products), grids, sums) for ask in asks
    )
    sums = sums or [steps.Sum("units")]  # an engine adds up at least one thing
    made.append(steps.Total(tuple(sums), tuple(tallies), histograms))
    return Lowered(tuple(made), keys, combinations, chosen=not grouped.listed)


def _condition(where: rows.Predicate | None, grouped: Grouped, table: Table) -> rows.Predicate | None:
    """WHERE, and for unknown keys that each listed part of the key is listed. Raises Refusal."""
    parts = [] if where is None else [where]
    for key in () if grouped.listed else grouped.columns:
        if key.part.kind == "float":
            raise Refusal(
                f"GROUP BY {key.name}: unknown keys are made of whole numbers and texts, never of floats.",
                cure="Group by listed keys only, or by whole numbers.",
            )
        keys = keys_meant(key, table, grouped.source)
        if keys is not None:
            parts.append(_is_listed(key.part, keys))
    return parts[0] if len(parts) == 1 else rows.AllOf(tuple(parts)) if parts else None


def _is_listed(part: rows.Operand, keys: tuple[Value, ...]) -> rows.Predicate:
    values = tuple(rows.Constant(key, part.kind) for key in keys if key is not None)
    among: rows.Predicate = rows.Among(part, values) if values else rows.Truth(False)
    return rows.AnyOf((rows.IsMissing(part), among)) if None in keys else among


def known(source: Relation, catalog: Catalog) -> Facts:
    """What is public of the columns of a relation."""
    try:
        return facts(source, catalog)
    except LookupError:
        raise Misconfigured(f"the catalog has no table {base(source).table!r}.") from None


def _scan(source: Relation, used: list[int], catalog: Catalog) -> steps.Scan:
    """These columns of a stored table; of any other relation, as if it were stored."""
    if isinstance(source, Rows):
        return steps.Scan(stored_name(source, catalog), sources(source, used, catalog))
    made = lowered_relation(source, set(used), catalog)
    columns = columns_of(made.node)
    places = [made.place[index] for index in used]
    return steps.Scan(made.node, tuple(replace(columns[at], name=f"c{at}", fill=None) for at in places))


def _measured(asks: tuple[Ask, ...]) -> tuple[Measured, ...]:
    every = (column for ask in asks
             for column in (ask.column if ask.what not in ("quantile", "distinct") else None, *ask.clamped))
    return tuple(dict.fromkeys(one for column in every if column is not None for one in column.each))


def _product(ask: Ask, measured: tuple[Measured, ...], grids: Grids) -> steps.Product:
    """Of two measured columns, or one by itself. 2 a - A is in half steps, so that their product is in quarters."""
    assert ask.column is not None
    first, second = ask.column.each[0], ask.column.each[-1]
    grid = grids[ask]
    shift = grids[first].exponent + grids[second].exponent + 2 - grid.exponent
    return steps.Product(measured.index(first), measured.index(second), shift, grid.lower, grid.upper)


def _grid(column: Measured, grids: Grids, place: int) -> steps.Grid:
    """The grid of a summed column; a column that is only counted gets the grid of no values, [0, 0]."""
    if column in grids:
        return replace(grids[column], column=place)
    return steps.Grid(place, column.kind, 0, 0, 0, 0, 0)


def _overall(ask: Ask, measured: tuple[Measured, ...], tallies: list[steps.Tally]) -> Combination:
    if ask.what not in ("everyone", "cut", "cut_groups"):
        raise TypeError("this is a number of each key")
    tallies.append(steps.Tally(ask.what, tuple(measured.index(column) for column in ask.clamped)))
    return Combination(((len(tallies) - 1, 1),), overall=True)


def _of_values(place: int, sums: list[steps.Sum]) -> Combination:
    wanted = steps.Sum("distinct", place)
    if wanted not in sums:
        sums.append(wanted)
    return Combination(((sums.index(wanted), 1),))


def _combination(
    ask: Ask, measured: tuple[Measured | Ask | None, ...], grids: Grids, sums: list[steps.Sum]
) -> Combination:
    def number(wanted: steps.Sum) -> int:
        if wanted not in sums:
            sums.append(wanted)
        return sums.index(wanted)

    if ask.column is None:
        return Combination(((number(steps.Sum("rows" if ask.what == "rows" else "units")), 1),))
    what = ask.on_grid or ask.column
    measure = measured.index(what)
    # a product is missing where either column is; those of a pair are missing together (`Measured.beside`)
    count = number(steps.Sum("present", measured.index(ask.column.each[0])))
    if ask.what == "present":
        return Combination(((count, 1),))
    grid = grids[what]
    total = number(steps.Sum("values", measure))
    if ask.what == "values":
        return Combination(((total, 1), (count, grid.lower)))
    return Combination(((total, 2), (count, grid.lower - grid.upper)))
