"""Prices to choose from, and the price of a wanted accuracy. Pure and free: parameters and public facts only.

A menu row spends a share of the whole budget. `price_for` finds the least epsilon, to three figures rounded up, whose
error bars meet every target; what an average's bar would be needs a number of rows, which only the analyst may assume
(semantics 7.1). Checked in tests/pricing/test_menu.py.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Final

from dpcurator.catalog.model import Catalog
from dpcurator.errors import Refusal
from dpcurator.language.names import nearest
from dpcurator.numbers import decimal_text
from dpcurator.numbers.readable import readable
from dpcurator.plan.nodes import Plan
from dpcurator.pricing.bars import Bar, bars, describe
from dpcurator.pricing.prices import Price, amount_of, share_of
from dpcurator.pricing.quote import CONFIDENCE, Quote, for_bars, price
from dpcurator.values import Currency

SHARES: Final = (1, 2, 5, 10, 20, 50, 100)  # percent of the whole budget
ROWS: Final = 10_000  # the group size averages are quoted for, unless the catalog or the analyst names one
_HIGHEST: Final = 30  # an amount of 10**30 or more is no price


@dataclass(frozen=True, slots=True)
class MenuRow:
    """One row of a menu."""

    percent: int
    amount: Fraction  # of the ledger's currency
    delta: Fraction
    left: Fraction
    bars: tuple[Bar, ...]

    __repr__ = readable


@dataclass(frozen=True, slots=True)
class Menu:
    """A menu: what spending 1 %, 2 %, 5 % ... of the whole budget would buy in accuracy. Free to look at.

    Make one with `curator.menu`. `offers`: a row for each share that the remaining budget allows, with its error bars.
    Raises Refusal if the question cannot be answered.

    >>> import dpcurator as dp
    >>> catalog = {
    ...     "curator": {"protects": "patients"}, "ledger": {"epsilon": 4},
    ...     "tables": {"visits": {"unit": "who", "max_total": 5, "columns": {
    ...         "who": "text", "city": {"type": "text", "keys": ["Leeds", "York"]},
    ...         "age": {"type": "integer", "bounds": [0, 110]}}}},
    ... }
    >>> menu = dp.rehearsing(catalog).menu("SELECT COUNT(*) AS n FROM visits")
    >>> [offer.percent for offer in menu.offers]
    [1, 2, 5, 10, 20, 50, 100]
    """

    offers: tuple[MenuRow, ...]
    total: Fraction
    remaining: Fraction
    confidence: Fraction
    currency: Currency = "epsilon"

    def as_json(self) -> dict[str, Any]:
        return {
            "currency": self.currency,
            "budget": decimal_text(self.total),
            "left": decimal_text(self.remaining),
            "confidence": decimal_text(self.confidence),
            "menu": [
                {
                    "spend": f"{offer.percent}%",
                    self.currency: decimal_text(offer.amount),
                    "delta": decimal_text(offer.delta),
                    "left_after": decimal_text(offer.left),
                    "error_bars": [bar.as_json() for bar in offer.bars],
                }
                for offer in self.offers
            ],
        }

    def __str__(self) -> str:
        """The offers, and how Python chooses one."""
        amount = decimal_text(self.offers[0].amount) if self.offers else ""
        return self.told(f'choose one with spend="5%", or {self.currency}={amount}')

    __repr__ = __str__

    def told(self, how: str) -> str:
        """The offers as a table. how: to choose one, as the reader's own language says it."""
        from dpcurator.numbers.text_table import table_text

        if not self.offers:
            return f"nothing can be bought: {decimal_text(self.remaining)} of {decimal_text(self.total)} is left"
        heads = ["spend", self.currency, *(bar.title for bar in self.offers[0].bars), "left after"]
        lines = [
            [f"{o.percent} %", decimal_text(o.amount), *map(describe, o.bars), f"{decimal_text(o.left)}"]
            for o in self.offers
        ]
        percent = decimal_text(self.confidence * 100)
        note = f"error bars hold with {percent} % confidence for each value; {how}"
        return f"{table_text(heads, lines)}\n{note}"

    def _repr_html_(self) -> str:
        from dpcurator.numbers.text_table import pre_html

        return pre_html(str(self))


