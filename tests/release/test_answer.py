"""An answer: values, error bars and cost, in Python, JSON, pandas, on a terminal and in a notebook."""

from __future__ import annotations

import json
from dataclasses import replace
from fractions import Fraction as F

import pytest

from dpcurator.errors import Refusal
from dpcurator.numbers.text_table import printable, table_text
from dpcurator.release.answer import Answer, answer_of
from dpcurator.values import Cell

RECEIPT = {"request": "7f3a" * 16, "ledger": {}}
ANSWER = Answer(
    columns=("city", "n", "AVG(age)"),
    shown=("text", "whole", "number"),
    cells=(
        (Cell("Leeds"), Cell(41832, 357.0, 41475.0, 42189.0), Cell(43.87, 0.455, 43.415, 44.325)),
        (Cell(None), Cell(-3, 357.0, -360.0, 354.0), Cell(47.2, None)),
        (Cell("a\nb"), Cell(0, 0.0, 0.0, 0.0), Cell(None)),
    ),
    confidence=F(95, 100), notes=("± is the noise",), cost=F(1, 5), spent=F(1, 5), total=F(4), receipt=RECEIPT,
)


def test_values_and_error_bars():
    assert ANSWER.rows == [("Leeds", 41832, 43.87), (None, -3, 47.2), ("a\nb", 0, None)]
    assert ANSWER.error("n") == [357.0, 357.0, 0.0]
    assert ANSWER.error("AVG(age)") == [0.455, None, None]
    assert ANSWER.interval("n")[0] == (41475.0, 42189.0)
    assert ANSWER.remaining == F(19, 5)
    assert ANSWER.receipt_id == "7f3a7f3a"
    with pytest.raises(Refusal, match="no column 'm'") as refused:
        ANSWER.error("m")
    assert "city, n, AVG(age)" in refused.value.cure


def test_what_a_terminal_shows():
    assert str(ANSWER).splitlines() == [
        "city              n     AVG(age)",
        "Leeds   41,800 ±360   43.9 ±0.46",
        "NULL        ~0 ±360        47 ±?",
        r"a\nb           0 ±0         NULL",
        "spent 0.2 of 4 (left 3.8)   receipt 7f3a7f3a   the same question again is free",
        "± is the noise",
        "±?: no bound of the error is known, as where a count may be 0: ask at a higher price",
        "~ 1 of 4 values is smaller than its own ±",
    ]


def test_d7_values_within_their_own_bars_are_marked_and_counted():
    assert ANSWER.within_bar("n") == [False, True, False]
    assert ANSWER.within_bar("city") == ANSWER.within_bar("AVG(age)") == [False] * 3
    assert "~0 ±360" in ANSWER.to_html()
    assert "~ 1 of 4 values is smaller than its own ±" in ANSWER.to_html()
    cells = tuple((Cell(value, 5.0, value - 5.0, value + 5.0),) for value in (4.9, -4.9, 5.0, 1e9))
    made = replace(ANSWER, columns=("m",), shown=("number",), cells=cells)
    assert made.within_bar("m") == [True, True, False, False]
    assert "~ 2 of 4 values are smaller than their own ±" in str(made)
    assert "~ " not in str(replace(made, cells=made.cells[2:]))


def test_a_repeat_and_a_public_answer_say_so():
    again = ANSWER.paid(cost=F(1, 5), spent=F(1, 5), receipt=RECEIPT, repeated=True)
    assert "spent 0 of 4" in str(again)
    assert "a repeat: nothing was spent" in str(again)
    assert again == ANSWER  # the same bits
    public = ANSWER.paid(cost=F(0), spent=F(0), receipt=None, repeated=False)
    assert "no private data was read" in str(public)
    assert public.receipt_id is None


def test_json_has_everything_and_comes_back():
    said = json.loads(json.dumps(ANSWER.as_json(), allow_nan=False))
    assert (said["cost"], said["spent"], said["budget"], said["left"]) == ("0.2", "0.2", "4", "3.8")
    assert said["rows"][0][1] == {"value": 41832, "error": 357.0, "low": 41475.0, "high": 42189.0}
    back = answer_of(json.loads(json.dumps(ANSWER.core_json())), total=F(4))
    assert (back.cells, back.columns, back.notes, back.confidence) == (
        ANSWER.cells, ANSWER.columns, ANSWER.notes, ANSWER.confidence,
    )


