"""CAST of row expressions: which type becomes which, and the functions that do it.

Right because every pair of types has its one case below or is refused with a cure; a value that has no such form is
missing, never an error. Checked in tests/language/test_expressions.py and tests/engines/test_vectors.py.
"""

from __future__ import annotations

import re
from typing import Final

from dpcurator.errors import Refusal
from dpcurator.language import days
from dpcurator.language.functions.dates import of_day
from dpcurator.language.functions.function import Function, RowFunction
from dpcurator.language.functions.texts import as_text
from dpcurator.language.rows import Choose, Compare, Constant, Missing, Operand, When
from dpcurator.language.spans import between
from dpcurator.language.typed import Typed, compute, kind_of, own_type

INTEGER_TEXT: Final = "[+-]?[0-9]{1,30}"
FLOAT_TEXT: Final = r"[+-]?([0-9]{1,300}(\.[0-9]{0,300})?|\.[0-9]{1,300})([eE][+-]?[0-9]{1,4})?"


def integer_of_text(text: str) -> int | None:
    text = text.strip(" ")
    return int(text) if re.fullmatch(INTEGER_TEXT, text) else None


def float_of_text(text: str) -> float | None:
    text = text.strip(" ")
    return float(text) if re.fullmatch(FLOAT_TEXT, text) else None


FUNCTIONS: Final = (
    Function("text_of_i", "i", "t", "decimal digits, - before a negative number", str, letters=lambda *_: 20,
             word="TEXT"),
    Function("i_of_text", "t", "i", f"spaces trimmed, {INTEGER_TEXT} read; anything else is missing", integer_of_text,
             word="INTEGER"),
    Function("f_of_text", "t", "f", f"spaces trimmed, {FLOAT_TEXT} read as the nearest double; else missing",
             float_of_text, word="DOUBLE"),
    Function("text_of_date", "i", "t", "YYYY-MM-DD of days", of_day(days.to_text), letters=lambda *_: 10, steps=6,
             word="TEXT"),
    Function("date_of_text", "t", "i", "days of a text YYYY-MM-DD that is a date", days.from_text,
             between(days.FIRST_DAY, days.LAST_DAY), steps=6, word="DATE"),
)

CASTS: Final = {"INTEGER": "integer", "DOUBLE": "float", "TEXT": "text", "DATE": "date", "TIMESTAMP": "timestamp",
                "BOOLEAN": "boolean"}
UNCHANGED: Final = {("boolean", "integer"), ("uuid", "text")}  # the value is the same: a column stays a bare column


def cast(part: Typed, name: str) -> Typed:
    """CAST(part AS name): missing where the value has no such form. Raises Refusal."""
    wanted = CASTS.get(name)
    if wanted is None:
        cure = {
            "DECIMAL": "CAST to DOUBLE, and write ROUND(x, 2) around it.",
            "VARCHAR(n)": "CAST to TEXT, or write LEFT(x, 10).",
        }.get(name, f"CAST to {', '.join(CASTS)}.")
        raise Refusal(f"a cast to {name} is not available.", cure=cure)
    if part.type == "null":
        return Typed(Missing(kind_of(wanted)), wanted, part.spell)
    if wanted == "text":
        return Typed(as_text(part, "CAST"), "text", part.spell)
    source = own_type(part)
    if source == wanted:
        return Typed(part.as_type(wanted), wanted, part.spell)
    if source == "text" and wanted == "timestamp" and part.literal is not None:
        return Typed(part.as_type("timestamp"), "timestamp", part.spell)
    made = _cast(part.as_type(source), source, wanted)
    if made is None:
        raise Refusal(
            f"{part.said}, which has no cast to {name}.", cure=_CAST_CURES.get((source, wanted), "Use no cast.")
        )
    return Typed(made, wanted, part.spell)


_CAST_CURES: Final = {
    ("date", "integer"): "Write day - DATE '1970-01-01', or EXTRACT(year FROM day).",
    ("timestamp", "integer"): "Write EXTRACT(year FROM at), or DATE_DIFF('second', earlier, later).",
    ("text", "boolean"): "Compare the text, as in x = 'true'.", ("float", "boolean"): "Compare it, as in x <> 0.",
    ("local", "timestamp"): "Write x AT TIME ZONE 'Europe/Paris'.",
    ("text", "timestamp"): "Declare the column a timestamp in the catalog.",
}


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


CALLS: Final = {
    "DATE": RowFunction("DATE(at)", 1, 1, lambda parts: cast(parts[0], "DATE"),
                        "DATE(TIMESTAMP '2024-02-29 23:30:05') = DATE '2024-02-29'"),
}
