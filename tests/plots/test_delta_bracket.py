"""Both ends of delta, and simpler bounds beside them."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import pytest

from dpcurator.errors import Refusal
from dpcurator.plots import draw_delta_bracket


@dataclass
class Ends:
    lower: Fraction
    upper: Fraction


def tenths(eps):
    return Ends(Fraction(1, 10) ** int(eps) / 2, Fraction(1, 10) ** int(eps))


def test_both_ends_are_drawn_where_they_say_something():
    chart = draw_delta_bracket(
        tenths, epsilons=[0, 1, 2], others={"simple": lambda eps: None if eps < 2 else Fraction(1, 5)}
    )
    assert chart.spec["data"]["values"] == [
        {"series": "at least", "epsilon": 0.0, "delta": 0.5},
        {"series": "at most", "epsilon": 1.0, "delta": 0.1},
        {"series": "at least", "epsilon": 1.0, "delta": 0.05},
        {"series": "at most", "epsilon": 2.0, "delta": 0.01},
        {"series": "at least", "epsilon": 2.0, "delta": 0.005},
        {"series": "simple", "epsilon": 2.0, "delta": 0.2},
    ]
    words = " ".join(chart.spec["title"]["subtitle"])
    assert "simple: what simpler methods prove" in words
    assert "ends" not in words.split("proved ends.")[1]
    assert chart.svg().startswith("<svg")


def test_what_is_below_the_floor_is_left_out_and_that_is_told():
    chart = draw_delta_bracket(tenths, epsilons=[1, 3], floor="0.001")
    assert [row["delta"] for row in chart.spec["data"]["values"]] == [0.1, 0.05, 0.001]
    assert "A curve ends where delta is 0 or below 0.001." in " ".join(chart.spec["title"]["subtitle"])


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"epsilons": []}, "below the floor"),
        ({"epsilons": [40]}, "below the floor"),
        ({"epsilons": [-1]}, "epsilon must be at least 0"),
        ({"epsilons": [1], "floor": 0}, "floor must be above 0"),
        ({"epsilons": [1], "others": {"at most": lambda eps: None}}, "one name"),
    ],
)
def test_others_are_refused(options, words):
    with pytest.raises(Refusal, match=words):
        draw_delta_bracket(tenths, **options)
