"""The SQL functions of row expressions: from typed parts to an operand of `plan/functions.py`, or a Refusal.

To add one: write its reading below and a line in ROW_FUNCTIONS; `docs/sql.md` has a line for each (a test compares).
Checked in tests/plan/test_expressions.py.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from dpcurator.errors import Refusal
from dpcurator.plan.comparing import compare
from dpcurator.plan.days import DAY, TIME_SIZES
from dpcurator.plan.functions import DATE_PARTS, DATE_UNITS, TIME_PARTS, TIME_UNITS
from dpcurator.plan.literals import interval
from dpcurator.plan.names import show
from dpcurator.plan.question import Literally
from dpcurator.plan.rows import Choose, Compare, Compute, Constant, Missing, Operand, When
from dpcurator.plan.typed import (
    TIMED,
    Typed,
    common,
    compute,
    count,
    doubles,
    kind_of,
    numbers,
    own_type,
    plain_text,
    text,
    united,
    whole,
)  # fmt: skip
from dpcurator.plan.zones import offsets

Parts = Sequence[Typed]


@dataclass(frozen=True, slots=True)
class RowFunction:
    """`use`: how to write it; `least` and `most` parts; `read`: what it means."""

    use: str
    least: int
    most: int
    read: Callable[[Parts], Typed]


def _of(parts: Parts, operand: Operand, type: str) -> Typed:
    return Typed(operand, type, parts[0].table)


# --- numbers ------------------------------------------------------------------------------------------------------


def arithmetic(op: str, left: Typed, right: Typed) -> Typed:
    """+ - * / %: of numbers, dates and intervals. Raises Refusal."""
    if left.type in TIMED or right.type in TIMED or "interval" in (left.type, right.type):
        return _timed(op, left, right)
    if op == "/":
        return _of([left], compute("div_f", doubles([left, right], "/"), "float"), "float")
    name = {"+": "add", "-": "sub", "*": "mul", "%": "mod"}[op]
    type, parts = numbers([left, right], op)
    return _of([left], compute(f"{name}_{type[0]}", parts, kind_of(type)), type)


def negative(part: Typed) -> Typed:
    """-part. Raises Refusal."""
    type, parts = numbers([part], "-")
    return _of([part], compute(f"neg_{type[0]}", parts, kind_of(type)), type)


def _same_kind(name: str) -> Callable[[Parts], Typed]:
    def read(parts: Parts) -> Typed:
        type, operands = numbers(parts, name.upper())
        return _of(parts, compute(f"{name}_{type[0]}", operands, kind_of(type)), type)

    return read


def _sign(parts: Parts) -> Typed:
    type, operands = numbers(parts, "SIGN")
    return _of(parts, compute(f"sign_{type[0]}", operands, "integer"), "integer")


def _whole(name: str) -> Callable[[Parts], Typed]:
    def read(parts: Parts) -> Typed:
        type, operands = numbers(parts, name.upper())
        return _of(parts, operands[0] if type == "integer" else compute(name, operands, "integer"), "integer")

    return read


def _round(parts: Parts) -> Typed:
    places = count(parts[1], "the places of ROUND", -18, 15) if len(parts) == 2 else 0
    type, operands = numbers(parts[:1], "ROUND")
    if type == "integer":
        rounded = operands[0] if places >= 0 else compute("round_i", operands, "integer", -places)
        return _of(parts, rounded, "integer")
    if places < 0:
        raise Refusal(
            "ROUND to tens or more takes whole numbers here, and this is a float.",
            cure=f"Write ROUND(x / {10**-places}) * {10**-places}.",
        )
    if places == 0:
        return _of(parts, compute("round", operands, "integer"), "integer")
    return _of(parts, compute("round_f", operands, "float", places), "float")


def _double(name: str) -> Callable[[Parts], Typed]:
    return lambda parts: _of(parts, compute(name, doubles(parts, name.upper()), "float"), "float")


def _least(name: str) -> Callable[[Parts], Typed]:
    def read(parts: Parts) -> Typed:
        type, operands = united(parts, name.upper())
        return _of(parts, compute(name, operands, kind_of(type)), type)

    return read


def _clip(parts: Parts) -> Typed:
    type = common(parts, "CLIP")
    if type not in ("integer", "float", *TIMED) or any(one.literal is None for one in parts[1:]):
        raise Refusal(
            "CLIP takes a number, a date or a timestamp, and two literals.",
            cure="Write it as in CLIP(income, 0, 1000).",
        )
    operand, low, high = (one.as_type(type) for one in parts)
    ends = [end.value for end in (low, high) if isinstance(end, Constant)]
    if len(ends) < 2 or ends[0] is None or ends[1] is None or not ends[0] <= ends[1]:  # type: ignore[operator]
        raise Refusal("CLIP takes its lower end first.", cure="Write it as in CLIP(income, 0, 1000).")
    return _of(parts, compute("clip", [operand], kind_of(type), *ends), type)


# --- of any type --------------------------------------------------------------------------------------------------


def _nullif(parts: Parts) -> Typed:
    type = common(parts, "NULLIF")
    kept = parts[0].as_type(type)
    equal = compare("=", *parts)
    return _of(parts, Choose((When(equal, Missing(kind_of(type))),), kept, kind_of(type)), type)


# --- texts --------------------------------------------------------------------------------------------------------


def _text(name: str, said: str | None = None) -> Callable[[Parts], Typed]:
    return lambda parts: _of(parts, compute(name, [text(parts[0], said or name.upper())], "text"), "text")


def _length(parts: Parts) -> Typed:
    return _of(parts, compute("length", [text(parts[0], "LENGTH")], "integer"), "integer")


def _substring(parts: Parts) -> Typed:
    start = count(parts[1], "the start of SUBSTRING", 1, 2**31 - 1)
    most = count(parts[2], "the length of SUBSTRING", 0, 2**31 - 1) if len(parts) == 3 else None
    return _of(parts, compute("substring", [text(parts[0], "SUBSTRING")], "text", start, most), "text")


def _left(parts: Parts) -> Typed:
    most = count(parts[1], "the length of LEFT", 0, 2**31 - 1)
    return _of(parts, compute("substring", [text(parts[0], "LEFT")], "text", 1, most), "text")


def _replace(parts: Parts) -> Typed:
    what, by = (plain_text(one, "what REPLACE looks for, and what it writes,") for one in parts[1:])
    if not 1 <= len(what) <= 100 or len(by) > 100:
        raise Refusal("REPLACE looks for 1 to 100 letters, and writes at most 100.", cure="Shorten its texts.")
    return _of(parts, compute("replace", [text(parts[0], "REPLACE")], "text", what, by), "text")


def _concat(parts: Parts) -> Typed:
    """Missing parts are skipped."""
    made: list[Operand] = []
    for one in parts:
        operand = as_text(one, "CONCAT")
        if not isinstance(operand, Missing):
            empty = Constant("", "text")
            made.append(operand if isinstance(operand, Constant) else compute("coalesce", [operand, empty], "text"))
    return _of(parts, compute("concat", made or [Constant("", "text")], "text"), "text")


def joined(left: Typed, right: Typed) -> Typed:
    """left || right: missing when either is. Raises Refusal."""
    made: list[Operand] = []
    for one in (as_text(left, "||"), as_text(right, "||")):
        made += one.parts if isinstance(one, Compute) and one.function == "concat" else (one,)
    return _of([left], compute("concat", made, "text"), "text")


def as_text(part: Typed, what: str) -> Operand:
    """CAST(part AS TEXT). Raises Refusal."""
    fixed = whole(part)
    if fixed is not None:
        return Constant(str(fixed), "text")
    match part.type:
        case "text" | "null":
            return part.as_type("text")
        case "uuid" if part.part is not None:
            return part.part
        case "integer":
            return compute("text_of_i", [part.as_type("integer")], "text")
        case "date":
            return compute("text_of_date", [part.as_type("date")], "text")
        case "boolean":
            truths = part.as_type("boolean")
            words = [When(Compare("=", truths, Constant(n, "integer")), Constant(t, "text")) for n, t in
                     ((1, "true"), (0, "false"))]  # fmt: skip
            return Choose(tuple(words), Missing("text"), "text")
    cure = "Write FLOOR(x) or ROUND(x) first." if part.type in ("float", "number") else "CAST it to DATE first."
    raise Refusal(f"{what}: {part.said}, which has no text here.", cure=cure)


# --- dates and times ----------------------------------------------------------------------------------------------


def _timed(op: str, left: Typed, right: Typed) -> Typed:
    if op == "-" and left.type == right.type and left.type in TIMED:
        if left.type != "date":
            raise Refusal(
                "the difference of two timestamps is no number.", cure="Write DATE_DIFF('second', earlier, later)."
            )
        return _of([left], compute("sub_i", [left.as_type("date"), right.as_type("date")], "integer"), "integer")
    if op == "+" and right.type in TIMED and left.type not in TIMED:
        left, right = right, left
    if op in ("+", "-") and left.type in TIMED and right.type not in TIMED:
        return _later(left, right, 1 if op == "+" else -1)
    raise Refusal(
        f"{op} does not go with {left.type} and {right.type}.",
        cure="Write it as in day + INTERVAL '1 month', day - 7, or later - earlier.",
    )


def _later(moment: Typed, by: Typed, sign: int) -> Typed:
    operand = moment.as_type(moment.type)
    if by.type == "interval" and by.literal is not None:
        months, days, us = (sign * one for one in interval(str(by.literal.value)))
        if moment.type == "date" and us:
            raise Refusal(
                "a date has no time of day.", cure="Write CAST(day AS TIMESTAMP) + INTERVAL '1 hour', or use days."
            )
        if moment.type == "date":
            return _of([moment], compute("date_add", [operand], "integer", months, days), "date")
        return _of([moment], compute("time_add", [operand], "integer", months, days * DAY + us), moment.type)
    if moment.type == "date" and own_type(by) == "integer":
        fixed = whole(by)
        if fixed is not None:
            days = sign * count(by, "a number of days", -(10**6), 10**6)
            return _of([moment], compute("date_add", [operand], "integer", 0, days), "date")
        moved = compute("add_i" if sign == 1 else "sub_i", [operand, by.as_type("integer")], "integer")
        return _of([moment], compute("date_trunc", [moved], "integer", "day"), "date")  # missing outside the years
    raise Refusal(
        f"{moment.said}, and {by.said}: they do not add up.", cure="Add an interval, as in at + INTERVAL '1 hour'."
    )


def day_of(part: Typed, what: str) -> Operand:
    """The date of a date or a timestamp. Raises Refusal."""
    if part.type == "date":
        return part.as_type("date")
    if part.type in TIMED:
        return compute("date_of_time", [part.as_type(part.type)], "integer")
    raise Refusal(f"{what} needs a date or a timestamp, and {part.said}.", cure="CAST it to DATE first.")


def _unit(part: Typed, what: str, known: Sequence[str]) -> str:
    unit = plain_text(part, f"the unit of {what}").lower()
    unit = {"dayofweek": "dow", "dayofyear": "doy"}.get(unit, unit)
    if unit not in known:
        raise Refusal(f"{what} has no unit {show(unit)}.", cure=f"Use {', '.join(known)}.")
    return unit


def _timed_unit(part: Typed, unit: str, what: str) -> Operand:
    if part.type == "date":
        raise Refusal(f"{what}: {part.said}, which has no {unit}.", cure="Use day or a longer unit.")
    day_of(part, what)  # refuses what is neither
    return part.as_type(part.type)


def _date_trunc(parts: Parts) -> Typed:
    unit = _unit(parts[0], "DATE_TRUNC", (*TIME_UNITS, *DATE_UNITS))
    if unit in TIME_UNITS:
        made = compute("time_trunc", [_timed_unit(parts[1], unit, "DATE_TRUNC")], "integer", unit)
        return _of(parts, made, parts[1].type)
    day = day_of(parts[1], "DATE_TRUNC")
    if unit == "day":
        return _of(parts, day, "date")
    return _of(parts, compute("date_trunc", [day], "integer", unit), "date")


def _date_part(parts: Parts) -> Typed:
    unit = _unit(parts[0], "DATE_PART", (*DATE_PARTS, *TIME_PARTS))
    if unit in TIME_PARTS:
        made = compute("time_part", [_timed_unit(parts[1], unit, "DATE_PART")], "integer", unit)
    else:
        made = compute("date_part", [day_of(parts[1], "DATE_PART")], "integer", unit)
    return _of(parts, made, "integer")


def _part(unit: str) -> Callable[[Parts], Typed]:
    def read(parts: Parts) -> Typed:
        table = parts[0].table
        return _date_part([Typed(Constant(unit, "text"), "text", table, Literally(unit)), parts[0]])

    return read


def _date_diff(parts: Parts) -> Typed:
    """How many times the unit's start is passed from the second part to the third."""
    unit = _unit(parts[0], "DATE_DIFF", (*TIME_UNITS, *DATE_UNITS))
    ends = parts[1:]
    if unit in TIME_UNITS:
        made = [
            compute("floordiv_i", [_timed_unit(one, unit, "DATE_DIFF")], "integer", TIME_SIZES[unit]) for one in ends
        ]
    else:
        days = [day_of(one, "DATE_DIFF") for one in ends]
        if unit == "day":
            made = days  # type: ignore[assignment]
        elif unit == "week":
            weeks = [compute("date_trunc", [one], "integer", "week") for one in days]
            made = [compute("floordiv_i", [one], "integer", 7) for one in weeks]
        else:
            made = [_periods(one, unit) for one in days]
    start, end = made
    return _of(parts, compute("sub_i", [end, start], "integer"), "integer")


