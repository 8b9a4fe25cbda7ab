"""What a row expression is of one row, in plain Python: `language/functions/function.py` line by line.

Total: every operand has a value and every predicate a truth on every row of values of the right kinds; nothing here
raises. Integers are unbounded inside and missing when the result passes 64 bits; floats are never NaN.
The reference engine runs it on rows, the binder on lists of keys. Checked in tests/engines/test_vectors.py (tables
worked by hand) and tests/engines/test_conformance.py (against the other engines).
"""

from __future__ import annotations

import math
import operator
import re
from collections.abc import Callable, Mapping
from typing import Any, Final

from dpcurator.catalog.model import Kind, Value
from dpcurator.language import days, elementary, patterns, rows, zones
from dpcurator.language.functions.function import LONGEST

Row = tuple[Value, ...]
INT64: Final = range(-(2**63), 2**63)
INTEGER_TEXT: Final = "[+-]?[0-9]{1,30}"
FLOAT_TEXT: Final = r"[+-]?([0-9]{1,300}(\.[0-9]{0,300})?|\.[0-9]{1,300})([eE][+-]?[0-9]{1,4})?"
CAPITALS: Final = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
SMALL: Final = CAPITALS.lower()
COMPARE: Final[Mapping[str, Callable[[Any, Any], bool]]] = {
    "=": operator.eq, "<>": operator.ne, "<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge,
}  # fmt: skip


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
            return apply(function, tuple(value(inner, row) for inner in parts), kind, literals)
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
    return COMPARE[op](a, b)


def apply(function: str, parts: tuple[Value, ...], kind: Kind, literals: tuple[Value, ...] = ()) -> Value:
    """The function's value of these values, made canonical: missing where functions.py says it has none."""
    if function in OF_PRESENT:
        found = OF_PRESENT[function]([part for part in parts if part is not None])
    elif None in parts:
        return None
    else:
        found = MEANING[function](*parts, *literals)
    return canonical(found, kind, all(part not in (math.inf, -math.inf) for part in parts))


def canonical(found: Any, kind: Kind, finite: bool) -> Value:
    """A result as a value of its kind, or missing. finite: whether every part was."""
    if found is None:
        return None
    if kind == "integer":
        return found if found in INT64 else None
    if kind == "text":
        return found if len(found) <= LONGEST else None
    if math.isnan(found) or (finite and math.isinf(found)):
        return None
    return float(found) + 0.0  # -0.0 + 0.0 is 0.0


# integers


def remainder(a: int, b: int) -> int | None:
    return None if b == 0 else int(math.copysign(1, a)) * (abs(a) % abs(b))


