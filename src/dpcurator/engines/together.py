"""Several (merged) core plans as one DuckDB statement.

Each stored table is read once into a common table expression, and each merged
plan is a branch of a union, tagged with its number; keys and sums come out as texts. Checked in
tests/engines/test_together.py.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from dpcurator.engines.duckdb_levels import Parameters
from dpcurator.engines.duckdb_sql import Query, query
from dpcurator.plan.core import CorePlan, Scan
from dpcurator.values import Exact


@dataclass(frozen=True, slots=True)
class Together:
    """The statement for several core plans: rows (branch, key values as texts, sums as texts)."""

    sql: str
    parameters: list[Any]
    branches: tuple[Query, ...]

    def exact(self, rows: Sequence[tuple[int, list[Any], list[str]]]) -> tuple[Exact, ...]:
        """Each branch's totals, under seal."""
        of: list[list[tuple[list[Any], list[int]]]] = [[] for _ in self.branches]
        for number, key, sums in rows:
            of[number].append((key, [int(digits) for digits in sums]))
        return tuple(branch.exact(mine) for branch, mine in zip(self.branches, of, strict=True))


def together(cores: Sequence[CorePlan], *, schema: str = "snapshot.main") -> Together:
    """One statement for these (merged) core plans. Raises Refusal where `check_core` does."""
    parameters = Parameters()
    scans = [core[0] for core in cores if isinstance(core[0], Scan)]
    columns: dict[str, list[str]] = {}
    for scan in scans:
        known = columns.setdefault(scan.table, [])
        known += [source.name for source in scan.columns if source.name not in known]
    shared = [
        f"read_{table} AS MATERIALIZED (SELECT {', '.join(names) or '0 AS nothing'} FROM {schema}.{table})"
        for table, names in columns.items()
    ]
    branches = tuple(query(core, parameters, lambda table: f"read_{table}") for core in cores)
    parts = [
        f"SELECT {number} AS branch, [{', '.join(f'CAST({name} AS VARCHAR)' for name in one.key)}] AS key, "
        f"[{', '.join(f'CAST(t{index} AS VARCHAR)' for index in range(one.sums))}] AS sums FROM ({one.sql})"
        for number, one in enumerate(branches)
    ]
    text = "\nUNION ALL\n".join(parts)
    return Together(f"WITH {', '.join(shared)}\n{text}", parameters.values, branches)
