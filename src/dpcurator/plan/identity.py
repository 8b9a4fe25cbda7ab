"""What a noisy reading is of, whatever the question calls it: the name under which it is stored and found again.

A reading is the same when its rows, condition, keys, caps, neighbours and what is summed are the same, over the same
public facts and data version, for the same analyst (semantics 6.2). Listed keys are the same in any order of GROUP BY:
their columns have one canonical order in the name, and `reordered` turns the numbers of one order into another's
(selected keys are hashed in their order, and are others in another). Titles, spellings, HAVING, ORDER BY,
LIMIT, confidence and price are no part of it. Where keys were selected, it is of the keys that one selection chose, so
that selection's charge is part of its name. Two names are equal only when all of these are: they are digests of one
spelling. Checked in tests/curator/test_readings.py.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from dpcurator.catalog.model import Catalog
from dpcurator.plan.canonical import canonical_text, digest
from dpcurator.plan.facts import facts_of
from dpcurator.plan.nodes import AggregateCall, Ask, Bounded, KeyColumn, Measured, Plan
from dpcurator.plan.relations import unnamed


def rows_and_keys(plan: Plan, *, as_asked: bool = False) -> Bounded:
    """The plan's source without the names that a question gives to its parts, listed keys in canonical order.

    as_asked: in the question's own, as the names of earlier versions have it."""
    bounded, grouped = plan.source, plan.source.source
    columns = _nameless(plan)
    if not as_asked:
        columns = tuple(columns[number] for number in key_order(plan))
    return replace(bounded, source=replace(grouped, source=unnamed(grouped.source), columns=columns))


def read_alike(plan: Plan, asks: Sequence[Ask]) -> tuple[Bounded, frozenset[Ask]]:
    """What these readings of a plan are of: questions for which it is the same can share them, in whatever order they
    name them. Among which keys names of the greatest are chosen is a matter of their order, as in `reading_name`."""
    return rows_and_keys(plan, as_asked=any(ask.top is not None for ask in asks)), frozenset(map(_in_any_order, asks))


def places_alike(asks: Sequence[Ask], others: Sequence[Ask]) -> tuple[int, ...]:
    """Of each reading, its number among those of a question that has it too. Raises ValueError where one has not."""
    found = list(map(_in_any_order, others))
    return tuple(found.index(_in_any_order(ask)) for ask in asks)


def _in_any_order(ask: Ask) -> Ask:
    """The columns of which a cut asks whether they are clamped come in the question's order, which changes nothing."""
    return replace(ask, clamped=tuple(sorted(ask.clamped, key=canonical_text)))


def _nameless(plan: Plan) -> tuple[KeyColumn, ...]:
    return tuple(replace(column, name="") for column in plan.source.source.columns)


def key_order(plan: Plan) -> tuple[int, ...]:
    """The numbers of the plan's key columns in their canonical order: that of their texts; as asked where keys are not
    listed."""
    columns = _nameless(plan)
    numbers = range(len(columns))
    return tuple(sorted(numbers, key=lambda n: canonical_text(columns[n])) if plan.source.source.listed else numbers)


def places_in_order(plan: Plan) -> list[int]:
    """Of each key column as the plan asks for it, its place in the canonical order."""
    order = key_order(plan)
    return [order.index(number) for number in range(len(order))]


def reordered(values: Sequence[int], plan: Plan, places: Sequence[int]) -> tuple[int, ...] | None:
    """A reading's numbers, one a listed key, in the order of the plan's keys. places: of each column of the question
    that they were stored for, its place in the canonical order. None where these are no such numbers."""
    order, columns = key_order(plan), plan.source.source.columns
    if sorted(places) != list(range(len(order))) or len(values) != plan.source.source.keys:
        return None
    if list(places) == places_in_order(plan):
        return tuple(values)
    strides, step = [0] * len(columns), 1
    for place in reversed(places):
        number = order[place]
        strides[number], step = step, step * (columns[number].count or 0)
    found = [0]
    for column, stride in zip(columns, strides, strict=True):
        found = [start + n * stride for start in found for n in range(column.count or 0)]
    return tuple(values[at] for at in found)


def _unnamed(column: Measured) -> Measured:
    return replace(column, name="", beside=None if column.beside is None else _unnamed(column.beside))


def reading_names(plan: Plan, ask: Ask, catalog: Catalog, analyst: str, *, selection: str = "") -> tuple[str, ...]:
    """The name of a reading, and where its keys are asked for in another order than the canonical one, the name that
    earlier versions gave it."""
    name = reading_name(plan, ask, catalog, analyst, selection=selection)
    if ask.top is not None or list(key_order(plan)) == list(range(len(plan.source.source.columns))):
        return (name,)
    return (name, reading_name(plan, ask, catalog, analyst, selection=selection, as_asked=True))


def reading_name(
    plan: Plan, ask: Ask, catalog: Catalog, analyst: str, *, selection: str = "", as_asked: bool = False
) -> str:
    """Of a reading under the catalog's facts that it uses and its data version. selection: where keys are not listed,
    the request whose charge selected them. as_asked: with the keys in the question's own order, as in any case where
    names of the greatest are chosen, since among which keys is a matter of their order."""
    as_asked = as_asked or ask.top is not None
    unnamed = replace(
        ask, column=None if ask.column is None else _unnamed(ask.column),
        clamped=tuple(sorted((_unnamed(column) for column in ask.clamped), key=canonical_text)),
    )
    measured = (ask.column, *ask.clamped)
    function = "COUNT DISTINCT" if ask.what == "distinct" else "COUNT"
    used = facts_of(replace(plan, calls=tuple(AggregateCall(function, column) for column in measured)), catalog)
    of = (rows_and_keys(plan, as_asked=as_asked), unnamed, selection)
    return digest(("dpcurator reading 1", analyst, used, catalog.data_version, *of))


def selection_name(plan: Plan, catalog: Catalog, analyst: str) -> str:
    """Of the selection of a plan's unknown keys."""
    used = facts_of(replace(plan, calls=()), catalog)
    return digest(("dpcurator selection 1", analyst, used, catalog.data_version, rows_and_keys(plan)))
