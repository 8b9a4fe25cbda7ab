"""Aggregate calls: which entry of AGGREGATES a call means, and the bounds of what it measures.

A column's bounds are taken from the catalog and nowhere else, an expression's follow from them; a sum or an average
without them is refused. Checked in tests/plan/test_bind.py.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Final

from dpcurator.catalog.model import Table
from dpcurator.errors import Mend, Refusal, closest
from dpcurator.language.functions import ROW_FUNCTIONS
from dpcurator.language.instead import OF_MANY, OF_ROWS, instead
from dpcurator.language.intervals import bounds, unbounded
from dpcurator.language.names import quote
from dpcurator.language.question import Binary, Call, Literally, Name, Syntax, Unary
from dpcurator.language.render import expression, words
from dpcurator.language.rows import Choose, Compute, Constant, Field, IsMissing, Missing, Not, Operand, When, fields
from dpcurator.language.spelling import spelled
from dpcurator.language.typed import NUMERIC, Typed, is_field, own_type
from dpcurator.plan.check_catalog import filled
from dpcurator.plan.limits import fits
from dpcurator.plan.nodes import FINEST, AggregateCall, Measured, Post, Result
from dpcurator.plan.outputs import FUNCTIONS, Shape
from dpcurator.plan.scope import AggregateRule, Scope
from dpcurator.plan.undated import BOUNDS, ENDS, check_dated


def call(part: Call, scope: Scope) -> tuple[Post, Shape]:
    """An aggregate call, numbered; the same call twice is one."""
    made, rule = _aggregate(part, scope)
    if rule.names:
        raise Refusal(
            "names of the most frequent stand alone as a column of the answer.", where=part.at,
            cure="Write it as in SELECT MODE(city) FROM visits, or with GROUP BY: SELECT ward, TOP_K(city, 3) ...",
        )
    if made not in scope.calls:
        scope.calls.append(made)
    shown: Shape = rule.shown(made.column)
    return Result(scope.calls.index(made)), shown


def aggregate(part: Call, scope: Scope) -> AggregateCall:
    """What an aggregate call means, without asking for it."""
    return _aggregate(part, scope)[0]


def _aggregate(call: Call, scope: Scope) -> tuple[AggregateCall, AggregateRule]:
    functions = sorted({function for function, _ in scope.rules})
    if call.function not in functions:
        raise _no_aggregate(call, functions, scope)
    if (named := scope.rules.get((call.function, "star"))) is not None and named.names:
        return AggregateCall(call.function, None, top=1, among=1), named
    if call.distinct:
        return _count_distinct(call, scope)
    if call.star or (call.function == "COUNT" and _constant(call)):
        rule = scope.rules.get((call.function, "star"))
        if rule is None:
            raise Refusal(f"{call.function}(*) means nothing.", where=call.at, cure=f"Write {call.function}(column).")
        return AggregateCall(rule.function, None), rule
    pair = scope.rules.get((call.function, "pair"))
    if pair is not None:
        return AggregateCall(call.function, _pair_of(call, scope)), pair
    if (call.function, "ordered") in scope.rules:
        return _quantile(call, scope)
    if len(call.arguments) != 1 or call.arguments[0] == Literally(None):
        raise Refusal(
            f"{call.function} takes one value.", where=call.at,
            cure="Write COUNT(*), of all rows, or COUNT(age)." if call.function == "COUNT" and not call.arguments else
            f"Write it as in {call.function}(age).",
        )
    rule = scope.rules.get((call.function, "column")) or scope.rules[call.function, "number"]
    return AggregateCall(call.function, _argument(call, 0, scope, number=rule.argument == "number")), rule


def _argument(call: Call, place: int, scope: Scope, *, number: bool) -> Measured:
    """What one of a call's arguments means. number: it has to be one, with bounds."""
    refused = None
    try:
        typed = scope.reader(call.function).value(call.arguments[place])
    except Refusal as caught:
        refused = caught
    if refused is not None:
        _unquoted(call, scope)
        raise refused
    measured = _measured(typed, scope.table)
    if number:
        _needs_number(call, place, typed)
        _needs_bounds(call, place, measured, scope)
        check_dated(measured.part, call.arguments[place], call.function, scope.table, scope.scene.relation,
                    scope.catalog, where=call.at)
        _needs_room(call, place, measured, scope.max_rows)
    return measured


def _pair_of(call: Call, scope: Scope) -> Measured:
    """Two columns (y, x), each missing where the other is."""
    if len(call.arguments) != 2 or call.star or Literally(None) in call.arguments:
        raise Refusal(
            f"{call.function} takes two values.", where=call.at, cure=f"Write it as in {call.function}(cost, age)."
        )
    y, x = (_argument(call, place, scope, number=True) for place in (0, 1))
    return replace(_where_present(y, x, scope.table), beside=_where_present(x, y, scope.table))


