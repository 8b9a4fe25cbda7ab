"""F3, E8: an answer as data frames, and its columns by name: exact numbers, real dates, one name for each column."""

from __future__ import annotations

import itertools
import sys
from datetime import UTC, date, datetime
from fractions import Fraction as F
from typing import Any

import pyarrow as pa
import pytest

from dpcurator.errors import Refusal
from dpcurator.release.answer import FIRST, Answer
from dpcurator.release.frames import series_of
from dpcurator.values import Cell

MONTH, NOON = "2024-02-01", "2024-02-29T12:00:00.000001Z"
BIG = 2**62


def answer(columns: dict[str, tuple[str, list[Any]]], **more: Any) -> Answer:
    """columns: (how it is shown, its cells or values) by title."""
    cells = [[one if isinstance(one, Cell) else Cell(one) for one in values] for _, values in columns.values()]
    rows = tuple(zip(*cells, strict=True))
    return Answer(tuple(columns), tuple(s for s, _ in columns.values()), rows, F(1, 2), (), F(0), F(0), F(1), **more)


KEYS = answer({
    "id": ("integer", [BIG + 1, BIG + 2, BIG + 3, None, Cell(None, other=True)]),
    "month": ("date", [MONTH, "0001-01-01", "9999-12-31", None, None]),
    "at": ("timestamp", [NOON, "1969-12-31T23:59:59Z", "9999-12-31T23:59:59.999999Z", None, None]),
    "old": ("boolean", [True, False, True, None, None]),
    "n": ("whole", [Cell(k, 2.5, k - 2.5, None) for k in range(5)]),
    "mean": ("number", [1.5, None, 2.5, 3.5, 4.5]),
})
NAMES = ["id", "month", "at", "old", "n", "n ±", "n_low", "n_high", "n_within_bar", "mean", "mean ±", "mean_low",
         "mean_high", "mean_within_bar"]


def test_f3_pandas_keeps_integers_exact_and_dates_dates():
    """F3: three keys near 2**62 beside a missing one stay three; a month is a date."""
    frame = KEYS.to_pandas()
    assert list(frame.columns) == NAMES
    assert frame["id"].tolist()[:3] == [BIG + 1, BIG + 2, BIG + 3]
    assert frame["id"].isna().tolist() == [False] * 3 + [True] * 2
    assert frame["id"].nunique() == 3
    assert str(frame["month"].dtype) == "datetime64[s]"
    assert frame["month"].dt.year.tolist()[:3] == [2024, 1, 9999]
    assert frame["at"].dt.microsecond.tolist()[:3] == [1, 0, 999999]
    assert str(frame["at"].dt.tz) == "UTC"
    assert frame["n"].dtype == "int64"
    assert frame["n_low"].tolist() == [k - 2.5 for k in range(5)]
    assert frame["n_high"].isna().all()
    assert frame["n ±"].tolist() == [2.5] * 5
    assert frame["n_within_bar"].tolist() == KEYS["n_within_bar"] == [True] * 3 + [False] * 2
    assert frame["n_within_bar"].dtype == "bool"
    assert frame["old"].dtype == "boolean"
    assert frame.attrs == {"made_up": False, "other": [4]}


def test_f3_polars_and_arrow_have_the_same_values():
    polars, arrow = KEYS.to_polars(), KEYS.to_arrow()
    assert polars.columns == arrow.column_names == [*NAMES, "(other)"]
    assert polars.to_dict(as_series=False) == arrow.to_pydict()
    assert polars["id"].to_list()[:3] == [BIG + 1, BIG + 2, BIG + 3]
    assert polars["month"].to_list()[:2] == [date(2024, 2, 1), date(1, 1, 1)]
    assert polars["at"].to_list()[0] == datetime(2024, 2, 29, 12, 0, 0, 1, tzinfo=UTC)
    assert polars["(other)"].to_list() == [False] * 4 + [True]
    assert arrow.schema.field("id").type == pa.int64()


def test_f3_numbers_beyond_64_bits_lose_no_figure():
    made = answer({"total": ("whole", [10**30 + 1, None])})
    assert made.to_pandas()["total"].tolist() == [10**30 + 1, None]
    assert made.to_polars()["total"].to_list() == made.to_arrow()["total"].to_pylist() == [str(10**30 + 1), None]


