"""How the price of a question is best shared among its noisy readings: so that the largest of its error bars is least.

Bars are compared beside their own sizes: a count beside the number of rows of a group, a sum beside so many values of
half its largest, an average beside its range; or beside the errors that are wanted (`within`). A weight divides a
column's size. Where no number of rows is public or assumed, a reading's error is compared with the most that one unit
adds to it: then the shares are as the weights, and equal without any.

Method    With shares s_i, bar j is about the sum over readings of c_ij / s_i (Laplace), or c_ij / sqrt(s_i) (Gaussian).
          The least largest bar under sum s_i = 1 has multipliers w_j of the columns with s_i as a power of the pull
          sum_j w_j c_ij: both are found by turns. It is a search: what it finds is rounded to a few figures, written
          into the price as goals, and only then shared, exactly (noise.py). So nothing of the promise rests on it.
Public    The plan, the price's kind, and numbers that the catalog or the analyst names. No price, so that a question
          is split alike at any; no confidence.
Checked   tests/pricing/test_goals.py.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from fractions import Fraction
from typing import TYPE_CHECKING, Final

from dpcurator.mechanisms import DiscreteLaplace
from dpcurator.plan.nodes import Ask, Output
from dpcurator.pricing.bars import places_of, spread_of

if TYPE_CHECKING:
    from dpcurator.pricing.quote import Quote

WORTH: Final = 0.99  # another split than the equal one is taken where its largest bar is below this part of the other's
_ROUNDS: Final = 60
_SMALL: Final = 1000  # a part of a size, at which an average moves in proportion

Column = dict[int, float]  # of each reading, what it adds to a column's bar over its size at the whole price


def goals_of(
    quote: Quote,
    *,
    rows: int | None = None,
    weights: Mapping[str, Fraction] | None = None,
    targets: Mapping[str, Fraction] | None = None,
    near: Mapping[int, Fraction] | None = None,
) -> tuple[Fraction, ...]:
    """For each reading of the quote an error, to which its own shall be in one proportion; () for equal shares.

    rows: of a group, or None where nothing is said of it. weights, targets: by title, above 0. near: errors of the
    readings at which the bars are looked at, for bars that are not in proportion to them.
    """
    count, weights = len(quote.priced), weights or {}
    if count < 2 or not (targets or rows is not None or weights):
        return ()
    laplace = isinstance(quote.priced[0].mechanism, DiscreteLaplace)
    costs = [_cost(quote, place, laplace=laplace) for place in range(count)]
    outputs = [output for output in quote.plan.outputs if places_of(quote, output.part)]
    columns: list[Column] = []
    for output in outputs:
        if targets and output.title not in targets:
            continue
        weight = weights.get(output.title, Fraction(1))
        if targets or rows is not None:
            columns += _beside_sizes(quote, output, rows, costs, (targets or {}).get(output.title), weight, near)
        else:
            columns += [{place: float(weight)} for place in places_of(quote, output.part)]
    aimed = sorted({place for column in columns for place in column})
    if not aimed:
        return ()
    equal = [1 / count] * count
    found = list(equal)  # a reading that no target rests on has an equal share
    for place, share in zip(aimed, _least_largest(columns, aimed, laplace=laplace), strict=True):
        found[place] = share * len(aimed) / count
    if _largest(columns, found, laplace=laplace) >= WORTH * _largest(columns, equal, laplace=laplace):
        return ()
    return tuple(Fraction(f"{cost / _power(share, laplace):.4g}") for cost, share in zip(costs, found, strict=True))


def _cost(quote: Quote, place: int, *, laplace: bool) -> float:
    """A reading's error is in proportion to this over its share, or over the root of its share."""
    one = quote.priced[place].reading
    return float(max(1, one.l1) * one.unit) if laplace else math.sqrt(max(1, one.l2_squared)) * float(one.unit)


def _power(share: float, laplace: bool) -> float:
    return share if laplace else math.sqrt(share)


def _beside_sizes(
    quote: Quote, output: Output, rows: int | None, costs: list[float], target: Fraction | None, weight: Fraction,
    near: Mapping[int, Fraction] | None,
) -> list[Column]:
    """What each reading adds to a column's bar beside its size, or to the wanted error; where the data decides how far
    a column moves, each of its readings beside its own size."""
    places, group = places_of(quote, output.part), Fraction(rows or 1)
    sizes = {place: _size(quote.priced[place].ask, group) for place in places}
    least = min(sizes[place] / _positive(costs[place]) for place in places) / _SMALL
    errors = {place: (near or {}).get(place) or least * _positive(costs[place]) for place in places}
    whole = spread_of(output.part, quote, errors, group)
    size = target or spread_of(output.part, quote, {place: one / _SMALL for place, one in sizes.items()}, group)
    if whole is None or not size:
        return [{place: costs[place] / float(sizes[place] / weight)} for place in places]
    own = float(size if target else size * _SMALL / weight)
    parts: Column = {}
    for place in places:
        without = spread_of(output.part, quote, errors | {place: Fraction(0)}, group) or Fraction(0)
        parts[place] = float((whole - without) / errors[place]) * costs[place] / own
    return [{place: part for place, part in parts.items() if part > 0}]


def _positive(cost: float) -> Fraction:
    return Fraction(f"{cost:.4g}")


def _size(ask: Ask, rows: Fraction) -> Fraction:
    """What a reading is in a group of so many rows, about."""
    column = ask.column
    if ask.what not in ("values", "centred") or column is None or column.lower is None or column.upper is None:
        return rows
    if ask.what == "centred":
        return rows * (column.upper - column.lower)
    return rows * max(abs(column.lower), abs(column.upper)) / 2 or rows


def _least_largest(columns: list[Column], places: list[int], *, laplace: bool) -> list[float]:
    """Shares, in the order of `places`, that make the largest column about least; they sum to 1."""
    shares = dict.fromkeys(places, 1 / len(places))
    best, least = dict(shares), math.inf
    pulls = [1 / len(columns)] * len(columns)
    for _ in range(_ROUNDS):
        over = {place: _power(share, laplace) for place, share in shares.items()}
        found = [sum(part / over[place] for place, part in column.items()) for column in columns]
        if max(found) < least:
            best, least = dict(shares), max(found)
        total = sum(pull * size for pull, size in zip(pulls, found, strict=True))
        pulls = [pull * size / total for pull, size in zip(pulls, found, strict=True)]
        pulled = dict.fromkeys(places, 0.0)
        for pull, column in zip(pulls, columns, strict=True):
            for place, part in column.items():
                pulled[place] += pull * part / (over[place] * shares[place])
        moved = {place: shares[place] * math.sqrt(pulled[place]) + 1e-12 for place in places}
        total = sum(moved.values())
        shares = {place: share / total for place, share in moved.items()}
    return [best[place] for place in places]


def _largest(columns: list[Column], shares: list[float], *, laplace: bool) -> float:
    return max(sum(part / _power(shares[place], laplace) for place, part in column.items()) for column in columns)


