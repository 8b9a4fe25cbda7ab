"""Accounts in the shell: a token is shown once, limits hold for that analyst, and every error says what to type."""

from __future__ import annotations

from pathlib import Path

import pytest
from shell import CLINIC, refreshed, run

from dpcurator.curator.opening import open_curator
from dpcurator.errors import OverBudget

COUNT = "SELECT city, COUNT(*) AS n FROM visits GROUP BY city"


@pytest.fixture
def ready(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Path:
    (tmp_path / "visits.csv").write_text("patient_id,city,age\n" + "".join(f"p{n},Leeds,{n}\n" for n in range(50)))
    (tmp_path / "curator.toml").write_text(CLINIC)
    monkeypatch.chdir(tmp_path)
    return refreshed(tmp_path)


def test_an_account_from_its_first_token_to_its_last(ready: Path, capsys: pytest.CaptureFixture[str]) -> None:
    made = run(capsys, "user", "add", "ana", "--epsilon", "0.5")
    assert made.out.startswith("ana may ask: analyst, at most epsilon 0.5\ntoken, shown this once: ana.")
    token = made.out.split()[-1]
    curator = open_curator("curator.toml")
    curator.ask(COUNT, epsilon="0.4", analyst="ana")
    with pytest.raises(OverBudget, match="own limit"):
        curator.ask(COUNT, epsilon="0.2", analyst="ana", fresh=True)
    curator.ask(COUNT, epsilon="0.2", analyst="bob")
    [told] = run(capsys, "user", "list", "--json").json
    assert told == {"name": "ana", "role": "analyst", "active": True, "currency": "epsilon", "limit": "0.5",
                    "spent": "0.4", "left": "0.1", "delta": "0", "spent_delta": "0"}
    assert run(capsys, "user", "list").out.splitlines()[1].split() == [
        "ana", "analyst", "0.5", "0.4", "0.1", "0", "0", "yes"
    ]
    assert run(capsys, "user", "limit", "ana", "--epsilon", "0.1").out == "ana may ask: analyst, at most epsilon 0.1\n"
    rotated = run(capsys, "user", "rotate", "ana", "--json").json["token"]
    account = curator.ledger.account("ana")
    assert account is not None
    assert account.signs_in(rotated)
    assert not account.signs_in(token)
    assert "signs in no more" in run(capsys, "user", "revoke", "ana").out
    assert run(capsys, "user", "list", "--json").json[0] | {"left": "0", "active": False} == (
        run(capsys, "user", "list", "--json").json[0]
    )
    log = run(capsys, "log").out
    assert token not in log
    assert rotated not in log
    assert "analyst, at most 0.5" in log
    assert "signs in no more" in log
    assert run(capsys, "verify").out.startswith("ok ")


@pytest.mark.parametrize(("words", "code", "told"), [
    (["add", "ana"], 4, "dpcurator user rotate ana"), (["add", "ana"], 4, "dpcurator user limit ana --epsilon 0.5"),
    (["add", "a b"], 2, "Name it as in ana"),
    (["add", "bob", "--role", "king"], 2, "Choose analyst, auditor or steward"),
    (["add", "bob", "--rho", "1"], 2, "--epsilon 0.5"), (["add", "bob", "--epsilon", "much"], 2, "Write the limit"),
    (["limit", "ana"], 2, "--epsilon 0.5"), (["limit", "bob", "--epsilon", "1"], 4, "dpcurator user add bob"),
    (["rotate", "bob"], 4, "dpcurator user add bob"), (["revoke", "bob"], 4, "dpcurator user add bob"),
])
def test_what_cannot_be_done_says_what_to_type(
    words: list[str], code: int, told: str, ready: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(capsys, "user", "add", "ana", "--no-token").code == 0
    before = run(capsys, "log").out
    ended = run(capsys, "user", *words)
    assert (ended.code, ended.out) == (code, "")
    assert told in ended.err
    assert run(capsys, "log").out == before
