"""The shell over a ledger in rho, and over one in epsilon with a delta: prices, budget, log, refusals."""

from __future__ import annotations

from fractions import Fraction as F
from pathlib import Path

import pytest
from shell import COUNT, run

from dpcurator.cli.budget_text import budget_json, budget_text
from dpcurator.privacy.zcdp import delta_of
from dpcurator.values import Budget

CATALOG = """\
[curator]
protects = "patients"
[ledger]
{ledger}
delta = "1e-8"
[tables.visits]
file = "visits.csv"
unit = "patient_id"
max_rows = 2
max_groups = 1
[tables.visits.columns]
patient_id = "text"
city = {{ type = "text", keys = ["Leeds", "York"] }}
"""


@pytest.fixture
def clinic(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys):
    """`clinic('rho = "0.5"')`: a refreshed catalog with that ledger, in the current directory."""

    def made(ledger: str) -> Path:
        rows = [f"p{number % 40},{('Leeds', 'York')[number % 2]}" for number in range(120)]
        (tmp_path / "visits.csv").write_text("patient_id,city\n" + "\n".join(rows) + "\n")
        (tmp_path / "curator.toml").write_text(CATALOG.format(ledger=ledger))
        monkeypatch.chdir(tmp_path)
        assert run(capsys, "refresh").code == 0
        return tmp_path

    return made


def test_a_ledger_in_rho(clinic, capsys):
    clinic('rho = "0.5"')
    assert run(capsys, "check").out == "ready: questions can be asked\n"
    assert run(capsys, "budget").out.splitlines() == [
        "rho      spent 0 of 0.5: 0.5 left (100 %)",
        "delta    spent 0 of 0.00000001: 0.00000001 left (100 %)",
        "epsilon  0 spent of 6.09, as rho means it at the delta that is left",
    ]
    assert run(capsys, "ask", COUNT).out.splitlines()[0].split()[:2] == ["spend", "rho"]
    assert "price: rho 0.01 of 0.5 (left after it 0.49)" in run(capsys, "quote", COUNT, "--rho", "0.01").out
    assert run(capsys, "ask", COUNT, "--rho", "0.1").code == 0
    assert run(capsys, "ask", COUNT, "--spend", "30%").code == 0
    over = run(capsys, "ask", COUNT, "--rho", "0.3")
    assert over.code == 3
    assert "requested rho 0.3, remaining 0.25, short by 0.05" in over.err
    told = run(capsys, "ask", COUNT, "--rho", "0.3", "--json").json
    assert (told["currency"], told["short_by"]) == ("rho", "1/20")
    assert run(capsys, "budget").out.splitlines()[0] == "rho      spent 0.25 of 0.5: 0.25 left (50 %)"
    log = [line.split() for line in run(capsys, "log").out.splitlines()]
    assert log[0][-6:] == ["rho", "left", "delta", "left", "analyst", "question"]
    assert log[1][-2:] == ["0.5", "0.00000001"]
    assert [line[5:9] for line in log if "charged" in line] == [
        ["0.1", "0.4", "0", "0.00000001"], ["0.15", "0.25", "0", "0.00000001"]
    ]
    assert run(capsys, "verify").code == 0


def test_epsilon_in_a_ledger_in_rho_buys_no_more_than_that_epsilon(clinic, capsys):
    clinic('rho = "0.5"')
    assert run(capsys, "ask", COUNT, "--epsilon", "1").code == 0
    spent = F(run(capsys, "log", "--json").json[1]["rho"])
    assert delta_of(spent, F(1)) <= F("1e-8") < delta_of(spent * F("1.001"), F(1))
    as_epsilon = run(capsys, "budget", "--json").json["as_epsilon"]
    assert F("0.999") < F(as_epsilon["spent"]) <= 1


def test_a_ledger_in_epsilon_with_a_delta(clinic, capsys):
    clinic("epsilon = 1")
    assert run(capsys, "ask", COUNT, "--epsilon", "0.25").code == 0
    shown = run(capsys, "budget").out.splitlines()
    assert shown[0] == "epsilon  spent 0.25 of 1: 0.75 left (75 %)"
    assert shown[1].startswith("delta    spent ")
    found = run(capsys, "budget", "--json").json
    assert (found["currency"], found["delta"]["budget"]) == ("epsilon", "0.00000001")
    assert "as_epsilon" not in found
    heads = run(capsys, "log").out.splitlines()[0].split()
    assert heads[-6:] == ["epsilon", "left", "delta", "left", "analyst", "question"]


def test_delta_alone_is_no_price(clinic, capsys):
    clinic('rho = "0.5"')
    refused = run(capsys, "ask", COUNT, "--delta", "1e-9")
    assert (refused.code, refused.out) == (2, "")
    assert "--delta alone is no price" in refused.err


@pytest.mark.parametrize(("arguments", "code", "words"), [
    (["--rho", "0"], 2, "rho must be above 0"),
    (["--rho", "nan"], 2, "rho must be a finite number"),
    (["--rho", "0.1", "--epsilon", "1"], 2, "two prices"),
    (["--rho", "0.1", "--spend", "1%"], 2, "two prices"),
    (["--rho", "0.1", "--delta", "x"], 2, "delta must be a finite number"),
    (["--rho", "0.1", "--delta", "-1"], 2, "delta must be"),
    (["--rho", "9"], 3, "short by 8.5"),
])
def test_bad_prices_in_rho(clinic, capsys, arguments, code, words):
    clinic('rho = "0.5"')
    ran = run(capsys, "ask", COUNT, *arguments)
    assert (ran.code, ran.out) == (code, "")
    assert words in ran.err
    assert run(capsys, "budget").out.splitlines()[0] == "rho      spent 0 of 0.5: 0.5 left (100 %)"


def test_rho_is_shown_at_the_delta_that_is_left():
    """Half of delta went to unknown keys: rho is worth more epsilon at the other half; at none it has no epsilon."""
    half = budget_json(Budget(F(1, 2), F("1e-8"), F(1, 4), F("5e-9"), "rho"), "open")
    assert half["as_epsilon"]["delta"] == "0.000000005"
    epsilon, total = F(half["as_epsilon"]["spent"]), F(half["as_epsilon"]["budget"])
    assert delta_of(F(1, 4), epsilon) <= F("5e-9") < delta_of(F(1, 4), epsilon * F("0.999999"))
    assert total > F(budget_json(Budget(F(1, 2), F("1e-8"), F(1, 4), F(0), "rho"), "open")["as_epsilon"]["budget"])
    gone = Budget(F(1, 2), F("1e-8"), F(1, 4), F("1e-8"), "rho")
    assert budget_json(gone, "open")["as_epsilon"] is None
    assert budget_text(gone, "closed").splitlines()[2:] == [
        "epsilon  unbounded: no delta is left to show it at",
        "closed after a fault: the steward runs `dpcurator reopen`",
    ]
