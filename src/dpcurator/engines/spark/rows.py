"""Row expressions in Spark's SQL: what `language/evaluate.py` says, in operations that raise on no row, in ANSI mode.

Operands and predicates are in `engines/rows.py`; functions in `numbers`, `texts` and `dates`. A guard is on the operand
itself, so that it holds whichever branches an optimiser evaluates. What Spark defines in another way, and is so not
used: `floor` of doubles (64 bits, and it raises), casts of doubles to decimals (by their shortest digits), a cast of
2**63 to BIGINT (it is 2**63 - 1), LIKE (a regular expression that goes back). Texts compare by bytes, which is by code
point. Every function has its text in FUNCTIONS below. Checked in tests/engines (vectors, conformance, levels).
"""

from __future__ import annotations

from typing import Final

from dpcurator.catalog.model import Kind
from dpcurator.engines.levels import Levels, Term, Write
from dpcurator.engines.rows import Rows
from dpcurator.engines.spark.constants import TYPES
from dpcurator.engines.spark.dates import DATES
from dpcurator.engines.spark.numbers import NUMBERS
from dpcurator.engines.spark.texts import TEXTS, fits, short
from dpcurator.language import patterns

FUNCTIONS: Final[dict[str, Write]] = {**NUMBERS, **TEXTS, **DATES}


def _like(levels: Levels, text: Term, tokens: tuple[patterns.Token, ...]) -> Term:
    """LIKE in time that is linear in the text, for one pattern: an equality, a beginning, an end, a text inside, or a
    regular expression that never goes back further than one piece."""
    parts = patterns.simple(tokens)
    match parts:
        case (whole,):
            return levels.inline("({} = {})", text, levels.constant(whole, "text"))
        case (start, end):
            size = Term(str(len((start + end).encode())))  # so that a beginning and an end do not overlap
            ends = (levels.constant(start, "text"), levels.constant(end, "text"))
            found = "(startswith({0}, {1}) AND endswith({0}, {2}) AND octet_length({0}) >= {3})"
            return levels.inline(found, text, *ends, size)
        case ("", inside, ""):
            return levels.inline("contains({}, {})", text, levels.constant(inside, "text"))
    return fits(levels, text, regular(tokens))


def regular(tokens: tuple[patterns.Token, ...]) -> str:
    """The pattern as a regular expression of Java. Each piece between two ANYs is found where it first is, in an atomic
    group, which is never tried again: a piece has one length, so whatever fits later pieces fits them there. The last
    is looked for at the end. `.` is any code point, a line break too."""
    pieces: list[str] = [""]
    for token in tokens:
        if token is patterns.ANY:
            pieces.append("")
        else:
            pieces[-1] += "." if token is patterns.ONE else f"\\x{{{ord(str(token)):x}}}"
    if len(pieces) == 1:
        return pieces[0]
    inner = "".join(f"(?>.*?{piece})" for piece in pieces[1:-1])
    return f"{pieces[0]}{inner}.*{pieces[-1]}"


def _finish(levels: Levels, found: Term, kind: Kind) -> Term:
    """-0.0 is 0.0: some of Spark's operations look at bits."""
    if kind == "text":
        return short(levels, found)
    return levels.let("{} + 0D", found) if kind == "float" else found


ROWS: Final = Rows(TYPES, FUNCTIONS, _like, _finish)
operand, truth = ROWS.operand, ROWS.truth
