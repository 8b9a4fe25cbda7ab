"""A row expression in words like SQL's: the name of what is measured or grouped by, and what messages call it.

One spelling for one expression, whatever words it was asked in. Checked in tests/language/test_spelling.py.
"""

from __future__ import annotations

import math
from typing import Final

from dpcurator.catalog.model import Table
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
)  # fmt: skip

LONGEST: Final = 100  # characters
_SIGNS: Final = {
    "add_i": "+", "add_f": "+", "sub_i": "-", "sub_f": "-", "mul_i": "*", "mul_f": "*", "mod_i": "%", "mod_f": "%",
    "div_f": "/", "concat": "||",
}  # fmt: skip
_NAMES: Final = {
    "abs_i": "ABS", "abs_f": "ABS", "sign_i": "SIGN", "sign_f": "SIGN", "round_i": "ROUND", "round_f": "ROUND",
    "text_of_i": "TEXT", "text_of_date": "TEXT", "i_of_text": "INTEGER", "f_of_text": "DOUBLE", "date_of_text": "DATE",
    "date_of_time": "DATE", "time_of_date": "TIMESTAMP", "time_part": "DATE_PART", "time_trunc": "DATE_TRUNC",
    "local_of_time": "LOCAL", "time_of_local": "UTC",
}  # fmt: skip


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
        case Compute("neg_i" | "neg_f", (only,)):
            return f"-{inner(only, True)}"
        case Compute(name, parts, _, literals) if name in _SIGNS and not literals:
            return f" {_SIGNS[name]} ".join(inner(one, True) for one in parts)
        case Compute(name, parts, _, literals):
            shown = [inner(one) for one in parts] + ["NULL" if one is None else str(one) for one in literals]
            return f"{_NAMES.get(name, name.upper())}({', '.join(shown)})"
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
        return part.function in _SIGNS or part.function.startswith("neg_")
    return isinstance(part, Compare | Among | Like | IsMissing | Not | AllOf | AnyOf)


def _is_condition(operand: Expression, table: Table) -> bool:
    return isinstance(operand, Field) and operand.index < len(table.columns) and (
        table.columns[operand.index].type == "boolean"
    )  # fmt: skip


def own_bounds(index: int, table: Table) -> tuple[int, int] | tuple[float, float] | None:
    """A column's bounds as values of its kind; None when it has none."""
    column = table.columns[index] if index < len(table.columns) else None
    if column is None or column.lower is None or column.upper is None or column.kind == "text":
        return None
    if column.kind == "float":
        return float(column.lower) + 0.0, float(column.upper) + 0.0
    return math.ceil(column.lower), math.floor(column.upper)
