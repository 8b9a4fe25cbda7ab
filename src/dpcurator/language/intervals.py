"""Bounds of an expression, from the declared bounds of its columns: one rule a function (semantics 2.3).

Law: where every column is within its bounds, the value of the expression is within its bounds, or missing. Rules may be
wide. They decide only whether a bound exists and how wide it is: values are clamped to it when they are measured, so no
promise rests on them. The rules of numbers are in `span_numbers`, of dates in `span_dates`, their ends in `spans`. An
end that is None is missing. Checked in tests/language/test_intervals.py.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any, Final

from dpcurator.catalog.model import Table
from dpcurator.language.days import FIRST_DAY, LAST_DAY
from dpcurator.language.functions.function import LONGEST
from dpcurator.language.rows import Choose, Compute, Constant, Field, Missing, Operand, walk
from dpcurator.language.span_dates import moved_moment, of_days, of_moments, part_of, zoned
from dpcurator.language.span_numbers import (
    absolute,
    added,
    apart_from_zero,
    clip,
    exponential,
    extreme,
    logarithm,
    negative,
    power,
    product,
    quotient,
    remainder,
    root,
    rounded,
    signs,
    square,
)
from dpcurator.language.spans import EVERYTHING, NOTHING, Bounds, Span, outward, rising, union


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
            if name == "mul_i" or name == "mul_f":
                found = square(within[0]) if parts[0] == parts[1] else product(*within)
            elif name == "div_f":
                found = quotient(within[0], apart_from_zero(parts[1], within[1]))
            elif name == "ln":
                found = logarithm(apart_from_zero(parts[0], within[0]))
            elif name in ("least", "greatest"):
                found = extreme(name, parts, within)
            else:
                found = _RULES[name](within, literals)
            if any(one.never for one in within) and name not in ("coalesce", "least", "greatest", "concat"):
                return NOTHING
            return outward(found, kind)
    raise TypeError(f"no rule for {part!r}")  # pragma: no cover - the match is exhaustive


def _text(parts: Sequence[Span], literals: Any = ()) -> Span:
    return EVERYTHING


_RULES: Final[dict[str, Callable[[Sequence[Span], Any], Span]]] = {
    "add_i": added, "add_f": added,
    "sub_i": lambda parts, _: added([parts[0], negative(parts[1])]),
    "sub_f": lambda parts, _: added([parts[0], negative(parts[1])]),
    "mod_i": lambda parts, _: remainder(parts, "whole"), "mod_f": remainder,
    "neg_i": lambda parts, _: negative(parts[0]), "neg_f": lambda parts, _: negative(parts[0]),
    "abs_i": lambda parts, _: absolute(parts[0]), "abs_f": lambda parts, _: absolute(parts[0]),
    "sign_i": signs, "sign_f": signs,
    "floordiv_i": rising("floordiv_i", "integer"), "round_i": rising("round_i", "integer"),
    "sqrt": root, "exp": exponential, "power": power,
    "floor": rising("floor", "float"), "ceil": rising("ceil", "float"), "round": rising("round", "float"),
    "round_f": rounded, "to_f": lambda parts, _: parts[0],
    "coalesce": lambda parts, _: union(parts), "clip": clip,
    "length": lambda parts, _: Span(Fraction(0), Fraction(LONGEST)),
    "i_of_text": _text, "f_of_text": _text,
    "date_of_text": lambda parts, _: Span(Fraction(FIRST_DAY), Fraction(LAST_DAY)),
    "date_part": part_of, "time_part": part_of,
    "date_trunc": of_days(rising("date_trunc", "integer")), "date_add": of_days(rising("date_add", "integer")),
    "date_of_time": of_moments(rising("date_of_time", "integer")),
    "time_of_date": of_days(rising("time_of_date", "integer")),
    "time_trunc": of_moments(rising("time_trunc", "integer")), "time_add": of_moments(moved_moment),
    "local_of_time": of_moments(zoned), "time_of_local": of_moments(zoned),
    **dict.fromkeys(("lower", "upper", "trim", "ltrim", "rtrim", "substring", "concat", "replace", "text_of_i",
                     "text_of_date"), _text),
}  # fmt: skip
RULED: Final = frozenset(_RULES) | {"mul_i", "mul_f", "div_f", "ln", "least", "greatest"}
