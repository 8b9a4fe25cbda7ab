"""CAST of row expressions: which type becomes which, and the operand of `language/functions/function.py` that does it.

Right because every pair of types has its one case below or is refused with a cure; a value that has no such form is
missing, never an error. Checked in tests/language/test_expressions.py.
"""

from __future__ import annotations

from typing import Final

from dpcurator.errors import Refusal
from dpcurator.language.functions.texts import as_text
from dpcurator.language.rows import Choose, Compare, Constant, Missing, Operand, When
from dpcurator.language.typed import Typed, compute, kind_of, own_type

CASTS: Final = {"INTEGER": "integer", "DOUBLE": "float", "TEXT": "text", "DATE": "date", "TIMESTAMP": "timestamp",
                "BOOLEAN": "boolean"}  # fmt: skip
UNCHANGED: Final = {("boolean", "integer"), ("uuid", "text")}  # the value is the same: a column stays a bare column


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
