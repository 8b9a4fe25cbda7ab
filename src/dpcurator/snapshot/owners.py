"""Rows that are owned through another table: each gets the unit of the row there that has its key (semantics 8.9).

A row whose key is missing, is in no row there that somebody owns, or is in rows of several units, is set aside; in
several rows of one unit it is that unit's. So every row that stays has one owner, and neighbours are databases of such
rows. Who owns a row is decided by the other table's rows with its key alone: where the key is one at the source, these
are of one unit, and taking that unit away takes both. Where it is not, one unit's rows could set another's aside, which
the promise does not cover. Keys are compared as they are read: two that cleaning makes one are one.
Checked in tests/snapshot/test_owners.py.
"""

from __future__ import annotations

from collections.abc import Sequence

from dpcurator.catalog.model import Table
from dpcurator.snapshot.report import Ownerless
from dpcurator.snapshot.rewriting import Tables, replace, temporary


def find_owners(connection: Tables, i: int, tables: Sequence[Table]) -> Ownerless | None:
    """Write the unit of each row of table number i, and set aside the rows that have none; how many.

    None where a table says itself whose its rows are."""
    table = tables[i]
    through = table.through
    if through is None:
        return None
    j = [column.name for column in table.columns].index(through.on)
    o = [one.name for one in tables].index(through.table)
    names = [column.name for column in tables[o].columns]
    key, unit = names.index(through.key), names.index(tables[o].unit or "")
    of_each = (f"SELECT c{key} AS k, MIN(c{unit}) AS unit, MIN(c{unit}) <> MAX(c{unit}) AS several "
               f"FROM t{o} WHERE c{key} IS NOT NULL AND c{unit} IS NOT NULL GROUP BY c{key}")
    counted = (f"COUNT(*) FILTER (WHERE c{j} IS NULL), COUNT(*) FILTER (WHERE c{j} IS NOT NULL AND k IS NULL), "
               "COUNT(*) FILTER (WHERE several)")
    own = ", ".join(f"c{n}" for n in range(len(table.columns) - 1))
    with temporary(connection, "owners", of_each):
        [found] = connection.execute(f"SELECT {counted} FROM t{i} LEFT JOIN owners ON c{j} = k").fetchall()
        replace(connection, i, table,
                f"SELECT {own}, unit AS c{len(table.columns) - 1} FROM t{i} JOIN owners ON c{j} = k WHERE NOT several")
    no_key, no_owner, several = map(int, found)
    return Ownerless(through.on, through.table, no_key, no_owner, several)
