"""Formats and files of `ask`, what is said when output cannot be written (E9), and `tables` (F7, E10)."""

from __future__ import annotations

import csv
import io
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from shell import CLINIC, COUNT, refreshed, run

import dpcurator as dp
from dpcurator.cli.formats import write

PAID = (COUNT, "--spend", "5%")


@pytest.fixture
def ready(tmp_path, monkeypatch, capsys):
    rows = [f"p{number % 40},{('Leeds', 'York')[number % 2]},{number % 90}" for number in range(80)]
    (tmp_path / "visits.csv").write_text("patient_id,city,age\n" + "\n".join(rows) + "\n")
    (tmp_path / "curator.toml").write_text(CLINIC)
    monkeypatch.chdir(tmp_path)
    return refreshed(tmp_path)


def test_csv_has_the_ends_the_price_and_the_receipt(ready, capsys):
    lines = list(csv.DictReader(io.StringIO(run(capsys, "ask", *PAID, "--format", "csv").out)))
    said = run(capsys, "ask", *PAID, "--format", "json").json
    assert list(lines[0]) == ["city", "n", "n ±", "n_low", "n_high", "n_within_bar", "cost (epsilon)", "receipt"]
    assert [line["city"] for line in lines] == ["Leeds", "York"]
    for line, row in zip(lines, said["rows"], strict=True):
        cell = row[1]
        assert int(line["n"]) == cell["value"]
        assert [float(line[name]) for name in ("n ±", "n_low", "n_high")] == [
            cell[name] for name in ("error", "low", "high")
        ]
        assert line["n_within_bar"] == str(abs(cell["value"]) < cell["error"]).lower()
        assert (line["cost (epsilon)"], line["receipt"]) == (said["cost"], said["receipt"]["request"][:8])


def test_json_is_one_format_in_two_spellings(ready, capsys):
    assert (
        run(capsys, "ask", *PAID, "--json").json["rows"] == run(capsys, "ask", *PAID, "--format", "json").json["rows"]
    )
    twice = run(capsys, "ask", *PAID, "--json", "--format", "csv")
    assert twice.code == 2
    assert "two formats" in twice.out


def test_markdown_and_html(ready, capsys):
    shown = run(capsys, "ask", *PAID, "--format", "markdown").out.splitlines()
    assert shown[:2] == ["| city | n |", "| --- | ---: |"]
    assert len([line for line in shown if "±" in line and line.startswith("|")]) == 2
    page = run(capsys, "ask", *PAID, "--format", "html").out
    assert page.count("<tr>") == 3
    assert "receipt" in page


def test_a_rehearsal_says_so_in_every_format(ready, capsys):
    for name in ("table", "csv", "markdown", "html", "json"):
        out = run(capsys, "ask", COUNT, "--rehearse", "--format", name).out
        assert "made_up" in out or "MADE UP" in out


def test_output_is_a_new_file_and_never_replaces_one(ready, capsys):
    ran = run(capsys, "ask", *PAID, "--format", "csv", "--output", "n.csv")
    assert (ran.code, ran.out) == (0, "")
    text = Path("n.csv").read_text()
    assert text == run(capsys, "ask", *PAID, "--format", "csv").out
    before = run(capsys, "budget", "--json").json
    again = run(capsys, "ask", COUNT, "--spend", "6%", "--output", "n.csv")
    assert again.code == 4
    assert "exists already" in again.err
    nowhere = run(capsys, "ask", COUNT, "--spend", "6%", "--output", "none/n.csv")
    assert nowhere.code == 4
    assert run(capsys, "budget", "--json").json["spent"] == before["spent"]
    assert Path("n.csv").read_text() == text
    assert [path.name for path in Path().iterdir() if path.name.startswith(".n.csv")] == []


def test_e9_a_file_that_cannot_be_written_is_no_fault_and_asking_again_is_free(ready, capsys, monkeypatch):
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(dp.Misconfigured, match="could not be written") as refused:
        write(Path("x.csv"), "a")
    assert "free" in refused.value.cure
    assert not Path("x.csv").exists()


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full here")
@pytest.mark.parametrize("how", [(), ("--json",), ("--format", "csv")])
def test_e9_a_full_device_is_no_fault_and_the_answer_is_stored(ready, capsys, how):
    with open("/dev/full", "w") as full:
        ran = subprocess.run(
            [sys.executable, "-m", "dpcurator", "ask", *PAID, *how], stdout=full, stderr=subprocess.PIPE, text=True,
            timeout=120,
        )
    assert ran.returncode == 4
    assert "output could not be written" in ran.stderr
    assert "fault" not in ran.stderr
    assert "Traceback" not in ran.stderr
    assert "Exception ignored" not in ran.stderr
    again = run(capsys, "ask", *PAID, "--json").json
    assert again["repeated"] is True


