"""`dp.draft`: a catalog drafted from a data frame of any library, which loads once its questions are answered."""

import datetime as dt
import re
import tomllib

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import dpcurator as dp

VALUES = {
    "who": ["007", "008", None], "age": [31, None, 54], "cost": [1.5, 2.0, None], "day": [dt.date(2024, 1, 2)] * 3,
    "seen": [True, False, None], "at": [dt.datetime(2024, 1, 2, 3, tzinfo=dt.UTC)] * 3,
    "local": [dt.datetime(2024, 1, 2, 3)] * 3, "empty": [None] * 3,
}
TYPES = {
    "who": "text?", "age": "integer?", "cost": "float?", "day": "date?", "seen": "boolean?", "at": "timestamp?",
    "local": {"type": "timestamp?", "zone": "?"}, "empty": "?",
}
FRAMES = {"dict": VALUES, "pandas": pd.DataFrame(VALUES), "polars": pl.DataFrame(VALUES), "pyarrow": pa.table(VALUES),
          "polars, lazy": pl.LazyFrame(VALUES), "pandas, nullable": pd.DataFrame(VALUES).convert_dtypes()}


@pytest.mark.parametrize("name", FRAMES)
def test_the_same_draft_from_every_library(name):
    parsed = tomllib.loads(dp.draft(FRAMES[name], table="visits"))["tables"]["visits"]
    assert parsed["columns"] == TYPES
    assert "file" not in parsed


def test_a_draft_that_is_answered_opens_on_the_same_frame(tmp_path):
    frame = {"who": ["a", "b"], "age": [31, 54]}
    text = dp.draft(frame, table="visits")
    with pytest.raises(dp.Misconfigured, match="still blank"):
        dp.open(tomllib.loads(text), directory=tmp_path, visits=frame)
    text = re.sub(r'"(\w+)\?"', r'"\1"', text).replace('protects = "?"', 'protects = "patients"')
    text = re.sub(r'(max_total|epsilon) = "\?"', r"\1 = 1", text).replace('unit = "?"', 'unit = "who"')
    curator = dp.open(tomllib.loads(text), directory=tmp_path, visits=frame)
    assert curator.report.tables[0].rows == 2
    assert curator.report.clean


def test_a_path_is_drafted_as_init_does(tmp_path):
    (tmp_path / "d.csv").write_text("who,age\na,1\n")
    assert tomllib.loads(dp.draft(tmp_path / "d.csv"))["tables"]["d"]["columns"] == {"who": "text?", "age": "integer?"}
    (tmp_path / "d.csv").write_text("a,1\nb,2\n")
    with pytest.raises(dp.Misconfigured, match="looks like a row"):
        dp.draft(str(tmp_path / "d.csv"))
    assert '"c2"' not in dp.draft(tmp_path / "d.csv", header=True)
    assert "c2" in dp.draft(tmp_path / "d.csv", header=False)


@pytest.mark.parametrize("given", [5, {}, pd.DataFrame([[1, 2]], columns=["x", "x"]), {"x": 5}, [1]])
def test_what_is_no_frame_is_refused(given):
    with pytest.raises(dp.Misconfigured):
        dp.draft(given)


def test_c11_texts_of_a_frame_that_are_numbers_and_dates_in_their_own_way():
    frame = {"pay": ["1.234,50", "7,25", None], "born": ["05.03.1987", "31.12.1990", ""], "note": ["a, b", "c", "d"],
             "count": ["1,234", "5,678", "12"]}
    columns = tomllib.loads(dp.draft(frame))["tables"]["data"]["columns"]
    assert columns == {
        "pay": {"type": "float?", "decimal": ",", "thousands": "."}, "born": {"type": "date?", "format": "DD.MM.YYYY"},
        "note": "text?", "count": {"type": "integer?", "thousands": ","},
    }
