"""The figures of docs/ are what the commands draw now: specifications are compared, and an SVG holds their words.

The bytes of an SVG depend on the version of the library that makes it, so they are not compared. Numbers of
compositions lie between ends that depend on a grid, and are compared to one part in 50.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from shell import run

FIGURES = Path(__file__).resolve().parents[2] / "docs" / "figures"
MANY = "100 * laplace(epsilon=0.1)"
SCALES = ("--scale", "1", "--scale", "2", "--scale", "4")
COMMANDS = {
    "laplace-law": ("law", "--mechanism", "laplace", *SCALES),
    "laplace-loss": ("loss", "--mechanism", "laplace", *SCALES),
    "laplace-loss-distribution": ("distribution", "--mechanism", "laplace", "--scale", "1"),
}
TOGETHER = {
    "composition-delta": ("composition", MANY, "--compare", "zcdp", "--compare", "advanced"),
    "composition-distribution": ("composition", MANY, "--kind", "distribution"),
    "composition-tradeoff": ("composition", MANY, "--kind", "tradeoff"),
}


def test_every_figure_has_its_command():
    assert {path.stem for path in FIGURES.iterdir()} == {*COMMANDS, *TOGETHER, "answer"}  # see docs/test_readme.py
    for page, commands in (("plots.md", COMMANDS), ("accounting.md", TOGETHER)):
        document = (FIGURES.parent / page).read_text(encoding="utf-8")
        for name, words in commands.items():
            told = " ".join(f'"{word}"' if " " in word else word for word in words)
            assert f"$ dpcurator plot {told} -o {name}.svg" in document
            assert f"(figures/{name}.svg)" in document


def holds_its_words(name, spec):
    svg = (FIGURES / f"{name}.svg").read_text(encoding="utf-8")
    series = {row["series"] for row in spec["data"]["values"] if "series" in row}
    for words in (spec["title"]["text"], *spec["title"]["subtitle"], *series):
        assert f">{words}<" in svg  # a line of its own in a title


@pytest.mark.parametrize("name", COMMANDS)
def test_a_figure_is_what_its_command_draws(name, capsys):
    spec = run(capsys, "plot", *COMMANDS[name], "--json").json
    assert spec == json.loads((FIGURES / f"{name}.json").read_text(encoding="utf-8"))
    holds_its_words(name, spec)


@pytest.mark.parametrize("name", TOGETHER)
def test_a_figure_of_many_is_what_its_command_draws(name, capsys):
    spec = run(capsys, "plot", *TOGETHER[name], "--json").json
    kept = json.loads((FIGURES / f"{name}.json").read_text(encoding="utf-8"))
    for row, other in zip(spec["data"].pop("values"), before := kept["data"].pop("values"), strict=True):
        assert row.pop("series", "") == other.get("series", "")
        assert row == pytest.approx({part: other[part] for part in row}, rel=1 / 50, abs=1e-3)
    for layer, other in zip(spec.pop("layer"), kept.pop("layer"), strict=True):
        assert layer["mark"] == other["mark"]
    assert {part: spec[part] for part in ("title", "description")} == {
        part: kept[part] for part in ("title", "description")
    }
    holds_its_words(name, spec | {"data": {"values": before}})


def test_the_plain_commands_draw_the_same(capsys):
    for name, words in COMMANDS.items():
        plain, full = run(capsys, "plot", words[0], "--json").json, run(capsys, "plot", *words, "--json").json
        assert plain == full, name
