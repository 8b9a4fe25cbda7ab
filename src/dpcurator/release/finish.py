"""From noisy readings to rows with error bars: post-processing, so it costs nothing and can leak nothing.

Expressions are computed in exact rationals together with a conservative interval: with probability at least the
quote's confidence, every reading a cell rests on is within its error bar (union bound over the cell's readings), and
then the noise-free value is in the cell's interval. NULL as in SQL: arithmetic with NULL is NULL, x/0 is NULL,
conditions are three-valued. Rows come in the keys' canonical order, that of all other keys last, then ORDER BY.
Checked in tests/release/test_finish.py.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from typing import Any, Final

from dpcurator.catalog.model import Value
from dpcurator.numbers.display import round_half_up
from dpcurator.numbers.interval import Interval, replace_value
from dpcurator.plan.candidates import candidates
from dpcurator.plan.nodes import Apply, Given, Key, Post, Result
from dpcurator.pricing.bars import beta_of, errors_of, rank_of
from dpcurator.pricing.quote import Quote
from dpcurator.release.adding import with_sets
from dpcurator.release.cells import shown_cell
from dpcurator.release.release import Noisy
from dpcurator.values import Cell

Computed = Interval | str | bool | None  # None: NULL
_NULL = Interval(None, None, None)
OTHER: Final = Cell(None, other=True)  # in the place of a key: all keys that are not shown


def finish(quote: Quote, released: Noisy | None) -> tuple[tuple[Cell, ...], ...]:
    """The answer's rows. released: None for a quote whose values are all public."""
    plan, noisy = quote.plan, released or Noisy(quote.lowered.keys, ())
    if plan.sets:
        noisy = with_sets(quote, noisy)
    groups = len(noisy.keys) + noisy.other
    if not groups:
        return ()
    betas = [beta_of(quote, output.part) for output in plan.outputs]
    first = 1 - quote.confidence
    views = {beta: _View(quote, noisy, beta) for beta in {*betas, first}}
    columns = [(output, views[beta]) for output, beta in zip(plan.outputs, betas, strict=True)]
    ranks = [rank_of(quote, output, errors_of(quote, output.part)) for output in plan.outputs]
    plain = views[first]
    rows: list[tuple[tuple[Computed, ...], int]] = []  # what they are ordered by, and the key's number
    for number in range(groups):
        if plan.having is None or _truth(plain.value(plan.having, number)) is True:
            rows.append((tuple(plain.value(order.part, number) for order in plan.order), number))
    for position in reversed(range(len(plan.order))):
        order = plan.order[position]
        rows.sort(key=_sorting(position, order.descending, order.nulls_first), reverse=order.descending)
    last = None if plan.limit is None else plan.offset + plan.limit
    return tuple(
        tuple(
            OTHER if isinstance(output.part, Key) and number == len(noisy.keys)
            else shown_cell(output, view.value(output.part, number), rank)
            for (output, view), rank in zip(columns, ranks, strict=True)
        )
        for _, number in rows[plan.offset : last]
    )


def meeting(quote: Quote, noisy: Noisy, condition: Post) -> list[bool]:
    """Of each key, whether a condition holds that rests on keys alone."""
    view = _View(replace(quote, priced=()), replace(noisy, readings=()), 1 - quote.confidence)
    return [_truth(view.value(condition, number)) is True for number in range(len(noisy.keys))]


def _sorting(position: int, descending: bool, nulls_first: bool) -> Callable[[Any], Any]:
    def key(row: tuple[tuple[Computed, ...], Any]) -> tuple[bool, Any]:
        value = row[0][position]
        plain = value.value if isinstance(value, Interval) else value
        return (plain is not None) == (nulls_first != descending), (0 if plain is None else plain)

    return key


