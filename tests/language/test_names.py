"""Names: quoted as spelled, unquoted in any case when that is one column; never guessed."""

from __future__ import annotations

import pytest

from dpcurator.errors import Refusal
from dpcurator.language.names import LONGEST, find, nearest, quote, show

NAMES = ("UserId", "Score", "score", "net gain", "größe", "select", 'a"b')


@pytest.mark.parametrize(
    ("name", "quoted", "found"),
    [("userid", False, 0), ("USERID", False, 0), ("UserId", True, 0), ("Score", True, 1), ("score", True, 2),
     ("GRÖSSE", False, None), ("GRÖßE", False, 4), ("SELECT", False, 5), ("net gain", True, 3)],
)
def test_which_name_is_meant(name, quoted, found):
    if found is None:
        with pytest.raises(Refusal, match="there is no column"):
            find(name, quoted, NAMES, what="column")
    else:
        assert find(name, quoted, NAMES, what="column") == found


def test_a_quoted_name_in_another_case_is_refused_with_the_nearest():
    with pytest.raises(Refusal, match='there is no column "userid"') as refused:
        find("userid", True, NAMES, what="column", where="line 1, column 8")
    assert refused.value.cure == 'Did you mean "UserId"?'
    assert refused.value.where == "line 1, column 8"


def test_an_unquoted_name_of_two_columns_is_refused_with_both():
    with pytest.raises(Refusal, match='could be "Score" and score'):
        find("SCORE", False, NAMES, what="column")


def test_what_is_offered():
    assert nearest("scores", NAMES, "column") == "Did you mean score?"
    assert nearest("zzz", ("a", "b"), "table") == "The tables are a, b."
    assert nearest("zzz", (), "table") == "No table is declared."
    assert "dpcurator check" in nearest("zzz", tuple(f"c{i}" for i in range(20)), "column")


@pytest.mark.parametrize(
    ("name", "spelled"),
    [("age", "age"), ("Age", '"Age"'), ("net gain", '"net gain"'), ('a"b', '"a""b"'), ("", '""'), ("1a", '"1a"'),
     ("größe", '"größe"'), ("two\nlines", '"two\\nlines"'), ("\ud800", '"\\ud800"'), ("e\x00", '"e\\x00"')],
)
def test_a_name_as_sql_writes_it_fits_on_a_line(name, spelled):
    assert quote(name) == spelled
    quote(name).encode()


def test_a_very_long_name_is_cut():
    assert len(show("x" * 10_000)) == len(quote("x" * 10_000)) == LONGEST + 2
    assert show("\ud800\U0001f600") == '"\\ud800\U0001f600"'
