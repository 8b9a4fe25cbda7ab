"""A row expression in words like SQL's: the name of what is measured or grouped by, and what messages call it.

One spelling for one expression, whatever words it was asked in; it is part of plans and their digests, so what people
read is made of it by `plan/shown_name.py`. Checked in tests/language/test_spelling.py.
"""

from __future__ import annotations

import math
from typing import Final

from dpcurator.catalog.model import Table
from dpcurator.language.functions import BY_NAME
from dpcurator.language.rows import (
    AllOf,
    Among,
    AnyOf,
    Choose,
    Compare,
    Compute,
    Constant,
    Expression,
    Field,
    IsMissing,
    Like,
    Missing,
    Not,
    Truth,
    When,
)

LONGEST: Final = 100  # characters


def spelled(part: Expression, table: Table) -> str:
    """The words, cut after LONGEST characters."""
    text = _spelled(part, table, [LONGEST])
    return text if len(text) <= LONGEST else text[: LONGEST - 3] + "..."


def _spelled(part: Expression, table: Table, left: list[int]) -> str:
    if left[0] < 0:
        return "..."

    def inner(one: Expression, bracketed: bool = False) -> str:
        text = _spelled(one, table, left)
        return f"({text})" if bracketed and _is_open(one) else text

    left[0] -= 1
    match part:
        case Field(index):
            return table.columns[index].name if index < len(table.columns) else f"column {index}"
        case Constant(value):
            return "'" + value.replace("'", "''") + "'" if isinstance(value, str) else str(value)
        case Missing() | Truth(None):
            return "NULL"
        case Truth(value):
            return "TRUE" if value else "FALSE"
        case Compute("to_f", (only,)):
            return inner(only)
        case Compute("clip", (Field(index) as only,), _, bounds) if bounds == own_bounds(index, table):
            return inner(only)
        case Compute(name, parts, _, literals):
            known = BY_NAME.get(name)
            if known is None or literals or not known.sign:
                shown = [inner(one) for one in parts] + ["NULL" if one is None else str(one) for one in literals]
                return f"{name.upper() if known is None else known.spelled}({', '.join(shown)})"
            sides = [inner(one, True) for one in parts]
            return f"{known.sign}{sides[0]}" if len(known.parts) == 1 else f" {known.sign} ".join(sides)
        case Choose((When(condition, Constant(1)), When(Not(denied), Constant(0))), Missing()) if condition == denied:
            return inner(condition)  # a condition as a value
        case Choose(branches, otherwise):
            said = [f"WHEN {inner(one.condition)} THEN {inner(one.value)}" for one in branches]
            return f"CASE {' '.join(said)} ELSE {inner(otherwise)} END"
        case Compare("=", operand, Constant(1, "integer")) if _is_condition(operand, table):
            return inner(operand)
        case Compare(op, one, other):
            return f"{inner(one, True)} {op} {inner(other, True)}"
        case Among(operand, values):
            return f"{inner(operand, True)} IN ({', '.join(inner(value) for value in values)})"
        case Like(operand, pattern, escape):
            return f"{inner(operand, True)} LIKE '{pattern}'" + (f" ESCAPE '{escape}'" if escape else "")
        case IsMissing(operand):
            return f"{inner(operand, True)} IS NULL"
        case Not(only):
            return f"NOT {inner(only, True)}"
        case AllOf(parts):
            return " AND ".join(inner(one, True) for one in parts)
        case AnyOf(parts):
            return " OR ".join(inner(one, True) for one in parts)


def _is_open(part: Expression) -> bool:
    """Whether it needs brackets inside another."""
    if isinstance(part, Compute):
        return part.function in BY_NAME and BY_NAME[part.function].sign != ""
    return isinstance(part, Compare | Among | Like | IsMissing | Not | AllOf | AnyOf)


def _is_condition(operand: Expression, table: Table) -> bool:
    return isinstance(operand, Field) and operand.index < len(table.columns) and (
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
