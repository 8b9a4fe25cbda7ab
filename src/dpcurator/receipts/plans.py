"""The plan of a receipt: typed again as one that an engine runs, the readings it needs, and the catalog's facts in it.

A receipt's plan may be built by hand, so nothing it says of itself is believed: it is read, written back and typed anew
(plan/check_outputs.py), and its public facts are those of a catalog only when the catalog is there to be asked.
Checked in tests/receipts/test_verify.py, tests/plan/test_check_outputs.py and tests/attacks/test_adversary_surface.py.
"""

from __future__ import annotations

from typing import Any, Final

from dpcurator.aggregates import rule_of
from dpcurator.catalog.model import Catalog
from dpcurator.engines.limits_rows import Rows
from dpcurator.language.rows import Field, walk
from dpcurator.plan.canonical import as_json, digest, plan_of
from dpcurator.plan.check_catalog import disagreement
from dpcurator.plan.check_outputs import misfit
from dpcurator.plan.nodes import Plan, Where
from dpcurator.pricing.resolve import resolve
from dpcurator.receipts.spelling import amount_of, price_of
from dpcurator.receipts.steps import require
from dpcurator.values import Json

MOST_COLUMNS: Final = 10**6  # of a table that a plan speaks of


def check_plan(receipt: Json) -> str:
    plan = plan_of(receipt["plan"])
    require(as_json(plan) == receipt["plan"], "the plan is not in its one spelling")
    require(digest(plan) == receipt["plan_sha256"], "the plan's digest is another")
    wrong = misfit(plan)
    require(wrong is None, wrong or "")
    _runs(plan)
    source = plan.source.source
    rows = source.source.source.table if isinstance(source.source, Where) else source.source.table
    keys = f"{source.keys}" if source.listed else "unknown"
    return f"a question about {rows}, {keys} keys, {len(plan.calls)} aggregates"


def _runs(plan: Plan) -> None:
    """Its expressions of rows are such as an engine runs, of columns that are what the plan itself says they are."""
    source, unit = plan.source.source, plan.source.source.source
    condition = unit.predicate if isinstance(unit, Where) else None
    read = [key.part for key in source.columns] + [call.column.part for call in plan.calls if call.column is not None]
    every = [*([] if condition is None else [condition]), *read]
    kinds = {part.index: part.kind for one in every for part in walk(one) if isinstance(part, Field)}
    require(all(0 <= index < MOST_COLUMNS for index in kinds), "the plan reads a column that no table has")
    checked = Rows(tuple(kinds.get(index, "text") for index in range(max(kinds, default=-1) + 1)))
    if condition is not None:
        checked.predicate(condition)
    for part in dict.fromkeys(read):
        checked.operand(part)
    for call in plan.calls:
        rule_of(call)


def claims_of(receipt: Json) -> list[tuple[Any, Json]]:
    """The plan's readings, each with what the receipt says of it; the receipt must pay for all of them, once."""
    asks = resolve(plan_of(receipt["plan"])).asks
    claims = receipt["readings"]
    require([as_json(ask) for ask in asks] == [claim["ask"] for claim in claims],
             "the readings paid for are not those the plan needs")  # fmt: skip
    return list(zip(asks, claims, strict=True))


def check_catalog(receipt: Json, catalog: Catalog) -> str:
    require(receipt["protects"] == catalog.protects, "it protects something else")
    require(receipt["neighbours"] == catalog.neighbours, "its neighbours are others")
    require(price_of(receipt).currency == catalog.currency, f"the catalog's budget is in {catalog.currency}")
    require(bool(catalog.delta) or amount_of(receipt["delta"]) == 0, "the catalog has no delta to spend")
    wrong = disagreement(plan_of(receipt["plan"]), catalog)
    require(wrong is None, wrong or "")
    spent, remaining = (amount_of(receipt["ledger"][name]) for name in ("spent", "remaining"))
    require(spent + remaining == catalog.budget, "what it says is spent and left is not the catalog's budget")
    if catalog.data_version == receipt["data_version"]:
        require(receipt["catalog_sha256"] == catalog.digest, "the catalog has changed since, in what it declares")
    return "every public fact the sensitivity rests on is declared in the catalog"
