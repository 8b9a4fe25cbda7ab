"""Prices to choose from, and the price of a wanted accuracy. Pure and free: parameters and public facts only.

A menu row spends a share of the whole budget. `price_for` finds the least epsilon, to three figures rounded up, whose
error bars meet every target, split so that they are met together (goals.py); what an average's bar would be needs a
number of rows, which only the analyst may assume (semantics 7.1). Checked in tests/pricing/test_menu.py.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, Final

from dpcurator.aggregates import rule_of
from dpcurator.catalog.model import Catalog
from dpcurator.errors import Refusal
from dpcurator.language.names import nearest
from dpcurator.numbers import decimal_text
from dpcurator.numbers.readable import readable
from dpcurator.plan.nodes import Plan, Result
from dpcurator.plan.relation_facts import rows_known
from dpcurator.pricing.bars import Bar, bars, describe, expected_rows, results
from dpcurator.pricing.goals import goals_of, shared_bars
from dpcurator.pricing.prices import Price, amount_of, share_of
from dpcurator.pricing.quote import CONFIDENCE, Quote, for_bars, price, resolved_of
from dpcurator.values import Currency

SHARES: Final = (1, 2, 5, 10, 20, 50, 100)  # percent of the whole budget
_HIGHEST: Final = 30  # an amount of 10**30 or more is no price
_NUMBERS: Final = 900 * (_HIGHEST + 12)  # of amounts of three figures, from 10**-12 on
_LOOKS: Final = 12  # at bars, before the rest is looked for by halves


@dataclass(frozen=True, slots=True)
class MenuRow:
    """One row of a menu."""

    percent: int
    amount: Fraction  # of the ledger's currency
    delta: Fraction
    left: Fraction
    bars: tuple[Bar, ...]
    sizes: tuple[int | None, int | None] | None = None  # from which on a key is shown, at 0.5 and 0.95; None: listed

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
        """The menu as JSON has it, numbers as exact texts."""
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
                | ({} if offer.sizes is None else {"sizes": dict(zip(("0.5", "0.95"), offer.sizes, strict=True))})
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
        selected = self.offers[0].sizes is not None
        shown = ["shown from"] if selected else []
        heads = ["spend", self.currency, *(bar.title for bar in self.offers[0].bars), *shown, "left after"]
        lines = [
            [f"{o.percent} %", decimal_text(o.amount), *map(describe, o.bars), *_sizes(o), f"{decimal_text(o.left)}"]
            for o in self.offers
        ]
        percent = decimal_text(self.confidence * 100)
        note = f"error bars hold with {percent} % confidence for each value; {how}"
        if selected:
            note += "\nshown from: how many units a group needs to be shown with probability 0.5, and 0.95"
        return f"{table_text(heads, lines)}\n{note}"

    def _repr_html_(self) -> str:
        from dpcurator.numbers.text_table import pre_html

        return pre_html(str(self))


def sizes_of(quote: Quote) -> tuple[int | None, int | None] | None:
    """From how many units on a key that nobody listed is shown."""
    return None if quote.selecting is None else quote.selecting.sizes()


def _sizes(offer: MenuRow) -> list[str]:
    if offer.sizes is None:
        return []
    half, most = ("more than a million" if one is None else f"{one:,}" for one in offer.sizes)
    return [f"{half}, {most}"]


def menu(
    plan: Plan,
    catalog: Catalog,
    remaining: Fraction,
    *,
    rows: int | None = None,
    confidence: Fraction = CONFIDENCE,
    remaining_delta: Fraction | None = None,
) -> Menu:
    """The offers that the remaining budget still allows. remaining_delta: Fraction; None for all of the ledger's.
    rows: of a group, for averages, where the analyst names them."""
    offers: list[MenuRow] = []
    first = price(plan, catalog.budget, catalog, confidence=confidence)
    delta_left = catalog.delta if remaining_delta is None else remaining_delta
    for percent in SHARES:
        offered = share_of(catalog, Fraction(percent, 100))
        quote = shared_bars(first, offered, rows=rows)
        if quote.cost <= remaining and quote.delta <= delta_left:
            amount = catalog.budget * percent / 100
            left, shown = remaining - quote.cost, sizes_of(quote)
            offers.append(MenuRow(percent, amount, quote.delta, left, bars(quote, rows), shown))
    return Menu(tuple(offers), catalog.budget, remaining, confidence, catalog.currency)


def price_for(
    plan: Plan,
    catalog: Catalog,
    targets: Mapping[str, Fraction],
    *,
    rows: int | None = None,
    confidence: Fraction = CONFIDENCE,
    delta: Fraction | None = None,
    parts: Mapping[str, Fraction | None] | None = None,
) -> Quote:
    """The cheapest quote, to three figures of its amount, whose error bars are within every target. Raises Refusal.

    targets: the column's title, and the error wanted, in its unit (Fraction > 0); for those of `parts`, as a part of
    the size that is assumed there, or None: of the least that it has by public facts. rows: 'if a group has at least'.
    """

    def at(amount: Fraction) -> Price:
        return amount_of(catalog, amount, delta)

    first = price(plan, at(catalog.budget), catalog, confidence=confidence)
    if first.free:
        return first
    wanted = titled(plan, targets, "within")
    assumed: tuple[str, ...] = ()
    parts = parts or {}
    if relative := titled(plan, {title: error for title, error in targets.items() if title in parts}, "within"):
        sizes = titled(plan, {title: size for title, size in parts.items() if size is not None}, "within")
        wanted |= {title: error * _size_of(first, title, error, sizes.get(title), rows)
                   for title, error in relative.items()}
        assumed = tuple(_assumed(first, title, error, wanted[title], rows, given=title in sizes)
                        for title, error in relative.items())
    _answerable(bars(first, rows), wanted, rows)
    def split(amount: Fraction, near: Mapping[int, Fraction] | None = None) -> tuple[Fraction, ...]:
        return goals_of(
            plan, at(amount), rows=rows, targets=wanted, near=near, confidence=confidence, of=resolved_of(first)
        )

    def found_at(goals: tuple[Fraction, ...]) -> tuple[Fraction, Quote]:
        """The least amount at which this split meets the targets."""

        def missed(amount: Fraction) -> Fraction:
            found = {bar.title: bar for bar in bars(for_bars(first, replace(at(amount), goals=goals)), rows)}
            return max((found[title].error or Fraction(0)) / error for title, error in wanted.items())

        amount = least_amount(missed, catalog.budget, power=2 if catalog.currency == "rho" else 1)
        return amount, for_bars(first, replace(at(amount), goals=goals))

    goals = split(catalog.budget)
    amount, quote = found_at(goals)
    again = split(amount, {place: one.error(1 - confidence) for place, one in enumerate(quote.priced)})
    if again != goals:  # the noise at that amount is another, or an average's bar not in proportion to its readings'
        goals, amount = min((goals, amount), (again, found_at(again)[0]), key=lambda one: one[1])
    found = price(plan, replace(at(amount), goals=goals), catalog, confidence=confidence)
    return replace(found, assumed=assumed, rows=rows)


def _size_of(first: Quote, title: str, error: Fraction, given: Fraction | None, rows: int | None) -> Fraction:
    """What a column is at least, up or down, in its unit: as is assumed; or for a group of so many rows, by the bounds
    of what it adds up, where these are both above or both below 0. Raises Refusal."""
    if given is not None:
        return given
    function, least = _counted(first, title)
    size = rows or rows_known(first.plan, first.catalog)
    part = decimal_text(100 * error)
    if least is None:
        more = "" if function != "AVG" or rows is not None else " --assume-count 1000"
        raise Refusal(
            f"--within: {title!r} has no least size by public facts, of which {part} % could be taken: its bounds "
            "include 0." if function else
            f"--within: of {title!r} no size is known, only of a count, a sum or an average.",
            cure=f'Give an error in its own unit, as in --within {title}=50, or a size to assume: --within "{title}='
            f'{part}% of 1000"{more}.',
        )
    if function != "AVG" and size is None:
        raise Refusal(
            f"--within: a part of {title!r} needs the number of rows of a group, which is private.",
            cure="Assume a number with --assume-count 1000; the error is that part of it in larger groups too.",
        )
    return least * (1 if function == "AVG" else size or 1)


def _counted(first: Quote, title: str) -> tuple[str, Fraction | None]:
    """The aggregate that a column is alone, "" where it is none of COUNT, SUM and AVG; and the least, up or down, that
    a row adds to it, or an average is, as values are clamped."""
    part = next(output.part for output in first.plan.outputs if output.title == title)
    if not isinstance(part, Result):
        return "", None
    call = first.plan.calls[part.index]
    function, column = rule_of(call).function, call.column
    if function == "COUNT":
        return function, Fraction(1)
    if function not in ("SUM", "AVG") or column is None or column.lower is None or column.upper is None:
        return "", None
    apart = column.lower * column.upper > 0
    return function, min(abs(column.lower), abs(column.upper)) if apart else None


def _assumed(first: Quote, title: str, error: Fraction, wanted: Fraction, rows: int | None, *, given: bool) -> str:
    """What a relative error rests on, in words."""
    within = f"{title} is within {decimal_text(100 * error)} %"
    if given:
        return f"{within} if it is {decimal_text(wanted / error)} or more, up or down, as you assume"
    function, _ = _counted(first, title)
    size = rows or expected_rows(first.plan, first.catalog)
    whose = "as you assume" if rows is not None else "as the catalog says to expect"
    bounds = "" if function == "COUNT" else ", and by its bounds"
    if function == "AVG" and rows is None:
        return f"{within} by its bounds"
    return f"{within} if a group has at least {size:,} rows, {whose}{bounds}"


def least_amount(missed: Callable[[Fraction], Fraction], start: Fraction, *, power: int) -> Fraction:
    """The least amount of three figures at which missed(amount) <= 1, from 10**-12 on. Raises Refusal.

    missed: falls with the amount, and about as its inverse, or the root of that (power 2): so few looks are enough.
    """
    low, high, looks = -1, _NUMBERS, 0  # numbers of amounts: not met at low (or before the first), met at high
    number = _number(start)
    while high - low > 1:
        size, looks = missed(_amount(number)), looks + 1
        low, high = (low, number) if size <= 1 else (number, high)
        guess = _number(_amount(number) * min(size, Fraction(10**6)) ** power) if looks < _LOOKS else (low + high) // 2
        number = min(max(guess, low + 1), high - 1)
    if high == _NUMBERS:
        raise Refusal(
            "no price reaches that error: answers are shown as whole numbers.", cure="Ask for a wider error, above 0.5."
        )
    return _amount(high)


def _amount(number: int) -> Fraction:
    """The amounts of three figures in order: 1.00e-12, 1.01e-12, ..."""
    return (100 + number % 900) * Fraction(10) ** (number // 900 - 14)


def _number(amount: Fraction) -> int:
    """Of the least amount of three figures that is not below this one."""
    power = -12
    while amount >= Fraction(10) ** (power + 1) and power < _HIGHEST:
        power += 1
    return max(0, math.ceil(amount / Fraction(10) ** (power - 2)) - 100 + 900 * (power + 12))


def titled(plan: Plan, given: Mapping[str, Fraction], option: str) -> dict[str, Fraction]:
    """The numbers given for columns, by the titles of these. option: that they were given by. Raises Refusal."""
    titles = [output.title for output in plan.outputs if results(output.part)]
    found: dict[str, Fraction] = {}
    for title, number in given.items():
        fits = [other for other in titles if other.lower() == title.lower()]
        if len(fits) != 1:
            raise Refusal(f"--{option}: there is no single column {title!r}.", cure=nearest(title, titles, "column"))
        if number <= 0:
            what = "error" if option == "within" else option
            raise Refusal(f"--{option}: the {what} of {title!r} must be above 0.", cure="Write it as in n=50.")
        found[fits[0]] = number
    return found


def _answerable(found: tuple[Bar, ...], wanted: Mapping[str, Fraction], rows: int | None) -> None:
    for bar in found:
        if bar.title in wanted and bar.rank is not None:
            raise Refusal(
                f"--within: the error of {bar.title!r} is in rank, and no price is looked for by that.",
                cure="Give a price with --epsilon or --spend: quote and menu show the rank.",
            )
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
