"""`dpcurator caps`: a table of counts, what it suggests, and its other forms."""

from __future__ import annotations

import json

import pytest
from shell import CLINIC, run

from dpcurator.catalog.load import load
from dpcurator.curator.opening import refresh_all
from dpcurator.fronts.sql import parse


@pytest.fixture
def catalog(tmp_path) -> str:
    (tmp_path / "curator.toml").write_text(CLINIC)
    rows = [f"p{n},Leeds,40" for n in range(400) for _ in range(1 + n % 3)]
    (tmp_path / "visits.csv").write_text("\n".join(["patient_id,city,age", *rows]))
    refresh_all(load(tmp_path / "curator.toml"))
    return str(tmp_path / "curator.toml")


def test_it_prints_counts_and_is_free_again(capsys, catalog, tmp_path):
    to = str(tmp_path / "r.json")
    ran = run(capsys, "caps", "visits", "--epsilon", "0.05", "--catalog", catalog, "--receipt", to)
    assert ran.code == 0, ran.err
    assert "more than 100" in ran.out
    assert "spent 0.05" in ran.out
    assert run(capsys, "verify", str(tmp_path / "r.json"), "--catalog", catalog).code == 0
    again = run(capsys, "caps", "visits", "--epsilon", "0.05", "--catalog", catalog, "--json").json
    assert again["answer"]["repeated"] is True
    assert [one["rows"] for one in again["counts"]] == [1, 2, 5, 10, 20, 50, 100, None]


def test_without_a_price_it_is_a_menu_and_its_sql_can_be_asked(capsys, catalog):
    ran = run(capsys, "caps", "visits", "--catalog", catalog)
    assert (ran.code, "--spend" in ran.out) == (0, True)
    sql = run(capsys, "caps", "visits", "--sql", "--catalog", catalog).out
    assert parse(sql)
    assert json.loads(run(capsys, "caps", "visits", "--sql", "--json", "--catalog", catalog).out)["sql"] == sql.strip()
    assert run(capsys, "ask", sql, "--epsilon", "0.05", "--catalog", catalog).code == 0
    assert run(capsys, "caps", "visits", "--epsilon", "0.05", "--catalog", catalog, "--json").json["answer"]["repeated"]


def test_refused(capsys, catalog, tmp_path):
    ran = run(capsys, "caps", "vists", "--epsilon", "0.05", "--catalog", catalog)
    assert ran.code == 2
    assert "Did you mean visits?" in ran.err
    (tmp_path / "r.json").write_text("")
    to = str(tmp_path / "r.json")
    ran = run(capsys, "caps", "visits", "--epsilon", "0.05", "--catalog", catalog, "--receipt", to)
    assert ran.code != 0
    assert run(capsys, "budget", "--catalog", catalog, "--json").json["spent"] == "0"