def _periods(day: Operand, unit: str) -> Compute:
    """The number of a day's year, quarter or month, counted on through the years."""
    year = compute("date_part", [day], "integer", "year")
    if unit == "year":
        return year
    size = Constant({"quarter": 4, "month": 12}[unit], "integer")
    return compute(
        "add_i", [compute("mul_i", [year, size], "integer"), compute("date_part", [day], "integer", unit)], "integer"
    )


def _timezone(parts: Parts) -> Typed:
    """TIMEZONE(zone, x), which is x AT TIME ZONE zone."""
    zone = plain_text(parts[0], "the zone of AT TIME ZONE")
    offsets(zone)  # refuses a zone that is not known
    part = parts[1]
    if part.type == "timestamp":
        return _of(parts, compute("local_of_time", [part.as_type("timestamp")], "integer", zone), "local")
    if part.type == "local":
        return _of(parts, compute("time_of_local", [part.as_type("local")], "integer", zone), "timestamp")
    raise Refusal(f"AT TIME ZONE needs a timestamp, and {part.said}.", cure="CAST a date to TIMESTAMP first.")


# --- casts --------------------------------------------------------------------------------------------------------

CASTS: Final = {"INTEGER": "integer", "DOUBLE": "float", "TEXT": "text", "DATE": "date", "TIMESTAMP": "timestamp",
                "BOOLEAN": "boolean"}  # fmt: skip


