"""The reference samplers, proved on every tape: mass found <= law <= mass found + mass unexplored, to 0.1 %.

Step by step, because the tapes of a whole draw are too many: uniform and Bernoulli are proved from bits; geometric from
the outcomes of those, each weighed by a lower bound of its chance; discrete Laplace from the outcomes of geometric. The
whole is enumerated from bits as well, to as little unexplored as a second allows.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from functools import lru_cache
from typing import Any

import pytest
from laws_of_draws import Choices, enumerate_law, law_holds

from dpcurator import numbers
from dpcurator.numbers import Enclosure
from dpcurator.samplers import reference

SCALES = [Fraction(s) for s in ("1/2", "1", "3/2", "3")]
THOUSANDTH = Fraction(1, 1000)
exp_neg = lru_cache(numbers.exp_neg)


def laplace_pmf(scale: Fraction) -> Callable[[int], Enclosure]:
    p = exp_neg(1 / scale)
    return lambda k: (1 - p) / (1 + p) * exp_neg(abs(k) / scale)


@pytest.mark.parametrize("m", [1, 2, 3, 5, 6, 7, 64])
def test_uniform(m: int) -> None:
    found, rest = enumerate_law(lambda e: reference.uniform_below(m, e), unexplored=THOUSANDTH)
    assert law_holds(found, rest, lambda k: Enclosure.exactly(Fraction(1, m)))
    assert set(found) == set(range(m))


@pytest.mark.parametrize("chance", ["0", "1", "1/2", "1/3", "3/7", "99/100"])
def test_bernoulli(chance: str) -> None:
    c = Fraction(chance)
    found, rest = enumerate_law(lambda e: reference.bernoulli(c, e), unexplored=THOUSANDTH)
    assert law_holds(found, rest, lambda hit: Enclosure.exactly(c if hit else 1 - c))


@pytest.mark.parametrize("x", ["0", "1/10", "1/2", "1", "3/2", "2"])
def test_bernoulli_exp(x: str) -> None:
    found, rest = enumerate_law(lambda e: reference.bernoulli_exp(Fraction(x), e), unexplored=THOUSANDTH)
    p = exp_neg(Fraction(x))
    assert law_holds(found, rest, lambda hit: p if hit else 1 - p)


def one_choice_coin(x: Fraction, choices: Choices) -> bool:
    p = exp_neg(x)
    return choices.choose([1 - p.hi, p.lo]) == 1


def one_choice_uniform(m: int, choices: Choices) -> int:
    return choices.choose([Fraction(1, m)] * m)


def one_choice_geometric(scale: Fraction, choices: Choices) -> int:
    """Beyond 20 scales the weights are left out: they count as unexplored."""
    return choices.choose([(exp_neg(k / scale) - exp_neg((k + 1) / scale)).lo for k in range(int(20 * scale))])


@pytest.fixture
def primitives_taken_as_proved(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reference, "bernoulli_exp", one_choice_coin)
    monkeypatch.setattr(reference, "uniform_below", one_choice_uniform)


@pytest.fixture
def geometric_taken_as_proved(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reference, "geometric", one_choice_geometric)


@pytest.mark.usefixtures("primitives_taken_as_proved")
@pytest.mark.parametrize("scale", SCALES)
def test_geometric(scale: Fraction) -> None:
    found, rest = enumerate_law(lambda e: reference.geometric(scale, e), unexplored=THOUSANDTH)
    p = exp_neg(1 / scale)
    assert law_holds(found, rest, lambda k: (1 - p) * exp_neg(k / scale))


@pytest.mark.usefixtures("geometric_taken_as_proved")
@pytest.mark.parametrize("scale", SCALES)
def test_discrete_laplace(scale: Fraction) -> None:
    found, rest = enumerate_law(lambda e: reference.discrete_laplace(scale, e), unexplored=THOUSANDTH)
    assert law_holds(found, rest, laplace_pmf(scale))


@pytest.mark.parametrize(("scale", "unexplored"), [("1/2", 6), ("1", 16), ("3/2", 2), ("3", 2)])
def test_discrete_laplace_from_bits(scale: str, unexplored: int) -> None:
    found, rest = enumerate_law(
        lambda e: reference.discrete_laplace(Fraction(scale), e), unexplored=Fraction(1, unexplored)
    )
    assert law_holds(found, rest, laplace_pmf(Fraction(scale)))


def double_zero(e: Choices) -> int:
    size = reference.geometric(Fraction(1), e)
    return -size if e.bits(1) else size


def lost_sign(e: Choices) -> int:
    return abs(reference.discrete_laplace(Fraction(1), e))


def scale_off(e: Choices) -> int:
    return reference.discrete_laplace(Fraction(21, 20), e)


def off_by_one(e: Choices) -> int:
    return reference.discrete_laplace(Fraction(1), e) + 1


@pytest.mark.usefixtures("geometric_taken_as_proved")
@pytest.mark.parametrize("broken", [double_zero, lost_sign, scale_off, off_by_one])
def test_enumeration_finds_broken_samplers(broken: Any) -> None:
    found, rest = enumerate_law(broken, unexplored=THOUSANDTH)
    assert not law_holds(found, rest, laplace_pmf(Fraction(1)))
