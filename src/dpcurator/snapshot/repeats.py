"""Tables with `distinct` or `one_row_per`: of a unit's rows with equal values there, the canonically first one stays.

Canonically: by all columns in the catalog's order, missing before present, numbers by value, texts by code point. With
`distinct`, rows that miss a value there are not known to repeat one another, and stay; with `one_row_per` a missing
value is a value like any other. Rows without a unit belong to nobody, and stay. Both look at values as `per_unit` has
made them. Which
of a unit's rows stay is a function of that unit's own rows as a multiset (unit-local, semantics 1.5), so neighbours
stay neighbours, and the order of files and rows plays no part. Checked in tests/snapshot/test_repeats.py.
"""

from __future__ import annotations

from collections.abc import Sequence

from dpcurator.catalog.model import Table
from dpcurator.snapshot.rewriting import Tables, keep_first


def without_repeats(connection: Tables, i: int, table: Table) -> int:
    """Take the repeats out of table number i; how many there were."""
    if not table.distinct:
        return 0
    alike = _columns(table, table.distinct)
    return keep_first(connection, i, len(table.columns), alike, alike)


def first_rows(connection: Tables, i: int, table: Table) -> int:
    """Keep of table number i what `one_row_per` says; how many rows are left out."""
    if table.one_row_per is None:
        return 0
    return keep_first(connection, i, len(table.columns), _columns(table, table.one_row_per), _columns(table, ()))


def _columns(table: Table, names: Sequence[str]) -> list[str]:
    """The unit's column and these."""
    position = {column.name: j for j, column in enumerate(table.columns)}
    return [f"c{position[name]}" for name in (table.unit, *names) if name is not None]
