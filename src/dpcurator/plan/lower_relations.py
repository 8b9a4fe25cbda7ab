"""From a relation of a plan to what an engine runs: one rule a node; only the columns that are used are read.

`place` says where in the result each column of the plan's relation is. A node without a rule is refused by name.
Checked in tests/plan/test_bind_relations.py and tests/laws/test_heart_relations.py.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Final

from dpcurator.catalog.model import MAX_LENGTH, Catalog, Column
from dpcurator.errors import Misconfigured
from dpcurator.language.rows import Field, Operand, fields, moved, moved_condition
from dpcurator.plan import core_relations as physical
from dpcurator.plan import relations
from dpcurator.plan.relation_facts import facts, public_table


@dataclass(frozen=True, slots=True)
class Placed:
    """A relation of the core plan, and where the columns of the plan's are in it: those that are used."""

    node: physical.CoreRelation
    place: dict[int, int]


def stored_name(node: relations.Rows, catalog: Catalog) -> str:
    """The name under which a table is stored."""
    for number, table in enumerate(catalog.tables):
        if table.name == node.table:
            return f"t{number}"
    raise Misconfigured(f"the catalog has no table {node.table!r}.")


def sources(node: relations.Rows, used: Iterable[int], catalog: Catalog) -> tuple[physical.Source, ...]:
    """Stored columns; a missing unit stays missing whatever its column declares, for its rows are left out."""
    columns = facts(node, catalog).table.columns
    return tuple(_source(index, columns[index], node.unit_index) for index in used)


def _source(index: int, column: Column, unit: int | None) -> physical.Source:
    letters = column.letters if column.kind == "text" else MAX_LENGTH
    return physical.Source(f"c{index}", column.kind, None if index == unit else column.missing, letters)


def lowered_relation(node: relations.Relation, used: set[int], catalog: Catalog) -> Placed:
    """The relation with at least these of its columns, and its unit."""
    rule = RULES.get(type(node))
    if rule is None:
        raise TypeError(f"no rule says how an engine runs {type(node).__name__}")
    found: Placed = rule(node, used, catalog)
    return found


def _rows(node: relations.Rows, used: set[int], catalog: Catalog) -> Placed:
    read = sorted(used if node.unit_index is None else {*used, node.unit_index})
    place = {index: position for position, index in enumerate(read)}
    unit = None if node.unit_index is None else place[node.unit_index]
    return Placed(physical.Stored(stored_name(node, catalog), sources(node, read, catalog), unit), place)


def _where(node: relations.Where, used: set[int], catalog: Catalog) -> Placed:
    below = lowered_relation(node.source, used | fields(node.predicate), catalog)
    return Placed(physical.Only(below.node, moved_condition(node.predicate, below.place)), below.place)


def _in_cohort(node: relations.InCohort, used: set[int], catalog: Catalog) -> Placed:
    """Where nobody looks at the column, it is not made."""
    mine, others = facts(node.source, catalog), facts(node.among, catalog)
    flag, unit, other = len(mine.table.columns), _owner(mine.unit), _owner(others.unit)
    below = lowered_relation(node.source, (used - {flag}) | {unit}, catalog)
    if flag not in used:
        return below
    among = lowered_relation(node.among, {other}, catalog)
    made = physical.Flag(below.node, below.place[unit], among.node, among.place[other])
    return Placed(made, below.place | {flag: len(physical.columns_of(below.node))})


def _in_public(node: relations.InPublic, used: set[int], catalog: Catalog) -> Placed:
    """Where nobody looks at the column, it is not made."""
    flag = len(facts(node.source, catalog).table.columns)
    if flag not in used:
        return lowered_relation(node.source, used, catalog)
    read = (used - {flag}).union(*(fields(one.part) for one in node.here))
    below = lowered_relation(node.source, read, catalog)
    columns: list[Operand] = [Field(at, source.kind) for at, source in enumerate(physical.columns_of(below.node))]
    size = len(columns)
    here = [moved(one.part, below.place) for one in node.here]
    columns += [part for part in dict.fromkeys(here) if part not in columns]
    source = physical.Columns(below.node, tuple(columns)) if len(columns) > size else below.node
    made = physical.Found(source, tuple(map(columns.index, here)), _public_rows(node, catalog), node.unknown)
    return Placed(made, below.place | {flag: len(columns)})


