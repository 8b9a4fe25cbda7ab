"""The shell as people use it: what each command prints, its exit code, its JSON, and that errors end as documented."""

from __future__ import annotations

import io
import json
import sqlite3
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from shell import CLINIC, COUNT, refreshed, run

CATALOG = CLINIC + 'height = "float"\n'


@pytest.fixture
def clinic(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A directory with a catalog and its file, not yet refreshed; the current directory."""
    rows = [f"p{number % 40},{('Leeds', 'York', 'Hull')[number % 3]},{number % 90},1.5" for number in range(120)]
    (tmp_path / "visits.csv").write_text("patient_id,city,age,height\n" + "\n".join(rows) + "\n")
    (tmp_path / "curator.toml").write_text(CATALOG)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def ready(clinic: Path, capsys: pytest.CaptureFixture[str]) -> Path:
    return refreshed(clinic)


def test_a_newcomers_path(clinic: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before = run(capsys, "check")
    assert before.code == 4
    assert "dpcurator refresh" in before.out
    assert "120 rows" in run(capsys, "refresh").out
    after = run(capsys, "check")
    assert after.code == 0
    assert after.out.endswith("ready: questions can be asked\n")
    menu = run(capsys, "ask", COUNT)
    assert menu.code == 0
    assert menu.out.splitlines()[0].split() == ["spend", "epsilon", "n", "left", "after"]
    assert run(capsys, "budget").out == "spent 0 of 1: 1 left (100 %)\n"
    answer = run(capsys, "ask", COUNT, "--spend", "50%")
    assert [line.split()[0] for line in answer.out.splitlines()[:3]] == ["city", "Leeds", "York"]
    assert "spent 0.5 of 1 (left 0.5)" in answer.out
    again = run(capsys, "ask", COUNT, "--epsilon", "1/2")
    assert again.out.splitlines()[:3] == answer.out.splitlines()[:3]
    assert "a repeat: nothing was spent" in again.out
    over = run(capsys, "ask", COUNT, "--epsilon", "0.6")
    assert over.code == 3
    assert "requested epsilon 0.6, remaining 0.5, short by 0.1" in over.err
    assert over.out == ""
    assert run(capsys, "budget").out == "spent 0.5 of 1: 0.5 left (50 %)\n"
    log = run(capsys, "log").out.splitlines()
    assert [line.split()[3] for line in log[1:]] == ["opened", "charged", "answered"]


def test_e12_the_log_shows_who_asked_what_and_the_receipt(ready: Path, capsys: pytest.CaptureFixture[str]) -> None:
    receipt = run(capsys, "ask", COUNT, "--spend", "10%", "--json").json["receipt"]
    log = run(capsys, "log").out
    [charged] = [line for line in log.splitlines() if "charged" in line]
    assert receipt["analyst"] in charged
    assert receipt["request"][:8] in charged
    assert "FROM visits GROUP BY" in log


def test_init_drafts_and_never_overwrites(clinic: Path, capsys: pytest.CaptureFixture[str]) -> None:
    refused = run(capsys, "init", "visits.csv")
    assert refused.code == 4
    assert Path("curator.toml").read_text() == CATALOG
    assert run(capsys, "init", "visits.csv", "-c", "draft.toml").code == 0
    drafted = run(capsys, "check", "-c", "draft.toml")
    assert drafted.code == 4
    assert "draft.toml:" in drafted.err
    assert "protects" in drafted.err


def test_c5_a_refresh_that_reads_nothing_of_a_column_ends_with_code_4_and_names_it(
    clinic: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(capsys, "refresh").code == 0
    lines = Path("visits.csv").read_text().splitlines()
    place = lines[0].split(",").index("age")
    rows = [",".join("x" if i == place else cell for i, cell in enumerate(line.split(","))) for line in lines[1:]]
    Path("visits.csv").write_text("\n".join([lines[0], *rows]) + "\n")
    told = run(capsys, "refresh")
    assert told.code == 4
    assert told.out.splitlines()[-1].startswith("nothing could be read of visits.age: check its type")
    assert run(capsys, "check").code == 0
    found = run(capsys, "refresh", "--json")
    assert (found.code, found.json["tables"][0]["nothing_read"]) == (4, ["age"])


def test_a6_init_refuses_a_first_line_that_looks_like_a_row_and_both_cures_work(
    clinic: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("d.csv").write_text("39,ann@example.org\n40,bob@example.org\nx,z\n")
    refused = run(capsys, "init", "d.csv", "-c", "a.toml")
    assert refused.code == 4
    assert "looks like a row" in refused.err
    assert "ann" not in refused.err + refused.out
    assert not Path("a.toml").exists()
    assert run(capsys, "init", "d.csv", "-c", "b.toml", "--no-header").code == 0
    assert 'names = ["c1", "c2"]' in Path("b.toml").read_text()
    assert run(capsys, "init", "d.csv", "-c", "a.toml", "--header").code == 0


def test_a7_init_tells_the_steward_what_guesses_rest_on_and_writes_none_of_it(
    clinic: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("d.csv").write_text("age\n" + "5\n" * 30 + "n/a!\n")
    told = run(capsys, "init", "d.csv", "-c", "a.toml")
    assert "for you alone, as it is of private rows:" in told.out
    assert '"age" 1 of the first 31 values are not written so' in told.out
    assert Path("a.toml").read_text().endswith('\nage = "integer?"\n')
    assert run(capsys, "init", "d.csv", "-c", "b.toml", "--json").json["notes"]


def test_c9_a_byte_order_mark_before_a_question(
    ready: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO("\ufeff" + COUNT))
    assert run(capsys, "ask", "-", "--epsilon", "0.1").code == 0
    Path("q.sql").write_text(COUNT + ";\n", encoding="utf-8-sig")
    assert run(capsys, "ask", "--file", "q.sql", "--epsilon", "0.1").code == 0


def test_how_many_are_cut_is_counted_unless_it_is_left_out(ready: Path, capsys: pytest.CaptureFixture[str]) -> None:
    quoted = run(capsys, "quote", COUNT, "--epsilon", "0.1").out
    assert "that are over a cap: ±" in quoted
    assert "for epsilon 0.01\n" in quoted
    assert "over a cap" not in run(capsys, "quote", COUNT, "--epsilon", "0.1", "--no-cut").out
    told = run(capsys, "ask", COUNT, "--epsilon", "0.1", "--no-cut")
    assert "about " not in told.out
    free = run(capsys, "ask", COUNT, "--epsilon", "0.05").out
    assert "not paid for; cut=True, or --cut, buys it" in free
    assert "about " not in free
    bought = run(capsys, "ask", COUNT, "--epsilon", "0.05", "--cut", "--json").json
    assert bought["cost"] == "0.005"
    assert bought["cut"]["reason"] == "are over a cap"
    assert run(capsys, "budget", "--json").json["spent"] == "0.105"
    assert "about " in run(capsys, "ask", COUNT, "--epsilon", "0.1", "--rehearse").out
    assert "about " not in run(capsys, "ask", COUNT, "--epsilon", "0.1", "--rehearse", "--no-cut").out


def test_quote_says_why(ready: Path, capsys: pytest.CaptureFixture[str]) -> None:
    told = run(capsys, "quote", COUNT, "--epsilon", "0.1", "--no-cut").out
    assert "scaled down to 2 rows a key and 1 key" in told
    assert "all keys together by at most 2" in told
    assert "discrete Laplace noise of scale 20, independently for each of 2 groups" in told
    found = run(capsys, "quote", COUNT, "--epsilon", "0.1", "--no-cut", "--json").json
    assert found["epsilon"] == "0.1"
    assert found["readings"][0]["sensitivity"] == "2"
    assert found["readings"][0]["noise_scale"] == "20"
    short = run(capsys, "quote", COUNT, "--epsilon", "3")
    assert short.code == 0
    assert "NOT affordable: short by 2" in short.out


def test_explain_shows_plan_reach_noise_and_query_and_costs_nothing(
    ready: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    question = "SELECT city, AVG(age) AS a FROM visits WHERE height > 1 GROUP BY city HAVING COUNT(*) > 3"
    told = run(capsys, "explain", question).out
    for words in (
        "rows of visits, a unit's by patient_id",
        "where: a condition on height",
        "grouped by city (2 listed): 2 keys",
        "bounded to 2 rows a key and 1 keys a unit",
        "aggregates: AVG(age), COUNT(*)",
        "on the noisy values: having",
        "all keys together by at most 220",
        "the engine would run:",
        "FROM snapshot.main.t0",
    ):
        assert words in told
    found = run(capsys, "explain", question, "--epsilon", "0.1", "--assume-count", "1e3", "--json").json
    assert found["epsilon"] == "0.1"
    assert "patient_id" not in found["engine"]["sql"]  # names of the catalog never reach an engine
    assert run(capsys, "budget").out == "spent 0 of 1: 1 left (100 %)\n"


def test_json_of_every_command(ready: Path, capsys: pytest.CaptureFixture[str]) -> None:
    answer = run(capsys, "ask", COUNT, "--epsilon", "0.25", "--json").json
    assert answer["columns"] == ["city", "n"]
    assert [row[0]["value"] for row in answer["rows"]] == ["Leeds", "York"]
    assert answer["left"] == "0.75"
    assert run(capsys, "ask", COUNT, "--json").json["menu"][0]["spend"] == "1%"
    assert run(capsys, "budget", "--json").json == {
        "currency": "epsilon", "budget": "1", "spent": "0.25", "left": "0.75", "exact_left": "3/4", "state": "open",
        "together": {
            "epsilon": "0.25", "delta": "0.000000001", "charges": 1, "method": "sum",
            "holds": "only if every price and question was fixed beforehand", "gates": False,
        },
    }
    assert [event["event"] for event in run(capsys, "log", "--json").json] == ["opened", "charged", "answered"]
    receipt = run(capsys, "receipt", answer["receipt"]["request"][:8], "--json").json
    assert receipt == answer["receipt"]
    assert run(capsys, "check", "--json").json["ready"] is True
    assert run(capsys, "key", "--json").json["public_key"] == receipt["public_key"]
    assert run(capsys, "reopen", "--json").json == {"reopened": False}
    assert run(capsys, "verify", "--json").json["holds"] is True
    assert run(capsys, "refresh", "--json").json["version"] == 2
    failed = run(capsys, "ask", "SELECT nosuch FROM visits", "--epsilon", "0.1", "--json")
    assert failed.code == 2
    assert failed.json["error"] == "refused"
    assert "nosuch" in failed.json["what"]


def test_receipts_verify_and_a_changed_byte_does_not(ready: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(capsys, "ask", COUNT, "--epsilon", "0.25", "--receipt", "receipt.json").code == 0
    key = run(capsys, "key").out.strip()
    fine = run(capsys, "verify", "receipt.json", "--key", key)
    assert (fine.code, "the receipt holds" in fine.out) == (0, True)
    alone = run(capsys, "verify", "receipt.json", "--alone")
    assert alone.code == 0
    assert "not checked: the catalog and the ledger" in alone.out
    wrong_key = run(capsys, "verify", "receipt.json", "--key", "00" * 32)
    assert wrong_key.code == 1
    text = Path("receipt.json").read_text()
    changed = text.replace('"epsilon": "1/4"', '"epsilon": "1/8"', 1)
    assert changed != text
    Path("changed.json").write_text(changed)
    bad = run(capsys, "verify", "changed.json")
    assert bad.code == 1
    assert "NO  signature" in bad.out
    assert run(capsys, "ask", COUNT, "--epsilon", "0.1", "--receipt", "receipt.json").code == 4  # never overwritten
    assert "0.75 left" in run(capsys, "budget").out


def test_an_answer_in_json_verifies_with_its_values(ready: Path, capsys: pytest.CaptureFixture[str]) -> None:
    printed = run(capsys, "ask", COUNT, "--epsilon", "0.25", "--json").out
    Path("answer.json").write_text(printed)
    assert "ok  answer" in run(capsys, "verify", "answer.json").out
    answer = json.loads(printed)
    answer["rows"][0][1]["value"] += 1
    Path("answer.json").write_text(json.dumps(answer))
    changed = run(capsys, "verify", "answer.json")
    assert changed.code == 1
    assert "NO  answer" in changed.out


def test_a_changed_ledger_is_found(ready: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run(capsys, "ask", COUNT, "--epsilon", "0.25", "--receipt", "receipt.json")
    run(capsys, "ask", COUNT, "--epsilon", "0.1", "--fresh")
    assert run(capsys, "verify").code == 0
    with sqlite3.connect(".dpcurator/ledger.db") as connection:
        connection.execute("DROP TRIGGER events_UPDATE")
        connection.execute("UPDATE events SET body = replace(body, '\"1/4\"', '\"1/5\"') WHERE position = 2")
    connection.close()
    told = run(capsys, "verify")
    assert told.code == 1
    assert "event 2" in told.out
    assert run(capsys, "verify", "receipt.json").code == 1


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (["--epsilon", "0"], 2, "epsilon must be above 0"),
        (["--epsilon", "-1"], 2, "epsilon must be above 0"),
        (["--epsilon", "nan"], 2, "epsilon must be a finite number"),
        (["--epsilon", "inf"], 2, "epsilon must be a finite number"),
        (["--epsilon", "True"], 2, "epsilon must be a finite number"),
        (["--epsilon", "abc"], 2, "epsilon must be a finite number"),
        (["--epsilon", ""], 2, "epsilon"),
        (["--spend", "5"], 2, "5%"),
        (["--spend", "0%"], 2, "above 0"),
        (["--spend", "101%"], 2, "at most 100%"),
        (["--spend", "x%"], 2, "finite number"),
        (["--within", "n"], 2, "n=50"),
        (["--within", "m=50"], 2, "no single column"),
        (["--within", "n=0"], 2, "above 0"),
        (["--within", "n=1e-9"], 2, "whole numbers"),
        (["--epsilon", "0.1", "--spend", "5%"], 2, "two prices"),
        (["--epsilon", "0.1", "--confidence", "1"], 2, "confidence"),
        (["--epsilon", "0.1", "--confidence", "nan"], 2, "confidence"),
        (["--epsilon", "2"], 3, "short by 1"),
        (["--epsilon", "1e100"], 3, "Not enough budget"),
        (["--epsilon", "1e300"], 2, "too many digits"),
        (["--epsilon", "0.1", "--request-id", "no spaces"], 2, "request id"),
        (["--epsilon", "0.1", "-c", "absent.toml"], 4, "no such catalog"),
    ],
)
def test_bad_prices(
    ready: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], code: int, words: str
) -> None:
    ran = run(capsys, "ask", COUNT, *arguments)
    assert (ran.code, ran.out) == (code, "")
    assert words in ran.err
    assert "Traceback" not in ran.err
    assert run(capsys, "budget").out == "spent 0 of 1: 1 left (100 %)\n"


def test_what_a_broken_file_tells_and_whom(clinic: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The steward hears it at `refresh`; `ask` neither fails nor changes its words."""
    words: set[tuple[int, int, str]] = set()
    huge = b"p1,Leeds,99999999999999999999,1\n"
    bad = [b"p1,Leeds\n", huge, b'p1,"Le\n', b"\xff,Leeds,1,1\n", b"p1,Leeds,x,y\n", b""]
    for number, line in enumerate(bad):
        Path("visits.csv").write_bytes(b"patient_id,city,age,height\n" + line + b"p2,York,5,1\n")
        told = run(capsys, "refresh")
        assert told.code == 0
        assert ("set aside" in told.out or "unreadable" in told.out) == bool(line)
        ran = run(capsys, "ask", COUNT, "--epsilon", f"0.1{number}1")
        lines = [line for line in ran.out.splitlines() if not line.startswith("~ ")]  # values within their own noise
        words.add((ran.code, len(lines), ran.err))
    assert words == {(0, 6, "")}


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (None, "no file"),
        (b"", "empty"),
        (b"patient_id,city,city,age,height\np,Leeds,York,1,1\n", "Columns 2 and 3"),
        (b"patient_id,city,height\n", 'no column "age"'),
    ],
)
def test_files_that_cannot_be_read(
    clinic: Path, capsys: pytest.CaptureFixture[str], content: bytes | None, words: str
) -> None:
    Path("visits.csv").unlink()
    if content is not None:
        Path("visits.csv").write_bytes(content)
    ran = run(capsys, "refresh")
    assert ran.code == 4
    assert words in ran.err
    assert run(capsys, "ask", COUNT, "--epsilon", "0.1").code == 4  # no snapshot: said, not charged


