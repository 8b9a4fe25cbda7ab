"""Functions of texts, and what a value is as a text. Code points, ASCII case, no collation.

Right because a text function gets texts alone (`language/typed.py` refuses another type), and its places and lengths
are literals within limits; `as_text` writes only types with one spelling, so no float. Checked in
tests/language/test_expressions.py and tests/engines/test_vectors.py.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from dpcurator.catalog.model import Kind
from dpcurator.errors import Refusal
from dpcurator.language.functions.function import LONGEST, MANY, Function, RowFunction, integers
from dpcurator.language.rows import Choose, Compare, Compute, Constant, Missing, Operand, When, is_unicode
from dpcurator.language.spans import between
from dpcurator.language.typed import Parts, Typed, compute, count, of_type, plain_text, text, whole

CAPITALS: Final = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
SMALL: Final = CAPITALS.lower()

# --- values ----------------------------------------------------------------------------------------------------------


def in_case(letters: str, others: str) -> Callable[[str], str]:
    table = str.maketrans(letters, others)
    return lambda text: text.translate(table)


def cut(text: str, start: int, n: int | None) -> str:
    return text[start - 1 :] if n is None else text[start - 1 : start - 1 + n]


def replaced(text: str, what: str, by: str) -> str | None:
    return text.replace(what, by) if len(text) <= LONGEST else None


def place_and_size(literals: tuple[Any, ...], kind: Kind) -> bool:
    if len(literals) == 2 and literals[1] is None:
        literals = (literals[0], 0)
    return integers(range(1, 2**31), range(2**31))(literals, kind)


def two_texts(literals: tuple[Any, ...], _: Kind) -> bool:
    short = all(is_unicode(literal) and len(literal) <= 100 for literal in literals)
    return len(literals) == 2 and short and literals[0] != ""


def letters_cut(letters: tuple[int, ...], literals: tuple[Any, ...]) -> int:
    return min(letters[0], literals[1]) if isinstance(literals[1], int) else letters[0]


def letters_replaced(letters: tuple[int, ...], literals: tuple[Any, ...]) -> int:
    what, by = (len(str(literal)) for literal in literals)
    return letters[0] + max(0, by - what) * (letters[0] // what)


# --- functions -------------------------------------------------------------------------------------------------------

FUNCTIONS: Final = (
    Function("lower", "t", "t", "A to Z in lower case, nothing else changed", in_case(CAPITALS, SMALL)),
    Function("upper", "t", "t", "a to z in upper case, nothing else changed", in_case(SMALL, CAPITALS)),
    Function("trim", "t", "t", "without the spaces (U+0020) at both ends", lambda text: text.strip(" ")),
    Function("ltrim", "t", "t", "without the spaces at the start", lambda text: text.lstrip(" ")),
    Function("rtrim", "t", "t", "without the spaces at the end", lambda text: text.rstrip(" ")),
    Function("reverse", "t", "t", "the code points from last to first", lambda text: text[::-1], weight=5),
    Function("substring", "t", "t", "code points start, start + 1, ... (the first is 1), at most n of them", cut,
             literals="start: int from 1 to 2**31 - 1; n: int from 0 to 2**31 - 1, or None for all",
             check=place_and_size, letters=letters_cut),
    Function("length", "t", "i", "how many code points; missing where longer than LONGEST",
             lambda text: len(text) if len(text) <= LONGEST else None, between(0, LONGEST)),
    Function("concat", "t*", "t", "one after the other", lambda *texts: "".join(texts), sign="||",
             letters=lambda letters, _: sum(letters), never=False),
    Function("replace", "t", "t", "every occurrence of a text by another, left to right, none overlapping; missing "
             "where a is longer than LONGEST", replaced, check=two_texts, letters=letters_replaced,
             literals="what: text of 1 to 100 code points; by: text of at most 100"),
)

# --- how they are written and read -----------------------------------------------------------------------------------


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
                     ((1, "true"), (0, "false"))]
            return Choose(tuple(words), Missing("text"), "text")
    cure = "Write FLOOR(x) or ROUND(x) first." if part.type in ("float", "number") else "CAST it to DATE first."
    raise Refusal(f"{what}: {part.said}, which has no text here.", cure=cure)


CALLS: Final = {
    "LOWER": RowFunction("LOWER(x)", 1, 1, of_text("lower"), "LOWER('YORK') = 'york'", also=("LCASE",)),
    "UPPER": RowFunction("UPPER(x)", 1, 1, of_text("upper"), "UPPER('York') = 'YORK'", also=("UCASE",)),
    "TRIM": RowFunction("TRIM(x)", 1, 1, of_text("trim"), "TRIM(' York ') = 'York'"),
    "LTRIM": RowFunction("LTRIM(x)", 1, 1, of_text("ltrim"), "LTRIM(' York') = 'York'"),
    "RTRIM": RowFunction("RTRIM(x)", 1, 1, of_text("rtrim"), "RTRIM('York ') = 'York'"),
    "REVERSE": RowFunction("REVERSE(x)", 1, 1, of_text("reverse"), "REVERSE('York') = 'kroY'"),
    "LENGTH": RowFunction("LENGTH(x)", 1, 1, length, "LENGTH('York') = 4",
                          also=("LEN", "CHAR_LENGTH", "CHARACTER_LENGTH")),
    "SUBSTRING": RowFunction("SUBSTRING(x, 1, 3)", 2, 3, substring, "SUBSTRING('York', 2, 2) = 'or'", also=("SUBSTR",)),
    "LEFT": RowFunction("LEFT(x, 3)", 2, 2, left_of, "LEFT('York', 3) = 'Yor'"),
    "CONCAT": RowFunction("CONCAT(x, '-', y)", 1, MANY, concat, "CONCAT('Y', NULL, 'ork') = 'York'"),
    "REPLACE": RowFunction("REPLACE(x, 'a', 'b')", 3, 3, replace, "REPLACE('York', 'Y', 'F') = 'Fork'"),
}