class _View:
    """The values of every key, with each reading's error bar at the same `beta`."""

    def __init__(self, quote: Quote, noisy: Noisy, beta: Fraction) -> None:
        self.keys, self.noisy, self.reach = noisy.keys, noisy.readings, quote.reach
        self.absent = noisy.absent or (frozenset[int](),) * (len(noisy.keys) + noisy.other)
        self.added = noisy.added or (1,) * (len(noisy.keys) + noisy.other)
        self.named = [one.ask.top is not None for one in quote.priced]
        counts, without = set(self.added), [one.ask.overall or one.ask.q is not None or one.ask.top is not None
                                            for one in quote.priced]
        self.readings = [
            (one.reading.unit, {} if none else {count: one.error(beta, added=count) for count in counts})
            for one, none in zip(quote.priced, without, strict=True)
        ]
        self.chosen = [
            None if one.ask.q is None or one.ask.column is None else candidates(one.ask.column, quote.reach.keys)
            for one in quote.priced
        ]
        self.with_keys, threshold = quote.with_keys, None if quote.selecting is None else quote.selecting.threshold
        self.threshold = 0 if threshold is None else threshold
        self.smallest = Fraction(quote.reach.min_units)  # units of a key that may be shown
        self.calls = [(one.rule.finish, one.readings, one.call.column) for one in quote.calls]

    def value(self, part: Post, number: int) -> Computed:
        """The value of an expression for the key of this number."""
        match part:
            case Key(index):  # the other groups have no key: NULL
                return _given(self.keys[number][index]) if number < len(self.keys) else None
            case Result(index):
                finished, places, column = self.calls[index]
                return finished(tuple(self._reading(place, number) for place in places), column, self.reach)
            case Given(value):
                return _given(value)
            case Apply("GROUPING", parts):
                gone = [isinstance(one, Key) and one.index in self.absent[number] for one in parts]
                return Interval.exactly(Fraction(sum(2**place for place, total in enumerate(reversed(gone)) if total)))
            case Apply(op, parts):
                return _apply(op, [self.value(inner, number) for inner in parts])
        raise TypeError(f"no value for {part!r}")

    def _reading(self, place: int, number: int) -> Interval:
        unit, errors = self.readings[place]
        chosen = self.chosen[place]
        if chosen is not None:  # how far it is from the quantile, in its unit, depends on the data
            return Interval(chosen.value(self.noisy[place][number]), None, None)
        if self.named[place]:  # the place is what was released: of how wrong it may be the quote tells
            return Interval.exactly(Fraction(self.noisy[place][number]))
        error = errors[self.added[number]]
        found = Interval.around(self.noisy[place][number] * unit, error)
        if place != self.with_keys or found.value is None or found.low is None or found.value > self.threshold + error:
            return found
        return Interval(found.value, min(found.low, self.smallest), found.high)  # see pricing.noise.SelectionNoise


def _given(value: Value | Fraction | bool) -> Computed:
    if isinstance(value, float):  # a listed key: the number its author wrote, so that 0.1 is one tenth here too
        return Interval.exactly(Fraction(repr(value)))
    if isinstance(value, int | Fraction) and not isinstance(value, bool):
        return Interval.exactly(Fraction(value))
    return value


def _number(value: Computed) -> Interval:
    if isinstance(value, Interval):
        return value
    if isinstance(value, bool):
        return Interval.exactly(Fraction(int(value)))
    return _NULL


def _plain(value: Computed) -> Fraction | str | bool | None:
    return value.value if isinstance(value, Interval) else value


def _truth(value: Computed) -> bool | None:
    plain = _plain(value)
    return None if plain is None else bool(plain)


def _apply(op: str, values: list[Computed]) -> Computed:
    if op in _NUMERIC:
        return _NUMERIC[op](*[_number(value) for value in values])
    if op in _COMPARED:
        one, other = (_plain(value) for value in values)
        if one is None or other is None:
            return None
        return _COMPARED[op](*_alike(one, other))
    if op in ("AND", "OR"):
        truths = [_truth(value) for value in values]
        decided = op == "OR"
        if decided in truths:
            return decided
        return None if None in truths else not decided
    if op == "NOT":
        truth = _truth(values[0])
        return None if truth is None else not truth
    if op == "IS NULL":
        return _plain(values[0]) is None
    if op == "COALESCE":
        return _first_present(values)
    if op == "NULLIF":
        return _null_if(values[0], values[1])
    raise TypeError(f"no operation {op!r}")


