"""Whether the public facts a plan carries are the catalog's: what sensitivity rests on, looked up again.

A plan may come from elsewhere (a receipt, a quote built by hand). Bounds, caps, units and keys that it claims must be
those declared, or the noise it asks for would be too small. Checked in tests/test_curator.py and tests/test_verify.py.
"""

from __future__ import annotations

import hashlib
import json
from fractions import Fraction

from dpcurator.catalog.model import EACH_ROW, Catalog
from dpcurator.plan.nodes import Plan, Where


def disagreement(plan: Plan, catalog: Catalog) -> str | None:
    """The first public fact of the plan that the catalog does not declare, in words; None when there is none."""
    source = plan.source.source.source
    rows = source.source if isinstance(source, Where) else source
    table = next((table for table in catalog.tables if table.name == rows.table), None)
    if table is None or not table.private:
        return "the catalog has no such private table"
    names = [column.name for column in table.columns]
    at = None if rows.unit is None or rows.unit not in names else names.index(rows.unit)
    if (EACH_ROW if rows.unit is None else rows.unit) != table.unit or rows.unit_index != at:
        return "the unit is not the catalog's"
    caps = (1, 1) if rows.unit is None else (table.max_rows, table.max_groups or plan.source.max_groups)
    if (plan.source.max_rows, plan.source.max_groups) != caps:
        return "max_rows or max_groups is not the catalog's"
    if plan.source.source.columns and rows.unit is not None and table.max_groups is None:
        return "the catalog declares no max_groups"
    for measured in (call.column for call in plan.calls if call.column is not None):
        column = table.columns[measured.index]
        bounds = (Fraction(0), Fraction(1)) if column.type == "boolean" else (column.lower, column.upper)
        same = (column.name, column.type, column.kind) == (measured.name, measured.type, measured.kind)
        if not same or bounds != (measured.lower, measured.upper):
            return f"{measured.name!r} is declared otherwise"
    for key in plan.source.source.columns:
        column = table.columns[key.index]
        text = json.dumps(column.keys, separators=(",", ":"), ensure_ascii=True)
        held = (column.name, column.type, len(column.keys or ()), hashlib.sha256(text.encode()).hexdigest())
        if column.keys is None or (key.name, key.type, key.count, key.digest) != held:
            return f"{key.name!r} has other keys"
    return None
