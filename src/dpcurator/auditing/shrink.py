"""A smaller witness: the violating pair with rows dropped and values made plain, while the violation stands.

Definition  `simpler(pair)` lists pairs of the same relation that are plainer: without some rows that both inputs share,
            or with a shared row made like another, or with one answer of a vector dropped or left unmoved. `shrink`
            keeps the first that still violates, and goes on from there.
Promise     What it returns violated the claim by evidence of its own. Each try spends a share of alpha (by_draws.py).
Source      delta debugging: Zeller, Hildebrandt 2002.
Checked     tests/audit/test_shrink.py.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

from dpcurator.auditing.pairs import Pair
from dpcurator.auditing.report import Finding

_TRIES = 40
_ONE_BY_ONE = 12  # rows that are tried by themselves


def shrink(pair: Pair, test: Callable[[Pair, int], Finding | None], *, until: float) -> tuple[Finding | None, int]:
    """(the finding on the smallest pair that still violates, or None if no smaller one does; how many were tried).

    test: of a pair and the number of the try, 1, 2, ...; a Finding where it violates.
    """
    best: Finding | None = None
    pair = replace(pair, why=f"made smaller; first, {pair.why}")
    tries, tried, moved = 0, {_key(pair)}, True
    while moved:
        moved = False
        for candidate in simpler(pair):
            if tries >= _TRIES or time.monotonic() > until:
                return best, tries
            if _key(candidate) in tried or cost(candidate) >= cost(pair):
                continue
            tried.add(_key(candidate))
            tries += 1
            found = test(candidate, tries)
            if found is not None:
                best, pair, moved = found, candidate, True
                break
    return best, tries


def cost(pair: Pair) -> tuple[int, int, int]:
    """Rows, then different values, then characters: what makes a witness hard to read."""
    rows = [*_rows(pair.first), *_rows(pair.second)]
    return len(rows), len({repr(row) for row in rows}), sum(len(repr(row)) for row in rows)


def simpler(pair: Pair) -> Iterator[Pair]:
    """Plainer pairs, the boldest first."""
    first, second = pair.first, pair.second
    if not isinstance(first, list) or not isinstance(second, list):
        return
    if pair.neighbours == "vector":
        yield from _vectors(pair, first, second)
        return
    shared = _shared(first, second)
    for size in (len(shared), len(shared) // 2, len(shared) // 4):
        for start in range(0, len(shared), max(1, size)) if size else ():
            yield _without(pair, shared[start : start + size])
    for one in shared[:_ONE_BY_ONE]:
        yield _without(pair, [one])
    for i, j in shared[:_ONE_BY_ONE]:
        yield _with(pair, i, j, first[shared[0][0]])  # a value that a row has, so it is in the domain


def _vectors(pair: Pair, first: list[Any], second: list[Any]) -> Iterator[Pair]:
    n = len(first)
    for start, stop in ((0, n // 2), (n // 2, n)):
        if n > 1 and start < stop:
            yield replace(pair, first=first[:start] + first[stop:], second=second[:start] + second[stop:])
    for i in range(min(n, _ONE_BY_ONE)):
        if n > 1:
            yield replace(pair, first=first[:i] + first[i + 1 :], second=second[:i] + second[i + 1 :])
    for i in range(min(n, _ONE_BY_ONE)):
        yield replace(pair, second=[*second[:i], first[i], *second[i + 1 :]])


def _shared(first: list[Any], second: list[Any]) -> list[tuple[int, int]]:
    """Places of rows that both inputs have: those before the first difference, and those after the last.

    So what is left out or changed leaves one and the same stretch of rows different, and the order of the others alike.
    """
    n = min(len(first), len(second))
    start = next((i for i in range(n) if repr(first[i]) != repr(second[i])), n)
    more = next((i for i in range(n - start) if repr(first[-1 - i]) != repr(second[-1 - i])), n - start)
    return [(i, i) for i in range(start)] + [(len(first) - i, len(second) - i) for i in range(more, 0, -1)]


def _without(pair: Pair, dropped: list[tuple[int, int]]) -> Pair:
    mine, theirs = {i for i, _ in dropped}, {j for _, j in dropped}
    return replace(
        pair,
        first=[row for i, row in enumerate(pair.first) if i not in mine],
        second=[row for j, row in enumerate(pair.second) if j not in theirs],
    )


def _with(pair: Pair, i: int, j: int, value: Any) -> Pair:
    first, second = list(pair.first), list(pair.second)
    first[i] = second[j] = value
    return replace(pair, first=first, second=second)


def _rows(data: Any) -> list[Any]:
    return list(data) if isinstance(data, list | tuple) else [data]


def _key(pair: Pair) -> str:
    return repr((pair.first, pair.second))
