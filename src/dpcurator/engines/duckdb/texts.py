"""Functions of texts in DuckDB's SQL, as `language/evaluate.py` has them.

Right because a text longer than LONGEST is missing before it can grow further, only A to Z and a to z change their
case, and a text is cast to a number only where it fits the regular expression that `language/evaluate.py` uses.
Checked in tests/engines (vectors, conformance, levels).
"""

from __future__ import annotations

from typing import Final

from dpcurator.catalog.model import Value
from dpcurator.engines.levels import Levels, Term, Write, int_of, plain
from dpcurator.language.functions.casts import FLOAT_TEXT, INTEGER_TEXT
from dpcurator.language.functions.function import LONGEST
from dpcurator.language.functions.texts import CAPITALS, SMALL


def short(levels: Levels, text: Term) -> Term:
    named = text
    return levels.let(f"CASE WHEN length({{0}}) <= {LONGEST} THEN {{0}} END", named)


def _case(letters: str, others: str) -> Write:
    return plain(f"translate({{}}, '{letters}', '{others}')")


def _substring(levels: Levels, parts: tuple[Term, ...], literals: tuple[Value, ...]) -> Term:
    more = "" if literals[1] is None else f", {int_of(literals[1]):d}"
    return levels.let(f"substring({{}}, {int_of(literals[0]):d}{more})", parts[0])


def _reverse(levels: Levels, parts: tuple[Term, ...], _: tuple[Value, ...]) -> Term:
    """By code points, where DuckDB's own `reverse` goes by grapheme clusters.

    A short text is split into its letters. Those of many long texts at once would fill gigabytes, so a long one gets a
    control character after each letter: no cluster holds one (UAX 29, GB4 and GB5), so `reverse` goes letter by letter.
    """
    text = short(levels, parts[0])
    few, many = (levels.let(f"CASE WHEN length({{0}}) {op} {_FEW} THEN {{0}} END", text) for op in ("<=", ">"))
    split = levels.let("array_to_string(list_reverse(string_split({}, '')), '')", few)
    apart = levels.let(r"reverse(regexp_replace({}, '(?s)(.)', '\1' || chr(1), 'g'))", many)
    return levels.let(r"coalesce({}, regexp_replace({}, '(?s)' || chr(1) || '(.)', '\1', 'g'))", split, apart)


_FEW: Final = 256  # letters: 8 MB for the 2,048 texts that DuckDB computes at once


def _concat(levels: Levels, parts: tuple[Term, ...], _: tuple[Value, ...]) -> Term:
    """By one call, since each of a row of || makes a text of its own. CONCAT passes over missing parts, but then their
    size is missing, and so is the result."""
    size = levels.let(" + ".join(["length({})"] * len(parts)), *parts)
    joined = ", ".join(f"{{{number + 1}}}" for number in range(len(parts)))
    return levels.let(f"CASE WHEN {{0}} <= {LONGEST} THEN concat({joined}) END", size, *parts)


def _replace(levels: Levels, parts: tuple[Term, ...], literals: tuple[Value, ...]) -> Term:
    """Missing where it would be too long, which is known from how often `what` is there, before it is made."""
    what, by = (levels.constant(literal, "text") for literal in literals)
    grows = len(str(literals[1])) - len(str(literals[0]))
    text = short(levels, parts[0])
    if grows > 0:
        left = levels.let("length(replace({}, {}, ''))", text, what)
        size = levels.let(f"length({{0}}) + (length({{0}}) - {{1}}) // {len(str(literals[0]))} * {grows}", text, left)
        text = levels.let(f"CASE WHEN {{1}} <= {LONGEST} THEN {{0}} END", text, size)
    return levels.let("replace({}, {}, {})", text, what, by)


def _integer_of_text(levels: Levels, parts: tuple[Term, ...], _: tuple[Value, ...]) -> Term:
    return levels.let("TRY_CAST(TRY_CAST({} AS HUGEINT) AS BIGINT)", _fitting(levels, parts[0], INTEGER_TEXT))


def _float_of_text(levels: Levels, parts: tuple[Term, ...], _: tuple[Value, ...]) -> Term:
    found = levels.let("TRY_CAST({} AS DOUBLE)", _fitting(levels, parts[0], FLOAT_TEXT))
    return levels.let("CASE WHEN isfinite({0}) THEN {0} END", found)


def _fitting(levels: Levels, text: Term, expression: str) -> Term:
    """The text without spaces around it, missing where it does not fit a regular expression."""
    trimmed = levels.let("trim({}, ' ')", text)
    fits = levels.constant(expression, "text")
    return levels.let("CASE WHEN regexp_full_match({0}, {1}) THEN {0} END", trimmed, fits)


TEXTS: Final[dict[str, Write]] = {
    "lower": _case(CAPITALS, SMALL),
    "upper": _case(SMALL, CAPITALS),
    "trim": plain("trim({}, ' ')"),
    "ltrim": plain("ltrim({}, ' ')"),
    "rtrim": plain("rtrim({}, ' ')"),
    "reverse": _reverse,
    "substring": _substring,
    "length": plain(f"CASE WHEN length({{0}}) <= {LONGEST} THEN CAST(length({{0}}) AS BIGINT) END"),
    "concat": _concat,
    "replace": _replace,
    "text_of_i": plain("CAST({} AS VARCHAR)"),
    "i_of_text": _integer_of_text,
    "f_of_text": _float_of_text,
}
