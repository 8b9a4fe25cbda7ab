"""Every engine gives the reference's integers on every table and plan, and never fails (MEANING 2.2)."""

from __future__ import annotations

import pytest
from engine_strategies import Case, cases
from hypothesis import HealthCheck, given, settings

from dpcurator.engines.duckdb import DuckDB
from dpcurator.engines.reference import Reference

ORDINARY = settings(max_examples=400, derandomize=True, deadline=None, database=None,
                    suppress_health_check=list(HealthCheck))  # fmt: skip


def check(case: Case) -> None:
    expected = Reference(case.tables).evaluate(case.core).open_for_release()
    found = DuckDB.from_tables(case.tables, case.kinds).evaluate(case.core).open_for_release()
    assert found == expected


@given(cases())
@ORDINARY
def test_duckdb_gives_the_integers_of_the_reference(case: Case) -> None:
    check(case)


@pytest.mark.slow
@given(cases())
@settings(ORDINARY, max_examples=10_000)
def test_duckdb_gives_the_integers_of_the_reference_at_length(case: Case) -> None:
    check(case)