def cast(part: Typed, name: str) -> Typed:
    """CAST(part AS name): missing where the value has no such form. Raises Refusal."""
    wanted = CASTS.get(name)
    if wanted is None:
        cure = {
            "DECIMAL": "CAST to DOUBLE, and write ROUND(x, 2) around it.",
            "VARCHAR(n)": "CAST to TEXT, or write LEFT(x, 10).",
        }.get(name, f"CAST to {', '.join(CASTS)}.")  # fmt: skip
        raise Refusal(f"a cast to {name} is not available.", cure=cure)
    if part.type == "null":
        return Typed(Missing(kind_of(wanted)), wanted, part.table)
    if wanted == "text":
        return Typed(as_text(part, "CAST"), "text", part.table)
    source = own_type(part)
    if source == wanted:
        return Typed(part.as_type(wanted), wanted, part.table)
    if source == "text" and wanted == "timestamp" and part.literal is not None:
        return Typed(part.as_type("timestamp"), "timestamp", part.table)
    made = _cast(part.as_type(source), source, wanted)
    if made is None:
        raise Refusal(
            f"{part.said}, which has no cast to {name}.", cure=_CAST_CURES.get((source, wanted), "Use no cast.")
        )
    return Typed(made, wanted, part.table)


_CAST_CURES: Final = {
    ("date", "integer"): "Write day - DATE '1970-01-01', or EXTRACT(year FROM day).",
    ("timestamp", "integer"): "Write EXTRACT(year FROM at), or DATE_DIFF('second', earlier, later).",
    ("text", "boolean"): "Compare the text, as in x = 'true'.", ("float", "boolean"): "Compare it, as in x <> 0.",
    ("local", "timestamp"): "Write x AT TIME ZONE 'Europe/Paris'.",
    ("text", "timestamp"): "Declare the column a timestamp in the catalog.",
}  # fmt: skip


