"""Row expressions in DuckDB's SQL: what `language/evaluate.py` says, in operations that raise on no row.

Operands and predicates are in `engines/rows.py`; functions in `numbers`, `texts` and `dates`. A guard is on the
operand itself (`greatest`, `least` or a CASE, not a branch around the operation), so that it holds whichever branches
an optimiser evaluates. Seen to raise, and so guarded: sqrt and log2 of a number below 0 (1.5), casts, dates far away,
% by 0. LIKE is not written as LIKE: `_like` says why.
Every function has its text in FUNCTIONS below. Checked in tests/engines (vectors, conformance, levels).
"""

from __future__ import annotations

from typing import Final

from dpcurator.catalog.model import Kind
from dpcurator.engines.duckdb.dates import DATES
from dpcurator.engines.duckdb.levels import TYPES
from dpcurator.engines.duckdb.numbers import NUMBERS
from dpcurator.engines.duckdb.texts import TEXTS, short
from dpcurator.engines.levels import Levels, Term, Write
from dpcurator.engines.rows import Rows
from dpcurator.language import patterns

FUNCTIONS: Final[dict[str, Write]] = {**NUMBERS, **TEXTS, **DATES}


def _like(levels: Levels, text: Term, tokens: tuple[patterns.Token, ...]) -> Term:
    """LIKE in time that is linear in the text. DuckDB's own goes back to every % (1.5 and 2.0: more than the age of the
    world for eight of them on 200 letters), so it is never used: a pattern is an equality, a beginning, an end or a
    text inside, or else a regular expression, which RE2 matches without going back."""
    parts = patterns.simple(tokens)
    match parts:
        case (whole,):
            return levels.inline("({} = {})", text, levels.constant(whole, "text"))
        case (start, end):
            size = Term(str(len((start + end).encode())))  # so that a beginning and an end do not overlap
            ends = (levels.constant(start, "text"), levels.constant(end, "text"))
            found = "(starts_with({0}, {1}) AND suffix({0}, {2}) AND strlen({0}) >= {3})"
            return levels.inline(found, text, *ends, size)
        case ("", inside, ""):
            return levels.inline("contains({}, {})", text, levels.constant(inside, "text"))
    fits = levels.constant(patterns.regular(tokens), "text")
    return levels.inline("regexp_full_match({}, {})", text, fits)


def _finish(levels: Levels, found: Term, kind: Kind) -> Term:
    return short(levels, found) if kind == "text" else found


ROWS: Final = Rows(TYPES, FUNCTIONS, _like, _finish)
operand, truth = ROWS.operand, ROWS.truth
