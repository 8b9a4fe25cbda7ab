"""A row expression in words like SQL's: the name of what is measured or grouped by, and what messages call it.

One spelling for one expression, whatever words it was asked in; it is part of plans and their digests, so what people
read is made of it by `plan/shown_name.py`. Checked in tests/language/test_spelling.py.
"""

from __future__ import annotations

import math
from typing import Final

from dpcurator.catalog.model import Table
from dpcurator.language import rows
from dpcurator.language.functions import BY_NAME

LONGEST: Final = 100  # characters


def spelled(part: rows.Expression, table: Table) -> str:
    """The words, cut after LONGEST characters."""
    text = _spelled(part, table, [LONGEST])
    return text if len(text) <= LONGEST else text[: LONGEST - 3] + "..."


def _spelled(part: rows.Expression, table: Table, left: list[int]) -> str:
    if left[0] < 0:
        return "..."

    def inner(one: rows.Expression, bracketed: bool = False) -> str:
        text = _spelled(one, table, left)
        return f"({text})" if bracketed and _is_open(one) else text

    left[0] -= 1
    match part:
        case rows.Field(index):
            return table.columns[index].name if index < len(table.columns) else f"column {index}"
        case rows.Constant(value):
            return "'" + value.replace("'", "''") + "'" if isinstance(value, str) else str(value)
        case rows.Missing() | rows.Truth(None):
            return "NULL"
        case rows.Truth(value):
            return "TRUE" if value else "FALSE"
        case rows.Compute("to_f", (only,)):
            return inner(only)
        case rows.Compute("clip", (rows.Field(index) as only,), _, bounds) if bounds == own_bounds(index, table):
            return inner(only)
        case rows.Compute(name, parts, _, literals):
            known = BY_NAME.get(name)
            if known is None or literals or not known.sign:
                shown = [inner(one) for one in parts] + ["NULL" if one is None else str(one) for one in literals]
                return f"{name.upper() if known is None else known.spelled}({', '.join(shown)})"
            sides = [inner(one, True) for one in parts]
            return f"{known.sign}{sides[0]}" if len(known.parts) == 1 else f" {known.sign} ".join(sides)
        case rows.Choose(
            (rows.When(condition, rows.Constant(1)), rows.When(rows.Not(denied), rows.Constant(0))), rows.Missing()
        ) if condition == denied:
            return inner(condition)  # a condition as a value
        case rows.Choose(branches, otherwise):
            said = [f"WHEN {inner(one.condition)} THEN {inner(one.value)}" for one in branches]
            return f"CASE {' '.join(said)} ELSE {inner(otherwise)} END"
        case rows.Compare("=", operand, rows.Constant(1, "integer")) if _is_condition(operand, table):
            return inner(operand)
        case rows.Compare(op, one, other):
            return f"{inner(one, True)} {op} {inner(other, True)}"
        case rows.Among(operand, values):
            return f"{inner(operand, True)} IN ({', '.join(inner(value) for value in values)})"
        case rows.Like(operand, pattern, escape):
            return f"{inner(operand, True)} LIKE '{pattern}'" + (f" ESCAPE '{escape}'" if escape else "")
        case rows.IsMissing(operand):
            return f"{inner(operand, True)} IS NULL"
        case rows.Not(only):
            return f"NOT {inner(only, True)}"
        case rows.AllOf(parts):
            return " AND ".join(inner(one, True) for one in parts)
        case rows.AnyOf(parts):
            return " OR ".join(inner(one, True) for one in parts)


def _is_open(part: rows.Expression) -> bool:
    """Whether it needs brackets inside another."""
    if isinstance(part, rows.Compute):
        return part.function in BY_NAME and BY_NAME[part.function].sign != ""
    return isinstance(part, rows.Compare | rows.Among | rows.Like | rows.IsMissing | rows.Not | rows.AllOf | rows.AnyOf)


def _is_condition(operand: rows.Expression, table: Table) -> bool:
    return isinstance(operand, rows.Field) and operand.index < len(table.columns) and (
        table.columns[operand.index].type == "boolean"
    )


def own_bounds(index: int, table: Table) -> tuple[int, int] | tuple[float, float] | None:
    """A column's bounds as values of its kind; None when it has none."""
    column = table.columns[index] if index < len(table.columns) else None
    if column is None or column.lower is None or column.upper is None or column.kind == "text":
        return None
    if column.kind == "float":
        return float(column.lower) + 0.0, float(column.upper) + 0.0
    return math.ceil(column.lower), math.floor(column.upper)