def test_pandas_has_a_column_of_error_bars_for_each_noisy_one():
    frame = ANSWER.to_pandas()
    ends = ["AVG(age) ±", "AVG(age)_low", "AVG(age)_high", "AVG(age)_within_bar"]
    assert list(frame.columns) == ["city", "n", "n ±", "n_low", "n_high", "n_within_bar", "AVG(age)", *ends]
    assert frame["n ±"].tolist() == [357.0, 357.0, 0.0]


def test_a_text_is_not_taken_for_the_others_or_for_no_value():
    keys = [Cell(None), Cell(None, other=True), Cell("NULL"), Cell("(other)"), Cell("'NULL'"), Cell(""), Cell("it's")]
    made = Answer(("k",), ("text",), tuple((cell,) for cell in keys), F(1, 2), (), F(0), F(0), F(1))
    shown = made.table().splitlines()[1:]
    assert [line.strip() for line in shown] == ["NULL", "(other)", "'NULL'", "'(other)'", "'''NULL'''", "", "it's"]
    assert len(set(shown)) == len(keys)
    frame = made.to_pandas()
    assert frame.attrs["other"] == [1]
    assert frame["k"].tolist()[2:] == ["NULL", "(other)", "'NULL'", "", "it's"]


def test_a_notebook_shows_text_never_markup():
    cells = ((Cell("<script>alert(1)</script>"), Cell("\ud800\x1b[31m")),)
    made = Answer(('<b onload="x">', "\ud800\n"), ("text", "text"), cells, F(1, 2), ("<i>",), F(0), F(0), F(1))
    text = made._repr_html_()
    text.encode()
    for markup in ("<script>", "<b ", "<i>", "\x1b"):
        assert markup not in text
    assert "\x1b" not in str(made)
    str(made).encode()


def test_wide_and_combining_letters_are_aligned():
    lines = table_text(["年齢", "n"], [["é", "1"], ["e\u0301", "22"]], [False, True]).splitlines()
    assert lines == ["年齢    n", "é       1", "e\u0301      22"]
    assert printable("a\tb\u202e") == r"a\tb\u202e"


def test_no_rows_are_no_error():
    empty = Answer(("n",), ("whole",), (), F(1, 2), (), F(0), F(0), F(1))
    assert str(empty).splitlines()[0] == "n"
    assert list(empty.to_pandas().columns) == ["n", "n ±", "n_low", "n_high", "n_within_bar"]


def test_e6_an_interval_that_a_bound_cuts_is_printed_as_one():
    core = {"columns": ["share", "mean", "n"], "shown": ["number", "number", "whole"],
            "confidence": "19/20", "notes": [],
            "rows": [[Cell(0.21, 0.21, 0.0, 0.42).as_json(), Cell(9.5, 4.0, 5.5, 10.0).as_json(),
                      Cell(41, 41.0, 0.0, 82.0).as_json()],
                     [Cell(0.5, 0.1, 0.4, 0.6).as_json(), Cell(3.0, None, None, None).as_json(),
                      Cell(7, 1.0, 6.0, 8.0).as_json()]]}
    answer = answer_of(core, total=F(1))
    printed = str(answer)
    assert printed.split("\n")[1].split("  ")[0] == "[0, 0.42]"
    assert "[5.5, 10]" in printed
    assert "40 ±41" in printed  # a count has no bound to meet
    assert "0.5 ±0.11" in printed
    assert answer.core_json() == core  # fields stay as they are


def test_e6_an_error_without_a_bound_is_explained_where_it_appears():
    assert "47 ±?" in str(ANSWER)
    assert "±?: no bound of the error is known" in str(ANSWER)
    assert "±?" not in str(replace(ANSWER, cells=ANSWER.cells[:1]))
