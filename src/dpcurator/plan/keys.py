"""What GROUP BY means: an expression of rows with its public list of keys, or without one where the catalog allows it.

A column with bounds and no list is clamped to them before it is used, so that every row has a listed key. Missing is
in no group unless a list names NULL. Checked in tests/plan/test_keys.py.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

from dpcurator.catalog.model import Catalog, Table, Value
from dpcurator.errors import Mend, Refusal
from dpcurator.language import rows
from dpcurator.language.names import quote
from dpcurator.language.question import Syntax, place
from dpcurator.language.render import words
from dpcurator.language.spelling import own_bounds, spelled
from dpcurator.language.typed import Typed, own_type
from dpcurator.plan.nodes import KeyColumn
from dpcurator.plan.public_keys import MOST_PLAIN, digest_of, image, same_in_a_unit, selectable, without_list
from dpcurator.plan.relations import Relation
from dpcurator.plan.ruled_out import image_in
from dpcurator.plan.undated import clipped_days, undated


def keyed(
    part: Syntax, typed: Typed, table: Table, catalog: Catalog, relation: Relation | None = None, *,
    asked: str = "GROUP BY {}", selected: bool = True,
) -> KeyColumn:
    """The key column of `GROUP BY part`. relation: what is grouped, whose WHERE may rule keys out. asked: in which
    words the question has it, as "MODE({})". selected: whether keys nobody listed would do. Raises Refusal."""
    at = place(part)
    type = own_type(typed)
    if type == "local":
        raise Refusal(
            "a zone's wall clock is no key.", where=at,
            cure="Write DATE_TRUNC('day', at AT TIME ZONE 'Europe/Paris'), which is a date.",
        )
    if type == "interval":
        raise Refusal("an interval is no key.", where=at, cure="Add it to a date or a timestamp.")
    read = typed.as_type(type)
    operand = clamped(read, table)
    name = quote(spelled(operand, table)) if isinstance(read, rows.Field) else spelled(operand, table)
    name = words(part) or name
    said = asked.format(name)
    keys = _image(operand, said, at, table, relation)
    if isinstance(read, rows.Field) and keys is not None and operand is not read and len(keys) > MOST_PLAIN:
        raise Refusal(
            f"{said} would have {len(keys):,} keys; a column by itself has at most {MOST_PLAIN:,}.", where=at,
            cure=_bins(typed, name),
        )
    if isinstance(read, rows.Field):
        _finite(keys, said, at)
    if keys is None:
        return _unknown(part, read, operand, typed, name, at, table, catalog, asked, selected)
    shown = table.columns[read.index].name if isinstance(read, rows.Field) else spelled(operand, table)
    return KeyColumn(shown, operand, type, len(keys), digest_of(keys), same_in_a_unit(operand, table))


def _image(
    operand: rows.Operand, said: str, at: str, table: Table, relation: Relation | None = None
) -> tuple[Value, ...] | None:
    try:
        return image(operand, table) if relation is None else image_in(operand, table, relation)
    except Refusal as refused:
        long = refused
    raise Refusal(f"{said}: {long.what}", where=at, cure=long.cure)


def _unknown(
    part: Syntax, read: rows.Operand, operand: rows.Operand, typed: Typed, name: str, at: str, table: Table,
    catalog: Catalog, asked: str, selected: bool,
) -> KeyColumn:
    """Keys that are selected privately, where that is declared. Raises Refusal."""
    said = asked.format(name)
    key = read if isinstance(read, rows.Field) else operand
    if selectable(key, table) and catalog.delta > 0:
        shown = table.columns[read.index].name if isinstance(read, rows.Field) else spelled(operand, table)
        return KeyColumn(shown, key, own_type(typed), None, "", same_in_a_unit(key, table))
    if typed.type == "float" and not isinstance(read, rows.Field):
        ways = [f"FLOOR({name})", f"CASE WHEN {name} < 10 THEN 'low' ELSE 'high' END"]
        floor = rows.Compute("floor", (operand,), "integer")
        if _image(floor, said, at, table) is None:  # no bounds: edges alone will do
            ways = ways[1:]
        raise Refusal(
            f"{said}: a computed float has no list of keys.", where=at, cure=f"Write {' or '.join(ways)}.",
            mends=tuple(Mend(way, name, "all words") for way in ways),
        )
    if table not in catalog.tables and table.unit not in [table.columns[index].name for index in rows.fields(read)]:
        ways = [f"CASE WHEN {name} < 10 THEN 'low' ELSE 'high' END"]
        ways = [f"CLIP({name}, 0, 10)", *ways] if typed.type == "integer" else ways
        least = {"date": "2024-01-01", "timestamp": "2024-01-01T00:00:00Z"}.get(typed.type)
        if typed.type == "text":
            ways = [f"CASE WHEN {name} = 'a' THEN 'a' ELSE 'other' END"]
        elif least is not None:
            ways = [f"CASE WHEN {name} < '{least}' THEN 'before' ELSE 'after' END"]
        elif typed.type == "uuid":
            ways = [f"CASE WHEN {name} = '{_UUID}' THEN 'this' ELSE 'other' END"]
        raise Refusal(
            f"{said} needs a public list of keys, and this column of a subquery has none.", where=at,
            cure=f"Write {' or '.join(ways)}.", mends=tuple(Mend(way, name, "all words") for way in ways),
        )
    missing = [table.columns[index] for index in without_list(read, table)]
    missing = missing or [table.columns[index] for index in sorted(rows.fields(read))]
    if any(column.name == table.unit for column in missing):
        grouped = asked.startswith("GROUP BY")
        away = "Take it out of GROUP BY; " if grouped else "Leave it out: who has most is private. "
        raise Refusal(
            f"{said} would answer for each protected unit by itself." if grouped else f"{said} would name a protected "
            "unit.", where=at, cure=f"{away}COUNT(DISTINCT {quote(table.unit or '')}) counts the units.",
            mends=(Mend("", name, "group by"),) if grouped else (),
        )
    column, header = missing[0], f"[tables.{quote(table.name)}.columns]"
    ways = [f'{quote(column.name)} = {{ type = "{column.type}", keys = {_KEYS[column.type]} }}']
    mends = [Mend(ways[0], header, "catalog")]
    if column.kind != "float" and selected:
        ways.append(f'{quote(column.name)} = {{ type = "{column.type}", keys = "unknown" }}')
        mends += [Mend(ways[1], header, "catalog")] if catalog.delta > 0 else []
        ways[1] += " with a delta above 0"
    binned = isinstance(read, rows.Field) and typed.type in ("integer", "float", "date")
    hint = " " + _bins(typed, name) if binned else ""
    if not isinstance(read, rows.Field) and typed.type in ("date", "integer") and all(undated(one) for one in missing):
        clipped = f"CLIP({name}, 0, 30)" if typed.type == "integer" else words(clipped_days(part, missing))
        if clipped is not None and words(part) is not None:
            hint = f" Or write {clipped}, with ends from public knowledge."
            mends.insert(0, Mend(clipped, name, "all words"))
    raise Refusal(
        f"{said} needs a public list of keys, and none is declared (which values occur is private).", where=at,
        cure=f"The steward lists them in the catalog, under {header}: {', or '.join(ways)}.{hint}", mends=tuple(mends),
    )


_UUID: Final = "5f0c3a52-6d1e-4c7b-9d3a-0a4f8e2b1c66"
_KEYS: Final = {
    "text": '["a", "b"]', "integer": "[0, 1]", "float": "[0.0, 0.5]", "boolean": "[true, false]",
    "date": '["2024-01-01", "2024-01-02"]', "uuid": '["5f0c3a52-6d1e-4c7b-9d3a-0a4f8e2b1c66"]',
    "timestamp": '["2024-01-01T00:00:00Z", "2024-01-01T01:00:00Z"]',
}


def _bins(typed: Typed, name: str) -> str:
    """How to give the edges of a histogram."""
    if typed.type == "date":
        return f"Or group by DATE_TRUNC('month', {name}), within declared bounds."
    if typed.type == "timestamp":
        return f"Or group by DATE_TRUNC('day', {name}), within declared bounds."
    edges = f"CASE WHEN {name} < 10 THEN 'low' ELSE 'high' END"
    return f"Or give the edges: {edges}; or, within declared bounds, FLOOR({name} / 10) * 10."


def _finite(keys: tuple[Value, ...] | None, said: str, at: str) -> None:
    if any(isinstance(key, float) and math.isinf(key) for key in keys or ()):
        raise Refusal(
            f"{said}: its public list holds an infinity, which is no key.", where=at,
            cure="The steward takes it out of the list, or of the public table that the list comes from.",
        )


def clamped(part: rows.Operand, table: Table) -> rows.Operand:
    """The expression with each bounded column that has no list moved into its bounds first."""
    moved: dict[int, rows.Operand] = {}
    for index in rows.fields(part):
        column = table.columns[index]
        ends = own_bounds(index, table)
        if (
            column.keys is None
            and not (isinstance(part, rows.Field) and column.unknown_keys)
            and ends
            and ends[0] <= ends[1]
        ):
            moved[index] = rows.Compute("clip", (rows.Field(index, column.kind),), column.kind, ends)
    return _put(part, moved) if moved else part


def _put(part: Any, moved: Mapping[int, rows.Operand]) -> Any:
    """The expression with other operands in the place of some columns."""

    def again(inner: Any) -> Any:
        return _put(inner, moved)

    match part:
        case rows.Field(index):
            return moved.get(index, part)
        case rows.Compute(_, parts):
            return replace(part, parts=tuple(map(again, parts)))
        case rows.AllOf(conditions) | rows.AnyOf(conditions):
            return replace(part, parts=tuple(map(again, conditions)))
        case rows.Choose(branches, otherwise):
            made = tuple(rows.When(again(one.condition), again(one.value)) for one in branches)
            return replace(part, branches=made, otherwise=again(otherwise))
        case rows.Compare(op, left, right):
            return rows.Compare(op, again(left), again(right))
        case rows.Among(operand) | rows.Like(operand) | rows.IsMissing(operand):
            return replace(part, operand=again(operand))
        case rows.Not(only):
            return rows.Not(again(only))
    return part
