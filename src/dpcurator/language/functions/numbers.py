"""Functions of numbers, and those of values of any kind: + - * / %, roundings, roots, LEAST, COALESCE, CLIP, NULLIF.

Integers stay integers, and a float among the parts makes all of them floats. Right because `language/typed.py` decides
the type before a function is named, so that `add_i` has only integers and `add_f` only doubles; integers are unbounded
in Python and missing when the result passes 64 bits; doubles are never NaN. Checked in
tests/language/test_expressions.py, test_intervals.py and tests/engines/test_vectors.py.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from typing import Any, Final

from dpcurator.catalog.model import Kind
from dpcurator.errors import Refusal
from dpcurator.language import elementary
from dpcurator.language import span_numbers as spans
from dpcurator.language.comparing import compare
from dpcurator.language.functions.dates import timed
from dpcurator.language.functions.function import MANY, Function, RowFunction, integers
from dpcurator.language.rows import Choose, Constant, Missing, When, check_value
from dpcurator.language.spans import rising
from dpcurator.language.typed import (
    TIMED,
    Parts,
    Typed,
    common,
    compute,
    count,
    doubles,
    kind_of,
    numbers,
    of_type,
    united,
)

# --- values ----------------------------------------------------------------------------------------------------------


def remainder(a: int, b: int) -> int | None:
    return None if b == 0 else int(math.copysign(1, a)) * (abs(a) % abs(b))


def sign(a: float) -> int:
    return (a > 0) - (a < 0)


def round_integer(a: int, n: int) -> int:
    step: int = 10**n
    return sign(a) * ((abs(a) + step // 2) // step) * step


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


def clipped(a: Any, lower: Any, upper: Any) -> Any:
    return lower if a < lower else upper if a > upper else a


def ends(literals: tuple[Any, ...], kind: Kind) -> bool:
    """Two values of the kind, the lower one first."""
    if len(literals) != 2 or None in literals:
        return False
    for literal in literals:
        check_value(literal, kind)
    return bool(literals[0] <= literals[1])


# --- functions -------------------------------------------------------------------------------------------------------

FUNCTIONS: Final = (
    # integers
    Function("add_i", "ii", "i", "a + b", operator.add, spans.added, sign="+"),
    Function("sub_i", "ii", "i", "a - b", operator.sub, spans.subtracted, sign="-"),
    Function("mul_i", "ii", "i", "a b", operator.mul, spans.product, sign="*"),
    Function("mod_i", "ii", "i", "the remainder of a by b with the sign of a; missing where b = 0", remainder,
             spans.whole_remainder, sign="%"),
    Function("neg_i", "i", "i", "-a", operator.neg, spans.negated, sign="-"),
    Function("abs_i", "i", "i", "|a|", abs, spans.size, word="ABS"),
    Function("sign_i", "i", "i", "-1, 0 or 1", sign, spans.signs, word="SIGN"),
    Function("floordiv_i", "i", "i", "floor(a / n)", operator.floordiv, rising(operator.floordiv, "integer"),
             literals="n: int >= 1", check=integers(range(1, 2**63))),
    Function("round_i", "i", "i", "a rounded to a multiple of 10**n, halves away from zero", round_integer,
             rising(round_integer, "integer"), literals="n: int from 1 to 18", check=integers(range(1, 19)),
             word="ROUND"),
    # doubles, each one IEEE operation unless said otherwise
    Function("add_f", "ff", "f", "a + b", operator.add, spans.added, sign="+"),
    Function("sub_f", "ff", "f", "a - b", operator.sub, spans.subtracted, sign="-"),
    Function("mul_f", "ff", "f", "a b", operator.mul, spans.product, sign="*"),
    Function("div_f", "ff", "f", "a / b; missing where b = 0", lambda a, b: None if b == 0 else a / b, spans.quotient,
             sign="/"),
    Function("mod_f", "ff", "f", "C's fmod: the exact remainder with the sign of a; missing where b = 0",
             float_remainder, spans.remainder, sign="%"),
    Function("neg_f", "f", "f", "-a", operator.neg, spans.negated, sign="-"),
    Function("abs_f", "f", "f", "|a|", abs, spans.size, word="ABS"),
    Function("sign_f", "f", "i", "-1, 0 or 1", sign, spans.signs, word="SIGN"),
    Function("sqrt", "f", "f", "the correctly rounded square root; missing where a < 0",
             lambda a: None if a < 0 else math.sqrt(a), spans.root),
    Function("exp", "f", "f", "e**a by the fixed IEEE operations of elementary.py, so that engines agree bit by bit",
             elementary.exp, spans.exponential, steps=6, weight=10),
    Function("ln", "f", "f", "ln a by a fixed sequence likewise; missing where a <= 0",
             lambda a: None if a <= 0 else elementary.ln(a), spans.logarithm, steps=6, weight=10),
    Function("power", "ff", "f", "a**b: whole |b| <= 64 by repeated squaring (then 1/x), else exp(b ln a); missing "
             "where a < 0 and b is not such a whole number, or a = 0 and b < 0", elementary.power, spans.power,
             steps=20, weight=30),
    Function("floor", "f", "i", "the greatest integer <= a", whole(math.floor), rising(whole(math.floor), "float")),
    Function("ceil", "f", "i", "the least integer >= a", whole(math.ceil), rising(whole(math.ceil), "float")),
    Function("round", "f", "i", "the nearest integer, halves away from zero: sign(a) floor(|a| + 1/2) exactly",
             whole(nearest), rising(whole(nearest), "float")),
    Function("round_f", "f", "f", "sign(a) * floor(|a| * 10**n + 0.5) / 10**n as those IEEE operations; a itself where "
             "|a| * 10**n >= 2**52", round_float, spans.rounded(rising(round_float, "float")),
             literals="n: int from 1 to 15", check=integers(range(1, 16)), word="ROUND"),
    Function("to_f", "i", "f", "the nearest double, ties to even", float, lambda parts, *_: parts[0]),
    # of any kind
    Function("coalesce", "k*", "k", "the first part that is not missing",
             lambda present: present[0] if present else None, spans.first, of_present=True, never=False),
    Function("least", "k*", "k", "the least of the parts that are not missing",
             lambda present: min(present, default=None), spans.least, of_present=True, never=False),
    Function("greatest", "k*", "k", "the greatest of the parts that are not missing",
             lambda present: max(present, default=None), spans.greatest, of_present=True, never=False),
    Function("clip", "k", "k", "a moved into [lower, upper]; infinities too", clipped, spans.clip,
             literals="lower, upper: of the part's kind", check=ends),
)

# --- how they are written and read -----------------------------------------------------------------------------------


def arithmetic(op: str, left: Typed, right: Typed) -> Typed:
    """+ - * / %: of numbers, dates and intervals. Raises Refusal."""
    if left.type in TIMED or right.type in TIMED or "interval" in (left.type, right.type):
        return timed(op, left, right)
    if op == "/":
        return of_type([left], compute("div_f", doubles([left, right], "/"), "float"), "float")
    name = {"+": "add", "-": "sub", "*": "mul", "%": "mod"}[op]
    type, parts = numbers([left, right], op)
    return of_type([left], compute(f"{name}_{type[0]}", parts, kind_of(type)), type)


def negative(part: Typed) -> Typed:
    """-part. Raises Refusal."""
    type, parts = numbers([part], "-")
    return of_type([part], compute(f"neg_{type[0]}", parts, kind_of(type)), type)


def same_kind(name: str) -> Callable[[Parts], Typed]:
    def read(parts: Parts) -> Typed:
        type, operands = numbers(parts, name.upper())
        return of_type(parts, compute(f"{name}_{type[0]}", operands, kind_of(type)), type)

    return read


def sign_of(parts: Parts) -> Typed:
    type, operands = numbers(parts, "SIGN")
    return of_type(parts, compute(f"sign_{type[0]}", operands, "integer"), "integer")


def whole_of(name: str) -> Callable[[Parts], Typed]:
    def read(parts: Parts) -> Typed:
        type, operands = numbers(parts, name.upper())
        return of_type(parts, operands[0] if type == "integer" else compute(name, operands, "integer"), "integer")

    return read


def rounded_to(parts: Parts) -> Typed:
    places = count(parts[1], "the places of ROUND", -18, 15) if len(parts) == 2 else 0
    type, operands = numbers(parts[:1], "ROUND")
    if type == "integer":
        rounded = operands[0] if places >= 0 else compute("round_i", operands, "integer", -places)
        return of_type(parts, rounded, "integer")
    if places < 0:
        raise Refusal(
            "ROUND to tens or more takes whole numbers here, and this is a float.",
            cure=f"Write ROUND(x / {10**-places}) * {10**-places}.",
        )
    if places == 0:
        return of_type(parts, compute("round", operands, "integer"), "integer")
    return of_type(parts, compute("round_f", operands, "float", places), "float")


def double(name: str) -> Callable[[Parts], Typed]:
    return lambda parts: of_type(parts, compute(name, doubles(parts, name.upper()), "float"), "float")


def least(name: str) -> Callable[[Parts], Typed]:
    def read(parts: Parts) -> Typed:
        type, operands = united(parts, name.upper())
        return of_type(parts, compute(name, operands, kind_of(type)), type)

    return read


def clip(parts: Parts) -> Typed:
    type = common(parts, "CLIP")
    if type not in ("integer", "float", *TIMED) or any(one.literal is None for one in parts[1:]):
        raise Refusal(
            "CLIP takes a number, a date or a timestamp, and two literals.",
            cure="Write it as in CLIP(income, 0, 1000).",
        )
    operand, low, high = (one.as_type(type) for one in parts)
    ends = [end.value for end in (low, high) if isinstance(end, Constant) and isinstance(end.value, int | float)]
    if len(ends) < 2 or not ends[0] <= ends[1]:
        raise Refusal("CLIP takes its lower end first.", cure="Write it as in CLIP(income, 0, 1000).")
    return of_type(parts, compute("clip", [operand], kind_of(type), *ends), type)


def nullif(parts: Parts) -> Typed:
    """The first part, missing where it equals the second."""
    type = common(parts, "NULLIF")
    kept = parts[0].as_type(type)
    equal = compare("=", *parts)
    return of_type(parts, Choose((When(equal, Missing(kind_of(type))),), kept, kind_of(type)), type)


CALLS: Final = {
    "ABS": RowFunction("ABS(x)", 1, 1, same_kind("abs"), "ABS(-3) = 3"),
    "SIGN": RowFunction("SIGN(x)", 1, 1, sign_of, "SIGN(-2.5) = -1"),
    "FLOOR": RowFunction("FLOOR(x)", 1, 1, whole_of("floor"), "FLOOR(-2.5) = -3"),
    "CEIL": RowFunction("CEIL(x)", 1, 1, whole_of("ceil"), "CEIL(2.5) = 3", also=("CEILING",)),
    "ROUND": RowFunction("ROUND(x) or ROUND(x, 2)", 1, 2, rounded_to, "ROUND(2.675, 2) = 2.68"),
    "SQRT": RowFunction("SQRT(x)", 1, 1, double("sqrt"), "SQRT(2.25) = 1.5"),
    "LN": RowFunction("LN(x)", 1, 1, double("ln"), "LN(1) = 0"),
    "EXP": RowFunction("EXP(x)", 1, 1, double("exp"), "EXP(0) = 1"),
    "POWER": RowFunction("POWER(x, 2)", 2, 2, double("power"), "POWER(2, 10) = 1024", also=("POW",)),
    "MOD": RowFunction("MOD(x, 7)", 2, 2, lambda parts: arithmetic("%", *parts), "MOD(-9, 7) = -2"),
    "LEAST": RowFunction("LEAST(x, y)", 1, MANY, least("least"), "LEAST(3, NULL, 2) = 2"),
    "GREATEST": RowFunction("GREATEST(x, y)", 1, MANY, least("greatest"), "GREATEST(3, NULL, 2) = 3"),
    "CLIP": RowFunction("CLIP(x, 0, 100)", 3, 3, clip, "CLIP(120, 0, 100) = 100"),
    "COALESCE": RowFunction("COALESCE(x, 0)", 1, MANY, least("coalesce"), "COALESCE(NULL, 2, 3) = 2",
                            also=("IFNULL", "NVL")),
    "NULLIF": RowFunction("NULLIF(x, 0)", 2, 2, nullif, "NULLIF(3, 3) IS NULL"),
}