def menu(
    plan: Plan,
    catalog: Catalog,
    remaining: Fraction,
    *,
    rows: int = ROWS,
    confidence: Fraction = CONFIDENCE,
    remaining_delta: Fraction | None = None,
) -> Menu:
    """The offers that the remaining budget still allows. remaining_delta: Fraction; None for all of the ledger's."""
    offers: list[MenuRow] = []
    first = price(plan, catalog.budget, catalog, confidence=confidence)
    delta_left = catalog.delta if remaining_delta is None else remaining_delta
    for percent in SHARES:
        quote = for_bars(first, share_of(catalog, Fraction(percent, 100)))
        if quote.cost <= remaining and quote.delta <= delta_left:
            amount = catalog.budget * percent / 100
            offers.append(MenuRow(percent, amount, quote.delta, remaining - quote.cost, bars(quote, rows)))
    return Menu(tuple(offers), catalog.budget, remaining, confidence, catalog.currency)


def price_for(
    plan: Plan,
    catalog: Catalog,
    targets: Mapping[str, Fraction],
    *,
    rows: int | None = None,
    confidence: Fraction = CONFIDENCE,
    delta: Fraction | None = None,
) -> Quote:
    """The cheapest quote, to three figures of its amount, whose error bars are within every target. Raises Refusal.

    targets: the column's title, and the error wanted, in its unit (Fraction > 0). rows: 'if a group has at least'.
    """

    def at(amount: Fraction) -> Price:
        return amount_of(catalog, amount, delta)

    first = price(plan, at(catalog.budget), catalog, confidence=confidence)
    if not first.priced:
        return first
    wanted = _titles(first, targets)

    def met(amount: Fraction) -> bool:
        found = {bar.title: bar for bar in bars(for_bars(first, at(amount)), rows or ROWS)}
        return all((found[title].error or Fraction(0)) <= error for title, error in wanted.items())

    _answerable(bars(first, rows or ROWS), wanted, rows)
    power = next((p for p in range(-12, _HIGHEST) if met(Fraction(10) ** p)), None)
    if power is None:
        raise Refusal(
            "no price reaches that error: answers are shown as whole numbers.", cure="Ask for a wider error, above 0.5."
        )
    low, high = 99, 1000  # the amount is n * 10**(power - 3): not met at low (or beyond it), met at high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if met(middle * Fraction(10) ** (power - 3)) else (middle, high)
    return price(plan, at(high * Fraction(10) ** (power - 3)), catalog, confidence=confidence)


def _titles(quote: Quote, targets: Mapping[str, Fraction]) -> dict[str, Fraction]:
    titles = [bar.title for bar in bars(quote)]
    wanted: dict[str, Fraction] = {}
    for title, error in targets.items():
        fits = [other for other in titles if other.lower() == title.lower()]
        if len(fits) != 1:
            raise Refusal(f"--within: there is no single column {title!r}.", cure=nearest(title, titles, "column"))
        if error <= 0:
            raise Refusal(f"--within: the error of {title!r} must be above 0.", cure="Write it as in n=50.")
        wanted[fits[0]] = error
    return wanted


def _answerable(found: tuple[Bar, ...], wanted: Mapping[str, Fraction], rows: int | None) -> None:
    for bar in found:
        if bar.title in wanted and bar.error is None:
            raise Refusal(
                f"--within: the error of {bar.title!r} depends on the data, so no price can be promised for it.",
                cure="Ask for the parts it is made of, or give a price with --epsilon or --spend.",
            )
        if bar.title in wanted and bar.rows is not None and rows is None:
            raise Refusal(
                f"--within: the error of {bar.title!r} depends on how many rows a group has, which is private.",
                cure="Assume a number with --assume-count 1000; the price then holds for groups of at least that many.",
            )
