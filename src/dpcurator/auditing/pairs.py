"""Neighbouring inputs to try: what has caught mistakes before, the ordinary ones first.

Relations   "add-remove"   lists of rows, one row added (units=True: all rows of one unit, few or many)
            "replace-one"  lists of rows, one row replaced
            "vector"       lists of answers to queries, each moved by at most 1
            "number"       one number, moved by at most 1
Domain      Of rows: a tuple (low, high) for numbers within bounds, or a list of the values a row may have. With bounds
            a row may besides be anything a table can hold (nan, infinities, integers of any size, numbers far
            outside): these are `hostile`, come last, and are no rows of the domain, so what they show is told apart
            (auditing/run.py). A list is believed.
Promise     Every pair proposed is a pair of neighbours under its relation, in the order listed. Nothing is random.
Checked     tests/audit/test_pairs.py.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from dpcurator.errors import Refusal, either
from dpcurator.numbers import rational
from dpcurator.numbers.readable import readable

RELATIONS = ("add-remove", "replace-one", "vector", "number")
_MANY = 1000  # rows of one unit
_LENGTHS = (5, 10, 2, 1)  # of vectors of answers


@dataclass(frozen=True, slots=True)
class Pair:
    """first, second: neighbouring inputs. why: what is special about them, in words. hostile: outside the bounds."""

    first: Any
    second: Any
    why: str = "given"
    hostile: bool = False
    neighbours: str | None = None

    __repr__ = readable

    def __str__(self) -> str:
        return f"{shown(self.first)} and {shown(self.second)}"


def propose(
    *, neighbours: str, domain: Any = None, units: bool = False, hostile: bool = True, lengths: Sequence[int] = _LENGTHS
) -> tuple[Pair, ...]:
    """Pairs to try. units: rows are (unit, value), and a neighbour lacks all rows of one unit, or has others for it.

    lengths: of the vectors of answers. Raises Refusal for another relation, and for rows without a domain.
    """
    if neighbours not in RELATIONS:
        raise Refusal(
            f"neighbours must be {either(RELATIONS)}.",
            cure='Write neighbours="add-remove" for rows, or neighbours="vector" for answers that move by at most 1.',
        )
    if neighbours == "number":
        found = _numbers()
    elif neighbours == "vector":
        found = (pair for n in lengths for pair in _vectors(n))
    elif domain is None:
        raise Refusal(
            "What rows may be is not known, and is never guessed.",
            cure="Give domain=(low, high) for numbers within bounds, a list of the values, or a pair of inputs.",
        )
    else:
        found = _rows(neighbours, *_read(domain), units)
    kept: list[Pair] = []
    seen: set[frozenset[str]] = set()
    for pair in found:
        key = frozenset((repr(pair.first), repr(pair.second)))  # an audit looks both ways
        if key not in seen and (hostile or not pair.hostile):
            seen.add(key)
            kept.append(pair)
    return tuple(kept)


def _read(domain: Any) -> tuple[list[Any], list[tuple[Any, bool]]]:
    """(values of a row, most telling first; what a table can hold besides, and whether that is outside the domain)."""
    if isinstance(domain, tuple) and len(domain) == 2 and all(_number(end) for end in domain):
        low, high = domain
        if rational(low, name="low") > rational(high, name="high"):
            raise Refusal("The domain's low is above its high.", cure="Write domain=(0, 100).")
        middle = type(low)((low + high) / 2) if isinstance(low, Fraction) else (low + high) / 2
        if isinstance(low, int) and isinstance(high, int):
            middle = (low + high) // 2
        far = max(abs(low), abs(high), 1)
        odd = [math.nan, math.inf, -math.inf, far * 1000, -far * 1000, 2**63, 10**30, -0.0]
        return [high, low, middle], sorted(((one, not low <= one <= high) for one in odd), key=lambda one: one[1])
    try:
        values = list(domain)
    except TypeError:
        values = []
    if not values:
        raise Refusal("The domain has no rows.", cure="Write domain=(low, high), or a list of the values of a row.")
    return values[:6] + values[-2:], []


def _number(value: Any) -> bool:
    return isinstance(value, int | float | Fraction) and not isinstance(value, bool)


def _rows(neighbours: str, values: list[Any], odd: list[tuple[Any, bool]], units: bool) -> Iterator[Pair]:
    """Some base rows, and one more (or another) in front of them, at each extreme."""
    top, low = values[0], values[min(1, len(values) - 1)]
    mixed = [values[i % len(values)] for i in range(4)]
    bases = [
        ([low, low], "beside small ones"),
        ([], "alone"),
        ([low] * 5, "beside rows that are all alike"),
        (mixed, "beside mixed ones"),
        ([top] * 3, "beside large ones"),
        ([low], "beside one other"),
    ]

    def owned(rows: list[Any]) -> list[Any]:
        return [(f"u{i}", value) for i, value in enumerate(rows)] if units else rows

    def pair(base: list[Any], first: Any, second: Any, why: str, bad: bool = False, times: int = 1) -> Pair:
        rest = owned(base)
        own = (lambda value: [("me", value)] * times) if units else (lambda value: [value])
        if neighbours == "add-remove":
            return Pair(rest, [*own(first), *rest], why, bad, neighbours)
        return Pair([*own(second), *rest], [*own(first), *rest], why, bad, neighbours)

    for base, where in bases:
        for value in dict.fromkeys(map(_keyed, values)):
            other = low if value.value is not low else top
            if neighbours == "add-remove" or not _alike(other, value.value):
                yield pair(base, value.value, other, f"one row is {value.value!r}, {where}")
    if units:
        for times in (3, _MANY):
            yield pair([low] * 3, top, low, f"one unit has {times} rows", times=times)
    yield pair([low] * 99, top, low, "one row is extreme among a hundred")
    for one, bad in odd:
        for base, where in bases[:4]:
            outside = ", outside the bounds" if bad else ""
            yield pair(base, one, low, f"one row is {_short(one)}{outside}, {where}", bad=bad)


@dataclass(frozen=True)
class _keyed:
    """A value told apart by how it is written, so that unhashable rows and nan can be listed once."""

    value: Any

    def __hash__(self) -> int:
        return hash(repr(self.value))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _keyed) and repr(self.value) == repr(other.value)


def _alike(one: Any, other: Any) -> bool:
    return repr(one) == repr(other)


def _vectors(n: int) -> Iterator[Pair]:
    """n answers, each moved by at most 1."""
    half = n // 2
    up_down = [1] * (n - half) + [0] * half
    down_up = [0] * (n - half) + [1] * half

    def pair(first: list[int], second: list[int], why: str) -> Pair:
        return Pair(first, second, f"{n} answers: {why}", False, "vector")

    yield pair([0] * n, [1] * n, "all go up")
    yield pair([1] * n, [0] * n, "all go down")
    if n > 1:
        yield pair([0] + [1] * (n - 1), [1] * n, "one differs")
        yield pair([0] * (n - 1) + [1], [0] * n, "the last one differs")
        yield pair(up_down, down_up, "half go down and half go up")
        yield pair([2 * value for value in up_down], [1] * n, "half go down and half go up, from both sides to 1")
        yield pair([1] * n, [0] + [2] * (n - 1), "one goes down and the others up")
        yield pair([1] * n, [2] + [0] * (n - 1), "one goes up and the others down")
        yield pair([1] * n, [2] * n, "all go up from 1")
        yield pair([0] * n, [(-1) ** i for i in range(n)], "they go up and down in turn")
        yield pair([0] * n, [1] + [-1] * (n - 1), "one goes up and the others down from 0")


def _numbers() -> Iterator[Pair]:
    for first, second, why in (
        (0, 1, "from 0 to 1"),
        (1, 0, "from 1 to 0"),
        (0, -1, "from 0 to -1"),
        (100, 101, "a large one"),
        (0.0, 0.5, "by a half"),
        (0.25, 1.25, "between whole numbers"),
        (10**6, 10**6 + 1, "a million"),
        (2**53, 2**53 + 1, "beyond what a double tells apart"),
    ):
        yield Pair(first, second, f"one number moves: {why}", False, "number")


def shown(value: Any) -> str:
    """An input in few characters."""
    text = repr(value)
    if isinstance(value, list) and len(value) > 8 and all(_alike(one, value[-1]) for one in value[3:]):
        head = ", ".join(map(repr, value[:3]))
        text = f"[{head}, then {len(value) - 3} times {value[-1]!r}]"
    return text if len(text) <= 120 else f"{text[:117]}..."


def _short(value: Any) -> str:
    return "2**63" if value == 2**63 else "10**30" if value == 10**30 else repr(value)
