"""What is known of one family of losses: a table of formulas, each exact or enclosed. Absent ones are not known.

A formula takes the parameters by name, as exact rationals that `ranges` has checked. The waist (privacy/loss.py) reads
the table; a new family is a file with one such table and a line in `families/__init__.py`. Checked in
tests/privacy/test_families.py.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction

from dpcurator.errors import Refusal
from dpcurator.numbers import Enclosure, decimal_text, rational
from dpcurator.privacy.distribution import Distribution

Given = Mapping[str, Fraction]
Named = tuple[str, Given]  # a family and its parameters


@dataclass(frozen=True, slots=True)
class Pair:
    """The worst pair of laws. `first` and `second` name P and Q; `str` is the sentence."""

    first: str
    second: str
    where: str

    def __str__(self) -> str:
        return f"{self.first} against {self.second}, {self.where}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Family:
    """ranges: each parameter's check, which raises Refusal; together: that of all of them. pair: the worst pair.

    delta: of P against Q. backward: of Q against P, where it is another. reach: the epsilon from which delta falls no
    more (the largest finite loss); None where it always does. kl: the largest mean loss of what the family stands for.
    law: of P against Q, with at most so many atoms listed. reverse: the family of the same parameters in which P and Q
    are exchanged, where it is another. group: the family and parameters for a group of so many.
    """

    ranges: Mapping[str, Callable[[Fraction, str], None]]
    pair: Callable[[Given], Pair]
    group: Callable[[Given, int], Named]
    pure_epsilon: Callable[[Given], Fraction] | None = None
    rho: Callable[[Given], Fraction] | None = None
    renyi: Callable[[Given, Fraction], Enclosure] | None = None
    delta: Callable[[Given, Fraction], Enclosure] | None = None
    backward: Callable[[Given, Fraction], Enclosure] | None = None
    reach: Callable[[Given], Fraction] | None = None
    kl: Callable[[Given], Enclosure] | None = None
    law: Callable[[Given, int], Distribution] | None = None
    together: Callable[[Given], object] | None = None
    reverse: str | None = None

    def check(self, name: str, given: Given) -> None:
        """Raises Refusal for missing, unknown or impossible parameters."""
        if set(given) != set(self.ranges):
            raise Refusal(f"{name} has the parameters {', '.join(self.ranges)}, and no other.")
        for parameter, value in given.items():
            self.ranges[parameter](value, parameter)
        if self.together is not None:
            self.together(given)


def above_0(value: Fraction, name: str) -> None:
    if value <= 0:
        raise Refusal(f"{name} must be above 0, not {decimal_text(value)}.", cure=f"Write {name} as in 0.1.")


def at_least_0(value: Fraction, name: str) -> None:
    if value < 0:
        raise Refusal(f"{name} must be at least 0, not {decimal_text(value)}.", cure=f"Write {name} as in 0.1.")


def whole_number(value: Fraction, name: str) -> None:
    if value < 0 or value.denominator != 1:
        raise Refusal(f"{name} must be a whole number of at least 0, not {decimal_text(value)}.")


def below_1(value: Fraction, name: str) -> None:
    if not 0 <= value < 1:
        raise Refusal(f"{name} must be at least 0 and below 1, not {decimal_text(value)}.")


def chance(value: Fraction, name: str) -> None:
    if not 0 < value < 1:
        raise Refusal(f"{name} is a chance above 0 and below 1, not {decimal_text(value)}.")


def order(alpha: object) -> Fraction:
    """A Renyi order: a rational above 1."""
    exact = rational(alpha, name="alpha")
    if exact <= 1:
        raise Refusal("alpha, the order, must be above 1.", cure="Order 1 is kl().")
    return exact
