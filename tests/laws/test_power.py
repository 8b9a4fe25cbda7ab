"""The table of what the ordinary run takes (tests/support/power.py) names tests that are there, and loses none."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest
from power import LONG, REGISTRY, SAMPLED, in_part, left_to_slow_runs, part_of, quick

TESTS = Path(__file__).parents[1]


@pytest.mark.parametrize("name", sorted({*SAMPLED, *LONG, *REGISTRY}))
def test_a_test_that_is_named_is_there(name):
    file, *inside = name.split("::")
    names = {node.name for node in ast.walk(ast.parse((TESTS / file).read_text("utf-8")))
             if isinstance(node, ast.FunctionDef | ast.ClassDef)}  # fmt: skip
    assert set(inside) <= names, f"tests/{file} has no {inside[-1]}: mend its line in tests/support/power.py"


def test_so_many_cases_as_said_are_taken_and_they_are_spread():
    name = "engines/test_together.py::test_together_is_one_by_one"
    nodes = [f"tests/{name}[{n}]" for n in range(42)]
    kept = [node for node in nodes if node not in left_to_slow_runs([*nodes, "tests/other.py::test_x"])]
    assert len(kept) == SAMPLED[name]
    assert kept[0] == nodes[0]
    assert nodes.index(kept[-1]) > 30
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
