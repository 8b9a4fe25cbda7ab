"""A privacy loss distribution of one's own (PLD): losses and their masses under P, for each of the two directions.

Definition  The loss is loss_i with chance mass_i under P, and infinite with what is left; Q has e**-loss_i mass_i, and
            what is left where P has nothing. back_loss and back_mass are the same of Q against P.
Promise     Pessimistic: each direction dominates the release in that direction. So it bounds from above and attains
            nothing: no lower bound is read from it. "allocated_pass" is one that is made for a pass of random
            allocation, of which mu_squared says what its sum attains, one Gaussian release (accounting/allocation.py).
Proof       families/finite.py. If a loss L is at most L' on one space, E (1 - e**(eps - L))+ at every real eps is at
            most that of L'; and a pair of which that is so dominates (Zhu, Dong, Wang 2022, definition 7): so losses
            may be moved up, and mass to higher or infinite losses. E e**-L' is at most E e**-L, which is at most 1, so
            Q' is there. Each direction is composed by itself.
Checked     tests/privacy/test_own.py.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from itertools import pairwise

from dpcurator.errors import Refusal
from dpcurator.numbers import positive, rational
from dpcurator.numbers.arb import Ball, ball, precision
from dpcurator.numbers.rational import from_0_to_1
from dpcurator.privacy.families.family import Check, Given, Named, Pair, Tails
from dpcurator.privacy.families.finite import Finite, family, few_enough, numbered, on_lattice, series
from dpcurator.privacy.narrow import surely_at_most

_LARGEST = 10**5  # of a loss, either way
WAYS = ("", "back_")
_ATTAINED = "mu_squared"


def other_mass(losses: list[Fraction], masses: list[Fraction]) -> Ball:
    """That Q has where P has something, at the working precision."""
    return sum((ball(mass) * (-ball(loss)).exp() for loss, mass in zip(losses, masses, strict=True)), ball(0))


def _together(given: Given) -> None:
    for way in WAYS:
        losses, masses = series(given, f"{way}loss"), series(given, f"{way}mass")
        if len(losses) != len(masses):
            raise Refusal(f"There are {len(losses)} losses, {len(masses)} masses.", cure="Give a mass for each loss.")
        few_enough(len(losses))
        if any(one >= other for one, other in pairwise(losses)):
            raise Refusal("The losses do not rise.", cure="Give the least loss first, and each once.")
        if max(abs(losses[0]), abs(losses[-1])) > _LARGEST:
            raise Refusal(f"A loss is beyond {_LARGEST:,}.", cure="Count it as infinite: leave its mass out.")
        if math.lcm(*(mass.denominator for mass in masses)).bit_length() > 10**4:
            raise Refusal("The masses have no common denominator of 10,000 bits.", cure="Round them down.")
        if sum(masses) > 1:
            raise Refusal(f"The masses add up to {float(sum(masses)):.12g}, more than 1.", cure="Give probabilities.")
        if any(losses) and not surely_at_most(_at(losses, masses), Fraction(1), 128):
            with precision(64):
                found = float(other_mass(losses, masses).mid())
            raise Refusal(
                f"These are no losses of a pair: Q, of masses times e**-loss, would add up to {found:.12g}, above 1.",
                cure="Make it by dp.loss_distribution, which takes care of what is rounded.",
            )


def _at(losses: list[Fraction], masses: list[Fraction]) -> Callable[[int], Ball]:
    def value(bits: int) -> Ball:
        with precision(bits):
            return other_mass(losses, masses)

    return value


def _make(given: Given) -> Finite:
    found = [(loss, mass) for loss, mass in zip(series(given, "loss"), series(given, "mass"), strict=True) if mass]
    found.reverse()

    def rows() -> list[Tails]:
        return [(ball(mass), ball(mass) * (-ball(loss)).exp()) for loss, mass in found]

    losses = [loss for loss, _ in found]
    return Finite(losses, lambda i, x: losses[i] > x, rows, 1 - sum((mass for _, mass in found), Fraction(0)))


def _simplest(given: Given) -> Named | None:
    kept: dict[str, Fraction] = {}
    for way in WAYS:
        found = [(loss, mass) for loss, mass in
                 zip(series(given, f"{way}loss"), series(given, f"{way}mass"), strict=True) if mass]  # fmt: skip
        found = found or [(Fraction(0), Fraction(0))]
        kept |= numbered(f"{way}loss", [loss for loss, _ in found])
        kept |= numbered(f"{way}mass", [mass for _, mass in found])
    nothing = all(kept[f"{way}loss0"] == 0 and kept[f"{way}mass0"] == 1 for way in WAYS)
    return None if nothing else ("loss_distribution", kept)


def _reverse(given: Given) -> Named:
    turned = {name.removeprefix("back_") if name.startswith("back_") else f"back_{name}": value
              for name, value in given.items() if name != _ATTAINED}  # fmt: skip
    return "loss_distribution", turned


def _reverse_pass(given: Given) -> Named:
    return "allocated_pass", {**_reverse(given)[1], _ATTAINED: given[_ATTAINED]}


def _loss(value: object, *, name: str) -> object:
    return rational(value, name=name)


_RANGES: dict[str, Check] = {"loss*": _loss, "mass*": from_0_to_1, "back_loss*": _loss, "back_mass*": from_0_to_1}
FAMILY = family(
    ranges=_RANGES,
    together=_together,
    make=_make,
    pair=lambda given: Pair("P", "Q", f"whose loss has the {len(series(given, 'loss'))} masses that are given"),
    reverse=_reverse,
    simplest=_simplest,
    attained=lambda given: ("pure", {"epsilon": Fraction(0)}),
    lattice=on_lattice,
)
ALLOCATED = family(
    ranges=_RANGES | {_ATTAINED: positive},
    together=_together,
    make=_make,
    pair=lambda given: Pair("P", "Q", f"whose loss has the {len(series(given, 'loss'))} masses of a pass"),
    reverse=_reverse_pass,
    simplest=lambda given: ("allocated_pass", dict(given)),
    attained=lambda given: ("gaussian", {"shift": Fraction(1), "variance": 1 / given[_ATTAINED]}),
    lattice=on_lattice,
)
