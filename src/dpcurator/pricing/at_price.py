"""What a plan gets at a price: grids, the noise of each reading, the selection of its groups, and what they cost.

A price is shared among the distinct readings, and the selection of groups where nobody listed them (`noise.py`,
`selecting.py`); each reading is measured on a grid that follows from its noise (`grids.py`). Of the ways to share a
price, that with the shortest error bars is taken. A function of the plan and the price alone.
Checked in tests/pricing/test_quote.py, tests/pricing/test_noise.py and tests/pricing/test_cut.py.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache
from typing import Final

from dpcurator.numbers.roots import root_above, ten_to_figures
from dpcurator.plan.candidates import candidates
from dpcurator.plan.lower import Grids
from dpcurator.plan.nodes import Ask, Measured, Plan
from dpcurator.plan.reading import Reading
from dpcurator.plan.stability import CENTRED, Reach, Steps, derivation, reading
from dpcurator.pricing.cut import part_of_cut, share_of_cut, without_cut
from dpcurator.pricing.grids import grids_of, steps
from dpcurator.pricing.noise import Noise, SelectionNoise, Shares, Split, longest, noise_for, quick_longest, splits
from dpcurator.pricing.priced import Priced
from dpcurator.pricing.prices import Price, pure_epsilon
from dpcurator.pricing.resolve import Resolved
from dpcurator.pricing.selecting import Selecting, selecting

CLEAR: Final = 1.2  # of two lengths that are each known to within a twentieth


@dataclass(frozen=True, slots=True)
class Found:
    """What a plan gets at a price: its grids, paid readings and selection, and what they cost."""

    resolved: Resolved
    grids: Grids
    priced: tuple[Priced, ...]
    selecting: Selecting | None
    epsilon: Fraction
    rho: Fraction
    delta: Fraction


def priced_at(plan: Plan, resolved: Resolved, offered: Price) -> Found:
    """What the plan, which rests on these readings, gets at this price: a function of the plan and the price alone.
    Raises Refusal."""
    reach, asks = resolved.reach, resolved.asks
    cut = tuple(ask for ask in asks if ask.overall)
    if cut:
        return _with_cut(plan, resolved, cut, offered)
    if reach.chosen and not offered.delta:
        selecting(reach, epsilon=offered.amount, rho=offered.amount, delta=Fraction(0))  # says that it needs one
    if offered.goals and len(offered.goals) != len(asks):
        raise ValueError("a price with goals has one for each reading")
    ideal = tuple(at_no_price(ask, reach, plan.source.max_rows)[1] for ask in asks)
    own = replace(offered, goals=resolved.without_keys(offered.goals))
    ways = [_with_noise(plan, resolved, shares, split)
            for shares, split in splits(own, resolved.without_keys(ideal), chosen=reach.chosen)]
    if not ways:
        return Found(resolved, {}, (), None, Fraction(0), Fraction(0), Fraction(0))
    return _shortest(ways, offered)


def _shortest(ways: Sequence[Found], offered: Price) -> Found:
    """The way whose largest error bar beside its goal or its range is least, the first of equal ones. Formulas tell
    where that is clear; the distributions themselves decide the rest."""
    if len(ways) == 1:
        return ways[0]
    given = [(tuple(Noise(one.mechanism, one.epsilon, one.rho) for one in found.priced),
              tuple(one.reading for one in found.priced), offered.goals) for found in ways]
    about = [quick_longest(*one) for one in given]
    known = [one for one in about if one is not None]
    if len(known) == len(ways) and sorted(known)[1] > CLEAR * min(known):
        return ways[known.index(min(known))]
    lengths = [longest(*one) for one in given]
    return ways[lengths.index(min(lengths))]


@lru_cache(maxsize=256)  # the split of a price and its noise ask for the same
def at_no_price(ask: Ask, reach: Reach, max_rows: int) -> tuple[Steps, Reading]:
    """How far one unit moves a reading, on a grid that rests on its column's bounds alone: its noise has a grid of its
    own, and the shares of a price cannot wait for it."""
    measured = _steps(ask, grids_of((ask,), {}, max_rows))
    return measured, reading(ask, reach, measured)


def _with_cut(plan: Plan, resolved: Resolved, cut: tuple[Ask, ...], offered: Price) -> Found:
    """The question at what the cut's readings leave of the price, and these at their part of it. In a ledger of epsilon
    they have Laplace noise, whose loss adds to the others' whichever noise these have (basic composition)."""
    reach, others = resolved.reach, resolved.without_cut
    part = part_of_cut(others.asks, reach, offered)
    found = priced_at(plan, others, without_cut(offered, len(cut), part))
    share = share_of_cut(offered, part)
    shares = Shares(pure_epsilon(share), share) if offered.currency == "rho" else Shares(share, None)
    more: list[Priced] = []
    for ask in cut:
        moved = reading(ask, reach, Steps())
        noise = noise_for(moved, shares, Split(), alone=False)
        why = derivation(ask, reach, moved)
        more.append(Priced(ask, Steps(), moved, why, noise.mechanism, noise.epsilon, noise.rho))
    return replace(
        found, resolved=resolved, priced=(*found.priced, *more),
        epsilon=found.epsilon + sum(one.epsilon for one in more), rho=found.rho + sum(one.rho for one in more),
    )


