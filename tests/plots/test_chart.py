"""A chart as a value, and the files it becomes. Real conversions are few: the first takes seconds."""

from __future__ import annotations

import json
import sys
from fractions import Fraction

import pytest

from dpcurator.errors import Misconfigured, Refusal
from dpcurator.mechanisms import DiscreteLaplace
from dpcurator.plots import Chart, draw_law

CHART = draw_law([DiscreteLaplace(Fraction(1)), DiscreteLaplace(Fraction(2))])


@pytest.fixture
def bare(monkeypatch):
    """As if vl-convert were not installed."""
    monkeypatch.setitem(sys.modules, "vl_convert", None)


def test_the_specification_holds_all_and_names_only_its_schema():
    text = CHART.as_json()
    assert json.loads(text) == CHART.spec
    assert CHART.spec["$schema"].endswith("/vega-lite/v5.json")
    assert text.count("://") == 1
    assert {"values"} == set(CHART.spec["data"])
    assert CHART.spec["title"]["text"] in CHART.spec["description"]


def test_a_chart_is_a_value():
    spec = CHART.spec
    spec["title"]["text"] = "another"
    assert CHART.spec["title"]["text"] == "The law of discrete Laplace noise"
    assert Chart(CHART.spec) == CHART != Chart(spec)
    assert repr(CHART) == "<Chart: The law of discrete Laplace noise>"


def test_without_vl_convert_there_is_the_specification_and_a_word_on_the_rest(bare, tmp_path):
    assert CHART.save(tmp_path / "law.json") == tmp_path / "law.json"
    assert json.loads((tmp_path / "law.json").read_text(encoding="utf-8")) == CHART.spec
    for convert in (CHART.svg, CHART.png, CHART.html):
        with pytest.raises(Misconfigured, match=r"pip install 'dpcurator\[plots\]'"):
            convert()
    with pytest.raises(Misconfigured):
        CHART.save(tmp_path / "law.svg")
    assert not (tmp_path / "law.svg").exists()
    assert set(CHART._repr_mimebundle_()) == {"application/vnd.vegalite.v5+json", "text/plain"}


def test_bad_input(tmp_path):
    for name in ("law.pdf", "law", "law.svg.txt"):
        with pytest.raises(Refusal, match=r"ends in \.svg, \.png"):
            CHART.save(tmp_path / name)
    for scale in (0, -1, float("inf"), 11):
        with pytest.raises(Refusal, match="scale"):
            CHART.png(scale=scale)
    with pytest.raises(Misconfigured, match="could not be written"):
        CHART.save(tmp_path / "nowhere" / "law.json")


def test_files_of_every_kind(tmp_path):
    pytest.importorskip("vl_convert")
    (tmp_path / "law.svg").write_text("an older file")
    svg = CHART.save(tmp_path / "law.svg").read_text(encoding="utf-8")
    assert svg.startswith("<svg")
    assert all(words in svg for words in ("The law of discrete Laplace noise", "scale 1", "scale 2"))
    assert CHART.save(tmp_path / "law.PNG").read_bytes().startswith(b"\x89PNG\r\n")
    page = CHART.save(str(tmp_path / "law.html")).read_text(encoding="utf-8")
    assert "<script src" not in page
    assert "<link" not in page
    assert CHART._repr_mimebundle_()["image/svg+xml"] == svg
