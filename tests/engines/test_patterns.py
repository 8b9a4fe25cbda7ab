"""LIKE on every engine against its definition, in time that is linear in a text (A2)."""

from __future__ import annotations

import itertools
import subprocess
import sys
from functools import cache
from typing import Any

import pytest
from engine_rows import EVERY, selected

from dpcurator.engines.duckdb.engine import DuckDB
from dpcurator.engines.reference import Reference
from dpcurator.language import rows
from dpcurator.language.patterns import ANY, ONE, steps, tokens

LETTERS = (
    "a", "b", "\0", "\n", "\r", "\u2028", "é", "e\u0301", "😀", "\U0010ffff", "\ud7ff", ".", "\\", "x{", "%", "_",
    "A", "İ", "ß", "ſ", "\u212a",  # the last ones are letters that some foldings make equal to ss, s and k
)


def fits(text: str, pattern: tuple[object, ...]) -> bool:
    """The definition: a token for itself, ONE for one code point, ANY for any number of them."""

    @cache
    def rest(at: int, place: int) -> bool:
        if place == len(pattern):
            return at == len(text)
        token = pattern[place]
        if token is ANY:
            return rest(at, place + 1) or (at < len(text) and rest(at + 1, place))
        return at < len(text) and (token is ONE or token == text[at]) and rest(at + 1, place + 1)

    return rest(0, 0)


def numbered(texts: list[str]) -> dict[str, dict[str, list[Any]]]:
    return {"t0": {"c0": texts, "c1": list(range(len(texts)))}}


TEXTS = ["", *LETTERS, *("".join(pair) for pair in itertools.product(LETTERS[:5], repeat=2)), "aab", "aba", "abab",
         "a\nb\0a", "😀a😀", "aXb", "a%b", "a_b", "abcabc", "aaaaaaaaab"]
SHAPES = ("", "%", "_", "{0}", "%{0}", "{0}%", "%{0}%", "{0}%{1}", "_{0}", "{0}_", "%_{0}%", "%{0}_%{1}", "%{0}%{1}%",
          "_%_", "{0}%{1}%{0}", "%{0}{1}", "{0}{1}%", "__%", "%_%_%{0}")
PATTERNS = sorted({
    shape.format(*("!" + one if one in "%_" else one for one in pair))
    for shape in SHAPES for pair in zip(LETTERS, "ab\0" * 7, strict=True)
})


@pytest.mark.parametrize("engine", EVERY)
def test_a_text_fits_a_pattern_as_its_definition_says(engine):
    made = engine.from_tables(numbered(TEXTS))
    for first in range(0, len(PATTERNS), 60):
        some = PATTERNS[first : first + 60]
        found = selected(made, [rows.Like(rows.Field(0, "text"), pattern, "!") for pattern in some], len(TEXTS))
        for pattern, which in zip(some, found, strict=True):
            read = tokens(pattern, "!")
            assert which == {number for number, text in enumerate(TEXTS) if fits(text, read)}, pattern


@pytest.mark.parametrize("pattern", ["%", "%_a%_a%_a%_a%_a%_a%c%b", "%aaaaaaaaaaaaaaaab", "_%" * 30, "%a%" * 20 + "b"])
def test_a2_the_reference_takes_no_more_than_letters_times_tokens(pattern):
    for text in ("a" * 200, "ab" * 100, "a" * 199 + "b", "", "b"):
        found, taken = steps(text, tokens(pattern, ""))
        assert taken <= (len(text) + 1) * (len(tokens(pattern, "")) + 1)
        assert found == fits(text, tokens(pattern, ""))


BAD = """
from dpcurator.engines.duckdb.engine import DuckDB
from dpcurator.language import rows
from engine_rows import selected
text = rows.Field(0, "text")
bad = [rows.Like(text, pattern, escape) for pattern, escape in (
    ("%_a%_a%_a%_a%_a%_a%c%b", ""), ("%a" * 30 + "%_b", ""), ("%a%a%a%a%a%a%a%a%a%a%a%!%", "!"), ("_%" * 60 + "b", ""))]
print(selected(DuckDB.from_tables({"t0": {"c0": ["a" * 200, "a" * 1000], "c1": [0, 1]}}), bad, 2))
"""


def test_a2_a_bad_pattern_ends():
    """DuckDB's own LIKE takes longer than the age of the world for the first of these; a minute is generous."""
    path = [place for place in sys.path if place]
    found = subprocess.run([sys.executable, "-c", f"import sys; sys.path[:0] = {path!r}\n{BAD}"], capture_output=True,
                           text=True, timeout=60, check=True)
    assert found.stdout.strip() == "[set(), set(), set(), set()]"


@pytest.mark.parametrize("token", ["_", "😀", "%_\n", "%a"])
def test_the_longest_pattern_is_compiled(token):
    pattern = (token * 10_000)[:1000]
    like = rows.Like(rows.Field(0, "text"), pattern, "")
    for engine in (Reference, DuckDB):
        assert selected(engine.from_tables(numbered(["", "b" * 10])), [like], 2) == [set()]
