"""Accountants ask no loss for the name of its family: they read its record, or name a family that they make."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import dpcurator.accounting
from dpcurator.accounting import parse
from dpcurator.privacy.families import FAMILIES
from dpcurator.privacy.families.spelling import SPELLINGS

ROOT = Path(dpcurator.accounting.__file__).parent
NAMES = set(FAMILIES) | set(SPELLINGS)
SWITCHES = {  # (file, name): a string that is compared with, looked up, or asked for
    ("calibrate.py", "gaussian"): 2,  # the continuous laws by name, which have a loss and no mechanism
    ("calibrate.py", "laplace"): 2,
}
MADE = {  # where a family is made: what a rule of composition gives, and the continuous laws to calibrate
    ("allocation.py", "gaussian"): 1,
    ("allocation.py", "allocated_pass"): 1,
    ("calibrate.py", "gaussian"): 3,
    ("calibrate.py", "laplace"): 1,
    ("convert.py", "pure"): 1,
    ("factorisation.py", "gaussian"): 1,
    ("pld/lattice.py", "gaussian"): 1,
    ("shuffling.py", "gaussian"): 1,
    ("training.py", "cut_batch"): 1,
    ("training.py", "gaussian"): 1,
    ("training_noise.py", "gaussian"): 1,
}
METHODS = {  # bounds of these names, and a target to calibrate to
    ("calibrate.py", "zcdp"): 1,
    ("closed/bounds.py", "gaussian"): 1,
    ("closed/bounds.py", "renyi"): 1,
    ("closed/bounds.py", "zcdp"): 1,
}


def texts(tree: ast.AST) -> Iterator[tuple[ast.AST, str]]:
    """Each string that is a family's name, with what it is in: the docstrings are longer, and are none."""
    for node in ast.walk(tree):
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.Constant) and isinstance(child.value, str) and child.value in NAMES:
                yield node, child.value


def counted() -> tuple[dict[tuple[str, str], int], dict[tuple[str, str], int], list[str]]:
    switches, others, asked = dict[tuple[str, str], int](), dict[tuple[str, str], int](), list[str]()
    for path in sorted(ROOT.rglob("*.py")):
        own, tree = str(path.relative_to(ROOT)), ast.parse(path.read_text("utf-8"))
        for node, name in texts(tree):
            kept = switches if isinstance(node, ast.Compare | ast.Tuple | ast.List | ast.Set) else others
            kept[own, name] = kept.get((own, name), 0) + 1
        for node in ast.walk(tree):
            parts = [node.left, *node.comparators] if isinstance(node, ast.Compare) else []
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
                parts = [node.func.value] if node.func.attr in ("startswith", "endswith", "removeprefix") else []
            asked += [own for part in parts if isinstance(part, ast.Attribute) and part.attr == "family"]
    return switches, others, asked


def test_h1_accounting_switches_on_no_family_but_for_those_listed() -> None:
    """There were 77 switches; each new one is a fact that belongs to the family's own record."""
    switches, others, asked = counted()
    assert asked == []
    assert switches == SWITCHES
    assert sum(switches.values()) <= 10
    assert others == MADE | METHODS


def test_h1_the_parser_knows_no_family_of_its_own() -> None:
    assert parse.SPELLINGS is SPELLINGS
    text = Path(parse.__file__).read_text("utf-8")
    assert not [name for name in NAMES if f'"{name}"' in text]
