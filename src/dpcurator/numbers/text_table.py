"""Text in aligned columns, safe for a terminal and for HTML.

Checked in tests/release/test_answer.py.
"""

from __future__ import annotations

import html
from collections.abc import Sequence


def printable(text: str) -> str:
    """A text on one line of a terminal: control characters escaped."""
    return "".join(letter if letter.isprintable() else letter.encode("unicode_escape").decode() for letter in text)


def table_text(heads: Sequence[str], rows: Sequence[Sequence[str]], right: Sequence[bool] | None = None) -> str:
    """Columns aligned with two spaces between; numbers to the right."""
    titles = [printable(head) for head in heads]
    widths = [max([_width(t), *(_width(row[i]) for row in rows)]) for i, t in enumerate(titles)]
    sides = right if right is not None else [True] * len(titles)
    return "\n".join(
        "   ".join(_padded(text, width, side) for text, width, side in zip(line, widths, sides, strict=True)).rstrip()
        for line in [titles, *rows]
    )


def _width(text: str) -> int:
    from unicodedata import combining, east_asian_width

    return sum(2 if east_asian_width(letter) in "WF" else 0 if combining(letter) else 1 for letter in text)


def _padded(text: str, width: int, right: bool) -> str:
    space = " " * (width - _width(text))
    return space + text if right else text + space


def pre_html(text: str) -> str:
    return f"<pre>{html.escape(text)}</pre>"
