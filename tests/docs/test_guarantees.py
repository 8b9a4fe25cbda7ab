"""Rows of docs/guarantees name files and tests that exist, and docstrings that say where they are checked do too."""

from __future__ import annotations

import re

import pytest
from documents import ROOT
from guarantee import PAGES, command, every_row, missing_test, rows

SOURCE = ROOT / "src" / "dpcurator"


def test_a_row_names_code_and_tests_that_exist():
    for row in every_row():
        assert row.claim, row.id
        assert row.source, row.id
        assert row.places, row.id
        assert [place for place in row.places if not (SOURCE / place).exists()] == [], row.id
        assert row.tests, row.id
        assert [wrong for wrong in map(missing_test, row.tests) if wrong] == [], row.id


RETIRED: set[str] = set()  # ids of rows that were taken back; they are not used again


def test_the_ids_are_distinct_and_none_is_lost():
    """Numbers of a letter have no gap, so that a row which a merge dropped is missed."""
    ids = [row.id for row in every_row()]
    assert [one for one in set(ids) if ids.count(one) > 1] == []
    numbers: dict[str, set[int]] = {}
    for one in [*ids, *RETIRED]:
        letter = one.rstrip("0123456789")
        numbers.setdefault(letter, set()).add(int(one[len(letter) :]))
    gaps = [f"{letter}{n}" for letter, found in numbers.items() for n in range(1, max(found)) if n not in found]
    assert gaps == []
    assert len(ids) >= 177


def test_every_page_is_named_by_the_first_one_and_in_the_navigation():
    """G4: who looks for an attack finds its page from the first screen."""
    first, site = (PAGES / "index.md").read_text(encoding="utf-8"), (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
    for page in sorted(PAGES.glob("*.md")):
        assert page.name == "index.md" or f"]({page.name})" in first, f"index.md does not name {page.name}"
        assert f"guarantees/{page.name}" in site, f"mkdocs.yml does not name {page.name}"


def test_the_command_runs_the_tests_of_a_row(monkeypatch, capsys):
    ran: list[list[str]] = []
    monkeypatch.setattr(pytest, "main", lambda words: ran.append(words) or 0)
    assert command(["S1", "M2", "-m", "slow"]) == 0
    assert "equally many words" in capsys.readouterr().out
    named = [test for row in every_row() if row.id in ("S1", "M2") for test in row.tests]
    assert {str(ROOT / test) for test in named} <= set(ran[0])
    assert ran[0][-2:] == ["-m", "slow"]
    assert command(["S1", "Q999"]) == 2
    assert "no row has the id Q999" in capsys.readouterr().err
    assert command([]) == 0
    assert len(capsys.readouterr().out.splitlines()) == len(every_row())
    assert len(ran) == 1


def test_a_module_says_where_it_is_checked_and_it_is_so():
    for path in sorted(SOURCE.rglob("*.py")):
        named = set(re.findall(r"tests/[\w/]+(?:\.(?:py|sql))?", path.read_text(encoding="utf-8")))
        assert [name for name in sorted(named) if not (ROOT / name).exists()] == [], path.relative_to(SOURCE)


def test_what_is_not_there_is_noticed():
    assert missing_test("tests/nowhere.py") == "there is no tests/nowhere.py"
    assert "has no test_nothing" in str(missing_test("tests/docs/test_guarantees.py::test_nothing"))
    assert rows("| A1 | x | `y` | `z` | s |") == [("A1", "x", "`y`", "`z`", "s", "")]
    assert rows("| A1 | P(\\|Z\\|) | `y` | `z` | s |")[0].claim == "P(\\|Z\\|)"
    with pytest.raises(AssertionError, match="A1 has 4 cells"):
        rows("| A1 | x | `y` | `z` |")