def _where_present(one: Measured, other: Measured, table: Table) -> Measured:
    if other.filled or one.part == other.part:
        return one
    part = Choose((When(Not(IsMissing(other.part)), one.part),), Missing(one.kind), one.kind)
    return replace(one, part=part, name=spelled(part, table), filled=False)


def _calling(call: Call, place: int, text: str) -> str:
    """The call with another text in the place of one of its arguments."""
    texts = [text if n == place else words(one) or "x" for n, one in enumerate(call.arguments)]
    return f"{call.function}({', '.join(texts)})"


def _quantile(call: Call, scope: Scope) -> tuple[AggregateCall, AggregateRule]:
    """QUANTILE(x, q)."""
    rule, q = scope.rules[call.function, "ordered"], call.arguments[1:]
    if len(call.arguments) != 2 or call.arguments[0] == Literally(None):
        raise Refusal("QUANTILE takes a value and which quantile.", where=call.at,
                      cure="Write it as in QUANTILE(age, 0.5) or MEDIAN(age).")
    value = q[0].value if isinstance(q[0], Literally) else None
    if not isinstance(value, Fraction) or not (0 <= value <= 1 and value.denominator <= FINEST):
        raise Refusal("which quantile is a number from 0 to 1, of at most six decimal places.", where=call.at,
                      cure="Write it as in QUANTILE(age, 0.25); several are several columns of the answer.")
    if scope.question.other:
        raise Refusal("there is no quantile of all groups that are not shown.", where=call.at,
                      cure="Leave out WITH_OTHER.")
    typed = scope.reader(call.function).value(call.arguments[0])
    written = words(call.arguments[0]) or typed.name
    if typed.type not in (*ORDERED, "interval"):
        instead = f"AVG({written})" if typed.type == "boolean" else f"COUNT({written})"
        raise Refusal(
            f"a quantile is of numbers, dates or times, and {written} is {typed.type}.", where=call.at,
            cure=f"Ask {instead}, or for counts by GROUP BY.",
        )
    measured = _measured(typed, scope.table)
    _needs_bounds(call, 0, measured, scope)
    check_dated(measured.part, call.arguments[0], call.function, scope.table, scope.scene.relation,
                scope.catalog, where=call.at)
    lower, upper = measured.lower or 0, measured.upper or 0
    if measured.kind == "integer" and not fits(int(lower), int(upper), scope.max_rows):
        clip = f"CLIP({written}, {_limits(measured)})"
        raise Refusal(f"the bounds of {written} are too far apart for a quantile.", where=call.at,
                      cure=f"Ask for that of {clip}, with limits closer together.", mends=_put(clip, written))
    return AggregateCall(rule.function, measured, value), rule


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
    names: list[str] = []
    while isinstance(part, Binary) and isinstance(part.right, Name):
        names = [part.op, part.right.column, *names]
        part = part.left
    if not names or not isinstance(part, Name):
        return
    spelled = "".join([part.column, *names])
    for column in scope.table.columns:
        if column.name.replace(" ", "").lower() == spelled.lower():
            raise Refusal(
                f"{call.function}({spelled}) reads as arithmetic.", where=call.at,
                cure=f"Put the column's name in double quotes: {call.function}({quote(column.name)}).",
                mends=(Mend(f"{call.function}({quote(column.name)})", words(call) or ""),),
            )


def _constant(call: Call) -> bool:
    return len(call.arguments) == 1 and isinstance(call.arguments[0], Literally) and call.arguments[0].value is not None


