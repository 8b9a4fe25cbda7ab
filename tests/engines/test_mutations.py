"""The random suite can fail: it finds each deliberate mistake in the SQL (the tables by hand do so in test_by_hand)."""

from __future__ import annotations

import pytest
from engine_mistakes import MISTAKES, RIGHT, mistaken
from engine_rows import opened
from engine_strategies import Case, cases
from hypothesis import HealthCheck, Phase, find, settings

from dpcurator.engines.duckdb import engine
from dpcurator.engines.reference import Reference
from dpcurator.errors import Fault

PROFILE = settings(max_examples=5000, derandomize=True, deadline=None, database=None, phases=(Phase.generate,),
                   suppress_health_check=list(HealthCheck))
QUICK = ("rows without a unit kept",)


@pytest.mark.parametrize(
    "mistake",
    [name if name in QUICK else pytest.param(name, marks=pytest.mark.slow) for name in MISTAKES],
)
def test_a_mistake_is_found(mistake: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def differs(case: Case) -> bool:
        if mistaken(mistake, case.core).sql == RIGHT(case.core).sql:
            return False
        expected = opened(Reference(case.tables).evaluate(case.core))
        try:
            found = opened(engine.DuckDB.from_tables(case.tables, case.kinds).evaluate(case.core))
        except Fault:
            return False  # a mistake that the engine cannot run proves nothing
        return found != expected

    monkeypatch.setattr(engine, "statement", lambda core: mistaken(mistake, core))
    find(cases(capped="max_total" in mistake), differs, settings=PROFILE)
