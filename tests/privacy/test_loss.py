"""Loss as data: closed form, JSON there and back, refusal of what is not one."""

from __future__ import annotations

import json
from dataclasses import FrozenInstanceError
from fractions import Fraction
from typing import Any

import pytest

from dpcurator.errors import Refusal
from dpcurator.privacy.loss import Loss


@pytest.mark.parametrize(
    ("scale", "shift", "eps"),
    [(1, 1, 1), ("3/2", 1, "2/3"), ("6553.6", 65536, 10), (10, 0, 0), (Fraction(2**100), 2**99, "1/2")],
)
def test_pure_epsilon_is_shift_over_scale(scale: Any, shift: int, eps: Any) -> None:
    assert Loss.shifted("discrete_laplace", scale=scale, shift=shift).pure_epsilon() == Fraction(eps)


def test_json_there_and_back() -> None:
    loss = Loss.shifted("discrete_laplace", scale=Fraction(3, 2), shift=7)
    written = loss.as_json()
    assert written == {"family": "discrete_laplace", "parameters": {"scale": "3/2", "shift": "7"}}
    assert Loss.from_json(json.loads(json.dumps(written))) == loss
    assert hash(Loss.from_json(written)) == hash(loss)


def test_a_loss_is_frozen_and_does_not_depend_on_the_order_of_parameters() -> None:
    one = Loss("laplace", (("shift", Fraction(1)), ("scale", Fraction(2))))
    assert one == Loss("laplace", (("scale", Fraction(2)), ("shift", Fraction(1))))
    assert one["scale"] == 2
    with pytest.raises(FrozenInstanceError):
        one.family = "y"  # type: ignore[misc]


def test_parameters_are_a_dict_or_pairs() -> None:
    assert Loss("laplace", {"scale": "0.5", "shift": 1}) == Loss("laplace", (("scale", Fraction(1, 2)), ("shift", 1)))
    assert Loss("laplace", {"shift": 1, "scale": 1}).pure_epsilon() == 1


@pytest.mark.parametrize("bad", ["scale", 3, None, [1], [("scale", 1, 2)], [(1, 2)], {1: 2}])
def test_other_parameters_are_refused(bad: Any) -> None:
    with pytest.raises(Refusal, match="numbers by name"):
        Loss("laplace", bad)


def test_a_family_without_a_pure_epsilon_is_refused() -> None:
    with pytest.raises(Refusal, match="no pure epsilon"):
        Loss("discrete_gaussian", (("variance", Fraction(1)), ("shift", Fraction(1)))).pure_epsilon()


@pytest.mark.parametrize(
    ("name", "cure"),
    [
        ("gausian", 'Write "gaussian"'),
        ("laplas", 'Write "laplace"'),
        ("exponentail", 'Write "exponential"'),
        ("zzcdp", 'Write "zcdp"'),
        ("", "Known are"),
    ],
)
def test_h5_an_unknown_family_is_refused_with_the_nearest_name(name: str, cure: str) -> None:
    with pytest.raises(Refusal, match="no family of losses") as refused:
        Loss(name, {"epsilon": 1})
    assert cure in str(refused.value)
    with pytest.raises(Refusal, match="no family of losses"):
        Loss.from_json({"family": name, "parameters": {}})
    with pytest.raises(Refusal, match="name"):
        Loss(3, {})  # type: ignore[arg-type]


def test_h6_a_loss_is_written_as_the_shell_spells_it() -> None:
    assert Loss("gaussian", sigma=2) == Loss("gaussian", {"variance": 4, "shift": 1})
    assert Loss("gaussian", {"sigma": "1/2", "sensitivity": 3}) == Loss("gaussian", {"variance": "1/4", "shift": 3})
    assert Loss("gaussian", rho="1/2") == Loss("gaussian", variance=1, shift=1)
    assert Loss("exponential", epsilon=1) == Loss("bounded_range", epsilon=1)
    assert Loss("randomised_response", epsilon=1) == Loss("pure", epsilon=1)
    for family, given in (("gaussian", {"sigma": 0}), ("gaussian", {"sigma": 1, "variance": 1}), ("exponential", {})):
        with pytest.raises(Refusal):
            Loss(family, given)
    with pytest.raises(Refusal, match="own parameters"):
        Loss.from_json({"family": "gaussian", "parameters": {"sigma": "2"}})
    with pytest.raises(Refusal, match="own parameters"):
        Loss.from_json({"family": "exponential", "parameters": {"epsilon": "2"}})


@pytest.mark.parametrize(
    "data",
    [
        {},
        {"family": "x"},
        {"family": 3, "parameters": {}},
        {"family": "x", "parameters": []},
        {"family": "x", "parameters": {"scale": "nan"}},
        {"family": "x", "parameters": {"scale": True}},
        {"family": "x", "parameters": {}, "more": 1},
    ],
)
def test_other_json_is_refused(data: dict[str, object]) -> None:
    with pytest.raises(Refusal):
        Loss.from_json(data)


@pytest.mark.parametrize(("scale", "shift"), [(0, 1), (-1, 1), (float("nan"), 1), (1, -1), (1, "1/2"), (1, True)])
def test_impossible_shifts_are_refused(scale: Any, shift: Any) -> None:
    with pytest.raises(Refusal):
        Loss.shifted("discrete_laplace", scale=scale, shift=shift)


def test_f8_delta_and_epsilon_by_keyword_or_by_place():
    """F8: `loss.delta(epsilon=...)` beside `loss.epsilon(delta=...)`, and the same of a composition."""
    import dpcurator as dp

    loss = dp.Loss("gaussian", sigma=2)
    assert loss.delta(epsilon="0.5") == loss.delta("0.5")
    assert loss.delta_of("forward", epsilon=1) == loss.delta_of("forward", 1)
    assert loss.epsilon(delta="1e-6") == loss.epsilon("1e-6")
    together = dp.compose((loss, 2))
    assert together.delta("0.5") == together.delta(epsilon="0.5")
    assert together.epsilon("1e-6") == together.epsilon(delta="1e-6")
