"""A file of questions: its statements, told apart by semicolons outside quotes and comments.

Each is given with blank lines and spaces before it, so that a place in a message is the place in the file. Checked in
tests/fronts/test_statements.py.
"""

from __future__ import annotations

from dpcurator.errors import Refusal


def statements(text: str) -> tuple[str, ...]:
    """The statements of a text, in order; empty ones are none. Raises Refusal for quotes or comments without an end."""
    from sqlglot.errors import SqlglotError
    from sqlglot.tokens import Tokenizer

    try:
        tokens = Tokenizer().tokenize(text)
    except SqlglotError:
        tokens = None
    if tokens is None:
        raise Refusal("the file has a quote or a comment without an end.", cure="Close it, with ' or */.")
    found: list[tuple[int, int]] = []
    first: int | None = None
    last = 0
    for token in tokens:
        if token.token_type.name == "SEMICOLON":
            if first is not None:
                found.append((first, last))
            first = None
        else:
            first, last = token.start if first is None else first, token.end + 1
    if first is not None:
        found.append((first, last))
    return tuple(_placed(text, start, end) for start, end in found)


def _placed(text: str, start: int, end: int) -> str:
    before = text[:start]
    line = before.rfind("\n") + 1
    return "\n" * before.count("\n") + " " * (start - line) + text[start:end]