def test_f3_a_date_that_no_text_spells_is_kept_as_its_number():
    made = answer({"day": ("date", [MONTH, 10**7])})
    assert made.to_pandas()["day"].tolist() == [MONTH, "10000000"]


def test_f3_no_rows_have_the_same_columns():
    empty = answer({"day": ("date", []), "k": ("text", []), "n": ("whole", [])})
    names = ["day", "k", "n", "n ±", "n_low", "n_high", "n_within_bar"]
    assert list(empty.to_pandas().columns) == empty.to_polars().columns == empty.to_arrow().column_names == names
    assert len(empty) == 0


def test_f3_a_rehearsal_says_so_in_every_frame():
    made = answer({"n": ("whole", [Cell(1, 1.0, 0.0, 2.0)])}, made_up=True)
    assert made.to_pandas().attrs["made_up"] is True
    assert made.to_polars()["made_up"].to_list() == made.to_arrow()["made_up"].to_pylist() == [True]


def test_f3_rows_and_columns_by_name():
    assert len(KEYS) == 5
    assert list(KEYS) == KEYS.rows
    assert KEYS["n"] == [0, 1, 2, 3, 4]
    assert KEYS["n_low"] == KEYS.to_pandas()["n_low"].tolist()
    assert KEYS["n ±"] == KEYS.error("n")
    assert KEYS["month"][0] == MONTH
    for wrong in ("m", "id_low", "N", 0, None):
        with pytest.raises(Refusal, match="no column") as refused:
            KEYS[wrong]
        assert "id, month, at, old, n, mean" in refused.value.cure


def test_e8_two_columns_of_one_title_are_refused_with_their_places():
    cells = ((Cell("a"), Cell(1, 1.0, 0.0, 2.0), Cell(2, 2.0, 0.0, 4.0)),)
    made = Answer(("k", "n", "n"), ("text", "whole", "whole"), cells, F(1, 2), (), F(0), F(0), F(1))
    for read in (made.error, made.interval, made.__getitem__, lambda name: made[f"{name}_low"]):
        with pytest.raises(Refusal, match="columns 2 and 3 of the answer are both called 'n'") as refused:
            read("n")
        assert "AS" in refused.value.cure
    assert made["k"] == ["a"]
    assert made.to_pandas()["n (2)"].tolist() == [2]


TITLES = ["a", "a ±", "a_low", "a (2)", "a_low (2)", ""]


@pytest.mark.parametrize("titles", list(itertools.product(TITLES, repeat=3))[::7])
def test_columns_of_any_titles_are_all_kept(titles):
    cells = ((Cell(1, 1.5, 1.25, 1.75), Cell(2, 2.5, 2.25, 2.75), Cell(3, 3.5, 3.25, 3.75)),)
    made = Answer(titles, ("whole",) * 3, cells, F(1, 2), (), F(0), F(0), F(1))
    frame = made.to_pandas()
    assert len(frame.columns) == 15
    assert frame.select_dtypes("bool").iloc[0].tolist() == [True] * 3
    numbers = sorted(frame.select_dtypes("number").iloc[0].tolist())
    assert numbers == [1, 1.25, 1.5, 1.75, 2, 2.25, 2.5, 2.75, 3, 3.25, 3.5, 3.75]
    for title in titles:  # a column of the question keeps its name
        assert frame[title].tolist() == [titles.index(title) + 1]
    names = [one.name for one in series_of(made)]
    for title in (title for title in titles if titles.count(title) == 1):
        assert made[title] == frame[title].tolist()
    assert len(set(names)) == 15


def test_what_is_not_installed_is_said(monkeypatch):
    for name, call in (("pandas", KEYS.to_pandas), ("polars", KEYS.to_polars), ("pyarrow", KEYS.to_arrow)):
        monkeypatch.setitem(sys.modules, name, None)
        with pytest.raises(Refusal, match=f"{name} is not installed") as refused:
            call()
        assert "dpcurator[frames]" in refused.value.cure


def test_f2_an_answer_in_a_notebook_is_its_first_rows():
    many = answer({"n": ("whole", [Cell(k, 1.0, k - 1.0, k + 1.0) for k in range(FIRST + 2)])})
    assert repr(many).count("±") == FIRST
    assert "... and 2 more rows: print(answer)" in repr(many)
    assert many._repr_html_().count("<tr>") == FIRST + 1
    assert str(many).count("±") == FIRST + 2
    assert repr(KEYS) == str(KEYS)
