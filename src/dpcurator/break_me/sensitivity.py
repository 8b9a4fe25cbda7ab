"""How far two evaluations of one question are apart, beside how far they were said to be at most.

Definition  A `Reading` is what noise is added to: one exact integer a key, and the claimed bounds on how far neighbours
            move it (linf, l1, l2 squared, and how many coordinates). A key that only one side has counts 0 in the
            other. `votes`: for unknown keys, by how many distinct units each is held, of which a unit has `groups`.
            With `other`, keys that are not shown are added up: tried with none shown, all, and every second one. Of a
            quantile a key has `Scores` in the place of an integer, and moves as far as any candidate's score does; of
            names of the greatest a group of keys has `Counts`, which move as far as two of them move apart.
Promise     `apart` names every claim that the two sides break: a certain fact about this pair.
Checked     tests/break_me/test_break_me.py.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, Final

from dpcurator.auditing.replay.arguments import Move
from dpcurator.auditing.replay.mismatch import Mismatch

Key = tuple[Any, ...]
Integers = Mapping[Key, Any]  # an int each; of a quantile, Scores; of names of the greatest, Counts
_NORMS: Final = ("linf", "l1", "l2_squared")


@dataclass(frozen=True)
class Scores:
    """Of a quantile's candidates, worked out one by one from their definition (semantics 2.10).

    weights: what lies at each candidate, where it is not 0; candidates: how many there are."""

    weights: Mapping[int, int]
    q: Fraction
    candidates: int

    def at(self, place: int) -> int:
        p, d, total = self.q.numerator, self.q.denominator, sum(self.weights.values())
        below = sum(weight for at, weight in self.weights.items() if at < place)
        above = sum(weight for at, weight in self.weights.items() if at > place)
        return -max(d * below - p * total, d * above - (d - p) * total, 0)

    def furthest(self, other: Scores) -> int:
        """The most that any candidate's score differs. Between candidates at which something lies scores are equal."""
        lying = {*self.weights, *other.weights}
        places = {one for at in lying for one in (at - 1, at, at + 1) if 0 <= one < self.candidates}
        return max((abs(self.at(one) - other.at(one)) for one in places), default=0)


@dataclass(frozen=True)
class Counts:
    """Of one group, the counts by which its greatest are named: how far apart they move decides (semantics 2.12)."""

    weights: Mapping[Any, int]

    def furthest(self, other: Counts) -> int:
        """The largest difference of two counts less the least one."""
        every = {**self.weights, **other.weights}
        moved = [self.weights.get(key, 0) - other.weights.get(key, 0) for key in every]
        return max(moved, default=0) - min(moved, default=0)


def counts_of_groups(values: Mapping[Key, int], among: int) -> dict[Key, Counts]:
    """The counts of each group of so many keys that follow one another, by the group's number."""
    listed = list(values.items())
    return {("group", start // among): Counts(dict(listed[start : start + among]))
            for start in range(0, len(listed), among)}


@dataclass(frozen=True, slots=True)
class Reading:
    """name: what is asked. values: the exact integers, of rows that are nobody's. fixed: are the keys public?"""

    name: str
    values: Integers
    linf: int
    l1: int
    l2_squared: int
    coordinates: int
    fixed: bool


@dataclass(frozen=True, slots=True)
class Exactly:
    """One evaluation. votes: None where the keys are listed; sides: 2 where a unit is replaced."""

    readings: tuple[Reading, ...]
    votes: Integers | None = None
    groups: int = 0
    sides: int = 1
    other: bool = False


def apart(one: Exactly, other: Exactly) -> tuple[list[Mismatch], Fraction]:
    """What is broken, and the greatest share of a claim that is used."""
    broken: list[Mismatch] = []
    largest = Fraction(0)
    for number, (left, right) in enumerate(zip(one.readings, other.readings, strict=True), 1):
        where = f"reading {number} ({left.name})"
        for shown in _shown(one.other and not left.fixed, left.values, right.values):
            steps = _steps(_gathered(left.values, shown), _gathered(right.values, shown))
            moved = sum(step > 0 for step in steps)
            if moved > left.coordinates or (left.fixed and len(steps) != left.coordinates):
                words = f"{moved} of {len(steps)} keys move, and {left.coordinates} was the most"
                broken.append(Mismatch("input", where, words))
            found = (max(steps, default=0), sum(steps), sum(step * step for step in steps))
            for norm, distance in zip(_NORMS, found, strict=True):
                claim = getattr(left, norm)
                move = Move(Fraction(distance), Fraction(claim), norm)
                largest = max(largest, move.share or Fraction(0))
                if distance > claim:
                    told = norm.replace("_", " ")
                    words = f"moved by {distance} in {told}, and {claim} was the most"
                    broken.append(Mismatch("input", where, words, move))
    if one.votes is not None and other.votes is not None:
        steps = [step for step in _steps(one.votes, other.votes) if step]
        if len(steps) > one.sides * one.groups or any(step != 1 for step in steps):
            words = f"a unit moves {len(steps)} keys' votes, by {max(steps)} at most, and {one.sides * one.groups} "
            broken.append(Mismatch("input", "the choice of keys", f"{words}by 1 was the most"))
    return broken, largest


def disagreement(one: Exactly, other: Exactly, names: tuple[str, str]) -> list[Mismatch]:
    """Two engines over the same rows: the same integers, key by key."""
    found = []
    for left, right in zip(one.readings, other.readings, strict=True):
        if dict(left.values) != dict(right.values):
            wrong = [k for k in {**left.values, **right.values} if left.values.get(k) != right.values.get(k)]
            told = " and ".join(
                f"{side.values.get(wrong[0])} by {name}" for side, name in zip((left, right), names, strict=True)
            )
            found.append(Mismatch("engines", left.name, f"key {wrong[0]} is {told}, over the same rows"))
    if one.votes is not None and dict(one.votes) != dict(other.votes or {}):
        found.append(Mismatch("engines", "the choice of keys", f"{names[0]} and {names[1]} count other units"))
    return found


def _steps(one: Integers, other: Integers) -> list[int]:
    every = {**one, **other}
    made = (found for found in every.values() if isinstance(found, Scores | Counts))
    nothing: Any = next((replace(found, weights={}) for found in made), 0)
    return [_distance(one.get(key, nothing), other.get(key, nothing)) for key in every]


def _distance(one: Any, other: Any) -> int:
    return one.furthest(other) if isinstance(one, Scores | Counts) else abs(one - other)


def _shown(wanted: bool, one: Integers, other: Integers) -> Iterator[set[Key] | None]:
    if not wanted:
        yield None
        return
    keys = list({**one, **other})
    yield from (set(), set(keys), set(keys[::2]), set(keys[1::2]))


def _gathered(values: Integers, shown: set[Key] | None) -> Integers:
    if shown is None:
        return values
    rest = sum(value for key, value in values.items() if key not in shown)
    return {key: value for key, value in values.items() if key in shown} | {("all others", len(shown)): rest}
