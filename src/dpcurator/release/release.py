"""The one place where noise meets data (design 2): open the exact sums, form the readings, add the noise.

Keys that nobody listed are selected first, by the number of distinct units that have them and nothing else (which is
drawn once, for the selection and for the answer, where that number is asked for); those kept
are put in canonical order (missing first, then by value), so the engine's order is never seen, and only they get
readings; and where the question asks for the others too, their sums are added up first, exactly, and get noise once.
Each reading is an integer combination of the engine's sums, so adding one unit moves it exactly as far as the
heart law checks; an independent draw of the quoted mechanism is added to every coordinate. A quantile is chosen, from
what lies at each of its candidates, and the number of the candidate is its reading; and of names of the greatest the
reading of a key is its place among them, or 0. Python ints throughout:
nothing can overflow, round or raise on any value. Held to one place by tests/laws/test_exact.py.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from dpcurator.catalog.model import Value
from dpcurator.entropy import Entropy
from dpcurator.mechanisms.choice.top_counts import TopCounts
from dpcurator.mechanisms.choice.weighted_quantile import WeightedQuantile
from dpcurator.plan.core import Step, Total
from dpcurator.plan.lower import Combination
from dpcurator.pricing.noise import NAMES, SelectionNoise
from dpcurator.pricing.priced import law_of
from dpcurator.pricing.quote import Quote
from dpcurator.values import Exact

Histograms = tuple[tuple[Mapping[int, int], ...], ...]  # of each, per key, what lies at each candidate


@dataclass(frozen=True, slots=True)
class Noisy:
    """What may be seen: the keys, public or selected, and one tuple per reading with one integer per key; of the cut's
    readings, with one alone.

    other: each tuple has one more integer, for all candidates that are not shown. added: of each key, how many groups'
    numbers are added up in its own (`adding.py`); empty where each is of one group. absent: of each key, the columns
    that it is a total over; empty where none is.
    """

    keys: tuple[tuple[Value, ...], ...]
    readings: tuple[tuple[int, ...], ...]
    other: bool = False
    added: tuple[int, ...] = ()
    absent: tuple[frozenset[int], ...] = ()


@dataclass(frozen=True, slots=True)
class Parts:
    """What an answer is made of, and its totals are (`totals.py`): its question at its price, and the noisy numbers."""

    quote: Quote
    noisy: Noisy


@dataclass(frozen=True, slots=True)
class MadeUp:
    """Exact integers of rows that are nobody's: one tuple per reading with one integer per key (the cut's have one
    alone), as `release` would have added noise to them; of a quantile, what lies at each candidate. units: where nobody
    listed the keys, how many distinct units have each."""

    keys: tuple[tuple[Value, ...], ...]
    readings: tuple[tuple[int, ...] | tuple[Mapping[int, int], ...], ...]
    units: tuple[int, ...]


def combine(
    rows: tuple[tuple[int, ...], ...], combination: Combination, tallies: tuple[int, ...] = ()
) -> list[int]:
    """A reading's integers, one per key; one alone where it is of the tallies."""
    every = (tallies,) if combination.overall else rows
    return [sum(weight * row[number] for number, weight in combination.terms) for row in every]


