"""The README's picture is its first answer, drawn by the product (tests/docs/answer_picture.py makes both)."""

from __future__ import annotations

import json
import re
from fractions import Fraction

from answer_picture import FIGURES, QUESTION
from documents import ROOT

from dpcurator.plots import draw_answer
from dpcurator.release.answer import Answer
from dpcurator.values import Cell


def test_the_picture_of_the_readme_is_its_first_answer():
    kept = json.loads((FIGURES / "answer.json").read_text(encoding="utf-8"))
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    assert "](docs/figures/answer.svg)" in readme
    first = readme.partition("```console\n")[2].partition("```")[0]
    assert QUESTION in first
    shown = [re.split(r"\s{2,}", line.strip()) for line in first.splitlines() if "±" in line][:4]
    assert shown == [[row["row"], row["label"]] for row in kept["data"]["values"]]
    svg = (FIGURES / "answer.svg").read_text(encoding="utf-8")
    assert all(f">{words}<" in svg for row in shown for words in row)


def test_the_picture_is_what_the_product_draws():
    kept = json.loads((FIGURES / "answer.json").read_text(encoding="utf-8"))
    cells = tuple(
        (Cell(row["row"]), Cell(row["value"], row["high"] - row["value"], row["low"], row["high"]))
        for row in kept["data"]["values"]
    )
    answer = Answer(("city", "n"), ("text", "whole"), cells, Fraction(95, 100), (), *3 * (Fraction(0),))
    assert draw_answer(answer).spec == kept
