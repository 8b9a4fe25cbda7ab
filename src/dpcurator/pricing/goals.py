"""How the price of a question is best shared among its noisy readings: so that the largest of its error bars is least.

Bars are compared beside their own sizes: a count beside the number of rows of a group, a sum beside so many of its
largest values, an average beside its range; or beside the errors that are wanted (`within`). A weight divides a
column's size. Where no number of rows is public or assumed, a reading's error is compared with the most that one unit
adds to it: then the shares are as the weights, and equal without any.

Method    With shares s_i, bar j is about the sum over readings of c_ij / s_i (Laplace), or c_ij / sqrt(s_i) (Gaussian).
          The least largest bar under sum s_i = 1 has multipliers w_j of the columns with s_i as a power of the pull
          sum_j w_j c_ij: both are found by turns. It is a search: what it finds is rounded to a few figures, written
          into the price as goals, and only then shared, exactly (noise.py). So nothing of the promise rests on it.
Public    The plan, the kind of noise, and numbers that the catalog or the analyst names. Not the confidence, and of the
          price only which noise it buys: so a question is split alike at any price.
Checked   tests/pricing/test_goals.py.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from operator import truediv
from typing import Final

from dpcurator.catalog.model import Catalog
from dpcurator.plan.nodes import Ask, Output, Plan
from dpcurator.plan.reading import Reading
from dpcurator.plan.relation_facts import rows_known
from dpcurator.plan.stability import CENTRED
from dpcurator.pricing.at_price import at_no_price
from dpcurator.pricing.bars import places_of, spread_of
from dpcurator.pricing.prices import Price
from dpcurator.pricing.quote import CONFIDENCE, Quote, for_bars, price, resolved_of
from dpcurator.pricing.resolve import Resolved, resolve
from dpcurator.privacy import zcdp

WORTH: Final = 0.9  # another split than the equal one is taken where its largest bar is below this part of the other's
WORTH_OF_TARGETS: Final = 0.995
_ROUNDS: Final = 60
_LEAST: Final = 1e-12  # of a share
_SMALL: Final = 1000  # a part of a size, at which an average moves in proportion

Column = dict[int, float]  # of each reading, what it adds to a column's bar over its size at the whole price


def best_shared(
    plan: Plan, offered: Price, catalog: Catalog, *, confidence: Fraction = CONFIDENCE, rows: int | None = None,
    weights: Mapping[str, Fraction] | None = None,
) -> Quote:
    """The plan at this price, shared so. rows: of a group, where assumed. Raises Refusal."""
    goals = goals_of(plan, offered, rows=rows or rows_known(plan, catalog), weights=weights)
    return replace(price(plan, replace(offered, goals=goals), catalog, confidence=confidence), rows=rows)


def shared_bars(first: Quote, offered: Price, *, rows: int | None = None, of: Resolved | None = None) -> Quote:
    """The quote of `first` at this price, shared so, for its error bars only."""
    known = rows or rows_known(first.plan, first.catalog)
    goals = goals_of(first.plan, offered, rows=known, of=of or resolved_of(first))
    return for_bars(first, replace(offered, goals=goals))


def goals_of(
    plan: Plan,
    offered: Price,
    *,
    rows: int | None = None,
    weights: Mapping[str, Fraction] | None = None,
    targets: Mapping[str, Fraction] | None = None,
    near: Mapping[int, Fraction] | None = None,
    confidence: Fraction = CONFIDENCE,
    of: Resolved | None = None,
) -> tuple[Fraction, ...]:
    """For each reading of the plan, but those of its cut, an error, to which its own shall be in one proportion; () for
    equal shares.

    offered: decides which noise is looked at. rows: of a group, or None where nothing is said of it. weights, targets:
    by title, above 0. near: errors of the readings at which the bars are looked at, for bars that are not in proportion
    to them. confidence: of the targets. of: what the plan rests on, where it is known. Raises Refusal.
    """
    if not (targets or rows is not None or weights):
        return ()
    of = (of or resolve(plan)).without_cut
    if len(of.without_keys(of.asks)) < 2:
        return ()
    measured = [at_no_price(ask, of.reach, plan.source.max_rows) for ask in of.asks]
    try:
        widths, beta = [steps.width() for steps, _ in measured], float(1 - confidence)
        terms = _Terms.of(of, [moved for _, moved in measured], widths, beta, offered)
        return terms.goals(plan.outputs, rows, weights or {}, targets or {}, near or {})
    except ArithmeticError:  # bounds beyond what doubles hold
        return ()


@dataclass(frozen=True, slots=True)
class _Terms:
    """costs: a reading's error is in proportion to this over its share, or over the root of its share (gaussian)."""

    rests: Resolved
    costs: list[float]
    widths: list[Fraction]
    beta: float
    gaussian: bool

    @classmethod
    def of(
        cls, found: Resolved, moved: Sequence[Reading], widths: list[Fraction], beta: float, offered: Price
    ) -> _Terms:
        laplace = [float(max(1, one.l1) * one.unit) for one in moved]
        gauss = [math.sqrt(max(1, one.l2_squared)) * float(one.unit) for one in moved]
        gaussian = offered.currency == "rho"
        if not gaussian and offered.delta:  # about: a wrong guess here makes a split that is less good
            share = offered.amount / (len(moved) + found.reach.chosen)
            rho = zcdp.greatest_rho(share * len(moved), offered.delta / (1 + found.reach.chosen)) / len(moved)
            sizes = [float(max(1, one.linf) * one.unit) for one in moved]
            one, other = (max(map(truediv, costs, sizes)) for costs in (laplace, gauss))
            bars = one * _passed(0.05, gaussian=False) / float(share), other * _passed(0.05, gaussian=True)
            gaussian = rho > 0 and bars[1] / math.sqrt(2 * rho) < bars[0]
        return cls(found, gauss if gaussian else laplace, widths, beta, gaussian)

    def goals(
        self, outputs: Sequence[Output], rows: int | None, weights: Mapping[str, Fraction],
        targets: Mapping[str, Fraction], near: Mapping[int, Fraction],
    ) -> tuple[Fraction, ...]:
        count = len(self.costs)
        columns: list[Column] = []
        for output in outputs:
            places = places_of(self.rests.calls, output.part)
            if not places or (targets and output.title not in targets):
                continue
            weight = weights.get(output.title, Fraction(1))
            if targets or rows is not None:
                columns += self.beside_sizes(output, Fraction(rows or 1), targets.get(output.title), weight, near)
            else:
                columns += [{place: float(weight)} for place in places]
        aimed = sorted({place for column in columns for place in column})
        if not aimed:
            return ()
        equal = [1 / count] * count
        found = list(equal)  # a reading that no target rests on has an equal share
        for place, share in zip(aimed, self.least_largest(columns, aimed), strict=True):
            found[place] = share * len(aimed) / count
        one, other = (max(self.sizes(columns, shares)) for shares in (found, equal))
        if one >= (WORTH_OF_TARGETS if targets else WORTH) * other:
            return ()
        return tuple(_figures(cost / self.over(share)) for cost, share in zip(self.costs, found, strict=True))

    def over(self, share: float) -> float:
        return math.sqrt(share) if self.gaussian else share

    def sizes(self, columns: Sequence[Column], shares: Sequence[float]) -> list[float]:
        return [sum(part / self.over(shares[place]) for place, part in column.items()) for column in columns]

    def beside_sizes(
        self, output: Output, rows: Fraction, target: Fraction | None, weight: Fraction, near: Mapping[int, Fraction]
    ) -> list[Column]:
        """What each reading adds to a column's bar beside its size, or to the wanted error; where the data decides how
        far a column moves, each of its readings beside its own size."""
        places = places_of(self.rests.calls, output.part)
        sizes = {place: _size(self.rests.asks[place], rows) for place in places}
        costs = {place: _figures(self.costs[place]) for place in places}
        small = min(sizes[place] / costs[place] for place in places) / _SMALL
        wider = _passed(self.beta / len(places), gaussian=self.gaussian) / _passed(self.beta, gaussian=self.gaussian)
        errors = {place: near.get(place, small * costs[place]) * _figures(wider) for place in places}

        def spread(moved: Mapping[int, Fraction]) -> Fraction | None:
            return spread_of(output.part, self.rests, self.widths, moved, rows)

        whole, size = spread(errors), target or spread({place: one / _SMALL for place, one in sizes.items()})
        if whole is None or not size:
            return [{place: float(costs[place] * weight / sizes[place])} for place in places]
        own = size if target else size * _SMALL / weight
        parts = {place: whole - (spread(errors | {place: Fraction(0)}) or Fraction(0)) for place in places}
        total = sum(parts.values(), Fraction(0)) / whole if whole else Fraction(1)  # an average's are no exact parts
        return [{
            place: float(part / total / errors[place] * costs[place] * _figures(wider) / own)
            for place, part in parts.items() if part > 0
        }]

    def least_largest(self, columns: Sequence[Column], places: Sequence[int]) -> list[float]:
        """Shares, in the order of `places`, that make the largest column about least; they sum to 1."""
        number = {place: at for at, place in enumerate(places)}
        parts = [[(number[place], part) for place, part in column.items()] for column in columns]
        shares = [1 / len(places)] * len(places)
        best, least = shares, math.inf
        pulls = [1 / len(columns)] * len(columns)
        for _ in range(_ROUNDS):
            over = list(map(math.sqrt, shares)) if self.gaussian else shares
            found = [sum([part / over[at] for at, part in column]) for column in parts]
            if max(found) < least:
                best, least = shares, max(found)
            before, pulls = pulls, [pull * size for pull, size in zip(pulls, found, strict=True)]
            total = sum(pulls)
            pulls = [pull / total for pull in pulls]
            pulled = [0.0] * len(places)
            for pull, column in zip(pulls, parts, strict=True):
                for at, part in column:
                    pulled[at] += pull * part / (over[at] * shares[at])
            moved = [share * math.sqrt(pull) + _LEAST for share, pull in zip(shares, pulled, strict=True)]
            total = sum(moved)
            new = [share / total for share in moved]
            if new == shares and pulls == before:  # so it would go on
                break
            shares = new
        return best


def _passed(beta: float, *, gaussian: bool) -> float:
    """What noise of scale 1 passes with probability beta, about."""
    from statistics import NormalDist

    return -NormalDist().inv_cdf(beta / 2) if gaussian else -math.log(beta)


def _figures(cost: float) -> Fraction:
    """To four figures. Raises OverflowError where doubles hold no such number."""
    if not math.isfinite(cost):
        raise OverflowError("a size is beyond what doubles hold")
    return Fraction(f"{cost:.4g}")


def _size(ask: Ask, rows: Fraction) -> Fraction:
    """What a reading is in a group of so many rows, about."""
    if ask.ends is None:
        return rows
    lower, upper = ask.ends
    if ask.what in CENTRED:
        return rows * (upper - lower)
    return rows * max(abs(lower), abs(upper)) or rows
