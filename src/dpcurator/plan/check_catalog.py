"""Whether the public facts a plan carries are the catalog's: what sensitivity rests on, looked up again.

A plan may come from elsewhere (a receipt, a quote built by hand). Bounds, caps, units and keys that it claims must be
those declared, or the noise it asks for would be too small. Checked in tests/curator/test_curator.py and
tests/receipts/test_verify.py.
"""

from __future__ import annotations

from dpcurator.catalog.model import EACH_ROW, KINDS, Catalog, Column, Table
from dpcurator.errors import Refusal
from dpcurator.language.functions.casts import UNCHANGED
from dpcurator.language.intervals import bounds
from dpcurator.language.rows import Expression, Field, Operand, fields
from dpcurator.language.rows import walk as parts_of
from dpcurator.language.spelling import spelled
from dpcurator.plan import relations
from dpcurator.plan.limits import check, finishing
from dpcurator.plan.nodes import KeyColumn, Measured, Plan, measured_of
from dpcurator.plan.public_keys import digest_of, same_in_a_unit, selectable
from dpcurator.plan.relation_facts import facts, least_units, public_table
from dpcurator.plan.ruled_out import keys_meant


def disagreement(plan: Plan, catalog: Catalog) -> str | None:
    """The first public fact of the plan that the catalog does not declare, in words; None when there is none."""
    source = plan.source.source.source
    for rows in relations.leaves(source):
        if wrong := _table(rows, catalog):
            return wrong
    no_unit = any(rows.unit is None for rows in relations.leaves(source))
    if no_unit and (plan.source.max_rows, plan.source.max_groups) != (1, 1):
        return "a row that is a unit is one row in one group"
    if not plan.source.source.listed and plan.source.source.min_units < least_units(source, catalog):
        return "groups of fewer units may be shown than the catalog lets be"
    try:
        if wrong := next((wrong for node in relations.walk(source) if (wrong := _relation(node, catalog))), None):
            return wrong
        table = facts(source, catalog).table
        return _measured(plan, table) or _keys(plan, table, catalog) or _work(plan, table)
    except (LookupError, TypeError, ValueError, ArithmeticError, Refusal):
        return "an expression of the plan is none"


def _table(rows: relations.Rows, catalog: Catalog) -> str | None:
    table = next((table for table in catalog.tables if table.name == rows.table), None)
    if table is None or not table.private:
        return "the catalog has no such private table"
    names = [column.name for column in table.columns]
    unit = None if table.unit == EACH_ROW else table.unit
    if (rows.unit, rows.unit_index) != (unit, None if unit is None else names.index(unit)):
        return "the unit is not the catalog's"
    if (rows.neighbours, rows.units) != (catalog.neighbours, catalog.units):
        return "the neighbours, or the number of units, are not the catalog's"
    if rows.one_row != (table.one_row_per == ()):
        return "how many rows a unit has is not the catalog's"
    return None


def _relation(node: relations.Relation, catalog: Catalog) -> str | None:
    """What a node says of the columns of those below it, which `facts` says too."""
    if isinstance(node, relations.Where):
        table = facts(node.source, catalog).table
        if not of_table(node.predicate, table):
            return "WHERE looks at other columns"
        named = tuple(table.columns[index].name for index in sorted(fields(node.predicate)))
        return None if named == node.columns else "WHERE names other columns"
    if isinstance(node, relations.InCohort | relations.JoinOnUnit):
        mine, other = (facts(side, catalog) for side in relations.below(node))
        pairs = [(mine.unit or 0, other.unit or 0)]
        if isinstance(node, relations.JoinOnUnit):
            pairs += zip(node.on, node.other_on, strict=True)
            if other.unique is None or not other.unique <= set(node.other_on):
                return "a join may find several rows"
        types = [(mine.table.columns[a].type, other.table.columns[b].type) for a, b in pairs]
        return None if all(a == b for a, b in types) else "units or columns of two types are compared"
    if isinstance(node, relations.InPublic):
        table, public = facts(node.source, catalog).table, public_table(node.table, catalog)
        if not all(_is_made(one, table) for one in node.here) or not all(_is_made(one, public) for one in node.there):
            return "what is looked up in a public table is made of other columns"
        if node.predicate is not None and not of_table(node.predicate, public):
            return "the condition on a public table looks at other columns"
        pairs_ = zip(node.here, node.there, strict=True)
        return None if all(a.type == b.type for a, b in pairs_) else "columns of two types are compared"
    if isinstance(node, relations.UnionAll):
        mine, other = (facts(side, catalog) for side in relations.below(node))
        pairs = [(mine.unit or 0, other.unit or 0), *zip(node.columns, node.other_columns, strict=True)]
        alike = all(mine.table.columns[a].type == other.table.columns[b].type for a, b in pairs)
        return None if alike else "columns of two types are put together"
    if isinstance(node, relations.Numbered):
        table = facts(node.source, catalog).table
        ordered = all(of_table(one.part, table) for one in node.along)
        made_here = ordered and all(_is_made(one, table) for one in node.keys) and node.at == len(table.columns)
        return None if made_here else "rows are numbered by other columns"
    if isinstance(node, relations.JoinPublic):
        mine_, public = facts(node.source, catalog).table.columns, public_table(node.table, catalog)
        if not all(_is_made(one, public) for one in node.made):
            return "what is looked up in a public table is made of other columns"
        theirs = [*(column.type for column in public.columns), *(one.type for one in node.made)]
        if any(mine_[a].type != theirs[b] for a, b in zip(node.on, node.other_on, strict=True)):
            return "columns of two types are compared"
        unique = any(index < len(public.columns) and public.columns[index].unique for index in node.other_on)
        return None if node.single == unique else "a public table has rows that it has not"
    if isinstance(node, relations.Computed | relations.PerUnit):
        table = facts(node.source, catalog).table
        made: tuple[relations.Made | relations.Fold, ...] = (
            node.columns if isinstance(node, relations.Computed) else (*node.keys, *node.folds)
        )
        for one in made:
            if not _is_made(one, table):
                return f"{one.name!r} of a subquery is made of other columns"
    return None