def release(quote: Quote, exact: Exact, entropy: Entropy) -> Noisy:
    """The quote's readings with their noise, in the readings' units. Raises TypeError, before anything is opened, where
    a mechanism that adds noise or selects keys is not one of this package."""
    _check_mechanisms(quote)
    counted: list[int] = []  # the noisy numbers of units of the keys that are shown, where these are asked for

    def keep(units: Sequence[int]) -> Sequence[bool]:
        if quote.selecting is None:
            return []
        if quote.with_keys is None:
            return quote.selecting.rule.keep(units, entropy)
        noisy = quote.selecting.rule.noisy_counts(units, entropy)  # type: ignore[attr-defined]
        counted.extend(value for value in noisy if value is not None)
        return [value is not None for value in noisy]

    held = None if quote.held is None else quote.held.keys
    keys, rows, tallies, histograms = _selected(quote, exact, keep, None if held is None else held.keys)
    stored = stored_values(quote)
    fresh = [priced for priced, values in zip(quote.priced, stored, strict=True) if values is None]
    noisy: list[tuple[int, ...]] = []
    for priced, combination in zip(fresh, quote.lowered.combinations, strict=True):
        if isinstance(priced.mechanism, SelectionNoise):
            noisy.append(tuple(value * priced.mechanism.one for value in counted))
            continue
        if isinstance(priced.mechanism, WeightedQuantile):
            assert combination.histogram is not None
            assert priced.ask.q is not None
            lying = histograms[combination.histogram]
            noisy.append(tuple(priced.mechanism.select(one, priced.ask.q, entropy) for one in lying))
            continue
        values = combine(rows, combination, tallies)
        if isinstance(priced.mechanism, TopCounts):
            noisy.append(priced.mechanism.places(values, entropy))
            continue
        noise = priced.mechanism.sample(len(values), entropy)
        noisy.append(tuple(value + int(draw) for value, draw in zip(values, noise, strict=True)))
    drawn = iter(noisy)  # what is stored has its noise: none is drawn again
    return Noisy(keys, tuple(next(drawn) if values is None else values for values in stored), quote.reach.other)


def stored_values(quote: Quote) -> tuple[tuple[int, ...] | None, ...]:
    """Of each reading, its noisy integers where an earlier charge paid it, else None."""
    if quote.held is None:
        return (None,) * len(quote.priced)
    return tuple(None if one is None else one.values for one in quote.held.readings)


def released_before(quote: Quote) -> Noisy:
    """What an answer is made of when all of it was released before: no engine is in reach."""
    held, values = quote.held, stored_values(quote)
    if held is None or None in values or (quote.selecting is not None and held.keys is None):
        raise ValueError("not all of it was released before")
    keys = quote.lowered.keys if held.keys is None else held.keys.keys
    return Noisy(keys, tuple(one for one in values if one is not None), quote.reach.other)


def _check_mechanisms(quote: Quote) -> None:
    from dpcurator.mechanisms.key_selection import SELECTIONS

    selecting, counts = quote.selecting, [one for one in quote.priced if isinstance(one.mechanism, SelectionNoise)]
    if any(type(law_of(one)) not in NAMES for one in quote.priced):
        raise TypeError("only a mechanism of this package may add noise")
    if any((one.ask.q is not None) != isinstance(one.mechanism, WeightedQuantile) for one in quote.priced):
        raise TypeError("a quantile, and it alone, is chosen")
    if any((one.ask.top is not None) != isinstance(one.mechanism, TopCounts) for one in quote.priced):
        raise TypeError("names of the greatest, and they alone, are chosen by counts")
    if selecting is not None and type(selecting.rule) not in SELECTIONS:
        raise TypeError("only a selection of this package may choose keys")
    if len(counts) > 1 or (counts and (selecting is None or selecting.noise != law_of(counts[0]))):
        raise TypeError("only the count that keys are selected by may be drawn with them")


def open_made_up_rows(quote: Quote, exact: Exact) -> MadeUp:
    """The quote's readings WITHOUT noise, of every key that occurs. Not differentially private.

    For `break-me`, which compares them with what the quote claims of their sensitivity, over tables that it made up
    itself. No curator can reach this: break_me/bench.py alone imports it, and nothing below imports that room
    (tests/laws/test_exact.py, tests/laws/test_directions.py).
    """
    units: list[int] = []

    def keep_all(counts: Sequence[int]) -> Sequence[bool]:
        units.extend(counts)
        return [True] * len(counts)

    keys, rows, tallies, histograms = _selected(quote, exact, keep_all)
    readings = tuple(
        tuple(combine(rows[: len(keys)], one, tallies)) if one.histogram is None else histograms[one.histogram]
        for one in quote.lowered.combinations
    )
    return MadeUp(keys, readings, tuple(units))


