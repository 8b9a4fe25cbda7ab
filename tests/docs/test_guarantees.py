"""GUARANTEES.md names files and tests that exist, and so does every docstring that says where it is checked."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest
from documents import ROOT

SOURCE = ROOT / "src" / "dpcurator"


def rows(text: str) -> list[list[str]]:
    table = [line for line in text.splitlines() if re.match(r"\| [A-Z]\d+ \|", line)]
    return [[cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]] for line in table]


ROWS = rows((ROOT / "GUARANTEES.md").read_text(encoding="utf-8"))


def missing_test(name: str) -> str | None:
    """What is wrong with `tests/x.py::test_y`, or with a file or folder; None when it is there."""
    path, _, function = name.partition("::")
    place = ROOT / path
    if not place.exists():
        return f"there is no {path}"
    if function:
        tree = ast.parse(place.read_text(encoding="utf-8"))
        names = {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}
        if function not in names:
            return f"{path} has no {function}"
    return None


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row[0])
def test_a_row_names_code_and_tests_that_exist(row):
    _, claim, where, tests, source = row
    assert claim
    assert source
    places = re.findall(r"`([^`]+)`", where)
    assert places
    assert [place for place in places if not (SOURCE / place).exists()] == []
    named = re.findall(r"`(tests/[^`]+)`", tests)
    assert named
    assert [wrong for wrong in map(missing_test, named) if wrong] == []


def test_the_ids_are_distinct_and_the_table_is_whole():
    assert len({row[0] for row in ROWS}) == len(ROWS) >= 40
    assert all(len(row) == 5 for row in ROWS)


@pytest.mark.parametrize("path", sorted(SOURCE.rglob("*.py")), ids=lambda path: str(path.relative_to(SOURCE)))
def test_a_module_says_where_it_is_checked_and_it_is_so(path: Path):
    text = path.read_text(encoding="utf-8")
    named = set(re.findall(r"tests/[\w/]+(?:\.(?:py|sql))?", text))
    assert [name for name in sorted(named) if not (ROOT / name).exists()] == []


def test_what_is_not_there_is_noticed():
    assert missing_test("tests/nowhere.py") == "there is no tests/nowhere.py"
    assert "has no test_nothing" in str(missing_test("tests/docs/test_guarantees.py::test_nothing"))
    assert rows("| A1 | x | `y` | `z` | s |") == [["A1", "x", "`y`", "`z`", "s"]]
    assert rows("| A1 | P(\\|Z\\|) | `y` | `z` | s |")[0][1] == "P(\\|Z\\|)"