def _is_made(one: relations.Made | relations.Fold, table: Table) -> bool:
    """Whether it is of the table's columns, of the type that follows from them, and within their bounds."""
    parts = [one.part] if isinstance(one, relations.Made) else [one.part, one.by]
    if not all(of_table(part, table) for part in parts if part is not None) or one.type not in KINDS:
        return False
    some_row = ("least", "greatest", "arg_least", "arg_greatest")
    if isinstance(one, relations.Made) or one.part is None or one.function in some_row:
        kind = one.part.kind if one.part is not None else "integer"
        if isinstance(one.part, Field):
            type = table.columns[one.part.index].type
            return type == one.type or (type, one.type) in UNCHANGED
        return KINDS[one.type] == kind
    held = bounds(one.part, table) or (None, None)
    summed = one.function in ("sum", "avg") and one.part.kind == "float"
    wanted = "float" if one.function == "avg" or summed else "integer"
    return one.type == wanted and (not summed or held == (one.lower, one.upper))


def _measured(plan: Plan, table: Table) -> str | None:
    for measured in measured_of(plan):
        if not _same(measured, table):
            return f"{measured.name!r} is declared otherwise"
        held = bounds(measured.part, table) or (None, None)
        if (*held, filled(measured.part, table)) != (measured.lower, measured.upper, measured.filled):
            return f"{measured.name!r} is declared otherwise"
    return None


def _keys(plan: Plan, table: Table, catalog: Catalog) -> str | None:
    for key in plan.source.source.columns:
        if not _same(key, table):
            return f"{key.name!r} has other keys"
        keys = keys_meant(key, table, plan.source.source.source)
        listed = (None, "") if keys is None else (len(keys), digest_of(keys))
        if (key.count, key.digest) != listed:
            return f"{key.name!r} has other keys"
        if key.per_unit and not same_in_a_unit(key.part, table):
            return f"{key.name!r} is not declared to be the same in all rows of a unit"
        if keys is None and not (selectable(key.part, table) and catalog.delta > 0):
            return f"{key.name!r} has no list of keys"
    return None


def _work(plan: Plan, table: Table) -> str | None:
    try:
        check(finishing(plan, table))
    except Refusal:
        return "its answer is too large"
    return None


def may_bind(measured: Measured) -> bool:
    """Whether a value may be outside its clamp, whatever is stored: CASE WHEN smoker THEN 1 ELSE 0 END never is."""
    if measured.lower is None or measured.upper is None or measured.type == "boolean":
        return False
    kinds = {one.index: one.kind for one in parts_of(measured.part) if isinstance(one, Field)}
    columns = tuple(Column("", kinds.get(index, "text")) for index in range(max(kinds, default=-1) + 1))
    inside = bounds(measured.part, Table("", columns, None))
    return inside is None or inside[0] < measured.lower or inside[1] > measured.upper


def filled(part: Operand, table: Table) -> bool:
    """Whether it is a column that declares a value for missing ones. A unit is never filled: its rows are dropped."""
    if not isinstance(part, Field):
        return False
    column = table.columns[part.index]
    return column.missing is not None and column.name != table.unit


def _same(said: Measured | KeyColumn, table: Table) -> bool:
    """Whether the columns an expression looks at are the table's, and one that is a column is named and typed so,
    or as a cast that changes no value types it."""
    if not of_table(said.part, table):
        return False
    if isinstance(said.part, Field):
        column = table.columns[said.part.index]
        return column.name == said.name and (column.type == said.type or (column.type, said.type) in UNCHANGED)
    return KINDS.get(said.type) == said.part.kind and said.name == spelled(said.part, table)


def of_table(expression: Expression, table: Table) -> bool:
    """Whether each column it looks at is in the table, and of the kind it says."""
    columns = table.columns
    used = [part for part in parts_of(expression) if isinstance(part, Field)]
    return all(0 <= one.index < len(columns) and columns[one.index].kind == one.kind for one in used)