def test_a_menu_and_a_file_of_questions_take_no_other_format(ready, capsys):
    menu = run(capsys, "ask", COUNT, "--format", "csv")
    assert menu.code == 2
    assert "--spend 5%" in menu.err
    Path("q.sql").write_text(COUNT)
    many = run(capsys, "ask", "--file", "q.sql", "--spend", "5%", "--format", "html")
    assert many.code == 2


def test_f7_tables_and_schema_show_what_can_be_asked(ready, capsys):
    shown = run(capsys, "tables")
    assert shown.out.startswith("visits: private, protects patients by patient_id")
    assert "0 to 110" in shown.out
    assert run(capsys, "schema").out == shown.out
    assert json.loads(run(capsys, "tables", "--json").out)["tables"][0]["name"] == "visits"


def test_totals_stand_after_the_answer_and_are_checked_before_it_is_paid(ready, capsys):
    question = "SELECT city, age > 45 AS old, COUNT(*) AS n FROM visits GROUP BY city, age > 45"
    paid = (question, "--epsilon", "1", "--no-cut")
    for wrong in (["--totals", "ward"], ["--totals", "city", "--format", "csv"]):
        assert run(capsys, "ask", *paid, *wrong).code == 2
    assert run(capsys, "budget", "--json").json["spent"] == "0"
    assert "Add a price" in run(capsys, "ask", question, "--totals", "city").err
    told = run(capsys, "ask", *paid, "--totals", "city", "--totals", "()", "--totals", "(old, city)").out
    tables = told.split("\n\n")
    assert [table.split()[: table.split().index("n")] for table in tables] == [
        ["city", "old"], ["city"], [], ["old", "city"]]
    found = run(capsys, "ask", *paid, "--totals", "city", "--json").json
    assert [[row[0]["value"] for row in total["rows"]] for total in found["totals"]] == [["Leeds", "York"]]
    assert found["totals"][0]["totals_of"] == found["receipt"]["request"][:8]
    assert run(capsys, "budget", "--json").json["spent"] == "1"
    Path("answer.json").write_text(json.dumps(found))
    verified = run(capsys, "verify", "answer.json")
    assert verified.code == 0
    assert "totals (no receipt is of them" in verified.out
    made_up = run(capsys, "ask", question, "--rehearse", "--totals", "()")
    assert made_up.out.count("MADE UP") >= 2


def test_an_answer_is_drawn_beside_being_printed_and_what_cannot_be_drawn_is_not_paid(ready, capsys):
    question = "SELECT city, COUNT(*) AS n, AVG(age) AS mean FROM visits GROUP BY city"
    paid = (question, "--epsilon", "1", "--no-cut")
    (ready / "old.json").write_text("kept")
    for wrong in (("out.jpg",), ("old.json",), ("out.json", "--plot-column", "city"), ("out.json", "--file", "x.sql")):
        assert run(capsys, "ask", *paid, "--plot", *wrong).code in (2, 4), wrong
    assert run(capsys, "ask", *paid, "--plot-column", "n").code == 2
    assert "Add a price" in run(capsys, "ask", question, "--plot", "out.json").err
    assert "no column of numbers" in run(capsys, "ask", "SELECT city FROM visits GROUP BY city", "--epsilon", "1",
                                         "--plot", "out.json").err
    assert run(capsys, "budget", "--json").json["spent"] == "0"
    assert not Path("out.json").exists()
    told = run(capsys, "ask", *paid, "--plot", "out.json", "--plot-column", "mean", "--json")
    assert "wrote out.json" in told.err
    drawn = json.loads(Path("out.json").read_text())
    assert drawn["title"]["text"] == "mean by city"
    assert [row["value"] for row in drawn["data"]["values"]] == [
        pytest.approx(row[2]["value"]) for row in told.json["rows"]]
    assert run(capsys, "ask", *paid, "--plot", "out.svg").code == 0
    assert Path("out.svg").read_text().startswith("<svg")
    assert run(capsys, "ask", question, "--rehearse", "--plot", "made_up.json").code == 0
    assert Path("made_up.json").exists()
