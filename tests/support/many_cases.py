"""Many random cases of engines as one batch: each plan over a table of its own, for an engine that starts slowly."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from engine_rows import opened
from engine_strategies import Case, cases
from power import for_examples

from dpcurator.engines.reference import Reference
from dpcurator.plan.core import CorePlan, Scan


def drawn(part: int, size: int) -> list[Case]:
    """So many cases, other ones in each part."""
    found: list[Case] = []
    for_examples(lambda case: found.append(case), cases(capped=part % 2 == 1), part=part, tries=size)
    return found[:size]


def apart_from_each_other(found: Sequence[Case]) -> tuple[dict[str, Any], dict[str, Any], list[CorePlan]]:
    """The tables, their kinds and the plans; the table of case n is tn."""
    tables, kinds, plans = {}, {}, []
    for number, case in enumerate(found):
        tables[f"t{number}"], kinds[f"t{number}"] = case.tables["t0"], case.kinds["t0"]
        scan = case.core[0]
        assert isinstance(scan, Scan)
        plans.append((replace(scan, table=f"t{number}"), *case.core[1:]))
    return tables, kinds, plans


def differing(engine: Any, found: Sequence[Case]) -> list[Case]:
    """The cases in which an engine's integers are not the reference's."""
    tables, kinds, plans = apart_from_each_other(found)
    exact = engine.from_tables(tables, kinds).evaluate_all(plans)
    return [case for case, one in zip(found, exact, strict=True)
            if opened(one) != opened(Reference(case.tables).evaluate(case.core))]
