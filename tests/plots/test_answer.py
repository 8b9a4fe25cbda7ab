"""An answer as bars with intervals; the picture of the README is in tests/docs/test_readme.py."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction

import pytest
from house import opened

import dpcurator as dp
from dpcurator.errors import Refusal
from dpcurator.plots import draw_answer
from dpcurator.values import Cell


@dataclass(frozen=True)
class Given:
    """What a chart reads of an answer."""

    columns: tuple[str, ...] = ("city", "n", "age")
    shown: tuple[str, ...] = ("text", "whole", "number")
    cells: tuple[tuple[Cell, ...], ...] = (
        (Cell("Leeds"), Cell(25_595, 300.4, 25_295.0, 25_895.0), Cell(47.6, 0.43, 47.2, 48.0)),
        (Cell("Bishop's\\Stortford"), Cell(-20, 300.4, -320.0, 280.0), Cell(None)),
        (Cell(None), Cell(3, 300.4, -297.0, 303.0), Cell(55.0)),
        (Cell(None, other=True), Cell(12, 600.8, -588.0, 612.0), Cell(1.0, 2.0, float("-inf"), float("inf"))),
    )
    confidence: Fraction = Fraction(95, 100)


def rows(chart):
    return chart.spec["data"]["values"]


def test_a_bar_a_row_with_the_interval_and_no_digit_beyond_the_noise():
    chart = draw_answer(Given())
    assert [row["row"] for row in rows(chart)] == ["Leeds", "Bishop's\\Stortford", "NULL", "(other)"]
    assert [(row["value"], row["low"], row["high"]) for row in rows(chart)][:2] == [
        (25_595, 25_295, 25_895), (-20, -320, 280)]
    assert [row["label"] for row in rows(chart)][:2] == ["25,600 ±310", "0 ±310"]
    assert [row["end"] for row in rows(chart)][:2] == [25_895, 280]
    assert chart.spec["title"]["text"] == "n by city"
    assert "95 %" in chart.spec["title"]["subtitle"][0]


def test_a_column_may_be_named_and_values_without_a_bound_have_no_interval():
    found = rows(draw_answer(Given(), column="age"))
    assert [row["row"] for row in found] == ["Leeds", "NULL", "(other)"]  # no value, no bar
    assert [row["place"] for row in found] == [1, 3, 4]
    assert [(row["low"], row["high"]) for row in found] == [(47.2, 48.0), (55, 55), (1, 1)]
    assert found[1]["label"] == "55 ±?"


def test_names_of_rows_cannot_break_the_chart():
    text = draw_answer(Given()).spec["layer"][0]["encoding"]["y"]["axis"]["labelExpr"]
    assert "'Bishop\\'s\\\\Stortford'" in text
    assert "Stortford" in draw_answer(Given()).svg()


def test_of_many_rows_the_first_are_drawn():
    many = tuple((Cell(str(i)), Cell(i, 1.0, i - 1.0, i + 1.0), Cell(None)) for i in range(100))
    assert [row["row"] for row in rows(draw_answer(replace(Given(), cells=many)))] == [str(i) for i in range(40)]


def test_an_answer_of_one_row_needs_no_name():
    one = Given(("n",), ("whole",), ((Cell(5, 1.0, 4.0, 6.0),),))
    assert draw_answer(one).spec["title"]["text"] == "n"
    assert [row["row"] for row in rows(draw_answer(one))] == ["n"]


@pytest.mark.parametrize("column", ["city", "weight"])
def test_a_column_without_noisy_numbers_is_refused(column):
    with pytest.raises(Refusal, match="columns are city, n, age"):
        draw_answer(Given(), column=column)


def test_a_quantile_has_its_bar_in_rank_beside_it_and_no_interval():
    cells = ((Cell("Leeds"), Cell(47, rank=120.4)), (Cell("York"), Cell(51, rank=99.5)))
    found = rows(draw_answer(Given(("city", "median"), ("text", "whole"), cells)))
    assert [row["label"] for row in found] == ["47 (rank ±130)", "51 (rank ±100)"]
    assert [(row["low"], row["high"]) for row in found] == [(47, 47), (51, 51)]


def test_an_answer_and_its_totals_are_drawn(tmp_path):
    text = "SELECT city, COUNT(*) AS n, AVG(age) AS mean FROM visits GROUP BY city"
    answer = opened(tmp_path).ask(text, epsilon=1)
    assert dp.plot(answer).spec == draw_answer(answer).spec
    assert dp.plot(answer, column="mean").spec["title"]["text"] == "mean by city"
    assert dp.plot(answer.totals(by=[]), column="n").spec["title"]["text"] == "n"
