"""Several (merged) core plans as one DuckDB statement.

Each plan is a branch of a union, tagged with its number; keys and sums come out as texts. Plans that differ in their
conditions alone begin from one common table of groups (`duckdb_shared`); others read what they need of the stored table
by themselves, since a table's columns are faster read again than kept. Relations that differ in their columns alone are
made one, and what several of them group by the unit is grouped once and kept: that holds no more than the grouping does
anyway, where a join's rows could be too many to keep. Checked in tests/engines/test_together.py.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from dpcurator.engines import allowance
from dpcurator.engines.duckdb.levels import Parameters
from dpcurator.engines.duckdb.relations import relation_text
from dpcurator.engines.duckdb.shared import MOST, can_share, shared
from dpcurator.engines.duckdb.sql import Query, query
from dpcurator.engines.limits import check_core
from dpcurator.errors import Refusal
from dpcurator.plan.core import CorePlan, Scan
from dpcurator.plan.core_relations import CoreRelation, Groups, below, columns_of, walk
from dpcurator.plan.merge import kindred
from dpcurator.plan.united import Places, united
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


def over_one_relation(cores: Sequence[CorePlan]) -> tuple[CorePlan, ...]:
    """The plans with relations that differ in their columns alone made one, where an engine may run that."""
    found: list[tuple[CoreRelation, dict[int, Places]]] = []  # a relation, and the places of each plan's columns
    for number, core in enumerate(cores):
        table = _relation(core)
        if table is None:
            continue
        for place, (known, members) in enumerate(found):
            both = united(known, table)
            if both is not None:
                moved = {one: {index: both[1][to] for index, to in places.items()} for one, places in members.items()}
                found[place] = (both[0], moved | {number: both[2]})
                break
        else:
            found.append((table, {number: {index: index for index in range(len(columns_of(table)))}}))
    made = list(cores)
    for relation, members in found:
        ours = {number: _over(cores[number], relation, places) for number, places in members.items()}
        if all(map(_runs, ours.values())):
            for number, core in ours.items():
                made[number] = core
    return tuple(made)


def _relation(core: CorePlan) -> CoreRelation | None:
    scan = core[0]
    return None if not isinstance(scan, Scan) or isinstance(scan.table, str) else scan.table


def _over(core: CorePlan, relation: CoreRelation, places: Places) -> CorePlan:
    scan = core[0]
    assert isinstance(scan, Scan)
    columns = [replace(one, name=f"c{places[int(one.name.removeprefix('c'))]}") for one in scan.columns]
    return (Scan(relation, tuple(columns)), *core[1:])


def _runs(core: CorePlan) -> bool:
    try:
        check_core(core)
    except Refusal:
        return False
    return True


def grouped_more_than_once(cores: Sequence[CorePlan]) -> list[Groups]:
    """What is grouped in several places of these plans' relations, the inner ones first."""
    seen: set[CoreRelation] = set()
    found: list[Groups] = []
    left = [table for core in reversed(cores) if (table := _relation(core)) is not None]
    while left:
        node = left.pop()
        if isinstance(node, Groups) and node in seen:
            found += [] if node in found else [node]
            continue
        seen.add(node)
        left += reversed(below(node))
    return sorted(found, key=lambda node: len(list(walk(node))))


def together(cores: Sequence[CorePlan], *, schema: str = "snapshot.main") -> Together:
    """One statement for these (merged) core plans. Raises Refusal where `check_core` does."""
    parameters, common = Parameters(), list[str]()
    branches: dict[int, Query] = {}
    given: dict[CoreRelation, str] = {}

    def stored(table: str) -> str:
        return f"{schema}.{table}"

    for node in grouped_more_than_once(cores):
        text = relation_text(node, stored, parameters, given)
        given[node] = f"related_{len(given)}"
        common.append(f"{given[node]} AS MATERIALIZED ({text})")
    for kin in kindred(cores, MOST):
        alike = [core for _, core in kin]
        if can_share(alike):
            name = f"grouped_{len(common)}"
            text, found = shared(alike, name, parameters, stored, given)
            common.append(f"{name} AS MATERIALIZED ({text})")
            branches |= {number: one for (number, _), one in zip(kin, found, strict=True)}
        else:
            for number, _ in kin:
                branches[number] = query(cores[number], parameters, stored, given)
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
