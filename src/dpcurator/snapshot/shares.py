"""What caps and bounds would leave out, counted on all rows for the steward alone: units over the catalog's caps, rows
that then do not count, values beyond the bounds of their column.

A cap binds per question, so it is told of a question without GROUP BY and of GROUP BY each column with listed keys, by
itself: a unit with more than max_rows rows in a group, in more than max_groups groups or with more than max_total rows
in all is weighted down (semantics 2.5). The counts are private, and doubles are good enough for shares. Checked in
tests/snapshot/test_shares.py.
"""

from __future__ import annotations

import math

from dpcurator.catalog.model import EACH_ROW, Table
from dpcurator.snapshot.codes import code_of
from dpcurator.snapshot.outside_keys import SQL, Keyed
from dpcurator.snapshot.report import Beyond, Over
from dpcurator.snapshot.rewriting import Tables
from dpcurator.snapshot.spark_tables import SparkTables


def beyond_bounds(connection: Tables, i: int, table: Table) -> dict[str, Beyond]:
    """For each column with bounds and values beyond them, how many are below and above, and how many there are."""
    bounded = [(j, column) for j, column in enumerate(table.columns) if column.lower is not None]
    if not bounded:
        return {}
    counts, ends = [], []
    for j, column in bounded:
        assert column.lower is not None
        assert column.upper is not None
        value, read = f"c{j}", float if column.kind == "float" else int
        low, high = (math.ceil(column.lower), math.floor(column.upper)) if read is int else (column.lower, column.upper)
        counts.append(f"COUNT(*) FILTER (WHERE {value} < ?), COUNT(*) FILTER (WHERE {value} > ?), COUNT({value})")
        ends += [read(low), read(high)]
    [found] = connection.execute(f"SELECT {', '.join(counts)} FROM t{i}", ends).fetchall()
    told = {column.name: Beyond(*found[3 * n : 3 * n + 3]) for n, (_, column) in enumerate(bounded)}
    return {name: one for name, one in told.items() if one.below or one.above}


def over_caps(connection: Tables, i: int, table: Table, columns: Keyed) -> dict[str, Over]:
    """By column with listed keys, and "" for no GROUP BY: who is over the catalog's caps, where anyone is."""
    if table.unit == EACH_ROW or (table.max_total is None and table.max_rows is None):
        return {}
    own = next(j for j, column in enumerate(table.columns) if column.name == table.unit)
    unit = f"c{own}" if isinstance(connection, SparkTables) else code_of(table) or f"c{own}"
    found = {"": _over(connection, i, unit, table, "", "TRUE", [])}
    for j, column, keys in columns:
        listed = [key for key in keys if key is not None]
        rows = f"(c{j} IN (SELECT unnest(CAST(? AS {SQL[column.kind]}[])))" + (
            f" OR c{j} IS NULL)" if None in keys else ")"
        )
        found[column.name] = _over(connection, i, unit, table, f", c{j}", rows, [listed])
    return {name: one for name, one in found.items() if one.units}


def _over(
    connection: Tables, i: int, unit: str, table: Table, key: str, rows: str, values: list[object]
) -> Over:
    most = table.max_rows if table.max_rows is not None else table.max_total
    groups, total, bounded, once_more = ("COUNT(*)", "SUM(n)", f"SUM(LEAST(n, {most}))", "GROUP BY unit") if key else \
        ("1", "n", f"LEAST(n, {most})", "")  # of a unit, which without a key is in `each` once
    factor = ["1e0", "1e0"]  # one engine takes the least of two or more
    factor += [f"{table.max_groups}e0 / {groups}"] if table.max_groups is not None else []
    factor += [f"{table.max_total}e0 / {bounded}"] if table.max_total is not None else []
    [told] = connection.execute(
        f"WITH each AS (SELECT {unit} AS unit, COUNT(*) AS n FROM t{i} WHERE {unit} IS NOT NULL AND {rows} "
        f"GROUP BY {unit}{key}), units AS (SELECT {total} AS n, {bounded} * LEAST({', '.join(factor)}) "
        f"AS w FROM each {once_more}) SELECT COUNT(*) FILTER (WHERE w < n - 1e-9 * n), COUNT(*), "
        "COALESCE(SUM(n - w), 0), COALESCE(SUM(n), 0) FROM units", values,
    ).fetchall()
    return Over(int(told[0]), int(told[1]), float(told[2]) / max(1, int(told[3])))
