"""What a plan's rows are read from, in DuckDB's SQL: a stored table, or the text of a relation, a subquery a node.

Columns are x0, x1, ... at every node, as everywhere (`rows.py`). Why it is right: each text says what
`plan/core_relations.py` says, in joins that match a row at most once, so that a result never has more rows than the
left side (but for the fan-out of a public table), and in aggregates that are functions of bags. No text depends on an
order that is not total, and none can raise on a row. Checked in tests/laws/test_heart_relations.py.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from dpcurator.engines.duckdb import rows
from dpcurator.engines.duckdb.levels import TYPES, Levels, Parameters
from dpcurator.language.rows import Predicate
from dpcurator.plan.core import Scan
from dpcurator.plan.core_relations import CoreRelation, Flag, Only, Source, Stored, columns_of

Names = Callable[[str], str]  # what to read a stored table from


def scan_text(scan: Scan, stored: Names, parameters: Parameters) -> str:
    if isinstance(scan.table, str):
        return _stored(scan.table, scan.columns, stored, parameters)
    columns = [f"x{source.name.removeprefix('c')} AS x{index}" for index, source in enumerate(scan.columns)]
    return f"SELECT {', '.join(columns) or '0 AS nothing'} FROM ({relation_text(scan.table, stored, parameters)})"


def _stored(table: str, sources: Sequence[Source], stored: Names, parameters: Parameters) -> str:
    columns = [f"{_canonical(source, parameters)} AS x{index}" for index, source in enumerate(sources)]
    return f"SELECT {', '.join(columns) or '0 AS nothing'} FROM {stored(table)}"


def _canonical(source: Source, parameters: Parameters) -> str:
    text = f"TRY_CAST({source.name} AS {TYPES[source.kind]})"
    if source.kind == "float":  # -0.0 needs nothing: it equals 0.0 here in every comparison, join and group
        text = f"CASE WHEN isnan({text}) THEN NULL ELSE {text} END"
    elif source.kind == "text":  # strlen counts bytes and costs nothing
        most = source.letters
        text = f"CASE WHEN strlen({text}) <= {most:d} OR length({text}) <= {most:d} THEN {text} END"
    return text if source.fill is None else f"coalesce({text}, {parameters.constant(source.fill, source.kind)})"


def filtered(predicate: Predicate, source: str, columns: str, parameters: Parameters) -> list[tuple[str, str]]:
    """The rows for which it is true, with these columns, as steps of which the last is named `filtered`."""
    levels = Levels(parameters)
    condition = rows.truth(predicate, levels)
    source, more = levels.expressions(source, "f", [condition])
    if more:  # unnest of an empty list drops a row, and no optimiser pushes it down into the levels
        kept = f"unnest(CASE WHEN {condition.text} THEN [1] ELSE [] END) AS kept"
        return [*more, ("filtered", f"SELECT {columns}, {kept} FROM {source}")]
    return [("filtered", f"SELECT {columns} FROM {source} WHERE {condition.text}")]


def relation_text(node: CoreRelation, stored: Names, parameters: Parameters) -> str:
    """A query whose columns are x0, x1, ..."""
    match node:
        case Stored(table, sources, unit):
            inner = _stored(table, sources, stored, parameters)
            return f"SELECT * FROM ({inner}) WHERE x{unit} IS NOT NULL"
        case Only(source, predicate):
            steps = [("below", relation_text(source, stored, parameters))]
            steps += filtered(predicate, "below", _all(node), parameters)
            return f"{_with(steps)} SELECT {_all(node)} FROM filtered"
        case Flag(source, unit, among, among_unit):
            left, right = (relation_text(one, stored, parameters) for one in (source, among))
            cohort = f"SELECT DISTINCT x{among_unit} AS w FROM ({right})"
            mark = f"CASE WHEN w IS NULL THEN 0::BIGINT ELSE 1::BIGINT END AS x{len(columns_of(source))}"
            return f"SELECT left_.*, {mark} FROM ({left}) AS left_ LEFT JOIN ({cohort}) ON x{unit} = w"


def _all(node: CoreRelation) -> str:
    return ", ".join(f"x{index}" for index in range(len(columns_of(node))))


def _with(steps: Sequence[tuple[str, str]]) -> str:
    return f"WITH {', '.join(f'{name} AS ({text})' for name, text in steps)}"