def _public_rows(node: relations.InPublic, catalog: Catalog) -> physical.CoreRelation:
    """What is compared of the public rows for which the condition is true."""
    read = sorted(set().union(*(fields(one) for one in relations.public_expressions_of(node))))
    place = {index: at for at, index in enumerate(read)}
    rows: physical.CoreRelation = _stored_public(node.table, read, catalog)
    if node.predicate is not None:
        rows = physical.Only(rows, moved_condition(node.predicate, place))
    return physical.Columns(rows, tuple(moved(one.part, place) for one in node.there))


def _stored_public(name: str, read: Iterable[int], catalog: Catalog) -> physical.Stored:
    """A public table with these of its columns."""
    columns = public_table(name, catalog).columns
    number = [table.name for table in catalog.tables].index(name)
    return physical.Stored(f"t{number}", tuple(_source(index, columns[index], None) for index in read), None)


def _computed(node: relations.Computed, used: set[int], catalog: Catalog) -> Placed:
    found = facts(node.source, catalog)
    mine = len(found.table.columns)
    wanted = {index: node.columns[index - mine].part for index in sorted(used) if index >= mine}
    read = {index for index in used if index < mine}.union(*(fields(part) for part in wanted.values()))
    below = lowered_relation(node.source, read, catalog)
    if not wanted:
        return below
    kept = [Field(at, source.kind) for at, source in enumerate(physical.columns_of(below.node))]
    made = physical.Columns(below.node, (*kept, *(moved(part, below.place) for part in wanted.values())))
    return Placed(made, below.place | {index: len(kept) + n for n, index in enumerate(wanted)})


def _per_unit(node: relations.PerUnit, used: set[int], catalog: Catalog) -> Placed:
    """All keys are grouped by, whether or not anything looks at them; folds are made where something does."""
    unit = facts(node.source, catalog).unit
    owner = _owner(unit)
    first = 1 + len(node.keys)
    wanted = [index for index in range(first, first + len(node.folds)) if index in used]
    folds = [node.folds[index - first] for index in wanted]
    parts = [one.part for one in node.keys]
    parts += [part for fold in folds for part in (fold.part, fold.by) if part is not None]
    below = lowered_relation(node.source, {owner}.union(*(fields(part) for part in parts)), catalog)
    columns: list[Operand] = [Field(below.place[owner], physical.columns_of(below.node)[below.place[owner]].kind)]
    columns += [moved(one.part, below.place) for one in node.keys]

    def at(part: Operand | None) -> int:
        """A column of its own, or one that is there."""
        if part is None:
            return 0
        found = moved(part, below.place)
        if found not in columns[first:]:
            columns.append(found)
        return columns.index(found, first)

    made = tuple(_folded(fold, at(fold.part), at(fold.by)) for fold in folds)
    place = {index: index for index in range(first)} | {index: first + n for n, index in enumerate(wanted)}
    return Placed(physical.Groups(physical.Columns(below.node, tuple(columns)), first, made), place)


def _join_on_unit(node: relations.JoinOnUnit, used: set[int], catalog: Catalog) -> Placed:
    """The other side is read even where nothing of it is used: an inner join leaves rows out."""
    mine, others = facts(node.source, catalog), facts(node.other, catalog)
    size, unit, other_unit = len(mine.table.columns), _owner(mine.unit), _owner(others.unit)
    wanted = {index for index in used if index < size}
    source = lowered_relation(node.source, {*wanted, *node.on, unit}, catalog)
    if node.left and wanted == used:
        return source
    more = {index - size for index in used if index >= size}
    other = lowered_relation(node.other, {*more, *node.other_on, other_unit}, catalog)
    on = tuple(source.place[index] for index in (unit, *node.on))
    other_on = tuple(other.place[index] for index in (other_unit, *node.other_on))
    width = len(physical.columns_of(source.node))
    place = source.place | {size + index: width + at for index, at in other.place.items()}
    return Placed(physical.Match(source.node, other.node, on, other_on, node.left), place)


def _union_all(node: relations.UnionAll, used: set[int], catalog: Catalog) -> Placed:
    """Both sides with the same columns: the unit, and those that are used."""
    wanted = sorted(index for index in used if index > 0)
    sides = []
    for side, columns in ((node.source, node.columns), (node.other, node.other_columns)):
        owner = _owner(facts(side, catalog).unit)
        places = [owner, *(columns[index - 1] for index in wanted)]
        made = lowered_relation(side, set(places), catalog)
        here = physical.columns_of(made.node)
        parts = tuple(Field(made.place[index], here[made.place[index]].kind) for index in places)
        sides.append(physical.Columns(made.node, parts))
    return Placed(physical.Both(*sides), {0: 0} | {index: 1 + n for n, index in enumerate(wanted)})


