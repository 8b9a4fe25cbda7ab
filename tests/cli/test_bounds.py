"""`dpcurator bounds`: the line to paste, its other forms, and what it is refused for."""

from __future__ import annotations

import pytest
from shell import CLINIC, run

from dpcurator.catalog.load import load
from dpcurator.curator.opening import refresh_all
from dpcurator.fronts.sql import parse


@pytest.fixture
def catalog(tmp_path) -> str:
    (tmp_path / "curator.toml").write_text(CLINIC)
    rows = [f"p{n},Leeds,{20 + n % 60}" for n in range(3000)]
    (tmp_path / "visits.csv").write_text("\n".join(["patient_id,city,age", *rows]))
    refresh_all(load(tmp_path / "curator.toml"))
    return str(tmp_path / "curator.toml")


def test_it_prints_the_line_and_is_free_again(capsys, catalog, tmp_path):
    words = ["bounds", "visits.age", "--epsilon", "1", "--share", "0.1", "--catalog", catalog]
    ran = run(capsys, *words, "--receipt", str(tmp_path / "r.json"))
    assert ran.code == 0, ran.err
    assert 'age = { type = "integer", bounds = [' in ran.out
    assert run(capsys, "verify", str(tmp_path / "r.json"), "--catalog", catalog).code == 0
    again = run(capsys, *words, "--json").json
    assert again["answer"]["repeated"]
    assert again["paste"] in ran.out
    assert parse(run(capsys, "bounds", "visits.age", "--sql", "--catalog", catalog).out)


@pytest.mark.parametrize(("words", "told"), [
    (["visits.age"], "--epsilon"), (["visits.city", "--epsilon", "1"], "of numbers"),
])
def test_what_cannot_be_is_refused_with_the_way_out(capsys, catalog, words, told):
    ran = run(capsys, "bounds", *words, "--catalog", catalog)
    assert (ran.code, ran.out) == (2, "")
    assert told in ran.err
