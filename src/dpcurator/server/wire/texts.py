"""The text of statements: where one ends and the next begins, and values in the places of $1, $2 ...

Checked in tests/server/test_wire_messages.py and tests/server/test_wire.py.
"""

from __future__ import annotations

import re
from functools import cache
from typing import Any, Final

from dpcurator.errors import Refusal
from dpcurator.fronts.bounded import bounded
from dpcurator.server.wire.values import literal

LONGEST: Final = 20_000  # characters of a statement
LONGEST_TEXT: Final = 100_000  # characters of several
MOST_STATEMENTS: Final = 50  # of one text
# Each of these reads a text once, whatever is in it, and never tries another way to read what it has read: a regular
# expression holds up all other threads, and to try all ways of n comments takes 2^n steps. What is not closed ends the
# text.
SKIPPED: Final = r"(?:\s++|--[^\n]*+|(?>/\*.*?\*/))*+"
_PIECE: Final = re.compile(
    r"'[^']*+(?:'|\Z)|\"[^\"]*+(?:\"|\Z)|--[^\n]*+|/\*.*?(?:\*/|\Z)|\$(?P<place>\d{1,4})(?![\w$])|;", re.S
)  # two quotes in a text end one piece and begin the next
HEAD: Final = re.compile(SKIPPED + r"([A-Za-z]++)", re.S)
_EMPTY: Final = re.compile(SKIPPED, re.S)


def split(sql: str) -> list[str]:
    """The statements of a text, as they are written, without those that say nothing. Raises Refusal."""
    if len(sql) > LONGEST_TEXT:
        raise Refusal(f"a text has at most {LONGEST_TEXT:,} characters.", cure="Send fewer statements at a time.")
    found, start = [], 0
    for piece in _PIECE.finditer(sql):
        if piece.group() == ";":
            found.append(sql[start : piece.start()])
            start = piece.end()
    found.append(sql[start:])
    made = [one for one in found if not _EMPTY.fullmatch(one)]
    if len(made) > MOST_STATEMENTS:
        raise Refusal(f"a text has at most {MOST_STATEMENTS} statements.", cure="Send fewer at a time.")
    return made


def places(sql: str) -> int:
    """How many values it takes: the largest n of $n."""
    return max((int(one["place"]) for one in _PIECE.finditer(sql) if one["place"]), default=0)


def filled(sql: str, values: tuple[tuple[bytes | None, int, int], ...]) -> str:
    """The statement with each value in the place of its $n. Raises Refusal."""
    if not places(sql):
        return sql
    if "\\" in sql:
        raise Refusal("a statement with values beside it has no backslashes.", cure="Write the values into it.")

    room = LONGEST - len(sql)

    def put(piece: re.Match[str]) -> str:
        nonlocal room
        place = int(piece["place"] or 0)
        if not piece["place"]:
            return piece.group()
        if not 1 <= place <= len(values):
            raise Refusal(
                f"there is no value for ${place}.", cure="Send one for each place, or write it into the statement."
            )
        said = literal(*values[place - 1], place)
        room -= len(said)
        if room < 0:
            raise Refusal(
                f"a statement has at most {LONGEST:,} characters, its values among them.", cure="Send shorter values."
            )
        return said

    return _PIECE.sub(put, sql)


@cache
def _grammar() -> Any:
    """PostgreSQL's, bounded."""
    from sqlglot.dialects.postgres import Postgres

    class Bounded(Postgres):
        class Parser(bounded(Postgres.Parser)):  # type: ignore[misc]
            pass

    return Bounded


def parsed(sql: str) -> Any:
    """The statement as a tree, where it may be of PostgreSQL's own tables, or of none; None for all others."""
    lower = sql.lower()
    if re.search(r"\bfrom\b", lower) and "pg_" not in lower and "information_schema" not in lower:
        return None
    import sqlglot

    try:
        trees = sqlglot.parse(sql, read=_grammar())
    except Refusal:  # too much to read
        raise
    except Exception:  # whatever a parser stumbles over: then it is a question, and is refused as one
        return None
    return trees[0] if len(trees) == 1 else None
