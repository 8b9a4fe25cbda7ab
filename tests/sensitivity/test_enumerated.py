"""Local sensitivities by enumeration agree with those in closed form; a false promise is found."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction as F
from itertools import combinations_with_replacement
from typing import Any

import pytest

from dpcurator.errors import Refusal
from dpcurator.sensitivity.enumerated import check_local, enumerated
from dpcurator.sensitivity.windows import Window, bounded_mean, order_statistic, trimmed_mean

BOUNDS: dict[str, Any] = {"lower": 0, "upper": 3, "grid": 1}
MEAN = bounded_mean(**BOUNDS)


def test_a_mean_by_enumeration_is_the_mean_in_closed_form() -> None:
    mean = enumerated(lambda x: F(sum(x), len(x)), domain=range(4), n=3, **BOUNDS)
    for x in combinations_with_replacement(range(4), 3):
        one, other = mean.rows(x), MEAN.rows(x)
        assert mean.answer(one) * mean.unit(one) == MEAN.answer(other) * MEAN.unit(other)
        for k in range(5):
            found = mean.local_sensitivity_at(one, k) * mean.unit(one)
            assert found == MEAN.local_sensitivity_at(other, k) * MEAN.unit(other)
    check_local(mean, domain=range(4), n=3)
    assert mean.rows([0, 9, 3]) == mean.rows([3, 0, 0])


@pytest.mark.parametrize("window", [order_statistic("1/2", **BOUNDS), trimmed_mean("1/4", **BOUNDS), MEAN])
def test_closed_forms_keep_their_promise(window: Window) -> None:
    check_local(window, domain=range(4), n=4)


def test_a_false_promise_is_found() -> None:
    class Short:
        """The median, with local sensitivities that do not grow with the distance."""

        def __init__(self, window: Window) -> None:
            self.window = window

        def __getattr__(self, name: str) -> Any:
            return getattr(self.window, name)

        def local_sensitivity_at(self, rows: Any, k: int) -> int:
            return self.window.local_sensitivity_at(rows, 0)

    with pytest.raises(Refusal, match="false"):
        check_local(Short(order_statistic("1/2", **BOUNDS)), domain=range(4), n=3)  # type: ignore[arg-type]
    narrow = enumerated(sum, domain=range(3), n=2, **BOUNDS)
    assert narrow.greatest(narrow.rows([0, 0])) == 2
    lowered = tuple(dict.fromkeys(reached, 0) for reached in narrow.reached)
    with pytest.raises(Refusal, match="false"):
        check_local(replace(narrow, reached=lowered), domain=range(3), n=2)


@pytest.mark.parametrize("bad", [
    {"f": lambda x: 1 / x[0]}, {"f": lambda x: float("inf")}, {"f": lambda x: [1, 2]}, {"f": lambda x: "a"}, {"n": 0},
    {"domain": ()}, {"domain": range(100), "n": 9}, {"grid": 2}, {"grid": 0},
])
def test_bad_input_is_refused(bad: dict[str, Any]) -> None:
    with pytest.raises(Refusal):
        enumerated(**{"f": sum, "domain": (0, 1), "n": 2, **BOUNDS, **bad})
    with pytest.raises(Refusal, match="2 rows"):
        enumerated(sum, domain=(0, 1), n=2, **BOUNDS).rows([1])
