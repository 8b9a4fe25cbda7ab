"""README.md here names, for each case, a test that there is or the issue it waits for."""

from __future__ import annotations

import ast
import json
import re
from pathlib import Path

import pytest

HERE = Path(__file__).parent
CASES = HERE.parents[2] / "shared" / "cases" / "cases.jsonl"
ROW = re.compile(r"^\| ([A-Z]{3,4}-\d\d) \| ([a-z-]+) \| (.+) \|$", re.MULTILINE)
NAMED = re.compile(r"`((?:\w+/)?test_\w+\.py)::(test_\w+)`")


def rows() -> list[tuple[str, str, str]]:
    return ROW.findall((HERE / "README.md").read_text(encoding="utf-8"))


def test_every_row_names_a_test_that_there_is_or_says_later():
    functions: dict[Path, set[str]] = {}
    for case, _, where in rows():
        named = NAMED.findall(where)
        assert named or where.startswith("later: "), case
        for file, name in named:
            path = HERE.parent / file if "/" in file else HERE / file
            if path not in functions:
                tree = ast.parse(path.read_text(encoding="utf-8"))
                functions[path] = {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}
            assert name in functions[path], (case, file, name)
            assert case.lower().replace("-", "_") in name, (case, name)


def test_every_test_of_a_case_is_in_the_table():
    listed = {name for _, _, where in rows() for _, name in NAMED.findall(where)}
    for path in HERE.glob("test_*.py"):
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.FunctionDef) and re.match(r"test_[a-z]{3,4}_\d\d_", node.name):
                assert node.name in listed, (path.name, node.name)


def test_no_case_is_missing_from_the_table():
    ids = [case for case, _, _ in rows()]
    assert len(set(ids)) == len(ids) == 115
    if not CASES.exists():
        pytest.skip("the collection of cases is not here")
    found = [json.loads(line) for line in CASES.read_text(encoding="utf-8").splitlines() if line]
    assert {(case["id"], case["class"]) for case in found} == {(case, kind) for case, kind, _ in rows()}
