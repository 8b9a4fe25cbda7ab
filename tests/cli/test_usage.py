"""E10: what newcomers type in the shell is refused by the parser with what was meant."""

from __future__ import annotations

import pytest
from shell import run

from dpcurator.errors import Refusal
from dpcurator.pricing.offers import delta_of, level_of


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("ask", "SELECT", "age", "FROM", "visits"), "Put the question in quotes"),
        (("quote", "SELECT", "age", "FROM", "visits", "--epsilon", "0.1"), "Put the question in quotes"),
        (("refresh", "visits.csv"), "refresh takes no file"),
        (("SELECT COUNT(*) FROM visits",), "A question goes to"),
        (("show",), "`dpcurator tables` lists"),
        (("columns",), "`dpcurator tables`"),
        (("visits.csv",), "drafts a catalog for a file"),
    ],
)
def test_e10_a_command_typed_wrongly_says_what_was_meant(capsys, words, said):
    ran = run(capsys, *words)
    assert ran.code == 2
    assert said in " ".join(ran.err.replace("│", " ").split())


def test_e10_a_percentage_is_told_its_number():
    with pytest.raises(Refusal, match="not a percentage") as refused:
        level_of("95%")
    assert refused.value.cure == "Write it as 0.95."
    assert level_of("0.95") == level_of(refused.value.cure[12:-1])
    with pytest.raises(Refusal) as refused:
        level_of("95")
    assert refused.value.cure == "Write confidence as in 0.95."


@pytest.mark.parametrize("delta", ["tiny", "1e-", "nan", None])
def test_e7_a_delta_is_told_a_number_that_is_one(delta):
    with pytest.raises(Refusal) as refused:
        delta_of(delta)
    assert "1e-8" in refused.value.cure
    assert "0.1" not in refused.value.cure
    assert delta_of("1e-8")