def _alike(one: Any, other: Any) -> tuple[Any, Any]:
    """Booleans beside the 0 and 1 of a boolean key."""
    if isinstance(one, bool) != isinstance(other, bool):
        return Fraction(one), Fraction(other)
    return one, other


def _null_if(value: Computed, other: Computed) -> Computed:
    """NULL where the two are equal. Where they could be without the noise, the value has no bound: it might be NULL."""
    one = _plain(value)
    if one is None or other is None:
        return value
    if one == _plain(other):
        return _NULL
    first, second = _number(value), _number(other)
    return first if _apart(first, second) or _apart(second, first) else replace_value(_NULL, first.value)


def _apart(below: Interval, above: Interval) -> bool:
    return below.high is not None and above.low is not None and below.high < above.low


def _first_present(values: list[Computed]) -> Interval:
    """The first value that is not NULL. Without the noise an earlier one might not be NULL, or this one might: then
    there is no bound."""
    numbers = [_number(value) for value in values]
    for place, number in enumerate(numbers):
        if number.value is not None:
            sure = place == 0 and not (number.missing and len(numbers) > 1)
            return number if sure else replace_value(_NULL, number.value)
    return _NULL


def _round(value: Interval, places: Interval | None = None) -> Interval:
    unit = Fraction(10) ** -int(places.value if places is not None and places.value is not None else 0)

    def rounded(end: Fraction | None) -> Fraction | None:
        if end is None:
            return None
        return (1 if end >= 0 else -1) * round_half_up(abs(end) / unit) * unit  # halves away from zero, as in SQL

    return Interval(rounded(value.value), rounded(value.low), rounded(value.high), value.missing)


def _whole_ends(rounding: Callable[[Fraction], int]) -> Callable[[Interval], Interval]:
    """A rounding that never falls as its argument grows, of the value and of both ends."""

    def rounded(end: Fraction | None) -> Fraction | None:
        return None if end is None else Fraction(rounding(end))

    return lambda a: Interval(rounded(a.value), rounded(a.low), rounded(a.high), a.missing)


def _extreme(choose: Callable[[list[Fraction]], Fraction]) -> Callable[..., Interval]:
    """LEAST or GREATEST of those that are not NULL. Where one is, or might be without the noise, there is no bound."""

    def chosen(*values: Interval) -> Interval:
        present = [value.value for value in values if value.value is not None]
        lows = [value.low for value in values if value.low is not None]
        highs = [value.high for value in values if value.high is not None]
        value = choose(present) if present else None
        if not len(present) == len(lows) == len(highs) == len(values) or any(one.missing for one in values):
            return Interval(value, None, None)
        return Interval(value, choose(lows), choose(highs))

    return chosen


_NUMERIC: dict[str, Callable[..., Interval]] = {
    "NEG": lambda a: -a,
    "+": lambda a, b: a + b,
    "-": lambda a, b: a - b,
    "*": lambda a, b: a * b,
    "/": lambda a, b: a / b,
    "ABS": abs,
    "ROUND": _round,
    "FLOOR": _whole_ends(math.floor),
    "CEIL": _whole_ends(math.ceil),
    "SQRT": Interval.root,
    "LEAST": _extreme(min),
    "GREATEST": _extreme(max),
}
_COMPARED: dict[str, Callable[[Any, Any], bool]] = {
    "=": lambda a, b: bool(a == b),
    "<>": lambda a, b: bool(a != b),
    "<": lambda a, b: bool(a < b),
    "<=": lambda a, b: bool(a <= b),
    ">": lambda a, b: bool(a > b),
    ">=": lambda a, b: bool(a >= b),
}
