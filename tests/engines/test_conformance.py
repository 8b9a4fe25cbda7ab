"""Every engine gives the reference's integers on every table and plan, and never fails (semantics 2.2)."""

from __future__ import annotations

from pathlib import Path

import pytest
from engine_rows import opened
from engine_strategies import Case, cases
from hypothesis import HealthCheck, given, settings

from dpcurator import engines
from dpcurator.engines import ENGINES
from dpcurator.engines.reference import Reference

ORDINARY = settings(max_examples=60, derandomize=True, deadline=None, database=None,
                    suppress_health_check=list(HealthCheck))  # fmt: skip

SHARED = {"__init__", "__pycache__", "limits", "limits_rows"}
OTHERS = [constructor() for name, constructor in ENGINES if name != "reference"]


def test_the_tuple_names_every_engine_in_the_folder() -> None:
    """An engine's file or folder has its name; the other files are what engines share."""
    files = {path.stem for path in Path(engines.__file__).parent.iterdir()}
    assert {name for name, _ in ENGINES} == files - SHARED


def check(case: Case) -> None:
    expected = opened(Reference(case.tables).evaluate(case.core))
    for engine in OTHERS:
        assert opened(engine.from_tables(case.tables, case.kinds).evaluate(case.core)) == expected


@given(cases())
@ORDINARY
def test_every_engine_gives_the_integers_of_the_reference(case: Case) -> None:
    check(case)


@pytest.mark.slow
@given(cases())
@settings(ORDINARY, max_examples=3_000)
def test_every_engine_gives_the_integers_of_the_reference_at_length(case: Case) -> None:
    check(case)
