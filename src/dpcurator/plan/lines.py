"""A plan in lines for people: what rows it is made of, how they are grouped and bounded, what is computed of them.

Checked in tests/cli/test_commands.py and tests/server/test_application.py.
"""

from __future__ import annotations

from dpcurator.catalog.model import Catalog
from dpcurator.numbers.text_table import printable
from dpcurator.plan import relations
from dpcurator.plan.nodes import Plan
from dpcurator.plan.relation_facts import order_of
from dpcurator.plan.shown_name import in_sql


def plan_lines(plan: Plan, catalog: Catalog) -> list[str]:
    """The plan, innermost first, a node a line."""
    grouped = plan.source.source
    lines = relation_lines(grouped.source, catalog)
    keys = ", ".join(
        f"{in_sql(column.name)} ({'unknown' if column.count is None else f'{column.count} listed'})"
        for column in grouped.columns
    )
    size = f"{grouped.keys} keys" if grouped.listed else "those keys that may be shown"
    size += ", and all others in one more row" if grouped.other else ""
    lines.append(f"grouped by {keys}: {size}" if keys else "not grouped: one key")
    total = "" if plan.source.max_total is None else f", and {plan.source.max_total} rows in all"
    lines.append(f"bounded to {plan.source.max_rows} rows a key and {plan.source.max_groups} keys a unit{total}")
    named = [("*",) if call.column is None else [in_sql(one.name) for one in call.column.each] for call in plan.calls]
    calls = [f"{call.function}({', '.join(names)})" for call, names in zip(plan.calls, named, strict=True)]
    lines.append(f"aggregates: {', '.join(calls) or 'none'}")
    lines += ["counted beside them: the units that caps or clamps cut, and all there are"] if plan.cut else []
    lines.append(f"outputs: {', '.join(output.title for output in plan.outputs)}")
    after = {"having": plan.having is not None, "order": bool(plan.order), "limit": plan.limit is not None}
    if any(after.values()):
        lines.append(f"on the noisy values: {', '.join(name for name, there in after.items() if there)}")
    return [printable(line) for line in lines]


def relation_lines(node: relations.Relation, catalog: Catalog) -> list[str]:
    """What rows are made of, innermost first; what is beside them is indented."""

    def lines(one: relations.Relation) -> list[str]:
        return relation_lines(one, catalog)

    match node:
        case relations.Rows(table, unit):
            owner = f"a unit's by {unit}" if unit is not None else "each one a unit"
            owner += ", at most one each" if node.one_row else ""
            return [f"rows of {table}, {owner}"]
        case relations.Where(source, _, columns):
            return [*lines(source), f"where: a condition on {', '.join(columns) or 'no column'}"]
        case relations.InCohort(source, among):
            beside = [f"  {line}" for line in lines(among)]
            return [*lines(source), "marked: whether the unit has a row in", *beside]
        case relations.InPublic(source, table, here, there, predicate):
            which = "" if predicate is None else ", in rows that meet a condition"
            what, listed = (", ".join(one.name for one in some) for some in (here, there))
            return [*lines(source), f"marked: {what} is in {listed} of {table}, which is public{which}"]
        case relations.JoinPublic(source, table):
            return [*lines(source), f"joined to the rows of {table}, which are public"]
        case relations.JoinOnUnit(source, other):
            beside = [f"  {line}" for line in lines(other)]
            return [*lines(source), "joined on the unit, to at most one row each of", *beside]
        case relations.UnionAll(source, other):
            beside = [f"  {line}" for line in lines(other)]
            return [*lines(source), "together with the rows of", *beside]
        case relations.Numbered(source, _, keys):
            whose, order = ", ".join(["the unit", *(one.name for one in keys)]), in_sql(order_of(node, catalog))
            return [*lines(source), f"numbered among the rows of {whose}, in order of {order}"]
        case relations.Computed(source, columns_):
            return [*lines(source), f"computed of each row: {', '.join(one.name for one in columns_)}"]
        case relations.PerUnit(source, keys, folds):
            by = ", ".join(["the unit", *(one.name for one in keys)])
            what = ", ".join(one.name for one in folds) or "nothing more"
            return [*lines(source), f"one row for {by}, from its own rows: {what}"]
