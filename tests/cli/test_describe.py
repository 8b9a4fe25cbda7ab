"""`dpcurator describe`: what it prints, its other forms, and the batch of the same questions from a file."""

from __future__ import annotations

import pytest
from shell import CLINIC, run

from dpcurator.catalog.load import load
from dpcurator.curator.opening import refresh_all


@pytest.fixture
def catalog(tmp_path) -> str:
    (tmp_path / "curator.toml").write_text(CLINIC)
    rows = [f"p{n},Leeds,{n % 90}" for n in range(400) for _ in range(1 + n % 3)]
    (tmp_path / "visits.csv").write_text("\n".join(["patient_id,city,age", *rows]))
    refresh_all(load(tmp_path / "curator.toml"))
    return str(tmp_path / "curator.toml")


@pytest.mark.slow
def test_it_prints_tables_and_is_the_batch_that_it_prints(capsys, catalog, tmp_path):
    ran = run(capsys, "describe", "visits", "--spend", "10%", "--no-cut", "--catalog", catalog)
    assert ran.code == 0, ran.err
    assert "column" in ran.out
    assert "spent 0.1 of 1 " in ran.out
    sql = run(capsys, "describe", "visits", "--sql", "--catalog", catalog).out
    file = tmp_path / "q.sql"
    file.write_text(sql)
    shares = sql.split("--shares ")[1].split()[0]
    words = ["ask", "--file", str(file), "--shares", shares, "--spend", "10%", "--no-cut", "--catalog", catalog]
    assert "a repeat: nothing was spent" in run(capsys, *words).out
    again = run(capsys, "describe", "visits", "--spend", "10%", "--no-cut", "--catalog", catalog, "--json").json
    assert again["answers"][0]["repeated"]
    assert {one["column"] for one in again["columns"]} == {"city", "age"}


def test_it_is_rehearsed_from_the_catalog_alone(capsys, tmp_path):
    (tmp_path / "curator.toml").write_text(CLINIC)
    ran = run(capsys, "describe", "visits", "--rehearse", "--catalog", str(tmp_path / "curator.toml"))
    assert (ran.code, ran.out.startswith("MADE UP")) == (0, True)


@pytest.mark.parametrize(("words", "told"), [
    (["describe", "visits"], "--spend 10%"), (["describe", "visit", "--spend", "1%"], "no table"),
    (["describe", "visits", "--rehearse", "--fresh"], "Leave out --fresh"),
    (["ask", "SELECT COUNT(*) FROM visits", "--spend", "1%", "--shares", "1"], "--file"),
])
def test_what_cannot_be_is_refused_with_the_way_out(capsys, catalog, words, told):
    ran = run(capsys, *words, "--catalog", catalog)
    assert (ran.code, ran.out) == (2, "")
    assert told in ran.err
