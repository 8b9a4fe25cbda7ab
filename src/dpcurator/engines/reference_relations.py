"""Relations of the core plan in plain Python: what `plan/core_relations.py` says, a rule a node, and nothing else.

Slow and obvious. Checked against tables worked by hand in tests/plan/test_bind_relations.py.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from dpcurator.catalog.model import Value
from dpcurator.engines.engine import Tables
from dpcurator.language.evaluate import Row, truth
from dpcurator.plan.core_relations import CoreRelation, Flag, Only, Source, Stored


def stored(table: str, sources: Sequence[Source], tables: Tables) -> list[Row]:
    """The rows of a stored table, read canonically."""
    held = tables[table]
    size = len(next(iter(held.values()), ()))
    columns = [[canonical(source, value) for value in held[source.name]] for source in sources]
    return list(zip(*columns, strict=True)) if columns else [()] * size


def canonical(source: Source, value: Value) -> Value:
    """NaN and a text that is too long are missing, -0.0 is 0.0, then missing becomes the fill."""
    if source.kind == "float" and value is not None:
        assert not isinstance(value, str)
        value = float(value)
        value = None if math.isnan(value) else value + 0.0  # -0.0 + 0.0 is 0.0
    if isinstance(value, str) and len(value) > source.letters:
        value = None
    return source.fill if value is None else value


def relation(node: CoreRelation, tables: Tables) -> list[Row]:
    """The rows of a relation."""
    match node:
        case Stored(table, columns, unit):
            return [row for row in stored(table, columns, tables) if row[unit] is not None]
        case Only(source, predicate):
            return [row for row in relation(source, tables) if truth(predicate, row) is True]
        case Flag(source, _, among):
            return _flag(node, relation(source, tables), relation(among, tables))
    raise AssertionError("unreachable: check_core knows every relation")


def _flag(node: Flag, rows: list[Row], among: list[Row]) -> list[Row]:
    cohort = {row[node.among_unit] for row in among}
    return [(*row, int(row[node.unit] in cohort)) for row in rows]
