"""Aggregate calls: which entry of AGGREGATES a call means, and the bounds of what it measures.

A column's bounds are taken from the catalog and nowhere else, an expression's follow from them; a sum or an average
without them is refused. Checked in tests/plan/test_bind.py.
"""

from __future__ import annotations

from dpcurator.catalog.model import EACH_ROW, Table
from dpcurator.errors import Refusal
from dpcurator.language.functions import ROW_FUNCTIONS
from dpcurator.language.intervals import bounds, unbounded
from dpcurator.language.names import quote
from dpcurator.language.question import Binary, Call, Literally, Name
from dpcurator.language.rows import Compute, Constant, Field, Operand
from dpcurator.language.spelling import spelled
from dpcurator.language.typed import NUMERIC, Typed, is_field, own_type
from dpcurator.plan.check_catalog import filled
from dpcurator.plan.nodes import AggregateCall, Measured, Post, Result
from dpcurator.plan.outputs import FUNCTIONS, Shape
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
        cure = f"Aggregates: {', '.join(functions)}. On answers: {', '.join(sorted(FUNCTIONS))}."
        if call.function in ROW_FUNCTIONS:
            cure = f"It is of single rows: put it inside an aggregate, or write GROUP BY {call.function}(...)."
        raise Refusal(f"the function {call.function} is not available here.", where=call.at, cure=cure)
    if call.distinct:
        return _count_distinct(call, scope)
    if call.star or (call.function == "COUNT" and _constant(call)):
        rule = scope.rules.get((call.function, "star"))
        if rule is None:
            raise Refusal(f"{call.function}(*) means nothing.", where=call.at, cure=f"Write {call.function}(column).")
        return AggregateCall(rule.function, None), rule
    if len(call.arguments) != 1 or call.arguments[0] == Literally(None):
        raise Refusal(
            f"{call.function} takes one value.", where=call.at, cure=f"Write it as in {call.function}(age)."
        )  # fmt: skip
    rule = scope.rules.get((call.function, "column")) or scope.rules[call.function, "number"]
    refused = None
    try:
        typed = scope.reader(call.function).value(call.arguments[0])
    except Refusal as caught:
        refused = caught
    if refused is not None:
        _unquoted(call, scope)
        raise refused
    measured = _measured(typed, scope.table)
    if rule.argument == "number":
        _needs_number(call, typed)
        _needs_bounds(call, measured, scope.table)
    return AggregateCall(call.function, measured), rule


def _measured(typed: Typed, table: Table) -> Measured:
    """What is read of each row, with its bounds."""
    type = own_type(typed)
    if type == "interval":
        raise Refusal("an aggregate takes no interval.", cure="Add it to a date or a timestamp.")
    part = typed.as_type(type)
    lower, upper = bounds(part, table) or (None, None)
    name = spelled(part, table)
    return Measured(name, part, type_of(type), part.kind, lower, upper, filled(part, table))


def type_of(type: str) -> str:
    """The catalog's type for a type of expressions: a wall clock is held as a timestamp is."""
    return "timestamp" if type == "local" else type


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


def _constant(call: Call) -> bool:
    return len(call.arguments) == 1 and isinstance(call.arguments[0], Literally) and call.arguments[0].value is not None


def _count_distinct(call: Call, scope: Scope) -> tuple[AggregateCall, AggregateRule]:
    rule = scope.rules.get((call.function, "unit"))
    unit = scope.table.unit
    if rule is not None and len(call.arguments) == 1 and unit != EACH_ROW:
        try:
            typed = scope.reader(call.function).value(call.arguments[0])
        except Refusal:
            if isinstance(call.arguments[0], Name):
                raise
        else:
            index = [column.name for column in scope.table.columns].index(unit or "")
            if typed.part is not None and _names_unit(typed.part, index):
                return AggregateCall(f"{call.function} DISTINCT", None), rule
    cure = "Ask COUNT(*): each row is a unit." if unit == EACH_ROW else f"Ask COUNT(DISTINCT {quote(unit or '')})."
    raise Refusal("DISTINCT is available only for counting the protected unit.", where=call.at, cure=cure)


def _names_unit(part: Operand, unit: int) -> bool:
    """Whether the part is the unit, or differs for different units: its digits, its negative, texts put around it.

    Rows without a unit are in no answer, so what stands for a missing one plays no part.
    """
    match part:
        case Field(index):
            return index == unit
        case Compute("text_of_i" | "neg_i", (only,)) | Compute("coalesce", (only, Constant(""))):
            return _names_unit(only, unit)
        case Compute("concat", parts):
            varying = [one for one in parts if not isinstance(one, Constant)]
            return len(varying) == 1 and _names_unit(varying[0], unit)
    return False


def _needs_number(call: Call, typed: Typed) -> None:
    if typed.type in (*NUMERIC, "boolean"):
        return
    said = "the column" if is_field(typed.part) else "the expression"
    words = f"{call.function}({quote(typed.name) if is_field(typed.part) else typed.name})"
    raise Refusal(
        f"{words}: {said} is {typed.type}, not a number.", where=call.at,
        cure=f"COUNT({quote(typed.name) if is_field(typed.part) else typed.name}) counts where it is present.",
    )  # fmt: skip


def _needs_bounds(call: Call, measured: Measured, table: Table) -> None:
    if measured.lower is not None:
        return
    index = unbounded(measured.part, table)
    name = quote(measured.name) if isinstance(measured.part, Field) else measured.name
    what = f"{call.function}({name}) has no bounds"
    if index is None:
        raise Refusal(
            f"{what}: its columns' own bounds do not limit it.", where=call.at,
            cure=f"Write {call.function}(CLIP({name}, 0, 100)), with ends from public knowledge.",
        )  # fmt: skip
    column = table.columns[index]
    line = f'{quote(column.name)} = {{ type = "{column.type}", bounds = [0, 100] }}'
    because = "" if isinstance(measured.part, Field) else f", for {quote(column.name)} has none"
    raise Refusal(
        f"{what}{because}.", where=call.at,
        cure=f"The steward declares them in the catalog, under [tables.{table.name}.columns], from public knowledge, "
        f"never from the data: {line}. Or write {call.function}(CLIP({name}, 0, 100)).",
    )  # fmt: skip
