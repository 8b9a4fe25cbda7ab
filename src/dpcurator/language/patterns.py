"""LIKE patterns: read once into tokens, and whether a text fits them.

A token is a code point that stands for itself, ANY (%: any code points, also none) or ONE (_: one code point).
Checked in tests/engines/test_vectors.py, on every engine.
"""

from __future__ import annotations

from enum import Enum
from functools import lru_cache

Wild = Enum("Wild", ["ANY", "ONE"])
ANY, ONE = Wild.ANY, Wild.ONE
Token = str | Wild


@lru_cache(maxsize=256)
def tokens(pattern: str, escape: str) -> tuple[Token, ...]:
    """In a run of wild cards each ONE stands first, then at most one ANY: what fits is the same. `escape` is one code
    point or empty; the pattern does not end in a single escape."""
    found: list[Token] = []
    letters = iter(pattern)
    for letter in letters:
        token: Token = next(letters) if letter == escape else {"%": ANY, "_": ONE}.get(letter, letter)
        if found[-1:] != [ANY]:
            found.append(token)
        elif token is ONE:
            found.insert(-1, ONE)
        elif token is not ANY:
            found.append(token)
    return tuple(found)


def ends_in_escape(pattern: str, escape: str) -> bool:
    """Whether the last escape has no letter after it."""
    letters = iter(pattern)
    return any(letter == escape and next(letters, None) is None for letter in letters)


def fits(text: str, pattern: tuple[Token, ...]) -> bool:
    """Whether the whole text fits."""
    return steps(text, pattern)[0]


def steps(text: str, pattern: tuple[Token, ...]) -> tuple[bool, int]:
    """Whether it fits, and in how many steps: at most (|text| + 1) (|pattern| + 1), because on a mismatch only the last
    ANY has to take one code point more; an earlier one need never be looked at again."""
    at = place = taken = 0
    any_place, any_at = -1, 0
    while at < len(text):
        taken += 1
        if place < len(pattern) and pattern[place] is ANY:
            any_place, any_at = place, at
            place += 1
        elif place < len(pattern) and (pattern[place] is ONE or pattern[place] == text[at]):
            at, place = at + 1, place + 1
        elif any_place >= 0:
            any_at += 1
            at, place = any_at, any_place + 1
        else:
            return False, taken
    return all(token is ANY for token in pattern[place:]), taken


def simple(pattern: tuple[Token, ...]) -> tuple[str, ...] | None:
    """The texts between the ANYs of a pattern without ONE, `("a", "b")` for a%b; None where there is a ONE."""
    found = [""]
    for token in pattern:
        if token is ONE:
            return None
        if token is ANY:
            found.append("")
        else:
            found[-1] += str(token)
    return tuple(found)


def quick(pattern: tuple[Token, ...]) -> bool:
    """Whether an engine needs no automaton for it: a whole text, a beginning, an end, or one text inside."""
    parts = simple(pattern)
    return parts is not None and (len(parts) <= 2 or (len(parts) == 3 and parts[0] == parts[2] == ""))


def regular(pattern: tuple[Token, ...]) -> str:
    """The pattern as a regular expression of RE2, to be matched with a whole text: ASCII letters and digits stand for
    themselves, every other code point is spelled by its number, `.` is any code point, a line break too."""
    spelled = {ANY: ".*", ONE: "."}
    return "(?s)" + "".join(
        spelled[token] if isinstance(token, Wild)
        else token if token.isascii() and token.isalnum() else f"\\x{{{ord(token):x}}}"
        for token in pattern
    )
