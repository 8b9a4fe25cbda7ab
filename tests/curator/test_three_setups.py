"""One catalog in three set-ups: files with a ledger beside them, a server that has both, and Spark with that server's
ledger. The same questions at a price so high that no noise is left give the same integers, those of a plain count."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import duckdb
import pytest
from postgres_server import PostgresServer
from spark_session import spark_or_skip

from dpcurator.catalog.load import load
from dpcurator.curator.opening import curator_of, refresh_all
from dpcurator.errors import Misconfigured

CATALOG = """
[curator]
protects = "patients"
{engine}

[ledger]
epsilon = 1000000000000
{store}

[tables.visits]
unit = "who"
max_total = 20
max_groups = 20
{source}
[tables.visits.columns]
who = "text"
city = {{ type = "text", keys = ["Leeds", "York", "Hull"] }}
age = {{ type = "integer", bounds = [0, 110] }}
cost = {{ type = "float", bounds = [0, 64] }}
"""
STORE = 'store = {{ postgres = "env:LEDGER_DSN", schema = "{0}" }}'
SETUPS = {
    "files": ("", "", 'file = "visits.parquet"'),
    "server": ("", STORE.format("server"), 'postgres = { dsn = "env:CLINIC_DSN", table = "visits" }'),
    "spark": ('engine = "spark"\nspark = { master = "env:SPARK_AT or local[2]", partitions = 3 }',
              STORE.format("spark"), 'file = "visits.parquet"'),
}
QUESTIONS = (
    "SELECT city, COUNT(*) AS n, SUM(age) AS total FROM visits GROUP BY city",
    "SELECT COUNT(*) AS n, COUNT(DISTINCT who) AS people FROM visits WHERE age >= 50 AND NOT city = 'Hull'",
    "SELECT SUM(CASE WHEN cost > 32 THEN 1 ELSE 0 END) AS dear, SUM(CLIP(age, 18, 65)) AS years FROM visits",
    "WITH each AS (SELECT who, SUM(age) AS s FROM visits GROUP BY who) SELECT SUM(CLIP(s, 0, 500)) AS s FROM each",
)
ROWS = [(f"p{i % 37:02}", ("Leeds", "York", "Hull")[i % 3], (i * 7) % 111, float(i % 64)) for i in range(400)]


@pytest.fixture
def clinic(postgres: PostgresServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[PostgresServer]:
    """The rows on a server, and in a Parquet file of each set-up."""
    for name in [name for name in os.environ if name.startswith("PG")]:
        monkeypatch.delenv(name)
    postgres.run("CREATE DATABASE three")
    values = ", ".join(f"('{who}', '{city}', {age}, {cost})" for who, city, age, cost in ROWS)
    postgres.run("CREATE TABLE visits (who text, city text, age int, cost float8)",
                 f"INSERT INTO visits VALUES {values}", database="three")
    postgres.durable()
    monkeypatch.setenv("CLINIC_DSN", postgres.dsn("three"))
    monkeypatch.setenv("LEDGER_DSN", postgres.dsn("three"))
    for name in SETUPS:
        (tmp_path / name).mkdir()
        duckdb.sql(f"SELECT * FROM (VALUES {values}) AS t(who, city, age, cost)").write_parquet(
            str(tmp_path / name / "visits.parquet"))
    yield postgres
    postgres.durable(False)
    postgres.run("DROP DATABASE three WITH (FORCE)")


@pytest.mark.slow
def test_the_same_questions_have_the_same_integers_in_three_setups(clinic: PostgresServer, tmp_path: Path) -> None:
    spark_or_skip()
    answers: dict[str, list[Any]] = {}
    for name, (engine, store, source) in SETUPS.items():
        declaration = load(CATALOG.format(engine=engine, store=store, source=source), directory=tmp_path / name)
        assert refresh_all(declaration).clean
        curator = curator_of(declaration)
        found = [curator.ask(question, spend="1%") for question in QUESTIONS]
        answers[name] = [sorted(answer.rows) for answer in found]
        assert sum(entry.event.NAME == "charged" for entry in curator.log()) == len(QUESTIONS)
    assert answers["server"] == answers["files"]
    assert answers["spark"] == answers["files"]
    counts = Counter(city for _, city, _, _ in ROWS)
    totals = {key: sum(age for _, city, age, _ in ROWS if city == key) for key in counts}
    assert answers["spark"][0] == sorted((key, counts[key], totals[key]) for key in counts)


@pytest.mark.slow
def test_a_master_that_is_away_is_told_and_nothing_is_charged(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, clinic: PostgresServer
) -> None:
    spark_or_skip()
    engine, _, source = SETUPS["spark"]
    declaration = load(CATALOG.format(engine=engine, store="", source=source), directory=tmp_path / "spark")
    refresh_all(declaration)
    monkeypatch.setenv("SPARK_AT", "sc://localhost:1/;token=secret")
    curator = curator_of(declaration)
    with pytest.raises(Misconfigured) as found:
        curator.ask(QUESTIONS[0], spend="1%")
    assert "secret" not in str(found.value)
    assert found.value.cure
    assert not any(entry.event.NAME == "charged" for entry in curator.log())
    monkeypatch.delenv("SPARK_AT")
    before = curator_of(declaration)
    assert before.ask(QUESTIONS[0], spend="1%").rows
