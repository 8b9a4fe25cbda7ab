"""The cut: how many units contribution bounding and clamps change, as noisy counts beside the answer (semantics 2.9).

Readings  `cut` counts the units that are over a cap or have a value out of bounds, each once; `everyone` the units at
          all. Of COUNT(DISTINCT unit) alone only the number of a unit's groups matters: `cut_groups`. No reading where
          nothing can bind: each row a unit and no clamp that can, or no unit in more groups than count.
Promise   Whether a unit counts follows from its own rows, the caps and the bounds, so each reading moves by at most 1
          when a unit is added, taken away or replaced, whatever the keys (`plan/stability.py`).
Price     Each has 1/k of the price, k a whole number that plan and currency alone decide, so that its bar is about that
          of the widest count. With n other parts of the price and a count that moves by r rows in all, Laplace noise
          asks for k = n r + 2; in rho the same with squares; and two parts together are at most a tenth: k >= 20.
Checked   tests/pricing/test_cut.py, tests/curator/test_cut.py, tests/laws/test_heart.py.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, Final

from dpcurator.errors import Refusal
from dpcurator.numbers import decimal_text
from dpcurator.numbers.display import error_text
from dpcurator.plan.canonical import canonical_text
from dpcurator.plan.check_catalog import may_bind
from dpcurator.plan.nodes import SUMMED, Ask, Plan
from dpcurator.plan.relations import one_row
from dpcurator.plan.stability import Reach, weights
from dpcurator.pricing.prices import Price, whole_units
from dpcurator.values import Currency

LEAST: Final = 20  # so that the two are at most a tenth of the price


def caps_bind(plan: Plan, reach: Reach, *, rows: bool) -> bool:
    """Whether a unit can be weighted down. rows: whether its rows count, not just its groups."""
    if one_row(plan.source.source.source):
        return False
    if rows:
        return True
    caps, grouped = plan.source, plan.source.source
    most = caps.max_groups if caps.max_total is None else min(caps.max_groups, caps.max_total)
    spread = grouped.spread  # groups that a unit can be in
    if spread is not None and most >= spread:
        return False
    return reach.chosen or (bool(grouped.columns) and most < (reach.keys or 0))


def cut_asks(plan: Plan, reach: Reach, asks: Sequence[Ask]) -> tuple[Ask, ...]:
    """The cut's readings, of a plan that rests on these others; none where nothing can bind."""
    summed = (ask.column for ask in asks if ask.what in SUMMED and ask.column is not None)
    measured = dict.fromkeys(one for column in summed for one in column.each)
    clamped = tuple(sorted((column for column in measured if may_bind(column)), key=canonical_text))
    rows = any(ask.what != "units" for ask in asks)
    if not asks or not (clamped or caps_bind(plan, reach, rows=rows)):
        return ()
    everyone = () if reach.public_count() is not None else (Ask("everyone"),)
    return (Ask("cut" if rows else "cut_groups", None, clamped), *everyone)


def part_of_cut(asks: Sequence[Ask], reach: Reach, price: Price) -> int:
    """k: each of the cut's readings has 1/k of the price. asks: those beside it."""
    widest = Fraction(0)
    for ask in asks:
        rows, lam = (1 if ask.what == "units" else reach.rows or 1), weights(ask, reach)
        squared = lam * rows * rows
        if price.currency == "rho":
            found = squared
        elif price.delta:  # Gaussian noise, where that is less: about three times as wide as Laplace's at its l2
            found = min(lam * rows, Fraction(math.isqrt(math.ceil(9 * squared))))
        else:
            found = lam * rows
        widest = max(widest, found)
    parts = len(asks) + reach.chosen
    return max(LEAST, parts * math.ceil(widest) + 2)


def share_of_cut(price: Price, part: int) -> Fraction:
    """What each of the cut's readings has of a price: 1/k of it, in whole units of price, so that what is charged keeps
    a short denominator whatever the caps are. Raises Refusal where that is nothing."""
    share = whole_units(price.amount / part)
    if not share:
        raise Refusal(
            f"{price.currency} {decimal_text(price.amount)} is too small to be shared with how many units are cut.",
            cure="Ask for a larger price, or with cut=False (--no-cut).",
        )
    return share


def without_cut(price: Price, cut: int, part: int) -> Price:
    """What is left of a price for everything else. cut: how many readings the cut has."""
    return replace(price, amount=price.amount - cut * share_of_cut(price, part))


def reason(ask: Ask, plan: Plan) -> str:
    """What makes a unit count."""
    told = [] if one_row(plan.source.source.source) else ["are over a cap"]
    return " or ".join([*told, *(["have a value outside its bounds"] if ask.clamped else [])])


@dataclass(frozen=True, slots=True)
class Told:
    """What a quote says of its cut. errors: of the number of units that are cut and, where it is not public, of all.
    paid: what they cost together, of the ledger's currency."""

    errors: tuple[Fraction, ...]
    paid: Fraction
    protects: str
    reason: str
    currency: Currency

    def __str__(self) -> str:
        of = f", of all {self.protects} ±{error_text(self.errors[1])}" if len(self.errors) > 1 else ""
        price = f"{self.currency} {decimal_text(self.paid)}" if self.paid else "nothing, as it was paid before"
        return f"{self.protects} that {self.reason}: ±{error_text(self.errors[0])}{of}, for {price}"

    def as_json(self) -> dict[str, Any]:
        names = ("over_error", "units_error")
        errors = {name: decimal_text(error) for name, error in zip(names, self.errors, strict=False)}
        return {"words": str(self), self.currency: decimal_text(self.paid)} | errors
