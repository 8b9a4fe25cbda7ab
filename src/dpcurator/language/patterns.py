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
    """Runs of ANY are one ANY. `escape` is one code point or empty; the pattern does not end in a single escape."""
    found: list[Token] = []
    letters = iter(pattern)
    for letter in letters:
        token: Token = next(letters) if letter == escape else {"%": ANY, "_": ONE}.get(letter, letter)
        if token is not ANY or found[-1:] != [ANY]:
            found.append(token)
    return tuple(found)


def ends_in_escape(pattern: str, escape: str) -> bool:
    """Whether the last escape has no letter after it."""
    letters = iter(pattern)
    return any(letter == escape and next(letters, None) is None for letter in letters)


def fits(text: str, pattern: tuple[Token, ...]) -> bool:
    """In time |text| * |pattern|: on a mismatch only the last ANY has to take one code point more."""
    at = place = 0
    any_place, any_at = -1, 0
    while at < len(text):
        if place < len(pattern) and pattern[place] is ANY:
            any_place, any_at = place, at
            place += 1
        elif place < len(pattern) and (pattern[place] is ONE or pattern[place] == text[at]):
            at, place = at + 1, place + 1
        elif any_place >= 0:
            any_at += 1
            at, place = any_at, any_place + 1
        else:
            return False
    return all(token is ANY for token in pattern[place:])
