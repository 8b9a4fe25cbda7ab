"""A file of questions in the shell: each answer under its question, the cost once, and receipts by number."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from shell import CLINIC, refreshed, run

QUERIES = """\
-- every city
SELECT city, COUNT(*) AS n
  FROM visits GROUP BY city;

SELECT city FROM visits GROUP BY city; /* public; free */
SELECT AVG(age) AS "mean; age" FROM visits;
"""


@pytest.fixture
def clinic(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Path:
    rows = [f"p{number % 40},{('Leeds', 'York', 'Hull')[number % 3]},{number % 90}" for number in range(120)]
    (tmp_path / "visits.csv").write_text("patient_id,city,age\n" + "\n".join(rows) + "\n")
    (tmp_path / "curator.toml").write_text(CLINIC)
    (tmp_path / "queries.sql").write_text(QUERIES)
    monkeypatch.chdir(tmp_path)
    return refreshed(tmp_path)


def test_each_answer_is_under_its_question_and_the_cost_is_said_once(clinic, capsys):
    told = run(capsys, "ask", "--file", "queries.sql", "--epsilon", "0.5")
    assert told.code == 0
    first, second, third, foot = told.out.strip().split("\n\n")
    assert first.splitlines()[0] == "1: SELECT city, COUNT(*) AS n FROM visits GROUP BY city"
    assert second.splitlines() == [
        "2: SELECT city FROM visits GROUP BY city", "city", "Leeds", "York", "public: no private data was read"
    ]
    assert third.splitlines()[:2] == ['3: SELECT AVG(age) AS "mean; age" FROM visits', third.splitlines()[1]]
    assert told.out.count("spent") == 1
    assert foot.startswith("spent 0.5 of 1 (left 0.5)   receipts ")
    assert foot.endswith("the same batch again is free")
    again = run(capsys, "ask", "--file", "queries.sql", "--spend", "50%").out.strip()
    assert again.split("\n\n")[:3] == [first, second, third]
    assert "spent 0 of 1 (left 0.5)" in again
    assert again.endswith("a repeat: nothing was spent")


def test_a_quote_says_the_price_of_all_and_the_share_of_each(clinic, capsys):
    told = run(capsys, "quote", "--file", "queries.sql", "--epsilon", "0.5").out
    assert told.startswith("price: epsilon 0.5 of 1 (left after it 0.5)\n\n1: SELECT city")
    assert told.count("share of the price: epsilon 0.25") == 2
    assert "free: every value is public" in told
    assert "NOT affordable: short by 1" in run(capsys, "quote", "--file", "queries.sql", "--epsilon", "2").out
    Path("public.sql").write_text("SELECT city FROM visits GROUP BY city")
    assert "price" not in run(capsys, "quote", "--file", "public.sql", "--epsilon", "2").out
    free = run(capsys, "ask", "--file", "public.sql", "--epsilon", "0.5")
    assert free.out.strip().endswith("public: no private data was read, nothing was spent (left 1)")


def test_receipts_are_printed_by_number_or_all_and_verify(clinic, capsys):
    answers = run(capsys, "ask", "--file", "queries.sql", "--epsilon", "0.5", "--json").json
    name = answers[0]["receipt"]["request"][:8]
    foot = run(capsys, "ask", "--file", "queries.sql", "--epsilon", "0.5").out.strip().splitlines()[-1]
    assert f"receipts {name}.1 to {name}.2 " in foot
    assert run(capsys, "receipt", name).json == [answers[0]["receipt"], answers[2]["receipt"]]
    assert run(capsys, "receipt", f"{name}.2").json == answers[2]["receipt"]
    for wrong in (f"{name}.0", f"{name}.3", f"{name}.x", f"{name}.", ".1", f"{name}.1.1"):
        assert run(capsys, "receipt", wrong).code == 2
    Path("one.json").write_text(json.dumps(answers[2]["receipt"]))
    Path("all.json").write_text(json.dumps(answers))
    one = run(capsys, "verify", "one.json")
    assert one.code == 0
    assert "question 2 of a batch of 2" in one.out
    every = run(capsys, "verify", "all.json")
    assert every.code == 0
    assert "ok  1: ledger" in every.out
    assert "ok  2: price: no private data" in every.out
    assert "ok  3: answer" in every.out
    answers[2]["rows"][0][0]["value"] += 1
    Path("all.json").write_text(json.dumps(answers))
    lied = run(capsys, "verify", "all.json")
    assert lied.code == 1
    assert "NO  3: answer" in lied.out
    assert "NO  1" not in lied.out


def test_a_single_answer_has_no_number(clinic, capsys):
    name = run(capsys, "ask", "SELECT COUNT(*) FROM visits", "--epsilon", "0.1", "--json").json["receipt"]["request"]
    assert run(capsys, "receipt", name[:8]).code == 0
    assert run(capsys, "receipt", f"{name[:8]}.1").code == 2


@pytest.mark.parametrize("content", ["[]", "[5]", "[[]]", "[null]", '[{"receipt": null}]'])
def test_a_list_that_holds_no_receipts_does_not_hold(clinic, capsys, content):
    Path("all.json").write_text(content)
    assert run(capsys, "verify", "all.json").code == 1


def test_a_place_in_a_message_is_the_place_in_the_file(clinic, capsys):
    Path("queries.sql").write_text(QUERIES + "SELECT COUNT(*),\n  MAX(age) FROM visits")
    told = run(capsys, "ask", "--file", "queries.sql", "--epsilon", "0.5")
    assert told.code == 2
    assert "question 4, line 8, column 3" in told.err
    assert run(capsys, "log", "--json").json == []


def test_over_budget_ends_as_one_question_does(clinic, capsys):
    told = run(capsys, "ask", "--file", "queries.sql", "--epsilon", "1.5")
    assert told.code == 3
    assert "requested epsilon 1.5, remaining 1, short by 0.5" in told.err
    assert run(capsys, "log", "--json").json == []


def test_as_one_shows_sum_and_point_before_and_after(clinic, capsys):
    (clinic / "curator.toml").write_text(CLINIC.replace("epsilon = 1\n", 'epsilon = 4\ndelta = "1e-5"\n'))
    counts = [f"SELECT COUNT(*) AS n FROM visits WHERE age > {n}" for n in range(20)]
    (clinic / "counts.sql").write_text(";\n".join(counts))
    how = ("--file", "counts.sql", "--epsilon", "2", "--delta", "1e-6")
    apart, one = run(capsys, "quote", *how), run(capsys, "quote", *how, "--as-one")
    assert apart.out.splitlines()[0] == "price: epsilon 2 of 4 (left after it 2)"
    price, delta, told = one.out.splitlines()[:3]
    assert delta.split() == ["delta", "0.000001", "of", "0.00001", "(left", "after", "it", "0.000009)"]
    assert told.strip() == "as one; one by one the questions cost epsilon 2"
    point = price.split()[2]
    assert 1 < float(point) < 2
    said = json.loads(run(capsys, "quote", *how, "--as-one", "--json").out)
    assert (said["epsilon"], said["one_by_one"]["epsilon"]) == (point, "2")
    foot = run(capsys, "ask", *how, "--as-one").out.strip().splitlines()[-1]
    assert foot.startswith(f"spent {point} of 4 (left {round(4 - float(point), 4)}) and delta 0.000001, as one (one by")
    again = run(capsys, "ask", *how, "--as-one").out.strip().splitlines()[-1]
    assert again.startswith("spent 0 of 4")
    assert again.endswith("a repeat: nothing was spent")
    few = run(capsys, "quote", "--file", "queries.sql", "--epsilon", "1", "--as-one", "--no-cut").out.splitlines()
    assert "one by one: as one they would not cost less epsilon" in [line.strip() for line in few[:3]]
    budget = json.loads(run(capsys, "budget", "--json").out)["together"]
    assert (budget["charges"], budget["gates"], budget["delta"]) == (1, False, "0.00001")
    assert float(budget["epsilon"]) <= float(point)
    assert "had every price" in run(capsys, "budget").out


def test_as_one_where_it_cannot_be_is_refused(clinic, capsys):
    for command in ("ask", "quote"):
        told = run(capsys, command, "--file", "queries.sql", "--epsilon", "0.5", "--as-one")
        assert told.code == 2
        assert "needs a delta to spend" in told.err
        alone = run(capsys, command, "SELECT COUNT(*) FROM visits", "--epsilon", "0.5", "--as-one")
        assert alone.code == 2
        assert "a file of questions" in alone.err


def test_together_is_shown_where_it_is_less_or_asked_for(clinic, capsys):
    assert "together" not in run(capsys, "budget").out
    assert "nothing is charged" in run(capsys, "budget", "--delta", "1e-6").out
    run(capsys, "ask", "SELECT COUNT(*) FROM visits", "--epsilon", "0.5")
    assert "together" not in run(capsys, "budget").out
    assert "together epsilon 0.5 at delta 0.000001, had" in run(capsys, "budget", "--delta", "1e-6").out
    assert run(capsys, "budget", "--delta", "x").code == 2


def test_a_file_has_a_menu_a_rehearsal_and_errors_of_its_columns(clinic, capsys):
    for command in ("ask", "quote"):
        menu = run(capsys, command, "--file", "queries.sql", "--assume-count", "100")
        assert menu.code == 0
        assert menu.out.splitlines()[0].split()[:4] == ["spend", "epsilon", "1:", "n"]
    assert run(capsys, "ask", "--file", "queries.sql", "--json").json["menu"][0]["error_bars"][0]["column"] == "1: n"
    made_up = run(capsys, "ask", "--file", "queries.sql", "--rehearse")
    assert made_up.out.strip().endswith("made up: no data was read, and nothing was spent")
    assert all(answer["made_up"] for answer in run(capsys, "ask", "--file", "queries.sql", "--rehearse", "--json").json)
    how = ("--within", "1:n=90", "--within", "mean; age=20", "--assume-count", "500")
    told = run(capsys, "quote", "--file", "queries.sql", *how)
    assert told.code == 0
    amounts = [float(line.split()[-1]) for line in told.out.splitlines() if line.startswith("share of the price")]
    assert float(told.out.split()[2]) == pytest.approx(sum(amounts))
    assert run(capsys, "log", "--json").json == []
    assert run(capsys, "ask", "--file", "queries.sql", "--within", "n=90").code == 2
    assert run(capsys, "ask", "--file", "queries.sql", "--weight", "n=90").code == 2
    assert run(capsys, "ask", "--file", "queries.sql", "--delta", "1e-9").code == 2
    assert run(capsys, "ask", "--file", "queries.sql", "--rehearse", "--fresh").code == 2


def test_receipts_of_a_batch_of_which_a_question_was_paid_before(clinic, capsys):
    assert run(capsys, "ask", "SELECT city, COUNT(*) AS n FROM visits GROUP BY city", "--epsilon", "0.25").code == 0
    answers = run(capsys, "ask", "--file", "queries.sql", "--epsilon", "0.5", "--json").json
    name = answers[2]["receipt"]["request"][:8]
    assert run(capsys, "receipt", name).json == [answers[2]["receipt"]]
    assert run(capsys, "receipt", f"{name}.2").json == answers[2]["receipt"]
    assert run(capsys, "receipt", f"{name}.1").code == 2
    assert answers[0]["receipt"]["format"] == "dpcurator shared receipt 1"
