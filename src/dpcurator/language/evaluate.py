"""What a row expression is of one row, in plain Python; what each function is, its record says (`language/functions`).

Total: every operand has a value and every predicate a truth on every row of values of the right kinds; nothing here
raises.
The reference engine runs it on rows, the binder on lists of keys. Checked in tests/engines/test_vectors.py (tables
worked by hand) and tests/engines/test_conformance.py (against the other engines).
"""

from __future__ import annotations

from dpcurator.catalog.model import Value
from dpcurator.language import patterns, rows
from dpcurator.language.functions import BY_NAME

Row = tuple[Value, ...]


def value(part: rows.Operand, row: Row) -> Value:
    """The value, None where it is missing."""
    match part:
        case rows.Field(index):
            return row[index]
        case rows.Constant(constant, kind):
            return float(constant) + 0.0 if kind == "float" and constant is not None else constant
        case rows.Missing():
            return None
        case rows.Compute(function, parts, kind, literals):
            return BY_NAME[function].of(tuple(value(inner, row) for inner in parts), kind, literals)
        case rows.Choose(branches, otherwise):
            chosen = (branch.value for branch in branches if truth(branch.condition, row) is True)
            return value(next(chosen, otherwise), row)


def truth(predicate: rows.Predicate, row: Row) -> bool | None:
    """True, False, or None for unknown."""
    match predicate:
        case rows.Truth(constant):
            return constant
        case rows.Compare(op, left, right):
            return compare(op, value(left, row), value(right, row))
        case rows.Among(part, values):
            found = value(part, row)
            return None if found is None else any(found == constant.value for constant in values)
        case rows.Like(part, pattern, escape):
            text = value(part, row)
            return None if text is None else patterns.fits(str(text), patterns.tokens(pattern, escape))
        case rows.IsMissing(part):
            return value(part, row) is None
        case rows.Not(part):
            inner = truth(part, row)
            return None if inner is None else not inner
        case rows.AllOf(parts):
            found_parts = [truth(part, row) for part in parts]
            return False if False in found_parts else None if None in found_parts else True
        case rows.AnyOf(parts):
            found_parts = [truth(part, row) for part in parts]
            return True if True in found_parts else None if None in found_parts else False


def compare(op: str, a: Value, b: Value) -> bool | None:
    """Unknown when either is missing; an integer meets a double as a double, rounded to even."""
    if a is None or b is None:
        return None
    if isinstance(a, float) or isinstance(b, float):
        a, b = float(a), float(b)
    return rows.COMPARE[op](a, b)
