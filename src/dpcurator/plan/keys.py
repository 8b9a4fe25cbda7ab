"""What GROUP BY means: an expression of rows with its public list of keys, or without one where the catalog allows it.

A column with bounds and no list is clamped to them before it is used, so that every row has a listed key. Missing is
in no group unless a list names NULL. Checked in tests/plan/test_keys.py.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from dpcurator.catalog.model import Catalog, Table, Value
from dpcurator.errors import Refusal
from dpcurator.language.names import quote
from dpcurator.language.question import Syntax, place
from dpcurator.language.rows import (
    AllOf,
    Among,
    AnyOf,
    Choose,
    Compare,
    Compute,
    Field,
    IsMissing,
    Like,
    Not,
    Operand,
    When,
    fields,
)  # fmt: skip
from dpcurator.language.spelling import own_bounds, spelled
from dpcurator.language.typed import Typed, own_type
from dpcurator.plan.nodes import KeyColumn
from dpcurator.plan.public_keys import MOST_PLAIN, digest_of, image, selectable, without_list


def keyed(part: Syntax, typed: Typed, table: Table, catalog: Catalog) -> KeyColumn:
    """The key column of `GROUP BY part`. Raises Refusal."""
    at = place(part)
    type = own_type(typed)
    if type == "local":
        raise Refusal(
            "a zone's wall clock is no key.", where=at,
            cure="Write DATE_TRUNC('day', at AT TIME ZONE 'Europe/Paris'), which is a date.",
        )  # fmt: skip
    if type == "interval":
        raise Refusal("an interval is no key.", where=at, cure="Add it to a date or a timestamp.")
    read = typed.as_type(type)
    operand = clamped(read, table)
    name = quote(spelled(operand, table)) if isinstance(read, Field) else spelled(operand, table)
    keys = _image(operand, name, at, table)
    if isinstance(read, Field) and keys is not None and operand is not read and len(keys) > MOST_PLAIN:
        raise Refusal(
            f"GROUP BY {name} would have {len(keys):,} keys; a column by itself has at most {MOST_PLAIN:,}.", where=at,
            cure=_bins(typed, name),
        )  # fmt: skip
    if isinstance(read, Field):
        _finite(keys, name, at)
    if keys is None:
        return _unknown(read, operand, typed, name, at, table, catalog)
    said = table.columns[read.index].name if isinstance(read, Field) else spelled(operand, table)
    return KeyColumn(said, operand, type, len(keys), digest_of(keys))


def _image(operand: Operand, name: str, at: str, table: Table) -> tuple[Value, ...] | None:
    try:
        return image(operand, table)
    except Refusal as refused:
        long = refused
    raise Refusal(f"GROUP BY {name}: {long.what}", where=at, cure=long.cure)


def _unknown(
    read: Operand, operand: Operand, typed: Typed, name: str, at: str, table: Table, catalog: Catalog
) -> KeyColumn:
    """Keys that are selected privately, where that is declared. Raises Refusal."""
    part = read if isinstance(read, Field) else operand
    if selectable(part, table) and catalog.delta > 0:
        said = table.columns[read.index].name if isinstance(read, Field) else spelled(operand, table)
        return KeyColumn(said, part, own_type(typed), None, "")
    if typed.type == "float" and not isinstance(read, Field):
        raise Refusal(
            f"GROUP BY {name}: a computed float has no list of keys.", where=at,
            cure="Write FLOOR(x / 10) * 10, ROUND(x), or CASE WHEN x < 10 THEN 'low' ELSE 'high' END.",
        )  # fmt: skip
    missing = [table.columns[index] for index in without_list(read, table)]
    missing = missing or [table.columns[index] for index in sorted(fields(read))]
    column = missing[0]
    ways = [f'{quote(column.name)} = {{ type = "{column.type}", keys = [...] }}']
    if column.kind != "float":
        ways.append(f'{quote(column.name)} = {{ type = "{column.type}", keys = "unknown" }} with a delta above 0')
    hint = " " + _bins(typed, name) if isinstance(read, Field) and typed.type in ("integer", "float", "date") else ""
    raise Refusal(
        f"GROUP BY {name} needs a public list of keys, and none is declared (which values occur is private).", where=at,
        cure=f"The steward lists them in the catalog, under [tables.{table.name}.columns]: {', or '.join(ways)}.{hint}",
    )  # fmt: skip


def _bins(typed: Typed, name: str) -> str:
    """How to give the edges of a histogram."""
    if typed.type == "date":
        return f"Or group by DATE_TRUNC('month', {name}), within declared bounds."
    if typed.type == "timestamp":
        return f"Or group by DATE_TRUNC('day', {name}), within declared bounds."
    return f"Or give the edges: FLOOR({name} / 10) * 10 within declared bounds, or CASE WHEN {name} < 10 THEN ... END."


def _finite(keys: tuple[Value, ...] | None, name: str, at: str) -> None:
    if any(isinstance(key, float) and math.isinf(key) for key in keys or ()):
        raise Refusal(
            f"GROUP BY {name}: its public list holds an infinity, which is no key.", where=at,
            cure="The steward takes it out of the list, or of the public table that the list comes from.",
        )  # fmt: skip


def clamped(part: Operand, table: Table) -> Operand:
    """The expression with each bounded column that has no list moved into its bounds first."""
    moved: dict[int, Operand] = {}
    for index in fields(part):
        column = table.columns[index]
        ends = own_bounds(index, table)
        if (
            column.keys is None
            and not (isinstance(part, Field) and column.unknown_keys)
            and ends
            and ends[0] <= ends[1]
        ):
            moved[index] = Compute("clip", (Field(index, column.kind),), column.kind, ends)
    return _put(part, moved) if moved else part


def _put(part: Any, moved: Mapping[int, Operand]) -> Any:
    """The expression with other operands in the place of some columns."""

    def again(inner: Any) -> Any:
        return _put(inner, moved)

    match part:
        case Field(index):
            return moved.get(index, part)
        case Compute(_, parts):
            return replace(part, parts=tuple(map(again, parts)))
        case AllOf(conditions) | AnyOf(conditions):
            return replace(part, parts=tuple(map(again, conditions)))
        case Choose(branches, otherwise):
            made = tuple(When(again(one.condition), again(one.value)) for one in branches)
            return replace(part, branches=made, otherwise=again(otherwise))
        case Compare(op, left, right):
            return Compare(op, again(left), again(right))
        case Among(operand) | Like(operand) | IsMissing(operand):
            return replace(part, operand=again(operand))
        case Not(only):
            return Not(again(only))
    return part
