"""`dpcurator plot`: what each command draws and writes, and how its errors end."""

from __future__ import annotations

import json

import pytest
from shell import run

CHARTS = ("law", "loss", "distribution", "error", "delta")
KINDS = ("laplace", "gaussian", "discrete-laplace", "discrete-gaussian")


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("chart", CHARTS)
def test_every_chart_of_every_noise_is_written_and_that_is_said(chart, kind, here, capsys):
    ran = run(capsys, "plot", chart, "--mechanism", kind, "-o", "it.json")
    assert (ran.code, ran.out, ran.err) == (0, "wrote it.json\n", "")
    assert json.loads((here / "it.json").read_text(encoding="utf-8"))["data"]["values"]
    assert [path.name for path in here.iterdir()] == ["it.json"]


def test_noise_without_a_scale_has_an_error_and_no_other_chart(here, capsys):
    assert run(capsys, "plot", "error", "--mechanism", "staircase", "--from", "1", "-o", "it.json").code == 0
    ran = run(capsys, "plot", "law", "--mechanism", "staircase")
    assert ran.code == 2
    assert "staircase noise has no scale. Write laplace, gaussian, discrete-laplace or discrete-gaussian." in ran.err


def test_without_a_file_s_name_it_is_the_chart_s_and_svg(here, capsys):
    pytest.importorskip("vl_convert")
    assert run(capsys, "plot", "law").out == "wrote law.svg\n"
    assert (here / "law.svg").read_text(encoding="utf-8").startswith("<svg")


def test_json_is_written_too_where_a_file_is_named(here, capsys):
    ran = run(capsys, "plot", "loss", "--json", "-o", "loss.json")
    assert ran.json == json.loads((here / "loss.json").read_text(encoding="utf-8"))


def test_options_are_as_they_say(capsys):
    rows = run(
        capsys, "plot", "law", "--mechanism", "discrete-gaussian", "--scale", "2", "--reach", "3", "--json"
    ).json["data"]["values"]
    assert [(row["series"], row["x"]) for row in rows] == [("sigma 2", x) for x in range(-3, 4)]
    rows = run(capsys, "plot", "error", "--mechanism", "gaussian", "--delta", "1e-9", "--from", "0.5", "--to", "2",
               "--json").json["data"]["values"]
    assert {row["series"] for row in rows} == {"Gaussian, delta 1e-9"}
    assert (rows[0]["epsilon"], rows[-1]["epsilon"]) == (0.5, 2)
    rows = run(capsys, "plot", "loss", "--scale", "2", "--sensitivity", "3", "--json").json["data"]["values"]
    assert (rows[0]["loss"], rows[-1]["loss"]) == (1.5, -1.5)


def test_bounds_lie_above_the_curve(capsys):
    rows = run(capsys, "plot", "delta", "--scale", "4", "--sensitivity", "1", "--to", "1.5",
               "--compare", "textbook", "--compare", "rho", "--json").json["data"]["values"]
    curve = {row["epsilon"]: row["delta"] for row in rows if row["series"] == "sigma 4"}
    for bound, least, most in (("textbook", 0.375, 0.99), ("rho", 0, 1.5)):  # 4 epsilon >= 3/2
        found = {row["epsilon"]: row["delta"] for row in rows if row["series"] == f"sigma 4, {bound}"}
        assert len(found) > 30
        assert (min(found), max(found)) == (least, most)
        assert all(delta > curve[eps] for eps, delta in found.items())


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("law", "--scale", "0"), "scale must be above 0, not 0. Write scale as in 0.1."),
        (("law", "--scale", "1", "--scale", "1"), "a scale is given twice."),
        (("law", "--mechanism", "cauchy"), "there is no noise 'cauchy' to draw. Write laplace, gaussian"),
        (("error", "--mechanism", "cauchy"), "there is no noise 'cauchy' to draw."),
        (("law", *(f"--scale={n}" for n in range(1, 9))), "A chart shows 1 to 7 series, not 8."),
        (("law", "-o", "law.pdf"), "law.pdf: a chart's file ends in .svg, .png, .html, .json."),
        (("loss", "--sensitivity", "x"), "sensitivity must be a finite number, not 'x'."),
        (("loss", "--mechanism", "discrete-laplace", "--sensitivity", "0.5"), "multiple of the grid's step"),
        (("distribution", "--mechanism", "discrete-laplace", "--sensitivity", "0.5"), "must be a whole number"),
        (("error", "--from", "2", "--to", "1"), "--from must be below --to."),
        (("error", "--confidence", "95"), "confidence must be above 0 and below 1, not 95."),
        (("delta", "--to", "-1"), "--to must be above 0"),
        (("delta", "--mechanism", "laplace", "--compare", "textbook"), "there is no bound 'textbook' of this noise."),
        (("delta", "--mechanism", "discrete-gaussian", "--compare", "textbook"), "there is no bound 'textbook'"),
    ],
)
def test_a_bad_word_is_refused(words, said, here, capsys):
    ran = run(capsys, "plot", *words)
    assert (ran.code, ran.out) == (2, "")
    assert ran.err.startswith("refused: ")
    assert said in ran.err
    assert list(here.iterdir()) == []
    assert run(capsys, "plot", *words, "--json").json["exit_code"] == 2


def test_what_cannot_be_written_is_for_the_set_up(capsys):
    ran = run(capsys, "plot", "law", "-o", "nowhere/law.json")
    assert ran.code == 4
    assert "nowhere/law.json: the chart could not be written." in ran.err


@pytest.mark.parametrize("chart", CHARTS)
def test_help_has_an_example(chart, capsys):
    ran = run(capsys, "plot", chart, "--help")
    assert ran.code == 0
    assert f"Example: dpcurator plot {chart}" in ran.out
