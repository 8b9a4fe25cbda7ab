"""Row expressions in DuckDB's SQL: what `language/evaluate.py` says, in operations that raise on no row.

Operands and predicates are here; functions in `numbers`, `texts` and `dates`. A guard is on the
operand itself (`greatest`, `least` or a CASE, not a branch around the operation), so that it holds whichever branches
an optimiser evaluates. Seen to raise, and so guarded: sqrt and log2 of a number below 0 (1.5), casts, dates far away,
% by 0. LIKE is not written as LIKE: `_like` says why.
Every function has its text in FUNCTIONS below. Checked in tests/engines (vectors, conformance, levels).
"""

from __future__ import annotations

from typing import Final

from dpcurator.engines.duckdb.dates import DATES
from dpcurator.engines.duckdb.levels import TYPES, Levels, Term, Write
from dpcurator.engines.duckdb.numbers import NUMBERS
from dpcurator.engines.duckdb.texts import TEXTS, short
from dpcurator.language import patterns, rows

FUNCTIONS: Final[dict[str, Write]] = {**NUMBERS, **TEXTS, **DATES}


def operand(part: rows.Operand, levels: Levels) -> Term:
    """The text of an operand, in its kind's type."""
    match part:
        case rows.Field(index):
            return Term(f"x{index}")
        case rows.Constant(value, kind):
            return levels.constant(value, kind)
        case rows.Missing(kind):
            return Term(f"CAST(NULL AS {TYPES[kind]})")
        case rows.Compute(function, parts, kind, literals):
            if function == "clip" and kind == "float":
                literals = tuple(float(literal) for literal in literals if literal is not None)
            found = FUNCTIONS[function](levels, tuple(operand(inner, levels) for inner in parts), literals)
            return short(levels, found) if kind == "text" else found
        case rows.Choose(branches, otherwise, kind):
            sides: list[Term] = []
            for branch in branches:
                sides += [truth(branch.condition, levels), operand(branch.value, levels)]
            chosen = "CASE" + " WHEN {} THEN {}" * len(branches) + " ELSE {} END"
            return levels.let(f"CAST({chosen} AS {TYPES[kind]})", *sides, operand(otherwise, levels))


def truth(predicate: rows.Predicate, levels: Levels) -> Term:
    """The text of a predicate, a BOOLEAN."""
    match predicate:
        case rows.Truth(value):
            return Term({True: "true", False: "false", None: "CAST(NULL AS BOOLEAN)"}[value])
        case rows.Compare(op, left, right):
            sides = [operand(left, levels), operand(right, levels)]
            if "float" in (left.kind, right.kind):  # an integer meets a double as a double
                kinds = left.kind, right.kind
                sides = [_double(levels, *pair) for pair in zip(sides, kinds, strict=True)]
            return levels.inline(f"({{}} {op} {{}})", *sides)
        case rows.Among(part, values):
            listed = [levels.constant(value.value, part.kind) for value in values]
            return levels.inline("({} IN (" + ", ".join(["{}"] * len(values)) + "))", operand(part, levels), *listed)
        case rows.Like(part, pattern, escape):
            return _like(levels, operand(part, levels), patterns.tokens(pattern, escape))
        case rows.IsMissing(part):
            return levels.inline("({} IS NULL)", operand(part, levels))
        case rows.Not(part):
            return levels.inline("(NOT {})", truth(part, levels))
        case rows.AllOf(parts):
            return _joined(levels, " AND ", [truth(part, levels) for part in parts])
        case rows.AnyOf(parts):
            return _joined(levels, " OR ", [truth(part, levels) for part in parts])


def _joined(levels: Levels, word: str, parts: list[Term]) -> Term:
    return levels.inline("(" + word.join(["{}"] * len(parts)) + ")", *parts)


def _double(levels: Levels, term: Term, kind: str) -> Term:
    return levels.inline("CAST({} AS DOUBLE)", term) if kind == "integer" else term


def _like(levels: Levels, text: Term, tokens: tuple[patterns.Token, ...]) -> Term:
    """LIKE in time that is linear in the text. DuckDB's own goes back to every % (1.5 and 2.0: more than the age of the
    world for eight of them on 200 letters), so it is never used: a pattern is an equality, a beginning, an end or a
    text inside, or else a regular expression, which RE2 matches without going back."""
    parts = patterns.simple(tokens)
    match parts:
        case (whole,):
            return levels.inline("({} = {})", text, levels.constant(whole, "text"))
        case (start, end):
            size = Term(str(len((start + end).encode())))  # so that a beginning and an end do not overlap
            ends = (levels.constant(start, "text"), levels.constant(end, "text"))
            found = "(starts_with({0}, {1}) AND suffix({0}, {2}) AND strlen({0}) >= {3})"
            return levels.inline(found, text, *ends, size)
        case ("", inside, ""):
            return levels.inline("contains({}, {})", text, levels.constant(inside, "text"))
    fits = levels.constant(patterns.regular(tokens), "text")
    return levels.inline("regexp_full_match({}, {})", text, fits)
