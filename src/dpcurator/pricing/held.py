"""What a question still costs where some of its noisy readings were paid before: only those that are missing.

Rule      A stored reading of the same name (plan/identity.py) serves a question when its noise is no wider, at 95 %,
          than the noise that the question's own price would buy; stored keys when their selection was charged no less
          of epsilon, rho and delta by the same rule. Then it is used as it is: nothing is drawn or charged for it.
Cost      Of the missing ones, at the noise that the whole price buys. Pure losses and rho add up, so it is their sum.
          Gaussian readings in a ledger of epsilon are charged the epsilon that their summed rho has at the noise's
          delta, which is never above the whole question's; and the cut's, of Laplace noise, their own beside it.
Promise   What is charged covers what is drawn: a free reading is post-processing of one that its own charge covers, and
          basic composition adds the charges. Nothing here is private: prices, names, and values that were released
          before to the same analyst.
Checked   tests/curator/test_readings.py.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, Final

from dpcurator.mechanisms import DiscreteGaussian
from dpcurator.plan.lower import lower
from dpcurator.pricing.at_price import priced_at
from dpcurator.pricing.cut import part_of_cut, without_cut
from dpcurator.pricing.priced import Priced
from dpcurator.pricing.quote import Quote, price
from dpcurator.pricing.resolve import resolve
from dpcurator.pricing.selecting import Selecting
from dpcurator.privacy import zcdp

BETA: Final = Fraction(1, 20)  # noises are compared by their bars at 95 %
_GRID: Final = 10**30  # a converted epsilon is charged as a multiple of 1/_GRID, rounded up


@dataclass(frozen=True, slots=True)
class Place:
    """Where a reading is stored: the charge that paid it, and which of its answer's readings it is.

    part: which answer of a batch, 0 for a question by itself. number: which of its receipt's readings; None for keys.
    """

    position: int
    head: str
    request: str
    part: int
    number: int | None

    def as_json(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in ("position", "head", "request", "part", "number")}


@dataclass(frozen=True, slots=True)
class HeldReading:
    """A stored noisy reading: its place, its sensitivity and noise, and its released integers, one per key."""

    place: Place
    priced: Priced
    values: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class HeldKeys:
    """Stored keys that were selected, and by which rule at which price."""

    place: Place
    selecting: Selecting
    keys: tuple[tuple[Any, ...], ...]


@dataclass(frozen=True, slots=True)
class Held:
    """What of a question is stored. whole: its quote without any of this; readings: in its order, None: missing.
    cutless: the quote with its cut, where that was asked for, and left out since it alone was missing."""

    whole: Quote
    readings: tuple[HeldReading | None, ...]
    keys: HeldKeys | None = None
    cutless: Quote | None = None

    def as_json(self) -> dict[str, Any]:
        """The places, for the ledger and the receipt."""
        places = [None if one is None else one.place.as_json() for one in self.readings]
        return {"readings": places, "keys": None if self.keys is None else self.keys.place.as_json()}

    @property
    def all(self) -> bool:
        """Whether nothing is missing."""
        return None not in self.readings and (self.whole.selecting is None or self.keys is not None)


def lacks_cut_alone(quote: Quote) -> bool:
    """Whether all of a quote was paid before but some of its cut."""
    if quote.held is None or quote.held.all:
        return False
    missing = [one for one, held in zip(quote.priced, quote.held.readings, strict=True) if held is None]
    return all(one.ask.overall for one in missing) and (quote.selecting is None or quote.held.keys is not None)


def cutless(whole: Quote) -> Quote:
    """The quote without its cut, at what that left of the price: with the same noise in all the rest."""
    cut = [one.ask for one in whole.priced if one.ask.overall]
    if whole.price is None or not cut:
        return whole
    others = [one.ask for one in whole.priced if not one.ask.overall]
    left = without_cut(whole.price, len(cut), part_of_cut(others, whole.reach, whole.price))
    return price(replace(whole.plan, cut=False), left, whole.catalog, confidence=whole.confidence)


def serves(stored: Priced, wanted: Priced) -> bool:
    """Whether a stored reading is as good as the one that a price would buy."""
    return stored.error(BETA) <= wanted.error(BETA)


def keys_serve(stored: Selecting, wanted: Selecting) -> bool:
    """Whether stored keys were selected at no less than this price, by the same rule."""
    same = type(stored.rule) is type(wanted.rule)
    return same and all(getattr(stored, name) >= getattr(wanted, name) for name in ("epsilon", "rho", "delta"))


def due(whole: Quote, readings: Sequence[HeldReading | None], keys: HeldKeys | None = None) -> Quote:
    """The quote with these readings taken from the ledger: its price and its core plan are those of what is missing."""
    if whole.price is None or (keys is None and not any(readings)):
        return whole
    wanted = sizes(whole, len(whole.lowered.keys) if keys is None else len(keys.keys))
    if any(one is not None and len(one.values) != size for one, size in zip(readings, wanted, strict=True)):
        raise ValueError("a stored reading is of other keys")
    if keys is not None and whole.with_keys is not None and readings[whole.with_keys] is None:
        raise ValueError("a count that is drawn with its keys is held with them")
    held = Held(whole, tuple(readings), keys)
    missing = [own for own, one in zip(whole.priced, readings, strict=True) if one is None]
    epsilon, rho, delta = cost(whole, missing)
    if whole.selecting is not None and keys is None:
        raise ValueError("readings of selected keys are held with their keys only")
    found = priced_at(whole.plan, resolve(whole.plan), whole.price)
    return replace(
        whole,
        priced=tuple(own if one is None else one.priced for own, one in zip(whole.priced, readings, strict=True)),
        lowered=lower(whole.plan, tuple(one.ask for one in missing), found.grids, whole.catalog),
        epsilon=epsilon, rho=rho, delta=delta, held=held,
        selecting=whole.selecting if keys is None else keys.selecting,
    )


def sizes(quote: Quote, keys: int) -> list[int]:
    """Of each of a quote's readings, how many integers it has where so many keys are answered for."""
    return [1 if one.ask.overall else keys + quote.reach.other for one in quote.priced]


def cost(whole: Quote, missing: Sequence[Priced]) -> tuple[Fraction, Fraction, Fraction]:
    """(epsilon, rho, delta) of these readings of a quote."""
    nothing, rho = Fraction(0), sum((one.rho for one in missing), Fraction(0))
    if not missing:
        return nothing, nothing, nothing
    if whole.catalog.currency == "rho":
        return nothing, rho, nothing
    pure = sum((one.epsilon for one in missing), nothing)  # of Laplace noise; 0 of the others
    gaussian = [sum(isinstance(one.mechanism, DiscreteGaussian) or one.rho > 0 for one in some)
                for some in (missing, whole.priced)]  # all that is converted from rho: a quantile may be
    if not gaussian[0]:
        return pure, nothing, nothing
    selection = whole.selecting
    epsilon = whole.epsilon - (selection.epsilon if selection else 0) - sum(one.epsilon for one in whole.priced)
    delta = whole.delta - (selection.delta if selection else 0)
    if gaussian[0] < gaussian[1]:
        converted = zcdp.epsilon_of(rho, delta)
        epsilon = min(epsilon, Fraction(-(-converted * _GRID // 1), _GRID))
    return epsilon + pure, nothing, delta
