"""A rehearsal reads no data, charges nothing, stores nothing, and says in every output that its rows are made up."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from questions import CATALOG, VISITS
from receipts import CATALOGS, curator
from shell import run

from dpcurator import rehearsal
from dpcurator.answer import MADE_UP
from dpcurator.errors import Misconfigured, Refusal
from dpcurator.opening import rehearsing

QUESTIONS = [
    "SELECT COUNT(*) FROM visits",
    "SELECT city, COUNT(*) AS n, AVG(age), SUM(cost) FROM visits WHERE age > 20 GROUP BY city ORDER BY n DESC",
    "SELECT day, ward, COUNT(DISTINCT patient) FROM visits GROUP BY day, ward",
    "SELECT g, SUM(x) FROM rows GROUP BY g",
]
FILES = """
[curator]
protects = "people"
[ledger]
epsilon = 4
[tables.visits]
file = "nowhere.csv"
unit = "who"
max_rows = 2
max_groups = 2
[tables.visits.columns]
who = "text"
city = { type = "text", keys = ["Hull", "York"] }
age = { type = "integer", bounds = [0, 110] }
"""


def broken() -> Iterator[None]:
    raise AssertionError("a rehearsal looked at data")


@pytest.mark.parametrize("name", CATALOGS)
@pytest.mark.parametrize("question", QUESTIONS)
def test_it_answers_free_without_data_and_leaves_the_ledger_as_it_was(name, question):
    made = curator(CATALOGS[name])
    made.engine = broken
    answer = made.rehearse(question)
    assert answer.made_up
    assert answer.receipt is None
    assert answer.cost == 0
    assert answer.rows or "unknown" in name  # small keys are left out
    assert list(made.log()) == []
    assert made.budget().spent == 0


def test_every_output_says_so():
    answer = curator().rehearse(QUESTIONS[1], epsilon=1)
    assert str(answer).count(MADE_UP) == 2
    assert MADE_UP in answer._repr_html_()
    assert answer.as_json()["made_up"] is True
    assert answer.to_pandas().attrs["made_up"] is True
    assert "costs epsilon 1" in answer.notes[0]
    real = curator().ask(QUESTIONS[1], epsilon=1)
    assert (real.made_up, MADE_UP in str(real), real.as_json()["made_up"]) == (False, False, False)
    assert not curator().verify(answer.as_json()).holds


def test_the_error_bars_are_those_of_the_real_answer():
    for price in ({"epsilon": 1}, {"spend": "2%"}):
        made, real = curator().rehearse(QUESTIONS[1], **price), curator().ask(QUESTIONS[1], **price)
        ends = [sorted(error or 0 for error in answer.error("n")) for answer in (made, real)]
        assert all(abs(one - two) <= 1 for one, two in zip(*ends, strict=True))  # counts are shown whole
        assert (made.columns, made.shown) == (real.columns, real.shown)


def test_the_rows_are_the_catalogs_and_the_same_for_everyone():
    one, two = (rehearsal.rows(CATALOG, VISITS) for _ in range(2))
    assert one == two
    assert set(one["c1"]) == {"Hull", "Leeds", "York", None}
    assert any(age is not None and age > 110 for age in one["c2"])  # beyond the bounds: clamping is rehearsed too
    assert len(set(one["c0"])) == rehearsal.UNITS
    rows_of_first = [key for who, key in zip(one["c0"], one["c1"], strict=True) if who == one["c0"][0]]
    assert 1 <= len(rows_of_first) <= 3 * 5


def test_what_is_refused_for_real_is_refused_here():
    with pytest.raises(Refusal, match="no column"):
        curator().rehearse("SELECT AVG(nothing) FROM visits")


def test_a_frame_rehearses():
    frame = curator().table("visits").group_by("city")
    assert frame.rehearse().made_up


def test_the_shell_rehearses_before_there_is_anything(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    Path("curator.toml").write_text(FILES, encoding="utf-8")
    question = "SELECT city, COUNT(*) AS n FROM visits GROUP BY city"
    told = run(capsys, "ask", question, "--rehearse")
    assert told.code == 0
    assert told.out.startswith(MADE_UP)
    assert run(capsys, "ask", question, "--rehearse", "--epsilon", "1", "--json").json["made_up"] is True
    assert run(capsys, "ask", question, "--rehearse", "--fresh").code == 2
    assert sorted(path.name for path in tmp_path.iterdir()) == ["curator.toml"]


def test_a_rehearsing_curator_has_no_data_to_ask(tmp_path):
    from dpcurator.catalog.load import load

    (tmp_path / "curator.toml").write_text(FILES, encoding="utf-8")
    made = rehearsing(load(tmp_path / "curator.toml"))
    with pytest.raises(Misconfigured, match="no data"):
        made.ask("SELECT COUNT(*) FROM visits", epsilon=1)
    assert made.budget().spent == 0
