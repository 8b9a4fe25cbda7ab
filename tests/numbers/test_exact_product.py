"""Doubles at, just below and just above halves of a grid, against Fractions; plain products of doubles fail there."""

from __future__ import annotations

import math
import random
from fractions import Fraction as F
from typing import Any

import numpy as np
import pytest

from dpcurator.mechanisms.choice.nearest_candidate import Nearest
from dpcurator.mechanisms.choice.scores import read_scores
from dpcurator.mechanisms.grid_rounding import Reals
from dpcurator.numbers.exact_product import reaches

RNG = random.Random(11)
STEPS = [F(1, 10), F(3), F(1, 3), F(7, 5), F(10**9), F(1, 10**9), F(2**30 + 1, 3**20), F(1, 5**22), F(5**22), F(1, 4)]


def around(step: F, start: F, size: int) -> list[float]:
    """The doubles nearest to start + (n + 1/2) step, and those next to them."""
    near = [
        float(start + (F(RNG.randint(-(2 ** RNG.randint(0, 36)), 2 ** RNG.randint(0, 36))) + F(1, 2)) * step)
        for _ in range(size)
    ]
    return [one for x in near for one in (x, math.nextafter(x, math.inf), math.nextafter(x, -math.inf))]


@pytest.mark.parametrize("factor", [1, 2, 3, 2**53 - 1, 2**52 + 1, 5**22, 10**15])
def test_it_is_the_product_that_is_compared(factor: int) -> None:
    targets = [RNG.randint(-(2**b), 2**b) for b in range(62) for _ in range(50)]
    x = [t / factor for t in targets]
    x += [math.nextafter(one, math.inf) for one in x] + [math.nextafter(one, -math.inf) for one in x]
    x += [5e-324, -5e-324, 0.0, -0.0, 1e270, -1e270, 2.0**-1022, -(2.0**-960)]
    wanted = targets * 3 + [0] * 8
    exact = [F(one) * factor >= t for one, t in zip(x, wanted, strict=True)]
    assert reaches(np.array(x), factor, np.array(wanted)).tolist() == exact
    if factor > 3:  # the negative control
        assert [one * factor >= t for one, t in zip(x, wanted, strict=True)] != exact


@pytest.mark.parametrize("step", STEPS, ids=str)
def test_values_and_scores_at_halves(step: F) -> None:
    values = around(step, F(0), 700)
    wanted = [math.floor(F(x) / step + F(1, 2)) for x in values]
    assert Reals(step).steps(np.array(values)).tolist() == wanted  # type: ignore[union-attr]
    assert Reals(step).steps(np.array(values).reshape(3, -1)).reshape(-1).tolist() == wanted  # type: ignore[union-attr]
    assert read_scores(np.array(values), grid=step).values.tolist() == wanted


@pytest.mark.parametrize("step", STEPS, ids=str)
@pytest.mark.parametrize("lower", [F(0), F(-7, 2), F(1, 3), F(10**6)])
def test_records_at_halves(step: F, lower: F) -> None:
    line = Nearest(2**30, (), lower, step)
    values = around(step, lower, 400)
    wanted = [min(max(math.floor((F(x) - lower) / step + F(1, 2)), 0), 2**30 - 1) for x in values]
    assert line.places(np.array(values)).tolist() == wanted
    assert line.places([int(x) for x in values]).tolist() == line.places([F(int(x)) for x in values]).tolist()


@pytest.mark.parametrize("kind", ["values", "scores", "records"])
def test_halves_are_not_settled_one_by_one(kind: str, monkeypatch: Any) -> None:
    """They took a hundred times as long as other values. None is made a Fraction now."""

    def refuse(*_: object) -> None:
        raise AssertionError

    halves = (np.arange(1000) + 0.5) * 0.1
    line = Nearest(2000, (), F(0), F(1, 10))
    monkeypatch.setattr(Reals, "rounded", refuse)
    monkeypatch.setattr(Nearest, "_place", refuse)
    if kind == "values":
        Reals(F(1, 10)).steps(halves)
    elif kind == "scores":
        read_scores(halves, grid=F(1, 10))
    else:
        line.places(halves)