def _selected(
    quote: Quote,
    exact: Exact,
    keep: Callable[[Sequence[int]], Sequence[bool]],
    selected: tuple[tuple[Value, ...], ...] | None = None,
) -> tuple[tuple[tuple[Value, ...], ...], tuple[tuple[int, ...], ...], tuple[int, ...], Histograms]:
    """The keys that are answered for, in canonical order, and the exact sums of each; then of all others, if asked; the
    tallies; and each histogram, of the keys that are answered for.

    keep: of unknown keys, in canonical order, by their numbers of distinct units: which are answered for. selected: the
    keys that were selected before, which are answered for again, whatever `keep` would say.
    """
    found, rows, total = exact.keys_for_release(), exact.open_for_release(), quote.lowered.core[-1]
    tallies = exact.tallies_for_release()
    if len(tallies) != _tallies(total) or not all(type(number) is int for number in tallies):
        raise TypeError("the engine's answer has not the shape of the plan")
    histograms = _histograms(exact.histograms_for_release(), len(rows), total)
    if quote.selecting is None:
        if found is not None:
            raise TypeError("the engine's answer has not the shape of the plan")
        return quote.lowered.keys, _shaped(rows, len(quote.lowered.keys), total), tallies, histograms
    if found is None or len(set(found)) != len(found):
        raise TypeError("the engine's answer has not the shape of the plan")
    rows = _shaped(rows, len(found), total)
    one = quote.reach.one
    if any(row[0] < one or row[0] % one for row in rows):  # the first sum counts distinct units, each as `one`
        raise TypeError("the engine's answer has not the shape of the plan")
    order = sorted(range(len(found)), key=lambda number: _canonical(found[number]))
    if selected is None:
        kept = keep([rows[number][0] // one for number in order])
    else:
        again = set(selected)
        kept = [found[number] in again for number in order]
        if sum(kept) != len(selected):
            raise TypeError("the engine's answer lacks a key that it had before")
    shown = [number for number, keep in zip(order, kept, strict=True) if keep]
    sums = [rows[number] for number in shown]
    if quote.reach.other:
        others = [rows[number] for number, keep in zip(order, kept, strict=True) if not keep]
        sums.append(tuple(sum(row[place] for row in others) for place in range(_sums(total))))
    own = tuple(tuple(one[number] for number in shown) for one in histograms)
    return tuple(found[number] for number in shown), tuple(sums), tallies, own


def _canonical(key: tuple[Value, ...]) -> tuple[tuple[bool, Any], ...]:
    return tuple((value is not None, 0 if value is None else value) for value in key)


def _shaped(rows: tuple[tuple[int, ...], ...], keys: int, total: Step) -> tuple[tuple[int, ...], ...]:
    """The rows, if there is one a key and each has the plan's sums as ints; noise for anything else would be wrong."""
    sums = _sums(total)
    if len(rows) != keys or any(len(row) != sums or not all(type(number) is int for number in row) for row in rows):
        raise TypeError("the engine's answer has not the shape of the plan")
    return rows


def _histograms(found: Histograms, keys: int, total: Step) -> Histograms:
    """The histograms, if each has one a key, of whole numbers."""
    wanted = len(total.histograms) if isinstance(total, Total) else 0
    numbers = (number for one in found for lying in one for pair in lying.items() for number in pair)
    if len(found) != wanted or any(len(one) != keys for one in found) or not all(type(n) is int for n in numbers):
        raise TypeError("the engine's answer has not the shape of the plan")
    return found


def _sums(total: Step) -> int:
    return len(total.sums) if isinstance(total, Total) else 0


def _tallies(total: Step) -> int:
    return len(total.tallies) if isinstance(total, Total) else 0
