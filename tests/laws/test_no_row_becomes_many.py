"""No relation has more rows than its left side, however many rows a unit has on both sides: a row becomes several only
by a public table, and then at most as many as its public facts say. UNION ALL has the rows of both sides.

Each node of each question's relation is counted, on the reference and on DuckDB, over worlds in which one unit has
hundreds of rows in every table. So no question that is accepted can be made slow by what somebody's rows are.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

import heart_relations as relations
import pytest

from dpcurator.engines import reference_relations
from dpcurator.engines.duckdb import relations as written
from dpcurator.engines.duckdb.engine import DuckDB
from dpcurator.engines.duckdb.levels import Parameters
from dpcurator.plan.core import Scan
from dpcurator.plan.core_relations import Both, Columns, CoreRelation, Flag, Found, Match, Ranked, Stored, below, walk

TIMES = 30  # as often the first unit's rows stand in each private table


def crowded(seed: int) -> relations.World:
    made = relations.world(seed, units=4)
    first = made.swaps[0][0]
    tables = {name: rows if name == "places" else rows + tuple(row for row in rows if row[0] == first) * (TIMES - 1)
              for name, rows in made.tables.items()}
    return replace(made, tables=tables, swaps=())


def allowed(node: CoreRelation, sizes: Mapping[CoreRelation, int], places: str) -> tuple[int, int]:
    """The least and the most rows a node may have, by those of the relations directly below it."""
    sides = [sizes[one] for one in below(node)]
    match node:
        case Both():
            return sum(sides), sum(sides)
        case Match(other=other, left=left) if {one.table for one in walk(other) if isinstance(one, Stored)} == {places}:
            return sides[0] if left else 0, sides[0] * len(relations.PLACES)
        case Match(left=True) | Columns() | Flag() | Found() | Ranked():
            return sides[0], sides[0]
    return 0, sides[0]


def counted(seeds: Iterator[int], wanted: int) -> list[tuple[int, str, CoreRelation, int, tuple[int, int]]]:
    """What breaks the law in so many nodes above stored tables."""
    wrong: list[Any] = []
    done = 0
    while done < wanted:
        made = crowded(next(seeds))
        stored, engine = made.stored(made.tables), DuckDB.from_tables(made.stored(made.tables), made.kinds)
        places = f"t{[table.name for table in made.catalog.tables].index('places')}"
        for text, quote in relations.questions(made, 10):
            scan = quote.lowered.core[0]
            assert isinstance(scan, Scan)
            nodes = [] if isinstance(scan.table, str) else list(dict.fromkeys(walk(scan.table)))
            sizes = {node: len(reference_relations.relation(node, stored)) for node in nodes}
            assert sizes == {node: rows_of(engine, node) for node in nodes}, (made.seed, text)
            for node in nodes:
                if not isinstance(node, Stored):
                    least, most = allowed(node, sizes, places)
                    if not least <= sizes[node] <= most:
                        wrong.append((made.seed, text, node, sizes[node], (least, most)))
                    done += 1
    return wrong


def rows_of(engine: DuckDB, node: CoreRelation) -> int:
    parameters = Parameters()
    text = written.relation_text(node, lambda table: f"snapshot.main.{table}", parameters)
    [(number,)] = engine._fetched(f"SELECT count(*) FROM ({text})", parameters.values)
    return int(number)


def test_no_relation_has_more_rows_than_its_left_side():
    assert counted(iter(range(100)), 15) == []


@pytest.mark.slow
@pytest.mark.parametrize("start", [1_000, 2_000])
def test_no_relation_has_more_rows_than_its_left_side_at_length(start):
    assert counted(iter(range(start, start + 1_000)), 1_500) == []


def test_a_join_that_multiplies_rows_is_found(monkeypatch):
    """Weakened: each row meets every row of its unit on the other side, as a join of two tables would."""
    honest = reference_relations._match
    text = written.relation_text

    def weakened(node: Any, rows: Any, others: Any, width: int) -> Any:
        return honest(node, rows, [*others, *others], width)

    def doubled(node: Any, *how: Any) -> str:
        if not isinstance(node, Match):
            return text(node, *how)
        other = Both(node.other, node.other)
        return text(replace(node, other=other), *how)

    monkeypatch.setattr(reference_relations, "_match", weakened)
    monkeypatch.setattr(written, "relation_text", doubled)
    assert counted(iter(range(100)), 40)
