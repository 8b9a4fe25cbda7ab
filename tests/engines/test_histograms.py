"""What lies at each candidate is the same on DuckDB as in the reference, whichever rows are looked up again.

The table has what each way through the query needs: units that no cap scales down, whose rows count whole; bound ones
whose values differ, also by more than 64 candidates; and bound ones with several rows at one candidate, where flooring
each row by itself would lose.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest

from dpcurator.engines.duckdb.engine import DuckDB
from dpcurator.engines.reference import Reference
from dpcurator.plan.core import (
    ONE,
    Chosen,
    CorePlan,
    Grid,
    Histogram,
    Listed,
    Measure,
    Owner,
    PerUnit,
    ScaleDown,
    Scan,
    Source,
    Sum,
    Tally,
    Total,
)
from dpcurator.values import Exact

KINDS = {"c0": "integer", "c1": "text", "c2": "integer", "c3": "float"}
LISTED = Listed((1,), (("a",), (None,), ("b",), ("c",)))
ROWS: list[tuple[int | None, str | None, int | None, float | None]] = [
    *((1, key, 7, .5) for key in ("a", "b", None)),  # one row in each of three keys
    *((2, "a", value, 2.0) for value in (0, 64, 128, 3, 67)),  # alike in their lowest bits, and no two the same
    *((3, "a", value, None) for value in (5, 5, 5, 6, 6, None, 9)),  # several together, and one missing
    *((3, "b", 199, value) for value in (0.0, .25, .25, 7.9, 1e300)),
    *((4, key, number * 13 % 201 - 1, number / 8) for key in ("b", "c", "elsewhere") for number in range(70)),
    *((5, "b", None, None) for _ in range(3)),
    *((6, "c", value, 1.0) for value in (110, 110, 111)),
    *((None, "b", 5, 1.0) for _ in range(2)),
]
TABLES = {"t0": {name: [row[place] for row in ROWS] for place, name in enumerate(KINDS)}}


def plan(caps: tuple[int, int, int | None], keys: Listed | Chosen, step: int, owner: int | None = 0) -> CorePlan:
    rows, groups, total = caps
    scan = Scan("t0", tuple(Source(name, kind) for name, kind in KINDS.items()))
    grids = (Grid(2, "integer", 0, 199, 0, 199, 0), Grid(3, "float", 0.0, 8.0, 0, 32, 2))
    tallies = (Tally("everyone"), Tally("cut"))
    return (scan, Owner(owner), keys, Measure(grids), PerUnit(), ScaleDown(rows, groups, ONE, total),
            Total((Sum("units"), Sum("rows")), tallies, (Histogram(0, step), Histogram(1, 1))))


PLANS = [
    *(plan((*caps, None), LISTED, 1) for caps in ((1, 1), (3, 2), (100, 4), (2**20, 2))),
    plan((3, 4, None), LISTED, 64),
    plan((5, 4, 7), LISTED, 3),
    plan((3, 2, None), LISTED, 3, None),
    *(plan((3, 3, None), Chosen((1,), most, "salt"), 2) for most in (1, 3)),
    plan((7, 3, 8), Chosen((1,), 3, "salt"), 1),
]


def parts(exact: Exact) -> tuple[object, ...]:
    totals, lying = exact.open_for_release(), exact.histograms_for_release()
    keys: Sequence[object] = exact.keys_for_release() or range(len(totals))
    each = zip(keys, totals, *lying, strict=True)
    return {key: rest for key, *rest in each}, exact.tallies_for_release()


@pytest.fixture(scope="module")
def duckdb() -> DuckDB:
    return DuckDB.from_tables(TABLES, {"t0": KINDS})  # type: ignore[dict-item]


@pytest.mark.parametrize("core", PLANS, ids=range(len(PLANS)))
def test_both_engines_find_the_same(core, duckdb):
    assert parts(duckdb.evaluate(core)) == parts(Reference.from_tables(TABLES).evaluate(core))


def test_rows_of_one_unit_at_one_candidate_are_floored_together(duckdb):
    """Unit 3 counts one row in key a for six values: three together weigh half a row, and not 3 floor(2**16 / 6)."""
    lying = duckdb.evaluate(plan((1, 4, None), LISTED, 1)).histograms_for_release()[0][0]
    assert lying[6] == 2 * ONE // 6
    assert lying[9] == ONE // 6
    assert lying[5] == 3 * ONE // 6 == 3 * (ONE // 6) + 2


def test_so_many_rows_at_one_candidate_as_matter_are_grouped(duckdb, monkeypatch):
    """Unit 6 counts two rows in key c for three, of which two lie together: floor(2 (2**17 mod 3) / 3) = 1 is not lost.
    With one row fewer taken to lie together it would be."""
    core = plan((2, 4, None), LISTED, 1)
    expected = parts(Reference.from_tables(TABLES).evaluate(core))
    query = duckdb.explain(core)
    fewer = replace(query, sql=query.sql.replace("c - a + 1 <=", "c - a <="))
    assert fewer != query
    assert parts(duckdb.evaluate(core)) == expected
    monkeypatch.setattr(duckdb, "explain", lambda _: fewer)
    assert parts(duckdb.evaluate(core)) != expected