def _with_noise(plan: Plan, resolved: Resolved, shares: Sequence[Shares], split: Split) -> Found:
    reach, asks = resolved.reach, resolved.asks
    each, at = list(shares), resolved.with_keys
    if at is not None:
        each.insert(at, Shares(None, None))  # its share is that of the selection
    grids = _grids(asks, reach, each, plan.source.max_rows)
    alone = len(asks) == 1 and not reach.chosen and reach.keys == 1
    priced: list[Priced] = []
    keys = None
    if reach.chosen:
        paid = {"epsilon": split.selection_epsilon, "rho": split.selection_rho, "delta": split.selection_delta}
        keys = selecting(reach, **paid, counted=resolved.with_keys is not None)
    for number, (ask, own) in enumerate(zip(asks, each, strict=True)):
        measured, count = _steps(ask, grids), ask.among or 0
        if ask.q is not None and ask.column is not None:
            found = candidates(ask.column, reach.keys)
            measured, count = steps(found.grid), found.count
        moved = reading(ask, reach, measured)
        why = derivation(ask, reach, moved)
        if number == resolved.with_keys and keys is not None and keys.noise is not None:
            noise = Noise(SelectionNoise(keys.noise, reach.one), Fraction(0), Fraction(0))
        else:
            noise = noise_for(moved, own, split, alone=alone, candidates=count, top=ask.top)
        priced.append(Priced(ask, measured, moved, why, noise.mechanism, noise.epsilon, noise.rho))
    epsilon, rho, delta = split.epsilon, split.rho, split.delta
    if keys is not None:
        epsilon, rho, delta = epsilon + keys.epsilon, rho + keys.rho, delta + keys.delta
    return Found(resolved, grids, tuple(priced), keys, epsilon, rho, delta)


def _steps(ask: Ask, grids: Grids) -> Steps:
    return Steps() if ask.on_grid is None else steps(grids[ask.on_grid])


def _grids(asks: Sequence[Ask], reach: Reach, shares: Sequence[Shares], max_rows: int) -> Grids:
    """One grid for each column, square and product that is summed, from a size that the noise of its readings is at
    least: for Laplace noise l1/eps with l1 >= min(groups * max_rows, total) * most, for Gaussian noise sigma >=
    most / sqrt(2 rho)."""
    sizes: dict[Measured | Ask, list[Fraction]] = {}
    groups = min(reach.groups or 1, reach.keys if reach.keys is not None else reach.groups or 1)
    rows = groups * max_rows if reach.total is None else reach.total
    for ask, own in zip(asks, shares, strict=True):
        if ask.ends is None or ask.on_grid is None:
            continue
        lower, upper = ask.ends
        largest = max(abs(lower), abs(upper))
        most = (upper - lower if ask.what in CENTRED or reach.whole else largest) or largest or Fraction(1)
        least = []
        if own.epsilon is not None:
            least.append(rows * most / own.epsilon)
        if own.rho is not None:
            least.append(max_rows * most / root_above(2 * own.rho, ten_to_figures(2 * own.rho, 15)))
        sizes.setdefault(ask.on_grid, []).append(min(least))
    return grids_of(asks, sizes, max_rows)
