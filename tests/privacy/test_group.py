"""Groups: the two bounds by hand, the geometric sum, and the exact one where a loss has a shift."""

from __future__ import annotations

import math
from fractions import Fraction as F
from typing import Any

import pytest
from losses import VECTOR, WITH_A_LAW, loss, meet

from dpcurator.errors import Refusal
from dpcurator.numbers import Enclosure
from dpcurator.privacy.group import group_privacy, group_rho
from dpcurator.privacy.loss import Loss


def test_both_bounds_by_hand() -> None:
    """eps = 1, delta = 1e-9, k = 10: 1.2818e-5 against the textbook's 8.1031e-5."""
    found = group_privacy(epsilon=1, delta="1e-9", size=10)
    assert found.epsilon == 10
    assert math.isclose(float(found.delta), 1e-9 * math.expm1(10) / math.expm1(1), rel_tol=1e-14)
    assert math.isclose(float(found.textbook.hi), 1e-8 * math.exp(9), rel_tol=1e-14)
    assert (round(float(found.delta), 9), round(float(found.textbook.hi), 9)) == (1.2818e-5, 8.1031e-5)
    assert str(found) == "A group of 10 has epsilon 10 and delta 0.000013 (the textbook's bound: 0.000082)."


@pytest.mark.parametrize("epsilon", ["0", "1/100", "1", "3"])
@pytest.mark.parametrize("size", [1, 2, 3, 7])
def test_it_is_the_geometric_sum_and_at_most_the_textbooks(epsilon: str, size: int) -> None:
    delta = F(1, 10**12)
    found = group_privacy(epsilon=epsilon, delta=delta, size=size)
    direct = sum(math.exp(i * F(epsilon)) for i in range(size)) * 1e-12
    assert math.isclose(float(found.tighter.lo), direct, rel_tol=1e-12)
    assert found.tighter.lo <= found.textbook.hi
    assert found.epsilon == size * F(epsilon)


def test_ends() -> None:
    assert group_privacy(epsilon="0.1", size=3).tighter == Enclosure.exactly(0)
    assert str(group_privacy(epsilon="0.1", size=3)) == "A group of 3 has epsilon 0.3."
    assert group_privacy(epsilon=0, delta="0.4", size=3).delta == 1
    huge = group_privacy(epsilon=10**9, delta="1e-300", size=10**9)
    assert (huge.delta, huge.textbook.lo) == (1, 1)
    assert str(huge).endswith("A delta of 1 promises nothing.")
    assert group_privacy(epsilon=1, delta=1, size=1).delta == 1
    assert group_rho(rho="1/200", size=10) == F(1, 2)


@pytest.mark.parametrize(
    "bad",
    [
        {"epsilon": -1, "size": 2},
        {"epsilon": float("nan"), "size": 2},
        {"epsilon": 1, "delta": 2, "size": 2},
        {"epsilon": 1, "size": 0},
        {"epsilon": 1, "size": "1/2"},
        {"epsilon": True, "size": 2},
    ],
)
def test_impossible_groups_are_refused(bad: dict[str, Any]) -> None:
    with pytest.raises(Refusal):
        group_privacy(**bad)
    with pytest.raises(Refusal):
        group_rho(rho=-1, size=2)


@pytest.mark.parametrize("one", [*WITH_A_LAW, VECTOR], ids=str)
def test_the_loss_of_a_group_keeps_its_family_and_is_that_of_one_for_one(one: Loss) -> None:
    assert one.for_group(1) == one
    three = one.for_group(3)
    assert Loss.from_json(three.as_json()) == three
    if "shift" in one.given:
        assert three == Loss(one.family, tuple({**one.given, "shift": 3 * one["shift"]}.items()))
    with pytest.raises(Refusal):
        one.for_group(0)


def test_the_exact_loss_of_a_group_is_within_the_general_bound() -> None:
    for one in (loss("gaussian", variance=4, shift=1), loss("discrete_gaussian", variance=9, shift=2)):
        eps = F(1, 2)
        general = group_privacy(epsilon=eps, delta=one.delta(eps).hi, size=3)
        assert one.for_group(3).delta(3 * eps).hi < general.delta
        assert one.for_group(3).rho() == group_rho(rho=one.rho(), size=3)
    pure = loss("discrete_laplace", scale=10, shift=1)
    assert pure.for_group(4).pure_epsilon() == group_privacy(epsilon=pure.pure_epsilon(), size=4).epsilon
    assert VECTOR.for_group(3).rho() == 9 * VECTOR.rho()


def test_a_group_of_answers_by_chance_is_pure_of_their_sum() -> None:
    """Two answers of a fair-coin scheme: the pair's own delta is below that of the pure loss charged."""
    one = loss("randomised_response", truth="3/4", lie="1/4")
    two = one.for_group(2)
    assert two.family == "pure"
    assert two["epsilon"] == 2 * one.pure_epsilon()
    direct = 9 / 16 - math.exp(0.5) / 16  # 9/16 (ratio 9) is the one outcome above e**0.5
    assert direct <= float(two.delta(F(1, 2)).hi)


def test_approximate_grows_by_the_tighter_bound() -> None:
    three = loss("approximate", epsilon="1/2", delta="1e-6").for_group(3)
    assert three["epsilon"] == F(3, 2)
    general = group_privacy(epsilon="1/2", delta="1e-6", size=3)
    assert three["delta"] == general.delta
    assert meet(three.delta(F(2)), general.tighter)


def test_a_group_too_large_for_a_delta_below_1_is_refused() -> None:
    """With epsilon 0 and delta 1/10 ten steps can lead from one law to a disjoint one: no delta below 1 is true."""
    one = loss("approximate", epsilon=0, delta="1/10")
    assert one.for_group(9)["delta"] == F(9, 10)
    for size in (10, 11, 10**6):
        with pytest.raises(Refusal, match="delta is 1"):
            one.for_group(size)
