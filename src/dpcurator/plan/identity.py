"""What a noisy reading is of, whatever the question calls it: the name under which it is stored and found again.

A reading is the same when its rows, condition, keys in their order, caps, neighbours and what is summed are the same,
over the same public facts and data version, for the same analyst (semantics 6.2). Titles, spellings, HAVING, ORDER BY,
LIMIT, confidence and price are no part of it. Where keys were selected, it is of the keys that one selection chose, so
that selection's charge is part of its name. Two names are equal only when all of these are: they are digests of one
spelling. Checked in tests/curator/test_readings.py.
"""

from __future__ import annotations

from dataclasses import replace

from dpcurator.catalog.model import Catalog
from dpcurator.plan.canonical import canonical_text, digest
from dpcurator.plan.facts import facts_of
from dpcurator.plan.nodes import AggregateCall, Ask, Bounded, Plan
from dpcurator.plan.relations import unnamed


def rows_and_keys(plan: Plan) -> Bounded:
    """The plan's source without the names that a question gives to its parts."""
    bounded, grouped = plan.source, plan.source.source
    columns = tuple(replace(column, name="") for column in grouped.columns)
    return replace(bounded, source=replace(grouped, source=unnamed(grouped.source), columns=columns))


def reading_name(plan: Plan, ask: Ask, catalog: Catalog, analyst: str, *, selection: str = "") -> str:
    """Of a reading under the catalog's facts that it uses and its data version. selection: where keys are not listed,
    the request whose charge selected them."""
    unnamed = replace(
        ask, column=None if ask.column is None else replace(ask.column, name=""),
        clamped=tuple(sorted((replace(column, name="") for column in ask.clamped), key=canonical_text)),
    )
    measured = (ask.column, *ask.clamped)
    used = facts_of(replace(plan, calls=tuple(AggregateCall("COUNT", column) for column in measured)), catalog)
    of = (rows_and_keys(plan), unnamed, selection)
    return digest(("dpcurator reading 1", analyst, used, catalog.data_version, *of))


def selection_name(plan: Plan, catalog: Catalog, analyst: str) -> str:
    """Of the selection of a plan's unknown keys."""
    used = facts_of(replace(plan, calls=()), catalog)
    return digest(("dpcurator selection 1", analyst, used, catalog.data_version, rows_and_keys(plan)))
