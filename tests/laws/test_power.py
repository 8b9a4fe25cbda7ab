"""The table of what the ordinary run takes (tests/support/power.py) names tests that are there, and loses none."""

from __future__ import annotations

import ast
import functools
from pathlib import Path

import pytest
from power import (
    ALL,
    LONG,
    POWER,
    REGISTRY,
    SAMPLED,
    Run,
    in_part,
    left_to_slow_runs,
    part_of,
    quick,
    share_of,
    table,
    tries_of,
)

TESTS = Path(__file__).parents[1]


@functools.cache
def functions(file: str) -> dict[str, ast.FunctionDef | ast.ClassDef]:
    """Functions and classes of a file of tests, as POWER names them after the file."""
    tree = ast.parse((TESTS / file).read_text("utf-8"))
    found = {node.name: node for node in tree.body if isinstance(node, ast.FunctionDef | ast.ClassDef)}
    inside = {f"{name}::{node.name}": node for name, one in found.items() if isinstance(one, ast.ClassDef)
              for node in one.body if isinstance(node, ast.FunctionDef)}
    return found | inside


def test_a_test_that_is_named_is_there():
    for name in sorted({*SAMPLED, *LONG, *REGISTRY, *POWER}):
        file, _, inside = name.partition("::")
        assert not inside or inside in functions(file), f"{name} is not there: mend its line in tests/support/power.py"


def takes_its_power_from_here(node: ast.AST) -> bool:
    if not isinstance(node, ast.FunctionDef):
        return False
    decorated = any(isinstance(one, ast.Name) and one.id == "tried" for one in node.decorator_list)
    return decorated or any(one.arg in ("tries", "by_lot") for one in node.args.args)


def test_the_examples_of_a_law_are_those_of_its_line():
    """Whatever has a line takes its number from it, tries more in a long run, and has no second number of its own."""
    for name, (ordinary, longer) in POWER.items():
        file, _, inside = name.partition("::")
        assert takes_its_power_from_here(functions(file)[inside]), f"{name} has a line in POWER, and does not use it"
        assert 0 < ordinary < longer, name
    for path in TESTS.rglob("test_*.py"):
        file = path.relative_to(TESTS).as_posix()
        text = path.read_text("utf-8")
        if any(word in text for word in ("@tried", "tries", "by_lot")):
            own = {name for name, node in functions(file).items() if takes_its_power_from_here(node)
                   and name.rpartition("::")[2].startswith("test_")}
            assert {f"{file}::{name}" for name in own} <= set(POWER), "add a line to POWER in tests/support/power.py"


def test_a_share_is_so_many_of_a_list_in_its_order_and_all_in_a_long_run(monkeypatch):
    monkeypatch.setitem(POWER, "a.py::test_b", (5, ALL))
    few = share_of("a.py::test_b", range(100))
    assert len(few) == 5
    assert few == sorted(few) == share_of("a.py::test_b", range(100))
    assert share_of("a.py::test_b", "abc") == ["a", "b", "c"]
    monkeypatch.setattr(Run, "whole", True)
    assert share_of("a.py::test_b", range(100)) == list(range(100))
    with pytest.raises(LookupError, match="no line for a"):
        tries_of("a.py::test_c")


def test_the_table_of_power_tells_cases_and_examples(monkeypatch):
    monkeypatch.setitem(POWER, "a.py::test_b", (5, ALL))
    name = "engines/test_together.py::test_together_is_one_by_one"
    one, other = table(["tests/a.py::test_b", *(f"tests/{name}[{n}]" for n in range(42))])
    assert one.split() == ["a.py::test_b", "5", "all"]
    few = SAMPLED[name]
    assert other.split() == [name, str(few), "of", "42", "cases", str(42 - few), "more", "cases"]


def test_so_many_cases_as_said_are_taken_and_they_are_spread():
    name = "engines/test_together.py::test_together_is_one_by_one"
    nodes = [f"tests/{name}[{n}]" for n in range(42)]
    kept = [node for node in nodes if node not in left_to_slow_runs([*nodes, "tests/other.py::test_x"])]
    assert len(kept) == SAMPLED[name]
    assert kept[0] == nodes[0]
    assert nodes.index(kept[-1]) >= 28
    whole = "accounting/test_sampled_oracles.py::test_many_steps_are_certified"
    assert SAMPLED[whole] == 0
    assert left_to_slow_runs([f"tests/{whole}"]) == {f"tests/{whole}"}


def test_a_quick_run_takes_two_cases_and_nothing_long():
    nodes = ["tests/a.py::test_b", *(f"tests/a.py::test_c[{n}]" for n in range(9)), f"tests/{LONG[0]}[1]"]
    assert quick(nodes) == {"tests/a.py::test_b", "tests/a.py::test_c[0]", "tests/a.py::test_c[1]"}


def test_every_test_falls_to_exactly_one_part():
    nodes = [f"tests/a.py::test_b[{n}]" for n in range(1000)]
    for parts in (1, 3, 8):
        assert all(sum(in_part(node, (k, parts)) for k in range(parts)) == 1 for node in nodes)
    assert min(sum(in_part(node, (k, 8)) for node in nodes) for k in range(8)) > 50
    assert part_of("3/8") == (3, 8)
    for wrong in ("", "3", "3/0", "a/b"):
        with pytest.raises(ValueError, match="two numbers"):
            part_of(wrong)
