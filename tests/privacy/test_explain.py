"""What a delta allows, in numbers and words."""

from __future__ import annotations

import math
from fractions import Fraction as F
from typing import Any

import pytest

from dpcurator.errors import Refusal
from dpcurator.privacy.explain import explain_delta


@pytest.mark.parametrize("n", [1, 2, 3, 10])
@pytest.mark.parametrize("delta", [F(1, 2), F(1, 7), F(1, 10**6)])
def test_somebody_is_exposed_with_the_chance_of_n_coins(n: int, delta: F) -> None:
    found = explain_delta(delta, n)
    exact = 1 - (1 - delta) ** n
    assert found.somebody.lo <= exact <= found.somebody.hi
    assert found.somebody.width < F(1, 2**50)
    assert (found.whole_table, found.rows) == (delta, n * delta)


@pytest.mark.parametrize("delta", [F(1, 3), F(1, 100)])
def test_both_algorithms_are_0_delta_private(delta: F) -> None:
    """Their laws on tables of 3 rows, one of which changes: the total variation is delta, by enumeration."""
    table, other = ("a", "b", "c"), ("a", "b", "d")

    def whole(rows: tuple[str, ...]) -> dict[object, F]:
        return {rows: delta, (): 1 - delta}

    def each(rows: tuple[str, ...]) -> dict[object, F]:
        law: dict[object, F] = {}
        for mask in range(8):
            shown = tuple(row if mask >> i & 1 else None for i, row in enumerate(rows))
            law[shown] = math.prod((delta if mask >> i & 1 else 1 - delta for i in range(3)), start=F(1))
        return law

    for algorithm in (whole, each):
        one, two = algorithm(table), algorithm(other)
        assert sum(one.values()) == 1
        assert sum(max(one.get(k, F(0)) - two.get(k, F(0)), F(0)) for k in {*one, *two}) == delta


def test_words_and_warning() -> None:
    risky = explain_delta(delta="0.001", n=1000)
    assert "Warning: delta is at least 1/n = 0.001" in str(risky)
    assert "exposes somebody with probability 0.632305, and 1 row on average" in str(risky)
    safe = explain_delta("1e-6", 1000)
    assert safe.warning == ""
    assert "0.0009995" in str(safe)
    assert "allows neither" in str(explain_delta(0, 5))
    assert "over 0.999999" in str(explain_delta("1/2", 10**12))
    assert explain_delta(1, 3).somebody.lo == 1
    tiny = explain_delta("1e-300", 10**6)
    assert math.isclose(float(tiny.somebody.lo), 1e-294, rel_tol=1e-9)


@pytest.mark.parametrize("bad", [(-1, 3), (2, 3), ("nan", 3), (0.5, 0), (0.5, "1/2"), (True, 3), (0.5, None)])
def test_impossible_deltas_are_refused(bad: tuple[Any, Any]) -> None:
    with pytest.raises(Refusal):
        explain_delta(*bad)