def test_a_header_alone_is_an_empty_table(clinic: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Path("visits.csv").write_text("patient_id,city,age,height\n")
    assert "0 rows" in run(capsys, "refresh").out
    assert run(capsys, "ask", COUNT, "--epsilon", "0.1").code == 0


def test_a_catalog_that_contradicts_the_ledger(ready: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run(capsys, "ask", COUNT, "--epsilon", "0.1")
    Path("curator.toml").write_text(CATALOG.replace("epsilon = 1", "epsilon = 5"))
    ran = run(capsys, "ask", COUNT, "--epsilon", "0.1")
    assert ran.code == 4
    assert "the catalog says 5, the ledger was opened with 1" in ran.err


def test_every_command_has_help_with_an_example(capsys: pytest.CaptureFixture[str]) -> None:
    from dpcurator.cli import with_commands

    for registered in with_commands().registered_commands:
        assert registered.name
        told = run(capsys, registered.name, "--help")
        assert told.code == 0
        assert "Example: dpcurator" in told.out


def test_a_question_from_standard_input(ready: Path, capsys: pytest.CaptureFixture[str], monkeypatch: Any) -> None:
    import io

    monkeypatch.setattr(sys, "stdin", io.StringIO(COUNT))
    assert run(capsys, "ask", "-", "--epsilon", "0.1").code == 0


def test_demo(capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    told = run(capsys, "demo", "--json", "--keep", "clinic").json
    assert [step["exit_code"] for step in told["steps"]] == [0, 0, 0, 0, 0, 0, 0, 0, 0, 2, 3, 0]
    first, again = told["steps"][4]["printed"], told["steps"][5]["printed"]
    assert first["rows"] == again["rows"]
    assert again["repeated"] is True
    assert Path("clinic/curator.toml").exists()
    assert run(capsys, "demo", "--keep", "clinic").code == 4  # never into a directory that exists


def test_it_runs_as_a_program(ready: Path) -> None:
    """A whole process: the console script's function, standard output in an encoding without the plus-minus sign."""
    code = "from dpcurator.cli import main; main()"
    ran = subprocess.run(
        [sys.executable, "-c", code, "ask", COUNT, "--epsilon", "0.1"],
        capture_output=True, env={"PYTHONIOENCODING": "ascii", "PATH": ""}, cwd=ready, check=False, timeout=60,
    )
    assert (ran.returncode, ran.stderr) == (0, b"")
    assert b"+-" in ran.stdout


def test_a_file_of_questions_is_one_charge(ready, capsys):
    first = "SELECT city, COUNT(*) AS n FROM visits GROUP BY city; -- first\n\n"
    Path("queries.sql").write_text(first + 'SELECT COUNT(*) AS "all; of them" FROM visits;', encoding="utf-8")
    quoted = run(capsys, "quote", "--file", "queries.sql", "--epsilon", "0.5", "--json").json
    assert quoted["epsilon"] == "0.5"
    assert "price: epsilon 0.5" in run(capsys, "quote", "--file", "queries.sql", "--epsilon", "0.5").out
    told = run(capsys, "ask", "--file", "queries.sql", "--epsilon", "0.5")
    assert told.code == 0
    assert "1: SELECT city" in told.out
    assert "2: SELECT COUNT(*)" in told.out
    same = run(capsys, "ask", "--file", "queries.sql", "--epsilon", "0.5", "--json").json
    assert [one["repeated"] for one in same] == [True, True]
    assert [event["event"] for event in run(capsys, "log", "--json").json] == ["opened", "charged", "answered"]
    again = run(capsys, "quote", "--file", "queries.sql", "--epsilon", "0.5").out
    assert "price: epsilon 0 " in again
    assert "all of it was paid before" in again


@pytest.mark.parametrize(
    ("text", "words", "said"),
    [
        ("SELECT COUNT(*) FROM visits", ("SELECT 1", "--epsilon", "1"), "two ways"),
        ("-- nothing", ("--epsilon", "1"), "no question"),
        ("SELECT COUNT(*) FROM visits;\nSELECT COUNT(*) FROM main.visits", ("--epsilon", "1"), "question 2, line 2"),
    ],
)
def test_a_file_of_questions_that_is_refused_charges_nothing(ready, capsys, text, words, said):
    Path("queries.sql").write_text(text, encoding="utf-8")
    told = run(capsys, "ask", *words, "--file", "queries.sql")
    assert told.code == 2
    assert said in told.err
    assert run(capsys, "log", "--json").json == []


def test_asking_nothing_is_said(ready, capsys):
    assert "no question" in run(capsys, "ask", "--epsilon", "1").err


class Terminal:
    """Standard input and error of somebody at a terminal, who answers."""

    def __init__(self, real, answers):
        self.real, self.answers = real, iter(answers)

    def isatty(self):
        return True

    def readline(self, *_):
        return next(self.answers)

    def __getattr__(self, name):
        return getattr(self.real, name)


def test_much_of_the_budget_and_likely_mistakes_are_asked_about_at_a_terminal_alone(ready, capsys, monkeypatch):
    """Before the charge; --yes answers. Nobody is asked where there is no terminal."""
    import sys

    some = ("ask", "SELECT COUNT(*) AS n FROM visits", "--spend")

    def at_terminal(*words, answers=()):
        with monkeypatch.context() as here:
            here.setattr(sys, "stdin", Terminal(sys.stdin, answers))
            here.setattr(sys, "stderr", Terminal(sys.stderr, ()))
            return run(capsys, *words)

    no = at_terminal(*some, "30%", answers=["n\n"])
    assert (no.code, no.out.strip()) == (2, "")
    assert "caution: this costs 30 % of the whole budget" in no.err
    assert "Nothing was charged" in no.err
    assert run(capsys, "budget", "--json").json["spent"] == "0"
    assert at_terminal(*some, "20%").code == 0
    assert at_terminal(*some, "30%", answers=["y\n"]).code == 0
    wrong = ("ask", "SELECT COUNT(*) AS n FROM visits WHERE city = 'leeds'", "--spend", "1%")
    assert "did you mean 'Leeds'?" in at_terminal(*wrong, answers=["n\n"]).err
    assert at_terminal(*wrong, "--yes").code == 0
    assert run(capsys, "ask", "SELECT AVG(age) AS a FROM visits", "--spend", "25%").code == 0
    # A question that was paid before costs nothing, and all of it with --fresh; a file of questions is asked about too.
    assert at_terminal(*some, "30%").code == 0
    fresh = at_terminal(*some, "30%", "--fresh", answers=["n\n"])
    assert "caution: this costs 30 % of the whole budget" in fresh.err
    Path("two.sql").write_text("SELECT COUNT(*) FROM visits WHERE city = 'leeds'; SELECT SUM(age) FROM visits;")
    both = ("ask", "--file", "two.sql", "--spend")
    before = run(capsys, "budget", "--json").json["spent"]
    told = at_terminal(*both, "1%", answers=["n\n"])
    assert "caution: question 1: 'leeds' is no key of city" in told.err
    assert run(capsys, "budget", "--json").json["spent"] == before
    assert at_terminal(*both, "1%", "--yes").code == 0