def _count_distinct(call: Call, scope: Scope) -> tuple[AggregateCall, AggregateRule]:
    """COUNT(DISTINCT unit), or COUNT(DISTINCT x) of anything else that has a text or a whole number."""
    rule, values = (scope.rules.get((call.function, argument)) for argument in ("unit", "values"))
    over, named = words(call), words(call.arguments[0]) if len(call.arguments) == 1 else None
    if rule is None or values is None or len(call.arguments) != 1 or call.arguments[0] == Literally(None):
        put = f"{call.function}({named})"
        alone = call.function == "COUNT" or named is None
        raise Refusal(
            "COUNT(DISTINCT x) counts the different values of one column, and nothing else is DISTINCT.", where=call.at,
            cure="Write it as in COUNT(DISTINCT city)." if alone else f"Write {put}.",
            mends=() if alone else _put(put, over),
        )
    typed = scope.reader(call.function).value(call.arguments[0])
    measured = _measured(typed, scope.table)
    unit = unit_field(scope.table)
    if unit is not None and _names_unit(measured.part, unit.index):
        return AggregateCall(f"{call.function} DISTINCT", None), rule
    if unit is not None and unit.index in fields(measured.part):
        put = f"COUNT(DISTINCT {quote(scope.table.unit or '')})"
        raise Refusal(
            "DISTINCT counts the protected units whole, or the values of other columns.", where=call.at,
            cure=f"Ask {put}. A condition on whom it counts stands in WHERE, not in FILTER or CASE.",
            mends=_put(put, over),
        )
    if measured.kind == "float":
        put = f"COUNT(DISTINCT ROUND({named}))"
        raise Refusal(
            "the different values of a column with fractions are not counted: nearly each would be one of its own.",
            where=call.at, cure=f"Write {put}, or COUNT(DISTINCT FLOOR({named} / 10)).", mends=_put(put, over),
        )
    return AggregateCall(f"{call.function} DISTINCT", measured), values


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


def _no_aggregate(call: Call, functions: list[str], scope: Scope) -> Refusal:
    """A function that is no aggregate stands where one is wanted; what comes nearest to it is the cure."""
    what = f"the function {call.function} is not available here."
    there = f"Aggregates: {', '.join(functions)}. On answers: {', '.join(sorted(FUNCTIONS))}."
    over = words(call)
    if call.function in ROW_FUNCTIONS:
        put = None if over is None else measuring(call, over, scope)
        such = "" if put is None else f" such as {put}"
        return Refusal(
            what, where=call.at, mends=_put(put, over),
            cure=f"It is of single rows: put it inside an aggregate{such}, or write GROUP BY {call.function}(...).",
        )
    inner = call.arguments[0] if len(call.arguments) in (1, 2) else None
    written = instead(call, OF_MANY)
    if written is not None:
        return Refusal(what, where=call.at, cure=written[0], mends=written[1])
    if inner is not None and over is not None and call.function in ("BOOL_AND", "BOOL_OR"):
        put = f"COUNT_IF({expression(Unary('NOT', inner) if call.function == 'BOOL_AND' else inner)})"
        whom = "false" if call.function == "BOOL_AND" else "true"
        cure = f"A single row decides it. Ask how many are {whom}: {put}."
        return Refusal(f"{call.function} of rows is not answered.", where=call.at, cure=cure, mends=_put(put, over))
    if inner is not None and over is not None and call.function in _ENDS and (of := _ordered(inner, scope)):
        put = f"QUANTILE({of}, {_ENDS[call.function]})"
        cure = f"{there} It would be one row's own value; ask for a quantile near the end, {put}."
        return Refusal(what, where=call.at, cure=cure, mends=_put(put, over))
    if inner is not None and over is not None and call.function in _RANKS:
        put = measuring(inner, expression(inner), scope)
        cure = f"{there} It would give one row's own value; ask for {put}, or for counts by GROUP BY."
        return Refusal(what, where=call.at, cure=cure, mends=_put(put, over))
    written = instead(call, OF_ROWS)
    if written is not None:
        cure = f"It is of single rows, and stands inside an aggregate or in GROUP BY. {written[0]}"
        return Refusal(what, where=call.at, cure=cure)
    close = closest(call.function, [*functions, *FUNCTIONS, *ROW_FUNCTIONS])
    if close:
        cure = f"Did you mean {close[0]}? {there}"
        return Refusal(what, where=call.at, cure=cure, mends=_put(close[0], call.function))
    return Refusal(what, where=call.at, cure=there)


def _ordered(part: Syntax, scope: Scope) -> str | None:
    """The expression as a quantile takes it, in CLIP where it has no bounds; None where it has no quantile."""
    try:
        typed = scope.reader("SELECT").value(part)
        if typed.type not in ORDERED or (is_field(typed.part) and typed.part == unit_field(scope.table)):
            return None
        measured = _measured(typed, scope.table)
    except Refusal:
        return None
    return f"CLIP({expression(part)}, {_limits(measured)})" if measured.lower is None else expression(part)


def measuring(part: Syntax, text: str, scope: Scope) -> str:
    """The aggregate that suits the type of an expression: an average of numbers, a count of anything else."""
    try:
        typed = scope.reader("SELECT").value(part)
    except Refusal:
        return f"COUNT({text})"
    if is_field(typed.part) and typed.part == unit_field(scope.table):
        return f"COUNT(DISTINCT {text})"
    return f"{'AVG' if typed.type in (*NUMERIC, 'boolean') else 'COUNT'}({text})"