def _cast(operand: Operand, source: str, wanted: str) -> Operand | None:
    match source, wanted:
        case "float", "integer":
            return compute("round", [operand], "integer")
        case "text", "integer":
            return compute("i_of_text", [operand], "integer")
        case "boolean", "integer":
            return operand
        case "integer" | "boolean", "float":
            return compute("to_f", [operand], "float")
        case "text", "float":
            return compute("f_of_text", [operand], "float")
        case "integer", "boolean":
            zero = Compare("<>", operand, Constant(0, "integer"))
            no = When(Compare("=", operand, Constant(0, "integer")), Constant(0, "integer"))
            return Choose((When(zero, Constant(1, "integer")), no), Missing("integer"), "integer")
        case "text", "date":
            return compute("date_of_text", [operand], "integer")
        case "timestamp" | "local", "date":
            return compute("date_of_time", [operand], "integer")
        case "date", "timestamp":
            return compute("time_of_date", [operand], "integer")
    return None


MANY: Final = 64
ROW_FUNCTIONS: Final[dict[str, RowFunction]] = {
    "ABS": RowFunction("ABS(x)", 1, 1, _same_kind("abs")),
    "SIGN": RowFunction("SIGN(x)", 1, 1, _sign),
    "FLOOR": RowFunction("FLOOR(x)", 1, 1, _whole("floor")),
    "CEIL": RowFunction("CEIL(x)", 1, 1, _whole("ceil")),
    "ROUND": RowFunction("ROUND(x) or ROUND(x, 2)", 1, 2, _round),
    "SQRT": RowFunction("SQRT(x)", 1, 1, _double("sqrt")),
    "LN": RowFunction("LN(x)", 1, 1, _double("ln")),
    "EXP": RowFunction("EXP(x)", 1, 1, _double("exp")),
    "POWER": RowFunction("POWER(x, 2)", 2, 2, _double("power")),
    "MOD": RowFunction("MOD(x, 7)", 2, 2, lambda parts: arithmetic("%", *parts)),
    "LEAST": RowFunction("LEAST(x, y)", 1, MANY, _least("least")),
    "GREATEST": RowFunction("GREATEST(x, y)", 1, MANY, _least("greatest")),
    "CLIP": RowFunction("CLIP(x, 0, 100)", 3, 3, _clip),
    "COALESCE": RowFunction("COALESCE(x, 0)", 1, MANY, _least("coalesce")),
    "NULLIF": RowFunction("NULLIF(x, 0)", 2, 2, _nullif),
    "LOWER": RowFunction("LOWER(x)", 1, 1, _text("lower")),
    "UPPER": RowFunction("UPPER(x)", 1, 1, _text("upper")),
    "TRIM": RowFunction("TRIM(x)", 1, 1, _text("trim")),
    "LTRIM": RowFunction("LTRIM(x)", 1, 1, _text("ltrim")),
    "RTRIM": RowFunction("RTRIM(x)", 1, 1, _text("rtrim")),
    "LENGTH": RowFunction("LENGTH(x)", 1, 1, _length),
    "SUBSTRING": RowFunction("SUBSTRING(x, 1, 3)", 2, 3, _substring),
    "LEFT": RowFunction("LEFT(x, 3)", 2, 2, _left),
    "CONCAT": RowFunction("CONCAT(x, '-', y)", 1, MANY, _concat),
    "REPLACE": RowFunction("REPLACE(x, 'a', 'b')", 3, 3, _replace),
    "DATE_TRUNC": RowFunction("DATE_TRUNC('month', day)", 2, 2, _date_trunc),
    "DATE_PART": RowFunction("EXTRACT(year FROM day)", 2, 2, _date_part),
    "DATE_DIFF": RowFunction("DATE_DIFF('day', earlier, later)", 3, 3, _date_diff),
    "TIMEZONE": RowFunction("at AT TIME ZONE 'Europe/Paris'", 2, 2, _timezone),
    "DATE": RowFunction("DATE(at)", 1, 1, lambda parts: cast(parts[0], "DATE")),
    **{
        unit.upper(): RowFunction(f"{unit.upper()}(day)", 1, 1, _part(unit))
        for unit in ("year", "quarter", "month", "week", "day", "hour", "minute", "second")
    },
}
