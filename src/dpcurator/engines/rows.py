"""Row expressions in SQL: what `language/evaluate.py` says. What the operations are called is each engine's `Rows`.

An engine's own file says why no operation of its raises on a row. Checked in tests/engines (vectors, conformance,
levels).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from dpcurator.catalog.model import Kind
from dpcurator.engines.levels import Levels, Term, Write
from dpcurator.language import patterns, rows, zones


@dataclass(frozen=True, slots=True)
class Rows:
    """How one engine writes them. like: whether a text fits a pattern. finish: a function's result, made canonical."""

    types: Mapping[Kind, str]
    functions: Mapping[str, Write]
    like: Callable[[Levels, Term, tuple[patterns.Token, ...]], Term]
    finish: Callable[[Levels, Term, Kind], Term]

    def operand(self, part: rows.Operand, levels: Levels) -> Term:
        """The text of an operand, in its kind's type."""
        match part:
            case rows.Field(index):
                return Term(f"x{index}")
            case rows.Constant(value, kind):
                return levels.constant(value, kind)
            case rows.Missing(kind):
                return Term(f"CAST(NULL AS {self.types[kind]})")
            case rows.Compute(function, parts, kind, literals):
                if function == "clip" and kind == "float":
                    literals = tuple(float(literal) for literal in literals if literal is not None)
                inside = tuple(self.operand(inner, levels) for inner in parts)
                return self.finish(levels, self.functions[function](levels, inside, literals), kind)
            case rows.Choose(branches, otherwise, kind):
                sides: list[Term] = []
                for branch in branches:
                    sides += [self.truth(branch.condition, levels), self.operand(branch.value, levels)]
                chosen = "CASE" + " WHEN {} THEN {}" * len(branches) + " ELSE {} END"
                return levels.let(f"CAST({chosen} AS {self.types[kind]})", *sides, self.operand(otherwise, levels))

    def truth(self, predicate: rows.Predicate, levels: Levels) -> Term:
        """The text of a predicate, a BOOLEAN."""
        match predicate:
            case rows.Truth(value):
                return Term({True: "true", False: "false", None: "CAST(NULL AS BOOLEAN)"}[value])
            case rows.Compare(op, left, right):
                sides = [self.operand(left, levels), self.operand(right, levels)]
                if "float" in (left.kind, right.kind):  # an integer meets a double as a double
                    kinds = left.kind, right.kind
                    sides = [_double(levels, *pair) for pair in zip(sides, kinds, strict=True)]
                return levels.inline(f"({{}} {op} {{}})", *sides)
            case rows.Among(part, values):
                listed = [levels.constant(value.value, part.kind) for value in values]
                template = "({} IN (" + ", ".join(["{}"] * len(values)) + "))"
                return levels.inline(template, self.operand(part, levels), *listed)
            case rows.Like(part, pattern, escape):
                return self.like(levels, self.operand(part, levels), patterns.tokens(pattern, escape))
            case rows.IsMissing(part):
                return levels.inline("({} IS NULL)", self.operand(part, levels))
            case rows.Not(part):
                return levels.inline("(NOT {})", self.truth(part, levels))
            case rows.AllOf(parts):
                return _joined(levels, " AND ", [self.truth(part, levels) for part in parts])
            case rows.AnyOf(parts):
                return _joined(levels, " OR ", [self.truth(part, levels) for part in parts])


def _joined(levels: Levels, word: str, parts: list[Term]) -> Term:
    return levels.inline("(" + word.join(["{}"] * len(parts)) + ")", *parts)


def _double(levels: Levels, term: Term, kind: str) -> Term:
    return levels.inline("CAST({} AS DOUBLE)", term) if kind == "integer" else term


def tree(table: zones.Offsets) -> str:
    """A zone's offset at the moment {0}, by halving: a vector of moments visits only the halves it has rows in."""
    if len(table) == 1:
        return str(table[0][1])
    middle = len(table) // 2
    return f"CASE WHEN {{0}}<{table[middle][0]} THEN {tree(table[:middle])} ELSE {tree(table[middle:])} END"
