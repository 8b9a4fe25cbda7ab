"""`dpcurator account`: what it prints, and what it refuses."""

from __future__ import annotations

import json
from fractions import Fraction
from itertools import pairwise

import pytest
from shell import run

from dpcurator.cli.account import rounded

LOSSES = "100 * laplace(epsilon=0.1)"


def test_three_numbers_are_told_apart(capsys):
    ran = run(capsys, "account", LOSSES, "--delta", "1e-6")
    assert (ran.code, ran.err) == (0, "")
    most, least, about = ran.out.splitlines()
    assert most.startswith("epsilon at delta 1e-6")
    assert "at most 4.69" in most
    assert most.endswith("pld")
    assert "at least 4.69" in least
    assert least.endswith("certified")
    assert "about 4.692667" in about
    assert "bounds nothing" in about


def test_json_has_exact_bounds(capsys):
    told = run(capsys, "account", LOSSES, "--epsilon", "4.69266741", "--json").json
    assert told["quantity"] == "delta"
    assert Fraction(told["lower"]) < Fraction("1e-6") < Fraction(told["upper"]) * Fraction("1.001")
    assert told["method"] == "pld"
    assert told["estimate"] == pytest.approx(1e-6, rel=1e-5)
    assert told["composition"][0]["count"] == 100


def test_a_file_of_losses(capsys, tmp_path):
    told = run(capsys, "account", LOSSES, "--delta", "1e-6", "--json").json
    (tmp_path / "losses.json").write_text(json.dumps(told["composition"]), encoding="utf-8")
    assert run(capsys, "account", "--file", str(tmp_path / "losses.json"), "--delta", "1e-6", "--json").json == told


def test_a_family_without_a_law_has_no_estimate(capsys):
    told = run(
        capsys, "account", "discrete_gaussian_vector(variance=9, l2_squared=4)", "--delta", "1e-6", "--json"
    ).json
    assert told["estimate"] is None
    assert told["method"] == "zcdp"


@pytest.mark.parametrize(
    "arguments",
    [
        (LOSSES,),
        (LOSSES, "--delta", "1e-6", "--epsilon", "1"),
        ("--delta", "1e-6"),
        (LOSSES, "--file", "x.json", "--delta", "1e-6"),
        ("--file", "missing.json", "--delta", "1e-6"),
        ("laplace(0.1)", "--delta", "1e-6"),
        (LOSSES, "--delta", "2"),
        (LOSSES, "--delta", "nan"),
    ],
)
def test_what_is_refused(capsys, arguments):
    assert run(capsys, "account", *arguments).code == 2


@pytest.mark.parametrize("value", ["1/3", "2/3", "12345678901/1000", "1/3000000000", "0", "5", "100"])
def test_bounds_are_shown_outward(value):
    exact = Fraction(value)
    low, high = Fraction(rounded(exact, up=False)), Fraction(rounded(exact, up=True))
    assert low <= exact <= high
    assert high - low <= exact / 10**7


def test_progress_tells_bounds_that_only_get_better():
    from dpcurator.accounting import compose
    from dpcurator.accounting.parse import spelled
    from dpcurator.accounting.pld.certified import Bounds

    told: list[Bounds] = []
    found = compose(spelled("30 * laplace(epsilon=0.37) + 7 * gaussian(sigma=2)")).bracket(
        delta="1e-9", accuracy="1e-6", seconds=20, progress=lambda best, _: told.append(best)
    )
    assert told
    assert all(one.lower <= other.lower for one, other in pairwise(told))
    assert all(one.upper >= other.upper for one, other in pairwise(told))
    assert (told[-1].lower, told[-1].upper) == (found.lower, found.upper)
