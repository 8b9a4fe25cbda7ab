"""What a question may cost: an amount of the ledger's currency, and a delta that it may use up.

An amount is a multiple of `PRICE_UNIT`, rounded down to it (0.1 and 1/11 are such multiples, exactly): however many odd
fractions are charged, their sum keeps a short denominator, so the ledger's exact amounts cannot be made to grow.

Unless it is named, delta is the same share of the ledger's delta as the amount is of its whole, so that both last
equally long. What a question does not need of its delta is not charged. `goals` say how the amount is shared among the
question's noisy readings (pricing/noise.py): they are part of the price, so that plan and price alone decide the noise.
Checked in tests/pricing/test_prices.py.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from dpcurator.catalog.model import Catalog
from dpcurator.errors import Refusal
from dpcurator.numbers import decimal_text
from dpcurator.numbers.roots import root_below, ten_to_figures
from dpcurator.privacy import zcdp
from dpcurator.values import Currency

PRICE_UNIT = Fraction(1, 10**30 * math.lcm(*range(1, 101)))


@dataclass(frozen=True, slots=True)
class Price:
    """amount: Fraction > 0, epsilon or rho as `currency` says. delta: Fraction >= 0, at most this much of it. goals: of
    each reading the error, Fraction > 0, to which its own shall be in one proportion for all; none: equal shares."""

    currency: Currency
    amount: Fraction
    delta: Fraction
    goals: tuple[Fraction, ...] = ()

    def __post_init__(self) -> None:
        if self.currency not in ("epsilon", "rho") or self.amount <= 0 or not 0 <= self.delta < 1:
            raise ValueError("a price is above 0 in epsilon or rho, with a delta below 1")
        if any(goal <= 0 for goal in self.goals):
            raise ValueError("the errors aimed at are above 0")

    def as_json(self) -> dict[str, Any]:
        """Exact, as text."""
        goals = {"goals": [str(goal) for goal in self.goals]} if self.goals else {}
        return {"currency": self.currency, "amount": str(self.amount), "delta": str(self.delta)} | goals


def amount_of(catalog: Catalog, amount: Fraction, delta: Fraction | None = None) -> Price:
    """The price of so much of the ledger's own currency. Raises Refusal when that is nothing."""
    name = catalog.currency
    if amount <= 0:
        raise Refusal(f"{name} must be above 0, not {decimal_text(amount)}.", cure="Write it as in 0.1.")
    if delta is None:
        delta = catalog.delta * min(amount / catalog.budget, Fraction(1)) if catalog.budget else Fraction(0)
    if not 0 <= delta < 1:
        raise Refusal(f"delta must be at least 0 and below 1, not {decimal_text(delta)}.", cure="Write it as in 1e-8.")
    if delta and not catalog.delta:
        raise Refusal("this ledger has no delta to spend.", cure="Leave out delta.")
    charged = whole_units(amount)
    if charged == 0:
        raise Refusal(f"{name} {decimal_text(amount)} is too small to be charged.", cure="Write it as in 0.1.")
    return Price(name, charged, whole_units(delta))


def whole_units(amount: Fraction) -> Fraction:
    """Rounded down to a multiple of `PRICE_UNIT`."""
    return math.floor(amount / PRICE_UNIT) * PRICE_UNIT


def share_of(catalog: Catalog, share: Fraction, delta: Fraction | None = None) -> Price:
    """The price of a share of the whole budget. share: Fraction > 0. Raises Refusal above 1."""
    if share > 1:
        raise Refusal(f"spend is at most 100%, not {decimal_text(share * 100)}%.")
    return amount_of(catalog, share * catalog.budget, delta)


def epsilon_of(catalog: Catalog, epsilon: Fraction, delta: Fraction | None = None) -> Price:
    """The price that this epsilon converts to. In a rho ledger: the greatest rho whose epsilon, for this question alone
    at the ledger's delta, is at most `epsilon` (semantics 6.1). Raises Refusal."""
    if catalog.currency == "epsilon" or epsilon <= 0:
        return amount_of(catalog, epsilon, delta)
    rho = zcdp.greatest_rho(epsilon, catalog.delta)
    if rho <= 0:
        raise Refusal(
            f"epsilon {decimal_text(epsilon)} is too small to be charged in rho at delta "
            f"{decimal_text(catalog.delta)}.", cure="Ask for a larger epsilon.",
        )
    return amount_of(catalog, rho, delta)


def rho_of(catalog: Catalog, rho: Fraction, delta: Fraction | None = None) -> Price:
    """The price that this rho converts to. In an epsilon ledger: the epsilon that rho has at the question's delta;
    without a delta, the pure epsilon whose rho it is. Raises Refusal."""
    if catalog.currency == "rho" or rho <= 0:
        return amount_of(catalog, rho, delta)
    if not catalog.delta or delta == 0:
        return amount_of(catalog, pure_epsilon(rho), delta)
    if delta is not None:
        return amount_of(catalog, zcdp.epsilon_of(rho, delta), delta)
    at = Fraction(1)
    for _ in range(4):  # the share of delta rests on the epsilon, and that on the share: near enough is enough
        at = zcdp.epsilon_of(rho, catalog.delta * min(at / catalog.epsilon, Fraction(1)))
    used = whole_units(catalog.delta * min(at / catalog.epsilon, Fraction(1)))
    return amount_of(catalog, zcdp.epsilon_of(rho, used), used)


def pure_epsilon(rho: Fraction) -> Fraction:
    """The greatest eps of 15 figures with eps**2 / 2 <= rho. rho: Fraction > 0."""
    return root_below(2 * rho, ten_to_figures(rho, 15))