def _numbered(node: relations.Numbered, used: set[int], catalog: Catalog) -> Placed:
    """All columns are read, whether or not anything looks at them: ties are broken by them. Without the number, none
    is."""
    found = facts(node.source, catalog)
    if node.at not in used:
        return lowered_relation(node.source, used, catalog)
    size = len(found.table.columns)
    below = lowered_relation(node.source, set(range(size)), catalog)
    stored = physical.columns_of(below.node)
    columns: list[Operand] = [Field(below.place[n], stored[below.place[n]].kind) for n in range(size)]

    def at(part: Operand) -> int:
        moved_ = moved(part, below.place)
        if moved_ not in columns:
            columns.append(moved_)
        return columns.index(moved_)

    keys = tuple(dict.fromkeys([_owner(found.unit), *(at(one.part) for one in node.keys)]))
    order = [physical.Order(at(one.part), one.descending, one.missing_first) for one in node.along]
    order += [physical.Order(index, False, True) for index in range(size)]
    made = physical.Ranked(physical.Columns(below.node, tuple(columns)), keys, tuple(order))
    return Placed(made, {index: index for index in range(size)} | {node.at: len(columns)})


def _join_public(node: relations.JoinPublic, used: set[int], catalog: Catalog) -> Placed:
    """The public table is read even where nothing of it is used: rows may be left out, or become many."""
    size = len(facts(node.source, catalog).table.columns)
    wanted = {index for index in used if index < size}
    source = lowered_relation(node.source, wanted | set(node.on), catalog)
    if node.left and node.single and wanted == used:
        return source
    columns = len(public_table(node.table, catalog).columns)
    read = {index - size for index in used if index >= size} | {index for index in node.other_on if index < columns}
    read = read.union(*map(fields, relations.public_expressions_of(node)))
    place = {index: at for at, index in enumerate(sorted(read))}
    other: physical.CoreRelation = _stored_public(node.table, place, catalog)
    if node.made:
        kept: list[Operand] = [Field(at, one.kind) for at, one in enumerate(physical.columns_of(other))]
        other = physical.Columns(other, (*kept, *(moved(one.part, place) for one in node.made)))
    width = len(physical.columns_of(source.node))
    on = tuple(source.place[index] for index in node.on)
    other_on = tuple(place[index] if index < columns else len(place) + index - columns for index in node.other_on)
    made = physical.Match(source.node, other, on, other_on, node.left)
    return Placed(made, source.place | {size + index: width + at for index, at in place.items()})


def _folded(fold: relations.Fold, column: int, by: int) -> physical.Folded:
    if fold.part is None or fold.function not in ("sum", "avg"):
        return physical.Folded(fold.function, column, by)
    if fold.lower is None or fold.upper is None:
        return physical.Folded(f"{fold.function}_i", column)
    exponent = grid_of(fold.lower, fold.upper)
    steps = (nearest(fold.lower, exponent), nearest(fold.upper, exponent))
    return physical.Folded(f"{fold.function}_f", column, 0, (float(fold.lower), float(fold.upper)), steps, exponent)


def grid_of(lower: Fraction, upper: Fraction) -> int:
    """The exponent of the finest grid on which both ends are within 2**59 steps, from -1000 to 1000."""
    most = max(abs(lower), abs(upper))
    size = most.numerator.bit_length() - most.denominator.bit_length() + 1 if most else 0  # most < 2**size
    return max(-1000, min(1000, 59 - size))


def nearest(bound: Fraction, exponent: int) -> int:
    """floor(bound * 2**exponent + 1/2), exactly."""
    return math.floor(bound * Fraction(2) ** exponent + Fraction(1, 2))


def _owner(unit: int | None) -> int:
    if unit is None:
        raise TypeError("a row that is a unit is in no other relation")
    return unit


RULES: Final[dict[type, Callable[..., Any]]] = {
    relations.Rows: _rows, relations.Where: _where, relations.InCohort: _in_cohort, relations.InPublic: _in_public,
    relations.Computed: _computed, relations.PerUnit: _per_unit, relations.JoinOnUnit: _join_on_unit,
    relations.JoinPublic: _join_public, relations.UnionAll: _union_all, relations.Numbered: _numbered,
}
