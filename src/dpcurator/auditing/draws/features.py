"""Features of an outcome on which two output distributions may differ. More of them find more mistakes.

`Ordered` is a number for each draw (nan: none), of which thresholds and bins make events. `Keyed` is a whole number
that stands for one of many possibilities, of which sets make events; keys of more than 62 bits are mixed, and two
possibilities that fall on one key are then in an event together, which is still an event.
Floats tell by their bits too: sums and products leave multiples of other powers of two than noise alone (Mironov 2012;
Haney and others 2022), so the grain of a double, the exponent of its last bit that is set, is a feature.
Checked in tests/audit/test_features.py.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from itertools import combinations, pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from dpcurator.auditing.outcomes import ABSENT, Drawn

if TYPE_CHECKING:
    from numpy.typing import NDArray

_WIDE, _SOME, _BITS = 32, 12, 4  # parts looked at one by one; in pairs and orders; bit by bit
_CELLS = 2000  # of all parts cut into few bins each
GRAIN, LOW_BITS = "the size and last set bit", "the last 8 bits"
_ZERO = 2000  # the grain and binade of 0
Words = Callable[[Drawn, int], str]  # what a key says, shown on the draw of that row


@dataclass(frozen=True, slots=True)
class Ordered:
    """name: in words. of: float64 for each draw."""

    name: str
    of: Callable[[Drawn], NDArray[Any]]


@dataclass(frozen=True, slots=True)
class Keyed:
    """of: int64 for each draw. say: a draw's key in words."""

    name: str
    of: Callable[[Drawn], NDArray[Any]]
    say: Words


def features(one: Drawn, other: Drawn, *, bits: bool = True) -> Iterator[Ordered | Keyed]:
    """Those worth computing for outcomes of this shape; `learned` has those that are fitted. bits: of doubles too."""
    parts = max(one.parts, other.parts)
    numeric = [i for i in range(min(parts, _WIDE)) if _numbers(one, i) or _numbers(other, i)]
    marked = one.marks is not None or other.marks is not None
    yield Keyed("the outcome", whole, lambda drawn, row: say_whole(drawn, row))
    for i in numeric:
        yield Ordered(one.where(i), partial(_part, i))
    if marked:
        yield Keyed("the kinds of its parts", kinds, say_kinds)
        if parts > 1:
            yield from _marks(one, other)
    if one.lengths is not None or other.lengths is not None or one.parts != other.parts:
        yield Keyed("its length", _lengths, lambda drawn, row: f"length {int(_lengths(drawn)[row])}")
        yield Ordered("its last number", _last)
    if parts > 1:
        yield from _together(numeric, parts)
    for i in dict.fromkeys([*numeric[:_BITS], *numeric[-1:]]) if bits else ():
        if _fine(one, i) or _fine(other, i):
            where = one.where(i)
            yield Keyed(
                f"{GRAIN} of {where}",
                partial(_grain, i),
                partial(_say_grain, i, where),
            )
            yield Keyed(f"{LOW_BITS} of {where}", partial(_low_bits, i), partial(_say_low_bits, i))
            yield Ordered(f"the fractional part of {where}", partial(_fraction, i))


