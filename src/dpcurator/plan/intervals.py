"""Bounds of an expression, from the declared bounds of its columns (MEANING 2.3).

They decide only whether a bound exists and how wide it is: values are clamped to them when they are measured, so no
promise rests on them. Checked in tests/plan/test_intervals.py.
"""

from __future__ import annotations

from fractions import Fraction

from dpcurator.catalog.model import Table
from dpcurator.plan.rows import Field, Operand

Bounds = tuple[Fraction, Fraction]


def bounds(part: Operand, table: Table) -> Bounds | None:
    """Between which numbers the expression is, where it is present; None when a bound is missing."""
    if isinstance(part, Field):
        column = table.columns[part.index]
        if column.type == "boolean":
            return Fraction(0), Fraction(1)
        return None if column.lower is None or column.upper is None else (column.lower, column.upper)
    return None
