"""The SQL functions of row expressions that compute texts, and what a value is as a text.

Each reading takes typed parts to one operand of `language/functions/function.py`, or refuses. Right because a text
function gets texts alone (`language/typed.py` refuses another type), and its places and lengths are literals within
limits; `as_text` writes only types with one spelling, so no float. Checked in tests/language/test_expressions.py.
"""

from __future__ import annotations

from collections.abc import Callable

from dpcurator.errors import Refusal
from dpcurator.language.rows import Choose, Compare, Compute, Constant, Missing, Operand, When
from dpcurator.language.typed import Parts, Typed, compute, count, of_type, plain_text, text, whole


def of_text(name: str, said: str | None = None) -> Callable[[Parts], Typed]:
    return lambda parts: of_type(parts, compute(name, [text(parts[0], said or name.upper())], "text"), "text")


def length(parts: Parts) -> Typed:
    return of_type(parts, compute("length", [text(parts[0], "LENGTH")], "integer"), "integer")


def substring(parts: Parts) -> Typed:
    start = count(parts[1], "the start of SUBSTRING", 1, 2**31 - 1)
    most = count(parts[2], "the length of SUBSTRING", 0, 2**31 - 1) if len(parts) == 3 else None
    return of_type(parts, compute("substring", [text(parts[0], "SUBSTRING")], "text", start, most), "text")


def left_of(parts: Parts) -> Typed:
    most = count(parts[1], "the length of LEFT", 0, 2**31 - 1)
    return of_type(parts, compute("substring", [text(parts[0], "LEFT")], "text", 1, most), "text")


def replace(parts: Parts) -> Typed:
    what, by = (plain_text(one, "what REPLACE looks for, and what it writes,") for one in parts[1:])
    if not 1 <= len(what) <= 100 or len(by) > 100:
        raise Refusal("REPLACE looks for 1 to 100 letters, and writes at most 100.", cure="Shorten its texts.")
    return of_type(parts, compute("replace", [text(parts[0], "REPLACE")], "text", what, by), "text")


def concat(parts: Parts) -> Typed:
    """Missing parts are skipped."""
    made: list[Operand] = []
    for one in parts:
        operand = as_text(one, "CONCAT")
        if not isinstance(operand, Missing):
            empty = Constant("", "text")
            made.append(operand if isinstance(operand, Constant) else compute("coalesce", [operand, empty], "text"))
    return of_type(parts, compute("concat", made or [Constant("", "text")], "text"), "text")


def joined(left: Typed, right: Typed) -> Typed:
    """left || right: missing when either is. Raises Refusal."""
    made: list[Operand] = []
    for one in (as_text(left, "||"), as_text(right, "||")):
        made += one.parts if isinstance(one, Compute) and one.function == "concat" else (one,)
    return of_type([left], compute("concat", made, "text"), "text")


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
