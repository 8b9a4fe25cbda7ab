"""Laws of choices by score: what they lose over every move of the scores between neighbours."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from fractions import Fraction

from dpcurator.numbers import Enclosure, exp_neg

Law = Mapping[object, Enclosure] | Sequence[Enclosure]


def moves(n: int, *, monotone: bool, s: int = 1) -> Iterator[tuple[int, ...]]:
    """Every way n scores of whole steps can move by at most s each."""
    for move in itertools.product(range(-s, s + 1), repeat=n):
        if not monotone or min(move) >= 0 or max(move) <= 0:
            yield move


def pairs(law: Callable[[tuple[int, ...]], Law], bases: Iterable[tuple[int, ...]], *, monotone: bool, s: int = 1):  # type: ignore[no-untyped-def]
    """(chance, chance under the neighbour) of each outcome, over every base and every move."""
    known: dict[tuple[int, ...], Law] = {}
    for base in bases:
        for move in moves(len(base), monotone=monotone, s=s):
            moved = tuple(b + m for b, m in zip(base, move, strict=True))
            for at in (base, moved):
                if at not in known:
                    known[at] = law(at)
            here, there = known[base], known[moved]
            for outcome in here if isinstance(here, Mapping) else range(len(here)):
                yield here[outcome], there[outcome]  # type: ignore[index]


def holds(
    law: Callable[[tuple[int, ...]], Law],
    eps: Fraction,
    bases: Iterable[tuple[int, ...]],
    *,
    monotone: bool,
    s: int = 1,
) -> bool:
    """Is no outcome surely more than e**eps times as likely as under a neighbour?"""
    least = exp_neg(eps)
    found = pairs(law, bases, monotone=monotone, s=s)
    return not any((here * least - there).surely_above(0) for here, there in found)


def comes_within(here: Enclosure, there: Enclosure, eps: Fraction) -> bool:
    """Is one chance surely more than e**(eps - a millionth) times the other?"""
    return (here * exp_neg(eps - Fraction(1, 10**6)) - there).surely_above(0)
