"""Every command on keys that nobody listed, alone and with the others in one more row; and with a price in rho."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from shell import run

CATALOG = """\
[curator]
protects = "patients"
salt = "{salt}"
[ledger]
{ledger}
delta = "1e-2"
[tables.visits]
file = "visits.csv"
unit = "patient_id"
max_rows = 2
max_groups = 2
[tables.visits.columns]
patient_id = "text"
city = {{ type = "text", keys = "unknown" }}
ward = {{ type = "integer", keys = [1, 2] }}
"""
PLAIN = "SELECT city, COUNT(*) AS n FROM visits GROUP BY city"
OTHER = "SELECT city, COUNT(*) AS n FROM visits GROUP BY WITH_OTHER(city) ORDER BY n DESC"
QUESTIONS = [
    PLAIN,
    OTHER,
    "SELECT city FROM visits GROUP BY city",
    "SELECT city, ward, COUNT(*) AS n FROM visits WHERE ward < 2 GROUP BY WITH_OTHER(city, ward) HAVING COUNT(*) > 0",
    "SELECT LEFT(city, 1) AS first, COUNT(*) AS n FROM visits GROUP BY WITH_OTHER(LEFT(city, 1)) LIMIT 2",
]


@pytest.fixture(params=["epsilon = 40", "rho = 40"])
def clinic(request, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys) -> Path:
    cities = ("Leeds", "Leeds", "York", "", "Hull", *(f"Small {number}" for number in range(5)))
    rows = [f"p{number},{cities[number % 10]},{number % 2 + 1}" for number in range(300)]
    (tmp_path / "visits.csv").write_text("patient_id,city,ward\n" + "\n".join(rows) + "\n")
    (tmp_path / "curator.toml").write_text(CATALOG.format(ledger=request.param, salt="0" * 32))
    monkeypatch.chdir(tmp_path)
    assert run(capsys, "refresh").code == 0
    return tmp_path


@pytest.mark.parametrize("question", QUESTIONS)
def test_every_command_takes_it(clinic, capsys, question):
    for command in (
        ("ask", question), ("ask", question, "--json"), ("ask", question, "--rehearse"),
        ("quote", question, "--spend", "10%"), ("quote", question, "--spend", "10%", "--json"),
        ("explain", question), ("explain", question, "--spend", "10%", "--json"),
        ("ask", question, "--spend", "10%"), ("ask", question, "--spend", "10%", "--json"), ("check",), ("budget",),
        ("log",), ("verify",),
    ):
        told = run(capsys, *command)
        assert told.code == 0, (command, told.out, told.err)
        if "--json" in command:
            json.loads(told.out)
    answer = run(capsys, "ask", question, "--spend", "10%", "--json").json
    receipt = run(capsys, "receipt", answer["receipt"]["request"][:8])
    Path("receipt.json").write_text(receipt.out)
    assert run(capsys, "verify", "receipt.json").code == 0


def test_the_plan_says_how_keys_are_found_and_the_query_which_data_is_read(clinic, capsys):
    assert "grouped by city (unknown): those keys that may be shown\n" in run(capsys, "explain", PLAIN).out
    told = run(capsys, "explain", OTHER).out
    assert "grouped by city (unknown): those keys that may be shown, and all others in one more row" in told
    told = run(capsys, "explain", QUESTIONS[3]).out
    assert "grouped by city (unknown), ward (1 listed): those keys that may be shown" in told
    assert "the engine would run:" in run(capsys, "explain", QUESTIONS[2]).out


def test_a_file_of_them_is_one_batch_with_a_row_of_others_each(clinic, capsys):
    Path("queries.sql").write_text(";\n".join(QUESTIONS))
    answers = run(capsys, "ask", "--file", "queries.sql", "--spend", "50%", "--json").json
    others = [sum(any(cell.get("other", False) for cell in row) for row in one["rows"]) for one in answers]
    assert others[:3] == [0, 1, 0]
    assert "(other)" in run(capsys, "ask", "--file", "queries.sql", "--spend", "50%").out
