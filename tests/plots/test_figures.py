"""The figures of docs/ are what the commands draw now: specifications are compared, and an SVG holds their words.

The bytes of an SVG depend on the version of the library that makes it, so they are not compared.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from shell import run

FIGURES = Path(__file__).resolve().parents[2] / "docs" / "figures"
SCALES = ("--scale", "1", "--scale", "2", "--scale", "4")
COMMANDS = {
    "laplace-law": ("law", "--mechanism", "laplace", *SCALES),
    "laplace-loss": ("loss", "--mechanism", "laplace", *SCALES),
    "laplace-loss-distribution": ("distribution", "--mechanism", "laplace", "--scale", "1"),
}


def test_every_figure_has_its_command():
    assert {path.stem for path in FIGURES.iterdir()} == set(COMMANDS)
    document = (FIGURES.parent / "plots.md").read_text(encoding="utf-8")
    for name, words in COMMANDS.items():
        assert f"$ dpcurator plot {' '.join(words)} -o {name}.svg" in document
        assert f"(figures/{name}.svg)" in document


@pytest.mark.parametrize("name", COMMANDS)
def test_a_figure_is_what_its_command_draws(name, capsys):
    spec = run(capsys, "plot", *COMMANDS[name], "--json").json
    assert spec == json.loads((FIGURES / f"{name}.json").read_text(encoding="utf-8"))
    svg = (FIGURES / f"{name}.svg").read_text(encoding="utf-8")
    series = {row["series"] for row in spec["data"]["values"] if "series" in row}
    for words in (spec["title"]["text"], *spec["title"]["subtitle"], *series):
        assert f">{words}<" in svg  # a line of its own in a title


def test_the_plain_commands_draw_the_same(capsys):
    for name, words in COMMANDS.items():
        plain, full = run(capsys, "plot", words[0], "--json").json, run(capsys, "plot", *words, "--json").json
        assert plain == full, name
