"""What is known of one family of losses: a record of local facts, each exact, enclosed, or marked as a double.

Promise     privacy/loss.py and the accountants read these records and ask no family for its name; so a new family is a
            file with one record, and a line in `families/__init__.py`. Every fact is a field without a default: a
            family gives it, or says None, and then INSTEAD tells what is done. Facts in doubles choose grids, tilts and
            estimates; they promise nothing.
A formula takes the parameters by name, as exact rationals that `ranges` has checked.
Checked     tests/privacy/test_families.py, tests/privacy/test_family_facts.py.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Protocol

from dpcurator.errors import Refusal
from dpcurator.numbers import Enclosure, positive, rational
from dpcurator.numbers.arb import Ball
from dpcurator.numbers.readable import readable
from dpcurator.privacy.distribution import Distribution

Given = Mapping[str, Fraction]
Named = tuple[str, Given]  # a family and its parameters
Tails = tuple[Ball, Ball]  # P(L > x) and Q(L > x)
Points = Callable[[float, int], Any]  # at ln of a tail: so many rising losses between which all but that lies
FloatTails = Callable[[Any], tuple[Any, Any]]  # the same for a float64 array x
Spellings = Mapping[str, Mapping[tuple[str, ...], Callable[[Given], Given]]]

INSTEAD: Mapping[str, str] = {
    "pure_epsilon": "no finite epsilon has delta 0: another measure is asked for",
    "rho": "that of its pure epsilon, or none",
    "renyi": "its order times rho, or none",
    "delta": "deltas by its rho",
    "backward": "as forward: the pair is symmetric",
    "reach": "losses have no largest one: delta always falls",
    "kl": "no mean: advanced composition does not apply",
    "law": "no loss distribution: closed forms alone",
    "together": "each parameter is checked by itself",
    "reverse": "the pair is its own reverse",
    "sample": "it is a mechanism on all rows",
    "neighbours": "it is the same for all neighbours",
    "simplest": "the parameters are as few as they can be",
    "attained": "the pair itself is attained",
    "apart": "no loss is infinite",
    "mu_squared": "it is no Gaussian pair: compositions count it by its other measures",
    "interval": "log-ratios lie within twice the pure epsilon",
    "tradeoff": "by bisection of the law, or by deltas",
    "lattice": "no loss distribution: closed forms alone",
    "float_tails": "no loss distribution: closed forms alone",
    "tails_on_grid": "the law's own tails, one point after the other",
    "moments": "the transform on a grid, for estimates",
    "points": "equally spaced losses, or those of the mechanism on all rows",
}


@dataclass(frozen=True, slots=True)
class Pair:
    """The worst pair of laws. `first` and `second` name P and Q; `str` is the sentence."""

    first: str
    second: str
    where: str

    __repr__ = readable

    def __str__(self) -> str:
        return f"{self.first} against {self.second}, {self.where}"


@dataclass(frozen=True, slots=True)
class Lattice:
    """Where the losses lie: what a grid is anchored at, and how far apart its atoms are. It chooses grids alone.

    anchor: the largest finite loss (rounded up by under 2**-120 where it is irrational), or else a point of the
    lattice, if there is one. gap: the distance of neighbouring atoms; None for a law with a continuous part. wide: that
    of its heavy atoms, at the two ends; None where there are none. lowest: the least loss, where it is not minus the
    anchor. bell: mu**2 of the Gaussian whose tails these are like, where no loss is the largest.
    """

    anchor: Fraction | None
    gap: Fraction | None
    wide: Fraction | None
    lowest: Fraction | None = None
    bell: Fraction | None = None


@dataclass(frozen=True, slots=True)
class Moments:
    """ln E e**(z L) of many losses of a family at once, in doubles, without what is infinite.

    log: of z, a complex array, one row for each loss, the largest loss taken out so that nothing overflows. falls: at
    (c, t, end) a number for each, at least ln |K(c+iu)/K(c)| for all u in [t, end], end being infinite or half a period
    of a lattice that holds all. reach: the largest loss, 0 if none is.
    """

    log: Callable[[Any], Any]
    falls: Callable[[float, float, float], Any]
    reach: Any


@dataclass(frozen=True, slots=True)
class MomentFunction:
    """numbers: of one loss, in doubles; None where the function does not hold. of: the moments of columns of these."""

    numbers: Callable[[Given], tuple[float, ...] | None]
    of: Callable[..., Moments]


@dataclass(frozen=True, slots=True)
class Sample:
    """How rows are sampled ("poisson" or "fixed_size"), the family on all rows, and whether P and Q are exchanged."""

    way: str
    base: str
    backward: bool = False


@dataclass(frozen=True, slots=True)
class Slow:
    """A formula of divergences by integrals, or sums over many atoms: where there is another bound, none is searched by
    it unless it is asked for."""

    formula: Callable[[Given, Fraction], Enclosure]

    def __call__(self, given: Given, alpha: Fraction) -> Enclosure:
        return self.formula(given, alpha)


class Check(Protocol):
    """Raises Refusal for a number that the parameter of this name cannot be: `positive` and its like in numbers."""

    def __call__(self, value: object, *, name: str) -> object: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Family:
    """ranges: each parameter's check, which raises Refusal; "p*" is that of p0, p1 and so on, one or more, and "p*?" of
    none or more. together: that of all of them. pair: the worst pair.
    group: the family and parameters for a group of so many. spellings: names and parameters that people write, a "?"
    after those that may be left out, and the parameters here.

    delta: of P against Q. backward: of Q against P, where it is another. reach: the epsilon from which delta falls no
    more (the largest finite loss). renyi: the greater of both ways; it may raise Refusal, as may pure_epsilon. kl: the
    largest mean loss of what the family stands for; it may raise Refusal. law: of P against Q, with at most so many
    atoms listed. reverse: the family of the same parameters in which P and Q are exchanged. sample: what it is a sample
    of. neighbours: those it is for, if for one kind alone.

    simplest: the parameters (and family) reduced to those that matter; None for a loss of nothing. attained: a pair
    that releases of this family have. apart: the chance of an infinite loss, and what covers all else. mu_squared: of
    the one Gaussian pair that it is. interval: the length of one within which all log-ratios lie, where it is less than
    twice the pure epsilon. tradeoff: the least second error at a first one, in closed form. lattice, float_tails and
    moments: in the records above. points: where the losses lie, to choose grids by. tails_on_grid: P(L > x) and Q(L >
    x) at start + i step for i < n, in balls; it may return None.
    """

    ranges: Mapping[str, Check]
    pair: Callable[[Given], Pair]
    group: Callable[[Given, int], Named]
    spellings: Spellings
    pure_epsilon: Callable[[Given], Fraction] | None
    rho: Callable[[Given], Fraction] | None
    renyi: Callable[[Given, Fraction], Enclosure] | None
    delta: Callable[[Given, Fraction], Enclosure] | None
    backward: Callable[[Given, Fraction], Enclosure] | None
    reach: Callable[[Given], Fraction] | None
    kl: Callable[[Given], Enclosure] | None
    law: Callable[[Given, int], Distribution] | None
    together: Callable[[Given], object] | None
    reverse: Callable[[Given], Named] | None
    sample: Sample | None
    neighbours: str | None
    simplest: Callable[[Given], Named | None] | None
    attained: Callable[[Given], Named] | None
    apart: Callable[[Given], tuple[Fraction, Named]] | None
    mu_squared: Callable[[Given], Fraction] | None
    interval: Callable[[Given], Fraction] | None
    tradeoff: Callable[[Given, Fraction], Enclosure] | None
    lattice: Callable[[Given], Lattice] | None
    float_tails: Callable[[Given], FloatTails] | None
    tails_on_grid: Callable[[Given, Fraction, Fraction, int], list[Tails] | None] | None
    moments: MomentFunction | None
    points: Callable[[Given], Points] | None

    def takes(self, names: Collection[str]) -> bool:
        """Are these the names of its parameters?"""
        left = set(names)
        for one in self.ranges:
            if "*" not in one:
                if one not in left:
                    return False
                left.remove(one)
                continue
            stem, count = one.rstrip("?").removesuffix("*"), 0
            while f"{stem}{count}" in left:
                left.remove(f"{stem}{count}")
                count += 1
            if not count and not one.endswith("?"):
                return False
        return not left

    def check(self, name: str, given: Given) -> None:
        """Raises Refusal for missing, unknown or impossible parameters."""
        if not self.takes(given):
            raise Refusal(f"{name} has the parameters {', '.join(self.ranges)}, and no other.")
        series = {one.rstrip("?").removesuffix("*"): check for one, check in self.ranges.items() if "*" in one}
        for parameter, value in given.items():
            check = self.ranges.get(parameter) or series[parameter.rstrip("0123456789")]
            check(value, name=parameter)
        if self.together is not None:
            self.together(given)


def as_given(*names: str) -> Mapping[tuple[str, ...], Callable[[Given], Given]]:
    """A spelling with the family's own parameters."""
    return {names: lambda given: given}


def noise(size: str, power: int, parameter: str) -> Callable[[Given], Given]:
    """From a size of noise, to this power the family's own parameter, and a sensitivity that is 1 unless given."""

    def build(given: Given) -> Given:
        positive(given[size], name=size)
        return {parameter: given[size] ** power, "shift": given.get("sensitivity", Fraction(1))}

    return build


def order(alpha: object) -> Fraction:
    """A Renyi order: a rational above 1."""
    exact = rational(alpha, name="alpha")
    if exact <= 1:
        raise Refusal("alpha, the order, must be above 1.", cure="Order 1 is kl().")
    return exact
