"""Sensitivities by rule, against the enumeration of neighbours; equal for each rule, never below for combinations."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction as F
from typing import Any

import pytest
from power import NO_CLOCK

from dpcurator.errors import Refusal
from dpcurator.sensitivity.bounded import Bounded, Moves, sensitivity_of
from dpcurator.sensitivity.checking import check_sensitivity

WIDE: dict[str, Any] = {"lower": -2, "upper": 5}
DOMAIN = (-9, -2, 0, 1, 5, 6, float("nan"))
RULES = [
    Bounded.count(), Bounded.count(lambda x: x > 0), Bounded.sum(**WIDE), Bounded.sum(lower=2, upper=5),
    Bounded.smallest(**WIDE), Bounded.largest(**WIDE), Bounded.histogram([0]), Bounded.histogram([0, 1]),
    Bounded.histogram([0, 1, 5]),
]
OF_N = [Bounded.mean(**WIDE), Bounded.variance(**WIDE), Bounded.mean(**WIDE) * F(-1, 3)]
COMBINED = [
    Bounded.sum(**WIDE) * 2, Bounded.sum(**WIDE) + Bounded.count(), Bounded.sum(**WIDE) - Bounded.count() * 3,
    Bounded.stack(Bounded.count(), Bounded.sum(**WIDE), Bounded.histogram([0, 1])), Bounded.sum(**WIDE).clamp(0, 3),
    Bounded.histogram([0, 1]).clamp(0, 1), Bounded.sum(**WIDE).map(lambda x: abs(x) / 2, lipschitz="1/2"),
    Bounded.histogram([0, 1]) + Bounded.histogram([1, 5]),
]


def enumerated(function: Bounded, relate: str) -> tuple[Moves, Moves]:
    """What is claimed and what is so, for up to 3 rows."""
    found = {
        kind: check_sensitivity(function, domain=DOMAIN, n=3, neighbours=relate, distance=kind, ordered=False).bracket
        for kind in ("l1", "l2", "linf")
    }
    claimed = sensitivity_of(function, neighbours=relate, n=3 if relate == "replace-one" else None)
    assert all(one is not None for one in found.values())
    return claimed, Moves(*(one.hi for one in found.values() if one is not None))


@pytest.mark.parametrize("function", RULES, ids=lambda function: function.name)
@pytest.mark.parametrize("relate", ["add-remove", "replace-one"])
def test_each_rule_is_attained(function: Bounded, relate: str) -> None:
    claimed, found = enumerated(function, relate)
    assert claimed == found


@pytest.mark.parametrize("function", OF_N, ids=lambda function: function.name)
def test_means_and_variances_of_a_public_n(function: Bounded) -> None:
    claimed, found = enumerated(function, "replace-one")
    assert claimed == found
    with pytest.raises(Refusal, match="whole range"):
        sensitivity_of(function, neighbours="add-remove", n=3)
    with pytest.raises(Refusal, match="public"):
        sensitivity_of(function, neighbours="replace-one")


@pytest.mark.parametrize("function", COMBINED, ids=lambda function: function.name)
@pytest.mark.parametrize("relate", ["add-remove", "replace-one"])
def test_combinations_are_never_below(function: Bounded, relate: str) -> None:
    claimed, found = enumerated(function, relate)
    assert claimed.l1 >= found.l1
    assert claimed.l2_squared >= found.l2_squared
    assert claimed.linf >= found.linf


def test_the_examples_of_the_notes() -> None:
    weights: dict[str, Any] = {"lower": 30, "upper": 150}
    assert sensitivity_of(Bounded.mean(**weights), neighbours="replace-one", n=4).l1 == 30
    assert sensitivity_of(Bounded.mean(**weights), neighbours="replace-one", n=1000).l1 == F("0.12")
    assert sensitivity_of(Bounded.smallest(**weights), neighbours="replace-one", n=1000).l1 == 120
    assert sensitivity_of(Bounded.sum(lower=0, upper=10_000_000), neighbours="add-remove").l1 == 10_000_000
    sixteen = Bounded.stack(*(Bounded.sum(lower=0, upper=1, of=lambda row, i=i: row[i]) for i in range(16)))
    assert sensitivity_of(sixteen, neighbours="add-remove") == Moves(F(16), F(16), F(1))


def test_a_rule_weakened_by_one_step_fails() -> None:
    claimed, found = enumerated(Bounded.sum(lower=-2, upper=4), "replace-one")
    assert claimed.l1 == 6
    assert enumerated(Bounded.sum(**WIDE), "replace-one")[1].l1 > claimed.l1
    assert found == claimed


@pytest.mark.parametrize(
    "make",
    [
        lambda: Bounded.sum(lower=2, upper=1),
        lambda: Bounded.sum(lower=0, upper=float("inf")),
        lambda: Bounded.stack(),
        lambda: Bounded.histogram([]),
        lambda: Bounded.histogram([1, 1]),
        lambda: Bounded.count() + Bounded.histogram([1, 2]),
        lambda: Bounded.count() * float("nan"),
        lambda: Bounded.count().map(abs, lipschitz=-1),
        lambda: sensitivity_of(sum, neighbours="add-remove"),  # type: ignore[arg-type]
        lambda: sensitivity_of(Bounded.count(), neighbours="near"),
        lambda: Bounded.count().clamp(3, 2),
    ],
)
def test_bad_input_is_refused(make: Callable[[], object]) -> None:
    with pytest.raises(Refusal):
        make()


@pytest.mark.parametrize("made", ["count", "sum", "mean", "variance", "smallest", "largest", "histogram"])
def test_f5_rows_may_be_an_array_a_series_or_an_iterator(made):
    """F5: one value for a list, an array, a Series and an iterator of it; what is no list of rows is refused."""
    import numpy as np
    import pandas as pd

    ways = {"count": lambda: Bounded.count(), "histogram": lambda: Bounded.histogram([1, 2, 30])}
    function = ways.get(made, lambda: getattr(Bounded, made)(lower=0, upper=10))()
    rows = [1, 2, 30]
    for given in (np.array(rows), pd.Series(rows, index=[5, 6, 7]), iter(rows), tuple(rows), np.array(rows, "float32")):
        assert function(given) == function(rows)
    assert function(np.array([])) == function([])
    stacked = Bounded.stack(function, function)
    assert stacked(iter(rows)) == stacked(rows)
    for wrong in ("12", {1: 2}, 5, None, pd.DataFrame({"x": rows})):
        with pytest.raises(Refusal, match="rows are a list") as refused:
            function(wrong)
        assert 'frame["age"]' in refused.value.cure
    for shape in [(3, 1), (1, 3), (3, 0), (0, 3), (), (1, 1, 1)]:  # by its shape, whatever it holds
        with pytest.raises(Refusal, match=f"array of {len(shape)} dimensions") as refused:
            function(np.zeros(shape))
        assert "array[:, 0]" in refused.value.cure
    table = np.array([[1, 9], [2, 9], [30, 9]])
    assert function(table[:, 0]) == function(rows)
    assert Bounded.count()(list(table)) == (3,)


@pytest.mark.parametrize("made", ["sum", "mean", "variance", "smallest", "largest"])
def test_f5_a_truth_in_a_row_is_0_or_1_and_no_row_decides_whether_there_is_an_answer(made):
    """One rule for every container, whose type may itself follow from a row: a list, and numpy's arrays of any kind."""
    import numpy as np

    function = getattr(Bounded, made)(lower=0, upper=10)
    for given in ([True, False], np.array([True, False]), np.array([True, 0], dtype=object), [np.True_, 0]):
        assert function(given) == function([1, 0])
    for odd in (True, np.False_, "x", None, float("nan"), [1], {}, object()):
        assert len(function([0, 1, odd])) == len(function([0, 1]))
    assert Bounded.count(where=lambda row: row)([True, False, True]) == (2,)


def test_f5_an_audit_of_neighbours_that_differ_in_a_truth_finds_nothing():
    """What one row could do by its type is looked for as anything else is."""
    import dpcurator as dp

    total, noise = Bounded.sum(lower=0, upper=1), dp.Laplace(sensitivity=1, epsilon=1)
    found = dp.audit(
        lambda rows: noise.release(total(rows)[0]), pair=([0, 1], [0, 1, True]), claim=dp.Pure(1), samples=2000,
        confidence=1 - 1e-9, seconds=NO_CLOCK,
    )
    assert not found.violated, found
