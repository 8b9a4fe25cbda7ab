"""Laws over every class in MECHANISMS, on small worlds whose laws are known exactly (tests/support/worlds.py).

The masses sum to one; no log-ratio passes the pure epsilon; no hockey-stick passes the loss's delta at any epsilon,
both ways; and a loss that is marked as attained is. Everything is exact or enclosed: a failure is a proof.
"""

from __future__ import annotations

import sys
from fractions import Fraction as F
from functools import cache
from pathlib import Path

import pytest

SUPPORT = str(Path(__file__).parent.parent / "support")
if SUPPORT not in sys.path:
    sys.path.insert(0, SUPPORT)

from worlds import REASONS, WORLDS, Law, World, worlds  # noqa: E402

from dpcurator import mechanisms  # noqa: E402
from dpcurator.mechanisms import DiscreteLaplace  # noqa: E402
from dpcurator.numbers import Enclosure, exp_neg  # noqa: E402
from dpcurator.privacy.families import FAMILIES  # noqa: E402
from dpcurator.privacy.loss import Loss  # noqa: E402

ALL = worlds()
EPSILONS = (F(0), F(1, 10), F(1, 2), F(9, 10), F(1), F(5, 2))
ZERO = Enclosure.exactly(0)


@cache
def laws(number: int) -> list[tuple[Law, Law]]:
    world = ALL[number]
    return [(world.law(one), world.law(other)) for one, other in world.pairs]


def both_ways(number: int) -> list[tuple[Law, Law]]:
    return [pair for one, other in laws(number) for pair in ((one, other), (other, one))]


def hockey_stick(one: Law, other: Law, eps: F, rest: Enclosure) -> Enclosure:
    """The sum of max(P - e**eps Q, 0) over the outcomes listed, and at most `rest` more."""
    factor, total = 1 / exp_neg(eps), Enclosure(F(0), rest.hi)
    for outcome in one.keys() | other.keys():
        gap = one.get(outcome, ZERO) - factor * other.get(outcome, ZERO)
        total += Enclosure(max(gap.lo, F(0)), max(gap.hi, F(0)))
    return total


def epsilon_of(loss: Loss) -> F | None:
    known = FAMILIES[loss.family].pure_epsilon
    return None if known is None else known(loss.given)


def passes(one: Law, other: Law, epsilon: F) -> list[object]:
    """The outcomes whose log-ratio is surely above epsilon."""
    factor = 1 / exp_neg(epsilon)
    return [
        outcome for outcome, mass in one.items() if mass.surely_above(factor * other.get(outcome, ZERO)) and mass.lo > 0
    ]


def exceeds(loss: Loss, one: Law, other: Law, rest: Enclosure) -> bool:
    """Is some promise surely broken by this pair?"""
    epsilon = epsilon_of(loss)
    if epsilon is not None and passes(one, other, epsilon):
        return True
    if FAMILIES[loss.family].delta is None:
        return False
    return any(hockey_stick(one, other, eps, rest).lo > loss.delta(eps).hi for eps in EPSILONS)


def test_every_class_has_a_world_or_a_reason() -> None:
    names = {one.__name__ for one in mechanisms.MECHANISMS}
    assert names <= set(WORLDS) | set(REASONS), "add a world in tests/support/worlds.py, or a reason why there is none"
    assert not set(WORLDS) & set(REASONS)
    assert all(len(reason.split()) > 5 for reason in REASONS.values())
    assert {type(world.mechanism).__name__ for world in ALL} == names - set(REASONS)


@pytest.mark.parametrize("number", range(len(ALL)), ids=lambda number: str(ALL[number]))
def test_the_masses_sum_to_one(number: int) -> None:
    for law in (law for pair in laws(number) for law in pair):
        total = sum(law.values(), ALL[number].rest)
        assert total.holds(1)
        assert total.width < F(1, 10**9)
        assert all(mass.lo >= 0 for mass in law.values())


@pytest.mark.parametrize("number", range(len(ALL)), ids=lambda number: str(ALL[number]))
def test_no_log_ratio_passes_the_pure_epsilon(number: int) -> None:
    epsilon = epsilon_of(ALL[number].loss)
    for one, other in both_ways(number):
        assert epsilon is None or passes(one, other, epsilon) == []


@pytest.mark.parametrize("number", range(len(ALL)), ids=lambda number: str(ALL[number]))
@pytest.mark.parametrize("eps", EPSILONS)
def test_no_hockey_stick_passes_delta(number: int, eps: F) -> None:
    world = ALL[number]
    if FAMILIES[world.loss.family].delta is None:
        pytest.skip("its loss has no delta")
    for one, other in both_ways(number):
        assert hockey_stick(one, other, eps, world.rest).lo <= world.loss.delta(eps).hi


ATTAINED = [number for number, world in enumerate(ALL) if world.attained]


@pytest.mark.parametrize("number", ATTAINED, ids=lambda number: str(ALL[number]))
def test_what_is_said_to_be_attained_is(number: int) -> None:
    """ "delta": one pair has it at every epsilon. "epsilon": one outcome's log-ratio is it, within 2**-40."""
    world: World = ALL[number]
    if world.attained == "delta":
        assert any(
            all(
                hockey_stick(one, other, eps, world.rest).lo <= world.loss.delta(eps).hi
                and hockey_stick(one, other, eps, world.rest).hi + F(1, 10**9) >= world.loss.delta(eps).lo
                for eps in EPSILONS
            )
            for one, other in both_ways(number)
        )
    else:
        epsilon = epsilon_of(world.loss)
        assert epsilon is not None
        nearly = epsilon - F(1, 2**40)
        assert any(passes(one, other, nearly) for one, other in both_ways(number))


@pytest.mark.parametrize("number", range(len(ALL)), ids=lambda number: str(ALL[number]))
def test_a_smaller_promise_would_be_found_out(number: int) -> None:
    """The control: where the loss is attained, the same loss with about 2 % less is broken by these very worlds."""
    world = ALL[number]
    if not world.attained:
        pytest.skip("not attained: a bound")
    less = dict(world.loss.given)
    for name, factor in (
        ("scale", F(102, 100)),
        ("variance", F(102, 100)),
        ("epsilon", F(98, 100)),
        ("truth", F(98, 100)),
        ("q", F(102, 100)),
    ):
        if name in less:
            less[name] *= factor
    smaller = Loss(world.loss.family, tuple(less.items()))
    assert any(exceeds(smaller, one, other, world.rest) for one, other in both_ways(number))


def test_a_wrong_mechanism_is_found_out() -> None:
    """Noise scaled to half the sensitivity passes its loss at the first law."""
    noise = DiscreteLaplace(F(1))
    one, other = ({k: noise.pmf(k - value) for k in range(-30, 33)} for value in (0, 2))
    assert exceeds(noise.loss(1), one, other, Enclosure(F(0), F(1, 10**9)))
    assert not exceeds(noise.loss(2), one, other, Enclosure(F(0), F(1, 10**9)))
