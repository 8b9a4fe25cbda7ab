"""A file is split at semicolons outside quotes and comments, and every place stays that of the file."""

from __future__ import annotations

import pytest

from dpcurator.errors import Refusal
from dpcurator.fronts.sql import parse
from dpcurator.fronts.statements import statements


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("", []),
        (" ;; ; -- nothing\n", []),
        ("SELECT 1", ["SELECT 1"]),
        ("a; b ;c", ["a", "b", "c"]),
        ("SELECT ';' ; SELECT \";\"", ["SELECT ';'", 'SELECT ";"']),
        ("SELECT 1 -- one; two\n; SELECT /* ; */ 2;", ["SELECT 1", "SELECT /* ; */ 2"]),
        ("SELECT 'it''s;'; b", ["SELECT 'it''s;'", "b"]),
    ],
)
def test_statements(text, found):
    assert [one.strip() for one in statements(text)] == found


def test_a_place_is_the_files():
    _, other = statements("SELECT COUNT(*) FROM visits;\n\n  SELECT AVG(a) FROM main.t")
    assert other.startswith("\n\n  SELECT")
    assert other.count("\n") == 2
    with pytest.raises(Refusal, match="line 3"):
        parse(other)


@pytest.mark.parametrize("text", ["SELECT 'a; b", 'SELECT "a'])
def test_a_quote_without_an_end_is_refused(text):
    with pytest.raises(Refusal, match="without an end"):
        statements(text)
