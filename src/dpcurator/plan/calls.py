"""Aggregate calls: which entry of AGGREGATES a call means, and the declared facts of its column.

A column's bounds are taken from the catalog and nowhere else; a sum or an average without them is refused. What is not
one column inside an aggregate is refused by name. Checked in tests/plan/test_bind.py.
"""

from __future__ import annotations

from dpcurator.catalog.model import EACH_ROW, Column, Table
from dpcurator.errors import Refusal
from dpcurator.plan.facts import filled
from dpcurator.plan.intervals import bounds
from dpcurator.plan.names import quote
from dpcurator.plan.nodes import AggregateCall, Measured, Post, Result
from dpcurator.plan.post import Shape
from dpcurator.plan.question import Binary, Call, Literally, Name, Syntax, Unary, Within
from dpcurator.plan.rows import Field
from dpcurator.plan.scope import AggregateRule, Scope


def call(part: Call, scope: Scope) -> tuple[Post, Shape]:
    """An aggregate call, numbered; the same call twice is one."""
    made, rule = _aggregate(part, scope)
    if made not in scope.calls:
        scope.calls.append(made)
    shown: Shape = rule.shown(made.column)
    return Result(scope.calls.index(made)), shown


def _aggregate(call: Call, scope: Scope) -> tuple[AggregateCall, AggregateRule]:
    functions = sorted({function for function, _ in scope.rules})
    if call.function not in functions:
        raise Refusal(
            f"the function {call.function} is not available.", where=call.at,
            cure=f"Aggregates: {', '.join(functions)}. On answers: ROUND, ABS, COALESCE, NULLIF.",
        )  # fmt: skip
    if call.distinct:
        return _count_distinct(call, scope)
    if call.star or (call.function == "COUNT" and _constant(call)):
        rule = scope.rules.get((call.function, "star"))
        if rule is None:
            raise Refusal(f"{call.function}(*) means nothing.", where=call.at, cure=f"Write {call.function}(column).")
        return AggregateCall(rule.function, None), rule
    if len(call.arguments) != 1 or not isinstance(call.arguments[0], Name):
        _nested(call)
        _unquoted(call, scope)
        raise Refusal(
            f"{call.function} takes one column here.", where=call.at,
            cure=f"Write it as in {call.function}(age); expressions inside an aggregate are not available yet.",
        )  # fmt: skip
    index, column = scope.column(call.arguments[0])
    part = Field(index, column.kind)
    lower, upper = bounds(part, scope.table) or (None, None)
    measured = Measured(column.name, part, column.type, column.kind, lower, upper, filled(part, scope.table))
    rule = scope.rules.get((call.function, "column")) or scope.rules[call.function, "number"]
    if rule.argument == "number":
        _needs_bounds(call, column, scope.table)
    return AggregateCall(call.function, measured), rule


def _unquoted(call: Call, scope: Scope) -> None:
    """AVG(net-gain), where the table has a column "net-gain": say that it needs quotes."""
    part = call.arguments[0] if len(call.arguments) == 1 else None
    words: list[str] = []
    while isinstance(part, Binary) and isinstance(part.right, Name):
        words = [part.op, part.right.column, *words]
        part = part.left
    if not words or not isinstance(part, Name):
        return
    spelled = "".join([part.column, *words])
    for column in scope.table.columns:
        if column.name.replace(" ", "").lower() == spelled.lower():
            raise Refusal(
                f"{call.function}({spelled}) reads as arithmetic.", where=call.at,
                cure=f"Put the column's name in double quotes: {call.function}({quote(column.name)}).",
            )  # fmt: skip


def _nested(call: Call) -> None:
    inside: list[Syntax] = list(call.arguments)
    while inside:
        part = inside.pop()
        if isinstance(part, Call):
            raise Refusal(
                f"{call.function} holds {part.function}: functions inside an aggregate are not available.",
                where=part.at, cure=f"Write {call.function} of a column.",
            )  # fmt: skip
        match part:
            case Unary(_, only):
                inside.append(only)
            case Binary(_, left, right):
                inside += [left, right]
            case Within(only, options):
                inside += [only, *options]


def _constant(call: Call) -> bool:
    return len(call.arguments) == 1 and isinstance(call.arguments[0], Literally) and call.arguments[0].value is not None


def _count_distinct(call: Call, scope: Scope) -> tuple[AggregateCall, AggregateRule]:
    rule = scope.rules.get((call.function, "unit"))
    unit = scope.table.unit
    if rule is not None and len(call.arguments) == 1 and isinstance(call.arguments[0], Name):
        _, column = scope.column(call.arguments[0])
        if column.name == unit:
            return AggregateCall(f"{call.function} DISTINCT", None), rule
    cure = "Ask COUNT(*): each row is a unit." if unit == EACH_ROW else f"Ask COUNT(DISTINCT {quote(unit or '')})."
    raise Refusal("DISTINCT is available only for counting the protected unit.", where=call.at, cure=cure)


def _needs_bounds(call: Call, column: Column, table: Table) -> None:
    if column.type not in ("integer", "float", "boolean"):
        raise Refusal(
            f"{call.function}({quote(column.name)}): the column is {column.type}, not a number.", where=call.at,
            cure=f"COUNT({quote(column.name)}) counts where it is present.",
        )  # fmt: skip
    if column.type != "boolean" and (column.lower is None or column.upper is None):
        line = f'{quote(column.name)} = {{ type = "{column.type}", bounds = [0, 100] }}'
        raise Refusal(
            f"{call.function}({quote(column.name)}) has no bounds.", where=call.at,
            cure=f"The steward declares them in the catalog, under [tables.{table.name}.columns], from public "
            f"knowledge, never from the data: {line}.",
        )  # fmt: skip
