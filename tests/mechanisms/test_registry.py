"""The rows of the mechanisms: each is its class, keeps its protocol, and is the only place that names it.

A class that is written is a row, an examples tuple and a line for type checkers, or this file says which is missing.
"""

from __future__ import annotations

import ast
import importlib
import inspect
import pkgutil
from pathlib import Path

import pytest

import dpcurator as dp
from dpcurator import mechanisms
from dpcurator.auditing.exact.laws import _LISTED_BY
from dpcurator.auditing.replay.arguments import MOVED
from dpcurator.mechanisms import ROWS, key_selection, row_of
from dpcurator.privacy.calibration import Calibration

ROOMS = ("noise", "choice", "local", "smooth")
TOOLS = {  # beside the mechanisms of a room: what they have in common
    "binomial_interval",
    "estimates",
    "monotone",
    "nearest_candidate",
    "on_grid",
    "public_values",
    "rational_odds",
    "scores",
    "sums",
    "top_counts",  # of the curator's own counts; tests/mechanisms/test_top_counts.py holds its promise
    "weighted",  # of sums of draws; tests/mechanisms/test_weighted.py holds its bound
    "weighted_quantile",  # of the curator's own weights; tests/mechanisms/test_weighted_quantile.py holds its promise
}
SHARED = {"rule"}  # of the selections: what they have in common
IDS = [row.name for row in ROWS]


def drawing(cls: type) -> set[str]:
    """The public verbs that take entropy."""
    return {
        name for name, method in inspect.getmembers(cls, inspect.isfunction)
        if not name.startswith("_") and "entropy" in inspect.signature(method).parameters
    }


def test_every_file_is_one_mechanism_with_a_row() -> None:
    files = {
        f"{room}.{module.name}"
        for room in ROOMS
        for module in pkgutil.iter_modules(importlib.import_module(f"dpcurator.mechanisms.{room}").__path__)
        if module.name not in TOOLS
    }
    rows = [row.file for row in ROWS]
    assert set(rows) == files, "a file and a row in mechanisms/__init__.py belong together"
    assert len(rows) == len(set(rows)) == len(mechanisms.MECHANISMS)


def test_every_file_of_the_folder_is_one_selection_in_its_tuple() -> None:
    folders = {module.name for module in pkgutil.iter_modules(mechanisms.__path__) if module.ispkg}
    assert folders == {*ROOMS, "key_selection"}
    files = {module.name for module in pkgutil.iter_modules(key_selection.__path__)} - SHARED
    assert {rule.__module__.rpartition(".")[2] for rule in key_selection.SELECTIONS} == files
    assert len(key_selection.SELECTIONS) == len(files)


@pytest.mark.parametrize("written", [*mechanisms.MECHANISMS, *key_selection.SELECTIONS])
def test_every_mechanism_has_examples(written) -> None:
    examples = importlib.import_module(written.__module__).EXAMPLES
    assert examples
    assert all(type(example) is written for example in examples)


@pytest.mark.parametrize("row", ROWS, ids=IDS)
def test_a_class_has_the_verbs_of_its_protocol(row) -> None:
    verbs = {
        name for base in row.protocol.__mro__ for name in vars(base) if inspect.isfunction(vars(base)[name])
    } - set(vars(object)) - {name for name in vars(row.protocol.__mro__[-2]) if name.startswith("_")}
    verbs = {name for name in verbs if not name.startswith("_")}
    assert verbs
    assert verbs <= set(dir(row.cls)), f"{row.name} lacks {verbs - set(dir(row.cls))}"
    assert isinstance(row.cls.calibration, Calibration)


@pytest.mark.parametrize("row", ROWS, ids=IDS)
def test_a_row_lists_every_verb_that_draws(row) -> None:
    assert set(row.takes) == drawing(row.cls)
    assert set(MOVED[row.name]) == set(row.takes)
    if row.run:
        name, takes = row.run
        public = {verb for verb in vars(row.named(name)) if not verb.startswith("_")}
        assert public - {"left", "mechanism"} == set(takes)


def test_nothing_else_is_heard() -> None:
    assert set(MOVED) == {row.name for row in ROWS} | {row.run[0] for row in ROWS if row.run}
    assert set(_LISTED_BY) == {row.outcomes for row in ROWS}


def test_a_row_is_found_by_a_mechanism_of_this_package_only() -> None:
    class Laplace:
        """Of the same name."""

    assert row_of(Laplace()) is None
    assert row_of(dp.Laplace) is None
    for row in ROWS:
        assert row_of(importlib.import_module(row.cls.__module__).EXAMPLES[0]) is row


def typed(path: str) -> set[str]:
    """The names that an `if TYPE_CHECKING` block of a module imports as public ones."""
    tree = ast.parse((Path(dp.__file__).parent / path).read_text("utf-8"))
    blocks = [node for node in tree.body if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test)]
    imports = [line for block in blocks for line in block.body if isinstance(line, ast.ImportFrom)]
    return {alias.asname or alias.name for line in imports for alias in line.names}


def test_type_checkers_see_the_names_that_there_are() -> None:
    """Every public name is imported for type checkers, so that editors complete it and mypy knows its type."""
    assert typed("mechanisms/__init__.py") == set(IDS)
    renamed = {"open_curator": "open"} | {f"{name}_of": name for name in ("sum", "min", "max", "any", "all")}
    seen = {renamed.get(name, name) for name in typed("__init__.py") - {"*"}} | typed("mechanisms/__init__.py")
    assert seen == set(dp.__all__) - {"__version__"}
    for name in dp.__all__:
        assert getattr(dp, name) is not None
