"""The analyst's commands through a server: the same words, formats and exit codes as beside the data."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from shell import run

from .conftest import COUNT, Served


@pytest.fixture
def there(served: Served, monkeypatch: Any, tmp_path: Path) -> Served:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("DPCURATOR_TOKEN", served.token["ana"])
    return served


def test_a_question_is_asked_priced_and_answered(there: Served, capsys: Any) -> None:
    menu = run(capsys, "--server", there.url, "ask", COUNT)
    assert menu.code == 0
    assert menu.out.split()[:3] == ["spend", "epsilon", "n"]
    quote = run(capsys, "--server", there.url, "quote", COUNT, "--epsilon", "0.02")
    assert quote.out.startswith("price: epsilon 0.02")
    answer = run(capsys, "--server", there.url, "ask", COUNT, "--epsilon", "0.02", "--receipt", "r.json")
    assert [line.split()[0] for line in answer.out.splitlines()[:3]] == ["city", "Leeds", "York"]
    again = run(capsys, "--server", there.url, "ask", COUNT, "--epsilon", "0.02", "--json").json
    assert again["repeated"]
    receipt = json.loads(Path("r.json").read_text())
    assert run(capsys, "--server", there.url, "receipt", receipt["request"][:10]).json == receipt
    assert run(capsys, "verify", "r.json", "--key", there.curator().key.public).code == 0
    assert run(capsys, "--server", there.url, "tables").out == f"{there.curator().tables}\n"
    told = run(capsys, "--server", there.url, "budget").out
    assert told.startswith("my limit: spent 0.02 of 1000")
    assert run(capsys, "--server", there.url, "ask", COUNT, "--rehearse").out.startswith("MADE UP")


def test_totals_explain_and_caps_read_as_beside_the_data(there: Served, capsys: Any) -> None:
    priced = ["--epsilon", "0.023"]
    asked = run(capsys, "--server", there.url, "ask", COUNT, *priced, "--totals", "()")
    assert "totals of receipt" in asked.out
    told = run(capsys, "--server", there.url, "ask", COUNT, *priced, "--totals", "()", "--json").json
    assert len(told["totals"]) == 1
    explained = run(capsys, "--server", there.url, "explain", COUNT).out
    assert "grouped by city (2 listed)" in explained
    assert "the engine would run" not in explained
    menu = run(capsys, "--server", there.url, "quote", COUNT, "--caps", *priced).out
    assert menu.split()[0] == "max_total"
    assert run(capsys, "--server", there.url, "quote", COUNT).out.split()[:3] == ["spend", "epsilon", "n"]
    assert "left after" in run(capsys, "--server", there.url, "caps", "visits").out
    assert run(capsys, "--server", there.url, "caps", "visits", "--sql").out.startswith("SELECT")
    paid = run(capsys, "--server", there.url, "caps", "visits", *priced, "--receipt", "caps.json")
    assert "shares are of the noisy counts" in paid.out
    assert run(capsys, "verify", "caps.json", "--alone").code == 0
    cut = [run(capsys, "--server", there.url, "quote", COUNT, *priced, *flag, "--json").json
           for flag in ([], ["--no-cut"])]
    assert ["cut" in one and one["cut"] is not None for one in cut] == [True, False]


def test_questions_of_a_file_are_one_charge(there: Served, capsys: Any) -> None:
    Path("q.sql").write_text(f"{COUNT.replace('GROUP', 'WHERE age > 30 GROUP')}; SELECT AVG(age) AS a FROM visits")
    assert run(capsys, "--server", there.url, "ask", "--file", "q.sql").code == 0
    assert "epsilon 0.03" in run(capsys, "--server", there.url, "quote", "--file", "q.sql", "--epsilon", "0.03").out
    answers = run(capsys, "--server", there.url, "ask", "--file", "q.sql", "--epsilon", "0.03")
    assert "York" in answers.out


def test_a_table_is_described_there_too(there: Served, capsys: Any) -> None:
    told = run(capsys, "--server", there.url, "describe", "visits", "--epsilon", "0.05", "--no-cut", "--json")
    assert told.code == 0, told.out
    assert {one["column"] for one in told.json["columns"]} == {"city", "age"}
    assert "rows" in run(capsys, "--server", there.url, "describe", "visits", "--epsilon", "0.05", "--no-cut").out
    assert "COUNT(" in run(capsys, "--server", there.url, "bounds", "visits.age", "--sql").out
    found = run(capsys, "--server", there.url, "bounds", "visits.age", "--epsilon", "0.05", "--json")
    assert found.code == 0, found.out
    assert found.json["answer"]["cost"] == "0.05"
    wrong = run(capsys, "--server", there.url, "describe", "visit", "--epsilon", "0.05")
    assert (wrong.code, "There are" in wrong.err) == (2, True)


@pytest.mark.parametrize(("words", "code", "told"), [
    (["ask", "SELECT city FROM visits", "--epsilon", "1"], 2, "row"),
    (["ask", COUNT, "--epsilon", "9999"], 3, "own limit"),
    (["refresh"], 2, "Leave out --server"), (["log"], 2, "Leave out --server"),
    (["ask", COUNT, "--epsilon", "1", "--totals", "age"], 2, "age"), (["caps", "vists"], 2, "visits"),
    (["receipt", "nope"], 2, "no receipt"),
])
def test_errors_end_as_beside_the_data(words: list[str], code: int, told: str, there: Served, capsys: Any) -> None:
    ended = run(capsys, "--server", there.url, *words)
    assert (ended.code, ended.out) == (code, "")
    assert told in ended.err


def test_the_token_is_in_a_file_that_nobody_else_may_read(there: Served, capsys: Any, monkeypatch: Any) -> None:
    monkeypatch.delenv("DPCURATOR_TOKEN")
    file = Path("token")
    file.write_text(f"{there.token['bob']}\n")
    file.chmod(0o644)
    ended = run(capsys, "--server", there.url, "--token-file", "token", "budget")
    assert (ended.code, "chmod 600 token" in ended.err) == (4, True)
    file.chmod(0o600)
    assert run(capsys, "--server", there.url, "--token-file", "token", "budget", "--json").json["mine"]["name"] == "bob"
    assert run(capsys, "--server", there.url, "--token-file", "none", "budget").code == 4
    assert "DPCURATOR_TOKEN" in run(capsys, "--server", there.url, "budget").err


def test_a_key_that_is_not_the_curators_is_told(there: Served, capsys: Any) -> None:
    key = there.curator().key.public
    assert run(capsys, "--server", there.url, "--public-key", key, "ask", COUNT, "--epsilon", "0.04").code == 0
    ended = run(capsys, "--server", there.url, "--public-key", "ab" * 32, "ask", COUNT, "--epsilon", "0.04")
    assert (ended.code, "not signed" in ended.err) == (4, True)


def test_json_holds_nothing_that_a_terminal_obeys(capsys: Any) -> None:
    from dpcurator.cli.application import show_json

    hidden = "\x1b[31m\x7f\x9b\u202e\u200b\U000e0041 é 東"
    show_json({"text": hidden})
    printed = capsys.readouterr().out
    assert json.loads(printed) == {"text": hidden}
    assert all(letter.isprintable() or letter == "\n" for letter in printed)
    assert "é 東" in printed


def test_a_terminal_is_shown_no_command_whatever_the_format(capsys: Any, monkeypatch: Any) -> None:
    import sys

    from dpcurator.cli.application import show

    show("a,\x1b[31m\n\u202eb")
    assert capsys.readouterr().out == "a,\x1b[31m\n\u202eb\n"  # into a file or a pipe: as it is
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    show("a,\x1b[31m\n\u202eb ±1")
    assert capsys.readouterr().out == "a,\\x1b[31m\n\\u202eb ±1\n"


def test_without_a_server_commands_are_of_the_catalog_here(there: Served, capsys: Any) -> None:
    assert run(capsys, "--server", there.url, "budget").code == 0
    assert "no such catalog" in run(capsys, "budget").err
