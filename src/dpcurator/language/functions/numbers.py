"""The SQL functions of row expressions that compute numbers: + - * / %, roundings, roots, LEAST and CLIP.

Each reading takes typed parts to one operand of `language/functions/function.py`, or refuses; integers stay integers,
and a float among the parts makes all of them floats. Right because `language/typed.py` decides the type before a
function is named, so that `add_i` has only integers and `add_f` only doubles. Checked in
tests/language/test_expressions.py.
"""

from __future__ import annotations

from collections.abc import Callable

from dpcurator.errors import Refusal
from dpcurator.language.functions.dates import timed
from dpcurator.language.rows import Constant
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


def sign(parts: Parts) -> Typed:
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
