"""`facts_of`: which declared facts a question rests on, as one digest, so that other edits of a catalog leave it paid.

A plan holds the caps, bounds and lists of keys (by digest) that its numbers rest on. What it does not hold, and decides
what its rows mean, is here: who is protected, neighbours and number of units, the budget, the table and its unit, and
of each column that the question reads its name, type, longest text and the value that missing ones are read as; the
salt where keys are chosen by it. Two questions of equal plans and facts, under one data version, read the same rows in
the same way. Bounds and lists of columns are in the plan where they matter: a bound that nothing measured rests on, or
a key list that nothing is grouped by, is no fact that the question uses.

A batch of questions is bound to the facts of each. Receipts made before hold the digest of the whole catalog instead
(docs/decisions/0016). Checked in tests/plan/test_facts.py.
"""

from __future__ import annotations

from collections.abc import Sequence

from dpcurator.catalog.bind import column_facts, content_digest, table_facts
from dpcurator.catalog.model import Catalog
from dpcurator.language.rows import fields
from dpcurator.plan.limits import scanned
from dpcurator.plan.nodes import Plan, Where


def facts_of(plan: Plan, catalog: Catalog) -> str:
    """sha256 of the declared facts that a plan uses beside those it holds itself; hexadecimal.

    Raises LookupError where the catalog has no such table or column: `check_catalog` says so in words.
    """
    table = next((table for table in catalog.tables if table.name == scanned(plan)), None)
    if table is None:
        raise LookupError("the catalog has no such table")
    columns = [column_facts(table.columns[index]) for index in sorted(columns_of(plan))]
    told = {
        "format": "dpcurator facts 1", "protects": catalog.protects, "neighbours": catalog.neighbours,
        "units": catalog.units, "epsilon": str(catalog.epsilon), "rho": str(catalog.rho), "delta": str(catalog.delta),
        "salt": None if plan.source.source.listed else catalog.salt,
        "table": table.name, "unit": table.unit, "columns": columns,
    } | table_facts(table)
    return content_digest(told)


def facts_of_batch(each: Sequence[str]) -> str:
    """What stands for the facts of several questions asked as one, from the digests of each one's."""
    return content_digest({"batch": list(each)})


def columns_of(plan: Plan) -> set[int]:
    """The numbers of the columns that a plan reads, the unit's among them."""
    grouped = plan.source.source
    below = grouped.source
    read = [key.part for key in grouped.columns] + [call.column.part for call in plan.calls if call.column is not None]
    found = set().union(*(fields(part) for part in read))
    rows = below
    if isinstance(below, Where):
        found |= fields(below.predicate)
        rows = below.source
    if isinstance(rows, Where):
        raise LookupError("a plan has one WHERE")
    return found if rows.unit_index is None else found | {rows.unit_index}
