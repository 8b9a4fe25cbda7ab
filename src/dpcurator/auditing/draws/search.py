"""The events whose chances differ most: found on one part of the draws, ranked on another, counted on neither.

Definition  An event is a set of values of one feature: those at least, or at most, a threshold; those within chosen
            bins; or chosen keys, in the order of how much likelier they were on the one input. Thresholds come from
            the quantiles and extremes of *both* samples: what never happens on one input has no quantile there.
Promise     None: choosing is free, since the draws an event is counted on are others. What choosing costs is that each
            event counted takes its share of alpha.
Checked     tests/audit/test_features.py.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from dpcurator.auditing.claims import Claim
from dpcurator.auditing.draws.bound import limits
from dpcurator.auditing.draws.classifiers import learned
from dpcurator.auditing.draws.features import Keyed, Ordered, features
from dpcurator.auditing.outcomes import Drawn

if TYPE_CHECKING:
    from numpy.typing import NDArray

_QUANTILES, _EXTREMES, _BINS, _CUTS = 256, 24, 24, 64
_LUCK = 1.5  # standard deviations that the best of many candidates may owe to luck
_LESS_LUCK = 1.2  # of few candidates
_LONG = 100  # characters, after which no more are
_LISTED = 6  # possibilities of an event that are named


@dataclass(frozen=True, slots=True)
class Event:
    """tell: what it is, in words. holds: for each draw, did it happen? forward: likelier on the first input. score:
    what it is expected to show of the claim's parameter; cautious: the same if the counts were lucky. key: events of
    one key are much the same."""

    tell: Callable[[], str]
    holds: Callable[[Drawn], NDArray[Any]]
    forward: bool
    score: float
    cautious: float
    feature: Ordered | Keyed
    key: str


@dataclass(frozen=True, slots=True)
class Ranking:
    """How candidates are compared: by what `planned` draws would show, with limits z standard deviations away."""

    claim: Claim
    planned: int
    z: float

    def scores(self, first: Any, second: Any, n: int, unlucky: float = _LUCK) -> tuple[Any, Any]:
        """Of counts of n draws: (what is expected, the same if both counts were lucky)."""
        found = []
        for luck in (0.5, unlucky):
            one, two = np.maximum(first - luck * np.sqrt(first), 0.0), second + luck * np.sqrt(second) + luck / unlucky
            found.append(self.claim.scores(*limits(one, two, n, self.planned, self.z)))
        return found[0], found[1]


def search(one: Drawn, other: Drawn, ranking: Ranking, *, most: int = 4, bits: bool = True) -> list[Event]:
    """The best events for these draws of the two inputs, of different features, best first."""
    half = (one.n // 2, other.n // 2)
    fit, check = (_part(one, 0, half[0]), _part(other, 0, half[1])), (_part(one, half[0]), _part(other, half[1]))
    found: list[Event] = []
    with np.errstate(all="ignore"):
        for feature in (*features(*fit, bits=bits), *learned(*fit)):
            seen = _Seen([feature.of(drawn) for drawn in fit], [feature.of(drawn) for drawn in check], fit)
            found += _ordered(feature, seen, ranking) if isinstance(feature, Ordered) else _keys(feature, seen, ranking)
    return best(found, most)


def again(events: list[Event], counts: list[list[int]], n: int, ranking: Ranking) -> list[Event]:
    """Events with scores by other counts, of n draws of either input: (on the first, on the second)."""
    made = []
    for event, (first, second) in zip(events, counts, strict=True):
        one, two = np.array([float(first)]), np.array([float(second)])
        one, two = (one, two) if event.forward else (two, one)
        with np.errstate(all="ignore"):
            expected, cautious = ranking.scores(one, two, n, _LESS_LUCK)
        made.append(replace(event, score=float(expected[0]), cautious=float(cautious[0])))
    return made


def best(found: Iterable[Event], most: int) -> list[Event]:
    """The most promising ones: by turns those expected to show most, and those that will not turn out lucky."""
    found = list(found)
    hopeful = sorted(found, key=lambda event: -event.score)
    careful = sorted(found, key=lambda event: -event.cautious)
    kept: list[Event] = []
    for pair in zip(careful, hopeful, strict=True):
        for event in pair:
            if len(kept) < most and all(event.key != one.key or event.forward != one.forward for one in kept):
                kept.append(event)
    return kept


def _part(drawn: Drawn, start: int, stop: int | None = None) -> Drawn:
    rows = slice(start, stop)
    marks = None if drawn.marks is None else drawn.marks[rows]
    lengths = None if drawn.lengths is None else drawn.lengths[rows]
    return Drawn(drawn.values[rows], marks, lengths, drawn.labels, drawn.single)


@dataclass(frozen=True, slots=True)
class _Seen:
    """A feature of the draws to choose by and of those to rank by, of both inputs; and the draws behind the first."""

    fit: list[Any]
    check: list[Any]
    drawn: tuple[Drawn, Drawn]

    @property
    def sizes(self) -> tuple[int, int]:
        """Draws to rank by, of either input."""
        return len(self.check[0]), len(self.check[1])


Made = tuple[Callable[[], str], Callable[[Drawn], Any], Any, str]


def _ordered(feature: Ordered, draws: _Seen, ranking: Ranking) -> list[Event]:
    """Thresholds and bins of a number."""
    fit, check = ([np.sort(values[~np.isnan(values)]) for values in part] for part in (draws.fit, draws.check))
    cuts = []
    for values in fit:
        n = len(values)
        if n:
            places = np.concatenate([np.linspace(0, n - 1, _QUANTILES), np.geomspace(1, n, _EXTREMES) - 1,
                                     n - np.geomspace(1, n, _EXTREMES)]).astype(int)
            cuts.append(values[np.unique(places)])
    if not cuts:
        return []
    cut = np.unique(np.concatenate(cuts))
    found = _thresholds(feature, cut, check, draws.sizes, ranking)
    edges = np.unique(np.concatenate([values[np.linspace(0, len(values) - 1, _BINS).astype(int)[1:-1]]
                                      for values in fit if len(values)]))
    if len(edges) > 1:
        binned = [_in_bins(values, edges, len(whole)) for values, whole in zip(fit, draws.fit, strict=True)]
        seen = [_in_bins(values, edges, len(whole)) for values, whole in zip(check, draws.check, strict=True)]
        found += _by_ratio(binned, seen, draws.sizes, ranking, lambda bins: _union(feature, edges, bins))
    return found


def _thresholds(feature: Ordered, cut: Any, seen: list[Any], sizes: tuple[int, int], ranking: Ranking) -> list[Event]:
    below = [np.searchsorted(values, cut, side="left") for values in seen]
    up_to = [np.searchsorted(values, cut, side="right") for values in seen]
    at_least = [len(values) - counts for values, counts in zip(seen, below, strict=True)]
    more = [len(values) - counts for values, counts in zip(seen, up_to, strict=True)]
    found = []
    for sign, counts in ((">=", at_least), ("<=", up_to), (">", more), ("<", below)):

        def made(at: int, sign: str = sign) -> Made:
            return _threshold(feature, sign, float(cut[at]))

        for forward in (True, False):
            found += _best_of(counts, sizes, forward, ranking, made)
    return found


def _threshold(feature: Ordered, sign: str, cut: float) -> Made:
    compare = {">=": np.greater_equal, "<=": np.less_equal, ">": np.greater, "<": np.less}[sign]

    def holds(drawn: Drawn) -> NDArray[Any]:
        with np.errstate(invalid="ignore"):
            made: NDArray[Any] = compare(feature.of(drawn), cut)  # nan compares as False
        return made

    return lambda: f"{feature.name} {sign} {cut + 0.0:.10g}", holds, feature, f"{feature.name} {sign[0]}"


def _in_bins(values: NDArray[Any], edges: NDArray[Any], n: int) -> NDArray[Any]:
    """How many of n draws are in each bin (a, b], sorted values given; the last place is for those without a value."""
    up_to = np.concatenate([[0], np.searchsorted(values, edges, side="right"), [len(values)]])
    return np.concatenate([np.diff(up_to), [n - len(values)]])


def _union(feature: Ordered, edges: NDArray[Any], bins: NDArray[Any]) -> Made:
    """The event that the number is in one of these bins."""
    inside = np.zeros(len(edges) + 2, dtype=bool)
    inside[bins] = True

    def holds(drawn: Drawn) -> NDArray[Any]:
        values = feature.of(drawn)
        place = np.where(np.isnan(values), len(edges) + 1, np.searchsorted(edges, values, side="left"))
        return inside[place]

    return lambda: _intervals(feature.name, edges, inside), holds, feature, f"{feature.name} in"


def _intervals(name: str, edges: NDArray[Any], inside: NDArray[Any]) -> str:
    """Bins that touch are one interval."""
    texts, start = [], None
    for place in range(len(edges) + 2):
        now = place <= len(edges) and bool(inside[place])
        if now and start is None:
            start = place
        elif not now and start is not None:
            low = "(-infinity" if start == 0 else f"({edges[start - 1]:.6g}"
            texts.append(f"{low}, {'infinity)' if place > len(edges) else f'{edges[place - 1]:.6g}]'}")
            start = None
    texts += ["none"] if inside[-1] else []
    more = f" or {len(texts) - _LISTED} more" if len(texts) > _LISTED else ""
    return f"{name} in {' or '.join(texts[:_LISTED])}{more}"


def _keys(feature: Keyed, draws: _Seen, ranking: Ranking) -> list[Event]:
    """Sets of keys; a key that was not seen when choosing is in none."""
    counted = [np.unique(keys, return_counts=True) for keys in draws.fit]
    known = np.union1d(counted[0][0], counted[1][0])
    fit = [np.zeros(len(known), dtype=np.int64) for _ in counted]
    for part, (keys, times) in zip(fit, counted, strict=True):
        part[np.searchsorted(known, keys)] = times
    seen = []
    for keys in draws.check:
        place = np.minimum(np.searchsorted(known, keys), len(known) - 1)
        seen.append(np.bincount(place[known[place] == keys], minlength=len(known)))
    return _by_ratio(fit, seen, draws.sizes, ranking, lambda places: _among(feature, known[places], draws))


def _by_ratio(
    fit: list[Any], seen: list[Any], sizes: tuple[int, int], ranking: Ranking, made: Callable[[Any], Made]
) -> list[Event]:
    """Places in the order of how much likelier they were on one side; the first so many of them are the event."""
    order = np.argsort((fit[1] + 0.5) / (fit[0] + 0.5), kind="stable")  # likelier on the first input first
    ends = np.unique(np.concatenate([np.arange(min(_CUTS, len(order))),
                                     np.geomspace(1, len(order), _CUTS).astype(int) - 1]))
    found = []
    for forward, listed in ((True, order), (False, order[::-1])):
        tops = [np.cumsum(part[listed])[ends] for part in seen]

        def of(at: int, listed: Any = listed) -> Made:
            return made(listed[: ends[at] + 1])

        found += _best_of(tops, sizes, forward, ranking, of)
    return found


def _among(feature: Keyed, keys: NDArray[Any], draws: _Seen) -> Made:
    wanted = np.sort(keys)

    def holds(drawn: Drawn) -> NDArray[Any]:
        seen = feature.of(drawn)
        found: NDArray[Any] = wanted[np.minimum(np.searchsorted(wanted, seen), len(wanted) - 1)] == seen
        return found

    def tell() -> str:
        texts: list[str] = []
        for key in keys[:_LISTED]:
            for drawn, its in zip(draws.drawn, draws.fit, strict=True):
                rows = np.flatnonzero(its == key)
                if rows.size:
                    texts.append(feature.say(drawn, int(rows[0])))
                    break
            if sum(map(len, texts)) > _LONG:
                break
        texts = list(dict.fromkeys(texts))
        more = f" or {len(keys) - len(texts):,} more" if len(keys) > len(texts) else ""
        return f"{feature.name} is {' or '.join(texts)}{more}"

    return tell, holds, feature, f"{feature.name} is"


def _best_of(
    counts: list[Any], sizes: tuple[int, int], forward: bool, ranking: Ranking, made: Callable[[int], Made]
) -> list[Event]:
    """The best candidate, by either score, of arrays of counts on both sides."""
    first, second = counts if forward else counts[::-1]
    n, m = sizes if forward else sizes[::-1]
    if not len(first) or not n or not m:
        return []
    expected, cautious = ranking.scores(first.astype(float), second * (n / m), n)
    found = []
    for at in dict.fromkeys((int(np.argmax(expected)), int(np.argmax(cautious)))):
        if np.isfinite(expected[at]):
            tell, holds, feature, key = made(at)
            found.append(Event(tell, holds, forward, float(expected[at]), float(cautious[at]), feature, key))
    return found
