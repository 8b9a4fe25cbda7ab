"""Every engine gives the reference's integers on every table and plan, and never fails (semantics 2.2)."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from engine_rows import BESIDE, OTHERS, opened
from engine_strategies import Case, cases
from power import for_examples

from dpcurator import engines
from dpcurator.engines import ENGINES
from dpcurator.engines.reference import Reference

SHARED = {"__init__", "__pycache__", "allowance", "elementary", "engine", "levels", "limits", "limits_relations",
          "limits_rows", "reference_relations", "rows", "settings"}


def test_the_tuple_names_every_engine_in_the_folder() -> None:
    """An engine's file or folder has its name; the other files are what engines share."""
    files = {path.stem for path in Path(engines.__file__).parent.iterdir()}
    assert {one.name for one in ENGINES} == files - SHARED


def check(engine: Any, case: Case) -> None:
    expected = opened(Reference(case.tables).evaluate(case.core))
    assert opened(engine.from_tables(case.tables, case.kinds).evaluate(case.core)) == expected


@pytest.mark.parametrize("part", range(40))
@pytest.mark.parametrize("engine", OTHERS)
def test_every_engine_gives_the_integers_of_the_reference(engine: Any, part: int, tries: int) -> None:
    tries = max(tries // 100, 1) if engine in BESIDE else tries  # tests/engines/spark tries more, many in a statement
    for_examples(lambda case: check(engine, case), cases(capped=part % 2 == 1), part=part, tries=tries)


def test_the_product_opens_the_engine_of_the_tuple(monkeypatch: pytest.MonkeyPatch) -> None:
    """No file outside the engines' folder names an engine that opens snapshots; the tuple says which it is."""
    for path in (Path(engines.__file__).parents[1]).rglob("*.py"):
        if "engines" not in path.parts:
            assert "duckdb.engine" not in path.read_text("utf-8"), path
    other: Any = type("Other", (), {})
    monkeypatch.setattr(engines, "ENGINES", (engines.Known("duckdb", lambda: other, lambda: other), *ENGINES))
    assert engines.stored_engine() is other


@pytest.mark.slow
@pytest.mark.parametrize("suite", [
    "engines/test_by_hand.py", "engines/test_vectors.py", "engines/test_chosen.py", "engines/test_functions.py",
    "engines/test_conformance.py", "engines/test_patterns.py", "laws/test_questions.py",
])
def test_an_engine_that_is_off_by_one_fails_every_suite(suite: str) -> None:
    tests, chosen = Path(__file__).parents[1], "off_by_one and not suite" if "laws" not in suite else "every_question"
    some = "slow or not slow" if "patterns" in suite else "not slow"  # of which the ordinary run takes one engine's
    called = [sys.executable, "-m", "pytest", "--tb=no", "-p", "no:cacheprovider", "-p", "off_by_one"]
    done = subprocess.run([*called, str(tests / suite), "-m", some, "-k", chosen],
                          env=os.environ | {"PYTHONPATH": os.pathsep.join([*sys.path, str(tests / "support")])},
                          cwd=tests.parent, check=False, capture_output=True, text=True)
    last = done.stdout.strip().splitlines()[-1]
    assert re.search(r"\d+ failed", last), done.stdout[-2000:] + done.stderr[-2000:]
    assert "passed" not in last or " 1 passed" in last  # a plan without keys has no sum to be wrong in
