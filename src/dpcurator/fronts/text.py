"""The first look at an SQL text, before any parser sees it: length, tokens, nesting, first word.

A recursive parser needs stack in proportion to nesting, so nesting is bounded here: brackets, CASE, and runs of prefix
operators. The bounds are public constants, far above what people write. Checked in tests/fronts/test_sql.py.
"""

from __future__ import annotations

import re
from itertools import pairwise
from typing import Any, Final

from dpcurator.errors import Mend, Refusal

MAX_LENGTH: Final = 20_000  # characters
MAX_TOKENS: Final = 4_000
MAX_NESTING: Final = 40
_OPEN: Final = {"(", "[", "{", "CASE"}
_CLOSE: Final = {")", "]", "}", "END"}
_PREFIX: Final = {"NOT", "-", "+", "~", "!"}
_CLAUSES: Final = {"WHERE": 1, "GROUP_BY": 2, "HAVING": 3, "ORDER_BY": 4, "LIMIT": 5, "OFFSET": 5}
_CHANGES: Final = "Only SELECT is answered; nothing can be changed through the curator."
_LOOKS: Final = ("EXPLAIN", "DESCRIBE", "DESC")
_OPENINGS: Final = {
    "(": "Leave out the brackets around the question.",
    "EXPLAIN": "Leave out EXPLAIN: `dpcurator explain` shows the plan of a question, and `dpcurator quote` its price.",
    "DESCRIBE": "`dpcurator schema` tells what can be asked, and `dpcurator explain` the plan of a SELECT.",
    "SHOW": "`dpcurator tables` lists the tables, and `dpcurator schema` their columns and what can be asked.",
    "FROM": "Write SELECT first, as in SELECT COUNT(*) FROM visits.",
    "VALUES": "A question is asked of a table of the catalog, as in SELECT COUNT(*) FROM visits.",
    "INSERT": f"{_CHANGES} The steward adds rows to the source, and runs `dpcurator refresh`.",
    **dict.fromkeys(
        ("UPDATE", "DELETE", "DROP", "CREATE", "ALTER", "TRUNCATE", "MERGE", "REPLACE", "COPY", "ATTACH", "DETACH",
         "PRAGMA", "SET", "CALL", "GRANT", "REVOKE", "BEGIN", "COMMIT", "LOAD", "INSTALL"), _CHANGES,
    ),
}
_UNDONE: Final = {("ASC", "DESC"), ("FIRST", "NULLS"), ("LAST", "NULLS")}
_COMPARED: Final = {"EQ", "NEQ", "LT", "LTE", "GT", "GTE"}
_ENDS: Final = {
    "AND", "OR", "COMMA", "SELECT", "ALIAS", "FROM", "WHERE", "GROUP_BY", "HAVING", "ORDER_BY", "LIMIT", "OFFSET",
    "CASE", "WHEN", "THEN", "ELSE", "END", "ON", "JOIN", "LEFT", "RIGHT", "INNER", "FULL", "CROSS", "NATURAL", "USING",
    "UNION", "QUALIFY",
}


def guard(text: object) -> None:
    """Raise Refusal unless `text` is one SELECT as far as its length, nesting and first word tell."""
    if not isinstance(text, str):
        raise Refusal(f"a question is a text, not {type(text).__name__}.", cure="Write SELECT ... FROM table.")
    if len(text) > MAX_LENGTH:
        raise Refusal(f"the question has {len(text):,} characters; the limit is {MAX_LENGTH:,}.", cure="Shorten it.")
    _characters(text)
    tokens = tokens_of(text)
    if not tokens:
        raise Refusal("the question is empty.", cure="Write SELECT ... FROM table.")
    if len(tokens) > MAX_TOKENS:
        raise Refusal(f"the question has {len(tokens):,} words; the limit is {MAX_TOKENS:,}.", cure="Shorten it.")
    words = [token.text.upper() if token.token_type.name not in ("STRING", "IDENTIFIER") else "'" for token in tokens]
    if words[0] not in ("SELECT", "WITH"):
        cure = _OPENINGS.get(words[0].upper(), "Only SELECT is answered, as in SELECT COUNT(*) FROM visits.")
        raise Refusal(
            f"a question starts with SELECT, not {words[0][:20]!r}." if words[0].isprintable() else "not a SELECT.",
            where=f"line {tokens[0].line}", cure=cure, mends=_without_opening(text, words, tokens),
        )
    _top(text, tokens)
    _one(tokens)
    _nesting(words, tokens)
    _glued(tokens)
    _in_place(tokens)
    _two_readings(tokens)


def _without_opening(text: str, words: list[str], tokens: list[Any]) -> tuple[Mend, ...]:
    """The question behind EXPLAIN, or inside brackets, where that is one."""
    inner = text
    if words[0] == "(" and words[-1] == ")":
        inner = text[tokens[0].end + 1 : tokens[-1].start]
    elif words[0] in _LOOKS:
        found = re.search(r"\bselect\b.*", text, re.IGNORECASE | re.DOTALL)
        inner = found[0] if found else text
    return (Mend(inner.strip(), to="question"),) if inner is not text else ()


def _characters(text: str) -> None:
    """Refuse what is no text: NUL, and halves of surrogate pairs, which no file or engine can hold."""
    for number, letter in enumerate(text):
        if letter == "\0" or "\ud800" <= letter <= "\udfff":
            line, column = text.count("\n", 0, number) + 1, number - text.rfind("\n", 0, number)
            raise Refusal(
                f"the question holds a character that is no text (U+{ord(letter):04X}).",
                where=f"line {line}, column {column}", cure="Take it out.",
            )


