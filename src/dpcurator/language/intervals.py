"""Bounds of an expression, from the declared bounds of its columns: one rule a function (semantics 2.3).

Law: where every column is within its bounds, the value of the expression is within its bounds, or missing. Rules may be
wide. They decide only whether a bound exists and how wide it is: values are clamped to it when they are measured, so no
promise rests on them. A function's rule is in its record (`language/functions`): those of numbers are written in
`span_numbers`, of dates in `span_dates`, their ends in `spans`. An end that is None is missing. Checked in
tests/language/test_intervals.py.
"""

from __future__ import annotations

import math
from fractions import Fraction

from dpcurator.catalog.model import Table
from dpcurator.language.functions import BY_NAME
from dpcurator.language.rows import Choose, Compute, Constant, Field, Missing, Operand, walk
from dpcurator.language.spans import EVERYTHING, NOTHING, Bounds, Span, outward, union


def bounds(part: Operand, table: Table) -> Bounds | None:
    """Between which numbers the expression is, where it is present; None when a bound is missing."""
    found = span(part, table).both
    if found is None or part.kind == "text" or isinstance(part, Field):
        return found
    if part.kind == "integer":
        return Fraction(math.floor(found[0])), Fraction(math.ceil(found[1]))
    return found


def unbounded(part: Operand, table: Table) -> int | None:
    """The first column, by its place in the expression, that has no bounds and may be why the expression has none."""
    for one in walk(part):
        if isinstance(one, Field) and one.kind != "text" and span(one, table).both is None:
            return one.index
    return None


def span(part: Operand, table: Table) -> Span:
    """As `bounds`, with each end by itself."""
    match part:
        case Field(index):
            column = table.columns[index]
            if column.type == "boolean":
                return Span(Fraction(0), Fraction(1))
            if column.lower is None or column.upper is None or column.kind == "text":
                return EVERYTHING
            return Span(column.lower, column.upper)
        case Constant(value):
            if isinstance(value, str) or value is None or not math.isfinite(value):
                return EVERYTHING
            return Span(Fraction(value), Fraction(value))
        case Missing():
            return NOTHING
        case Choose(branches, otherwise):
            return union([*(span(branch.value, table) for branch in branches), span(otherwise, table)])
        case Compute(name, parts, kind, literals):
            within = [span(one, table) for one in parts]
            function = BY_NAME[name]
            if function.never and any(one.never for one in within):
                return NOTHING
            return outward(function.span(within, literals, parts), kind)
    raise TypeError(f"no rule for {part!r}")  # pragma: no cover - the match is exhaustive
