"""Several (merged) core plans as one DuckDB statement.

Each plan is a branch of a union, tagged with its number; keys and sums come out as texts. Plans that differ in their
conditions alone begin from one common table of groups (`duckdb_shared`); others read what they need of the stored table
by themselves, since a table's columns are faster read again than kept. Checked in tests/engines/test_together.py.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from dpcurator.engines import allowance
from dpcurator.engines.duckdb.levels import Parameters
from dpcurator.engines.duckdb.shared import MOST, can_share, shared
from dpcurator.engines.duckdb.sql import Query, query
from dpcurator.plan.core import CorePlan
from dpcurator.plan.merge import kindred
from dpcurator.values import Exact


@dataclass(frozen=True, slots=True)
class Together:
    """The statement for several core plans: rows (branch, key values as texts, sums as texts, NULL); tallies have no
    key, and rows of a histogram have its number last, and what lies where, one text, for sums."""

    sql: str
    parameters: list[Any]
    branches: tuple[Query, ...]

    def exact(self, rows: Sequence[tuple[int, list[Any] | None, list[str], int | None]]) -> tuple[Exact, ...]:
        """Each branch's totals, under seal."""
        of: list[list[tuple[list[Any] | None, list[str], int | None]]] = [[] for _ in self.branches]
        for number, key, sums, histogram in rows:
            of[number].append((key, sums, histogram))
        return tuple(branch.exact(mine) for branch, mine in zip(self.branches, of, strict=True))


def in_turns(cores: Sequence[CorePlan]) -> list[list[CorePlan]]:
    """The plans, in order, in as few statements as the allowance holds: their rows in flight are counted together."""
    turns: list[list[CorePlan]] = []
    for core in cores:
        if turns and allowance.fits(allowance.need_of([*turns[-1], core])):
            turns[-1].append(core)
        else:
            turns.append([core])
    return turns


def together(cores: Sequence[CorePlan], *, schema: str = "snapshot.main") -> Together:
    """One statement for these (merged) core plans. Raises Refusal where `check_core` does."""
    parameters, common = Parameters(), list[str]()
    branches: dict[int, Query] = {}
    for kin in kindred(cores, MOST):
        alike = [core for _, core in kin]
        if can_share(alike):
            name = f"grouped_{len(common)}"
            text, found = shared(alike, name, parameters, lambda table: f"{schema}.{table}")
            common.append(f"{name} AS MATERIALIZED ({text})")
            branches |= {number: one for (number, _), one in zip(kin, found, strict=True)}
        else:
            for number, _ in kin:
                branches[number] = query(cores[number], parameters, lambda table: f"{schema}.{table}")
    ordered = tuple(branches[number] for number in range(len(cores)))
    parts = [_branch(number, one) for number, one in enumerate(ordered)]
    head = f"WITH {', '.join(common)}\n" if common else ""
    return Together(head + "\nUNION ALL\n".join(parts), parameters.values, ordered)


def _branch(number: int, one: Query) -> str:
    """A plan's totals and tallies, as texts."""
    key = ", ".join(f"CAST({name} AS VARCHAR)" for name in one.key)
    sums, counts = (
        ", ".join(f"CAST({letter}{index} AS VARCHAR)" for index in range(size))
        for letter, size in (("t", one.sums), ("n", one.tallies))
    )
    text = f"SELECT {number} AS branch, [{key}] AS key, [{sums}] AS sums, NULL::INTEGER AS lies FROM totals"
    if one.tallies:
        text += f" UNION ALL SELECT {number}, NULL, [{counts}], NULL FROM counted"
    for histogram in range(one.histograms):
        text += f" UNION ALL SELECT {number}, [{key}], [lies], {histogram} FROM lying{histogram}"
    return f"SELECT * FROM (WITH {one.steps}\n{text})"