def unit_field(table: Table) -> Field | None:
    """The column that names the protected unit, as expressions have it."""
    named = [Field(n, column.kind) for n, column in enumerate(table.columns) if column.name == table.unit]
    return named[0] if named else None


def _put(put: str | None, over: str | None) -> tuple[Mend, ...]:
    return () if put is None or over is None else (Mend(put, over),)


_ENDS: Final = {"MIN": "0.05", "MAX": "0.95"}
_RANKS: Final = ("MIN", "MAX", "ANY_VALUE", "FIRST", "LAST")
ORDERED: Final = (*NUMERIC, "date", "timestamp", "local")  # of which there are quantiles


def _needs_number(call: Call, place: int, typed: Typed) -> None:
    if typed.type in (*NUMERIC, "boolean"):
        return
    said = "the column" if is_field(typed.part) else "the expression"
    written = words(call.arguments[place]) or typed.name
    raise Refusal(
        f"{call.function}({written}): {said} is {typed.type}, not a number.", where=call.at,
        cure=f"COUNT({written}) counts where it is present.", mends=_put(f"COUNT({written})", words(call)),
    )


def _needs_bounds(call: Call, place: int, measured: Measured, scope: Scope) -> None:
    """Of a subquery's columns no steward declares any."""
    if measured.lower is not None:
        return
    table, derived = scope.table, scope.table not in scope.catalog.tables
    index = unbounded(measured.part, table)
    written = words(call.arguments[place])
    what = f"{_calling(call, place, written or measured.name)} has no bounds"
    limits = _limits(measured)
    clip = _clipped(call, place, scope, limits)
    mends = () if written is None else _put(clip, words(call))
    if call.function == "QUANTILE" and written is not None:  # which may be written as MEDIAN(x), or WITHIN GROUP
        mends = _put(f"CLIP({written}, {limits})", written)
    if index is None or derived:
        why = "a subquery's column has none where its own columns do not limit it" if derived else (
            "its columns' own bounds do not limit it")
        raise Refusal(
            f"{what}: {why}.", where=call.at,
            cure=f"Write {clip}, with ends from public knowledge.", mends=mends,
        )
    column = table.columns[index]
    line = f'{quote(column.name)} = {{ type = "{column.type}", bounds = {BOUNDS.get(column.type, "[0, 100]")} }}'
    because = "" if isinstance(measured.part, Field) else f", for {quote(column.name)} has none"
    header = f"[tables.{quote(table.name)}.columns]"
    raise Refusal(
        f"{what}{because}.", where=call.at,
        cure=f"The steward declares them in the catalog, under {header}, from public knowledge, never from the data: "
        f"{line}. Or write {clip}.",
        mends=(*mends, Mend(line, header, "catalog")),
    )


def _limits(measured: Measured) -> str:
    """Of a CLIP that could be written around it."""
    ends = ENDS.get(measured.type)
    return "0, 100" if ends is None else ", ".join(f"{measured.type.upper()} '{end}'" for end in ends)


def _clipped(call: Call, place: int, scope: Scope, limits: str) -> str:
    """The call with CLIP around this argument, and around those after it that have no bounds either."""
    texts = []
    for n, part in enumerate(call.arguments):
        text = words(part) or "x"
        clipped = n == place or (n > place and _unbounded(part, scope))
        texts.append(f"CLIP({text}, {limits if n == place else '0, 100'})" if clipped else text)
    return f"{call.function}({', '.join(texts)})"


def _unbounded(part: Syntax, scope: Scope) -> bool:
    try:
        typed = scope.reader("SELECT").value(part)
        return typed.type in NUMERIC and _measured(typed, scope.table).lower is None
    except Refusal:
        return False


def _needs_room(call: Call, place: int, measured: Measured, max_rows: int) -> None:
    """Refuse whole numbers so far apart that their sums could pass what an engine adds up exactly."""
    lower, upper = measured.lower or 0, measured.upper or 0
    if measured.kind != "integer" or fits(int(lower), int(upper), max_rows):
        return
    written = words(call.arguments[place])
    ways = [_calling(call, place, form.format(written or "x")) for form in ("CLIP({}, 0, 100)", "CAST({} AS DOUBLE)")]
    raise Refusal(
        f"{_calling(call, place, written or measured.name)} adds up whole numbers so large that a sum could pass "
        "2^126.", where=call.at, mends=() if written is None else tuple(Mend(way, words(call) or "") for way in ways),
        cure=f"Write {ways[0]} with limits closer together, or {ways[1]}; or the steward declares narrower bounds or a "
        "smaller max_rows.",
    )
