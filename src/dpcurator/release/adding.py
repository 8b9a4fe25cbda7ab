"""Noisy numbers added up over groups: what totals and grouping sets are made of.

A total of independent noisy numbers is post-processing of them. Its bar is that of the sum of so many draws
(`mechanisms/noise/sums.py`), of which `added` tells how many. Checked in tests/release/test_totals.py.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from dpcurator.catalog.model import Value
from dpcurator.pricing.quote import Quote
from dpcurator.release.release import Noisy

Groups = Mapping[tuple[Value, ...], Sequence[int]]  # of each total its key, and the numbers of the groups in it


def groups_of(keys: Sequence[tuple[Value, ...]], kept: Collection[int]) -> dict[tuple[Value, ...], list[int]]:
    """The groups of each total over the columns that are not kept, whose places in the keys are empty."""
    found: dict[tuple[Value, ...], list[int]] = {}
    for number, key in enumerate(keys):
        found.setdefault(tuple(part if index in kept else None for index, part in enumerate(key)), []).append(number)
    return found


def added_up(quote: Quote, noisy: Noisy, groups: Groups) -> Noisy:
    """The noisy numbers of these totals; a number of all groups together stays what it is."""
    readings = tuple(
        values if one.ask.overall else tuple(sum(values[number] for number in group) for group in groups.values())
        for one, values in zip(quote.priced, noisy.readings, strict=True)
    )
    each = noisy.added or (1,) * len(noisy.keys)
    added = tuple(sum(each[number] for number in group) for group in groups.values())
    return Noisy(tuple(groups), readings, added=added)


def with_sets(quote: Quote, noisy: Noisy) -> Noisy:
    """The numbers of each of the plan's grouping sets, in their order; those of the groups where it has none."""
    sets, columns = quote.plan.sets, len(quote.plan.source.source.columns)
    if not sets:
        return noisy
    made = [added_up(quote, noisy, groups_of(noisy.keys, kept)) for kept in sets]
    readings = tuple(
        values if one.ask.overall else tuple(value for part in made for value in part.readings[number])
        for number, (one, values) in enumerate(zip(quote.priced, noisy.readings, strict=True))
    )
    absent = [frozenset(range(columns)) - set(kept) for kept in sets]
    return Noisy(
        tuple(key for part in made for key in part.keys), readings,
        added=tuple(count for part in made for count in part.added),
        absent=tuple(gone for part, gone in zip(made, absent, strict=True) for _ in part.keys),
    )
