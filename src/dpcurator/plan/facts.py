"""`facts_of`: which declared facts a question rests on, as one digest, so that other edits of a catalog leave it paid.

A plan holds the caps, bounds and lists of keys (by digest) that its numbers rest on. What it does not hold, and decides
what its rows mean, is here: who is protected, neighbours and number of units, the budget, the table and its unit, and
of each column that the question reads its name, type, longest text and the value that missing ones are read as; where
its unit is looked up in another table, that table and those beyond it; the salt where keys, or different values, are
chosen by it. Two questions of equal plans and facts, under one data version, read the same rows in the same way. Bounds
and lists of columns are in the plan where they matter: a bound that nothing measured rests on, or a key list that
nothing is grouped by, is no fact that the question uses.

A batch of questions is bound to the facts of each. Receipts made before hold the digest of the whole catalog instead
(docs/decisions/0016). Checked in tests/plan/test_facts.py.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dpcurator.catalog.bind import column_facts, content_digest, table_facts
from dpcurator.catalog.model import Catalog, Table
from dpcurator.language.rows import fields
from dpcurator.plan.core_relations import Stored, walk
from dpcurator.plan.lower_relations import lowered_relation
from dpcurator.plan.nodes import Plan, measured_of, of_values
from dpcurator.plan.relation_facts import facts
from dpcurator.plan.relations import Rows, Where


def facts_of(plan: Plan, catalog: Catalog) -> str:
    """sha256 of the declared facts that a plan uses beside those it holds itself; hexadecimal.

    Raises LookupError where the catalog has no such table or column: `check_catalog` says so in words.
    """
    rows = plan.source.source.source
    scanned = rows.source if isinstance(rows, Where) else rows
    told = {
        "format": "dpcurator facts 1", "protects": catalog.protects, "neighbours": catalog.neighbours,
        "units": catalog.units, "epsilon": str(catalog.epsilon), "rho": str(catalog.rho), "delta": str(catalog.delta),
        "salt": catalog.salt if not plan.source.source.listed or any(map(of_values, plan.calls)) else None,
    }
    if isinstance(scanned, Rows):
        table = facts(scanned, catalog).table
        columns = [column_facts(table.columns[index]) for index in sorted(columns_of(plan))]
        told |= {"table": table.name, "unit": table.unit, "columns": columns} | table_facts(table)
        return content_digest(told | owners(table, catalog))
    tables = [_stored(one, catalog) for one in walk(lowered_relation(scanned, columns_of(plan), catalog).node)
              if isinstance(one, Stored)]
    return content_digest(told | {"format": "dpcurator facts 2", "tables": tables})


def _stored(node: Stored, catalog: Catalog) -> dict[str, Any]:
    """What is declared of a stored table, where a relation reads it."""
    table = catalog.tables[int(node.table.removeprefix("t"))]
    read = [column_facts(table.columns[int(source.name.removeprefix("c"))]) for source in node.columns]
    return {"table": table.name, "unit": table.unit, "columns": read} | table_facts(table) | owners(table, catalog)


def owners(table: Table, catalog: Catalog) -> dict[str, Any]:
    """What is declared of the tables through which a table's rows are owned, from it onwards; nothing where none is."""
    found, tables = list[dict[str, Any]](), {one.name: one for one in catalog.tables}
    while table.through is not None:
        table = tables[table.through.table]
        found.append({"table": table.name, "unit": table.unit} | table_facts(table))
    return {"owners": found} if found else {}


def facts_of_batch(each: Sequence[str]) -> str:
    """What stands for the facts of several questions asked as one, from the digests of each one's."""
    return content_digest({"batch": list(each)})


def columns_of(plan: Plan) -> set[int]:
    """The numbers of the columns that a plan reads of its rows, of a stored table the unit's among them."""
    grouped = plan.source.source
    rows = grouped.source
    read = [key.part for key in grouped.columns] + [one.part for one in measured_of(plan)]
    found = set().union(*(fields(part) for part in read))
    if isinstance(rows, Where):
        found |= fields(rows.predicate)
        rows = rows.source
    return found | {rows.unit_index} if isinstance(rows, Rows) and rows.unit_index is not None else found