def _top(text: str, tokens: list[Any]) -> None:
    """SELECT TOP 5 x: another dialect's LIMIT, which no parser of this one says."""
    word, number = [*tokens, None, None][1:3]
    if word is None or number is None or word.token_type.name != "VAR" or word.text.upper() != "TOP":
        return
    if number.token_type.name in ("NUMBER", "L_PAREN"):
        count = number.text if number.text.isdecimal() else "5"
        rest = f"{text[: word.start]}{text[number.end + 1 :].rstrip().rstrip(';')} LIMIT {count}"
        raise Refusal(
            "TOP is not available.", where=f"line {word.line}", cure=f"Write LIMIT {count} at the end of the question.",
            mends=(Mend(rest, to="question"),) if number.text.isdecimal() else (),
        )


def _one(tokens: list[Any]) -> None:
    """Refuse a second statement before a parser sees it, which would write some kinds to its log."""
    ends = [place for place, token in enumerate(tokens) if token.token_type.name == "SEMICOLON"]
    after = [token for token in tokens[ends[0] :] if token.token_type.name != "SEMICOLON"] if ends else []
    if after:
        raise Refusal(
            "there is more than one statement.", where=f"line {after[0].line}", cure="Ask one SELECT at a time."
        )


def tokens_of(text: str) -> list[Any]:
    """The words of a text. Raises Refusal."""
    from sqlglot.tokens import Tokenizer

    try:
        return list(Tokenizer().tokenize(text))
    except Exception:  # whatever a tokenizer stumbles over, the text is at fault, and it is public
        raise Refusal(
            "the SQL cannot be read: a quote or comment is not closed, or a character is out of place.",
            cure="Texts stand in single quotes, names in double quotes.",
        ) from None


def _nesting(words: list[str], tokens: list[Any]) -> None:
    depth = run = 0
    for word, token in zip(words, tokens, strict=True):
        depth += (word in _OPEN) - (word in _CLOSE)
        run = run + 1 if word in _PREFIX else 0
        if max(depth, run) > MAX_NESTING:
            raise Refusal(
                f"the question is nested more than {MAX_NESTING} deep.", where=f"line {token.line}",
                cure="Simplify it; subqueries in each other may have names instead: WITH a AS (...), b AS (SELECT ... "
                "FROM a) SELECT ... FROM b.",
            )


def _glued(tokens: list[Any]) -> None:
    """`0x1F` and `12abc` would be read as a number with an alias: refuse what nobody means."""
    for one, other in pairwise(tokens):
        number, word = one.token_type.name == "NUMBER", other.token_type.name in ("VAR", "IDENTIFIER")
        if number and word and one.end + 1 == other.start:
            raise Refusal(
                f"{one.text}{other.text} is not a number.",
                where=f"line {one.line}, column {max(1, one.col - len(one.text) + 1)}",
                cure="Write numbers in decimal form, names that start with a digit in double quotes.",
            )


def _in_place(tokens: list[Any]) -> None:
    """Refuse what the parser reads past: clauses in any order, ASC DESC, NULLS FIRST NULLS LAST, and ! for NOT."""
    clauses, before = [0], ""  # of each level of brackets, the last clause that began there
    for token in tokens:
        kind, word = token.token_type.name, token.text.upper()
        if kind == "L_PAREN":
            clauses.append(0)
        elif kind == "R_PAREN" and len(clauses) > 1:
            clauses.pop()
        wrong = (before, word) in _UNDONE or (kind == "NOT" and word == "!")
        if kind == "UNION":
            clauses[-1] = 0
        inside = len(clauses) > 1 and kind == "ORDER_BY"  # in brackets, of a window too
        if kind in _CLAUSES and not inside and before not in ("AS", "."):
            wrong |= _CLAUSES[kind] < clauses[-1]
            clauses[-1] = _CLAUSES[kind]
        if wrong:
            raise Refusal(
                f"{word} is out of place.", where=f"line {token.line}",
                cure="The order is SELECT, FROM, WHERE, GROUP BY, HAVING, ORDER BY, LIMIT; NOT negates.",
            )
        before = word if kind != "STRING" else ""


def _two_readings(tokens: list[Any]) -> None:
    """`a = b IS NULL` and `a = b = c` without brackets: the parser groups the first as a = (b IS NULL), engines and the
    standard as (a = b) IS NULL, and its tree does not tell which was written. Refuse both forms."""
    compared, between = [False], [0]  # at each level of brackets, since an expression began
    for token in tokens:
        kind = token.token_type.name
        if kind == "L_PAREN":
            compared.append(False)
            between.append(0)
        elif kind == "R_PAREN" and len(compared) > 1:
            compared.pop()
            between.pop()
        elif kind == "BETWEEN":
            between[-1] += 1
        elif kind == "AND" and between[-1]:
            between[-1] -= 1
        elif kind in _ENDS:
            compared[-1], between[-1] = False, 0
        elif kind in _COMPARED or kind in ("IS", "ISNULL", "NOTNULL"):
            if compared[-1]:
                raise Refusal(
                    f"{token.text.upper()} after a comparison has more than one reading.", where=f"line {token.line}",
                    cure="Put one of them in brackets, as in (a = b) IS NULL.",
                )
            compared[-1] = kind in _COMPARED