def round_integer(a: int, n: int) -> int:
    step: int = 10**n
    return sign(a) * ((abs(a) + step // 2) // step) * step


def sign(a: float) -> int:
    return (a > 0) - (a < 0)


# doubles


def float_remainder(a: float, b: float) -> float | None:
    return None if b == 0 or math.isinf(a) else math.fmod(a, b)


def whole(rounding: Callable[[float], int]) -> Callable[[float], int | None]:
    return lambda a: None if math.isinf(a) else rounding(a)


def nearest(a: float) -> int:
    down = math.floor(abs(a))
    return sign(a) * (down + (abs(a) - down >= 0.5))  # the difference is exact


def round_float(a: float, n: int) -> float:
    scaled = abs(a) * 10.0**n
    return a if scaled >= 2.0**52 else sign(a) * (math.floor(scaled + 0.5) / 10.0**n)


# any kind


def clip(a: Any, lower: Any, upper: Any) -> Any:
    return lower if a < lower else upper if a > upper else a


# texts


def substring(text: str, start: int, n: int | None) -> str:
    return text[start - 1 :] if n is None else text[start - 1 : start - 1 + n]


def replaced(text: str, what: str, by: str) -> str | None:
    return text.replace(what, by) if len(text) <= LONGEST else None


def integer_of_text(text: str) -> int | None:
    text = text.strip(" ")
    return int(text) if re.fullmatch(INTEGER_TEXT, text) else None


def float_of_text(text: str) -> float | None:
    text = text.strip(" ")
    return float(text) if re.fullmatch(FLOAT_TEXT, text) else None


# dates and times


def of_day(meaning: Callable[..., Any]) -> Callable[..., Any]:
    """Missing where the day is outside the years 1 to 9999."""
    return lambda day, *literals: meaning(day, *literals) if days.FIRST_DAY <= day <= days.LAST_DAY else None


def of_moment(meaning: Callable[..., Any]) -> Callable[..., Any]:
    """Missing where the moment is outside the years 1 to 9999."""
    return lambda us, *literals: meaning(us, *literals) if days.FIRST_MOMENT <= us <= days.LAST_MOMENT else None


def date_add(day: int, months: int, more: int) -> int | None:
    found = days.months_later(day, months) + more
    return found if days.FIRST_DAY <= found <= days.LAST_DAY else None


def time_add(us: int, months: int, more: int) -> int | None:
    day, since = divmod(us, days.DAY)
    return within(days.months_later(day, months) * days.DAY + since + more)


def time_part(us: int, part: str) -> int:
    found = us % days.DAY // days.TIME_SIZES[part]
    return found if part == "hour" else found % 60


def within(us: int) -> int | None:
    return us if days.FIRST_MOMENT <= us <= days.LAST_MOMENT else None


OF_PRESENT: Final[Mapping[str, Callable[[list[Any]], Any]]] = {  # of the parts that are not missing
    "coalesce": lambda present: present[0] if present else None,
    "least": lambda present: min(present, default=None),
    "greatest": lambda present: max(present, default=None),
}
MEANING: Final[Mapping[str, Callable[..., Any]]] = {
    "add_i": operator.add,
    "sub_i": operator.sub,
    "mul_i": operator.mul,
    "mod_i": remainder,
    "neg_i": operator.neg,
    "abs_i": abs,
    "sign_i": sign,
    "floordiv_i": operator.floordiv,
    "round_i": round_integer,
    "add_f": operator.add,
    "sub_f": operator.sub,
    "mul_f": operator.mul,
    "div_f": lambda a, b: None if b == 0 else a / b,
    "mod_f": float_remainder,
    "neg_f": operator.neg,
    "abs_f": abs,
    "sign_f": sign,
    "sqrt": lambda a: None if a < 0 else math.sqrt(a),
    "exp": elementary.exp,
    "ln": lambda a: None if a <= 0 else elementary.ln(a),
    "power": elementary.power,
    "floor": whole(math.floor),
    "ceil": whole(math.ceil),
    "round": whole(nearest),
    "round_f": round_float,
    "to_f": float,
    "clip": clip,
    "lower": lambda text: text.translate(str.maketrans(CAPITALS, SMALL)),
    "upper": lambda text: text.translate(str.maketrans(SMALL, CAPITALS)),
    "trim": lambda text: text.strip(" "),
    "ltrim": lambda text: text.lstrip(" "),
    "rtrim": lambda text: text.rstrip(" "),
    "substring": substring,
    "length": lambda text: len(text) if len(text) <= LONGEST else None,
    "concat": lambda *texts: "".join(texts),
    "replace": replaced,
    "text_of_i": str,
    "i_of_text": integer_of_text,
    "f_of_text": float_of_text,
    "text_of_date": of_day(days.to_text),
    "date_of_text": days.from_text,
    "date_part": of_day(lambda day, part: days.part(part, day)),
    "date_trunc": of_day(lambda day, unit: days.truncated(unit, day)),
    "date_add": of_day(date_add),
    "date_of_time": of_moment(lambda us: us // days.DAY),
    "time_of_date": of_day(lambda day: day * days.DAY),
    "time_part": of_moment(time_part),
    "time_trunc": of_moment(lambda us, unit: us - us % days.TIME_SIZES[unit]),
    "time_add": of_moment(time_add),
    "local_of_time": of_moment(lambda us, zone: within(us + zones.offset_at(zones.offsets(zone), us))),
    "time_of_local": of_moment(lambda us, zone: within(us - zones.offset_at(zones.local_offsets(zone), us))),
}
