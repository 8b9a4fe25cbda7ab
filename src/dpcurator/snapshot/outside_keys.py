"""Values of a column with keys that are none of them: counted, and the most frequent shown, for the steward alone.

A key that is padded, in other letters or in another Unicode form than the data has it gives a group of 0, and nothing
about the file is wrong. Checked in tests/snapshot/test_refresh.py.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping
from datetime import UTC, date, datetime, timedelta
from typing import Final

from dpcurator.catalog.declaration import Declaration
from dpcurator.catalog.model import Column, Table, Value
from dpcurator.catalog.problems import text
from dpcurator.catalog.spelling import EPOCH
from dpcurator.snapshot.report import SHOWN, OutsideKeys
from dpcurator.snapshot.rewriting import Tables

_LOOKED_AT: Final = 1_000  # distinct values, the most frequent first, that are compared with the keys
_LONGEST: Final = 60  # letters shown of one

Keyed = list[tuple[int, Column, tuple[Value, ...]]]  # position, column, its keys


def keyed(table: Table, declaration: Declaration, public: Mapping[tuple[str, str], tuple[Value, ...]]) -> Keyed:
    """The columns of a table that have keys, listed or of a public table."""
    taken = {
        wanted.column: public[wanted.public_table, wanted.public_column]
        for wanted in declaration.public_keys
        if wanted.table == table.name
    }
    listed = [(j, column, taken.get(column.name, column.keys)) for j, column in enumerate(table.columns)]
    return [(j, column, keys) for j, column, keys in listed if keys is not None]


def outside_keys(connection: Tables, i: int, columns: Keyed) -> dict[str, OutsideKeys]:
    """For each column with such values, what they are. Missing values are not counted."""
    found: dict[str, OutsideKeys] = {}
    for j, column, keys in columns:
        listed = [key for key in keys if key is not None]
        rows = connection.execute(
            f"SELECT c{j}, COUNT(*), SUM(COUNT(*)) OVER () FROM t{i} WHERE c{j} IS NOT NULL AND c{j} NOT IN "
            f"(SELECT unnest(CAST(? AS {SQL[column.kind]}[]))) GROUP BY c{j} ORDER BY 2 DESC, 1 LIMIT {_LOOKED_AT}",
            [listed],
        ).fetchall()
        if rows:
            meant = {_folded(key): key for key in reversed(listed) if isinstance(key, str)}
            told = [(value, int(n), meant.get(_folded(value)) if meant else None) for value, n, _ in rows]
            told.sort(key=lambda one: one[2] is None)  # the misspelled first, each by frequency
            first = tuple((_shown(v, column), n, None if k is None else _shown(k, column)) for v, n, k in told[:SHOWN])
            found[column.name] = OutsideKeys(int(rows[0][2]), first)
    return found


SQL: Final = {"integer": "BIGINT", "float": "DOUBLE", "text": "VARCHAR"}


def _folded(value: object) -> str:
    return " ".join(unicodedata.normalize("NFKC", str(value)).casefold().split())


def _shown(value: Value, column: Column) -> str:
    """A physical value as the catalog spells it."""
    if isinstance(value, str):
        return text(value if len(value) <= _LONGEST else value[:_LONGEST] + "...")
    if column.type == "date" and isinstance(value, int):
        return date.fromordinal(value + EPOCH).isoformat()
    if column.type == "timestamp" and isinstance(value, int):
        return (datetime(1970, 1, 1, tzinfo=UTC) + timedelta(microseconds=value)).isoformat()
    return str(value)
