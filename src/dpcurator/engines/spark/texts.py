"""Functions of texts in Spark's SQL, as `language/evaluate.py` has them.

Right because Spark counts code points, a text longer than LONGEST is missing before it can grow further, only A to Z
and a to z change their case, and a text is cast to a number only where it fits the regular expression that
`language/evaluate.py` uses, so that no cast raises. Checked in tests/engines (vectors, conformance, levels).
"""

from __future__ import annotations

from typing import Final

from dpcurator.catalog.model import Value
from dpcurator.engines.levels import Levels, Term, Write, int_of, plain
from dpcurator.engines.spark.constants import INFINITY, WIDE, narrow
from dpcurator.language.functions.casts import FLOAT_TEXT, INTEGER_TEXT
from dpcurator.language.functions.function import LONGEST
from dpcurator.language.functions.texts import CAPITALS, SMALL

_FAR: Final = 2**30  # code points: the sum of a place and a length stays in 32 bits, where Spark adds them


def short(levels: Levels, text: Term) -> Term:
    return levels.let(f"CASE WHEN char_length({{0}}) <= {LONGEST} THEN {{0}} END", text)


def fits(levels: Levels, text: Term, expression: str) -> Term:
    """Whether the whole text fits a regular expression of Java."""
    return levels.inline("rlike({}, {})", text, levels.constant(rf"(?s)\A(?:{expression})\z", "text"))


def _case(letters: str, others: str) -> Write:
    return plain(f"translate({{}}, '{letters}', '{others}')")


def _substring(levels: Levels, parts: tuple[Term, ...], literals: tuple[Value, ...]) -> Term:
    most = _FAR if literals[1] is None else min(int_of(literals[1]), _FAR)
    return levels.let(f"substring({{}}, {min(int_of(literals[0]), _FAR):d}, {most:d})", parts[0])


def _concat(levels: Levels, parts: tuple[Term, ...], _: tuple[Value, ...]) -> Term:
    """Missing where a part is."""
    size = levels.let(" + ".join(["char_length({})"] * len(parts)), *parts)
    joined = ", ".join(f"{{{number + 1}}}" for number in range(len(parts)))
    return levels.let(f"CASE WHEN {{0}} <= {LONGEST} THEN concat({joined}) END", size, *parts)


def _replace(levels: Levels, parts: tuple[Term, ...], literals: tuple[Value, ...]) -> Term:
    """Missing where it would be too long, which is known from how often `what` is there, before it is made."""
    what, by = (levels.constant(literal, "text") for literal in literals)
    grows = len(str(literals[1])) - len(str(literals[0]))
    text = short(levels, parts[0])
    if grows > 0:
        left = levels.let("char_length(replace({}, {}, ''))", text, what)
        times = f"(char_length({{0}}) - {{1}}) div {len(str(literals[0]))}"
        size = levels.let(f"char_length({{0}}) + {times} * {grows}", text, left)
        text = levels.let(f"CASE WHEN {{1}} <= {LONGEST} THEN {{0}} END", text, size)
    return levels.let("replace({}, {}, {})", text, what, by)


def _integer_of_text(levels: Levels, parts: tuple[Term, ...], _: tuple[Value, ...]) -> Term:
    return narrow(levels, levels.let(f"CAST({{}} AS {WIDE})", _fitting(levels, parts[0], INTEGER_TEXT)))


def _float_of_text(levels: Levels, parts: tuple[Term, ...], _: tuple[Value, ...]) -> Term:
    found = levels.let("CAST({} AS DOUBLE)", _fitting(levels, parts[0], FLOAT_TEXT))
    return levels.let(f"CASE WHEN abs({{0}}) < {INFINITY} THEN {{0}} END", found)


def _fitting(levels: Levels, text: Term, expression: str) -> Term:
    """The text without spaces around it, missing where it does not fit a regular expression."""
    trimmed = levels.let("trim(BOTH ' ' FROM {})", text)
    return levels.let("CASE WHEN {1} THEN {0} END", trimmed, fits(levels, trimmed, expression))


TEXTS: Final[dict[str, Write]] = {
    "lower": _case(CAPITALS, SMALL),
    "upper": _case(SMALL, CAPITALS),
    "trim": plain("trim(BOTH ' ' FROM {})"),
    "ltrim": plain("trim(LEADING ' ' FROM {})"),
    "rtrim": plain("trim(TRAILING ' ' FROM {})"),
    "reverse": plain("reverse({})"),
    "substring": _substring,
    "length": plain(f"CASE WHEN char_length({{0}}) <= {LONGEST} THEN CAST(char_length({{0}}) AS BIGINT) END"),
    "concat": _concat,
    "replace": _replace,
    "text_of_i": plain("CAST({} AS STRING)"),
    "i_of_text": _integer_of_text,
    "f_of_text": _float_of_text,
}
