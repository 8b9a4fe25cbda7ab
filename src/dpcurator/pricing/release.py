"""The one place where noise meets data (DESIGN 2): open the exact sums, form the readings, add the noise.

Each reading is an integer combination of the engine's sums, so adding one unit moves it exactly as far as the heart
law checks; an independent draw of the quoted mechanism is added to every coordinate. Python ints throughout: nothing
can overflow, round or raise on any value. Held to one place by tests/laws/test_exact.py.
"""

from __future__ import annotations

from dpcurator.entropy import Entropy
from dpcurator.plan.core import Step, Total
from dpcurator.plan.lower import Combination
from dpcurator.pricing.quote import Quote
from dpcurator.values import Exact

Noisy = tuple[tuple[int, ...], ...]  # one tuple per reading, one integer per key


def combine(rows: tuple[tuple[int, ...], ...], combination: Combination) -> list[int]:
    """A reading's integers, one per key."""
    return [sum(weight * row[number] for number, weight in combination.terms) for row in rows]


def release(quote: Quote, exact: Exact, entropy: Entropy) -> Noisy:
    """The quote's readings with their noise, in the readings' units."""
    rows = _shaped(exact.open_for_release(), len(quote.lowered.keys), quote.lowered.core[-1])
    noisy: list[tuple[int, ...]] = []
    for priced, combination in zip(quote.priced, quote.lowered.combinations, strict=True):
        values = combine(rows, combination)
        noise = priced.mechanism.sample(len(values), entropy)
        noisy.append(tuple(value + int(draw) for value, draw in zip(values, noise, strict=True)))
    return tuple(noisy)


def _shaped(rows: tuple[tuple[int, ...], ...], keys: int, total: Step) -> tuple[tuple[int, ...], ...]:
    """The rows, if there is one a key and each has the plan's sums as ints; noise for anything else would be wrong."""
    sums = len(total.sums) if isinstance(total, Total) else 0
    if len(rows) != keys or any(len(row) != sums or not all(type(number) is int for number in row) for row in rows):
        raise TypeError("the engine's answer has not the shape of the plan")
    return rows