def _together(numeric: list[int], parts: int) -> Iterator[Ordered | Keyed]:
    """Of several parts at once."""
    if numeric:
        yield Ordered("the sum of its parts", lambda drawn: np.nansum(drawn.values, axis=1))
        yield Ordered("its greatest part", lambda drawn: _best(drawn, np.fmax))
        yield Ordered("its least part", lambda drawn: _best(drawn, np.fmin))
        yield Ordered("its range", lambda drawn: _best(drawn, np.fmax) - _best(drawn, np.fmin))
        yield Keyed("which part is greatest", _argmax, lambda drawn, row: f"part {int(_argmax(drawn)[row])}")
        yield Keyed("which part is least", _argmin, lambda drawn, row: f"part {int(_argmin(drawn)[row])}")
        for i in sorted({1, parts // 2, parts - 2} - {0, -1, parts - 1}):
            yield Ordered(f"part {i} in order of size", partial(_sorted, i))
        for i, j in list(pairwise(numeric))[:_SOME]:
            yield Ordered(f"part {j} less part {i}", partial(_difference, i, j))
        yield Keyed("the signs of its parts", _signs, _say_signs)
    yield Keyed("which of its parts are equal", _equal, _say_equal)


def _marks(one: Drawn, other: Drawn) -> Iterator[Keyed | Ordered]:
    """Where, and how often, each thing that is no number stands."""
    seen: list[int] = []
    for drawn in (one, other):
        if drawn.marks is not None:
            seen += [int(mark) for mark in np.unique(drawn.marks) if mark != ABSENT]
    labels = one.labels
    for mark in list(dict.fromkeys(seen))[:6]:
        what = "a number" if mark == 0 else labels.name(mark)
        yield Ordered(f"how many parts are {what}", partial(_how_many, mark))
        for name, place in (("first", _first_place), ("last", _last_place)):
            yield Keyed(f"the {name} place of {what}", partial(place, mark), partial(_say_place, place, mark))


def _part(i: int, drawn: Drawn) -> NDArray[Any]:
    return drawn.part(i)


def _difference(i: int, j: int, drawn: Drawn) -> NDArray[Any]:
    return drawn.part(j) - drawn.part(i)


def _fraction(i: int, drawn: Drawn) -> NDArray[Any]:
    return drawn.part(i) % 1


def _grain(i: int, drawn: Drawn) -> NDArray[Any]:
    return grain_and_binade(drawn.part(i))


def _say_grain(i: int, where: str, drawn: Drawn, row: int) -> str:
    return say_grain(drawn.part(i)[row], where)


def _low_bits(i: int, drawn: Drawn) -> NDArray[Any]:
    return _bits(drawn.part(i)) & 255


def _say_low_bits(i: int, drawn: Drawn, row: int) -> str:
    return f"...{int(_low_bits(i, drawn)[row]):08b}"


def _how_many(mark: int, drawn: Drawn) -> NDArray[Any]:
    made: NDArray[Any] = np.sum(_mark_columns(drawn) == mark, axis=1).astype(np.float64)
    return made


def _first_place(mark: int, drawn: Drawn) -> NDArray[Any]:
    hit = _mark_columns(drawn) == mark
    return np.where(hit.any(axis=1), hit.argmax(axis=1), -1)


def _last_place(mark: int, drawn: Drawn) -> NDArray[Any]:
    hit = _mark_columns(drawn)[:, ::-1] == mark
    return np.where(hit.any(axis=1), drawn.parts - 1 - hit.argmax(axis=1), -1)


def _say_place(place: Callable[[int, Drawn], NDArray[Any]], mark: int, drawn: Drawn, row: int) -> str:
    found = int(place(mark, drawn)[row])
    return "nowhere" if found < 0 else f"part {found}"


def whole(drawn: Drawn) -> NDArray[Any]:
    """All of the outcome."""
    return _mixed(drawn, [_bits(drawn.values[:, i]) for i in range(drawn.parts)], kinds(drawn))


def kinds(drawn: Drawn) -> NDArray[Any]:
    """The marks and the length."""
    if drawn.marks is None:  # numbers alone, as many in each draw: one key for all
        none = np.zeros(1, dtype=np.int64)
        return np.full(drawn.n, _mixed(drawn, [none] * drawn.parts, none + drawn.parts)[0])
    return _mixed(drawn, [drawn.marks[:, i] for i in range(drawn.parts)], _lengths(drawn))


def say_whole(drawn: Drawn, row: int) -> str:
    parts = [_say(drawn, row, i) for i in range(_length(drawn, row))]
    return parts[0] if drawn.single and parts else f"({', '.join(parts[:12])}{', ...' if len(parts) > 12 else ''})"


def say_kinds(drawn: Drawn, row: int) -> str:
    names = []
    for i in range(_length(drawn, row)):
        mark = int(drawn.mark(i)[row])
        names.append("a number" if mark == 0 else drawn.labels.name(mark))
    return names[0] if drawn.single and names else f"({', '.join(names[:12])}{', ...' if len(names) > 12 else ''})"


def _say(drawn: Drawn, row: int, i: int) -> str:
    mark = int(drawn.mark(i)[row])
    return f"{drawn.part(i)[row]:.10g}" if mark == 0 else drawn.labels.name(mark)


def _length(drawn: Drawn, row: int) -> int:
    return drawn.parts if drawn.lengths is None else min(drawn.parts, int(drawn.lengths[row]))


def _lengths(drawn: Drawn) -> NDArray[Any]:
    return np.full(drawn.n, drawn.parts, dtype=np.int64) if drawn.lengths is None else drawn.lengths


def _mark_columns(drawn: Drawn) -> NDArray[Any]:
    return np.zeros(drawn.values.shape, dtype=np.int32) if drawn.marks is None else drawn.marks


def _mixed(drawn: Drawn, columns: list[Any], first: NDArray[Any]) -> NDArray[Any]:
    """One 64-bit key of `first` and of one column for each part: multiply and shift, so that every bit counts.

    Parts that an outcome lacks count for nothing, so its key is the same whatever else is in the lot.
    """
    key = first.astype(np.int64).view(np.uint64).copy()
    for i, column in enumerate(columns):
        mixed = key ^ column.astype(np.int64).view(np.uint64)
        mixed *= np.uint64(0x9E3779B97F4A7C15)
        mixed ^= mixed >> np.uint64(32)
        key = mixed if drawn.marks is None else np.where(drawn.marks[:, i] == ABSENT, key, mixed)
    return key.view(np.int64)


def _bits(values: NDArray[Any]) -> NDArray[Any]:
    return np.ascontiguousarray(values).view(np.int64)


def grain_and_binade(values: NDArray[Any]) -> NDArray[Any]:
    """(floor(log2 |x|), the exponent of x's last bit that is set), as one key."""
    bits = _bits(values)
    exponent = (bits >> 52) & 2047
    mantissa = (bits & ((1 << 52) - 1)) | np.where(exponent > 0, 1 << 52, 0)
    last = np.frexp((mantissa & -mantissa).astype(np.float64))[1] - 1
    grain = np.maximum(exponent, 1) - 1075 + last
    binade = np.where(exponent > 0, exponent - 1023, -1023)
    zero = mantissa == 0
    return np.where(zero, _ZERO * 8192 + _ZERO, (binade + 2048) * 8192 + grain + 2048).astype(np.int64)


def say_grain(value: float, where: str) -> str:
    key = int(grain_and_binade(np.array([value]))[0])
    binade, grain = key // 8192 - 2048, key % 8192 - 2048
    return f"|{where}| in [2^{binade}, 2^{binade + 1}), an odd multiple of 2^{grain}"


def _last(drawn: Drawn) -> NDArray[Any]:
    column = np.clip(_lengths(drawn), 1, drawn.parts) - 1
    made: NDArray[Any] = drawn.values[np.arange(drawn.n), column]
    return made


def _best(drawn: Drawn, better: Any) -> NDArray[Any]:
    made: NDArray[Any] = better.reduce(drawn.values, axis=1)
    return made


def _filled(drawn: Drawn, fill: float) -> NDArray[Any]:
    return drawn.values if drawn.marks is None else np.where(np.isnan(drawn.values), fill, drawn.values)


def _argmax(drawn: Drawn) -> NDArray[Any]:
    made: NDArray[Any] = np.argmax(_filled(drawn, -np.inf), axis=1)
    return made


def _argmin(drawn: Drawn) -> NDArray[Any]:
    made: NDArray[Any] = np.argmin(_filled(drawn, np.inf), axis=1)
    return made


def _sorted(i: int, drawn: Drawn) -> NDArray[Any]:
    return np.partition(drawn.values, i, axis=1)[:, i] if i < drawn.parts else np.full(drawn.n, np.nan)


def _signs(drawn: Drawn) -> NDArray[Any]:
    values = drawn.values[:, :20]
    signs = np.where(np.isnan(values), 0, np.sign(np.nan_to_num(values)).astype(np.int64) + 2)  # 0: no number
    made: NDArray[Any] = signs @ 4 ** np.arange(signs.shape[1], dtype=np.int64)
    return made


def _say_signs(drawn: Drawn, row: int) -> str:
    return "(" + ", ".join("?" if value != value else "-0+"[_sign(value) + 1] for value in drawn.values[row][:20]) + ")"


def _sign(value: float) -> int:
    return int(value > 0) - int(value < 0)


def _equal(drawn: Drawn) -> NDArray[Any]:
    """For each pair of the first parts, whether they are equal."""
    key = np.zeros(drawn.n, dtype=np.int64)
    for place, (i, j) in enumerate(combinations(range(11), 2)):
        if j < drawn.parts:
            one, other = drawn.mark(i), drawn.mark(j)
            same = (one == other) & (one != ABSENT) & ((drawn.part(i) == drawn.part(j)) | (one != 0))
            key |= same.astype(np.int64) << place
    return key


def _say_equal(drawn: Drawn, row: int) -> str:
    groups: dict[tuple[float, int], list[int]] = {}
    for i in range(min(drawn.parts, 11)):
        mark = int(drawn.mark(i)[row])
        if mark == ABSENT:
            continue
        groups.setdefault((float(drawn.part(i)[row]) if mark == 0 else 0.0, mark), []).append(i)
    several = [group for group in groups.values() if len(group) > 1]
    return "; ".join(f"parts {', '.join(map(str, group))}" for group in several) or "none"


def _numbers(drawn: Drawn, i: int) -> bool:
    return i < drawn.parts and (drawn.marks is None or bool((drawn.marks[:, i] == 0).any()))


def _fine(drawn: Drawn, i: int) -> bool:
    """Does the part have fractions?"""
    values = drawn.part(i)[:2000]
    values = values[np.isfinite(values)]
    return bool((values != np.floor(values)).any())
