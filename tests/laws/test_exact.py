"""`Exact` is sealed, and `open_for_release` is called in one place of the source (semantics 5, values.py)."""

from __future__ import annotations

import ast
import copy
import json
import pickle
from pathlib import Path

import pytest
from source import nodes

import dpcurator
from dpcurator.values import Exact

ROOT = Path(dpcurator.__file__).parent
SECRET = 918273645


def parsed() -> list[tuple[Path, tuple[ast.AST, ...]]]:
    return [(path, nodes(path)) for path in sorted(ROOT.rglob("*.py"))]


def sealed() -> Exact:
    return Exact([[SECRET, 1], [2, 3]])


@pytest.mark.parametrize(
    "touch",
    [
        lambda e: e == sealed(), lambda e: e != sealed(), lambda e: e == 1, hash, iter, list, len, bool, tuple,
        copy.copy, copy.deepcopy, pickle.dumps, lambda e: [*e], lambda e: SECRET in e, lambda e: e[0], lambda e: e + e,
        lambda e: e < e, sorted, sum, max, lambda e: json.dumps(e), vars, lambda e: {e: 1}, int, float, bytes,
        lambda e: setattr(e, "other", 1), lambda e: pickle.dumps(e, protocol=0),
    ],
)
def test_nothing_reads_what_is_sealed(touch):
    with pytest.raises((TypeError, AttributeError)) as caught:
        touch(sealed())
    assert str(SECRET) not in str(caught.value)


@pytest.mark.parametrize("show", [repr, str, ascii, format, "{}".format, "{!r}".format, lambda e: f"{e}"])
def test_it_shows_that_it_is_sealed_and_no_more(show):
    assert show(sealed()) == "<Exact: sealed>"


def test_its_size_in_memory_says_nothing():
    import sys

    assert sys.getsizeof(Exact([])) == sys.getsizeof(Exact([[10**300] * 100] * 100))


def test_it_is_opened_in_exactly_one_place():
    opened = [
        str(path.relative_to(ROOT))
        for path, nodes in parsed()
        for node in nodes
        if isinstance(node, ast.Attribute) and node.attr in ("open_for_release", "tallies_for_release")
    ]
    assert opened == ["release/release.py"] * 2


def test_its_slot_is_touched_in_its_own_class_only():
    touched = {
        str(path.relative_to(ROOT))
        for path, nodes in parsed()
        for node in nodes
        if isinstance(node, ast.Attribute) and node.attr in ("_rows", "_tallies") and "Exact" in path.read_text("utf-8")
    }
    assert touched == {"values.py"}


def test_no_name_of_it_is_built_at_run_time():
    for path, tree in parsed():
        for node in tree:
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                assert node.value not in ("open_for_release", "tallies_for_release"), path
                assert node.value not in ("_rows", "_tallies") or path.name == "values.py", path  # its own slot


def test_it_is_made_by_engines_alone():
    made = {
        path.relative_to(ROOT).parts[0]
        for path, nodes in parsed()
        for node in nodes
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "Exact"
    }
    assert made == {"engines", "values.py"}  # itself, to take columns apart under seal


def users_of(name: str) -> set[str]:
    """The files that say it, by import or in any other way."""
    return {
        str(path.relative_to(ROOT))
        for path, nodes in parsed()
        for node in nodes
        if (isinstance(node, ast.ImportFrom) and node.module == "dpcurator.release.release"
            and name in {alias.name for alias in node.names})
        or (isinstance(node, ast.Attribute) and node.attr == name != "release")
        or (isinstance(node, ast.Constant) and node.value == name != "release")
    }


def test_noise_is_left_out_over_made_up_rows_alone():
    """The release step is called by the curator and by rehearsals, and always adds noise. `break-me` alone has the
    other entrance, without noise: there no snapshot and no private row is in reach, only tables that it made up."""
    whole = [
        alias.name for path, nodes in parsed() for node in nodes if isinstance(node, ast.Import) for alias in node.names
    ]
    assert not [name for name in whole if name.startswith("dpcurator.")]  # so that names tell who uses what
    assert users_of("release") == {"curator/paying.py", "curator/rehearsal.py"}
    assert users_of("open_made_up_rows") == {"break_me/bench.py"}
    tree = ast.parse((ROOT / "break_me" / "bench.py").read_text("utf-8"))
    names = {alias.name for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) for alias in node.names}
    assert {name for name in names if "open" in name} == {"opening_of", "open_made_up_rows"}
    assert not {"curator_of", "open_curator", "open_snapshot", "ledger_of", "SqliteStore"} & names
    attributes = {node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute)}
    assert "from_tables" in attributes  # the only way to a DuckDB here; the constructor opens a file
    calls = [node.func.id for node in ast.walk(tree) if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)]
    assert "DuckDB" not in calls
